/**
 * Rollups of activity: sums per day and month for dashboards, so that their cost depends on what they show, not on how
 * much has ever been recorded. They're always rebuilt from `activity`, never incremented: in one transaction, the
 * marked days of one workspace's month and the month itself.
 */

import type { Db } from '../../../platform/database/client.js'
import { AT_COORDINATOR, locks } from '../../../platform/database/locks.js'
import { FORCE_CUSTOM_PLAN } from '../../../platform/database/planning.js'
import {
  bool,
  date,
  double,
  integer,
  integers,
  singleRow,
  statement,
  text,
  uuid,
} from '../../../platform/database/statement.js'
import { addDays, HOURS, weekdayOf } from '../../../platform/time/days.js'
import {
  COUNTS,
  countsOf,
  eachCount,
  IS_NOT_DELETED,
  localActivity,
  localActivityWithHours,
  localHours,
  markDays,
  SUM_OF_HOURS,
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

const CLEAR_DAYS = clear(ROLLUPS_OF_DAYS, 'day = any($2::date[])')
const CLEAR_MONTH = clear(ROLLUPS_OF_MONTHS, 'month = $2::date')

/** SQL: sums of `a`. */
export const SUM_OF_COUNTS = `sum(a.minutes) as minutes, ${eachCount((count) => `sum(a.${count}) as ${count}`)}`

/** SQL: the activity of the workspace $1 on the local days $2. */
const LOCAL = localActivity('$2::date[]', 'a.workspace_id = $1::uuid')
const LOCAL_WITH_HOURS = localActivityWithHours('$2::date[]', 'a.workspace_id = $1::uuid')

/** SQL: how many people have minutes in `a`, and how many have minutes with an hour, with those of `ERASED`. */
const ACTIVE_PEOPLE = `count(distinct a.user_id) filter (where a.minutes > 0 and a.${IS_NOT_DELETED})`
const HOUR_PEOPLE = 'count(distinct a.user_id) filter (where a.has_hours)'

/** $1, $2: workspace and days. */
const INSERT_MEMBER_DAYS = statement(
  'insert member days',
  {},
  `
  insert into activity_member_days (workspace_id, day, user_id, minutes, ${COUNTS})
  select $1::uuid, a.day, a.user_id, ${SUM_OF_COUNTS}
  from ${LOCAL} a
  group by a.day, a.user_id`,
)

/** $1, $2: workspace and days; per repository with hours on a day: $3 to $5 day, repository and hours. */
const INSERT_REPO_DAYS = statement(
  'insert repository days',
  {},
  `
  insert into activity_repo_days (workspace_id, day, repo_key, minutes, ${COUNTS}, active_members, hour_people, local_hours)
  select $1::uuid, s.day, s.repo_key, s.minutes, ${countsOf('s')}, s.active_members, s.hour_people, h.hours::int[]
  from (
    select a.day, a.repo_key, ${SUM_OF_COUNTS}, ${ACTIVE_PEOPLE} as active_members, ${HOUR_PEOPLE} as hour_people
    from ${LOCAL_WITH_HOURS} a
    group by a.day, a.repo_key
  ) s
  left join unnest($3::date[], $4::text[], $5::text[]) as h (day, repo_key, hours)
    on h.day = s.day and h.repo_key = s.repo_key`,
)

/** $1, $2: workspace and days. The previous version makes days again that have no \`by_repo\`. */
const INSERT_DAYS = statement(
  'insert days',
  {},
  `
  insert into activity_days (workspace_id, day, minutes, ${COUNTS}, active_members, hour_people, by_local_day, by_repo)
  select $1::uuid, a.day, ${SUM_OF_COUNTS}, ${ACTIVE_PEOPLE}, ${HOUR_PEOPLE}, true, true
  from ${LOCAL_WITH_HOURS} a
  group by a.day`,
)

const READ_HOURS = statement(
  'read hours by repository and time zone',
  { day: date, repoKey: text, timezone: text, hours: integers },
  `
  select a.day, a.repo_key as "repoKey", a.timezone, ${SUM_OF_HOURS} as hours
  from ${zoneHours(`a.workspace_id = $1::uuid and a.day = any(${utcDaysOf('$2::date[]')})`)} a
  group by a.day, a.repo_key, a.timezone`,
)

const INSERT_HOURS = statement(
  'insert hours',
  {},
  `
  insert into activity_hours (workspace_id, day, weekday, hour, minutes)
  select $1::uuid, c.day, c.weekday, c.hour, c.minutes
  from unnest($2::date[], $3::int[], $4::int[], $5::int[]) as c (day, weekday, hour, minutes)`,
)

interface RepoHours {
  day: string
  repoKey: string
  /** Minutes by local hour. */
  hours: number[]
}

const noHours = () => new Array<number>(HOURS).fill(0)

/** The hours of local days by repository. Computed here, because not every database knows every time zone. */
const readRepoHours = async (tx: Db, workspaceId: string, days: string[]): Promise<RepoHours[]> => {
  const isRequested = new Set(days)
  const found = new Map<string, RepoHours>()
  for (const { repoKey, ...ofZone } of await tx.rows(READ_HOURS, [workspaceId, days]))
    for (const { day, hour, minutes } of localHours(ofZone)) {
      if (!isRequested.has(day)) continue
      const key = `${day} ${repoKey}`
      const row = found.get(key) ?? { day, repoKey, hours: noHours() }
      found.set(key, row)
      row.hours[hour] = (row.hours[hour] ?? 0) + minutes
    }
  return [...found.values()]
}

const insertHours = (tx: Db, workspaceId: string, repoHours: RepoHours[]) => {
  const days = new Map<string, number[]>()
  for (const { day, hours } of repoHours) {
    const sum = days.get(day) ?? noHours()
    days.set(day, sum)
    hours.forEach((minutes, hour) => {
      sum[hour] = (sum[hour] ?? 0) + minutes
    })
  }
  const cells = Array.from(days, ([day, hours]) =>
    hours.flatMap((minutes, hour) => (minutes > 0 ? [{ day, weekday: weekdayOf(day), hour, minutes }] : [])),
  ).flat()
  return tx.rows(INSERT_HOURS, [
    workspaceId,
    cells.map(({ day }) => day),
    cells.map(({ weekday }) => weekday),
    cells.map(({ hour }) => hour),
    cells.map(({ minutes }) => minutes),
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
  const days = marked.map(({ day }) => day)
  const repoHours = await readRepoHours(tx, workspaceId, days)
  await Promise.all([
    ...CLEAR_DAYS.map((clear) => tx.rows(clear, [workspaceId, days])),
    tx.rows(INSERT_MEMBER_DAYS, [workspaceId, days]),
    tx.rows(INSERT_REPO_DAYS, [
      workspaceId,
      days,
      repoHours.map(({ day }) => day),
      repoHours.map(({ repoKey }) => repoKey),
      repoHours.map(({ hours }) => `{${hours.join()}}`),
    ]),
    tx.rows(INSERT_DAYS, [workspaceId, days]),
    insertHours(tx, workspaceId, repoHours),
  ])
  await Promise.all([...CLEAR_MONTH, ...INSERT_MONTH].map((make) => tx.rows(make, [workspaceId, month])))
  return days.length
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
