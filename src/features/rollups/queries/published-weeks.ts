/**
 * Weeks as shown at the privacy level `team`. Each is written once, then read instead of the activity. A week published
 * for a smaller group than required now isn't shown.
 */

import { setImmediate } from 'node:timers/promises'
import { countNames, perCount } from '../../../../schemas/counts.js'
import type { Db } from '../../../platform/database/client.js'
import {
  bool,
  date,
  double,
  integer,
  integers,
  orNull,
  type RowOf,
  statement,
  text,
  uuid,
} from '../../../platform/database/statement.js'
import { addDays, countDays, DAYS_OF_WEEK, HOURS, weekdayOf } from '../../../platform/time/days.js'
import { startOfLocalHour } from '../../../platform/time/local-hours.js'
import { countParameters, countsOf, eachCount, hasActivity, isPerson } from '../../minutes/index.js'
import { finish, type PublishedWeek, publishWeek, type ShownSums, type Work } from '../published-week.js'

export interface WorkspaceWeek {
  workspaceId: string
  /** The Monday of the week. */
  week: string
}

const LIST_WORKSPACES = statement(
  'list workspaces that publish weeks',
  { id: uuid },
  `
  select w.id from workspaces w
  where w.deleted_at is null and ($1::boolean or w.activity_privacy = 'team'
    or exists (select from privacy_levels l where l.workspace_id = w.id and l.level = 'team'))`,
)

/**
 * SQL: weeks with activity that ended at least `days` and a half days ago, and are due but not published. $2: all weeks
 * are due. A week ends at noon on Monday (UTC) in the last time zone. Someone's next day may have begun when a level is
 * loosened, so that day is published, too.
 */
const dueWeeks = (days: number): string => `
  from workspace_days d join workspaces w on w.id = d.workspace_id
  where d.workspace_id = any($1::uuid[])
    and d.day < date_trunc('week', (now() at time zone 'UTC') - interval '${days} days 12 hours')::date
    and ($2::boolean or w.activity_privacy = 'team'
      or date_trunc('week', d.day::timestamp)::date <= (w.activity_privacy_since at time zone 'UTC')::date + 1)
    and not exists (
      select from published_weeks p
      where p.workspace_id = d.workspace_id and p.week = date_trunc('week', d.day::timestamp)::date
    )`

const DAYS_TO_PUBLISHING = 3

/** The UTC day on which a week is published, at noon. @param week its Monday */
export const publishedOn = (week: string): string => addDays(week, DAYS_OF_WEEK + DAYS_TO_PUBLISHING)

/** $3: the first day to check. */
const LIST_DUE_WEEKS = statement(
  'list weeks to publish',
  { workspaceId: uuid, week: date },
  `
  select distinct d.workspace_id as "workspaceId", date_trunc('week', d.day::timestamp)::date as week
  ${dueWeeks(DAYS_TO_PUBLISHING)} and d.day >= $3::date
  limit $4::int`,
)

const HAS_OVERDUE_WEEKS = statement(
  'find overdue week',
  { found: bool },
  `select true as found ${dueWeeks(DAYS_TO_PUBLISHING + 1)} limit 1`,
)

/**
 * Whether the service is still publishing weeks that were due before today, such as after the level became `team`. It
 * says nothing about any single week, because that would reveal whether anyone was active in it.
 */
export const hasOverdueWeeks = async (tx: Db, workspaceId: string, all: boolean): Promise<boolean> =>
  (await tx.rows(HAS_OVERDUE_WEEKS, [[workspaceId], all])).length > 0

/**
 * Weeks that ended at least three days ago, have activity, must not be shown by name, and aren't published.
 * @param options.all of all workspaces
 */
export const listDueWeeks = async (
  db: Db,
  { all, from }: { all: boolean; from: string },
  limit: number,
): Promise<WorkspaceWeek[]> => {
  const workspaces = await db.rows(LIST_WORKSPACES, [all])
  if (workspaces.length === 0) return []
  return db.rows(LIST_DUE_WEEKS, [workspaces.map(({ id }) => id), all, from, limit])
}

const workColumns = {
  userId: orNull(uuid),
  day: date,
  repoKey: text,
  minutes: integer,
  ...perCount(() => integer),
  hours: orNull(integers),
  timezone: orNull(text),
  isAfterUtcWeek: bool,
}

/** SQL: the rows `a` of the workspace $1 in the week $2. */
const OF_WEEK = `a.workspace_id = $1::uuid and a.day between $2::date and $2::date + 6 and ${hasActivity('a')}`

/** A week with more rows is published with its totals alone, so that none fills this process's memory. */
const MAX_ROWS_OF_WEEK = 50_000

/**
 * One statement, so that everything comes from one snapshot. $2: Monday. A week by UTC days, as version 1.0.0 published
 * them, isn't published again.
 */
