import { attempt, type Job, listWaiting } from '../../platform/database/attempts.js'
import type { Database, Db } from '../../platform/database/client.js'
import { isConnectTimeout } from '../../platform/database/failures.js'
import { monthOf } from '../../platform/time/days.js'
import { clearAgentHours, clearOwnHours } from '../own-time/index.js'
import {
  deleteHours,
  listChangedDays,
  listChangedMonths,
  listDaysWithOldHours,
  markAllDaysStale,
  rebuildDay,
  rebuildMonth,
  tryLockRollup,
  type WorkspaceDay,
  type WorkspaceMonth,
} from './queries/rollups.js'

const background = { background: true }

/** How many items are listed at once. A shorter list is the last one. */
const BATCH_SIZE = 500

/** Units of work of one kind. */
interface Work<Item> {
  job: Job
  /** Names a unit. */
  unitOf(item: Item): string
  /** Does a unit. @returns how much was done */
  step(tx: Db, item: Item): Promise<number>
}

const daysOf: Work<WorkspaceDay> = {
  job: 'days',
  unitOf: ({ workspaceId, day }) => `${workspaceId} ${day}`,
  step: async (tx, day) => ((await rebuildDay(tx, day)) ? 1 : 0),
}

const monthsOf: Work<WorkspaceMonth> = {
  job: 'months',
  unitOf: ({ workspaceId, month }) => `${workspaceId} ${month}`,
  step: rebuildMonth,
}

/**
 * Works on each of these in its own transaction, while no other instance does this. Units that have failed wait.
 * @returns the sum of what the steps return; undefined if it was stopped or another instance is at work
 */
const workOn = async <Item>(
  database: Database,
  items: Item[],
  { job, unitOf, step }: Work<Item>,
  stop?: AbortSignal | undefined,
): Promise<number | undefined> => {
  let total = 0
  const failures: unknown[] = []
  const waiting = await listWaiting(database.read, job)
  for (const item of items) {
    const unit = unitOf(item)
    if (waiting.has(unit)) continue
    if (stop?.aborted) return undefined
    try {
      const done = await attempt(database, job, unit, async (tx, begin) => {
        if (!(await tryLockRollup(tx))) return undefined
        await begin()
        return step(tx, item)
      })
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

/** Works on everything that is listed and doesn't wait. @returns the sum of what the steps return */
export const drain = async <Item>(
  database: Database,
  list: (limit: number) => Promise<Item[]>,
  work: Work<Item>,
  stop?: AbortSignal | undefined,
): Promise<number> => {
  for (let total = 0; ; ) {
    const limit = BATCH_SIZE + (await listWaiting(database.read, work.job)).size
    const items = await list(limit)
    const done = await workOn(database, items, work, stop)
    total += done ?? 0
    if (done === undefined || items.length < limit) return total
  }
}

interface RollUp {
  /** Leaves out this day and later ones. */
  before?: string | undefined
  stop?: AbortSignal | undefined
}

/** Rolls up all days that have changed, and their months. @returns how many days */
export const rollUp = async (database: Database, { before, stop }: RollUp = {}): Promise<number> => {
  // If days fail, the months of the others are rolled up.
  const [days] = await Promise.allSettled([
    drain(database, (limit) => listChangedDays(database.read, limit, before), daysOf, stop),
  ])
  await drain(database, (limit) => listChangedMonths(database.read, limit), monthsOf, stop)
  if (days.status === 'rejected') throw days.reason
  return days.value
}

/** Rolls up these days and their months. Those that can't be rolled up now are tried again later. */
export const rollUpDays = async (database: Database, days: WorkspaceDay[]): Promise<void> => {
  const months = new Map(
    days.map(({ workspaceId, day }) => {
      const month = { workspaceId, month: monthOf(day) }
      return [monthsOf.unitOf(month), month]
    }),
  )
  await workOn(database, days, daysOf)
  await workOn(database, [...months.values()], monthsOf)
}

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
