import type { Database } from '../../platform/database/client.js'
import { createCache } from '../../platform/process/maps.js'
import { readToday } from '../../platform/time/clock.js'
import type { Range } from '../../platform/time/days.js'
import { type DashboardQuestion, isOwn, recordedIn } from './policies.js'
import { type AccessLogView, recordView } from './queries/access-log.js'
import type { DashboardResponse } from './read-dashboard.js'
import type { DashboardLines } from './read-dashboard-csv.js'

/** How many views are remembered, to skip redundant writes. */
const MAX_CACHED_VIEWS = 50_000

/** Whether a response names people besides its viewer. If it does, the view is recorded. */
export type Viewed = { kind: 'names no one' } | { kind: 'names others'; view: AccessLogView }

const NO_ONE: Viewed = { kind: 'names no one' }

const viewOf = (
  { viewer, workspaceId, subject, repoKey }: DashboardQuestion,
  kind: AccessLogView['kind'],
  { from, to }: Range,
  before: AccessLogView['before'],
): AccessLogView => {
  const place = { workspaceId, viewerId: viewer.id }
  return subject.kind === 'person'
    ? { ...place, memberId: subject.userId, repoKey: undefined, kind, from, to, before }
    : { ...place, memberId: undefined, repoKey, kind, from, to, before }
}

/** @param isComparison whether a page loaded it only to compare another range with it */
export const viewedInDashboard = (
  question: DashboardQuestion,
  { shown, before }: DashboardResponse,
  isComparison: boolean,
): Viewed => {
  if (isOwn(question)) return NO_ONE
  const kind = isComparison ? 'comparison' : 'dashboard'
  const [recordedBefore] = recordedIn(before)
  switch (shown.days.kind) {
    case 'recorded':
    case 'mixed':
      return { kind: 'names others', view: viewOf(question, kind, shown.days.named, recordedBefore) }
    // They name no one, and the days before them are published, too.
    case 'published':
      return NO_ONE
  }
}

export const viewedInDownload = (
  question: DashboardQuestion,
  { shown: { days } }: DashboardLines,
): Viewed => {
  if (isOwn(question)) return NO_ONE
  switch (days.kind) {
    case 'recorded':
      return { kind: 'names others', view: viewOf(question, 'csv', days.named, undefined) }
    // Its lines are days, which name no one.
    case 'mixed':
    case 'published':
      return NO_ONE
  }
}

/** Records views of other people's numbers: one write for each viewer, day, filter, kind and range. */
export const createViewRecorder = (database: Database) => {
  /** The day on which a view was last written. */
  const known = createCache<string, string>(MAX_CACHED_VIEWS)

  return async (view: AccessLogView): Promise<void> => {
    const { workspaceId, viewerId, memberId, repoKey, from, to, kind, before } = view
    const name = [workspaceId, viewerId, memberId, repoKey, kind, from, to, before?.from].join(' ')
    if (known.get(name) === (await readToday(database))) return
    const day = await recordView(database.write, view)
    if (day === undefined) return
    known.set(name, day)
  }
}
