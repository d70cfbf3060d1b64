/**
 * Rollups of activity: sums per day and month for dashboards, so that their cost depends on what they show, not on how
 * much has ever been recorded. They're always rebuilt from `activity`, never incremented: in one transaction, the
 * marked days of one workspace's month and the month itself.
 */

import type { Db } from '../../../platform/database/client.js'
import { AT_COORDINATOR, locks } from '../../../platform/database/locks.js'
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
  uuids,
} from '../../../platform/database/statement.js'
import { HOURS } from '../../../platform/time/days.js'
import { DELETED_USER } from '../../accounts/index.js'
import { Heatmap } from '../../minutes/index.js'
import { crewsOf, MIN_OTHERS, NO_CREWS, type ZoneCrew } from '../shared-hours.js'

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

/** How many days from a previous version are listed at once, so that changed days don't wait for all of them. */
const OLD_DAYS_LISTED = 20_000

/** Skips deleted workspaces, because their marks are purged. */
const LIST_STALE_MONTHS = statement(
  'list stale months',
  { workspaceId: uuid, month: date },
  `
  select distinct s.workspace_id as "workspaceId", date_trunc('month', s.day)::date as month
  from (
    select workspace_id, day from stale_days
    union all (
      select workspace_id, day from activity_days where by_repo is null and day < $2::date
      order by workspace_id, day limit ${OLD_DAYS_LISTED}
    )
  ) s join workspaces w on w.id = s.workspace_id and w.deleted_at is null
  where s.day < $2::date
  limit $1::int`,
)

/**
 * Months with days before this one whose rollups are out of date, or were made by a version that knows fewer columns.
 */
export const listStaleMonths = (db: Db, limit: number, before = NEVER): Promise<WorkspaceMonth[]> =>
  db.rows(LIST_STALE_MONTHS, [limit, before])

/** How many marks are read; a day has one for each change. A day that hasn't ended waits on purpose. */
const MAX_MARKS_COUNTED = 20_000

const READ_BACKLOG = statement(
  'read the backlog of rollups',
  { days: integer, oldest: double },
  `
  select count(distinct (workspace_id, day))::int as days,
         coalesce(extract(epoch from now() - min(greatest(at, (day + 1)::timestamp at time zone 'UTC'))), 0)::float8 as oldest
  from (
    select workspace_id, day, at from stale_days where day < (now() at time zone 'UTC')::date limit ${MAX_MARKS_COUNTED}
  ) s`,
)

/** How many days before today wait for their rollups, and how many seconds the first has waited. Reads at most `MAX_MARKS_COUNTED` marks. */
export const readBacklog = async (db: Db): Promise<{ days: number; oldest: number }> =>
  singleRow(await db.rows(READ_BACKLOG, []))

const LOCK_ROLLUP = statement(
  'take the turn to roll up',
  { taken: bool },
  `select pg_try_advisory_xact_lock(${locks.rollup}) as taken from ${AT_COORDINATOR}`,
)

const ALLOW_A_MONTH = statement(
  'let a rollup take the time of a month of the largest workspace',
  {},
  `set local statement_timeout = '60s'`,
)

/** False while another instance is rolling up. */
export const tryLockRollup = async (tx: Db): Promise<boolean> => {
  const [[row]] = await Promise.all([tx.rows(LOCK_ROLLUP, []), tx.rows(ALLOW_A_MONTH, [])])
  return row?.taken === true
}

/**
 * Changes that committed with these marks are visible to later statements of the transaction, and later changes have marks
 * of their own. Purging a workspace also waits for the marks, so it finds all rows that are written here.
 */
const TAKE_MARKS = statement(
  'take the stale marks of a month',
  { day: date },
  `
  with taken as (
    delete from stale_days
    where workspace_id = $1::uuid and day >= $2::date and day < least($2::date + interval '1 month', $3::date)
    returning day
  )
  select day from taken
  union select day from activity_days
  where workspace_id = $1::uuid and day >= $2::date and day < least($2::date + interval '1 month', $3::date)
    and by_repo is null`,
)

