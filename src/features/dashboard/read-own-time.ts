/** Reads the caller's own dashboard across all workspaces: each minute once, and commits and issues once per repository. */

import type { RepohostKind } from '../../../schemas/common.js'
import { countNames, type PerCount, perCount } from '../../../schemas/counts.js'
import { memberCsvColumns, type OwnDashboard } from '../../../schemas/dashboard.js'
import { limits } from '../../../schemas/limits.js'
import { isRepoPath } from '../../../schemas/owners.js'
import type { Database, Db } from '../../platform/database/client.js'
import { type Buckets, bucketsOf, countDays, type Range } from '../../platform/time/days.js'
import { Heatmap } from '../minutes/index.js'
import { type OwnDayTotals, readAgentProjects, readOwnTotals, sumOwnHours } from '../own-time/index.js'
import { rangeBefore } from './choose-range.js'
import { listOwnCounts } from './queries/own-counts.js'
import { planForParameters, readSnapshot } from './queries/sources.js'

/** A request for the caller's own time. */
export interface OwnTimeQuestion {
  person: { id: string; login: string; avatarUrl: string }
  hostKind: RepohostKind
  range: Range
  /** Comparisons leave later days out. */
  today: string
  /** In lower case. */
  repoKey: string | undefined
}

/** A day, and the counts of each repository. */
interface Day extends OwnDayTotals, PerCount<number> {
  repos: RepoDay[]
}

interface RepoDay extends PerCount<number> {
  /** Null: a project name that isn't a repository, or the rest of a day with many. */
  repo: string | null
  minutes: number
  agentMinutes: number
}

const sum = (numbers: number[]): number => numbers.reduce((total, number) => total + number, 0)

const sumCounts = (rows: PerCount<number>[]) => perCount((count) => sum(rows.map((row) => row[count])))

/** Every day of the range. */
const readDays = async (
  tx: Db,
  { person, hostKind, repoKey }: OwnTimeQuestion,
  range: Range,
): Promise<Day[]> => {
  const { id: userId } = person
  const [days, counts, agents] = await Promise.all([
    readOwnTotals(tx, userId, range, repoKey, limits.summary_projects_per_day),
    listOwnCounts(tx, userId, range, repoKey),
    readAgentProjects(tx, userId, range, repoKey),
  ])
  return days.map((day) => {
    const repos = new Map<string | null, RepoDay>()
    const repoOf = (name: string | undefined): RepoDay => {
      const repo = name !== undefined && isRepoPath(name, hostKind) ? name : null
      const key = repo?.toLowerCase() ?? null
      const row = repos.get(key) ?? { repo, minutes: 0, agentMinutes: 0, ...perCount(() => 0) }
      repos.set(key, row)
      return row
    }
    for (const { name, minutes } of day.projects) repoOf(name).minutes += minutes
    for (const { name, minutes } of agents.get(day.day) ?? []) repoOf(name).agentMinutes += minutes
    const own = counts.get(day.day) ?? []
    for (const counted of own) {
      const row = repoOf(counted.repo)
      for (const count of countNames) row[count] += counted[count]
    }
    return { ...day, ...sumCounts(own), repos: [...repos.values()] }
  })
}

/** Minutes and counts. */
interface Amounts extends PerCount<number> {
  minutes: number
}

const numbersOf = (days: Amounts[]) => ({
  active_minutes: sum(days.map(({ minutes }) => minutes)),
  ...sumCounts(days),
})

const hasActivity = (day: Amounts): boolean => day.minutes > 0 || countNames.some((count) => day[count] > 0)

const totalsOf = (days: Day[]) => {
  const numbers = numbersOf(days)
  const agent_minutes = sum(days.map(({ agentMinutes }) => agentMinutes))
  return { ...numbers, active_members: numbers.active_minutes > 0 ? 1 : 0, agent_minutes }
}

const compareCounts = (one: PerCount<number>, other: PerCount<number>): number =>
  countNames.map((count) => one[count] - other[count]).find((difference) => difference !== 0) ?? 0

