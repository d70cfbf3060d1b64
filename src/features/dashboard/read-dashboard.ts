/**
 * Assembles a dashboard from two sources: days that may be shown as recorded, and published weeks. A range can have
 * both kinds, so each number is read from both and merged here. `policies.ts` decides which days belong to which
 * source. All reads of one dashboard use one transaction and so one snapshot. Otherwise rows and totals would disagree
 * while people work.
 */
import { countNames, perCount } from '../../../schemas/counts.js'
import type { Dashboard, Publication } from '../../../schemas/dashboard.js'
import { limits } from '../../../schemas/limits.js'
import { ApiError } from '../../errors.js'
import type { Database, Db } from '../../platform/database/client.js'
import { readTodayIn } from '../../platform/time/clock.js'
import {
  addDays,
  type Buckets,
  bucketsOf,
  listDays,
  type Range,
  weekdayOf,
} from '../../platform/time/days.js'
import { Heatmap } from '../minutes/index.js'
import {
  hasOverdueWeeks,
  type PublishedTotals,
  publishedOn,
  readPublishedCells,
  readPublishedDays,
  readPublishedRepos,
  readPublishedWeeks,
} from '../rollups/index.js'
import { readWorkspaceSummary } from '../workspaces/index.js'
import {
  type DashboardQuestion,
  daysToCompare,
  decideShown,
  type ShownHours,
  type Viewer,
} from './policies.js'
import { readDays } from './queries/days.js'
import { countActiveMembers, readMembers } from './queries/members.js'
import { readRepos } from './queries/repos.js'
import { readSnapshot, readUnusableDays, type Sources, sourcesOf } from './queries/sources.js'
import { readMemberTrends, readRepoTrends } from './queries/trends.js'
import { readHeatmap } from './read-heatmap.js'

type Totals = Dashboard['totals']
type Sums = Omit<Totals, 'active_members'>
type RepoRow = Dashboard['repos'][number]

export const ZERO_SUMS = { active_minutes: 0, ...perCount(() => 0), active_members: 0 }
export const hiddenSums = { active_minutes: null, ...perCount(() => null), active_members: null }

/** The sum, not counting hidden (null) numbers. Null if all are hidden. */
const add = (one: number | null, other: number | null): number | null =>
  one === null ? other : one + (other ?? 0)

const larger = (one: number | null, other: number | null): number | null =>
  one === null ? other : Math.max(one, other ?? 0)

const addUp = (parts: Sums[]): Sums =>
  parts.reduce<Sums>(
    (total, part) => ({
      active_minutes: add(total.active_minutes, part.active_minutes),
      ...perCount((count) => add(total[count], part[count])),
    }),
    hiddenSums,
  )

/** People aren't added up, because the same person may be in both. */
const addUpTotals = (parts: Totals[]): Totals => ({
  ...addUp(parts),
  active_members: parts.map(({ active_members }) => active_members).reduce(larger, null),
})

/** Days that are shown as recorded: the whole range, or the days after the published weeks. */
const readNamed = async (
  tx: Db,
  hours: ShownHours,
  sources: Sources,
  previous: Sources | undefined,
  buckets: Buckets | undefined,
) => {
  const { workspaceId, userId, repoKey } = sources
  const [days, rows, repos, cells, activeBefore] = await Promise.all([
    // One statement reads the days of both ranges.
    readDays(tx, {
      workspaceId,
      userId,
      repoKey,
      raw: [...(previous?.raw ?? []), ...sources.raw],
      rolledUp: [...(previous?.rolledUp ?? []), ...sources.rolledUp],
    }),
    readMembers(tx, sources),
    readRepos(tx, sources),
    readHeatmap(tx, hours, sources),
    previous && countActiveMembers(tx, previous),
  ])
  const members = rows.map(({ active_members: _, ...member }) => member)
  const active_members = rows.reduce((total, row) => total + row.active_members, 0)
  const { from } = sources
  const shown = days.filter(({ day }) => day >= from)
  const before = days.filter(({ day }) => day < from)
  return {
    totals: { ...addUp([ZERO_SUMS, ...shown]), active_members },
    previous:
      activeBefore === undefined ? [] : [{ ...addUp([ZERO_SUMS, ...before]), active_members: activeBefore }],
    from,
    days: new Map(shown.map((day) => [day.day, day])),
    ...(buckets ? await readTrends(tx, sources, buckets, { members, repos }, shown) : { members, repos }),
    cells,
  }
}

