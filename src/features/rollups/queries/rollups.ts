/**
 * Rollups of activity: sums per day and month for dashboards, so that their cost depends on what they show, not on how
 * much has ever been recorded. They're always rebuilt from `daily_activity`, never incremented, and summed by the database: each
 * changed day of a workspace in a transaction of its own, so that writers of that day wait for no other, then its month.
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
  uuid,
} from '../../../platform/database/statement.js'
import { HOURS } from '../../../platform/time/days.js'
import { DELETED_USER } from '../../accounts/index.js'
import { countsOf, hasActivity, markDays, sumsOf } from '../../minutes/index.js'

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

/** Skips deleted workspaces, because their marks are purged. */
const LIST_CHANGED_DAYS = statement(
  'list days to roll up',
  { workspaceId: uuid, day: date },
  `
  select d.workspace_id as "workspaceId", d.day
  from changed_days d join workspaces w on w.id = d.workspace_id and w.deleted_at is null
  where d.day < $2::date
  order by d.workspace_id, d.day
  limit $1::int`,
)

/** Days before this one whose rollups are out of date. */
export const listChangedDays = (db: Db, limit: number, before = NEVER): Promise<WorkspaceDay[]> =>
  db.rows(LIST_CHANGED_DAYS, [limit, before])

const LIST_CHANGED_MONTHS = statement(
  'list months to roll up',
  { workspaceId: uuid, month: date },
  `
  select distinct d.workspace_id as "workspaceId", date_trunc('month', d.day)::date as month
  from changed_month_days d join workspaces w on w.id = d.workspace_id and w.deleted_at is null
  limit $1::int`,
)

/** Months whose days have been rolled up since. */
export const listChangedMonths = (db: Db, limit: number): Promise<WorkspaceMonth[]> =>
  db.rows(LIST_CHANGED_MONTHS, [limit])

const READ_BACKLOG = statement(
  'read rollup backlog',
  { days: integer, oldest: double },
  `
  select count(distinct (workspace_id, day))::int as days,
    coalesce(extract(epoch from now() - min(greatest(at, (day + 1)::timestamp at time zone 'UTC'))), 0)::float8 as oldest
  from (
    select workspace_id, day, at from changed_days
    union all select workspace_id, day, null from changed_month_days
  ) d
  where day < (now() at time zone 'UTC')::date`,
)

/** How many days before today wait for their rollups, and how many seconds the first has waited. A day that hasn't ended waits on purpose. */
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
 * Waits for writers who hold the mark, so that later statements see what they have written. Later changes have marks of
 * their own. Purging a workspace also waits for the marks, so it finds all rows that are written here.
 */
const CLAIM_DAY = statement(
  'claim mark of changed day',
  { day: date },
  'delete from changed_days where workspace_id = $1::uuid and day = $2::date returning day',
)

/** No writer needs these marks. */
const CLAIM_MONTH = statement(
  'claim marks of changed month',
  { day: date },
  `
  delete from changed_month_days
  where workspace_id = $1::uuid and day >= $2::date and day < $2::date + interval '1 month'
  returning day`,
)

/** Statements that only write, by their names. */
const writes = (texts: Record<string, string>) =>
  Object.entries(texts).map(([name, text]) => statement(name, {}, text))

const ROLLUPS_OF_DAYS = ['workspace_days', 'member_days', 'repo_days', 'workspace_hours']
const ROLLUPS_OF_MONTHS = ['member_months', 'repo_months', 'repo_people']

const clear = (tables: string[], period: string) =>
  tables.map((table) =>
    statement(`delete ${table} rows`, {}, `delete from ${table} where workspace_id = $1::uuid and ${period}`),
  )

const CLEAR_DAY = clear(ROLLUPS_OF_DAYS, 'day = $2::date')
const CLEAR_MONTH = clear(ROLLUPS_OF_MONTHS, 'month = $2::date')

/** SQL: the activity of the workspace $1 on the day $2. */
const OF_DAY = `daily_activity a where a.workspace_id = $1::uuid and a.day = $2::date and ${hasActivity('a')}`

/** SQL: how many people have minutes in `a`, and how many have minutes with an hour, with those of `listErased`. */
/** SQL: excludes the user that stands for all erased people. Their work counts, but they don't count as people. */
const IS_NOT_DELETED = `user_id <> '${DELETED_USER}'`
const ACTIVE_PEOPLE = `count(distinct a.user_id) filter (where a.minutes > 0 and a.${IS_NOT_DELETED})`
const HOUR_PEOPLE = `count(distinct a.user_id) filter (where 0 < any (a.hours) and a.${IS_NOT_DELETED})`

/** SQL: the 24 sums of hours of `a`. Null without hours. */
const SUM_OF_HOURS = `case when count(a.hours) > 0 then array[${Array.from(
  { length: HOURS },
  (_, hour) => `coalesce(sum(a.hours[${hour + 1}]), 0)::int`,
).join(', ')}] end`

