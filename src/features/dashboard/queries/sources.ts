/**
 * Decides which rollups and which rows of `daily_activity` to read for a range.
 *
 * Dashboard statements are long because each exists once for all filters and ranges: `sourcesOf` splits a
 * range into whole months, days, and days to read from `daily_activity`, and the statements join the three with `union all`.
 * Each query has a single SQL text, so PostgreSQL prepares it once. Only monthly rollups keep a large team's year
 * within the timeout.
 *
 * $1 to $4 of all statements on activity are the workspace, the person and the repository of the filter (or null), and the days
 * to read from `daily_activity`.
 */
import { perCount } from '../../../../schemas/counts.js'
import { limits } from '../../../../schemas/limits.js'
import type { Database, Db, Parameter } from '../../../platform/database/client.js'
import { FORCE_CUSTOM_PLAN } from '../../../platform/database/planning.js'
import { date, double, statement } from '../../../platform/database/statement.js'
import { groupBy } from '../../../platform/process/maps.js'
import { addDays, lengthOfMonth, listDays, monthOf, type Range } from '../../../platform/time/days.js'
import { DELETED_USER } from '../../accounts/index.js'
import { countsOf, eachCount, hasActivity, listErased } from '../../minutes/index.js'
import type { Filter } from './filter.js'

interface DayRange {
  from: string
  to: string
}

declare const named: unique symbol
/** Days that this viewer may see as recorded, with this filter: only `features/dashboard/policies.ts` decides that. */
export interface NamedDays extends Range {
  readonly [named]: true
}

/** At most `count` of the days, starting at `index`. */
export const daysWithin = (days: NamedDays, index: number, count: number): NamedDays => {
  const length = Math.min(count, days.days - index)
  const from = addDays(days.from, index)
  return { ...days, from, to: addDays(from, length - 1), days: length }
}

/** Which rows of `daily_activity` to read. */
export interface ActivityRows extends Filter {
  workspaceId: string
  /** Days that are read from `daily_activity`. */
  raw: string[]
}

/** Where a range's numbers come from. */
export interface Sources extends DayRange, ActivityRows {
  /** Months in the range without a stale day. */
  months: string[]
  /** The other months in the range, and their valid days as bits. Bit 0 is the first. */
  parts: string[]
  masks: number[]
  /** The valid days of `parts`, one by one. */
  days: string[]
  /** All days that are read from rollups, one by one. */
  rolledUp: string[]
  /** People whose account was deleted and whose activity is still theirs. */
  erased: string[]
}

export const sourcesOf = (
  workspaceId: string,
  { from, to }: NamedDays,
  filter: Filter,
  { unusable, erased }: News,
): Sources => {
  const requested = listDays(from, to)
  const raw = filter.userId !== undefined ? requested : unusable.filter((day) => day >= from && day <= to)
  const isRaw = new Set(raw)
  const rolledUp = requested.filter((day) => !isRaw.has(day))
  const sources: Sources = {
    workspaceId,
    from,
    to,
    ...filter,
    raw,
    erased,
    months: [],
    parts: [],
    masks: [],
    days: [],
    rolledUp,
  }
  for (const [month, days] of groupBy(rolledUp, monthOf)) {
    if (days.length === lengthOfMonth(month)) sources.months.push(month)
    else {
      sources.parts.push(month)
      sources.masks.push(days.reduce((mask, day) => mask | (1 << (Number(day.slice(-2)) - 1)), 0))
      sources.days.push(...days)
    }
  }
  return sources
}

const PLANNING = [
  // With a custom plan, a null filter costs nothing and any other filter uses an index.
  FORCE_CUSTOM_PLAN,
  // Counting a large team's distinct people per repository takes memory.
  statement('raise work_mem for grouping', {}, `set local work_mem = '32MB'`),
]

/** Has the statements behind these planned for their own parameters. */
export const planForParameters = (tx: Db) => Promise.all(PLANNING.map((set) => tx.rows(set, [])))

/** Runs `read` on one state of the database. Its first statements are sent together with those that begin the snapshot. */
export const readSnapshot = <Result>(
  database: Database,
  read: (tx: Db) => Promise<Result>,
): Promise<Result> => database.transaction(read, { readsFirst: true, readsOneState: true })

/** $1 to $4. */
export const activityOf = ({ workspaceId, userId, repoKey, raw }: ActivityRows): Parameter[] => [
  workspaceId,
  userId ?? null,
  repoKey ?? null,
  raw,
]

/** The users whose activity counts, although they don't count as people. */
export const notPeople = ({ erased }: { erased: string[] }): string[] => [DELETED_USER, ...erased]

/** SQL: what the filter allows of rows `a` of activity. */
export const FILTER = `a.workspace_id = $1::uuid and ($2::uuid is null or a.user_id = $2::uuid)
      and ($3::text is null or a.repo_key = $3::text)`

/** SQL: activity read directly rather than from rollups. */
export const RAW = `(
    select a.user_id, a.repo_key, a.day, a.minutes, ${countsOf()}, a.hours from daily_activity a
    where ${FILTER} and a.day = any($4::date[]) and ${hasActivity('a')}
  )`

/** SQL: sums of `a` as doubles, which hold them exactly even beyond 32 bits. */
export const SUMS = `sum(a.minutes::float8) as active_minutes,
    ${eachCount((count) => `sum(a.${count}::float8) as ${count}`)}`

export const sums = { active_minutes: double, ...perCount(() => double) }

/** SQL: only the filter's repository, if there is one. */
export const OF_REPO = '($3::text is null or repo_key = $3::text)'

/** SQL: a list's row. The last row has no name and sums all the others. */
export const ROW = `least(place, ${limits.dashboard_rows})`

const LIST_CHANGED_DAYS = statement(
  'list changed days',
  { day: date },
  `
  select day from changed_days where workspace_id = $1::uuid and day between $2::date and $3::date
  union select day from changed_month_days where workspace_id = $1::uuid and day between $2::date and $3::date
  order by day`,
)

/** What rollups don't know yet. */
export interface News {
  /** Days whose rollups are out of date. */
  unusable: string[]
  /** People whose account was deleted and whose activity is still theirs. */
  erased: string[]
}

/** Comes before the reads of a range. */
export const readNews = async (tx: Db, workspaceId: string, { from, to }: DayRange): Promise<News> => {
  const [days, erased] = await Promise.all([
    tx.rows(LIST_CHANGED_DAYS, [workspaceId, from, to]),
    listErased(tx, workspaceId),
    planForParameters(tx),
  ])
  return { unusable: days.map(({ day }) => day), erased }
}
