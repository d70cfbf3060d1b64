/**
 * What a dashboard reads. Days are read from their rollups, except those that are marked stale and those of a dashboard
 * with a filter, which are read from `activity`; all statements of one dashboard see one snapshot.
 */
import type { Role } from '../../schemas/common.js'
import { limits } from '../../schemas/limits.js'
import type { Database, Db } from '../db/client.js'
import { lastDayOfMonth, listDays, listMonths, monthOf } from '../domain/days.js'
import { Heatmap, unpackIntegers, type ZoneDay } from '../domain/heatmap.js'
import { type MemberSums, PackedSums } from '../domain/member-sums.js'
import { COUNTS, roomy, SUM_OF_HOURS, ZONE } from './rollups.js'

/** Only what one person did, only what was done in one repository (lower case), both, or neither. */
export interface Filter {
  userId?: string | undefined
  repoKey?: string | undefined
}

/** Where the numbers of a range come from. */
export interface Sources extends DayRange {
  workspaceId: string
  filter: Filter
  /** Months that lie in the range and have no stale day. */
  months: string[]
  /** Days with a rollup that holds and that are in none of the months. */
  edges: string[]
  /** Days without such a rollup: read from `activity`. */
  raw: string[]
}

interface DayRange {
  from: string
  to: string
}

export const sourcesOf = (
  workspaceId: string,
  { from, to }: DayRange,
  filter: Filter,
  stale: string[],
): Sources => {
  const isFiltered = filter.userId !== undefined || filter.repoKey !== undefined
  const raw = isFiltered ? listDays(from, to) : stale.filter((day) => day >= from && day <= to)
  const sources: Sources = { workspaceId, from, to, filter, months: [], edges: [], raw }
  if (isFiltered) return sources
  const isRaw = new Set(raw)
  const broken = new Set(raw.map(monthOf))
  for (const month of listMonths(from, to)) {
    const last = lastDayOfMonth(month)
    if (month >= from && last <= to && !broken.has(month)) sources.months.push(month)
    else {
      const days = listDays(month > from ? month : from, last < to ? last : to)
      sources.edges.push(...days.filter((day) => !isRaw.has(day)))
    }
  }
  return sources
}

const types = {
  workspace: 'uuid',
  from: 'text::date',
  to: 'text::date',
  months: 'text[]::date[]',
  edges: 'text[]::date[]',
  raw: 'text[]::date[]',
  user: 'uuid',
  repo: 'text',
}
type Name = keyof typeof types

/** Gives the names in a text (`:workspace`) their numbers and types. */
const withNumbers = (named: string) => {
  const names: Name[] = []
  const text = named.replace(/(?<!:):([a-z]+)/g, (_, name: Name) => {
    if (!names.includes(name)) names.push(name)
    return `$${names.indexOf(name) + 1}::${types[name]}`
  })
  return { text, names }
}

/** One text for each filter, so that every plan can use the index that fits. */
const forFilters = (text: (filter: string) => string) => {
  const member = 'and a.user_id = :user'
  const repo = 'and a.repo_key = :repo'
  const texts = {
    none: withNumbers(text('')),
    member: withNumbers(text(member)),
    repo: withNumbers(text(repo)),
    both: withNumbers(text(`${member} ${repo}`)),
  }
  return ({ userId, repoKey }: Filter) => {
    if (userId === undefined) return repoKey === undefined ? texts.none : texts.repo
    return repoKey === undefined ? texts.member : texts.both
  }
}

const ask = <Row>(db: Db, texts: ReturnType<typeof forFilters>, sources: Sources): Promise<Row[]> => {
  const { workspaceId, from, to, months, edges, raw, filter } = sources
  const values = {
    workspace: workspaceId,
    from,
    to,
    months,
    edges,
    raw,
    user: filter.userId ?? null,
    repo: filter.repoKey ?? null,
  }
  const { text, names } = texts(filter)
  return db.statement<Row>(
    text,
    names.map((name) => values[name]),
  )
}

const RAW = `a.workspace_id = :workspace and a.day = any(:raw) and ${COUNTS}`

/** Sums beyond 2^31 are possible in a large workspace; a double holds them exactly and comes as a number. */
const SUMS = `sum(minutes)::float8 as active_minutes, sum(commits)::float8 as commits, sum(closed_issues)::float8 as closed_issues`

type Sums = Record<'active_minutes' | 'commits' | 'closed_issues', number>

/**
 * SQL: what is raw, added up by these columns. Before people are counted or put into sets: to find each once would sort all
 * rows, and a set of many people is large and copied for each row that adds somebody.
 */
const sumsBy = (columns: string, filter: string) => `
      select ${columns}, sum(a.minutes) as minutes, sum(a.commits) as commits, sum(a.closed_issues) as closed_issues
      from activity a where ${RAW} ${filter}
      group by ${columns}`