/** Statements that only write, by their names. */
const writes = (texts: Record<string, string>) =>
  Object.entries(texts).map(([name, text]) => statement(name, {}, text))

const ROLLUPS_OF_DAYS = ['activity_days', 'activity_member_days', 'activity_repo_days', 'activity_hours']
const ROLLUPS_OF_MONTHS = ['activity_member_months', 'activity_repo_months', 'activity_repo_people']

const clear = (tables: string[], period: string) =>
  tables.map((table) =>
    statement(`clear ${table}`, {}, `delete from ${table} where workspace_id = $1::uuid and ${period}`),
  )

const CLEAR_DAYS = clear(ROLLUPS_OF_DAYS, 'day = any($2::date[])')
const CLEAR_MONTH = clear(ROLLUPS_OF_MONTHS, 'month = $2::date')

/** SQL: excludes the user that stands for all erased people. Their work counts, but they don't count as people. */
export const IS_NOT_DELETED = `user_id <> '${DELETED_USER}'`

/** SQL: any minutes, commits or closed issues. */
export const HAS_ACTIVITY = `a.minutes + a.commits + a.closed_issues > 0`

/** SQL: sums of `a`. */
export const SUM_OF_COUNTS = `sum(a.minutes) as minutes, sum(a.commits) as commits, sum(a.closed_issues) as closed_issues`

/** SQL: how many of `a` count as active members. */
const ACTIVE_MEMBERS = `count(*) filter (where a.minutes > 0 and a.${IS_NOT_DELETED})`

/** SQL: the 24 hourly sums of `activity a`. */
export const SUM_OF_HOURS = `array[${Array.from({ length: HOURS }, (_, hour) => `sum(a.hours[${hour + 1}])::int`)}]`

/** SQL: the zone in which a member's hours are drawn; `users u`. */
export const ZONE = `coalesce(u.timezone, 'UTC')`

const IS_IN_CREW = '0 < any(a.hours) and u.repohost_id is not null'

/** How many people a crew names: enough to know that it has `MIN_OTHERS` people other than the viewer. */
const CREW_LISTED = MIN_OTHERS + 1

/**
 * SQL: some of the people with hours in `activity a`: all of them, or enough for every viewer; `users u`. A deleted
 * account isn't counted: its time zone is removed at once, and its activity moves to the deleted user later.
 */
const CREW = `(array_agg(distinct a.user_id) filter (where ${IS_IN_CREW}))[:${CREW_LISTED}]`

/** SQL: how many people have hours in `activity a`; `users u`. */
const CREW_SIZE = `count(*) filter (where ${IS_IN_CREW})`

/** SQL: the crew as an array of this length, padded with nulls, so that crews fit in one array. */
const PADDED_CREW = `(coalesce(${CREW}, '{}') || array_fill(null::uuid, array[${CREW_LISTED}]))[:${CREW_LISTED}]`

/** $1, $2: workspace and days. */
const MAKE_DAYS = writes({
  'make the days of members': `
  insert into activity_member_days (workspace_id, day, user_id, minutes, commits, closed_issues)
  select a.workspace_id, a.day, a.user_id, ${SUM_OF_COUNTS}
  from activity a
  where a.workspace_id = $1::uuid and a.day = any($2::date[]) and ${HAS_ACTIVITY}
  group by a.workspace_id, a.day, a.user_id`,
  'make the days of repositories': `
  insert into activity_repo_days (workspace_id, day, repo_key, minutes, commits, closed_issues, active_members,
    timezones, hours, crew_sizes, crews)
  select a.workspace_id, a.day, a.repo_key, ${SUM_OF_COUNTS}, sum(a.active_members), ${[
    'timezone',
    'hours',
    'crew_size',
    'crew',
  ]
    .map((column) => `array_agg(a.${column} order by a.timezone) filter (where a.has_hours)`)
    .join(', ')}
  from (
    select a.workspace_id, a.day, a.repo_key, ${ZONE} as timezone, ${SUM_OF_COUNTS}, ${ACTIVE_MEMBERS} as active_members,
      case when count(a.hours) > least(${CREW_SIZE}, ${CREW_LISTED}) then ${SUM_OF_HOURS}
        else array_fill(null::int, array[${HOURS}]) end as hours,
      count(a.hours) > 0 as has_hours, (${CREW_SIZE})::int as crew_size, ${PADDED_CREW} as crew
    from activity a join users u on u.id = a.user_id
    where a.workspace_id = $1::uuid and a.day = any($2::date[]) and ${HAS_ACTIVITY}
    group by a.workspace_id, a.day, a.repo_key, ${ZONE}
  ) a
  group by a.workspace_id, a.day, a.repo_key`,
})