/** The rows, each with its trend. */
const readTrends = async (
  tx: Db,
  sources: Sources,
  buckets: Buckets,
  { members, repos }: Pick<Dashboard, 'members' | 'repos'>,
  days: { day: string; active_minutes: number }[],
) => {
  const logins = members.map(({ login }) => login)
  const names = repos.map(({ repo }) => repo)
  const [ofMembers, ofRepos] = await Promise.all([
    readMemberTrends(tx, sources, buckets, logins, days),
    readRepoTrends(tx, sources, buckets, names, days),
  ])
  return {
    members: members.map((row, index) => ({ ...row, trend: ofMembers[index] ?? [] })),
    repos: repos.map((row, index) => ({ ...row, trend: ofRepos[index] ?? [] })),
  }
}

/** The weeks in the range, each with its state. */
const publicationOf = async (
  tx: Db,
  { minGroup, floor }: Viewer,
  workspaceId: string,
  { from, to }: { from: string; to: string },
  known: PublishedTotals[],
): Promise<Publication> => {
  const totals = new Map(known.map((one) => [one.week, one]))
  const today = await readTodayIn(tx)
  const mondays = listDays(from, to).filter((day) => weekdayOf(day) === 1)
  const weeks = mondays.map((week) => {
    const { week: _, ...numbers } = totals.get(week) ?? { week, ...hiddenSums }
    return { week, published_on: publishedOn(week), ...numbers }
  })
  const isIncomplete = weeks.some((one) => one.active_minutes === null && one.published_on < today)
  const past =
    isIncomplete && (await hasOverdueWeeks(tx, workspaceId, floor === 'team')) ? 'publishing' : 'hidden'
  return {
    min_group: minGroup,
    weeks: weeks.map((one) => ({
      ...one,
      state: one.active_minutes !== null ? 'published' : one.published_on >= today ? 'scheduled' : past,
    })),
  }
}

/** The published weeks' numbers. */
const readPublished = async (
  tx: Db,
  { viewer, workspaceId, repoKey }: DashboardQuestion,
  { from, to }: { from: string; to: string },
) => {
  const requested = { workspaceId, minGroup: viewer.minGroup, from, to, repoKey: repoKey ?? null }
  const [weeks, days, repos, cells] = await Promise.all([
    readPublishedWeeks(tx, requested),
    readPublishedDays(tx, requested),
    readPublishedRepos(tx, requested),
    readPublishedCells(tx, requested),
  ])
  const totals = addUpTotals(weeks)
  return {
    totals,
    publication: await publicationOf(tx, viewer, workspaceId, { from, to }, weeks),
    days: new Map(days.map((day) => [day.day, day])),
    repos,
    remainder: remainderOf(totals, addUp(repos)),
    cells: cells.length > 0 ? cells : undefined,
  }
}

/** The rest of the total, from repositories that can't be named. */
const remainderOf = (total: Sums, listed: Sums): RepoRow[] => {
  const rest = (name: keyof Sums) => (total[name] === null ? null : total[name] - (listed[name] ?? 0))
  const sums: Sums = { active_minutes: rest('active_minutes'), ...perCount(rest) }
  if (!sums.active_minutes && !countNames.some((count) => sums[count])) return []
  return [{ repo: null, ...sums, members: null }]
}

const keyOf = ({ repo }: RepoRow): string => repo?.toLowerCase() ?? ''

/** Most minutes first. */
const compareRepos = (one: RepoRow, other: RepoRow): number =>
  (other.active_minutes ?? 0) - (one.active_minutes ?? 0) || (keyOf(one) < keyOf(other) ? -1 : 1)

