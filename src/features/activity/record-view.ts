import type { Database } from '../../platform/database/client.js'
import { type Look, recordView } from './queries/access-log.js'

/** How many looks are remembered; the memory only saves writes that would change nothing. */
const REMEMBERED = 50_000

/**
 * Records looks at numbers with names, but for people's own: one write for each viewer and day, and more only where the
 * range widens.
 */
export const createViewRecorder = ({ write }: Database) => {
  const known = new Map<string, { day: string; from: string; to: string; exported: boolean }>()

  return async (look: Look): Promise<void> => {
    const { workspaceId, viewerId, memberId, repoKey, from, to, exported } = look
    if (memberId === viewerId) return
    const name = [workspaceId, viewerId, memberId, repoKey].join(' ')
    const seen = known.get(name)
    const today = new Date().toISOString().slice(0, 10)
    const isKnown = seen?.day === today && seen.from <= from && seen.to >= to && (seen.exported || !exported)
    if (isKnown) return
    const recorded = await recordView(write, look)
    if (!recorded) return
    if (known.size >= REMEMBERED) known.clear()
    known.set(name, recorded)
  }
}
