import type { Database } from '../../platform/database/client.js'
import { cacheOf } from '../../platform/process/maps.js'
import { readToday } from '../../platform/time/clock.js'
import type { Range } from '../../platform/time/days.js'
import { type DashboardQuestion, isOwn, namedIn } from './policies.js'
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
  { shown, before }: DashboardResponse,
  isComparison: boolean,
): AccessLogView | undefined => {
  if (isOwn(question)) return undefined
  const kind = isComparison ? 'comparison' : 'dashboard'
  switch (shown.days.kind) {
    case 'recorded':
    case 'mixed':
      return viewOf(question, kind, shown.days.named, namedIn(before)[0])
    // They name no one, and the days before them are published, too.
    case 'published':
      return undefined
  }
}

/** The view that a download adds to the access log. Undefined: it names no one else. */
export const viewOfDownload = (
  question: DashboardQuestion,
  { shown: { days } }: DashboardLines,
): AccessLogView | undefined => {
  if (isOwn(question)) return undefined
  switch (days.kind) {
    case 'recorded':
      return viewOf(question, 'csv', days.named)
    // Its lines are days, which name no one.
    case 'mixed':
    case 'published':
      return undefined
  }
}

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
