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

/** Agents' minutes on a UTC day in a repository, as they count in a workspace. */
export interface AgentDay {
  workspaceId: string
  day: string
  repoKey: string
  repo: string
  minutes: number
  /** Null: the day's hours are no longer kept. */
  hours: number[] | null
}

/** $1: the user; $2: workspaces; $3: days. */
const READ_AGENT_DAYS = statement(
  'read minutes of agents',
  { workspaceId: uuid, day: date, repoKey: text, repo: text, minutes: integer, hours: orNull(integers) },
  `
  select workspace_id as "workspaceId", day, repo_key as "repoKey", repo, minutes, hours
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
  'replace minutes of agents',
  {},
  `
  insert into agent_minutes (user_id, workspace_id, day, repo_key, repo, minutes, hours)
  select $1::uuid, r.workspace_id, r.day, r.repo_key, r.repo, r.minutes, r.hours::smallint[]
  from unnest($2::uuid[], $3::date[], $4::text[], $5::text[], $6::int[], $7::text[])
    as r (workspace_id, day, repo_key, repo, minutes, hours)
  on conflict (user_id, workspace_id, day, repo_key) do update
  set minutes = excluded.minutes, hours = excluded.hours`,
)

export const replaceAgentDays = async (tx: Db, userId: string, days: AgentDay[]): Promise<void> => {
  if (days.length === 0) return
  await tx.rows(REPLACE_AGENT_DAYS, [
    userId,
    days.map(({ workspaceId }) => workspaceId),
    days.map(({ day }) => day),
    days.map(({ repoKey }) => repoKey),
    days.map(({ repo }) => repo),
    days.map(({ minutes }) => minutes),
    days.map(({ hours }) => hours && `{${hours.join()}}`),
  ])
}

const OWN_RANGE = `
  from agent_minutes
  where user_id = $1::uuid and workspace_id = $2::uuid and day between $3::date and $4::date
    and ($5::text is null or repo_key = $5) and minutes > 0`

/** $1: the user; $2: the workspace; $3 and $4: the first and the last day; $5: a repository or null. */
const SUM_AGENT_DAYS = statement(
  'sum minutes of agents by day',
  { day: date, minutes: integer },
  `select day, sum(minutes)::int as minutes ${OWN_RANGE} group by day`,
)
/** As above. $6: how many. */
const SUM_AGENT_REPOS = statement(
  'sum minutes of agents by repository',
  { repoKey: text, repo: text, minutes: integer },
  `
  select repo_key as "repoKey", min(repo) as repo, sum(minutes)::int as minutes ${OWN_RANGE}
  group by repo_key
  order by 3 desc, 1 limit $6::int`,
)

interface OwnFilter {
  userId: string
  workspaceId: string
  range: Range
  repoKey: string | undefined
}

/** By day, and by repository for those with the most. */
export const sumAgentMinutes = async (db: Db, { userId, workspaceId, range, repoKey }: OwnFilter) => {
  const parameters = [userId, workspaceId, range.from, range.to, repoKey ?? null]
  const [days, repos] = await Promise.all([
    db.rows(SUM_AGENT_DAYS, parameters),
    db.rows(SUM_AGENT_REPOS, [...parameters, limits.dashboard_rows]),
  ])
  return { days: new Map(days.map(({ day, minutes }) => [day, minutes])), repos }
}

/** $1: how many days hours are kept; $2: how many rows. */
const DROP_AGENT_HOURS = statement(
  'drop the hours of agents',
  { day: date },
  `
  update agent_minutes set hours = null
  where (user_id, workspace_id, day, repo_key) in (
    select user_id, workspace_id, day, repo_key from agent_minutes
    where day < (now() at time zone 'UTC')::date - $1::int and hours is not null limit $2::int
  )
  returning day`,
)

/** Deletes hours past their retention period. @returns how many rows had any */
export const dropAgentHours = async (tx: Db, detailDays: number, rows: number): Promise<number> =>
  (await tx.rows(DROP_AGENT_HOURS, [detailDays, rows])).length