/** Most minutes first. The last row adds up what has no name, and what is beyond the limit. */
const reposOf = (days: Day[], buckets: Buckets | undefined) => {
  const parts = new Map<string | null, (RepoDay & { day: string })[]>()
  for (const { day, repos } of days)
    for (const part of repos) {
      const key = part.repo?.toLowerCase() ?? null
      parts.set(key, [...(parts.get(key) ?? []), { ...part, day }])
    }
  const rowOf = (repo: string | null, own: (RepoDay & { day: string })[]) => ({
    repo,
    ...numbersOf(own),
    members: own.some(hasActivity) ? 1 : 0,
    ...(buckets && { trend: trendOf(own, buckets) }),
    agent_minutes: sum(own.map(({ agentMinutes }) => agentMinutes)),
  })
  const unnamed = parts.get(null) ?? []
  parts.delete(null)
  const named = Array.from(parts, ([key, own]) => ({ key, own, row: rowOf(own[0]?.repo ?? null, own) })).sort(
    (a, b) =>
      b.row.active_minutes - a.row.active_minutes ||
      compareCounts(b.row, a.row) ||
      b.row.agent_minutes - a.row.agent_minutes ||
      ((a.key ?? '') < (b.key ?? '') ? -1 : 1),
  )
  const isAllListed = unnamed.length === 0 && named.length <= limits.dashboard_rows
  const listed = isAllListed ? named : named.slice(0, limits.dashboard_rows - 1)
  const others = [...named.slice(listed.length).flatMap(({ own }) => own), ...unnamed]
  return [...listed.map(({ row }) => row), ...(isAllListed ? [] : [rowOf(null, others)])]
}

const trendOf = (days: { day: string; minutes: number }[], { start, length, count }: Buckets): number[] => {
  const trend = Array.from({ length: count }, () => 0)
  for (const { day, minutes } of days) {
    const step = Math.floor((countDays(start, day) - 1) / length)
    trend[step] = (trend[step] ?? 0) + minutes
  }
  return trend
}

const readHeatmap = async (tx: Db, { person, range, repoKey }: OwnTimeQuestion) => {
  const heatmap = new Heatmap()
  for (const cell of await sumOwnHours(tx, { userId: person.id, range, repoKey })) heatmap.addCell(cell)
  return heatmap.toCells()
}

/** Reads the caller's own time from one snapshot of the database. */
export const readOwnTime = (
  database: Database,
  question: OwnTimeQuestion,
  { trends = false } = {},
): Promise<OwnDashboard> =>
  readSnapshot(database, async (tx) => {
    const { person, range, today } = question
    const before = rangeBefore(range, today)
    const [, days, earlier, heatmap] = await Promise.all([
      planForParameters(tx),
      readDays(tx, question, range),
      before ? readDays(tx, question, before) : [],
      readHeatmap(tx, question),
    ])
    const buckets = trends ? bucketsOf(range, limits.trend_days) : undefined
    const { agent_minutes: _, ...previous_totals } = totalsOf(earlier)
    const active = days.filter(({ minutes }) => minutes > 0)
    return {
      workspace: null,
      range,
      idle_window_minutes: null,
      totals: totalsOf(days),
      previous_totals,
      daily: days.map((day) => ({ day: day.day, ...totalsOf([day]) })),
      members: [
        {
          login: person.login,
          avatar_url: person.avatarUrl,
          role: null,
          ...numbersOf(days),
          active_days: active.length,
          last_active_day: active.at(-1)?.day ?? null,
          ...(buckets && { trend: trendOf(days, buckets) }),
        },
      ],
      repos: reposOf(days, buckets),
      heatmap,
      publication: null,
      generated_at: new Date().toISOString(),
    }
  })

/** A line for each day with any activity. */
export const readOwnTimeCsv = (database: Database, question: OwnTimeQuestion): Promise<string> =>
  readSnapshot(database, async (tx) => {
    const { person, range } = question
    const [, own] = await Promise.all([planForParameters(tx), readDays(tx, question, range)])
    const days = own.filter(hasActivity)
    const lines = days.map((day) =>
      [day.day, person.login, day.minutes, ...countNames.map((count) => day[count])].join(','),
    )
    return [memberCsvColumns, ...lines, ''].join('\n')
  })
