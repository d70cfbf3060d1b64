/** Own time that its person takes back. */
import type { Db } from '../../../platform/database/client.js'
import { integer, singleRow, statement } from '../../../platform/database/statement.js'

/** SQL: the user $1, the days from $2 to $3, and a repository or null ($4). */
const REMOVED = `user_id = $1::uuid and day between $2::date and $3::date and ($4::text is null or repo_key = $4)`

const DELETE_OWN = statement(
  'delete own minutes',
  { minutes: integer },
  `
  with removed as (delete from own_activity where ${REMOVED} returning minutes)
  select coalesce(sum(minutes), 0)::int as minutes from removed`,
)

const DELETE_AGENT_MINUTES = statement(
  'delete agent minutes',
  { minutes: integer },
  `
  with removed as (delete from agent_activity where ${REMOVED} returning day, repo_key, minutes)
  select coalesce(sum(minutes), 0)::int as minutes
  from (select max(minutes) as minutes from removed group by day, repo_key) as best`,
)

/** @returns how many minutes of the person and of their agents, each once */
export const removeOwnTime = async (
  tx: Db,
  { userId, from, to, repoKey }: { userId: string; from: string; to: string; repoKey: string | null },
): Promise<number> => {
  const parameters = [userId, from, to, repoKey]
  const rows = await Promise.all([DELETE_OWN, DELETE_AGENT_MINUTES].map((one) => tx.rows(one, parameters)))
  return rows.reduce((sum, found) => sum + singleRow(found).minutes, 0)
}
