/**
 * The reads of a dashboard. They use rollups, except for days with outdated rollups and for dashboards of one person, which are
 * read from `activity`. All statements of one dashboard see one snapshot.
 *
 * The statements are long because each exists once for all filters and ranges: `sourcesOf` splits a range into whole months,
 * days, and days to read from `activity`, and the statements join the three with `union all`. One text for each question can be
 * prepared once, and a year of a large team stays within the timeout only through the months.
 *
 * $1 to $4 of all statements on activity are the workspace, the person and the repository of the filter (or null), and the days
 * to read from `activity`.
 */
import type { Role } from '../../../../schemas/common.js'
import { limits } from '../../../../schemas/limits.js'
import type { Db, Parameter } from '../../../platform/database/client.js'
import {
  date,
  double,
  integer,
  json,
  orNull,
  statement,
  text,
  textOf,
  uuid,
} from '../../../platform/database/statement.js'
import { groupBy } from '../../../platform/process/group-by.js'
import {
  addDays,
  countDays,
  DAYS_OF_WEEK,
  lengthOfMonth,
  listDays,
  mondayOf,
  monthOf,
  type Range,
  type Steps,
  sundayOf,
} from '../../../platform/time/days.js'
import { DELETED_USER } from '../../accounts/index.js'
import { HAS_ACTIVITY, IS_NOT_DELETED, SUM_OF_COUNTS, weekOfMonth } from '../../rollups/index.js'

/** Limits a dashboard to one person, to one repository (in lower case), to both, or to neither. */
export interface Filter {
  userId?: string | undefined
  repoKey?: string | undefined
}

interface DayRange {
  from: string
  to: string
}

declare const named: unique symbol
/** Days that this viewer may see as recorded, with this filter: `features/dashboard/policies.ts` alone says so. */
export interface NamedDays extends Range {
  readonly [named]: true
}

/** At most `count` of the days, from `index` on. */
export const daysWithin = (days: NamedDays, index: number, count: number): NamedDays => {
  const length = Math.min(count, days.days - index)
  const from = addDays(days.from, index)
  return { ...days, from, to: addDays(from, length - 1), days: length }
}

/** The sources of a range's numbers. */
export interface Sources extends DayRange, Filter {
  workspaceId: string
  /** Days that are read from `activity`. */
  raw: string[]
  /** Months that lie in the range and have no stale day. */
  months: string[]
  /** The other months of the range, and which of their days hold: bit 0 is the first. */
  parts: string[]
  masks: number[]
  /** The same days one by one. */
  days: string[]
}

export const sourcesOf = (
  workspaceId: string,
  { from, to }: NamedDays,
  filter: Filter,
  unusable: string[],
): Sources => {
  const asked = listDays(from, to)
  const raw = filter.userId !== undefined ? asked : unusable.filter((day) => day >= from && day <= to)
  const sources: Sources = {
    workspaceId,
    from,
    to,
    ...filter,
    raw,
    months: [],
    parts: [],
    masks: [],
    days: [],
  }
  const isRaw = new Set(raw)
  const holding = asked.filter((day) => !isRaw.has(day))
  for (const [month, days] of groupBy(holding, monthOf)) {
    if (days.length === lengthOfMonth(month)) sources.months.push(month)
    else {
      sources.parts.push(month)
      sources.masks.push(days.reduce((mask, day) => mask | (1 << (Number(day.slice(-2)) - 1)), 0))
      sources.days.push(...days)
    }
  }
  return sources
}

const SNAPSHOT = [
  statement('see one state', {}, 'set transaction isolation level repeatable read, read only'),
  // A filter that is null costs nothing then, and one that is not is looked up in an index.
  statement('plan for each call', {}, 'set local plan_cache_mode = force_custom_plan'),
  // Distinct people per repository of a large team need memory.
  statement('have room to group', {}, `set local work_mem = '32MB'`),
]

/** Makes the following statements of a transaction see one state; they need not wait for it. */
export const beginSnapshot = async (tx: Db): Promise<void> => {
  await Promise.all(SNAPSHOT.map((set) => tx.rows(set, [])))
}

