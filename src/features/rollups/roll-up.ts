import type { Database } from '../../platform/database/client.js'
import { couldNotConnect } from '../../platform/database/failures.js'
import { dropAgentHours } from '../minutes/index.js'
import {
  dropHours,
  listDaysWithOldHours,
  listStaleMonths,
  markEverythingStale,
  rebuildMonth,
  tryLockRollup,
} from './queries/rollups.js'

/** How many months are listed at once. Each runs in its own transaction. */
const BATCH = 1_000
const background = { background: true }

/**
 * Rolls up all days that have changed. Does nothing while another instance does this.
 * @param options.before leaves out this day and later ones
 * @returns how many days
 */
export const rollUp = async (
  database: Database,
  { before, stop }: { before?: string | undefined; stop?: AbortSignal | undefined } = {},
): Promise<number> => {
  for (let total = 0; ; ) {
    const months = await listStaleMonths(database.read, BATCH, before)
    const failures: unknown[] = []
    for (const month of months) {
      if (stop?.aborted) return total
      try {
        const days = await database.transaction(
          async (tx) => ((await tryLockRollup(tx)) ? rebuildMonth(tx, month, before) : undefined),
          background,
        )
        if (days === undefined) return total
        total += days
      } catch (error) {
        if (couldNotConnect(error)) throw error
        // A month that fails now doesn't hold up the others.
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
    if (months.length < BATCH) return total
  }
}

/** Rebuilds all rollups. Dashboards stay correct in the meantime, because they read stale days from the activity. */
export const rebuildRollups = async (database: Database): Promise<number> => {
  await database.transaction(markEverythingStale, background)
  return rollUp(database)
}

/** Deletes hours past their retention period. */
export const retireActivity = async (
  database: Database,
  detailDays: number,
  stop?: AbortSignal,
): Promise<void> => {
  for (;;) {
    const days = await listDaysWithOldHours(database.read, detailDays, BATCH)
    for (const day of days) {
      if (stop?.aborted) return
      await database.transaction((tx) => dropHours(tx, day), background)
    }
    if (days.length < BATCH) break
  }
  while (!stop?.aborted) {
    const rows = await database.transaction((tx) => dropAgentHours(tx, detailDays, BATCH), background)
    if (rows < BATCH) return
  }
}
