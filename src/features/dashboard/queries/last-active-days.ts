import type { Db } from '../../../platform/database/client.js'
import { date, statement, uuid } from '../../../platform/database/statement.js'

/**
 * $1: the workspace; $2: users; $3: the first day that counts. It names the workspace, so a cluster asks only one node.
 */
const READ_LAST_ACTIVE_DAYS = statement(
  'read the last active days of members',
  { userId: uuid, day: date },
  `
  select u.id as "userId", a.day
  from unnest($2::uuid[]) as u (id)
  cross join lateral (
    select day from activity
    where workspace_id = $1::uuid and user_id = u.id and minutes > 0 and day >= $3::date
    order by day desc limit 1
  ) a`,
)

/** Days by user id. Users without an active day since `from` are missing. */
export const readLastActiveDays = async (
  db: Db,
  workspaceId: string,
  userIds: string[],
  from: string,
): Promise<Map<string, string>> => {
  const rows = await db.rows(READ_LAST_ACTIVE_DAYS, [workspaceId, userIds, from])
  return new Map(rows.map(({ userId, day }) => [userId, day]))
}
