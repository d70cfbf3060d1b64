/**
 * Rollups of activity: what a dashboard needs of a day, added up, so that its cost follows what it shows and not what
 * was ever recorded. They are only ever made anew from `activity`, a whole day at a time, and never counted up.
 */
import type { Db } from '../db/client.js'
import { locks } from '../db/locks.js'
import { statement } from '../db/statement.js'

export interface WorkspaceDay {
  workspaceId: string
  day: string
}

/** Gives the transaction time for a large batch, and the right to roll up. False while somebody else has it. */
export const beginRollup = async (tx: Db): Promise<boolean> => {
  await tx.execute(statement(`set local statement_timeout = '60s'`, []))
  const [row] = await tx.execute<{ locked: boolean }>(
    statement('select pg_try_advisory_xact_lock($1::bigint) as locked', [locks.rollup]),
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
  const rows = await tx.execute<WorkspaceDay & Record<string, unknown>>(statement(TAKE_STALE, [limit]))
  return [
    ...new Map(rows.map(({ workspaceId, day }) => [`${workspaceId} ${day}`, { workspaceId, day }])).values(),
  ]
}

/** SQL: the days to make ($1, $2). */
const DAYS = `days as materialized (
    select workspace_id, day::date from unnest($1::uuid[], $2::text[]) as d (workspace_id, day)
  )`

const clear = (table: string) => `
  with ${DAYS}
  delete from ${table} t using days d where t.workspace_id = d.workspace_id and t.day = d.day`

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

/** SQL: for each workspace of the days, a set with room for everybody and nobody in it. */
const SIZES = `sizes as (
    select workspace_id, repeat('0', max(ordinal) + 1)::bit varying as nobody
    from activity_people where workspace_id in (select workspace_id from days)
    group by workspace_id
  )`

const MAKE_DAYS = `
  with ${DAYS}, ${SIZES}, people as (
    select a.workspace_id, a.day, a.user_id,
      sum(a.minutes) as minutes, sum(a.commits) as commits, sum(a.closed_issues) as closed_issues
    from days d join activity a on a.workspace_id = d.workspace_id and a.day = d.day
    where ${COUNTS}
    group by a.workspace_id, a.day, a.user_id
  ), kept as (
    insert into activity_member_days (workspace_id, day, user_id, minutes, commits, closed_issues)
    select workspace_id, day, user_id, minutes, commits, closed_issues from people
  )
  insert into activity_days (workspace_id, day, minutes, commits, closed_issues, active_members, active)
  select a.workspace_id, a.day, sum(a.minutes), sum(a.commits), sum(a.closed_issues),
    count(*) filter (where a.minutes > 0), bit_or(set_bit(s.nobody, p.ordinal, (a.minutes > 0)::int))
  from people a
  join activity_people p on p.workspace_id = a.workspace_id and p.user_id = a.user_id
  join sizes s on s.workspace_id = a.workspace_id
  group by a.workspace_id, a.day`

const MAKE_REPO_DAYS = `
  with ${DAYS}, ${SIZES}
  insert into activity_repo_days (workspace_id, day, repo_key, minutes, commits, closed_issues, people)
  select a.workspace_id, a.day, a.repo_key, sum(a.minutes), sum(a.commits), sum(a.closed_issues),
    bit_or(set_bit(s.nobody, p.ordinal, 1))
  from days d
  join activity a on a.workspace_id = d.workspace_id and a.day = d.day
  join activity_people p on p.workspace_id = a.workspace_id and p.user_id = a.user_id
  join sizes s on s.workspace_id = a.workspace_id
  where ${COUNTS}
  group by a.workspace_id, a.day, a.repo_key`

const HOURS = Array.from({ length: 24 }, (_, hour) => hour)

/** SQL: 24 sums over the hours of `activity a`. */
export const SUM_OF_HOURS = `array[${HOURS.map((hour) => `sum(get_byte(a.hours, ${hour}))`).join(', ')}]`

/** SQL: the zone in which a member's hours are drawn; `users u`. */
export const ZONE = `coalesce(u.timezone, 'UTC')`

const MAKE_ZONE_DAYS = `
  with ${DAYS}
  insert into activity_zone_days (workspace_id, day, timezone, hours)
  select a.workspace_id, a.day, ${ZONE}, ${SUM_OF_HOURS}::int[]
  from days d
  join activity a on a.workspace_id = d.workspace_id and a.day = d.day
  join users u on u.id = a.user_id
  where a.hours is not null
  group by a.workspace_id, a.day, ${ZONE}`

/** SQL: the months of the days to make. */
const MONTHS = `${DAYS}, months as materialized (
    select distinct workspace_id, date_trunc('month', day)::date as month from days
  )`

const clearMonths = (table: string) => `
  with ${MONTHS}
  delete from ${table} t using months m
  where t.workspace_id = m.workspace_id and t.month = m.month`

const MAKE_MEMBER_MONTHS = `
  with ${MONTHS}
  insert into activity_member_months
    (workspace_id, month, user_id, minutes, commits, closed_issues, active_days, last_active_day)
  select m.workspace_id, m.month, a.user_id, sum(a.minutes), sum(a.commits), sum(a.closed_issues),
    count(*) filter (where a.minutes > 0), max(a.day) filter (where a.minutes > 0)
  from months m
  join activity_member_days a on a.workspace_id = m.workspace_id
    and a.day >= m.month and a.day < (m.month + interval '1 month')::date
  group by m.workspace_id, m.month, a.user_id`

/** SQL: a set with as much room as `size.nobody` has, which older ones have not. */
export const roomy = (set: string) =>
  `(${set} || substring(size.nobody from 1 for length(size.nobody) - length(${set})))`

const MAKE_REPO_MONTHS = `
  with ${MONTHS}, ${SIZES}
  insert into activity_repo_months (workspace_id, month, repo_key, minutes, commits, closed_issues, people)
  select m.workspace_id, m.month, a.repo_key, sum(a.minutes), sum(a.commits), sum(a.closed_issues),
    bit_or(${roomy('a.people')})
  from months m
  join sizes size on size.workspace_id = m.workspace_id
  join activity_repo_days a on a.workspace_id = m.workspace_id
    and a.day >= m.month and a.day < (m.month + interval '1 month')::date
  group by m.workspace_id, m.month, a.repo_key`

const steps = [
  clear('activity_days'),
  clear('activity_member_days'),
  clear('activity_repo_days'),
  clear('activity_zone_days'),
  clearMonths('activity_member_months'),
  clearMonths('activity_repo_months'),
  NUMBER_PEOPLE,
  MAKE_DAYS,
  MAKE_REPO_DAYS,
  MAKE_ZONE_DAYS,
  MAKE_MEMBER_MONTHS,
  MAKE_REPO_MONTHS,
]

/** Makes the rollups of these days, and of their months, anew. */
export const rebuildDays = async (tx: Db, days: WorkspaceDay[]): Promise<void> => {
  const parameters = [days.map(({ workspaceId }) => workspaceId), days.map(({ day }) => day)]
  for (const step of steps) await tx.execute(statement(step, parameters))
}

/** Everything that has, or pretends to have, a rollup. */
const MARK_EVERYTHING = `
  insert into stale_days (workspace_id, day)
  select workspace_id, day from activity
  union select workspace_id, day from activity_days
  union select workspace_id, day from activity_member_days
  union select workspace_id, day from activity_repo_days
  union select workspace_id, day from activity_zone_days
  union select workspace_id, month from activity_member_months
  union select workspace_id, month from activity_repo_months`

export const markEverythingStale = async (tx: Db): Promise<void> => {
  await tx.execute(statement('set local statement_timeout = 0', []))
  await tx.execute(statement(MARK_EVERYTHING, []))
}

/** $1: how long hours are kept; $2: how many days at once. Days that have hours have a rollup that says so. */
const DROP_OLD_HOURS = `
  with days as materialized (
    select distinct workspace_id, day from activity_zone_days
    where day < (now() at time zone 'UTC')::date - $1::int
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
  const days = await tx.execute(statement(DROP_OLD_HOURS, [detailDays, limit]))
  return days.length
}
