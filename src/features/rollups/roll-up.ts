import type { Database, Db } from '../../platform/database/client.js'
import { isConnectTimeout } from '../../platform/database/failures.js'
import { clearAgentHours, clearOwnHours } from '../own-time/index.js'
import {
  deleteHours,
  listDaysWithOldHours,
  listStaleMonths,
  markAllDaysStale,
  rebuildMonth,
  tryLockRollup,
} from './queries/rollups.js'

const background = { background: true }

/** How many items are listed at once. A shorter list is the last one. */
const BATCH_SIZE = 500

/**
 * Works on each of these in its own transaction, while no other instance does this.
 * @returns the sum of what the steps return; undefined if it was stopped or another instance is at work
 */
const workOn = async <Item>(
  database: Database,
  items: Item[],
  step: (tx: Db, item: Item) => Promise<number>,
  stop?: AbortSignal | undefined,
): Promise<number | undefined> => {
  let total = 0
  const failures: unknown[] = []
  for (const item of items) {
    if (stop?.aborted) return undefined
    try {
      const done = await database.transaction(
        async (tx) => ((await tryLockRollup(tx)) ? step(tx, item) : undefined),
        background,
      )
      if (done === undefined) return undefined
      total += done
    } catch (error) {
      if (isConnectTimeout(error)) throw error
      // A failure doesn't hold up the others.
      failures.push(error)
    }
  }
  if (failures.length > 0) throw failures[0]
  return total
}

/** Works on everything that is listed. @returns the sum of what the steps return */
export const drain = async <Item>(
  database: Database,
  list: (limit: number) => Promise<Item[]>,
  step: (tx: Db, item: Item) => Promise<number>,
  stop?: AbortSignal | undefined,
): Promise<number> => {
  for (let total = 0; ; ) {
    const items = await list(BATCH_SIZE)
    const done = await workOn(database, items, step, stop)
    total += done ?? 0
    if (done === undefined || items.length < BATCH_SIZE) return total
  }
}

interface RollUp {
  /** Leaves out this day and later ones. */
  before?: string | undefined
  stop?: AbortSignal | undefined
}

/** Rolls up all days that have changed. @returns how many */
export const rollUp = (database: Database, { before, stop }: RollUp = {}): Promise<number> =>
  drain(
    database,
    (limit) => listStaleMonths(database.read, limit, before),
    (tx, month) => rebuildMonth(tx, month, before),
    stop,
  )

/** Rebuilds all rollups. Dashboards stay correct in the meantime, because they read stale days from the activity. */
export const rebuildRollups = async (database: Database): Promise<number> => {
  await database.transaction(markAllDaysStale, background)
  return rollUp(database)
}

/** Deletes hours past their retention period, and makes the rollups of their days again. */
export const retireActivity = async (
  database: Database,
  detailDays: number,
  stop?: AbortSignal,
): Promise<void> => {
  for (;;) {
    const days = await listDaysWithOldHours(database.read, detailDays, BATCH_SIZE)
    for (const day of days) {
      if (stop?.aborted) return
      await database.transaction((tx) => deleteHours(tx, day), background)
    }
    if (days.length < BATCH_SIZE) break
  }
  await rollUp(database, { stop })
  for (const clear of [clearAgentHours, clearOwnHours]) {
    for (let rows = BATCH_SIZE; rows === BATCH_SIZE && !stop?.aborted; )
      rows = await database.transaction((tx) => clear(tx, detailDays, BATCH_SIZE), background)
  }
}