const READ_WEEK_ACTIVITY = statement(
  'read unpublished week',
  workColumns,
  `
  select case when ${isPerson('a.user_id')} then a.user_id end as "userId", a.day, a.repo_key as "repoKey", a.minutes,
    ${countsOf('a')}, a.hours, a.timezone, exists (
      select from published_weeks p
      where p.workspace_id = $1::uuid and p.week = $2::date - 7 and p.by_local_day is null
    ) as "isAfterUtcWeek"
  from daily_activity a
  where ${OF_WEEK}
  limit ${MAX_ROWS_OF_WEEK + 1}`,
)

/** $2: Monday. The week's sums by person, with all erased people together. */
const READ_WEEK_SUMS = statement(
  'read sums of unpublished week',
  { userId: orNull(uuid), minutes: double, ...perCount(() => double) },
  `
  select case when ${isPerson('a.user_id')} then a.user_id end as "userId", sum(a.minutes)::float8 as minutes,
    ${eachCount((count) => `sum(a.${count})::float8 as ${count}`)}
  from daily_activity a
  where ${OF_WEEK}
  group by 1`,
)

type WorkRow = RowOf<typeof workColumns>

/** A row's work, without hours that the week before has already published by UTC days: a Monday morning in Sydney. */
const workOf = (week: string, row: WorkRow): Work => {
  const { userId, repoKey, day, timezone, isAfterUtcWeek } = row
  const isPublished = (hour: number): boolean =>
    isAfterUtcWeek &&
    day === week &&
    timezone !== null &&
    (startOfLocalHour(timezone, day, hour) ?? Number.POSITIVE_INFINITY) < Date.parse(week)
  const hours = (row.hours ?? []).map((minutes, hour) => ({ hour, minutes, isPublished: isPublished(hour) }))
  const published = hours.filter((one) => one.isPublished).reduce((sum, { minutes }) => sum + minutes, 0)
  const cells = hours
    .filter((one) => one.minutes > 0 && !one.isPublished)
    .map(({ hour, minutes }) => ({ cell: (weekdayOf(day) - 1) * HOURS + hour, minutes }))
  const counts = perCount((count) => row[count])
  return {
    userId,
    day: countDays(week, day) - 1,
    repoKey,
    minutes: row.minutes - published,
    ...counts,
    cells,
  }
}

const INSERT_WEEK = statement(
  'publish week',
  { week: date },
  `
  insert into published_weeks (workspace_id, week, min_group, minutes, active_members, ${countsOf()}, by_local_day)
  values ($1::uuid, $2::date, $3::smallint, $4::bigint, $5::int, ${countParameters(6, 'bigint')}, true)
  on conflict do nothing
  returning week`,
)

const INSERT_DAYS = statement(
  'publish week days',
  {},
  `
  insert into published_days (workspace_id, week, day, minutes, active_members, ${countsOf()})
  select $1::uuid, $2::date, $2::date + d.day, d.minutes, d.active_members, ${countsOf('d')}
  from unnest($3::int[], $4::bigint[], $5::int[], ${countParameters(6, 'bigint[]')})
    as d (day, minutes, active_members, ${countsOf()})`,
)

const INSERT_REPOS = statement(
  'publish week repositories',
  {},
  `
  insert into published_repos (workspace_id, week, repo_key, minutes, active_members, ${countsOf()}, members)
  select $1::uuid, $2::date, r.repo_key, r.minutes, r.active_members, ${countsOf('r')}, coalesce(r.active_members, 0)
  from unnest($3::text[], $4::bigint[], $5::int[], ${countParameters(6, 'bigint[]')})
    as r (repo_key, minutes, active_members, ${countsOf()})`,
)

const INSERT_CELLS = statement(
  'publish week heatmap',
  {},
  `
  insert into published_cells (workspace_id, week, weekday, hour, minutes)
  select $1::uuid, $2::date, c.cell / 24 + 1, c.cell % 24, c.minutes
  from unnest($3::int[], $4::bigint[]) as c (cell, minutes)`,
)

const columnsOf = (rows: ShownSums[]) => [
  rows.map(({ minutes }) => minutes),
  rows.map(({ activeMembers }) => activeMembers),
  ...countNames.map((count) => rows.map((row) => row[count])),
]

const insertPublished = async (
  tx: Db,
  { workspaceId, week }: WorkspaceWeek,
  minGroup: number,
  { days, repos, cells, ...published }: PublishedWeek,
): Promise<void> => {
  const inserted = await tx.rows(INSERT_WEEK, [
    ...[workspaceId, week, minGroup],
    ...[published.minutes, published.activeMembers, ...countNames.map((count) => published[count])],
  ])
  if (inserted.length === 0) return
  const key = [workspaceId, week]
  await Promise.all([
    tx.rows(INSERT_DAYS, [...key, days.map(({ day }) => day), ...columnsOf(days)]),
    tx.rows(INSERT_REPOS, [...key, repos.map(({ repoKey }) => repoKey), ...columnsOf(repos)]),
    tx.rows(INSERT_CELLS, [...key, cells.map(({ cell }) => cell), cells.map(({ minutes }) => minutes)]),
  ])
}

/** Rows to read before other requests run. */
const MAX_ROWS = 5_000