const READ_DAYS = forFilters(
  (filter) => `
  select day, minutes::float8 as active_minutes, commits::float8, closed_issues::float8, active_members
  from activity_days
  where workspace_id = :workspace and day between :from and :to and day not in (select unnest(:raw))
  union all
  select d.day, sum(d.minutes)::float8, sum(d.commits)::float8, sum(d.closed_issues)::float8,
    count(*) filter (where d.minutes > 0)::int
  from (${sumsBy('a.day, a.user_id', filter)}) d
  group by d.day`,
)

/** Days without anything are not there. */
export const readDays = (tx: Db, sources: Sources) =>
  ask<Sums & { day: string; active_members: number }>(tx, READ_DAYS, sources)

/** In base64, because the driver takes bytes in hexadecimal, which is longer and slower to read. */
const READ_ROLLED_UP = forFilters(
  () => `
  select day, encode(members, 'base64') as members, encode(cells, 'base64') as cells, encode(hours, 'base64') as hours
  from (
    select month as day, members, cells, null::bytea as hours
    from activity_months where workspace_id = :workspace and month = any(:months)
    union all
    select day, members, null, hours from activity_days where workspace_id = :workspace and day = any(:edges)
  ) parts`,
)

/** What the rollups know of members, by their ordinals, and of hours. */
export const readRolledUp = async (tx: Db, sources: Sources) => {
  type Row = { day: string; members: string; cells: string | null; hours: string | null }
  const sums = new PackedSums()
  const heatmap = new Heatmap()
  const bytes = (text: string) => Buffer.from(text, 'base64')
  for (const { day, members, cells, hours } of await ask<Row>(tx, READ_ROLLED_UP, sources)) {
    sums.add(bytes(members), day)
    if (cells) heatmap.addCells(unpackIntegers(bytes(cells)))
    if (hours) heatmap.addDay(day, unpackIntegers(bytes(hours)))
  }
  return { sums, heatmap }
}

const READ_RAW_SUMS = forFilters(
  (filter) => `
  select user_id as "userId", ${SUMS}, count(*) filter (where minutes > 0)::int as active_days,
    max(day) filter (where minutes > 0) as last_active_day
  from (${sumsBy('a.user_id, a.day', filter)}) days
  group by user_id`,
)

/** By person, from the days without a rollup. */
export const readRawSums = async (tx: Db, sources: Sources) => {
  const rows = await ask<MemberSums & { userId: string }>(tx, READ_RAW_SUMS, sources)
  return new Map(rows.map(({ userId, ...sums }) => [userId, sums]))
}

/** Who is in the workspace, who is in its rollups, who is in days without one, and whom the filter names. */
const READ_PEOPLE = forFilters(
  (filter) => `
  select u.id, u.login, u.avatar_url, m.role, p.ordinal
  from (
    select user_id from members where workspace_id = :workspace
    union select user_id from activity_people where workspace_id = :workspace
    union ${filter.includes(':user') ? 'select :user' : `select a.user_id from activity a where ${RAW} ${filter}`}
  ) somebody
  join users u on u.id = somebody.user_id
  left join members m on m.workspace_id = :workspace and m.user_id = u.id
  left join activity_people p on p.workspace_id = :workspace and p.user_id = u.id`,
)

export interface Person {
  id: string
  login: string
  avatar_url: string
  role: Role | null
  /** In the rollups; null for who is not in them. */
  ordinal: number | null
}

export const readPeople = (tx: Db, sources: Sources) => ask<Person>(tx, READ_PEOPLE, sources)

/**
 * SQL: sets of people as bits. Those that rollups have numbered keep their numbers; who is new among the days without a
 * rollup gets one here.
 */
const people = (filter: string) => `
  with numbered as (
    select user_id, ordinal from activity_people where workspace_id = :workspace
  ), newcomers as (
    ${
      filter.includes(':user')
        ? 'select :user as user_id'
        : `select distinct a.user_id from activity a where ${RAW} ${filter}`
    }
    except select user_id from numbered
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
    from activity_months, size where workspace_id = :workspace and month = any(:months)
    union all
    select minutes, commits, closed_issues, ${roomy('active')}
    from activity_days, size where workspace_id = :workspace and day = any(:edges)
    union all
    select sum(d.minutes), sum(d.commits), sum(d.closed_issues),
      bit_or(set_bit(size.nobody, p.ordinal, (d.minutes > 0)::int))
    from size, (${sumsBy('a.user_id', filter)}) d join people p on p.user_id = d.user_id
  )
  select coalesce(sum(minutes), 0)::float8 as active_minutes, coalesce(sum(commits), 0)::float8 as commits,
    coalesce(sum(closed_issues), 0)::float8 as closed_issues, coalesce(bit_count(bit_or(active)), 0)::int as active_members
  from parts`,
)

/** What is known of a range without its members. */
export const readTotals = async (tx: Db, sources: Sources) => {
  const [totals] = await ask<Sums & { active_members: number }>(tx, READ_TOTALS, sources)
  if (!totals) throw new Error('Sums of nothing are a row, too')
  return totals
}

