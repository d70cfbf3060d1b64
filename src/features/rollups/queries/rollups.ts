/**
 * Rollups of activity: sums per day and month for dashboards, so that their cost depends on what they show, not on how
 * much has ever been recorded. They're always rebuilt from `activity`, never incremented: in one transaction, the marked
 * days of one workspace's month, a day at a time, and the month itself.
 */

import type { Db } from '../../../platform/database/client.js'
import { AT_COORDINATOR, locks } from '../../../platform/database/locks.js'
import { FORCE_CUSTOM_PLAN } from '../../../platform/database/planning.js'
import {
  bool,
  date,
  double,
  integer,
  singleRow,
  statement,
  text,
  uuid,
} from '../../../platform/database/statement.js'
import { addDays, HOURS } from '../../../platform/time/days.js'
import {
  COUNTS,
  eachCount,
  IS_NOT_DELETED,
  localActivity,
  localActivityWithHours,
  localHours,
  markDays,
  utcDaysOf,
  zoneHours,
} from '../../minutes/index.js'

export interface WorkspaceMonth {
  workspaceId: string
  /** The first day of the month. */
  month: string
}

export interface WorkspaceDay {
  workspaceId: string
  day: string
}

/** Later than any day with activity. */
const NEVER = '9999-12-31'

/** SQL: a local day can be rolled up once the activity of the UTC day `d` says where it is on people's calendars. */
const IS_ASSIGNED = `not exists (
      select from activity_days l where l.workspace_id = d.workspace_id and l.day = d.day and l.by_local_day is null
    )`

/** Skips deleted workspaces, because their marks are purged. */
const LIST_STALE_MONTHS = statement(
  'list stale months',
  { workspaceId: uuid, month: date },
  `
  select distinct d.workspace_id as "workspaceId", date_trunc('month', d.day)::date as month
  from stale_local_days d join workspaces w on w.id = d.workspace_id and w.deleted_at is null
  where d.day < $2::date and ${IS_ASSIGNED}
  limit $1::int`,
)

/** Months with days before this one whose rollups are out of date. */
export const listStaleMonths = (db: Db, limit: number, before = NEVER): Promise<WorkspaceMonth[]> =>
  db.rows(LIST_STALE_MONTHS, [limit, before])

/** How many marks are read; a day has one for each change. A day that hasn't ended waits on purpose. */
const MAX_MARKS_COUNTED = 20_000

const READ_BACKLOG = statement(
  'read rollup backlog',
  { days: integer, oldest: double },
  `
  select count(distinct (workspace_id, day))::int as days,
         coalesce(extract(epoch from now() - min(greatest(at, (day + 1)::timestamp at time zone 'UTC'))), 0)::float8 as oldest
  from (
    select workspace_id, day, at
    from (table stale_local_days union all table stale_days) marks
    where day < (now() at time zone 'UTC')::date limit ${MAX_MARKS_COUNTED}
  ) s`,
)

/** How many days before today wait for their rollups, and how many seconds the first has waited. Reads at most `MAX_MARKS_COUNTED` marks. */
export const readBacklog = async (db: Db): Promise<{ days: number; oldest: number }> =>
  singleRow(await db.rows(READ_BACKLOG, []))

const LOCK_ROLLUP = statement(
  'lock rollups',
  { taken: bool },
  `select pg_try_advisory_xact_lock(${locks.rollup}) as taken from ${AT_COORDINATOR}`,
)

const SETTINGS_OF_ROLLUP = [
  // A month of the largest workspace takes this long.
  statement('raise rollup statement timeout', {}, `set local statement_timeout = '60s'`),
  // Otherwise the planner takes arrays of thousands of rows for short ones, and reads them again for each row.
  FORCE_CUSTOM_PLAN,
]

/** False while another instance is rolling up. */
export const tryLockRollup = async (tx: Db): Promise<boolean> => {
  const [[row]] = await Promise.all([
    tx.rows(LOCK_ROLLUP, []),
    ...SETTINGS_OF_ROLLUP.map((set) => tx.rows(set, [])),
  ])
  return row?.taken === true
}

/**
 * Changes that committed with these marks are visible to later statements of the transaction, and later changes have marks
 * of their own. Purging a workspace also waits for the marks, so it finds all rows that are written here.
 */
