/**
 * Limits a pool's use. A semaphore has a permit for each connection, so that the driver itself never queues
 * statements. First come, first served is fair here: no caller has more than four requests in progress
 * (`platform/rate-limits/fair-share.ts`), and each waits for a connection or two.
 */
import type postgres from 'postgres'
import type { Meter } from '../metrics/meter.js'
import type { Pool } from '../metrics/metrics.js'
import { Semaphore } from '../process/semaphore.js'
import { DatabaseBusy, isConnectTimeout, isImpossibleResponse } from './failures.js'
import { exposePoolGauges } from './instrumentation.js'

/**
 * Runs `work` once it gets a permit.
 * @param deadline when waiting ends, in milliseconds since the epoch, for work that has already waited elsewhere
 * @throws {DatabaseBusy} if it gets none in time. `work` hasn't started then.
 */
export type Limiter = <T>(work: () => PromiseLike<T>, deadline?: number) => Promise<T>

/** The maximum time a request waits for a connection in production. */
export const WAIT_MS = 2_000

export const createLimiter = (
  meter: Meter,
  pool: Pool,
  size: number,
  queueLimit: number,
  waitMs: number,
): Limiter => {
  const timeoutError = () => new DatabaseBusy('No connection became free in time')
  const semaphore = new Semaphore(size, queueLimit, waitMs, timeoutError, (ms, acquired) => {
    meter.observe('team_settings_database_wait_seconds', { pool }, ms / 1_000)
    if (!acquired) meter.count('team_settings_database_wait_refusals_total', { pool })
  })
  exposePoolGauges(meter, pool, size, semaphore)
  return (work, deadline) =>
    semaphore.run(work, deadline).catch((error) => {
      // Waiting work would only hit the same failure.
      if (isConnectTimeout(error)) semaphore.rejectWaiting(error)
      throw error
    })
}

/** Doesn't limit the statements of a transaction, which already has a connection. */
export const unlimited: Limiter = async (work) => work()

/**
 * One connection that short reads share: reads that come at the same time are sent, answered and read together, which
 * takes a third less CPU time (`bench/README.md`). A slow statement delays everything behind it, so a connection that
 * doesn't answer in time is replaced, and everything waiting for it fails.
 */
export const sharedConnectionLimiter = (
  connection: RenewablePool,
  limit: Limiter,
  responseSeconds: number,
): Limiter => {
  return (work, deadline) =>
    limit(async () => {
      const used = connection.current()
      const replace = () => {
        if (used === connection.current()) connection.renew(0)
      }
      const timer = setTimeout(replace, responseSeconds * 1_000)
      try {
        return await work()
      } catch (error) {
        // Other reads may have received wrong rows too, or still may.
        if (isImpossibleResponse(error)) replace()
        throw error
      } finally {
        clearTimeout(timer)
      }
    }, deadline)
}

/**
 * Replaces the pool after an impossible response, because the driver doesn't tell which connection it came from. Work in
 * progress on the others finishes.
 */
export const replacingLimiter =
  (pool: RenewablePool, limit: Limiter): Limiter =>
  (work, deadline) =>
    limit(async () => {
      const used = pool.current()
      try {
        return await work()
      } catch (error) {
        if (isImpossibleResponse(error) && used === pool.current()) pool.renew()
        throw error
      }
    }, deadline)

/** Connections that can be replaced by new ones. */
export interface RenewablePool {
  current(): postgres.Sql
  /** @param timeout seconds to wait for work in progress; by default no limit */
  renew(timeout?: number): void
}

export const renewablePool = (connect: () => postgres.Sql): RenewablePool => {
  let current = connect()
  return {
    current: () => current,
    renew: (timeout) => {
      const former = current
      current = connect()
      void former.end(timeout === undefined ? {} : { timeout })
    },
  }
}
