/** A dashboard's filter. */
import type { Db } from '../../../platform/database/client.js'
import { statement, uuid } from '../../../platform/database/statement.js'

/** Limits a dashboard to one person, to one repository (in lower case), to both, or to neither. */
export interface Filter {
  userId?: string | undefined
  repoKey?: string | undefined
}

const FIND_PERSON = statement(
  'find workspace person',
  { id: uuid },
  `
  select u.id from users u
  where u.login_key = $2::text and u.repohost_id is not null and (
    exists (select from members where workspace_id = $1::uuid and user_id = u.id)
    or exists (select from activity where workspace_id = $1::uuid and user_id = u.id)
  )`,
)

/** The filter's id for a login that's unknown in the workspace. */
export const UNKNOWN_PERSON = 'unknown'

/** Undefined for people who aren't in the workspace and have no activity there. */
export const findPerson = async (db: Db, workspaceId: string, login: string): Promise<string | undefined> => {
  const [row] = await db.rows(FIND_PERSON, [workspaceId, login.toLowerCase()])
  return row?.id
}
