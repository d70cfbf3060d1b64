/** A person's own minutes by day and workspace. */
import type { Db } from '../../../platform/database/client.js'
import { date, integer, orNull, statement, text } from '../../../platform/database/statement.js'

/** SQL: the minutes of the user $1 from $2 to $3 in the user's workspaces. */
const OWN = `
    a.workspace_id = m.workspace_id and a.user_id = m.user_id and a.day between $2::date and $3::date
    and a.minutes > 0`

const COUNT_MINUTES = statement(
  'count own minutes',
  { day: date, rows: integer },
  `
  select a.day, count(*)::int as rows
  from members m join activity a on ${OWN}
  where m.user_id = $1::uuid
  group by a.day
  order by a.day`,
)

/** The number of repositories on each day that has any. */
export const countOwnMinutes = (
  db: Db,
  userId: string,
  from: string,
  to: string,
): Promise<{ day: string; rows: number }[]> => db.rows(COUNT_MINUTES, [userId, from, to])

/** PostgreSQL builds the JSON, because building it from hundreds of thousands of rows costs the service more. */
const listMinutes = (join: 'join' | 'left join') => `
  select a.day, json_build_object(
      'workspace_id', w.id, 'name', w.name, 'minutes', coalesce(sum(a.minutes), 0), 'repos', coalesce(
        json_agg(json_build_object('repo', r.repo, 'minutes', a.minutes) order by a.minutes desc, a.repo_key)
          filter (where a.minutes is not null),
        '[]'
      )
    )::text as workspace
  from members m
  join workspaces w on w.id = m.workspace_id
  ${join} (activity a join activity_repos r on r.workspace_id = a.workspace_id and r.repo_key = a.repo_key) on ${OWN}
  where m.user_id = $1::uuid
  group by a.day, w.id
  order by a.day, w.created_at, w.id`

const LIST_MINUTES = statement('list own minutes', { day: date, workspace: text }, listMinutes('join'))
const LIST_MINUTES_WITH_EMPTY_WORKSPACES = statement(
  'list own minutes in all workspaces',
  { day: orNull(date), workspace: text },
  listMinutes('left join'),
)

/** A `WorkspaceMinutes` as JSON. */
export interface OwnMinutes {
  day: string
  workspace: string
}

/** A user's minutes by day and workspace, older workspaces first. */
export const listOwnMinutes = (db: Db, userId: string, from: string, to: string): Promise<OwnMinutes[]> =>
  db.rows(LIST_MINUTES, [userId, from, to])

/** The minutes of one day, including workspaces without any. */
export const listOwnMinutesOfAllWorkspaces = (
  db: Db,
  userId: string,
  day: string,
): Promise<Pick<OwnMinutes, 'workspace'>[]> => db.rows(LIST_MINUTES_WITH_EMPTY_WORKSPACES, [userId, day, day])
