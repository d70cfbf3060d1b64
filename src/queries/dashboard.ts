/**
 * What a dashboard reads. Days are read from their rollups, except those that are marked stale and those of a dashboard
 * with a filter, which are read from `activity`; all statements of one dashboard see one snapshot.
 */
import type { Role } from '../../schemas/common.js'
import type { Database, Db } from '../db/client.js'
import { statement } from '../db/statement.js'
import { lastDayOfMonth, listDays, monthOf } from '../domain/days.js'
import type { ZoneDay } from '../domain/heatmap.js'
import { COUNTS, roomy, SUM_OF_HOURS, ZONE } from './rollups.js'

/** Only what one person did, only what was done in one repository (lower case), both, or neither. */
export interface Filter {
  userId?: string | undefined
  repoKey?: string | undefined
}

/** Where the numbers of a range come from. */
export interface Sources {
  workspaceId: string
  filter: Filter
  /** Months that lie in the range and have no stale day. */
  months: string[]
  /** All days with a rollup that holds. */
  days: string[]
  /** Those of them that are in none of the months. */
  edges: string[]
  /** The other days: read from `activity`. */
  raw: string[]
}

export const sourcesOf = (
  workspaceId: string,
  { from, to }: { from: string; to: string },
  filter: Filter,
  stale: Set<string>,
): Sources => {
  const all = listDays(from, to)
  const isRolledUp = (day: string) =>
    filter.userId === undefined && filter.repoKey === undefined && !stale.has(day)
  const days = all.filter(isRolledUp)
  const raw = all.filter((day) => !isRolledUp(day))
  const broken = new Set(raw.map(monthOf))
  const months = [...new Set(all.map(monthOf))].filter(
    (month) => month >= from && lastDayOfMonth(month) <= to && !broken.has(month),
  )
  const whole = new Set(months)
  return { workspaceId, filter, months, days, edges: days.filter((day) => !whole.has(monthOf(day))), raw }
}

/**
 * $1: the workspace; $2: months; $3: days with a rollup; $4: days without; $5, $6: the filter. One text for each filter,
 * so that every plan can use the index that fits.
 */
const forFilters = (text: (filter: string) => string) => {
  const member = 'and a.user_id = $5::uuid'
  const repo = 'and a.repo_key = $6::text'
  const texts = { none: text(''), member: text(member), repo: text(repo), both: text(`${member} ${repo}`) }
  return ({ userId, repoKey }: Filter): string => {
    if (userId === undefined) return repoKey === undefined ? texts.none : texts.repo
    return repoKey === undefined ? texts.member : texts.both
  }
}

const ask = (text: ReturnType<typeof forFilters>, sources: Sources, days: string[]) => {
  const { workspaceId, filter, months, raw } = sources
  return statement(text(filter), [
    workspaceId,
    months,
    days,
    raw,
    filter.userId ?? null,
    filter.repoKey ?? null,
  ])
}

const RAW = `a.workspace_id = $1::uuid and a.day = any($4::text[]::date[]) and ${COUNTS}`

/** Sums beyond 2^31 are possible in a large workspace; a double holds them exactly and comes as a number. */
const SUMS = `sum(minutes)::float8 as active_minutes, sum(commits)::float8 as commits, sum(closed_issues)::float8 as closed_issues`

type Sums = Record<'active_minutes' | 'commits' | 'closed_issues', number>

const READ_DAYS = forFilters(
  (filter) => `
  select day, minutes as active_minutes, commits, closed_issues, active_members
  from activity_days where workspace_id = $1::uuid and day = any($3::text[]::date[])
  union all
  select a.day, sum(a.minutes)::int, sum(a.commits)::int, sum(a.closed_issues)::int,
    count(distinct a.user_id) filter (where a.minutes > 0)::int
  from activity a where ${RAW} ${filter}
  group by a.day`,
)

/** Days without anything are not there. */
export const readDays = (tx: Db, sources: Sources) =>
  tx.execute<Sums & { day: string; active_members: number }>(ask(READ_DAYS, sources, sources.days))

