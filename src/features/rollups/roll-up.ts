import type { Database, Db } from '../../platform/database/client.js'
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

const background = { background: true }

/** How many items are listed at once. A shorter list is the last one. */
const BATCH = 500

/**
 * Works on all that is listed, each item in its own transaction, while no other instance does this.
 * @returns the sum of what the steps return
 */
export const drain = async <Item>(
  database: Database,
  list: (most: number) => Promise<Item[]>,
  step: (tx: Db, item: Item) => Promise<number>,
  stop?: AbortSignal | undefined,
): Promise<number> => {
  for (let total = 0; ; ) {
    const items = await list(BATCH)
    const failures: unknown[] = []
    for (const item of items) {
      if (stop?.aborted) return total
      try {
        const done = await database.transaction(
          async (tx) => ((await tryLockRollup(tx)) ? step(tx, item) : undefined),
          background,
        )
        if (done === undefined) return total
        total += done
      } catch (error) {
        if (couldNotConnect(error)) throw error
        // One that fails now doesn't hold up the others.
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
    if (items.length < BATCH) return total
  }
}

/**
 * Rolls up all days that have changed.
 * @param options.before leaves out this day and later ones
 * @returns how many days
 */
export const rollUp = (
  database: Database,
  { before, stop }: { before?: string | undefined; stop?: AbortSignal | undefined } = {},
): Promise<number> =>
  drain(
    database,
    (most) => listStaleMonths(database.read, most, before),
    (tx, month) => rebuildMonth(tx, month, before),
    stop,
  )

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