/** $1 to $4. */
export const activityOf = ({
  workspaceId,
  userId,
  repoKey,
  raw,
}: Pick<Sources, 'workspaceId' | 'userId' | 'repoKey' | 'raw'>): Parameter[] => [
  workspaceId,
  userId ?? null,
  repoKey ?? null,
  raw,
]

/** SQL: the rows that are read from `activity a`. */
export const RAW = `a.workspace_id = $1::uuid and ($2::uuid is null or a.user_id = $2::uuid)
      and ($3::text is null or a.repo_key = $3::text) and a.day = any($4::date[]) and ${HAS_ACTIVITY}`

/** SQL: sums of `a` as doubles, which hold them exactly even beyond 32 bits. */
const SUMS = `sum(a.minutes::float8) as active_minutes, sum(a.commits::float8) as commits,
    sum(a.closed_issues::float8) as closed_issues`

const sums = { active_minutes: double, commits: double, closed_issues: double }

/** SQL: only the repository of the filter, if there is one. */
const OF_REPO = '($3::text is null or repo_key = $3::text)'

/** $5: the days that are read from rollups. */
const READ_DAYS = statement(
  'read the days of a dashboard',
  { day: date, ...sums, active_members: integer },
  `
  select a.day, a.minutes::float8 as active_minutes, a.commits::float8, a.closed_issues::float8, a.active_members
  from activity_days a
  where a.workspace_id = $1::uuid and a.day = any($5::date[]) and $3::text is null
  union all
  select a.day, a.minutes::float8, a.commits::float8, a.closed_issues::float8, a.active_members
  from activity_repo_days a
  where a.workspace_id = $1::uuid and a.day = any($5::date[]) and a.repo_key = $3::text
  union all
  select a.day, ${SUMS}, count(*) filter (where a.minutes > 0 and a.${IS_NOT_DELETED})::int
  from (select a.day, a.user_id, ${SUM_OF_COUNTS} from activity a where ${RAW} group by a.day, a.user_id) a
  group by a.day`,
)

/** Days without anything are not there. */
export const readDays = (tx: Db, sources: Sources) =>
  tx.rows(READ_DAYS, [...activityOf(sources), rolledUpDays(sources)])

/** The days of the range that are not read from `activity`. */
export const rolledUpDays = ({ from, to, raw }: Sources): string[] => {
  const isRaw = new Set(raw)
  return listDays(from, to).filter((day) => !isRaw.has(day))
}

/** $5: whole months; $6, $7: partly valid months, and bits of their valid days. */
const COUNT_ACTIVE = statement(
  'count active members',
  { active_members: integer },
  `
  with months as not materialized (
    select month, user_id, active_day_bits from activity_member_months
    where workspace_id = $1::uuid and $3::text is null
    union all
    select month, user_id, active_day_bits from activity_repo_people
    where workspace_id = $1::uuid and repo_key = $3::text
  )
  select count(*)::int as active_members
  from (
    select user_id from months where month = any($5::date[]) and active_day_bits <> 0
    union
    select user_id
    from months join unnest($6::date[], $7::int[]) as part (month, day_bits) using (month)
    where month = any($6::date[]) and active_day_bits & part.day_bits <> 0
    union
    select a.user_id from activity a where ${RAW} and a.minutes > 0
  ) active where ${IS_NOT_DELETED}`,
)

/** How many had minutes. */
export const countActiveMembers = async (tx: Db, sources: Sources): Promise<number> => {
  const { months, parts, masks } = sources
  const [row] = await tx.rows(COUNT_ACTIVE, [...activityOf(sources), months, parts, masks])
  return row?.active_members ?? 0
}

/** SQL: lists have so many rows; the last sums up all others, and has no name. */
const ROW = `least(place, ${limits.dashboard_rows})`

/**
 * $5, $6: months; other days. What the people of a repository leave of its month is of deleted accounts. Without a filter, all
 * members are listed. With a person filter, that person is listed, and in any case people with activity. The last row, without
 * a name, is the activity of deleted accounts.
 */