const READ_MEMBERS = forFilters(
  (filter) => `
  select user_id as "userId", ${SUMS}, sum(active_days)::int as active_days, max(last_active_day) as last_active_day
  from (
    select user_id, minutes, commits, closed_issues, active_days, last_active_day
    from activity_member_months where workspace_id = $1::uuid and month = any($2::text[]::date[])
    union all
    select user_id, minutes, commits, closed_issues, (minutes > 0)::int, case when minutes > 0 then day end
    from activity_member_days where workspace_id = $1::uuid and day = any($3::text[]::date[])
    union all
    select a.user_id, sum(a.minutes), sum(a.commits), sum(a.closed_issues),
      (sum(a.minutes) > 0)::int, case when sum(a.minutes) > 0 then a.day end
    from activity a where ${RAW} ${filter}
    group by a.user_id, a.day
  ) parts
  group by user_id`,
)

export interface MemberSums extends Sums {
  userId: string
  active_days: number
  last_active_day: string | null
}

/** Who has nothing is not there. */
export const readMembers = (tx: Db, sources: Sources) =>
  tx.execute<MemberSums & Record<string, unknown>>(ask(READ_MEMBERS, sources, sources.edges))

/**
 * SQL: sets of people as bits. Those that rollups have numbered keep their numbers; who is new among the days without a
 * rollup gets one here.
 */
const people = (filter: string) => `
  with numbered as (
    select user_id, ordinal from activity_people where workspace_id = $1::uuid
  ), newcomers as (
    select distinct a.user_id from activity a
    where ${RAW} ${filter} and a.user_id not in (select user_id from numbered)
  ), known as (
    select coalesce(max(ordinal) + 1, 0) as total from numbered
  ), people as materialized (
    select user_id, ordinal from numbered
    union all
    select user_id, (known.total + row_number() over (order by user_id) - 1)::int from newcomers, known
  ), size as materialized (
    select repeat('0', count(*)::int)::bit varying as nobody from people
  )`

const READ_TOTALS = forFilters(
  (filter) => `${people(filter)}, parts as (
    select minutes, commits, closed_issues, ${roomy('active')} as active
    from activity_days, size where workspace_id = $1::uuid and day = any($3::text[]::date[])
    union all
    select sum(a.minutes), sum(a.commits), sum(a.closed_issues),
      bit_or(set_bit(size.nobody, p.ordinal, (a.minutes > 0)::int))
    from size, activity a join people p on p.user_id = a.user_id
    where ${RAW} ${filter}
  )
  select coalesce(sum(minutes), 0)::float8 as active_minutes, coalesce(sum(commits), 0)::float8 as commits,
    coalesce(sum(closed_issues), 0)::float8 as closed_issues, coalesce(bit_count(bit_or(active)), 0)::int as active_members
  from parts`,
)

/** What is known of a range without its members. */
export const readTotals = async (tx: Db, sources: Sources) => {
  const [totals] = await tx.execute<Sums & { active_members: number }>(
    ask(READ_TOTALS, sources, sources.days),
  )
  if (!totals) throw new Error('Sums of nothing are a row, too')
  return totals
}

const READ_REPOS = forFilters(
  (filter) => `${people(filter)}, parts as (
    select repo_key, minutes, commits, closed_issues, ${roomy('people')} as people
    from activity_repo_months, size where workspace_id = $1::uuid and month = any($2::text[]::date[])
    union all
    select repo_key, minutes, commits, closed_issues, ${roomy('people')}
    from activity_repo_days, size where workspace_id = $1::uuid and day = any($3::text[]::date[])
    union all
    select a.repo_key, sum(a.minutes), sum(a.commits), sum(a.closed_issues),
      bit_or(set_bit(size.nobody, p.ordinal, 1))
    from size, activity a join people p on p.user_id = a.user_id
    where ${RAW} ${filter}
    group by a.repo_key
  )
  select r.repo, s.* from (
    select repo_key, ${SUMS}, bit_count(bit_or(people))::int as members from parts group by repo_key
  ) s
  join activity_repos r on r.workspace_id = $1::uuid and r.repo_key = s.repo_key
  order by s.active_minutes desc, s.commits desc, s.closed_issues desc, s.repo_key`,
)