/** One row each. The last row adds up everything without a name and beyond the limit. */
const mergeRepos = (rows: RepoRow[]): RepoRow[] => {
  const unnamed = rows.filter(({ repo }) => repo === null)
  const partsOf = new Map<string, RepoRow[]>()
  for (const row of rows) {
    if (row.repo !== null) partsOf.set(keyOf(row), [...(partsOf.get(keyOf(row)) ?? []), row])
  }
  const named = Array.from(
    partsOf.values(),
    (parts): RepoRow => ({
      repo: parts[0]?.repo ?? null,
      ...addUp(parts),
      members: parts.map(({ members }) => members).reduce(larger, null),
    }),
  ).sort(compareRepos)
  const isAllListed = unnamed.length === 0 && named.length <= limits.dashboard_rows
  const count = isAllListed ? named.length : limits.dashboard_rows - 1
  const rest = [...named.slice(count), ...unnamed]
  const last = isAllListed ? [] : [{ repo: null, ...addUp(rest), members: null }]
  return [...named.slice(0, count), ...last]
}

const mergeCells = (parts: ({ weekday: number; hour: number; minutes: number }[] | undefined)[]) => {
  const known = parts.filter((part) => part !== undefined)
  if (known.length === 0) return null
  const keyOf = ({ weekday, hour }: { weekday: number; hour: number }) => `${weekday} ${hour}`
  const minutes = new Map<string, number>()
  for (const cell of known.flat()) minutes.set(keyOf(cell), (minutes.get(keyOf(cell)) ?? 0) + cell.minutes)
  return new Heatmap().toCells().map((cell) => ({ ...cell, minutes: minutes.get(keyOf(cell)) ?? null }))
}

export interface DashboardResponse {
  dashboard: Dashboard
  /** The days that are recorded as viewed, in the range and in the one before it. */
  recorded: Range | undefined
  recordedBefore: Range | undefined
}

/**
 * A dashboard from one snapshot of the database, privacy level included.
 * @throws {ApiError} `workspace_not_found`, `member_detail_hidden`, `member_not_found`
 */
export const readDashboard = (
  database: Database,
  question: DashboardQuestion,
  { trends = false },
): Promise<DashboardResponse> =>
  readSnapshot(database, async (tx) => {
    const { viewer, workspaceId, range: requested, repoKey } = question
    const [workspace, unusable] = await Promise.all([
      readWorkspace(tx, workspaceId),
      readUnusableDays(tx, workspaceId, {
        from: addDays(requested.from, -requested.days),
        to: requested.to,
      }),
    ])
    const shown = decideShown(question, workspace.privacy)
    const { filter } = shown
    const before = daysToCompare(question, workspace.privacy, shown)
    const sources = shown.named && sourcesOf(workspaceId, shown.named, filter, unusable)
    const previous = before.named && sourcesOf(workspaceId, before.named, filter, unusable)
    const buckets = trends ? bucketsOf(shown.range, limits.trend_days) : undefined
    const { minGroup } = viewer
    const [named, published, publishedBefore] = await Promise.all([
      sources && readNamed(tx, shown.hours, sources, previous, buckets),
      shown.published && readPublished(tx, question, shown.published),
      before.published
        ? readPublishedWeeks(tx, { workspaceId, minGroup, ...before.published, repoKey: repoKey ?? null })
        : [],
    ])
    const totals = [named, published].flatMap((part) => (part ? [part.totals] : []))
    const dashboard: Dashboard = {
      workspace: { id: workspaceId, name: workspace.name },
      range: shown.range,
      idle_window_minutes: workspace.idle_window_minutes,
      totals: addUpTotals(totals),
      previous_totals: addUpTotals([...(named?.previous ?? []), ...publishedBefore]),
      daily: listDays(shown.range.from, shown.range.to).map((day) =>
        named && day >= named.from
          ? (named.days.get(day) ?? { day, ...ZERO_SUMS })
          : { day, ...hiddenSums, ...published?.days.get(day) },
      ),
      members: named?.members ?? [],
      repos: published
        ? mergeRepos([...(named?.repos ?? []), ...published.repos, ...published.remainder])
        : (named?.repos ?? []),
      heatmap: shown.hours.kind === 'none' ? null : mergeCells([named?.cells, published?.cells]),
      publication: published?.publication ?? null,
      generated_at: new Date().toISOString(),
    }
    return { dashboard, recorded: shown.recorded, recordedBefore: before.recorded }
  })

/** @throws {ApiError} `workspace_not_found` */
export const readWorkspace = async (tx: Db, workspaceId: string) => {
  const workspace = await readWorkspaceSummary(tx, workspaceId)
  if (!workspace) throw new ApiError('workspace_not_found')
  return workspace
}