const READ_MEMBERS = statement(
  'read the members of a dashboard',
  {
    login: orNull(text),
    avatar_url: text,
    role: orNull(textOf<Role>()),
    ...sums,
    active_days: integer,
    last_active_day: orNull(date),
    active_members: integer,
  },
  `
  with repo_months as (
    select user_id, month, minutes, commits, closed_issues, active_day_bits
    from activity_repo_people where workspace_id = $1::uuid and month = any($5::date[]) and repo_key = $3::text
  ), months as (
    select user_id, month, minutes, commits, closed_issues, active_day_bits
    from activity_member_months where workspace_id = $1::uuid and month = any($5::date[]) and $3::text is null
    union all
    select * from repo_months
    union all
    select '${DELETED_USER}', month, minutes, commits, closed_issues, 0
    from activity_repo_months where workspace_id = $1::uuid and month = any($5::date[]) and repo_key = $3::text
    union all
    select '${DELETED_USER}', null, -sum(minutes)::bigint, -sum(commits)::bigint, -sum(closed_issues)::bigint, 0
    from repo_months
  ), parts as (
    select user_id, minutes, commits, closed_issues, bit_count(active_day_bits::bit(31))::int as active_days,
      case when active_day_bits <> 0 then month + 31 - position(B'1' in active_day_bits::bit(31)) end as last_active_day
    from months
    union all
    select user_id, minutes, commits, closed_issues, (minutes > 0)::int, case when minutes > 0 then day end
    from activity_member_days where workspace_id = $1::uuid and day = any($6::date[])
    union all
    select a.user_id, ${SUM_OF_COUNTS}, (sum(a.minutes) > 0)::int, case when sum(a.minutes) > 0 then a.day end
    from activity a where ${RAW} and $3::text is null group by a.user_id, a.day
    union all
    select a.user_id, a.minutes, a.commits, a.closed_issues, (a.minutes > 0)::int, case when a.minutes > 0 then a.day end
    from activity a where ${RAW} and $3::text is not null
  ), people as (
    select a.user_id, ${SUMS}, sum(a.active_days) as active_days, max(a.last_active_day) as last_active_day
    from parts a group by a.user_id
    having sum(a.minutes::float8) + sum(a.commits::float8) + sum(a.closed_issues::float8) > 0
  ), listed as (
    select user_id from people
    union select user_id from members where workspace_id = $1::uuid and $2::uuid is null and $3::text is null
    union select $2::uuid where $2::uuid is not null
  ), placed as (
    select u.repohost_id is null as deleted, u.login, u.avatar_url, m.role, coalesce(p.active_minutes, 0) as active_minutes,
      coalesce(p.commits, 0) as commits, coalesce(p.closed_issues, 0) as closed_issues,
      coalesce(p.active_days, 0) as active_days, p.last_active_day,
      row_number() over (order by u.repohost_id is null, p.active_minutes desc nulls last, p.commits desc nulls last,
        p.closed_issues desc nulls last, u.login_key collate "C") as place
    from listed
    join users u on u.id = listed.user_id
    left join members m on m.workspace_id = $1::uuid and m.user_id = listed.user_id
    left join people p on p.user_id = listed.user_id
  ), rows as (
    select *, case when deleted then ${limits.dashboard_rows} else ${ROW} end as row from placed
  )
  select case when count(*) = 1 and not bool_or(deleted) then min(login) end as login,
    case when count(*) = 1 then min(avatar_url) else '' end as avatar_url,
    case when count(*) = 1 then min(role) end as role,
    sum(active_minutes) as active_minutes, sum(commits) as commits, sum(closed_issues) as closed_issues,
    coalesce(sum(active_days) filter (where not deleted), 0)::int as active_days,
    max(last_active_day) filter (where not deleted) as last_active_day,
    count(*) filter (where active_minutes > 0 and not deleted)::int as active_members
  from rows group by row order by row`,
)

/** With a repository filter, reads these days from the activity: there is no rollup of a repository's people by day. */
const forPeople = (sources: Sources, days: string[]): Sources =>
  sources.repoKey === undefined ? sources : { ...sources, raw: [...sources.raw, ...days], days: [] }