const READ_REPOS = forFilters(
  (filter) => `${people(filter)}, parts as (
    select repo_key, minutes, commits, closed_issues, ${roomy('people')} as people
    from activity_repo_months, size where workspace_id = :workspace and month = any(:months)
    union all
    select repo_key, minutes, commits, closed_issues, ${roomy('people')}
    from activity_repo_days, size where workspace_id = :workspace and day = any(:edges)
    union all
    select d.repo_key, sum(d.minutes), sum(d.commits), sum(d.closed_issues),
      bit_or(set_bit(size.nobody, p.ordinal, 1))
    from size, (${sumsBy('a.repo_key, a.user_id', filter)}) d join people p on p.user_id = d.user_id
    group by d.repo_key
  ), sums as (
    select repo_key, ${SUMS}, bit_or(people) as people from parts group by repo_key
  ), placed as (
    select *, row_number() over (order by active_minutes desc, commits desc, closed_issues desc, repo_key) as place
    from sums
  ), rows as (
    select least(place, ${limits.dashboard_rows}) as place, count(*) as repos, min(repo_key) as repo_key,
      sum(active_minutes) as active_minutes, sum(commits) as commits, sum(closed_issues) as closed_issues,
      bit_count(bit_or(people))::int as members
    from placed group by 1
  )
  select case when s.repos = 1 then coalesce(r.repo, s.repo_key) end as repo, s.active_minutes, s.commits,
    s.closed_issues, s.members
  from rows s
  left join activity_repos r on r.workspace_id = :workspace and r.repo_key = s.repo_key
  order by s.place`,
)

/** Most minutes first; the last row is that of all that no longer have one of their own, without a name. */
export const readRepos = (tx: Db, sources: Sources) =>
  ask<Sums & { repo: string | null; members: number }>(tx, READ_REPOS, sources)

const READ_RAW_ZONE_DAYS = forFilters(
  (filter) => `
  select a.day, ${ZONE} as timezone, ${SUM_OF_HOURS} as hours
  from activity a join users u on u.id = a.user_id
  where ${RAW} and a.hours is not null ${filter}
  group by a.day, ${ZONE}`,
)

/** From the days without a rollup. */
export const readRawZoneDays = async (tx: Db, sources: Sources): Promise<ZoneDay[]> => {
  type Row = { day: string; timezone: string; hours: Buffer }
  const rows = await ask<Row>(tx, READ_RAW_ZONE_DAYS, sources)
  return rows.map((row) => ({ ...row, hours: unpackIntegers(row.hours) }))
}

const READ_STALE = `
  select distinct day from stale_days
  where workspace_id = $1::uuid and day between $2::text::date and $3::text::date`

export const readStaleDays = async (
  tx: Db,
  workspaceId: string,
  from: string,
  to: string,
): Promise<string[]> => {
  const rows = await tx.statement<{ day: string }>(READ_STALE, [workspaceId, from, to])
  return rows.map(({ day }) => day)
}

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
  const [row] = await database.read.statement<{ id: string }>(FIND_PERSON, [workspaceId, login.toLowerCase()])
  return row?.id
}

const READ_WORKSPACE = `select name, idle_window_minutes from workspaces where id = $1::uuid`

export const readWorkspaceHead = async (
  tx: Db,
  workspaceId: string,
): Promise<{ name: string; idle_window_minutes: number } | undefined> => {
  const [row] = await tx.statement<{ name: string; idle_window_minutes: number }>(READ_WORKSPACE, [
    workspaceId,
  ])
  return row
}

/** Makes the following statements of a transaction see one state. */
export const beginSnapshot = async (tx: Db): Promise<void> => {
  await tx.statement('set transaction isolation level repeatable read, read only', [])
}

const READ_MEMBER_DAYS = forFilters(
  (filter) => `
  select string_agg(concat_ws(',', day, login, active_minutes, commits, closed_issues) || e'\\n', '' order by login_key)
    as lines
  from (
    select a.day, u.login, u.login_key, ${SUMS}
    from activity a join users u on u.id = a.user_id
    where a.workspace_id = :workspace and a.day between :from and :to and ${COUNTS} ${filter}
    group by a.day, u.id, u.login, u.login_key
  ) member_days
  group by day
  order by day`,
)

/**
 * What each member did on each of these days, where it was anything, by day and login: a text of CSV lines for each day,
 * because rows of their own would cost the service more than the database. Logins need no quotes.
 */
export const listMemberDays = async (
  db: Db,
  workspaceId: string,
  filter: Filter,
  { from, to }: DayRange,
): Promise<string[]> => {
  const sources = { workspaceId, filter, from, to, months: [], edges: [], raw: [] }
  const rows = await ask<{ lines: string }>(db, READ_MEMBER_DAYS, sources)
  return rows.map(({ lines }) => lines)
}
