import type { Dashboard } from '../../schemas/dashboard.js'
import { limits } from '../../schemas/limits.js'
import type { Database } from '../db/client.js'
import { addDays, listDays, type Range } from '../domain/days.js'
import { toLocalHours } from '../domain/heatmap.js'
import { addSums, type MemberSums, type PackedSums } from '../domain/member-sums.js'
import { ApiError } from '../errors.js'
import { PIECE_LENGTH } from '../http/streaming.js'
import {
  beginSnapshot,
  type Filter,
  listMemberDays,
  type Person,
  readDays,
  readPeople,
  readRawSums,
  readRawZoneDays,
  readRepos,
  readRolledUp,
  readStaleDays,
  readTotals,
  readWorkspaceHead,
  sourcesOf,
} from '../queries/dashboard.js'

const nothing = { active_minutes: 0, commits: 0, closed_issues: 0 }

const totalOf = (members: readonly Member[]) => {
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
    const before = { from: addDays(range.from, -range.days), to: addDays(range.from, -1) }
    const [, workspace, stale] = await Promise.all([
      beginSnapshot(tx),
      readWorkspaceHead(tx, workspaceId),
      readStaleDays(tx, workspaceId, before.from, range.to),
    ])
    if (!workspace) throw new ApiError('workspace_not_found')
    const sources = sourcesOf(workspaceId, range, filter, stale)
    const [days, rolledUp, people, rawSums, rawZoneDays, repos, previous] = await Promise.all([
      readDays(tx, sources),
      readRolledUp(tx, sources),
      readPeople(tx, sources),
      readRawSums(tx, sources),
      readRawZoneDays(tx, sources),
      readRepos(tx, sources),
      readTotals(tx, sourcesOf(workspaceId, before, filter, stale)),
    ])
    const members = toMembers(people, rolledUp.sums, rawSums, filter)
    for (const zoneDay of rawZoneDays) rolledUp.heatmap.addDay(zoneDay.day, toLocalHours([zoneDay]))
    const dayOf = new Map(days.map((day) => [day.day, day]))
    return {
      workspace: { id: workspaceId, name: workspace.name },
      range,
      idle_window_minutes: workspace.idle_window_minutes,
      totals: totalOf(members),
      previous_totals: previous,
      daily: listDays(range.from, range.to).map(
        (day) => dayOf.get(day) ?? { day, ...nothing, active_members: 0 },
      ),
      members: boundMembers(members),
      repos,
      heatmap: rolledUp.heatmap.toCells(),
      generated_at: new Date().toISOString(),
    }
  })

type Row = Dashboard['members'][number]
type Member = Row & { login: string }

/** Everybody with anything; without a filter all members as well, and with one for a person that person. */
const toMembers = (
  people: Person[],
  rolledUp: PackedSums,
  raw: Map<string, MemberSums>,
  { userId, repoKey }: Filter,
): Member[] => {
  const isWhole = userId === undefined && repoKey === undefined
  const members = people.flatMap(({ id, login, avatar_url, role, ordinal }) => {
    const parts = [ordinal === null ? undefined : rolledUp.of(ordinal), raw.get(id)]
    const isAsked = id === userId || (isWhole && role !== null)
    if (!isAsked && !parts.some((part) => part)) return []
    return [{ login, avatar_url, role, ...addSums(parts) }]
  })
  return members.sort(byActivity)
}

const byActivity = (a: Member, b: Member) =>
  b.active_minutes - a.active_minutes ||
  b.commits - a.commits ||
  b.closed_issues - a.closed_issues ||
  (a.login.toLowerCase() < b.login.toLowerCase() ? -1 : 1)

/** What is beyond the limit is the last row, so that the sums hold. */
const boundMembers = (members: Member[]): Row[] => {
  if (members.length <= limits.dashboard_rows) return members
  const named = members.slice(0, limits.dashboard_rows - 1)
  const others = addSums(members.slice(named.length))
  return [...named, { login: null, avatar_url: '', role: null, ...others }]
}

/** With so many days of 5,000 members, an answer of the database keeps the event loop for a few milliseconds. */
const DAYS_PER_READ = 7

/** The lines of a dashboard as CSV, a week at a time, so that no range and no team is too large for memory. */
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
    for (const lines of await listMemberDays(database.read, workspaceId, filter, part)) {
      text += lines
      if (text.length < PIECE_LENGTH) continue
      yield text
      text = ''
    }
  }
  yield text
}