/** Most minutes first; `active_members`: how many of the row had minutes. */
export const readMembers = (tx: Db, sources: Sources) => {
  const used = forPeople(sources, sources.days)
  return tx.rows(READ_MEMBERS, [...activityOf(used), used.months, used.days])
}

/**
 * $5, $6: months; days of others; $7, $8: months that hold in part, and which of their days do. People are found once each only
 * as pairs of person and repository. People in repositories beyond the limit are counted only if there are any.
 */
const READ_REPOS = statement(
  'read the repositories of a dashboard',
  { repo: orNull(text), ...sums, members: integer },
  `
  with parts as (
    select repo_key, minutes, commits, closed_issues
    from activity_repo_months where workspace_id = $1::uuid and month = any($5::date[]) and ${OF_REPO}
    union all
    select repo_key, minutes, commits, closed_issues
    from activity_repo_days where workspace_id = $1::uuid and day = any($6::date[]) and ${OF_REPO}
    union all
    select a.repo_key, ${SUM_OF_COUNTS} from activity a where ${RAW} group by a.repo_key
  ), repos as (
    select a.repo_key, ${SUMS} from parts a group by a.repo_key
  ), placed as (
    select *,
      row_number() over (order by active_minutes desc, commits desc, closed_issues desc, repo_key) as place
    from repos
  ), people as not materialized (
    select repo_key, user_id from activity_repo_people
    where workspace_id = $1::uuid and month = any($5::date[]) and ${OF_REPO}
    union
    select repo_key, user_id
    from activity_repo_people join unnest($7::date[], $8::int[]) as part (month, day_bits) using (month)
    where workspace_id = $1::uuid and month = any($7::date[]) and ${OF_REPO} and activity_repo_people.day_bits & part.day_bits <> 0
    union
    select a.repo_key, a.user_id from activity a where ${RAW} and a.${IS_NOT_DELETED}
  ), members as (
    select repo_key, count(*)::int as members from people group by repo_key
  )
  select case when count(*) = 1 then min(coalesce(named.repo, placed.repo_key)) end as repo,
    sum(active_minutes) as active_minutes, sum(commits) as commits, sum(closed_issues) as closed_issues,
    case when count(*) = 1 then coalesce(min(members.members), 0) else (
      select count(distinct user_id)::int from people
      where repo_key in (select repo_key from placed where place >= ${limits.dashboard_rows})
    ) end as members
  from placed
  left join members on members.repo_key = placed.repo_key
  left join activity_repos named on named.workspace_id = $1::uuid and named.repo_key = placed.repo_key
  group by ${ROW} order by ${ROW}`,
)

/** Repositories with activity, most minutes first. */
export const readRepos = (tx: Db, sources: Sources) => {
  const { months, days, parts, masks } = sources
  return tx.rows(READ_REPOS, [...activityOf(sources), months, days, parts, masks])
}

/**
 * Minutes by step, where there are any, of the rows that are named in $8, by their place from 1. $5: the days that are read
 * from rollups; $6, $7: start and length of `Steps`. Weeks lie across months, so rollups of months do not add up to them.
 * @param key column of the rows in `listed`, which has their places
 * @param rolledUp their places, days and minutes in rollups
 */
const trends = (name: string, key: string, listed: string, rolledUp: string) =>
  statement(
    name,
    { place: integer, trend: json<Record<number, number>>() },
    `
  with listed as (
    ${listed}
  ), parts as (
    ${rolledUp}
    union all
    select l.place, a.day, a.minutes from activity a join listed l using (${key}) where ${RAW}
  ), sums as (
    select place::int, (day - $6::date) / $7::int as step, sum(minutes::float8) as minutes from parts group by 1, 2
  )
  select place, json_object_agg(step, minutes) as trend from sums group by place`,
  )

const LISTED_MEMBERS = `select u.id as user_id, place
    from unnest($8::text[]) with ordinality as l (login_key, place) join users u using (login_key)`

