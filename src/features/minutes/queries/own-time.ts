/**
 * A person's own minutes: those that count in workspaces, also in ones that the person has left, and those that count in
 * none. Minutes that count in several workspaces count once.
 */
import { limits } from '../../../../schemas/limits.js'
import type { Db } from '../../../platform/database/client.js'
import { date, integer, integers, statement, text } from '../../../platform/database/statement.js'
import { HOURS, type Range } from '../../../platform/time/days.js'

/** Minutes of a UTC day that were recorded in one time zone. */
export interface DayMinutes {
  day: string
  timezone: string
  /** By UTC hour. */
  hours: number[]
  /** Without an hour. */
  rest: number
  /** The same on the local days before and after, for minutes whose hours have been deleted. */
  restBefore: number
  restAfter: number
}

const eachHour = (write: (index: number) => string, separator = ', ') =>
  Array.from({ length: HOURS }, (_, index) => write(index + 1)).join(separator)

const IN_HOURS = eachHour((hour) => `coalesce(a.hours[${hour}], 0)`, ' + ')

/** SQL: the minutes of rows `a`, by hour and without one, and the local days of the first and the last. */
const minutesOf = (others: string) => `
    coalesce(a.timezone, 'UTC') as timezone,
    ${eachHour((hour) => `coalesce(a.hours[${hour}], 0) - coalesce(${others}[${hour}], 0) as h${hour}`)},
    a.minutes - (${IN_HOURS}) - case when a.hours is null then a.minutes_before + a.minutes_after else 0 end as rest,
    case when a.hours is null then a.minutes_before else 0 end as rest_before,
    case when a.hours is null then a.minutes_after else 0 end as rest_after,
    case when a.minutes_before > 0 then a.day - 1 when a.minutes > a.minutes_after then a.day else a.day + 1 end as first,
    case when a.minutes_after > 0 then a.day + 1 when a.minutes > a.minutes_before then a.day else a.day - 1 end as last`

/**
 * $1: the user; $2 and $3: the first and the last UTC day. Hours of other time zones have rows of their own; the row of
 * activity knows the first and the last local day of all. Only one with hours in several time zones has `all_zones`.
 */
const MINUTES = `
  select a.day, a.repo_key, coalesce(r.repo, a.repo_key) as repo, case when z.hours is not null then a.hours end as all_zones, ${minutesOf('z.hours')}
  from activity_people m
  join activity a on a.workspace_id = m.workspace_id and a.user_id = m.user_id
    and a.day between $2::date and $3::date
  left join activity_repos r on r.workspace_id = a.workspace_id and r.repo_key = a.repo_key
  left join (
    select workspace_id, day, repo_key, array[${eachHour((hour) => `sum(hours[${hour}])`)}]::int[] as hours
    from activity_other_zones where user_id = $1::uuid and day between $2::date and $3::date
    group by workspace_id, day, repo_key
  ) z on z.workspace_id = a.workspace_id and z.day = a.day and z.repo_key = a.repo_key
  where m.user_id = $1::uuid and a.minutes > 0
  union all
  select a.day, a.repo_key, coalesce(r.repo, a.repo_key) as repo, null::smallint[], a.timezone,
    ${eachHour((hour) => `a.hours[${hour}]`)}, 0, 0, 0, null::date, null::date
  from activity_people m
  join activity_other_zones a on a.workspace_id = m.workspace_id and a.user_id = m.user_id
    and a.day between $2::date and $3::date
  left join activity_repos r on r.workspace_id = a.workspace_id and r.repo_key = a.repo_key
  where m.user_id = $1::uuid`

/** SQL: a project name without a repository. */
const IS_UNASSIGNED = `p.repo_key !~ '^[^/]+(/[^/]+)+$'`

const eachMarkedHour = (marks: string) =>
  eachHour(
    (hour) =>
      `bit_count(substring(${marks} from ${(hour - 1) * limits.minutes_per_hour + 1} for ${limits.minutes_per_hour}))::int`,
  )

/** Minutes that no workspace counts. Those of a name get a zone of their own once it has a repository. */
const PERSONAL_MINUTES = `
  select a.day, a.repo_key, a.repo, ${minutesOf('a.others')}
  from (
    select p.day, p.repo_key, p.repo, p.minutes, p.minutes_before, p.minutes_after,
      case when ${IS_UNASSIGNED} then u.timezone else p.timezone end as timezone,
      case when p.marks is not null then array[${eachMarkedHour('p.marks')}] end as hours,
      case when not ${IS_UNASSIGNED} then array[${eachMarkedHour('z.marks')}] end as others
    from personal_minutes p join users u on u.id = p.user_id
    left join lateral (
      select bit_or(o.marks::bit(1440)) as marks from jsonb_each_text(p.other_zones) as o (timezone, marks)
    ) z on true
    where p.user_id = $1::uuid and p.day between $2::date and $3::date and p.minutes > 0
  ) a
  union all
  select p.day, p.repo_key, p.repo, o.timezone, ${eachMarkedHour('o.marks::bit(1440)')}, 0, 0, 0, null::date, null::date
  from personal_minutes p cross join lateral jsonb_each_text(p.other_zones) as o (timezone, marks)
  where p.user_id = $1::uuid and p.day between $2::date and $3::date and not ${IS_UNASSIGNED}`

