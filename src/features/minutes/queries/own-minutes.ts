/** A person's own minutes by local day and workspace. */
import type { Db } from '../../../platform/database/client.js'
import {
  date,
  integer,
  integers,
  moment,
  orNull,
  statement,
  text,
  uuid,
} from '../../../platform/database/statement.js'

const LIST_WORKSPACES = statement(
  'list own workspaces by age',
  { id: uuid, name: text, createdAt: moment },
  `
  select w.id, w.name, w.created_at as "createdAt"
  from members m join workspaces w on w.id = m.workspace_id
  where m.user_id = $1::uuid
  order by w.created_at, w.id`,
)

/** A user's workspaces, older ones first. */
export const listOwnWorkspaces = (db: Db, userId: string) => db.rows(LIST_WORKSPACES, [userId])

/** $1: the user; $2, $3: the first and the last local day. */
const LIST_MINUTES = statement(
  'list own minutes',
  {
    workspaceId: uuid,
    day: date,
    repoKey: text,
    repo: text,
    minutes: integer,
    hours: orNull(integers),
    timezone: orNull(text),
  },
  `
  select a.workspace_id as "workspaceId", a.day, a.repo_key as "repoKey", coalesce(r.repo, a.repo_key) as repo, a.minutes,
    a.hours, a.timezone
  from members m
  join daily_activity a on a.workspace_id = m.workspace_id and a.user_id = m.user_id
    and a.day between $2::date and $3::date and a.minutes > 0
  left join activity_repos r on r.workspace_id = a.workspace_id and r.repo_key = a.repo_key
  where m.user_id = $1::uuid`,
)

/** A user's rows in their workspaces. */
export const listOwnMinutes = (db: Db, userId: string, from: string, to: string) =>
  db.rows(LIST_MINUTES, [userId, from, to])

const COUNT_MINUTES = statement(
  'count own minutes',
  { day: date, rows: integer },
  `
  select a.day, count(*)::int as rows
  from members m
  join daily_activity a on a.workspace_id = m.workspace_id and a.user_id = m.user_id
    and a.day between $2::date and $3::date and a.minutes > 0
  where m.user_id = $1::uuid
  group by a.day
  order by a.day`,
)

/** The number of rows on each local day that has any. */
export const countOwnMinutes = (db: Db, userId: string, from: string, to: string) =>
  db.rows(COUNT_MINUTES, [userId, from, to])