/** $1, $2: workspace and days; $3: for each day the crews. */
const MAKE_DAY = statement(
  'make days',
  {},
  `
  insert into activity_days (workspace_id, day, minutes, commits, closed_issues, active_members, hour_crews, by_repo)
  select a.workspace_id, a.day, ${SUM_OF_COUNTS}, ${ACTIVE_MEMBERS}, c.crews::jsonb, true
  from activity_member_days a join unnest($2::date[], $3::text[]) as c (day, crews) on c.day = a.day
  where a.workspace_id = $1::uuid
  group by a.workspace_id, a.day, c.crews`,
)

/** Declares a statement that reads hours by zone, and some of the people. @param which SQL: rows of `activity a` */
export const zoneDays = (name: string, which: string) =>
  statement(
    name,
    { day: date, timezone: text, hours: integers, people: uuids },
    `
  select a.day, ${ZONE} as timezone, ${SUM_OF_HOURS} as hours, coalesce(${CREW}, '{}') as people
  from activity a join users u on u.id = a.user_id
  where ${which} and a.hours is not null
  group by a.day, ${ZONE}`,
  )

const READ_ZONE_DAYS = zoneDays('read hours by zone', 'a.workspace_id = $1::uuid and a.day = any($2::date[])')

const readZoneDays = async (
  tx: Db,
  workspaceId: string,
  days: string[],
): Promise<{ day: string; zones: ZoneCrew[] }[]> => {
  const zones = await tx.rows(READ_ZONE_DAYS, [workspaceId, days])
  return days.map((day) => ({ day, zones: zones.filter((zone) => zone.day === day) }))
}

const MAKE_HOURS = statement(
  'make hours',
  {},
  `
  insert into activity_hours (workspace_id, day, weekday, hour, minutes)
  select $1::uuid, c.day, c.weekday, c.hour, c.minutes
  from unnest($2::date[], $3::int[], $4::int[], $5::int[]) as c (day, weekday, hour, minutes)`,
)

/** Computed here, because not every database knows every time zone. */
const makeHours = (tx: Db, workspaceId: string, days: { day: string; zones: ZoneCrew[] }[]) => {
  const cells = days.flatMap(({ day, zones }) => {
    const heatmap = new Heatmap()
    for (const zoneDay of zones) heatmap.addZoneDay(zoneDay)
    const used = heatmap.toCells().filter(({ minutes }) => minutes > 0)
    return used.map((cell) => ({ day, ...cell }))
  })
  return tx.rows(MAKE_HOURS, [
    workspaceId,
    cells.map(({ day }) => day),
    cells.map(({ weekday }) => weekday),
    cells.map(({ hour }) => hour),
    cells.map(({ minutes }) => minutes),
  ])
}

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
const MAKE_MONTH = writes({
  'make the months of members': `
  insert into activity_member_months (workspace_id, month, user_id, minutes, commits, closed_issues, active_day_bits)
  select a.workspace_id, $2::date, a.user_id, ${SUM_OF_COUNTS}, ${ACTIVE_BITS}
  from activity_member_days a
  where a.workspace_id = $1::uuid and ${IN_MONTH}
  group by a.workspace_id, a.user_id`,
  'make the months of repositories': `
  insert into activity_repo_months (workspace_id, month, repo_key, minutes, commits, closed_issues)
  select a.workspace_id, $2::date, a.repo_key, ${SUM_OF_COUNTS}
  from activity_repo_days a
  where a.workspace_id = $1::uuid and ${IN_MONTH}
  group by a.workspace_id, a.repo_key`,
  'make the people of repositories': `
  insert into activity_repo_people (workspace_id, month, repo_key, user_id, minutes, commits, closed_issues, day_bits,
    active_day_bits, week_minutes)
  select a.workspace_id, $2::date, a.repo_key, a.user_id, ${SUM_OF_COUNTS}, bit_or(${BIT}), ${ACTIVE_BITS}, ${WEEK_MINUTES}
  from activity a
  where a.workspace_id = $1::uuid and ${IN_MONTH} and ${HAS_ACTIVITY} and a.${IS_NOT_DELETED}
  group by a.workspace_id, a.repo_key, a.user_id`,
})