const publishRows = async (week: string, rows: WorkRow[], minGroup: number): Promise<PublishedWeek> => {
  const works: Work[] = []
  for (const [index, row] of rows.entries()) {
    if (index % MAX_ROWS === 0) await setImmediate()
    works.push(workOf(week, row))
  }
  return finish(publishWeek(works, minGroup), setImmediate)
}

/** The week's totals, without days, repositories and cells. */
const publishTotals = async (
  tx: Db,
  { workspaceId, week }: WorkspaceWeek,
  minGroup: number,
): Promise<PublishedWeek> => {
  const sums = await tx.rows(READ_WEEK_SUMS, [workspaceId, week])
  const works = sums.map((sum): Work => ({ ...sum, day: 0, repoKey: '', cells: [] }))
  const totals = await finish(publishWeek(works, minGroup), setImmediate)
  return { ...totals, days: [], repos: [], cells: [] }
}

/** Publishes a week in its current state, unless it's already published. */
export const publishWeekOf = async (tx: Db, which: WorkspaceWeek, minGroup: number): Promise<void> => {
  const rows = await tx.rows(READ_WEEK_ACTIVITY, [which.workspaceId, which.week])
  const published =
    rows.length > MAX_ROWS_OF_WEEK
      ? await publishTotals(tx, which, minGroup)
      : await publishRows(which.week, rows, minGroup)
  await insertPublished(tx, which, minGroup, published)
}

/** A range of published weeks, for one repository, or for all (null). */
export interface PublishedQuestion {
  workspaceId: string
  minGroup: number
  from: string
  to: string
  repoKey: string | null
}

const sums = { active_minutes: orNull(double), ...perCount(() => orNull(double)) }

/** SQL: published numbers. */
const SUMS = `p.minutes::float8 as active_minutes, ${eachCount((count) => `p.${count}::float8`)}`

/** $1 to $4 of all below: the workspace, the required group size, the first Monday, the last day. */
const WEEKS = `p.workspace_id = $1::uuid and p.week between $3::date and $4::date and exists (
      select from published_weeks w where w.workspace_id = $1::uuid and w.week = p.week and w.min_group >= $2::int
    )`

const listWeeks = (name: string, table: string, condition = '') =>
  statement(
    name,
    { week: date, ...sums, active_members: orNull(integer) },
    `
  select p.week, ${SUMS}, p.active_members
  from ${table} p
  where ${WEEKS} ${condition}`,
  )

const READ_WEEKS = listWeeks('read published weeks', 'published_weeks')
/** $5: the repository. */
const READ_WEEKS_OF_REPO = listWeeks(
  'read published repository weeks',
  'published_repos',
  'and p.repo_key = $5::text',
)

const parametersOf = ({ workspaceId, minGroup, from, to }: PublishedQuestion) => [
  workspaceId,
  minGroup,
  from,
  to,
]

export const readPublishedWeeks = (tx: Db, question: PublishedQuestion) =>
  question.repoKey === null
    ? tx.rows(READ_WEEKS, parametersOf(question))
    : tx.rows(READ_WEEKS_OF_REPO, [...parametersOf(question), question.repoKey])

/** A week's published numbers. */
export type PublishedTotals = Awaited<ReturnType<typeof readPublishedWeeks>>[number]

const READ_DAYS = statement(
  'read published days',
  { day: date, ...sums, active_members: orNull(integer) },
  `
  select p.day, ${SUMS}, p.active_members
  from published_days p
  where ${WEEKS}`,
)

/** The rows of all repositories together. None for a single repository. */
export const readPublishedDays = async (tx: Db, question: PublishedQuestion) =>
  question.repoKey === null ? tx.rows(READ_DAYS, parametersOf(question)) : []

/** $5: a repository, or null. */
const READ_REPOS = statement(
  'read published repositories',
  { repo: text, ...sums, members: orNull(integer) },
  `
  select coalesce(min(named.repo), p.repo_key) as repo, sum(p.minutes)::float8 as active_minutes,
    ${eachCount((count) => `sum(p.${count})::float8 as ${count}`)}, max(p.active_members) as members
  from published_repos p
  left join activity_repos named on named.workspace_id = $1::uuid and named.repo_key = p.repo_key
  where ${WEEKS} and ($5::text is null or p.repo_key = $5::text)
  group by p.repo_key`,
)

export const readPublishedRepos = (tx: Db, question: PublishedQuestion) =>
  tx.rows(READ_REPOS, [...parametersOf(question), question.repoKey])

const READ_CELLS = statement(
  'read published cells',
  { weekday: integer, hour: integer, minutes: double },
  `
  select p.weekday, p.hour, sum(p.minutes)::float8 as minutes
  from published_cells p
  where ${WEEKS}
  group by p.weekday, p.hour`,
)

/** The rows of all repositories together. None for a single repository. */
export const readPublishedCells = async (tx: Db, question: PublishedQuestion) =>
  question.repoKey === null ? tx.rows(READ_CELLS, parametersOf(question)) : []
