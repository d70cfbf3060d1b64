/** Sums of a person's own time, and of the time of their agents. */
import { limits } from '../../../../schemas/limits.js'
import type { Db } from '../../../platform/database/client.js'
import {
  date,
  double,
  integer,
  integers,
  orNull,
  statement,
  text,
} from '../../../platform/database/statement.js'
import type { Range } from '../../../platform/time/days.js'

/** SQL: the own time of the user $1 from $2 to $3, in one repository ($4) or all (null). */
const OWN = `
    select day, repo_key, repo, minutes from own_activity
    where user_id = $1::uuid and day between $2::date and $3::date and ($4::text is null or repo_key = $4)
      and minutes > 0`

/** SQL: the same for agents. A repository has as many minutes as in its best workspace. */
const OF_AGENTS = `
    select day, repo_key, min(repo) as repo, max(minutes) as minutes from agent_activity
    where user_id = $1::uuid and day between $2::date and $3::date and ($4::text is null or repo_key = $4)
      and minutes > 0
    group by day, repo_key`

/** $5: how many repositories of a day. `total` is that of the whole day. */
const listRepoDays = (rows: string) => `
  select day, repo, minutes, total from (
    select day, repo, minutes, sum(minutes) over (partition by day)::int as total,
      row_number() over (partition by day order by minutes desc, repo_key) as place
    from (${rows}) as rows
  ) as placed
  where place <= $5::int
  order by day, place`

const repoDay = { day: date, repo: text, minutes: integer, total: integer }
const LIST_OWN_REPO_DAYS = statement('list own minutes by day and repository', repoDay, listRepoDays(OWN))
const LIST_AGENT_REPO_DAYS = statement(
  'list own agent minutes by day and repository',
  repoDay,
  listRepoDays(OF_AGENTS),
)

interface Filter {
  userId: string
  range: Pick<Range, 'from' | 'to'>
  /** Undefined: all repositories. */
  repoKey: string | undefined
}

const parametersOf = ({ userId, range: { from, to }, repoKey }: Filter) => [userId, from, to, repoKey ?? null]

/** The repositories of each day with the most minutes, and the day's total. */
export const listRepoDaysOf = (db: Db, who: 'person' | 'agents', filter: Filter, limit: number) =>
  db.rows(who === 'person' ? LIST_OWN_REPO_DAYS : LIST_AGENT_REPO_DAYS, [...parametersOf(filter), limit])

const sumDays = (rows: string) =>
  `select day, sum(minutes)::int as minutes from (${rows}) as rows group by day`
const SUM_OWN_DAYS = statement('sum own minutes by day', { day: date, minutes: integer }, sumDays(OWN))
const SUM_AGENT_DAYS = statement('sum own agent minutes', { day: date, minutes: integer }, sumDays(OF_AGENTS))

/** The minutes of each day that has any. */
export const sumDaysOf = (db: Db, who: 'person' | 'agents', filter: Filter) =>
  db.rows(who === 'person' ? SUM_OWN_DAYS : SUM_AGENT_DAYS, parametersOf(filter))

/** $5: how many. */
const SUM_OWN_REPOS = statement(
  'sum own minutes by repository',
  { repo: text, minutes: integer, first: date, last: date },
  `
  select min(repo) as repo, sum(minutes)::int as minutes, min(day) as first, max(day) as last
  from (${OWN}) as rows
  group by repo_key
  order by minutes desc, repo_key
  limit $5::int`,
)

/** The repositories with the most minutes, with the first and the last day of each. */
export const sumOwnRepos = (db: Db, filter: Filter) =>
  db.rows(SUM_OWN_REPOS, [...parametersOf(filter), limits.dashboard_rows])

const SUM_OWN_HOURS = statement(
  'sum own minutes by weekday and hour',
  { weekday: integer, hour: integer, minutes: double },
  `
  select extract(isodow from a.day)::int as weekday, h.hour::int - 1 as hour, sum(h.minutes)::float8 as minutes
  from own_activity a cross join unnest(a.hours) with ordinality as h (minutes, hour)
  where a.user_id = $1::uuid and a.day between $2::date and $3::date and ($4::text is null or a.repo_key = $4)
    and h.minutes > 0
  group by 1, 2`,
)

export const sumOwnHours = (db: Db, filter: Filter) => db.rows(SUM_OWN_HOURS, parametersOf(filter))

/** $2: the day; $3: how many repositories. */
const LIST_OWN_HOURS = statement(
  'list own hours of a day',
  { repo: text, minutes: integer, hours: orNull(integers), timezone: orNull(text) },
  `
  select repo, minutes, hours, timezone from own_activity
  where user_id = $1::uuid and day = $2::date and minutes > 0
  order by minutes desc, repo_key limit $3::int`,
)

/** The repositories with the most minutes of a day, by hour. */
export const listOwnHours = (db: Db, userId: string, day: string, limit: number) =>
  db.rows(LIST_OWN_HOURS, [userId, day, limit])
