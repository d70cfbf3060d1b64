/**
 * Who may use a connection now. A pool has one gate with a place for each connection, so that the driver itself never keeps
 * a statement waiting. Within it, first come, first served is fair: no caller has more than four requests under way
 * (`platform/rate-limits/fair-share.ts`), and each of them waits for a connection or two.
 */

import type { Meter } from '../metrics/meter.js'
import type { Pool } from '../metrics/metrics.js'
import { Gate } from '../process/gate.js'
import { couldNotConnect, DatabaseBusy } from './failures.js'
import { watchPool } from './measuring.js'

/**
 * Runs `work` when its turn comes.
 * @param deadline when waiting ends, in milliseconds since the epoch, for work that has waited elsewhere before
 * @throws {DatabaseBusy} when no turn comes in time; `work` has then not begun
 */
export type InTurn = <T>(work: () => PromiseLike<T>, deadline?: number) => Promise<T>

/** The longest that a request waits for a connection. */
export const WAIT_MS = 2_000

export const createTurns = (
  meter: Meter,
  pool: Pool,
  places: number,
  lineLimit: number,
  waitMs = WAIT_MS,
): InTurn => {
  const refuse = () => new DatabaseBusy('No connection became free in time')
  const gate = new Gate(places, lineLimit, waitMs, refuse, (ms, hasPlace) => {
    meter.observe('team_settings_database_wait_seconds', { pool }, ms / 1_000)
    if (!hasPlace) meter.count('team_settings_database_wait_refusals_total', { pool })
  })
  watchPool(meter, pool, places, gate)
  return (work, deadline) =>
    gate.run(work, deadline).catch((error) => {
      // Those who wait would only wait for the same.
      if (couldNotConnect(error)) gate.turnAway(error)
      throw error
    })
}

/** For statements of a transaction, which has its connection already. */
export const atOnce: InTurn = async (work) => work()
