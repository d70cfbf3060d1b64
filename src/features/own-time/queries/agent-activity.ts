/** Minutes of a person's agents, for that person only. */
import { limits } from '../../../../schemas/limits.js'
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
import type { Range } from '../../../platform/time/days.js'

/** Agents' minutes on a local day in a repository, as they count in a workspace. */
export interface AgentDay {
  workspaceId: string
  day: string
  repoKey: string
  repo: string
  minutes: number
  /** Null once the day's hours have been deleted. */
  hours: number[] | null
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
  },
  `
  select workspace_id as "workspaceId", day, repo_key as "repoKey", repo, minutes, hours
  from agent_activity
  where user_id = $1::uuid and workspace_id = any($2::uuid[]) and day = any($3::date[])`,
)

export const readAgentDays = (
  db: Db,
  userId: string,
  workspaceIds: string[],
  days: string[],
): Promise<AgentDay[]> => db.rows(READ_AGENT_DAYS, [userId, workspaceIds, days])

/** $1: the user; $2: the time zone; per row, its other columns. */
const REPLACE_AGENT_DAYS = statement(
  'replace agent minutes',
  {},
  `
  insert into agent_activity (user_id, timezone, workspace_id, day, repo_key, repo, minutes, hours)
  select $1::uuid, $2::text, r.workspace_id, r.day, r.repo_key, r.repo, r.minutes, r.hours::smallint[]
  from unnest($3::uuid[], $4::date[], $5::text[], $6::text[], $7::int[], $8::text[])
    as r (workspace_id, day, repo_key, repo, minutes, hours)
  on conflict (user_id, workspace_id, day, repo_key) do update
  set minutes = excluded.minutes, hours = excluded.hours, timezone = excluded.timezone`,
)

export const replaceAgentDays = async (
  tx: Db,
  { userId, timezone }: { userId: string; timezone: string },
  days: readonly AgentDay[],
): Promise<void> => {
  if (days.length === 0) return
  await tx.rows(REPLACE_AGENT_DAYS, [
    userId,
    timezone,
    days.map(({ workspaceId }) => workspaceId),
    days.map(({ day }) => day),
    days.map(({ repoKey }) => repoKey),
    days.map(({ repo }) => repo),
    days.map(({ minutes }) => minutes),
    days.map(({ hours }) => hours && `{${hours.join()}}`),
  ])
}

/** SQL: the agent time of the user $1 in the workspace $2 from $3 to $4, in one repository ($5) or all (null). */
const IN_WORKSPACE = `
  from agent_activity
  where user_id = $1::uuid and workspace_id = $2::uuid and day between $3::date and $4::date
    and ($5::text is null or repo_key = $5) and minutes > 0`

const SUM_AGENT_DAYS = statement(
  'sum agent minutes by day',
  { day: date, minutes: integer },
  `select day, sum(minutes)::int as minutes ${IN_WORKSPACE} group by day`,
)
/** $6: how many. */
const SUM_AGENT_REPOS = statement(
  'sum agent minutes by repository',
  { repoKey: text, repo: text, minutes: integer },
  `
  select repo_key as "repoKey", min(repo) as repo, sum(minutes)::int as minutes ${IN_WORKSPACE}
  group by repo_key
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
  update agent_activity set hours = null, timezone = null
  where (user_id, workspace_id, day, repo_key) in (
    select user_id, workspace_id, day, repo_key from agent_activity
    where day < (now() at time zone 'UTC')::date - $1::int and hours is not null limit $2::int
  )
  returning day`,
)

/** Deletes hours past their retention period. @returns how many rows had any */
export const clearAgentHours = async (tx: Db, detailDays: number, rows: number): Promise<number> =>
  (await tx.rows(CLEAR_AGENT_HOURS, [detailDays, rows])).length
