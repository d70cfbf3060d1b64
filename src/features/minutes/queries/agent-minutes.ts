/** Minutes of a person's agents, for that person only. */
import { limits } from '../../../../schemas/limits.js'
import type { Db } from '../../../platform/database/client.js'
import {
  date,
  integer,
  integers,
  json,
  orNull,
  statement,
  text,
  uuid,
} from '../../../platform/database/statement.js'
import type { Range } from '../../../platform/time/days.js'
import { hoursByZone } from '../agent-zones.js'
import { sharesOf, sumOfShares } from '../local-days.js'

/** Hours by time zone. */
type OtherHours = Record<string, number[]>

/** Agents' minutes on a UTC day in a repository, as they count in a workspace. */
export interface AgentDay {
  workspaceId: string
  day: string
  repoKey: string
  repo: string
  minutes: number
  /** Null once the day's hours have been deleted. */
  hours: number[] | null
  /** The zone of the hours. Null: written by the previous version. */
  timezone: string | null
  /** The part of the hours in each other time zone. Null: none. */
  otherZones: OtherHours | null
}

/** $1: the user; $2: workspaces; $3: days. */
const READ_AGENT_DAYS = statement(
  'read agent minutes',
  {
    workspaceId: uuid,
    day: date,
    repoKey: text,
    repo: text,
    minutes: integer,
    hours: orNull(integers),
    timezone: orNull(text),
    otherZones: orNull(json<OtherHours>()),
  },
  `
  select workspace_id as "workspaceId", day, repo_key as "repoKey", repo, minutes, hours, timezone,
    other_zones as "otherZones"
  from agent_minutes
  where user_id = $1::uuid and workspace_id = any($2::uuid[]) and day = any($3::date[])`,
)

export const readAgentDays = (
  db: Db,
  userId: string,
  workspaceIds: string[],
  days: string[],
): Promise<AgentDay[]> => db.rows(READ_AGENT_DAYS, [userId, workspaceIds, days])

/** $1: the user; per row, its columns. */
const REPLACE_AGENT_DAYS = statement(
  'replace agent minutes',
  {},
  `
  insert into agent_minutes (
    user_id, workspace_id, day, repo_key, repo, minutes, hours, timezone, minutes_before, minutes_after, other_zones
  )
  select $1::uuid, r.workspace_id, r.day, r.repo_key, r.repo, r.minutes, r.hours::smallint[], r.timezone, r.before,
    r.after, r.other_zones::jsonb
  from unnest(
    $2::uuid[], $3::date[], $4::text[], $5::text[], $6::int[], $7::text[], $8::text[], $9::int[], $10::int[], $11::text[]
  ) as r (workspace_id, day, repo_key, repo, minutes, hours, timezone, before, after, other_zones)
  on conflict (user_id, workspace_id, day, repo_key) do update
  set minutes = excluded.minutes, hours = excluded.hours, timezone = excluded.timezone,
    minutes_before = excluded.minutes_before, minutes_after = excluded.minutes_after,
    other_zones = excluded.other_zones`,
)

export const replaceAgentDays = async (tx: Db, userId: string, days: AgentDay[]): Promise<void> => {
  if (days.length === 0) return
  const shares = days.map((row) =>
    sumOfShares(
      Array.from(hoursByZone(row, 'UTC'), ([timezone, hours]) => ({ day: row.day, timezone, hours })),
    ),
  )
  await tx.rows(REPLACE_AGENT_DAYS, [
    userId,
    days.map(({ workspaceId }) => workspaceId),
    days.map(({ day }) => day),
    days.map(({ repoKey }) => repoKey),
    days.map(({ repo }) => repo),
    days.map(({ minutes }) => minutes),
    days.map(({ hours }) => hours && `{${hours.join()}}`),
    days.map(({ timezone }) => timezone),
    shares.map(({ before }) => before),
    shares.map(({ after }) => after),
    days.map(({ otherZones }) => otherZones && JSON.stringify(otherZones)),
  ])
}

const OWN_RANGE = `
  from agent_minutes a cross join lateral (values
    (a.day - 1, a.minutes_before), (a.day, a.minutes - a.minutes_before - a.minutes_after), (a.day + 1, a.minutes_after)
  ) as local (day, minutes)
  where a.user_id = $1::uuid and a.workspace_id = $2::uuid and a.day between $3::date - 1 and $4::date + 1
    and local.day between $3::date and $4::date and ($5::text is null or a.repo_key = $5) and local.minutes > 0`

