/**
 * Rollups of activity: what a dashboard needs of a day, added up, so that its cost follows what it shows and not what
 * was ever recorded. They are only ever made anew from `activity`, a whole day at a time, and never counted up.
 */
import type { Db } from '../db/client.js'
import { locks } from '../db/locks.js'
import { HOURS } from '../domain/days.js'
import { Heatmap, packIntegers, toLocalHours, unpackIntegers, type ZoneDay } from '../domain/heatmap.js'
import { PackedSums } from '../domain/member-sums.js'

export interface WorkspaceDay {
  workspaceId: string
  day: string
}

const keyOf = ({ workspaceId, day }: WorkspaceDay) => `${workspaceId} ${day}`

/** Gives the transaction time for a large batch, and the right to roll up. False while somebody else has it. */
export const beginRollup = async (tx: Db): Promise<boolean> => {
  await tx.statement(`set local statement_timeout = '60s'`, [])
  const [row] = await tx.statement<{ locked: boolean }>(
    'select pg_try_advisory_xact_lock($1::bigint) as locked',
    [locks.rollup],
  )
  return row?.locked === true
}

/**
 * $1: how many days. The days' new rollups must be made by later statements of the transaction: what committed with the
 * marks taken here is visible to them, and what commits after has marks of its own. The workspaces stay locked against
 * deletion; the marks of those that are being deleted go with them.
 */
const TAKE_STALE = `
  with days as materialized (
    select distinct s.workspace_id, s.day
    from stale_days s join workspaces w on w.id = s.workspace_id and w.deleted_at is null
    order by s.workspace_id, s.day
    limit $1::int
  ), held as materialized (
    select id from workspaces
    where id in (select workspace_id from days) and deleted_at is null
    order by id
    for key share
  )
  delete from stale_days s using days d, held
  where s.workspace_id = d.workspace_id and s.day = d.day and held.id = s.workspace_id
  returning s.workspace_id as "workspaceId", s.day`

/** Takes the marks off some days; each is named once. */
export const takeStaleDays = async (tx: Db, limit: number): Promise<WorkspaceDay[]> => {
  const rows = await tx.statement<WorkspaceDay>(TAKE_STALE, [limit])
  return [...new Map(rows.map((day) => [keyOf(day), day])).values()]
}

/** SQL: the days to make ($1, $2). */
const DAYS = `days as materialized (
    select workspace_id, day::date from unnest($1::uuid[], $2::text[]) as d (workspace_id, day)
  )`

const clear = (table: string) => `
  with ${DAYS}
  delete from ${table} t using days d where t.workspace_id = d.workspace_id and t.day = d.day`

/** SQL: the months of the days to make. */
const MONTHS = `${DAYS}, months as materialized (
    select distinct workspace_id, date_trunc('month', day)::date as month from days
  )`

const clearMonths = (table: string) => `
  with ${MONTHS}
  delete from ${table} t using months m
  where t.workspace_id = m.workspace_id and t.month = m.month`

const CLEAR = [
  ...['activity_days', 'activity_repo_days'].map(clear),
  ...['activity_months', 'activity_repo_months'].map(clearMonths),
]

const NUMBER_PEOPLE = `
  with ${DAYS}, newcomers as (
    select distinct a.workspace_id, a.user_id
    from days d join activity a on a.workspace_id = d.workspace_id and a.day = d.day
    where not exists (
      select from activity_people p where p.workspace_id = a.workspace_id and p.user_id = a.user_id
    )
  )
  insert into activity_people (workspace_id, user_id, ordinal)
  select n.workspace_id, n.user_id,
    (select coalesce(max(p.ordinal), -1) from activity_people p where p.workspace_id = n.workspace_id)
      + row_number() over (partition by n.workspace_id order by n.user_id)
  from newcomers n`

/** SQL: anything at all. */
export const COUNTS = `a.minutes + a.commits + a.closed_issues > 0`

/** SQL: for each workspace of these days or months, a set with room for everybody and nobody in it. */
const sizesFor = (periods: string) => `sizes as (
    select workspace_id, repeat('0', max(ordinal) + 1)::bit varying as nobody
    from activity_people where workspace_id in (select workspace_id from ${periods})
    group by workspace_id
  )`

/** SQL: 24 sums over the hours of `activity a`, as big-endian 32-bit integers. */
export const SUM_OF_HOURS = Array.from(
  { length: HOURS },
  (_, hour) => `int4send(sum(get_byte(a.hours, ${hour}))::int)`,
).join(' || ')

/** SQL: the zone in which a member's hours are drawn; `users u`. */
export const ZONE = `coalesce(u.timezone, 'UTC')`

