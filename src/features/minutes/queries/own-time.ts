/** A person's own minutes across all their workspaces. Minutes that count in several of them count once. */
import { limits } from '../../../../schemas/limits.js'
import type { Db } from '../../../platform/database/client.js'
import { date, integer, integers, statement, text } from '../../../platform/database/statement.js'
import { HOURS, type Range } from '../../../platform/time/days.js'

/** Minutes on a UTC day. */
export interface DayMinutes {
  day: string
  /** By UTC hour. */
  hours: number[]
  /** Without an hour. */
  rest: number
}

const eachHour = (write: (index: number) => string, separator = ', ') =>
  Array.from({ length: HOURS }, (_, index) => write(index + 1)).join(separator)

/** $1: the user; $2 and $3: the first and the last day. Each repository has the minutes of its best workspace. */
const repoDaysFrom = (source: string, repo: string) => `
  select a.day, a.repo_key, ${repo} as repo,
    ${eachHour((hour) => `coalesce(max(a.hours[${hour}]), 0)::int as h${hour}`)},
    max(a.minutes - (${eachHour((hour) => `coalesce(a.hours[${hour}], 0)`, ' + ')}))::int as rest
  ${source}
  group by a.day, a.repo_key`

const REPO_DAYS = repoDaysFrom(
  `from members m
  join activity a on a.workspace_id = m.workspace_id and a.user_id = m.user_id
    and a.day between $2::date and $3::date
  left join activity_repos r on r.workspace_id = a.workspace_id and r.repo_key = a.repo_key
  where m.user_id = $1::uuid and a.minutes > 0`,
  'coalesce(min(r.repo), a.repo_key)',
)
const AGENT_REPO_DAYS = repoDaysFrom(
  `from agent_minutes a
  where a.user_id = $1::uuid and a.day between $2::date and $3::date and a.minutes > 0`,
  'min(a.repo)',
)

const TOTAL = `(${eachHour((hour) => `h${hour}`, ' + ')} + rest)`

/**
 * In each hour, repositories share 60 minutes. Those with the most minutes that day come first. Otherwise they'd exceed
 * the hour if it's full in one workspace and not in another.
 */
const SHARED_REPO_DAYS = `
  select day, repo_key, repo, rest, row_number() over by_minutes as place, ${eachHour(
    (hour) =>
      `greatest(0, least(h${hour}, ${limits.minutes_per_hour} - coalesce(sum(h${hour}) over earlier, 0)))::int as h${hour}`,
  )}
  from (${REPO_DAYS}) as repo_days
  window by_minutes as (partition by day order by ${TOTAL} desc, repo_key),
    earlier as (by_minutes rows between unbounded preceding and 1 preceding)`

const sumByDay = (repoDays: string) => `
  select day, array[${eachHour((hour) => `least(sum(h${hour}), ${limits.minutes_per_hour})`)}]::int[] as hours,
    sum(rest)::int as rest
  from (${repoDays}) as repo_days
  group by day order by day`

const dayColumns = { day: date, hours: integers, rest: integer }
const SUM_OWN_DAYS = statement('sum own minutes by day', dayColumns, sumByDay(REPO_DAYS))
const SUM_OWN_AGENT_DAYS = statement(
  'sum own minutes of agents',
  dayColumns,
  sumByDay(`select * from (${AGENT_REPO_DAYS}) as all_repos where $4::text is null or repo_key = $4`),
)

/** $4: how many repositories of a day. $5: only this one. */
const LIST_OWN_REPO_DAYS = statement(
  'list own minutes by day and repository',
  { ...dayColumns, repo: text },
  `
  select day, array[${eachHour((hour) => `h${hour}`)}]::int[] as hours, rest, repo
  from (${SHARED_REPO_DAYS}) as shared
  where case when $5::text is null then place <= $4::int else repo_key = $5 end
  order by day, place`,
)

/** @param repoKey counts only this repository, here and below */
export const sumOwnDays = (
  db: Db,
  userId: string,
  { from, to }: Range,
  repoKey?: string,
): Promise<DayMinutes[]> =>
  repoKey === undefined
    ? db.rows(SUM_OWN_DAYS, [userId, from, to])
    : db.rows(LIST_OWN_REPO_DAYS, [userId, from, to, 1, repoKey])

/** The same for the person's agents, in minutes in which the person didn't work. */
export const sumOwnAgentDays = (
  db: Db,
  userId: string,
  { from, to }: Range,
  repoKey?: string,
): Promise<DayMinutes[]> => db.rows(SUM_OWN_AGENT_DAYS, [userId, from, to, repoKey ?? null])

/** The repositories of each day with the most minutes. */
export const listOwnRepoDays = (
  db: Db,
  userId: string,
  { from, to }: Range,
  most: number,
  repoKey?: string,
): Promise<(DayMinutes & { repo: string })[]> =>
  db.rows(LIST_OWN_REPO_DAYS, [userId, from, to, most, repoKey ?? null])

/** $4: how many repositories. $5: only this one. */
const SUM_OWN_REPOS = statement(
  'sum own minutes by repository',
  { repo: text, minutes: integer, first: date, last: date },
  `
  select min(repo) as repo, sum${TOTAL}::int as minutes, min(day) as first, max(day) as last
  from (${SHARED_REPO_DAYS}) as shared
  where $5::text is null or repo_key = $5
  group by repo_key
  order by minutes desc, repo_key
  limit $4::int`,
)

/** The repositories with the most minutes, with the first and the last day of each. */
export const sumOwnRepos = (
  db: Db,
  userId: string,
  { from, to }: Range,
  repoKey?: string,
): Promise<{ repo: string; minutes: number; first: string; last: string }[]> =>
  db.rows(SUM_OWN_REPOS, [userId, from, to, limits.dashboard_rows, repoKey ?? null])
