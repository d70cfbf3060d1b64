import { getTableName } from 'drizzle-orm'
import type { Db } from '../../../platform/database/client.js'
import { limitedDelete } from '../../../platform/database/limited-delete.js'
import { previousActivity, previousMemberDays, previousMemberMonths, previousRepoPeople } from '../tables.js'

/** $1: the workspace; $2: the user. */
const STEPS = [previousActivity, previousMemberDays, previousMemberMonths, previousRepoPeople].map((table) =>
  limitedDelete(
    `delete copied ${getTableName(table)} rows`,
    table,
    'workspace_id = $1::uuid and user_id = $2::uuid',
    '$3',
  ),
)

/** Deletes some of a person's rows of version 1.0.0, whose copies are reassigned. @returns whether there were any */
export const deletePrevious = async (
  tx: Db,
  workspaceId: string,
  userId: string,
  rows: number,
): Promise<boolean> => {
  for (const step of STEPS) if ((await tx.rows(step, [workspaceId, userId, rows])).length > 0) return true
  return false
}