const CLAIM_MARKS = statement(
  'claim stale marks',
  { day: date },
  `
  with taken as (
    delete from stale_local_days d
    where d.workspace_id = $1::uuid and d.day >= $2::date and d.day < least($2::date + interval '1 month', $3::date)
      and ${IS_ASSIGNED}
    returning d.day
  )
  select distinct day from taken`,
)

/** Statements that only write, by their names. */
const writes = (texts: Record<string, string>) =>
  Object.entries(texts).map(([name, text]) => statement(name, {}, text))

const ROLLUPS_OF_DAYS = ['activity_days', 'activity_member_days', 'activity_repo_days', 'activity_hours']
const ROLLUPS_OF_MONTHS = ['activity_member_months', 'activity_repo_months', 'activity_repo_people']

const clear = (tables: string[], period: string) =>
  tables.map((table) =>
    statement(`delete ${table} rows`, {}, `delete from ${table} where workspace_id = $1::uuid and ${period}`),
  )

const CLEAR_DAY = clear(ROLLUPS_OF_DAYS, 'day = $2::date')
const CLEAR_MONTH = clear(ROLLUPS_OF_MONTHS, 'month = $2::date')

/** SQL: sums of `a`. */
export const SUM_OF_COUNTS = `sum(a.minutes) as minutes, ${eachCount((count) => `sum(a.${count}) as ${count}`)}`

/** SQL: the activity of the workspace $1 on the local day $2. */
const LOCAL = localActivity('array[$2::date]', 'a.workspace_id = $1::uuid')
const LOCAL_WITH_HOURS = localActivityWithHours('array[$2::date]', 'a.workspace_id = $1::uuid')

/** SQL: the hours of all UTC days that can overlap the local day $2. */
const UTC_HOURS = zoneHours(`a.workspace_id = $1::uuid and a.day = any(${utcDaysOf('array[$2::date]')})`)

/**
 * SQL: minutes by repository and local hour. $3 to $6: which UTC hours of which UTC days and time zones are on the local day,
 * and in which of its hours.
 */
const LOCAL_HOURS = `(
    select a.repo_key, z.hour, a.hours[z.utc_hour + 1] as minutes
    from ${UTC_HOURS} a
    join unnest($3::date[], $4::text[], $5::int[], $6::int[]) as z (day, timezone, utc_hour, hour) using (day, timezone)
    where a.hours[z.utc_hour + 1] <> 0
  )`

/** SQL: how many people have minutes in `a`, and how many have minutes with an hour, with those of `ERASED`. */
const ACTIVE_PEOPLE = `count(distinct a.user_id) filter (where a.minutes > 0 and a.${IS_NOT_DELETED})`
const HOUR_PEOPLE = 'count(distinct a.user_id) filter (where a.has_hours)'

/** SQL: the 24 sums of `hour_minutes` by `hour`. */
const MINUTES_BY_HOUR = `array[${Array.from(
  { length: HOURS },
  (_, hour) => `coalesce(sum(a.hour_minutes) filter (where a.hour = ${hour}), 0)::int`,
).join(', ')}]`

/** In which time zones hours were recorded that can be on the local day $2. */
const READ_ZONES = statement(
  'read time zones of a day',
  { day: date, timezone: text },
  `select distinct a.day, a.timezone from ${UTC_HOURS} a`,
)

/** $1, $2: workspace and day. */
const INSERT_DAY = writes({
  'insert member days': `
  insert into activity_member_days (workspace_id, day, user_id, minutes, ${COUNTS})
  select $1::uuid, a.day, a.user_id, ${SUM_OF_COUNTS}
  from ${LOCAL} a
  group by a.day, a.user_id`,
  // The previous version makes days again that have no `by_repo`.
  'insert days': `
  insert into activity_days (workspace_id, day, minutes, ${COUNTS}, active_members, hour_people, by_local_day, by_repo)
  select $1::uuid, a.day, ${SUM_OF_COUNTS}, ${ACTIVE_PEOPLE}, ${HOUR_PEOPLE}, true, true
  from ${LOCAL_WITH_HOURS} a
  group by a.day`,
})

/**
 * $1, $2: workspace and day; $3 to $6: as for `LOCAL_HOURS`. Everything is summed at once: without statistics, the planner
 * would join sums by reading the hours again for each repository.
 */
