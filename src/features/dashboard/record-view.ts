import type { Database } from '../../platform/database/client.js'
import { cacheOf } from '../../platform/process/maps.js'
import { readToday } from '../../platform/time/clock.js'
import { type AccessLogView, recordView } from './queries/access-log.js'

/** How many views are remembered, to skip redundant writes. */
const REMEMBERED = 50_000

/** Records views of other people's numbers: one write for each viewer, day, filter, kind and range. */
export const createViewRecorder = (database: Database) => {
  /** The day on which a view was last written. */
  const known = cacheOf<string, string>(REMEMBERED)

  return async (view: AccessLogView): Promise<void> => {
    const { workspaceId, viewerId, memberId, repoKey, from, to, kind, before } = view
    if (memberId === viewerId) return
    const name = [workspaceId, viewerId, memberId, repoKey, kind, from, to, before?.from].join(' ')
    if (known.get(name) === (await readToday(database))) return
    const day = await recordView(database.write, view)
    if (day === undefined) return
    known.set(name, day)
  }
}
