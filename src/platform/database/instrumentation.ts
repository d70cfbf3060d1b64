/** The database's metrics. */

import { type Meter, secondsSince } from '../metrics/meter.js'
import type { Pool } from '../metrics/metrics.js'
import { isConflict, isDatabaseUnavailable, isRowConflict } from './failures.js'

/** Tracks a statement until its response. */
export type MeasureStatement = <T>(statement: string, work: () => Promise<T>) => Promise<T>

/** Undefined if metrics are off, so that statements spend no time on them. */
export const statementTimer = (meter: Meter): MeasureStatement | undefined => {
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

// Conflicts first, because they're also reasons for a 503.
const reasonOf = (error: unknown) => {
  if (isConflict(error) || isRowConflict(error)) return 'conflict'
  return isDatabaseUnavailable(error) ? 'unavailable' : 'other'
}

/** The name of a statement made by the builder. */
export const builtStatementName = (text: string): string => {
  const verb = /^\(?(select|insert|update|delete)\b/.exec(text)?.[1]
  const table = /\b(?:from|into|update) "([a-z_]+)"/.exec(text)?.[1]
  return verb && table ? `${verb} ${table}` : 'other'
}

/** A pool's gauges, read from its semaphore. */
export const exposePoolGauges = (
  meter: Meter,
  pool: Pool,
  size: number,
  semaphore: { readonly inUse: number; readonly queueLength: number },
): void => {
  meter.read('team_settings_database_pool_size', { pool }, () => size)
  meter.read('team_settings_database_pool_used', { pool }, () => semaphore.inUse)
  meter.read('team_settings_database_pool_waiting', { pool }, () => semaphore.queueLength)
}
