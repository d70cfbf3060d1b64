/** A flush's target: the person, their recording preferences and the workspaces where the minutes count. */
import { limits } from '../../../../schemas/limits.js'
import type { RecordingHours } from '../../../../schemas/recording.js'
import { splitRepo } from '../../../../schemas/repo-keys.js'
import { COMPARISON_COST, likenessOf, patternMatches } from '../../../../schemas/repo-pattern.js'
import { ApiError } from '../../../errors.js'
import type { Db } from '../../../platform/database/client.js'
import {
  bool,
  date,
  double,
  integer,
  json,
  orNull,
  type RowOf,
  statement,
  text,
  texts,
  uuid,
} from '../../../platform/database/statement.js'
import { groupBy, requireValue } from '../../../platform/process/maps.js'
import { FIRST_DAY } from '../../../platform/time/days.js'

const targetColumns = {
  n: integer,
  today: date,
  now: double,
  timezone: orNull(text),
  timezoneChosen: bool,
  comparisons: double,
  workspaceId: orNull(uuid),
  repoKeys: orNull(texts),
  firstDay: orNull(date),
  joinedOn: orNull(date),
  idleWindow: orNull(integer),
  paused: orNull(bool),
  recordedHours: orNull(json<RecordingHours>()),
  reposOff: orNull(texts),
}
type TargetRow = RowOf<typeof targetColumns>

/**
 * SQL: the first day on which the membership `m` counts minutes. Null: every day counts. People who became members
 * through a link find out at their next visit, and have that day to leave.
 */
const FIRST_COUNTED_DAY = `case when exists (
    select from organization_members om
    where om.workspace_id = m.workspace_id and om.user_id = m.user_id and om.confirmed_at is not null
  ) then (m.joined_at at time zone 'UTC')::date + 1 end`

/**
 * People with minutes to count, their recording preferences and, one per row, the workspaces in which they count. $1:
 * the users; $2, $3, $4: the user's position among them, and each repository's owner and name; $5: the comparison limit
 * for each user; $6: each user's scope. Repositories that the user has excluded are only in the first row. All matching
 * workspaces, rather than the best one as for settings. Repositories under the user's own login count only where the
 * user is an admin, because other admins can claim any name. A LIKE costs the name's length times the pattern's, so
 * these products are added up first. If the sum exceeds $5, nothing is compared. All characters are ASCII, and counting
 * bytes takes a quarter of the time. Arrays are selected, so that the planner doesn't know their lengths. For short
 * ones it would plan every execution again.
 */
export const READ_TARGETS = statement(
  'read flush targets',
  targetColumns,
  `
  with repos as materialized (
    select n, owner_key, repo_key from unnest((select $2::int[]), (select $3::text[]), (select $4::text[])) as r (n, owner_key, repo_key)
  ), owners as materialized (
    select n, owner_key, sum(${COMPARISON_COST} + octet_length(repo_key)) as characters from repos group by n, owner_key
  ), people as materialized (
    select a.n::int as n, a.scope, u.id, u.login_key, u.timezone, u.timezone_chosen, c.paused, c.hours, c.repos_off_like, (coalesce((
      select sum(o.characters * (${COMPARISON_COST} + case when p.exact then 0 else least(octet_length(p.repo_key), ${limits.repo_length}) end))
      from members m
      cross join owners o
      join patterns p on p.workspace_id = m.workspace_id and p.owner_key = o.owner_key
      where a.scope = 'workspaces' and m.user_id = u.id and o.n = a.n
    ), 0) + coalesce((
      select sum(${COMPARISON_COST} + octet_length(o.repo_like)) from unnest(c.repos_off_like) as o (repo_like)
    ) * (
      select sum(${COMPARISON_COST} + octet_length(r.owner_key) + octet_length(r.repo_key)) from repos r where r.n = a.n
    ), 0))::float8 as comparisons
    from unnest((select $1::uuid[]), (select $6::text[])) with ordinality as a (id, scope, n)
    join users u on u.id = a.id and u.repohost_id is not null
    left join recordings c on c.user_id = u.id
  )
  select u.n, (now() at time zone 'UTC')::date as today, (extract(epoch from now()) * 1000)::float8 as now, u.timezone, u.timezone_chosen as "timezoneChosen", u.comparisons,
    w.workspace_id as "workspaceId", w.repo_keys as "repoKeys", w.first_day as "firstDay", w.joined_on as "joinedOn", w.idle_window as "idleWindow", u.paused, u.hours as "recordedHours",
    case when u.paused is not null and row_number() over (partition by u.n order by w.workspace_id) = 1 then array(
      select r.owner_key || '/' || r.repo_key from repos r
      where r.n = u.n and u.comparisons <= $5::float8
        and ${likenessOf('r.owner_key')} || '/' || r.repo_key like any (u.repos_off_like)
    ) end as "reposOff"
  from people u
  left join lateral (
    select m.workspace_id, array_agg(r.owner_key || '/' || r.repo_key) as repo_keys,
      ${FIRST_COUNTED_DAY} as first_day, (m.joined_at at time zone 'UTC')::date as joined_on,
      (select idle_window_minutes from workspaces where id = m.workspace_id) as idle_window
    from members m
    join repos r on r.n = u.n and (r.owner_key <> u.login_key or m.role = 'admin')
    where u.scope = 'workspaces' and m.user_id = u.id and u.comparisons <= $5::float8 and exists (
      select from patterns p
      where p.workspace_id = m.workspace_id and ${patternMatches('p', 'r.owner_key', 'r.repo_key')}
    )
    group by m.workspace_id, m.user_id
  ) w on true
  order by u.n, w.workspace_id`,
)