const READ_ZONE_DAYS = `
  with ${DAYS}
  select a.workspace_id as "workspaceId", a.day, ${ZONE} as timezone, ${SUM_OF_HOURS} as hours
  from days d
  join activity a on a.workspace_id = d.workspace_id and a.day = d.day
  join users u on u.id = a.user_id
  where a.hours is not null
  group by a.workspace_id, a.day, ${ZONE}`

/** SQL: what `domain/member-sums.ts` keeps of `people a` with their numbers `p`. */
const PACKED_SUMS = `float8send(a.commits::float8) || float8send(a.closed_issues::float8) || int4send(p.ordinal)
    || int2send(a.minutes::int2)
    || int2send(case when a.minutes > 0 then 256 + extract(day from a.day)::int else 0 end::int2)`

/** $1, $2: the days to make; $3: their local hours in hexadecimal, or null. */
const MAKE_DAYS = `
  with days as materialized (
    select workspace_id, day::date, decode(hours, 'hex') as hours
    from unnest($1::uuid[], $2::text[], $3::text[]) as d (workspace_id, day, hours)
  ), ${sizesFor('days')}, people as (
    select a.workspace_id, a.day, a.user_id,
      sum(a.minutes) as minutes, sum(a.commits) as commits, sum(a.closed_issues) as closed_issues
    from days d join activity a on a.workspace_id = d.workspace_id and a.day = d.day
    where ${COUNTS}
    group by a.workspace_id, a.day, a.user_id
  )
  insert into activity_days
    (workspace_id, day, minutes, commits, closed_issues, active_members, active, members, hours)
  select a.workspace_id, a.day, sum(a.minutes), sum(a.commits), sum(a.closed_issues),
    count(*) filter (where a.minutes > 0), bit_or(set_bit(size.nobody, p.ordinal, (a.minutes > 0)::int)),
    string_agg(${PACKED_SUMS}, ''::bytea), d.hours
  from people a
  join activity_people p on p.workspace_id = a.workspace_id and p.user_id = a.user_id
  join sizes size on size.workspace_id = a.workspace_id
  join days d on d.workspace_id = a.workspace_id and d.day = a.day
  group by a.workspace_id, a.day, d.hours`

const makeDays = async (tx: Db, days: WorkspaceDay[], parameters: string[][]): Promise<void> => {
  type Row = WorkspaceDay & { timezone: string; hours: Buffer }
  const zoneDays = new Map<string, ZoneDay[]>(days.map((day) => [keyOf(day), []]))
  for (const { hours, ...row } of await tx.statement<Row>(READ_ZONE_DAYS, parameters)) {
    zoneDays.get(keyOf(row))?.push({ ...row, hours: unpackIntegers(hours) })
  }
  const hours = [...zoneDays.values()].map((zones) =>
    zones.length === 0 ? null : packIntegers(toLocalHours(zones)).toString('hex'),
  )
  await tx.statement(MAKE_DAYS, [...parameters, hours])
}

/** Finds the activity first: a plan that begins with the people would read all that they ever did. */
const MAKE_REPO_DAYS = `
  with ${DAYS}, ${sizesFor('days')}, found as materialized (
    select a.workspace_id, a.day, a.user_id, a.repo_key, a.minutes, a.commits, a.closed_issues
    from days d join activity a on a.workspace_id = d.workspace_id and a.day = d.day
    where ${COUNTS}
  )
  insert into activity_repo_days (workspace_id, day, repo_key, minutes, commits, closed_issues, people)
  select a.workspace_id, a.day, a.repo_key, sum(a.minutes), sum(a.commits), sum(a.closed_issues),
    bit_or(set_bit(size.nobody, p.ordinal, 1))
  from found a
  join activity_people p on p.workspace_id = a.workspace_id and p.user_id = a.user_id
  join sizes size on size.workspace_id = a.workspace_id
  group by a.workspace_id, a.day, a.repo_key`

/** SQL: a set with as much room as `size.nobody` has, which older ones have not. */
export const roomy = (set: string) =>
  `case when length(${set}) = length(size.nobody) then ${set}
    else ${set} || substring(size.nobody from 1 for length(size.nobody) - length(${set})) end`

/** SQL: the days of a month. */
const inMonth = (days: string) =>
  `${days}.workspace_id = m.workspace_id and ${days}.day >= m.month and ${days}.day < (m.month + interval '1 month')::date`

