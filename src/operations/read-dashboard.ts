import type { Dashboard } from '../../schemas/dashboard.js'
import type { Database } from '../db/client.js'
import { addDays, listDays, type Range } from '../domain/days.js'
import { toHeatmap } from '../domain/heatmap.js'
import { ApiError } from '../errors.js'
import {
  beginSnapshot,
  type Filter,
  listMemberDays,
  type MemberSums,
  readDays,
  readMembers,
  readPeople,
  readRepos,
  readStaleDays,
  readTotals,
  readWorkspaceHead,
  readZoneDays,
  sourcesOf,
} from '../queries/dashboard.js'

const nothing = { active_minutes: 0, commits: 0, closed_issues: 0 }

const totalOf = (members: readonly MemberSums[]) => {
  const total = { ...nothing, active_members: 0 }
  for (const { active_minutes, commits, closed_issues } of members) {
    total.active_minutes += active_minutes
    total.commits += commits
    total.closed_issues += closed_issues
    if (active_minutes > 0) total.active_members++
  }
  return total
}

/** A dashboard of one moment: all of its parts see the same state of the database. @throws {ApiError} `workspace_not_found` */
export const readDashboard = (
  database: Database,
  workspaceId: string,
  range: Range,
  filter: Filter,
): Promise<Dashboard> =>
  database.transaction(async (tx) => {
    await beginSnapshot(tx)
    const workspace = await readWorkspaceHead(tx, workspaceId)
    if (!workspace) throw new ApiError('workspace_not_found')
    const before = { from: addDays(range.from, -range.days), to: addDays(range.from, -1) }
    const stale = await readStaleDays(tx, workspaceId, before.from, range.to)
    const sources = sourcesOf(workspaceId, range, filter, stale)

    const days = new Map((await readDays(tx, sources)).map((day) => [day.day, day]))
    const sums = await readMembers(tx, sources)
    const previous = await readTotals(tx, sourcesOf(workspaceId, before, filter, stale))
    const repos = await readRepos(tx, sources)
    const heatmap = toHeatmap(await readZoneDays(tx, sources))
    const activeIds = filter.userId === undefined ? sums.map(({ userId }) => userId) : [filter.userId]
    const isWhole = filter.userId === undefined && filter.repoKey === undefined
    const people = await readPeople(tx, workspaceId, activeIds, isWhole)

    return {
      workspace: { id: workspaceId, name: workspace.name },
      range,
      idle_window_minutes: workspace.idle_window_minutes,
      totals: totalOf(sums),
      previous_totals: previous,
      daily: listDays(range.from, range.to).map(
        (day) => days.get(day) ?? { day, ...nothing, active_members: 0 },
      ),
      members: toMembers(sums, people),
      repos,
      heatmap,
      generated_at: new Date().toISOString(),
    }
  })

const toMembers = (
  sums: readonly MemberSums[],
  people: Awaited<ReturnType<typeof readPeople>>,
): Dashboard['members'] => {
  const sumsOf = new Map(sums.map((member) => [member.userId, member]))
  const members = people.map(({ id, login, avatar_url, role }) => {
    const { userId: _, ...numbers } = sumsOf.get(id) ?? {
      userId: id,
      ...nothing,
      active_days: 0,
      last_active_day: null,
    }
    return { login, avatar_url, role, ...numbers }
  })
  return members.sort(
    (a, b) =>
      b.active_minutes - a.active_minutes ||
      b.commits - a.commits ||
      b.closed_issues - a.closed_issues ||
      (a.login.toLowerCase() < b.login.toLowerCase() ? -1 : 1),
  )
}

const DAYS_PER_READ = 31

const field = (text: string) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)

/** The lines of a dashboard as CSV, a month at a time, so that no range and no team is too large for memory. */
export async function* readDashboardLines(
  database: Database,
  workspaceId: string,
  range: Range,
  filter: Filter,
): AsyncGenerator<string> {
  yield 'day,login,active_minutes,commits,closed_issues\n'
  const days = listDays(range.from, range.to)
  for (let start = 0; start < days.length; start += DAYS_PER_READ) {
    const part = days.slice(start, start + DAYS_PER_READ)
    const rows = await listMemberDays(database.db, workspaceId, filter, part)
    if (rows.length === 0) continue
    yield rows
      .map(
        ({ day, login, active_minutes, commits, closed_issues }) =>
          `${[day, field(login), active_minutes, commits, closed_issues].join()}\n`,
      )
      .join('')
  }
}