export const readRepos = (tx: Db, sources: Sources) =>
  tx.execute<Sums & { repo: string; members: number }>(ask(READ_REPOS, sources, sources.edges))

const READ_ZONE_DAYS = forFilters(
  (filter) => `
  select day, timezone, hours from activity_zone_days
  where workspace_id = $1::uuid and day = any($3::text[]::date[])
  union all
  select a.day, ${ZONE}, ${SUM_OF_HOURS}::int[]
  from activity a join users u on u.id = a.user_id
  where ${RAW} and a.hours is not null ${filter}
  group by a.day, ${ZONE}`,
)

export const readZoneDays = (tx: Db, sources: Sources) =>
  tx.execute<ZoneDay & Record<string, unknown>>(ask(READ_ZONE_DAYS, sources, sources.days))

const READ_STALE = `
  select distinct day from stale_days
  where workspace_id = $1::uuid and day between $2::text::date and $3::text::date`

export const readStaleDays = async (
  tx: Db,
  workspaceId: string,
  from: string,
  to: string,
): Promise<Set<string>> => {
  const rows = await tx.execute<{ day: string }>(statement(READ_STALE, [workspaceId, from, to]))
  return new Set(rows.map(({ day }) => day))
}

/** $2: the people with activity. With $3 false only those, else everybody who is in the workspace as well. */
const READ_PEOPLE = `
  select u.id, u.login, u.avatar_url, m.role
  from (
    select user_id from members where workspace_id = $1::uuid and $3::boolean
    union select unnest($2::uuid[])
  ) p
  join users u on u.id = p.user_id
  left join members m on m.workspace_id = $1::uuid and m.user_id = u.id`

export const readPeople = (tx: Db, workspaceId: string, userIds: string[], withAllMembers: boolean) =>
  tx.execute<{ id: string; login: string; avatar_url: string; role: Role | null }>(
    statement(READ_PEOPLE, [workspaceId, userIds, withAllMembers]),
  )

const FIND_PERSON = `
  select u.id from users u
  where u.login_key = $2::text and (
    exists (select from members where workspace_id = $1::uuid and user_id = u.id)
    or exists (select from activity where workspace_id = $1::uuid and user_id = u.id)
  )`

/** Undefined for who is not in the workspace and never did anything in it. */
export const findPerson = async (
  database: Database,
  workspaceId: string,
  login: string,
): Promise<string | undefined> => {
  const [row] = await database.query<{ id: string }>(FIND_PERSON, [workspaceId, login.toLowerCase()])
  return row?.id
}

const READ_WORKSPACE = `select name, idle_window_minutes from workspaces where id = $1::uuid`

export const readWorkspaceHead = async (
  tx: Db,
  workspaceId: string,
): Promise<{ name: string; idle_window_minutes: number } | undefined> => {
  const [row] = await tx.execute<{ name: string; idle_window_minutes: number }>(
    statement(READ_WORKSPACE, [workspaceId]),
  )
  return row
}

/** Makes the following statements of a transaction see one state. */
export const beginSnapshot = async (tx: Db): Promise<void> => {
  await tx.execute(statement('set transaction isolation level repeatable read, read only', []))
}

const READ_MEMBER_DAYS = forFilters(
  (filter) => `
  select a.day, u.login, ${SUMS}
  from activity a join users u on u.id = a.user_id
  where ${RAW} ${filter}
  group by a.day, u.id, u.login, u.login_key
  order by a.day, u.login_key`,
)

/** What each member did on each of these days, where it was anything; by day and login. */
export const listMemberDays = (db: Db, workspaceId: string, filter: Filter, days: string[]) =>
  db.execute<Sums & { day: string; login: string }>(
    ask(READ_MEMBER_DAYS, { workspaceId, filter, months: [], days: [], edges: [], raw: days }, []),
  )