const INSERT_REPO_DAYS = statement(
  'insert repository days',
  {},
  `
  insert into activity_repo_days (workspace_id, day, repo_key, minutes, ${COUNTS}, active_members, hour_people, local_hours)
  select $1::uuid, $2::date, a.repo_key, ${SUM_OF_COUNTS}, ${ACTIVE_PEOPLE}, ${HOUR_PEOPLE},
    case when bool_or(a.hour is not null) then ${MINUTES_BY_HOUR} end
  from (
    select repo_key, user_id, minutes, ${COUNTS}, has_hours, null::int as hour, null::int as hour_minutes
    from ${LOCAL_WITH_HOURS} l
    union all
    select repo_key, null, 0, ${eachCount(() => '0')}, false, hour, minutes
    from ${LOCAL_HOURS} h
  ) a
  group by a.repo_key`,
)

const INSERT_HOURS = statement(
  'insert hours',
  {},
  `
  insert into activity_hours (workspace_id, day, weekday, hour, minutes)
  select $1::uuid, $2::date, extract(isodow from $2::date)::int, h.hour - 1, sum(h.minutes)
  from activity_repo_days d cross join unnest(d.local_hours) with ordinality as h (minutes, hour)
  where d.workspace_id = $1::uuid and d.day = $2::date and h.minutes > 0
  group by h.hour`,
)

/** Which hours are on the local day. Computed here, because not every database knows every time zone. */
const hoursOn = (day: string, zones: { day: string; timezone: string }[]) =>
  zones.flatMap((zone) =>
    Array.from(localHours({ ...zone, hours: ANY_HOURS }))
      .filter((local) => local.day === day)
      .map(({ utcHour, hour }) => ({ ...zone, utcHour, hour })),
  )

const ANY_HOURS = new Array<number>(HOURS).fill(1)

/** Makes a day's rollups. All sums are made by the database, so that no number of rows fills this process's memory. */
const rebuildDay = async (tx: Db, workspaceId: string, day: string): Promise<void> => {
  const here = [workspaceId, day]
  const hours = hoursOn(day, await tx.rows(READ_ZONES, here))
  await Promise.all([
    ...[...CLEAR_DAY, ...INSERT_DAY].map((make) => tx.rows(make, here)),
    tx.rows(INSERT_REPO_DAYS, [
      ...here,
      hours.map((one) => one.day),
      hours.map(({ timezone }) => timezone),
      hours.map(({ utcHour }) => utcHour),
      hours.map(({ hour }) => hour),
    ]),
    tx.rows(INSERT_HOURS, here),
  ])
}

/** SQL: the days of the month $2. */
const DAYS_OF_MONTH = `array(
    select d::date from generate_series($2::date::timestamp, $2::date + interval '1 month' - interval '1 day', interval '1 day') as d
  )`

/** SQL: whether `a.day` is in the month $2. */
const IN_MONTH = `a.day >= $2::date and a.day < $2::date + interval '1 month'`

/** SQL: the integer in which the bit of `a.day` alone is set. */
const BIT = `1 << extract(day from a.day)::int - 1`

/** SQL: the bits of the days with minutes. */
const ACTIVE_BITS = `coalesce(bit_or(${BIT}) filter (where a.minutes > 0), 0)`

/** How many ISO weeks a month touches at most. */
const WEEKS_OF_MONTH = 6

/** SQL: the number of a day's ISO week within its month, from 1. */
export const weekOfMonth = (day: string, month: string) =>
  `(${day} - date_trunc('week', ${month}::timestamp)::date) / 7 + 1`

/** SQL: the minutes of each week that the month $2 touches. */
const WEEK_MINUTES = `array[${Array.from(
  { length: WEEKS_OF_MONTH },
  (_, week) =>
    `coalesce(sum(a.minutes) filter (where ${weekOfMonth('a.day', '$2::date')} = ${week + 1}), 0)::int`,
)}]`