/** In another time zone, an hour of `o`. The previous version changes `a.hours` alone. */
const hourElsewhere = (minutes: string, hour: number) => `least(${minutes}, a.hours[${hour}])`

const AGENT_MINUTES = `
  select a.day, a.repo_key, a.repo, case when z.hours is not null then a.hours end as all_zones, ${minutesOf('z.hours')}
  from agent_minutes a
  left join lateral (
    select array[${eachHour((hour) => hourElsewhere(`coalesce(sum((o.hours->>${hour - 1})::int), 0)`, hour))}] as hours
    from jsonb_each(a.other_zones) as o (timezone, hours) where a.hours is not null
  ) z on true
  where a.user_id = $1::uuid and a.day between $2::date and $3::date and a.minutes > 0
  union all
  select a.day, a.repo_key, a.repo, null::smallint[], o.timezone,
    ${eachHour((hour) => hourElsewhere(`(o.hours->>${hour - 1})::int`, hour))}, 0, 0, 0, null::date, null::date
  from agent_minutes a cross join lateral jsonb_each(a.other_zones) as o (timezone, hours)
  where a.user_id = $1::uuid and a.day between $2::date and $3::date and a.hours is not null`

const TOTAL = `(${eachHour((hour) => `h${hour}`, ' + ')} + rest + rest_before + rest_after)`

const HOURLY = eachHour((hour) => `h${hour}`)

/** SQL: `minutes`, without what exceeds the cap after those that come first. */
const within = (cap: string | number, first: string, minutes: string) =>
  `greatest(0, least(${minutes}, ${cap} - coalesce(${first}, 0)))::int`

const REST = 'rest + rest_before + rest_after'
const REST_CAP = 'max(rest_cap) over zones'
const EARLIER_REST = `coalesce(sum(${REST}) over earlier, 0)`

/**
 * In each hour, and without one, a repository has as many minutes as in its best workspace. Its time zones share them:
 * two workspaces can have the same minutes in different ones. Those with the most minutes that day come first.
 */
const best = (minutes: string, condition = 'true') => `
  select day, repo_key, repo, timezone, ${within(REST_CAP, EARLIER_REST, 'rest')} as rest,
    ${within(REST_CAP, `${EARLIER_REST} + rest`, 'rest_before')} as rest_before,
    ${within(REST_CAP, `${EARLIER_REST} + rest + rest_before`, 'rest_after')} as rest_after, first, last,
    ${eachHour((hour) => `${within(`max(greatest(h${hour}, cap${hour})) over zones`, `sum(h${hour}) over earlier`, `h${hour}`)} as h${hour}`)}
  from (
    select day, repo_key, min(repo) as repo, timezone, max(rest)::int as rest, max(rest_before)::int as rest_before,
      max(rest_after)::int as rest_after, max(${REST})::int as rest_cap, min(first) as first, max(last) as last,
      ${eachHour((hour) => `max(h${hour})::int as h${hour}, max(all_zones[${hour}]) as cap${hour}`)}
    from (${minutes}) as minutes
    where ${condition}
    group by day, repo_key, timezone
  ) as zones
  window zones as (partition by day, repo_key), earlier as (
    partition by day, repo_key order by ${TOTAL} desc, timezone rows between unbounded preceding and 1 preceding
  )`

/** Adds the minutes that count in no workspace. */
const OWN_MINUTES = `
  select day, repo_key, min(repo) as repo, timezone, sum(rest)::int as rest, sum(rest_before)::int as rest_before,
    sum(rest_after)::int as rest_after, min(first) as first, max(last) as last,
    ${eachHour((hour) => `sum(h${hour})::int as h${hour}`)}
  from (
    ${best(MINUTES)}
    union all
    select day, repo_key, repo, timezone, rest, rest_before, rest_after, first, last, ${HOURLY}
    from (${PERSONAL_MINUTES}) as personal
  ) as minutes
  group by day, repo_key, timezone`

/**
 * In each hour, repositories share 60 minutes. Those with the most minutes that day come first. Otherwise they'd exceed
 * the hour if it's full in one workspace and not in another.
 */
