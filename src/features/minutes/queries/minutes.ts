/** Active minutes as flushes record them. */
import type { Db } from '../../../platform/database/client.js'
import { date, integer, integers, statement, uuid } from '../../../platform/database/statement.js'
import { HOURS } from '../../../platform/time/days.js'
import type { Minutes } from '../caps.js'

/** $1: the workspace; $2: the user. Makes the row, or only locks it: nothing in it ever changes. */
export const LOCK_ACTIVITY = statement(
  'let the flushes of a member take turns',
  {},
  `
  insert into activity_people (workspace_id, user_id) values ($1::uuid, $2::uuid)
  on conflict (workspace_id, user_id) do update set user_id = excluded.user_id where false`,
)

const hours = (expression: (hour: number) => string) =>
  `array[${Array.from({ length: HOURS }, (_, index) => expression(index + 1)).join(', ')}]`

/** $1: the workspace; $2: the user; $3: days. What has lost its hours may get new ones. */
export const READ_DAYS = statement(
  'read what a member has on days',
  { day: date, minutes: integer, hours: integers },
  `
  select day, sum(minutes)::int as minutes,
    ${hours((hour) => `coalesce(sum(hours[${hour}]), 0)::int`)} as hours
  from activity
  where workspace_id = $1::uuid and user_id = $2::uuid and day = any($3::date[]) and minutes > 0
  group by day`,
)

/**
 * Keeps the member's other flushes waiting until the transaction ends.
 * @returns by day, what the member has in all repositories; nothing of days without minutes
 */
export const lockDays = async (
  tx: Db,
  workspaceId: string,
  userId: string,
  days: string[],
): Promise<Map<string, Minutes>> => {
  const [, rows] = await Promise.all([
    tx.rows(LOCK_ACTIVITY, [workspaceId, userId]),
    tx.rows(READ_DAYS, [workspaceId, userId, days]),
  ])
  return new Map(rows.map(({ day, ...total }) => [day, total]))
}

/** $1: the workspace; $2, $3: repositories in lower case and as given. */
export const NAME_REPOS = statement(
  'name repositories',
  {},
  `
  insert into activity_repos (workspace_id, repo_key, repo)
  values ($1::uuid, unnest($2::text[]), unnest($3::text[]))
  on conflict do nothing`,
)

/** $1: the workspace; $2: the user; of each row: $3 day, $4 repository, $5 minutes, $6 hours as text. */
export const ADD_MINUTES = statement(
  'add minutes',
  {},
  `
  insert into activity as a (workspace_id, user_id, day, repo_key, minutes, hours)
  select $1::uuid, $2::uuid, r.day, r.repo_key, r.minutes, r.hours::smallint[]
  from unnest($3::date[], $4::text[], $5::smallint[], $6::text[]) as r (day, repo_key, minutes, hours)
  order by r.day, r.repo_key collate "C"
  on conflict (workspace_id, user_id, day, repo_key) do update set
    minutes = a.minutes + excluded.minutes,
    hours = ${hours((hour) => `coalesce(a.hours[${hour}], 0::smallint) + excluded.hours[${hour}]`)}`,
)

/** $1: the workspace; $2: days. */
export const MARK_DAYS = statement(
  'mark days as stale',
  {},
  'insert into stale_days (workspace_id, day) values ($1::uuid, unnest($2::date[]))',
)

/**
 * $1: the workspace; $2: days; $3: the user. One mark of a day for each user, however often their zone changes. A mark that is
 * there is locked, so that it is not taken away before the zone has changed.
 */
const MARK_DAYS_OF = statement(
  'mark days of a user as stale',
  {},
  `
  insert into stale_days (workspace_id, day, id) values ($1::uuid, unnest($2::date[]), $3::uuid)
  on conflict (workspace_id, day, id) do update set id = excluded.id where false`,
)

/** $1: the user; $2: flush id; $3: hash of the body; $4: answer. */
export const REMEMBER_FLUSH = statement(
  'remember the answer to a flush',
  {},
  `
  insert into flushes (user_id, flush_id, body_hash, answer)
  values ($1::uuid, $2::text, $3::text, $4::text)`,
)

/** Minutes to add for a member on a day in a repository. */
export interface AddedMinutes extends Minutes {
  day: string
  /** In the original spelling. */
  repo: string
  /** In lower case. */
  repoKey: string
}

/**
 * Adds to the days of a member that are locked, each repository of a day once. The rows are sorted, and repositories are
 * named before there is activity in them: so writers who meet wait for each other in one order.
 */
export const addMinutes = async (
  tx: Db,
  workspaceId: string,
  userId: string,
  added: AddedMinutes[],
): Promise<void> => {
  const days = added.map(({ day }) => day)
  const repos = [...new Map(added.map(({ repoKey, repo }) => [repoKey, repo]))].sort(([a], [b]) =>
    a < b ? -1 : 1,
  )
  await Promise.all([
    tx.rows(NAME_REPOS, [workspaceId, repos.map(([repoKey]) => repoKey), repos.map(([, repo]) => repo)]),
    markDays(tx, workspaceId, [...new Set(days)]),
    tx.rows(ADD_MINUTES, [
      workspaceId,
      userId,
      days,
      added.map(({ repoKey }) => repoKey),
      added.map(({ minutes }) => minutes),
      added.map(({ hours }) => `{${hours.join()}}`),
    ]),
  ])
}

/** Marks days as stale. Every change of activity must do so in the same transaction. */
export const markDays = async (tx: Db, workspaceId: string, days: string[]): Promise<void> => {
  await tx.rows(MARK_DAYS, [workspaceId, days])
}

/** @throws a conflict if another flush with this id was first */
export const rememberFlush = async (
  tx: Db,
  userId: string,
  flushId: string,
  { bodyHash, answer }: { bodyHash: string; answer: string },
): Promise<void> => {
  await tx.rows(REMEMBER_FLUSH, [userId, flushId, bodyHash, answer])
}

const CHANGE_TIMEZONE = statement(
  'change the time zone of a user',
  {},
  `update users set timezone = $2::text where id = $1::uuid and repohost_id is not null`,
)

/** Includes workspaces in which a running flush may add the first activity. */
const LIST_WORKSPACES_OF_PERSON = statement(
  'list the workspaces in which a person has activity',
  { workspaceId: uuid },
  `
  select workspace_id as "workspaceId" from activity_people where user_id = $1::uuid
  union select workspace_id from members where user_id = $1::uuid
  order by "workspaceId"`,
)

/** $1: the workspace; $2: the user. */
const LIST_DAYS_WITH_HOURS = statement(
  'list the days with known hours of a person',
  { day: date },
  `
  select distinct day from activity
  where workspace_id = $1::uuid and user_id = $2::uuid and hours is not null
  order by day`,
)

/**
 * Remembers the time zone in which the user's hours are drawn. It moves what heatmaps show of them, also in workspaces
 * that the user has left. Other flushes of the user end first, so that their days are found, or begin afterwards.
 */
export const changeTimezone = async (tx: Db, userId: string, timezone: string): Promise<void> => {
  const [, workspaces] = await Promise.all([
    tx.rows(CHANGE_TIMEZONE, [userId, timezone]),
    tx.rows(LIST_WORKSPACES_OF_PERSON, [userId]),
  ])
  for (const { workspaceId } of workspaces) {
    const [, rows] = await Promise.all([
      tx.rows(LOCK_ACTIVITY, [workspaceId, userId]),
      tx.rows(LIST_DAYS_WITH_HOURS, [workspaceId, userId]),
    ])
    await tx.rows(MARK_DAYS_OF, [workspaceId, rows.map(({ day }) => day), userId])
  }
}
