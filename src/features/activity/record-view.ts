import type { Database } from '../../platform/database/client.js'
import { type AccessLogView, recordView } from './queries/access-log.js'

/** How many views are remembered, to skip writes without effect. */
const REMEMBERED = 50_000

/**
 * Records views of other people's numbers: one write for each viewer and day, and more only where the
 * range widens.
 */
export const createViewRecorder = ({ write }: Database) => {
  const known = new Map<string, { day: string; from: string; to: string; exported: boolean }>()

  return async (view: AccessLogView): Promise<void> => {
    const { workspaceId, viewerId, memberId, repoKey, from, to, exported } = view
    if (memberId === viewerId) return
    const name = [workspaceId, viewerId, memberId, repoKey].join(' ')
    const seen = known.get(name)
    const today = new Date().toISOString().slice(0, 10)
    const isKnown = seen?.day === today && seen.from <= from && seen.to >= to && (seen.exported || !exported)
    if (isKnown) return
    const recorded = await recordView(write, view)
    if (!recorded) return
    if (known.size >= REMEMBERED) known.clear()
    known.set(name, recorded)
  }
}