const READ_MEMBER_TRENDS = trends(
  'read the trends of members',
  'user_id',
  LISTED_MEMBERS,
  `select l.place, d.day, d.minutes from activity_member_days d join listed l using (user_id)
    where d.workspace_id = $1::uuid and d.day = any($5::date[])`,
)

/** $5: the first days of weeks, or of their parts in a month. */
const READ_TRENDS_IN_REPO = trends(
  'read the trends of members in a repository',
  'user_id',
  LISTED_MEMBERS,
  `select l.place, w.day, p.week_minutes[${weekOfMonth('w.day', 'w.month')}] as minutes
    from activity_repo_people p join listed l using (user_id)
    join (select day, date_trunc('month', day::timestamp)::date as month from unnest($5::date[]) as day) w using (month)
    where p.workspace_id = $1::uuid and p.repo_key = $3::text
      and p.month = any(array(select date_trunc('month', day::timestamp)::date from unnest($5::date[]) as day))`,
)

const READ_REPO_TRENDS = trends(
  'read the trends of repositories',
  'repo_key',
  'select repo_key, place from unnest($8::text[]) with ordinality as l (repo_key, place)',
  `select l.place, d.day, d.minutes from activity_repo_days d join listed l using (repo_key)
    where d.workspace_id = $1::uuid and d.day = any($5::date[])`,
)

interface DayMinutes {
  day: string
  active_minutes: number
}

/** The last trend is what the others leave of the days. */
const readTrends = async (
  tx: Db,
  read: typeof READ_MEMBER_TRENDS,
  sources: Sources,
  rolledUp: string[],
  { start, length, count }: Steps,
  names: (string | null)[],
  days: DayMinutes[],
): Promise<number[][]> => {
  const keys = names.flatMap((name) => name?.toLowerCase() ?? [])
  const rows = await tx.rows(read, [...activityOf(sources), rolledUp, start, length, keys])
  const places = new Map(rows.map(({ place, trend }) => [place, trend]))
  const trends = keys.map((_, index) =>
    Array.from({ length: count }, (_, step) => places.get(index + 1)?.[step] ?? 0),
  )
  const others = Array.from({ length: count }, () => 0)
  for (const { day, active_minutes } of days) {
    const step = Math.floor((countDays(start, day) - 1) / length)
    others[step] = (others[step] ?? 0) + active_minutes
  }
  for (const trend of trends)
    trend.forEach((minutes, step) => {
      others[step] = (others[step] ?? 0) - minutes
    })
  return [...trends, others]
}

/**
 * The weeks of a range, or their parts in a month, whose rollups hold, by their first days; and the days outside of them.
 */
const wholeWeeks = ({ from, to, raw }: Sources): { weeks: string[]; others: string[] } => {
  const isRaw = new Set(raw)
  const firstOf = (day: string) => {
    const [month, monday] = [monthOf(day), mondayOf(day)]
    return month > monday ? month : monday
  }
  const isWhole = (first: string, days: string[]) => {
    const month = monthOf(first)
    const [sunday, end] = [sundayOf(first), addDays(month, lengthOfMonth(month) - 1)]
    const last = sunday < end ? sunday : end
    return days.length === countDays(first, last) && !days.some((day) => isRaw.has(day))
  }
  const weeks: string[] = []
  const others: string[] = []
  for (const [first, days] of groupBy(listDays(from, to), firstOf)) {
    if (isWhole(first, days)) weeks.push(first)
    else others.push(...days)
  }
  return { weeks, others }
}

/**
 * @param logins of the rows of `readMembers`
 * @param days of `readDays`
 * @returns for each of the named rows the minutes of the steps, and those of all others
 */
export const readMemberTrends = (
  tx: Db,
  sources: Sources,
  steps: Steps,
  logins: (string | null)[],
  days: DayMinutes[],
) => {
  if (sources.repoKey === undefined)
    return readTrends(tx, READ_MEMBER_TRENDS, sources, rolledUpDays(sources), steps, logins, days)
  const { weeks, others } =
    steps.length === DAYS_OF_WEEK
      ? wholeWeeks(sources)
      : { weeks: [], others: listDays(sources.from, sources.to) }
  return readTrends(tx, READ_TRENDS_IN_REPO, { ...sources, raw: others }, weeks, steps, logins, days)
}