/** $1: the user; $2: the workspace; $3 and $4: the first and the last local day; $5: a repository or null. */
const SUM_AGENT_DAYS = statement(
  'sum agent minutes by day',
  { day: date, minutes: integer },
  `select local.day, sum(local.minutes)::int as minutes ${OWN_RANGE} group by local.day`,
)
/** As above. $6: how many. */
const SUM_AGENT_REPOS = statement(
  'sum agent minutes by repository',
  { repoKey: text, repo: text, minutes: integer },
  `
  select a.repo_key as "repoKey", min(a.repo) as repo, sum(local.minutes)::int as minutes ${OWN_RANGE}
  group by a.repo_key
  order by 3 desc, 1 limit $6::int`,
)

interface OwnFilter {
  userId: string
  workspaceId: string
  range: Range
  repoKey: string | undefined
}

/** By day, and by repository for the repositories with the most minutes, one more than a dashboard has rows. */
export const sumAgentMinutes = async (db: Db, { userId, workspaceId, range, repoKey }: OwnFilter) => {
  const parameters = [userId, workspaceId, range.from, range.to, repoKey ?? null]
  const [days, repos] = await Promise.all([
    db.rows(SUM_AGENT_DAYS, parameters),
    db.rows(SUM_AGENT_REPOS, [...parameters, limits.dashboard_rows + 1]),
  ])
  return { days: new Map(days.map(({ day, minutes }) => [day, minutes])), repos }
}

/** $1: how many days hours are kept; $2: how many rows. */
const CLEAR_AGENT_HOURS = statement(
  'clear expired agent hours',
  { day: date },
  `
  update agent_minutes set hours = null, timezone = null, other_zones = null
  where (user_id, workspace_id, day, repo_key) in (
    select user_id, workspace_id, day, repo_key from agent_minutes
    where day < (now() at time zone 'UTC')::date - $1::int and hours is not null limit $2::int
  )
  returning day`,
)

/** Deletes hours past their retention period. @returns how many rows had any */
export const clearAgentHours = async (tx: Db, detailDays: number, rows: number): Promise<number> =>
  (await tx.rows(CLEAR_AGENT_HOURS, [detailDays, rows])).length

const LIST_UNASSIGNED = statement(
  'list agent minutes without local days',
  { userId: uuid, workspaceId: uuid, day: date, repoKey: text, hours: integers, timezone: text },
  `
  select a.user_id as "userId", a.workspace_id as "workspaceId", a.day, a.repo_key as "repoKey", a.hours,
    coalesce(u.timezone, 'UTC') as timezone
  from agent_minutes a left join users u on u.id = a.user_id
  where a.hours is not null and a.timezone is null
  limit $1::int
  for update of a`,
)

/** Per row: $1 user, $2 workspace, $3 day, $4 repository, $5 time zone, $6 and $7 minutes before and after. */
const ASSIGN = statement(
  'assign agent minutes to local days',
  {},
  `
  update agent_minutes a set timezone = r.timezone, minutes_before = r.before, minutes_after = r.after
  from unnest($1::uuid[], $2::uuid[], $3::date[], $4::text[], $5::text[], $6::int[], $7::int[])
    as r (user_id, workspace_id, day, repo_key, timezone, before, after)
  where a.user_id = r.user_id and a.workspace_id = r.workspace_id and a.day = r.day and a.repo_key = r.repo_key`,
)

/** Assigns rows of the previous version to their local days. @returns how many were unassigned */
export const assignAgentMinutesToLocalDays = async (tx: Db, limit: number): Promise<number> => {
  const rows = await tx.rows(LIST_UNASSIGNED, [limit])
  const shares = rows.map(sharesOf)
  await tx.rows(ASSIGN, [
    rows.map(({ userId }) => userId),
    rows.map(({ workspaceId }) => workspaceId),
    rows.map(({ day }) => day),
    rows.map(({ repoKey }) => repoKey),
    rows.map(({ timezone }) => timezone),
    shares.map(({ before }) => before),
    shares.map(({ after }) => after),
  ])
  return rows.length
}