/** Where a person's minutes count. */
export interface FlushTarget {
  kind: 'found'
  /** According to the database's clock. */
  today: string
  /** The same, in milliseconds since 1970. */
  now: number
  timezone: string | null
  timezoneChosen: boolean
  /** Undefined: everything is recorded. */
  recording?: {
    paused: boolean
    /** The requested repositories that are excluded from recording. */
    reposOff: string[]
    hours: RecordingHours | null
  }
  /** All matching workspaces, ordered by id. */
  workspaces: MatchingWorkspace[]
}

/** The result of reading a person's target. */
export type TargetResult =
  | FlushTarget
  | { kind: 'unknown person' }
  /** Nothing was compared, because comparing the repositories with all patterns costs more than the limit. */
  | { kind: 'too large'; comparisons: number }

export interface MatchingWorkspace {
  workspaceId: string
  /** The requested repositories that match. */
  repoKeys: string[]
  /** The first day on which they do. `FIRST_DAY`: on all days. */
  firstDay: string
  joinedOn: string
  /** In minutes. */
  idleWindow: number
}

/** Where minutes count: in workspaces, or only for their person. */
export type Scope = 'workspaces' | 'person'

/** What to find out about a person. */
export interface TargetRequest {
  userId: string
  /** `owner/repo` in lower case. */
  repoKeys: Iterable<string>
  scope: Scope
}

/**
 * @param maxComparisons how much is compared for each of them at most
 * @returns an entry for each of these people, by user
 */
export const readTargets = async (
  db: Db,
  requests: readonly TargetRequest[],
  maxComparisons: number = limits.flush_comparisons,
): Promise<ReadonlyMap<string, TargetResult>> => {
  const repos = requests.flatMap(({ repoKeys }, index) =>
    Array.from(repoKeys, (repoKey) => ({ n: index + 1, ...splitRepo(repoKey) })),
  )
  const rows = await db.rows(READ_TARGETS, [
    requests.map(({ userId }) => userId),
    repos.map(({ n }) => n),
    repos.map(({ owner }) => owner),
    repos.map(({ repo }) => repo),
    maxComparisons,
    requests.map(({ scope }) => scope),
  ])
  const rowsOf = groupBy(rows, ({ n }) => n)
  return new Map(
    requests.map(({ userId }, index) => [userId, toTarget(rowsOf.get(index + 1) ?? [], maxComparisons)]),
  )
}

/** @param rows a person's rows, one per matching workspace, or one without a workspace */
const toTarget = (rows: TargetRow[], maxComparisons: number): TargetResult => {
  const [first] = rows
  if (!first) return { kind: 'unknown person' }
  const { today, now, timezone, timezoneChosen, comparisons, paused, reposOff, recordedHours } = first
  if (comparisons > maxComparisons) return { kind: 'too large', comparisons }
  return {
    kind: 'found',
    today,
    now,
    timezone,
    timezoneChosen,
    ...(paused !== null && { recording: { paused, reposOff: reposOff ?? [], hours: recordedHours } }),
    workspaces: rows.flatMap(toWorkspaces),
  }
}

/** @returns none for the row without a workspace */
const toWorkspaces = ({
  workspaceId,
  repoKeys,
  firstDay,
  joinedOn,
  idleWindow,
}: TargetRow): MatchingWorkspace[] => {
  if (workspaceId === null || repoKeys === null || joinedOn === null || idleWindow === null) return []
  return [{ workspaceId, repoKeys, firstDay: firstDay ?? FIRST_DAY, joinedOn, idleWindow }]
}

/** @returns `token_invalid`, `payload_too_large` */
export const errorForTarget = (target: Exclude<TargetResult, FlushTarget>, repos: number): ApiError => {
  if (target.kind === 'unknown person') return new ApiError('token_invalid')
  const reposThatFit = Math.max(1, Math.floor((repos * limits.flush_comparisons) / target.comparisons))
  return new ApiError('payload_too_large', {
    detail: `This request names ${repos} repositories, too many to compare with all your workspaces’ patterns. Name at most ${reposThatFit} in one request.`,
  })
}

/**
 * Reads where a person's minutes count.
 * @param repoKeys `owner/repo` in lower case
 * @throws {ApiError} `token_invalid`, and `payload_too_large` for too many repositories to compare with all patterns
 */
export const readTarget = async (
  db: Db,
  userId: string,
  repoKeys: ReadonlySet<string>,
  scope: Scope = 'workspaces',
): Promise<FlushTarget> => {
  const targets = await readTargets(db, [{ userId, repoKeys, scope }])
  const target = requireValue(targets, userId)
  if (target.kind === 'found') return target
  throw errorForTarget(target, repoKeys.size)
}
