import type { Database } from '../../platform/database/client.js'
import { cacheOf } from '../../platform/process/maps.js'
import { readToday } from '../../platform/time/clock.js'
import type { Range } from '../../platform/time/days.js'
import type { DashboardQuestion } from './policies.js'
import { type AccessLogView, recordView } from './queries/access-log.js'
import type { DashboardResponse } from './read-dashboard.js'
import type { DashboardLines } from './read-dashboard-csv.js'

/** How many views are remembered, to skip redundant writes. */
const REMEMBERED = 50_000

const viewOf = (
  { viewer, workspaceId, subject, repoKey }: DashboardQuestion,
  kind: AccessLogView['kind'],
  { from, to }: Range,
  before?: Range,
): AccessLogView => {
  const place = { workspaceId, viewerId: viewer.id }
  return subject.kind === 'person'
    ? { ...place, memberId: subject.userId, repoKey: undefined, kind, from, to, before }
    : { ...place, memberId: undefined, repoKey, kind, from, to, before }
}

/**
 * The view that a dashboard adds to the access log. Undefined: it names no one else.
 * @param isComparison whether a page loaded it only to compare another range with it
 */
export const viewOfDashboard = (
  question: DashboardQuestion,
  { recorded, recordedBefore }: DashboardResponse,
  isComparison: boolean,
): AccessLogView | undefined => {
  if (recorded) return viewOf(question, isComparison ? 'comparison' : 'dashboard', recorded, recordedBefore)
  // Published weeks name no one, and are compared with days that do.
  if (recordedBefore) return viewOf(question, 'comparison', recordedBefore)
  return undefined
}

/** The view that a download adds to the access log. Undefined: it names no one else. */
export const viewOfDownload = (
  question: DashboardQuestion,
  { recorded }: DashboardLines,
): AccessLogView | undefined => recorded && viewOf(question, 'csv', recorded)

/** Records views of other people's numbers: one write for each viewer, day, filter, kind and range. */
export const createViewRecorder = (database: Database) => {
  /** The day on which a view was last written. */
  const known = cacheOf<string, string>(REMEMBERED)

  return async (view: AccessLogView): Promise<void> => {
    const { workspaceId, viewerId, memberId, repoKey, from, to, kind, before } = view
    const name = [workspaceId, viewerId, memberId, repoKey, kind, from, to, before?.from].join(' ')
    if (known.get(name) === (await readToday(database))) return
    const day = await recordView(database.write, view)
    if (day === undefined) return
    known.set(name, day)
  }
}
