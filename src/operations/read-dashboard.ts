import type { Dashboard } from '../../schemas/dashboard.js'
import { limits } from '../../schemas/limits.js'
import type { Database } from '../db/client.js'
import { addDays, listDays, type Range, stepsOf } from '../domain/days.js'
import { Heatmap } from '../domain/heatmap.js'
import { ApiError } from '../errors.js'
import { PIECE_LENGTH } from '../http/streaming.js'
import {
  beginSnapshot,
  countActiveMembers,
  type Filter,
  listMemberDays,
  readCells,
  readDays,
  readMembers,
  readMemberTrends,
  readRawZoneDays,
  readRepos,
  readRepoTrends,
  readStaleDays,
  readWorkspaceHead,
  sourcesOf,
} from '../queries/dashboard.js'

type Sums = Record<'active_minutes' | 'commits' | 'closed_issues', number>

const nothing: Sums = { active_minutes: 0, commits: 0, closed_issues: 0 }

const addUp = (days: Sums[]): Sums =>
  days.reduce(
    (total, { active_minutes, commits, closed_issues }) => ({
      active_minutes: total.active_minutes + active_minutes,
      commits: total.commits + commits,
      closed_issues: total.closed_issues + closed_issues,
    }),
    nothing,
  )

/** The rows, each with its trend. */
const withTrends = <Row>(rows: Row[], trends: number[][]): (Row & { trend?: number[] })[] =>
  rows.map((row, index) => ({ ...row, trend: trends[index] ?? [] }))

/** A dashboard of one moment: all of its parts see the same state of the database. @throws {ApiError} `workspace_not_found` */
export const readDashboard = (
  database: Database,
  workspaceId: string,
  range: Range,
  filter: Filter,
  { trends = false } = {},
): Promise<Dashboard> =>
  database.transaction(async (tx) => {
    const before = { from: addDays(range.from, -range.days), to: addDays(range.from, -1) }
    const [, workspace, stale] = await Promise.all([
      beginSnapshot(tx),
      readWorkspaceHead(tx, workspaceId),
      readStaleDays(tx, workspaceId, { from: before.from, to: range.to }),
    ])
    if (!workspace) throw new ApiError('workspace_not_found')
    const sources = sourcesOf(workspaceId, range, filter, stale)
    const previous = sourcesOf(workspaceId, before, filter, stale)
    const [days, rows, repos, cells, zoneDays, activeBefore] = await Promise.all([
      readDays(tx, { ...sources, from: before.from, raw: [...previous.raw, ...sources.raw] }),
      readMembers(tx, sources),
      readRepos(tx, sources),
      readCells(tx, sources),
      readRawZoneDays(tx, sources),
      countActiveMembers(tx, previous),
    ])
    const members = rows.map(({ active_members: _, ...member }) => member)
    const steps = stepsOf(range, limits.trend_days)
    const [memberTrends, repoTrends] = trends
      ? await Promise.all([
          readMemberTrends(
            tx,
            sources,
            steps,
            members.map(({ login }) => login),
          ),
          readRepoTrends(
            tx,
            sources,
            steps,
            repos.map(({ repo }) => repo),
          ),
        ])
      : []
    const heatmap = new Heatmap()
    for (const cell of cells) heatmap.addCell(cell)
    for (const zoneDay of zoneDays) heatmap.addZoneDay(zoneDay)
    const dayOf = new Map(days.map((day) => [day.day, day]))
    const active_members = rows.reduce((total, row) => total + row.active_members, 0)
    return {
      workspace: { id: workspaceId, name: workspace.name },
      range,
      idle_window_minutes: workspace.idle_window_minutes,
      totals: { ...addUp(days.filter(({ day }) => day >= range.from)), active_members },
      previous_totals: {
        ...addUp(days.filter(({ day }) => day < range.from)),
        active_members: activeBefore,
      },
      daily: listDays(range.from, range.to).map(
        (day) => dayOf.get(day) ?? { day, ...nothing, active_members: 0 },
      ),
      members: memberTrends ? withTrends(members, memberTrends) : members,
      repos: repoTrends ? withTrends(repos, repoTrends) : repos,
      heatmap: heatmap.toCells(),
      generated_at: new Date().toISOString(),
    }
  })

/** With more days of 5,000 members, an answer of the database would keep the event loop for tens of milliseconds. */
const DAYS_PER_READ = 3

/** The lines of a dashboard as CSV, a few days at a time, so that no range and no team is too large for memory. */
export async function* readDashboardLines(
  database: Database,
  workspaceId: string,
  range: Range,
  filter: Filter,
): AsyncGenerator<string> {
  let text = 'day,login,active_minutes,commits,closed_issues\n'
  for (let start = 0; start < range.days; start += DAYS_PER_READ) {
    const part = {
      from: addDays(range.from, start),
      to: addDays(range.from, Math.min(start + DAYS_PER_READ, range.days) - 1),
    }
    const lines = await database.transaction(async (tx) => {
      const [, found] = await Promise.all([beginSnapshot(tx), listMemberDays(tx, workspaceId, filter, part)])
      return found
    })
    for (const line of lines) {
      text += `${line}\n`
      if (text.length < PIECE_LENGTH) continue
      yield text
      text = ''
    }
  }
  yield text
}