const MAKE_REPO_MONTHS = `
  with ${MONTHS}, ${sizesFor('days')}
  insert into activity_repo_months (workspace_id, month, repo_key, minutes, commits, closed_issues, people)
  select m.workspace_id, m.month, a.repo_key, sum(a.minutes), sum(a.commits), sum(a.closed_issues),
    bit_or(${roomy('a.people')})
  from months m
  join sizes size on size.workspace_id = m.workspace_id
  join activity_repo_days a on ${inMonth('a')}
  group by m.workspace_id, m.month, a.repo_key`

const READ_DAYS_OF_MONTHS = `
  with ${MONTHS}
  select m.workspace_id as "workspaceId", m.month, a.day, a.members, a.hours
  from months m join activity_days a on ${inMonth('a')}`

/** $1, $2: workspaces and months; $3, $4: what the members did in them, and when, in hexadecimal. */
const MAKE_MONTHS = `
  with months as materialized (
    select workspace_id, month::date, decode(members, 'hex') as members, decode(cells, 'hex') as cells
    from unnest($1::uuid[], $2::text[], $3::text[], $4::text[]) as m (workspace_id, month, members, cells)
  ), ${sizesFor('months')}
  insert into activity_months (workspace_id, month, minutes, commits, closed_issues, active, members, cells)
  select m.workspace_id, m.month, sum(a.minutes), sum(a.commits), sum(a.closed_issues),
    bit_or(${roomy('a.active')}), m.members, m.cells
  from months m
  join sizes size on size.workspace_id = m.workspace_id
  join activity_days a on ${inMonth('a')}
  group by m.workspace_id, m.month, m.members, m.cells`

const makeMonths = async (tx: Db, parameters: string[][]): Promise<void> => {
  type Row = WorkspaceDay & { month: string; members: Buffer; hours: Buffer | null }
  const rows = await tx.statement<Row>(READ_DAYS_OF_MONTHS, parameters)
  const months = new Map(
    rows.map(({ workspaceId, month }) => [
      keyOf({ workspaceId, day: month }),
      { workspaceId, month, members: new PackedSums(), heatmap: new Heatmap() },
    ]),
  )
  for (const { workspaceId, month, day, members, hours } of rows) {
    const made = months.get(keyOf({ workspaceId, day: month }))
    made?.members.add(members, day)
    if (hours) made?.heatmap.addDay(day, unpackIntegers(hours))
  }
  const made = [...months.values()]
  await tx.statement(MAKE_MONTHS, [
    made.map(({ workspaceId }) => workspaceId),
    made.map(({ month }) => month),
    made.map(({ members }) => members.toBytes().toString('hex')),
    made.map(({ heatmap }) => packIntegers(heatmap.cells).toString('hex')),
  ])
}

/** Makes the rollups of these days, and of their months, anew. */
export const rebuildDays = async (tx: Db, days: WorkspaceDay[]): Promise<void> => {
  const parameters = [days.map(({ workspaceId }) => workspaceId), days.map(({ day }) => day)]
  for (const text of CLEAR) await tx.statement(text, parameters)
  await tx.statement(NUMBER_PEOPLE, parameters)
  await makeDays(tx, days, parameters)
  await tx.statement(MAKE_REPO_DAYS, parameters)
  await tx.statement(MAKE_REPO_MONTHS, parameters)
  await makeMonths(tx, parameters)
}

/** Everything that has, or pretends to have, a rollup. */
const MARK_EVERYTHING = `
  insert into stale_days (workspace_id, day)
  select workspace_id, day from activity
  union select workspace_id, day from activity_days
  union select workspace_id, day from activity_repo_days
  union select workspace_id, month from activity_months
  union select workspace_id, month from activity_repo_months`

export const markEverythingStale = async (tx: Db): Promise<void> => {
  await tx.statement('set local statement_timeout = 0', [])
  await tx.statement(MARK_EVERYTHING, [])
}

/** $1: how long hours are kept; $2: how many days at once. Days that have hours have a rollup that says so. */
const DROP_OLD_HOURS = `
  with days as materialized (
    select workspace_id, day from activity_days
    where hours is not null and day < (now() at time zone 'UTC')::date - $1::int
      and workspace_id in (select id from workspaces where deleted_at is null)
    limit $2::int
  ), dropped as (
    update activity a set hours = null from days d
    where a.workspace_id = d.workspace_id and a.day = d.day and a.hours is not null
  )
  insert into stale_days (workspace_id, day)
  select workspace_id, day from days
  returning day`

/** Forgets the hours of days that are older than the detail is kept; the days stay. @returns how many days it were */
export const dropOldHours = async (tx: Db, detailDays: number, limit: number): Promise<number> => {
  const days = await tx.statement(DROP_OLD_HOURS, [detailDays, limit])
  return days.length
}
