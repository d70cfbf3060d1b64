/**
 * The service's database. It uses four pools, because one slow kind of work must not block the others: requests,
 * short hot reads (one shared connection), readiness and session checks (reserved), and background jobs. Each has its
 * own limit and timeout. Writers hold two permits, one from the requests and one from the writers, so that reads always
 * find a connection. `connect` creates them in one place because their sizes add up to `poolSize`. `transaction.ts`
 * runs transactions on them.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type postgres from 'postgres'
import { type Meter, noopMeter } from '../metrics/meter.js'
import type { Pool } from '../metrics/metrics.js'
import { createDb, type Db, type Tx } from './db.js'
import { createDriver, type SentStatement } from './driver.js'
import { statementTimer } from './instrumentation.js'
import {
  createLimiter,
  type Limiter,
  renewablePool,
  replacingLimiter,
  sharedConnectionLimiter,
  WAIT_MS,
} from './limiter.js'
import { retryConflicts, runTransaction, type TransactionOptions } from './transaction.js'

export type { Db, Tx } from './db.js'
export type { Parameter } from './statement.js'
export type { TransactionOptions } from './transaction.js'

export interface Database {
  /** Multiplies time limits on waiting for the database. */
  timeoutFactor: number
  /** For reads: every call is one statement on its own. */
  read: Db
  /** For short reads of hot paths. They share a connection and time out early. */
  hot: Db
  /**
   * For writes of one statement. They may wait for locks, so like transactions they always leave some connections to
   * reads.
   */
  write: Db
  /** A separate connection for short reads that mustn't wait, however busy the others are. */
  reserved: Db
  /**
   * Runs `work` in a transaction; after a conflict with another one (see `isConflict`), runs it again for up to four
   * seconds, then fails with `DatabaseBusy`. It fails with `UnknownOutcome` if its changes may have been committed.
   */
  transaction<T>(work: (tx: Tx) => Promise<T>, options?: TransactionOptions): Promise<T>
  /** Opens new connections, which may reach another server or have other settings. Running work finishes. */
  renew(): void
  /** Ends within a second, even if the database hangs. Background statements are cancelled. */
  close(): Promise<void>
}

export interface DatabaseOptions {
  url: string
  /** Connections in total, at least four. Three of them are reserved for special work. */
  poolSize: number
  /** False behind a transaction pooler, which also takes no session settings. */
  prepare: boolean
  /** Multiplies the time limits on waiting for the database, for tests and the demo on a busy machine. */
  timeoutFactor?: number
  /** Receives the database's metrics. */
  meter?: Meter
}

/** How many reads run at once on the hot connection. */
const MAX_HOT_READS = 64
/**
 * Seconds that a statement waits for its response before its connection is closed. The server's own timeout is shorter.
 */
const ANSWER_SECONDS = { requests: 5.5, reads: 2.2, background: 3_600 }
/** Short-lived, so that readiness checks describe the connections that are opened now. */
const RESERVED_LIFE_SECONDS = 60
/** How long shutdown waits for the server to confirm cancellations. */
const CANCEL_MS = 300

type Client = postgres.Sql | postgres.TransactionSql

export const connect = ({
  url,
  poolSize,
  prepare,
  timeoutFactor = 1,
  meter = noopMeter,
}: DatabaseOptions): Database => {
  const driver = (connections: number, responseSeconds: number, lifeSeconds?: number) =>
    createDriver({ url, connections, prepare, responseSeconds, lifeSeconds, timeoutFactor })
  const waitMs = WAIT_MS * timeoutFactor
  const limiterOf = (pool: Pool, connections: number, longest = waitMs) =>
    createLimiter(meter, pool, connections, poolSize * 100, longest)
  const measure = statementTimer(meter)
  const dbOn = (client: () => Client, limit: Limiter, watch = (sent: SentStatement) => sent): Db =>
    createDb(
      (text, parameters) =>
        watch(client().unsafe(text, parameters as never, { prepare, simple: false } as never)),
      limit,
      measure,
    )

  const size = Math.max(1, poolSize - 3)
  const pool = renewablePool(() => driver(size, ANSWER_SECONDS.requests))
  const poolLimiter = replacingLimiter(pool, limiterOf('requests', size))
  // Writers get one connection fewer, so that reads continue while all writers wait for locks.
  const writerLimiter = limiterOf('writers', Math.max(1, size - 1))
  const poolWriterLimiter: Limiter = (work, deadline = Date.now() + waitMs) =>
    writerLimiter(() => poolLimiter(work, deadline), deadline)

  const hotReads = renewablePool(() => driver(1, ANSWER_SECONDS.reads))
  const hotLimiter = sharedConnectionLimiter(
    hotReads,
    limiterOf('reads', MAX_HOT_READS),
    ANSWER_SECONDS.reads * timeoutFactor,
  )
  const reserved = renewablePool(() => driver(1, ANSWER_SECONDS.reads, RESERVED_LIFE_SECONDS))
  const background = renewablePool(() => driver(1, ANSWER_SECONDS.background))
  const pools = [pool, hotReads, reserved, background]
  const backgroundLimiter = replacingLimiter(
    background,
    limiterOf('background', 1, ANSWER_SECONDS.background * 1_000),
  )

  const inBackground = new Set<SentStatement>()
  /** Remembers a background statement while it runs, so that a stop can cancel it. */
  const cancellable = (statement: SentStatement): SentStatement => {
    inBackground.add(statement)
    const done = () => inBackground.delete(statement)
    statement.then(done, done)
    return statement
  }

  const ofRequests = { client: pool.current, limit: poolWriterLimiter, dbOn }
  const ofBackground = { client: background.current, limit: backgroundLimiter, dbOn, watch: cancellable }
  const transaction: Database['transaction'] = (work, options = {}) => {
    return retryConflicts(
      () => runTransaction(options.background ? ofBackground : ofRequests, work, options),
      options.rowsCanConflict === true,
      (outcome) => meter.count('team_settings_database_transactions_total', { outcome }),
    )
  }

  return {
    timeoutFactor,
    read: dbOn(pool.current, poolLimiter),
    hot: dbOn(hotReads.current, hotLimiter),
    write: dbOn(pool.current, poolWriterLimiter),
    reserved: dbOn(reserved.current, replacingLimiter(reserved, limiterOf('reserved', 1))),
    transaction,
    renew: () => {
      for (const connections of pools) connections.renew()
    },
    close: async () => {
      const cancelled = Promise.allSettled([...inBackground].map((statement) => statement.cancel()))
      await Promise.race([cancelled, sleep(CANCEL_MS, undefined, { ref: false })])
      await Promise.all(pools.map(({ current }) => current().end({ timeout: 0.5 })))
    },
  }
}
