import type { Database } from '../db/client.js'
import {
  beginRollup,
  dropOldHours,
  markEverythingStale,
  rebuildDays,
  takeStaleDays,
} from '../queries/rollups.js'

const BATCH = 40
const background = { background: true }

interface Options {
  /** Days of workspaces in one transaction. */
  batch?: number
  /** Ends the work after a transaction; the rest waits for the next time. */
  stop?: AbortSignal | undefined
}

/** Makes the rollups of all days that have changed. Does nothing while another instance is at it. @returns how many days */
export const rollUp = async (database: Database, { batch = BATCH, stop }: Options = {}): Promise<number> => {
  for (let total = 0; ; ) {
    const done = await database.transaction(async (tx) => {
      if (!(await beginRollup(tx))) return 0
      const days = await takeStaleDays(tx, batch)
      if (days.length > 0) await rebuildDays(tx, days)
      return days.length
    }, background)
    total += done
    if (done < batch || stop?.aborted) return total
  }
}

/** Makes all rollups anew. Dashboards stay right meanwhile: they read the days that are waiting from the activity. */
export const rebuildRollups = async (database: Database): Promise<number> => {
  await database.transaction(markEverythingStale, background)
  return rollUp(database, { batch: BATCH * 10 })
}

/** Forgets hours older than the detail is kept. */
export const retireActivity = async (
  database: Database,
  detailDays: number,
  stop?: AbortSignal,
): Promise<void> => {
  const drop = () => database.transaction((tx) => dropOldHours(tx, detailDays, BATCH), background)
  // A day is found by its rollup; while another instance makes those, the rest waits for the next time.
  while (!stop?.aborted && (await drop()) > 0 && (await rollUp(database, { stop })) > 0);
}
