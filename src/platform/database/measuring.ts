/** What metrics say of the database. */

import { type Meter, secondsSince } from '../metrics/meter.js'
import type { Pool } from '../metrics/metrics.js'
import { isConflict, isDatabaseUnavailable, isRowConflict } from './failures.js'

/** Follows a statement from its sending to its answer. */
export type Follow = <T>(statement: string, work: () => Promise<T>) => Promise<T>

/** Undefined where nobody asks, so that statements take no time for it. */
export const followStatements = (meter: Meter): Follow | undefined => {
  if (!meter.isOn) return undefined
  return async (statement, work) => {
    const since = performance.now()
    try {
      return await work()
    } catch (error) {
      meter.count('team_settings_database_failures_total', { reason: reasonOf(error) })
      throw error
    } finally {
      meter.observe('team_settings_database_statement_duration_seconds', { statement }, secondsSince(since))
    }
  }
}

// Conflicts first: they are also reasons to answer 503.
const reasonOf = (error: unknown) => {
  if (isConflict(error) || isRowConflict(error)) return 'conflict'
  return isDatabaseUnavailable(error) ? 'unavailable' : 'other'
}

/** The name of a statement that the builder made. */
export const nameOfBuilt = (text: string): string => {
  const verb = /^\(?(select|insert|update|delete)\b/.exec(text)?.[1]
  const table = /\b(?:from|into|update) "([a-z_]+)"/.exec(text)?.[1]
  return verb && table ? `${verb} ${table}` : 'other'
}

/** A pool, by what is known of its gate. */
export const watchPool = (
  meter: Meter,
  pool: Pool,
  places: number,
  gate: { readonly taken: number; readonly queue: number },
): void => {
  meter.read('team_settings_database_pool_size', { pool }, () => places)
  meter.read('team_settings_database_pool_used', { pool }, () => gate.taken)
  meter.read('team_settings_database_pool_waiting', { pool }, () => gate.queue)
}
