import type { Role } from '../../../../schemas/common.js'
import type { Db } from '../../../platform/database/client.js'
import { statement, textOf, uuid } from '../../../platform/database/statement.js'

const READ_ROLES = statement(
  'read own roles',
  { workspaceId: uuid, role: textOf<Role>() },
  'select workspace_id as "workspaceId", role from members where user_id = $1::uuid',
)

/** The workspaces that a person is in. */
export const readRoles = (db: Db, userId: string): Promise<{ workspaceId: string; role: Role }[]> =>
  db.rows(READ_ROLES, [userId])