/** Makes a day's rollups. $1, $2: workspace and day. */
const INSERT_DAY = writes({
  'insert member days': `
  insert into member_days (workspace_id, day, user_id, minutes, ${countsOf()})
  select $1::uuid, $2::date, a.user_id, ${sumsOf('a')}
  from ${OF_DAY}
  group by a.user_id`,
  'insert days': `
  insert into workspace_days (workspace_id, day, minutes, ${countsOf()}, active_members, people_with_hours)
  select $1::uuid, $2::date, ${sumsOf('a')}, ${ACTIVE_PEOPLE}, ${HOUR_PEOPLE}
  from ${OF_DAY}
  having count(*) > 0`,
  'insert repository days': `
  insert into repo_days (workspace_id, day, repo_key, minutes, ${countsOf()}, active_members, people_with_hours, hours)
  select $1::uuid, $2::date, a.repo_key, ${sumsOf('a')}, ${ACTIVE_PEOPLE}, ${HOUR_PEOPLE}, ${SUM_OF_HOURS}
  from ${OF_DAY}
  group by a.repo_key`,
  'insert hours': `
  insert into workspace_hours (workspace_id, day, weekday, hour, minutes)
  select $1::uuid, $2::date, extract(isodow from $2::date)::int, h.hour - 1, sum(h.minutes)
  from repo_days d cross join unnest(d.hours) with ordinality as h (minutes, hour)
  where d.workspace_id = $1::uuid and d.day = $2::date and h.minutes > 0
  group by h.hour`,
  'mark month as changed': `
  insert into changed_month_days (workspace_id, day) values ($1::uuid, $2::date)
  on conflict do nothing`,
})

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
  insert into member_months (workspace_id, month, user_id, minutes, ${countsOf()}, active_day_bits)
  select a.workspace_id, $2::date, a.user_id, ${sumsOf('a')}, ${ACTIVE_BITS}
  from member_days a
  where a.workspace_id = $1::uuid and ${IN_MONTH}
  group by a.workspace_id, a.user_id`,
  'insert repository months': `
  insert into repo_months (workspace_id, month, repo_key, minutes, ${countsOf()})
  select a.workspace_id, $2::date, a.repo_key, ${sumsOf('a')}
  from repo_days a
  where a.workspace_id = $1::uuid and ${IN_MONTH}
  group by a.workspace_id, a.repo_key`,
  'insert repository people': `
  insert into repo_people (workspace_id, month, repo_key, user_id, minutes, ${countsOf()}, day_bits,
    active_day_bits, week_minutes)
  select $1::uuid, $2::date, a.repo_key, a.user_id, ${sumsOf('a')}, bit_or(${BIT}), ${ACTIVE_BITS}, ${WEEK_MINUTES}
  from daily_activity a
  where a.workspace_id = $1::uuid and ${IN_MONTH} and ${hasActivity('a')} and a.${IS_NOT_DELETED}
  group by a.repo_key, a.user_id`,
})

/** Rebuilds a day's rollups if it's marked. @returns whether it was */
export const rebuildDay = async (tx: Db, { workspaceId, day }: WorkspaceDay): Promise<boolean> => {
  const here = [workspaceId, day]
  if ((await tx.rows(CLAIM_DAY, here)).length === 0) return false
  await Promise.all([...CLEAR_DAY, ...INSERT_DAY].map((make) => tx.rows(make, here)))
  return true
}

/** Rebuilds a month's rollups if any of its days were rolled up since. @returns how many */
export const rebuildMonth = async (tx: Db, { workspaceId, month }: WorkspaceMonth): Promise<number> => {
  const days = await tx.rows(CLAIM_MONTH, [workspaceId, month])
  if (days.length === 0) return 0
  await Promise.all([...CLEAR_MONTH, ...INSERT_MONTH].map((make) => tx.rows(make, [workspaceId, month])))
  return days.length
}

/** All days with activity or a rollup. */
const MARK_ALL_DAYS = statement(
  'mark all days as stale',
  {},
  `
  insert into changed_days (workspace_id, day)
  ${[
    ...['daily_activity', ...ROLLUPS_OF_DAYS].map((table) => `select workspace_id, day from ${table}`),
    ...ROLLUPS_OF_MONTHS.map((table) => `select workspace_id, month from ${table}`),
  ].join('\n  union ')}
  on conflict do nothing`,
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
  select distinct h.workspace_id as "workspaceId", h.day
  from workspace_hours h
  where h.day < (now() at time zone 'UTC')::date - $1::int and exists (
    select from daily_activity a where a.workspace_id = h.workspace_id and a.day = h.day and a.hours is not null
  )
  limit $2::int`,
)

/** Days past the retention period for hours that still have some. Days that aren't rolled up are found when they are. */
export const listDaysWithOldHours = (db: Db, detailDays: number, limit: number): Promise<WorkspaceDay[]> =>
  db.rows(LIST_OLD_HOURS, [detailDays, limit])

const DELETE_HOURS = statement(
  'delete hours',
  {},
  `
  update daily_activity set hours = null, timezone = null
  where workspace_id = $1::uuid and day = $2::date and hours is not null`,
)

/** Deletes the hours of a day, and their time zones. Its sums stay. */
export const deleteHours = async (tx: Db, { workspaceId, day }: WorkspaceDay): Promise<void> => {
  await tx.rows(DELETE_HOURS, [workspaceId, day])
  await markDays(tx, workspaceId, [day])
}