/**
 * Rebuilds the rollups of the month's marked and incomplete days before this one, and of the month itself.
 * @returns how many days
 */
export const rebuildMonth = async (
  tx: Db,
  { workspaceId, month }: WorkspaceMonth,
  before = NEVER,
): Promise<number> => {
  const marked = await tx.rows(TAKE_MARKS, [workspaceId, month, before])
  if (marked.length === 0) return 0
  const days = marked.map(({ day }) => day)
  const zones = await readZoneDays(tx, workspaceId, days)
  const crews = zones.map(({ zones }) => JSON.stringify(crewsOf(zones)))
  await Promise.all([
    ...[...CLEAR_DAYS, ...MAKE_DAYS].map((make) => tx.rows(make, [workspaceId, days])),
    tx.rows(MAKE_DAY, [workspaceId, days, crews]),
    makeHours(tx, workspaceId, zones),
  ])
  await Promise.all([...CLEAR_MONTH, ...MAKE_MONTH].map((make) => tx.rows(make, [workspaceId, month])))
  return days.length
}

/** All days with activity or a rollup. */
const MARK_EVERYTHING = statement(
  'mark everything stale',
  {},
  `
  insert into stale_days (workspace_id, day)
  ${[
    ...['activity', ...ROLLUPS_OF_DAYS].map((table) => `select workspace_id, day from ${table}`),
    ...ROLLUPS_OF_MONTHS.map((table) => `select workspace_id, month from ${table}`),
  ].join('\n  union ')}`,
)

const ALLOW_ANY_TIME = statement('allow any time', {}, 'set local statement_timeout = 0')

export const markEverythingStale = async (tx: Db): Promise<void> => {
  await tx.rows(ALLOW_ANY_TIME, [])
  await tx.rows(MARK_EVERYTHING, [])
}

const LIST_OLD_HOURS = statement(
  'list days with old hours',
  { workspaceId: uuid, day: date },
  `
  select workspace_id as "workspaceId", day from activity_hours
  where day < (now() at time zone 'UTC')::date - $1::int
  union
  select workspace_id, day from activity_repo_days
  where day < (now() at time zone 'UTC')::date - $1::int and timezones is not null
  limit $2::int`,
)

/**
 * Days past the retention period for hours that still have some. Days that aren't rolled up are found when they are. A
 * version that doesn't know repository hours leaves them when it drops the others.
 */
export const listDaysWithOldHours = (db: Db, detailDays: number, limit: number): Promise<WorkspaceDay[]> =>
  db.rows(LIST_OLD_HOURS, [detailDays, limit])

const DROP_HOURS = writes({
  'drop hours': `
  update activity set hours = null
  where workspace_id = $1::uuid and day = $2::date and hours is not null`,
  'drop the hours of the rollup': `delete from activity_hours where workspace_id = $1::uuid and day = $2::date`,
  'drop the hours of repositories': `
  update activity_repo_days set timezones = null, hours = null, crew_sizes = null, crews = null
  where workspace_id = $1::uuid and day = $2::date and timezones is not null`,
  'drop whose they were': `
  update activity_days set hour_crews = '${JSON.stringify(NO_CREWS)}'
  where workspace_id = $1::uuid and day = $2::date`,
})

/** Deletes a day's hours. Its sums stay. */
export const dropHours = async (tx: Db, { workspaceId, day }: WorkspaceDay): Promise<void> => {
  for (const drop of DROP_HOURS) await tx.rows(drop, [workspaceId, day])
}
