/** Active minutes: as flushes record them, and as their owner reads them. Dashboards read the rollups (`dashboard.ts`). */

import { limits } from '../../../../schemas/limits.js'
import type { RecordingHours } from '../../../../schemas/recording.js'
import { divideRepo } from '../../../../schemas/repo-keys.js'
import { COMPARED, likenessOf } from '../../../../schemas/repo-pattern.js'
import type { Db } from '../../../platform/database/client.js'
import {
  bool,
  date,
  double,
  integer,
  integers,
  json,
  orNull,
  statement,
  text,
  texts,
  uuid,
} from '../../../platform/database/statement.js'
import { HOURS } from '../../../platform/time/days.js'
import { patternMatches } from '../../workspaces/index.js'
import type { Minutes } from '../caps.js'

/**
 * The person who flushes, their recording preferences, an earlier flush with the same id and, one per row, the workspaces in
 * which it counts. $1: the user; $2: flush id or null; $3, $4: owners and names of repositories; $5, $6: each owner, and
 * the characters of its repositories; $7: the characters of all of them; $8: how much is compared at most. Of these
 * repositories, those that are off are in the first row alone.
 *
 * All matching workspaces, and not the best one as for settings; what the user's own login owns counts only where the
 * user is admin, because another workspace's admins can claim any name.
 *
 * LIKE takes time for each character of a name times each of a pattern, so these products are added up first. When the
 * sum exceeds $8, nothing is compared. All characters are ASCII, and bytes are counted in a quarter of the time.
 */
export const READ_FLUSH = statement(
  'read what a flush comes upon',
  {
    today: date,
    timezone: orNull(text),
    bodyHash: orNull(text),
    answer: orNull(text),
    comparisons: double,
    workspaceId: orNull(uuid),
    repoKeys: orNull(texts),
    paused: orNull(bool),
    recordedHours: orNull(json<RecordingHours>()),
    reposOff: orNull(texts),
  },
  `
  with recording as materialized (
    select paused, hours, repos_off_like from recordings where user_id = $1::uuid
  ), work as materialized (
    select coalesce((
      select sum(o.characters * (${COMPARED} + case when p.exact then 0 else least(octet_length(p.repo_key), ${limits.repo_length}) end))
      from members m
      cross join unnest($5::text[], $6::float8[]) as o (owner_key, characters)
      join patterns p on p.workspace_id = m.workspace_id and p.owner_key = o.owner_key
      where m.user_id = $1::uuid
    ), 0) + coalesce((
      select sum(${COMPARED} + octet_length(o.repo_like)) * $7::float8
      from recording c, unnest(c.repos_off_like) as o (repo_like)
    ), 0) as comparisons
  )
  select (now() at time zone 'UTC')::date as today, u.timezone, f.body_hash as "bodyHash", f.answer,
    (select comparisons from work) as comparisons, w.workspace_id as "workspaceId", w.repo_keys as "repoKeys",
    c.paused, c.hours as "recordedHours",
    case when row_number() over (order by w.workspace_id) = 1 then c.repos_off end as "reposOff"
  from users u
  left join (
    select paused, hours, array(
      select owner_key || '/' || repo_key from unnest($3::text[], $4::text[]) as r (owner_key, repo_key)
      where (select comparisons from work) <= $8::float8 and ${likenessOf('owner_key')} || '/' || repo_key like any (repos_off_like)
    ) as repos_off
    from recording
  ) c on true
  left join (
    select body_hash, answer from flushes where user_id = $1::uuid and flush_id = $2::text
  ) f on true
  left join (
    select m.workspace_id, array_agg(r.owner_key || '/' || r.repo_key) as repo_keys
    from members m
    join users u on u.id = m.user_id
    cross join unnest($3::text[], $4::text[]) as r (owner_key, repo_key)
    where m.user_id = $1::uuid and (r.owner_key <> u.login_key or m.role = 'admin')
      and (select comparisons from work) <= $8::float8 and exists (
        select from patterns p
        where p.workspace_id = m.workspace_id and ${patternMatches('p', 'r.owner_key', 'r.repo_key')}
      )
    group by m.workspace_id
  ) w on true
  where u.id = $1::uuid and u.repohost_id is not null
  order by w.workspace_id`,
)

export interface FlushTarget {
  /** According to the database's clock. */
  today: string
  timezone: string | null
  /** The result of an earlier flush with this id. */
  known?: { bodyHash: string; answer: string }
  /** Undefined: everything is recorded. */
  recording?: {
    paused: boolean
    /** The requested repositories that are excluded from recording. */
    reposOff: string[]
    hours: RecordingHours | null
  }
  /** How much is compared to find what matches; beyond the limit of a flush, nothing was. */
  comparisons: number
  /** All that match, in the order of their ids. */
  workspaces: MatchingWorkspace[]
}

export interface MatchingWorkspace {
  workspaceId: string
  /** The requested repositories that match. */
  repoKeys: string[]
}

/** @param repoKeys `owner/repo` in lower case @returns undefined when the user is not in the database */
export const readFlushTarget = async (
  db: Db,
  userId: string,
  repoKeys: Iterable<string>,
  flushId: string | undefined,
): Promise<FlushTarget | undefined> => {
  const names = Array.from(repoKeys, divideRepo)
  const charactersOf = new Map<string, number>()
  let characters = 0
  for (const { owner, repo } of names) {
    charactersOf.set(owner, (charactersOf.get(owner) ?? 0) + COMPARED + repo.length)
    characters += COMPARED + owner.length + repo.length
  }
  const rows = await db.rows(READ_FLUSH, [
    userId,
    flushId ?? null,
    names.map(({ owner }) => owner),
    names.map(({ repo }) => repo),
    [...charactersOf.keys()],
    [...charactersOf.values()],
    characters,
    limits.flush_comparisons,
  ])
  const [first] = rows
  if (!first) return undefined
  const { today, timezone, bodyHash, answer, comparisons, paused, reposOff, recordedHours } = first
  return {
    today,
    timezone,
    comparisons,
    ...(bodyHash !== null && answer !== null && { known: { bodyHash, answer } }),
    ...(paused !== null && reposOff !== null && { recording: { paused, reposOff, hours: recordedHours } }),
    workspaces: rows.flatMap(({ workspaceId, repoKeys }) =>
      workspaceId !== null && repoKeys !== null ? [{ workspaceId, repoKeys }] : [],
    ),
  }
}

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

/** SQL: what the user $1 has from $2 to $3 in the workspaces that the user is in. */
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

/** How many repositories each day has; days without any are not there. */
export const countOwnMinutes = (
  db: Db,
  userId: string,
  from: string,
  to: string,
): Promise<{ day: string; rows: number }[]> => db.rows(COUNT_MINUTES, [userId, from, to])

/** JSON is made here, because hundreds of thousands of rows would cost the service more than the database. */
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
const LIST_MINUTES_OF_ALL_WORKSPACES = statement(
  'list own minutes in all workspaces',
  { day: orNull(date), workspace: text },
  listMinutes('left join'),
)

/** A `WorkspaceMinutes` in JSON. */
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
): Promise<Pick<OwnMinutes, 'workspace'>[]> => db.rows(LIST_MINUTES_OF_ALL_WORKSPACES, [userId, day, day])