const sharedRepoDays = (repoDays: string) => `
  select day, repo_key, repo, timezone, rest, rest_before, rest_after, first, last,
    dense_rank() over (partition by day order by repo_total desc, repo_key) as place, ${eachHour(
      (hour) => `${within(limits.minutes_per_hour, `sum(h${hour}) over earlier`, `h${hour}`)} as h${hour}`,
    )}
  from (
    select *, sum${TOTAL} over (partition by day, repo_key) as repo_total from (${repoDays}) as repo_days
  ) as with_totals
  window earlier as (
    partition by day order by repo_total desc, repo_key, timezone rows between unbounded preceding and 1 preceding
  )`

const SHARED = sharedRepoDays(OWN_MINUTES)
const SHARED_BY_AGENTS = sharedRepoDays(best(AGENT_MINUTES, '($4::text is null or repo_key = $4)'))

const HOURS_OF_ROW = `array[${HOURLY}]::int[] as hours`
const SUMS_OF_DAY = `array[${eachHour((hour) => `sum(h${hour})`)}]::int[] as hours, sum(rest)::int as rest,
    sum(rest_before)::int as "restBefore", sum(rest_after)::int as "restAfter"`

const sumByDay = (shared: string) => `
  select day, timezone, ${SUMS_OF_DAY} from (${shared}) as shared group by day, timezone order by day, timezone`

const dayColumns = {
  day: date,
  timezone: text,
  hours: integers,
  rest: integer,
  restBefore: integer,
  restAfter: integer,
}
const SUM_OWN_DAYS = statement('sum own minutes by day', dayColumns, sumByDay(SHARED))
const SUM_OWN_AGENT_DAYS = statement('sum own agent minutes', dayColumns, sumByDay(SHARED_BY_AGENTS))

/** $4: how many repositories of a day. $5: only this one. */
const listRepoDays = (shared: string) => `
  select day, timezone, ${HOURS_OF_ROW}, rest, rest_before as "restBefore", rest_after as "restAfter", repo
  from (${shared}) as shared
  where case when $5::text is null then place <= $4::int else repo_key = $5 end
  order by day, place, timezone`

const repoDayColumns = { ...dayColumns, repo: text }
const LIST_OWN_REPO_DAYS = statement(
  'list own minutes by day and repository',
  repoDayColumns,
  listRepoDays(SHARED),
)
const LIST_OWN_AGENT_REPO_DAYS = statement(
  'list own agent minutes by day and repository',
  repoDayColumns,
  listRepoDays(sharedRepoDays(best(AGENT_MINUTES, '($5::text is null or repo_key = $5)'))),
)

/** @param repoKey counts only this repository */
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
  limit: number,
  repoKey?: string,
): Promise<(DayMinutes & { repo: string })[]> =>
  db.rows(LIST_OWN_REPO_DAYS, [userId, from, to, limit, repoKey ?? null])

/** The same for the person's agents. */
export const listOwnAgentRepoDays = (
  db: Db,
  userId: string,
  { from, to }: Range,
  limit: number,
  repoKey?: string,
): Promise<(DayMinutes & { repo: string })[]> =>
  db.rows(LIST_OWN_AGENT_REPO_DAYS, [userId, from, to, limit, repoKey ?? null])

/** $4: how many repositories. $5: only this one. */
const SUM_OWN_REPOS = statement(
  'sum own minutes by repository',
  { repo: text, minutes: integer, first: date, last: date },
  `
  select min(repo) as repo, sum${TOTAL}::int as minutes, min(first) as first, max(last) as last
  from (${SHARED}) as shared
  where $5::text is null or repo_key = $5
  group by repo_key
  order by minutes desc, repo_key
  limit $4::int`,
)

/** The repositories with the most minutes, with the first and the last local day of each. */
export const sumOwnRepos = (
  db: Db,
  userId: string,
  { from, to }: Range,
  repoKey?: string,
): Promise<{ repo: string; minutes: number; first: string; last: string }[]> =>
  db.rows(SUM_OWN_REPOS, [userId, from, to, limits.dashboard_rows, repoKey ?? null])

/** An hour's local day can be a day off its UTC day, and that of the hour before or after it, two. */
const END_DAYS = 2

/** The minutes of names without a repository on their first and last days. */
const LIST_FIRST_AND_LAST_DAYS = statement(
  'list unassigned name date ranges',
  { ...dayColumns, repoKey: text },
  `
  select day, timezone, ${HOURS_OF_ROW}, rest::int, rest_before as "restBefore", rest_after as "restAfter", repo_key as "repoKey"
  from (
    select *, min(day) over names as first_day, max(day) over names as last_day
    from (${PERSONAL_MINUTES}) as p where ${IS_UNASSIGNED}
    window names as (partition by repo_key)
  ) as names
  where day <= first_day + ${END_DAYS} or day >= last_day - ${END_DAYS}`,
)

/** Per name without a repository, in the person's stored time zone. */
export const listFirstAndLastDays = (
  db: Db,
  userId: string,
  { from, to }: Range,
): Promise<(DayMinutes & { repoKey: string })[]> => db.rows(LIST_FIRST_AND_LAST_DAYS, [userId, from, to])
