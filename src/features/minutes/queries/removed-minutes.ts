/** Minutes that their person takes back. */
import type { Db } from '../../../platform/database/client.js'
import {
  date,
  integer,
  integers,
  orNull,
  statement,
  text,
  uuid,
} from '../../../platform/database/statement.js'
import { markDays } from './minutes.js'

const LIST_WORKSPACES = statement(
  'list workspaces with minutes',
  { workspaceId: uuid },
  `select workspace_id as "workspaceId" from activity_people where user_id = $1::uuid order by workspace_id`,
)

/** $1: the workspace; $2: the user; $3, $4: the first and the last day; $5: a repository, or null for all. */
const CLEAR_MINUTES = statement(
  'clear minutes of a person',
  { day: date, repoKey: text, minutes: integer, hours: orNull(integers), timezone: orNull(text) },
  `
  with before as (
    select day, repo_key, minutes, hours, timezone from daily_activity
    where workspace_id = $1::uuid and user_id = $2::uuid and day between $3::date and $4::date
      and ($5::text is null or repo_key = $5) and minutes > 0
    order by day, repo_key
    for update
  ), cleared as (
    update daily_activity a set minutes = 0, hours = null, timezone = null from before b
    where a.workspace_id = $1::uuid and a.user_id = $2::uuid and a.day = b.day and a.repo_key = b.repo_key
  )
  select day, repo_key as "repoKey", minutes, hours, timezone from before`,
)

export interface RemovedMinutes {
  userId: string
  /** Local days, both included. */
  from: string
  to: string
  /** In lower case. Null: all. */
  repoKey: string | null
}

/** Removes a person's minutes from all workspaces, also from those that were left. @returns the rows as they were */
export const removeFromWorkspaces = async (tx: Db, { userId, from, to, repoKey }: RemovedMinutes) => {
  const removed = []
  for (const { workspaceId } of await tx.rows(LIST_WORKSPACES, [userId])) {
    const rows = await tx.rows(CLEAR_MINUTES, [workspaceId, userId, from, to, repoKey])
    if (rows.length === 0) continue
    await markDays(tx, workspaceId, [...new Set(rows.map(({ day }) => day))])
    removed.push(...rows.map((row) => ({ ...row, workspaceId })))
  }
  return removed
}