/** $1, $2: workspace and month. */
const INSERT_MONTH = writes({
  'insert member months': `
  insert into activity_member_months (workspace_id, month, user_id, minutes, ${COUNTS}, active_day_bits)
  select a.workspace_id, $2::date, a.user_id, ${SUM_OF_COUNTS}, ${ACTIVE_BITS}
  from activity_member_days a
  where a.workspace_id = $1::uuid and ${IN_MONTH}
  group by a.workspace_id, a.user_id`,
  'insert repository months': `
  insert into activity_repo_months (workspace_id, month, repo_key, minutes, ${COUNTS})
  select a.workspace_id, $2::date, a.repo_key, ${SUM_OF_COUNTS}
  from activity_repo_days a
  where a.workspace_id = $1::uuid and ${IN_MONTH}
  group by a.workspace_id, a.repo_key`,
  'insert repository people': `
  insert into activity_repo_people (workspace_id, month, repo_key, user_id, minutes, ${COUNTS}, day_bits,
    active_day_bits, week_minutes)
  select $1::uuid, $2::date, a.repo_key, a.user_id, ${SUM_OF_COUNTS}, bit_or(${BIT}), ${ACTIVE_BITS}, ${WEEK_MINUTES}
  from ${localActivity(DAYS_OF_MONTH, 'a.workspace_id = $1::uuid')} a
  where a.${IS_NOT_DELETED}
  group by a.repo_key, a.user_id`,
})

/**
 * Rebuilds the rollups of the month's marked days before this one, and of the month itself.
 * @returns how many days
 */
export const rebuildMonth = async (
  tx: Db,
  { workspaceId, month }: WorkspaceMonth,
  before = NEVER,
): Promise<number> => {
  const marked = await tx.rows(CLAIM_MARKS, [workspaceId, month, before])
  if (marked.length === 0) return 0
  for (const { day } of marked) await rebuildDay(tx, workspaceId, day)
  await Promise.all([...CLEAR_MONTH, ...INSERT_MONTH].map((make) => tx.rows(make, [workspaceId, month])))
  return marked.length
}

/** All days with activity or a rollup. */
const MARK_ALL_DAYS = statement(
  'mark all days as stale',
  {},
  `
  insert into stale_days (workspace_id, day)
  ${[
    ...['activity', ...ROLLUPS_OF_DAYS].map((table) => `select workspace_id, day from ${table}`),
    ...ROLLUPS_OF_MONTHS.map((table) => `select workspace_id, month from ${table}`),
  ].join('\n  union ')}`,
)

const DISABLE_STATEMENT_TIMEOUT = statement(
  'disable statement timeout',
  {},
  'set local statement_timeout = 0',
)

export const markAllDaysStale = async (tx: Db): Promise<void> => {
  await tx.rows(DISABLE_STATEMENT_TIMEOUT, [])
  await tx.rows(MARK_ALL_DAYS, [])
}

/** The rollup shows where hours are, so that the activity needs no index of them. */
const LIST_OLD_HOURS = statement(
  'list days with expired hours',
  { workspaceId: uuid, day: date },
  `
  select distinct h.workspace_id as "workspaceId", d.day
  from activity_hours h cross join lateral (
    select h.day + n as day from generate_series(-1, 1) as n
  ) d
  where h.day <= (now() at time zone 'UTC')::date - $1::int and d.day < (now() at time zone 'UTC')::date - $1::int
    and exists (
      select from activity a where a.workspace_id = h.workspace_id and a.day = d.day and a.hours is not null
    )
  limit $2::int`,
)

/**
 * UTC days past the retention period for hours that still have some. Days that aren't rolled up are found when they are.
 */
export const listDaysWithOldHours = (db: Db, detailDays: number, limit: number): Promise<WorkspaceDay[]> =>
  db.rows(LIST_OLD_HOURS, [detailDays, limit])

const DELETE_HOURS = writes({
  'delete hours': `
  update activity set hours = null, timezone = null
  where workspace_id = $1::uuid and day = $2::date and hours is not null`,
  'delete hours in other time zones': `
  delete from activity_other_zones where workspace_id = $1::uuid and day = $2::date`,
})

/** Deletes the hours of a UTC day, and their time zones. Its sums stay on the local days where they are. */
export const deleteHours = async (tx: Db, { workspaceId, day }: WorkspaceDay): Promise<void> => {
  await Promise.all(DELETE_HOURS.map((drop) => tx.rows(drop, [workspaceId, day])))
  await markDays(tx, workspaceId, [addDays(day, -1), day, addDays(day, 1)])
}