/** The same of the rows of `readRepos`. */
export const readRepoTrends = (
  tx: Db,
  sources: Sources,
  steps: Steps,
  repos: (string | null)[],
  days: DayMinutes[],
) => readTrends(tx, READ_REPO_TRENDS, sources, rolledUpDays(sources), steps, repos, days)

/** Looks up each day, because the current day of a large team has thousands of marks. */
const READ_STALE_DAYS = statement(
  'read the stale days of a range',
  { day: date },
  `
  select d.day::date as day
  from generate_series($2::date, $3::date, interval '1 day') as d (day)
  cross join lateral (select from stale_days s where s.workspace_id = $1::uuid and s.day = d.day::date limit 1) s`,
)

/** All rows of a month are made together, so one of them shows which version made them. */
const LIST_INCOMPLETE_MONTHS = statement(
  'list months with incomplete rollups by repository',
  { month: date },
  `
  select date_trunc('month', day)::date as month from activity_days
  where workspace_id = $1::uuid and day >= date_trunc('month', $2::date)
    and day < date_trunc('month', $3::date) + interval '1 month' and by_repo is null
  union select m.month::date
  from generate_series(date_trunc('month', $2::date::timestamp), $3::date::timestamp, interval '1 month') as m (month)
  cross join lateral (
    select week_minutes from activity_repo_people
    where workspace_id = $1::uuid and month = m.month::date and repo_key = $4::text order by user_id limit 1
  ) p where p.week_minutes is null`,
)

/**
 * The days whose rollups must not be used: those that have changed since, and with a repository filter those of months that a
 * previous version has rolled up, which lack columns.
 */
export const readUnusableDays = async (
  db: Db,
  workspaceId: string,
  { from, to }: DayRange,
  { repoKey }: Filter,
): Promise<string[]> => {
  const [stale, incomplete] = await Promise.all([
    db.rows(READ_STALE_DAYS, [workspaceId, from, to]),
    repoKey === undefined ? [] : db.rows(LIST_INCOMPLETE_MONTHS, [workspaceId, from, to, repoKey]),
  ])
  const days = new Set(stale.map(({ day }) => day))
  const months = new Set(incomplete.map(({ month }) => month))
  return listDays(from, to).filter((day) => days.has(day) || months.has(monthOf(day)))
}

const FIND_PERSON = statement(
  'find a person of a workspace',
  { id: uuid },
  `
  select u.id from users u
  where u.login_key = $2::text and u.repohost_id is not null and (
    exists (select from members where workspace_id = $1::uuid and user_id = u.id)
    or exists (select from activity where workspace_id = $1::uuid and user_id = u.id)
  )`,
)

/** The id in a filter for a login that is unknown in the workspace. */
export const UNKNOWN_PERSON = 'unknown'

/** Undefined for people who are not in the workspace and have no activity there. */
export const findPerson = async (db: Db, workspaceId: string, login: string): Promise<string | undefined> => {
  const [row] = await db.rows(FIND_PERSON, [workspaceId, login.toLowerCase()])
  return row?.id
}

/** Logins need no quotes. */
const LIST_MEMBER_DAYS = statement(
  'list the days of members',
  { line: text },
  `
  select concat_ws(',', a.day, u.login, sum(a.minutes), sum(a.commits), sum(a.closed_issues)) as line
  from activity a join users u on u.id = a.user_id
  where ${RAW}
  group by a.day, u.login
  order by a.day, lower(u.login)`,
)

/** The activity of each member on each day, one CSV line each, by day and login. */
export const listMemberDays = async (
  tx: Db,
  workspaceId: string,
  filter: Filter,
  { from, to }: NamedDays,
): Promise<string[]> => {
  const rows = await tx.rows(
    LIST_MEMBER_DAYS,
    activityOf({ workspaceId, ...filter, raw: listDays(from, to) }),
  )
  return rows.map(({ line }) => line)
}
