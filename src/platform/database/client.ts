import { setTimeout as sleep } from 'node:timers/promises'
import type postgres from 'postgres'
import { type Meter, silentMeter } from '../metrics/meter.js'
import type { Pool } from '../metrics/metrics.js'
import { createDoor, type Db, type Tx } from './door.js'
import { createDriver, type SentStatement } from './driver.js'
import { DatabaseBusy, isAftermath, isConflict, isRowConflict } from './failures.js'
import { followStatements } from './measuring.js'
import { renewable } from './renewable.js'
import { createReplica, type Replica, type ReplicaWatch } from './replica.js'
import { inTurnOnShared } from './shared-connection.js'
import { atOnce, createTurns, type InTurn, WAIT_MS } from './turns.js'

export type { Db, Tx } from './door.js'
export type { Parameter } from './parameters.js'

export interface Database {
  /** For reads: every call is one statement on its own. */
  read: Db
  /** For short reads of hot paths, which share a connection and are given up early. */
  hot: Db
  /** For writes of one statement, which may wait for locks and leave connections free as transactions do. */
  write: Db
  /** A connection that no caller's request ever uses: for what must be known however busy the others are. */
  reserved: Db
  /**
   * Runs `work` in a transaction; a conflict with another one (see `isConflict`) runs it again for up to
   * four seconds, and then fails as `DatabaseBusy`.
   */
  transaction<T>(work: (tx: Tx) => Promise<T>, options?: TransactionOptions): Promise<T>
  /**
   * Runs reads in a transaction, on the replica where there is one and it has all that was committed before this call, and
   * else on the primary. `work` may be run twice.
   */
  readAnywhere<T>(work: (tx: Tx) => Promise<T>): Promise<T>
  /** Undefined where there is none. */
  replica: Replica | undefined
  /** Makes new connections to the primary, which may lead to another server or have other settings. What is under way goes on. */
  renew(): void
  /** Ends within a second, whatever the database does; statements of the background are cancelled. */
  close(): Promise<void>
}

export interface TransactionOptions {
  /**
   * On a connection apart from requests, whose answers are awaited for up to an hour; work that needs more than 5 s for a
   * statement sets its own `statement_timeout`.
   */
  background?: boolean
  /**
   * What the work sends before its first answer only reads. It goes out together with the beginning of the transaction,
   * which may still be refused.
   */
  readsFirst?: boolean
  /**
   * Other transactions may make or take away rows that this one relies on, so `isRowConflict` is a conflict, too.
   * Without this option it is a mistake in the work, and fails at once.
   */
  rowsMayConflict?: boolean
}

export interface DatabaseOptions {
  url: string
  /** Connections in all, of which three are not for requests in general. With fewer than four there are four. */
  poolSize: number
  /** False behind a transaction pooler, which also takes no session settings. */
  prepare: boolean
  /** As many connections again. */
  replica?: { url: string; watch: ReplicaWatch } | undefined
  /** Counts what is done here. */
  meter?: Meter
}

/** Reads of hot paths that are under way at once. */
const READS = 64
/** How long a transaction that meets conflicts is begun again. */
const CONFLICTS_MS = 4_000
/** The longest pause before that; at random, because those who met would only meet again. */
const PAUSE_MS = 100
/** Seconds that a statement waits for its answer before its connection is given up; the server gives up before. */
const ANSWER_SECONDS = { requests: 5.5, reads: 2.2, background: 3_600 }
/** What is asked there is true of the connections that are made now. */
const RESERVED_LIFE_SECONDS = 60
/** How long a read waits for a connection to the replica, before it goes to the primary. */
const REPLICA_WAIT_MS = 500
/** The longest that a stop waits for the server to hear that statements are cancelled. */
const CANCEL_MS = 300

type Client = postgres.Sql | postgres.TransactionSql
/** With what `patches/` adds to it. */
type Begin = (
  mode: string,
  work: (sql: postgres.TransactionSql) => Promise<unknown>,
  options: { readsFirst: boolean },
) => Promise<unknown>

export const connect = ({
  url,
  poolSize,
  prepare,
  replica: replicaOptions,
  meter = silentMeter,
}: DatabaseOptions): Database => {
  const driver = (connections: number, answerSeconds: number, lifeSeconds?: number) =>
    createDriver({ url, connections, prepare, answerSeconds, lifeSeconds })
  const turns = (pool: Pool, places: number, waitMs?: number) =>
    createTurns(meter, pool, places, poolSize * 100, waitMs)
  const follow = followStatements(meter)
  const door = (client: () => Client, inTurn: InTurn, watch = (sent: SentStatement) => sent): Db =>
    createDoor(
      (text, parameters) =>
        watch(client().unsafe(text, parameters as never, { prepare, simple: false } as never)),
      inTurn,
      follow,
    )

  const size = Math.max(1, poolSize - 3)
  const pool = renewable(() => driver(size, ANSWER_SECONDS.requests))
  const onPool = turns('requests', size)
  // One connection stays free of what may wait for locks, so that statements go on while writers wait for each other.
  const asWriter = turns('writers', Math.max(1, size - 1))
  const onPoolAsWriter: InTurn = (work, deadline = Date.now() + WAIT_MS) =>
    asWriter(() => onPool(work, deadline), deadline)

  const hotReads = renewable(() => driver(1, ANSWER_SECONDS.reads))
  const shared = inTurnOnShared(hotReads, turns('reads', READS), ANSWER_SECONDS.reads)
  const reserved = renewable(() => driver(1, ANSWER_SECONDS.reads, RESERVED_LIFE_SECONDS))
  const background = renewable(() => driver(1, ANSWER_SECONDS.background))
  const ofPrimary = [pool, hotReads, reserved, background]
  const onBackground = turns('background', 1, ANSWER_SECONDS.background * 1_000)

  const inBackground = new Set<SentStatement>()
  /** Keeps a statement of the background in mind while it runs, so that a stop can cancel it. */
  const cancellable = (statement: SentStatement): SentStatement => {
    inBackground.add(statement)
    const done = () => inBackground.delete(statement)
    statement.then(done, done)
    return statement
  }

  const begin = async <T>(
    client: () => postgres.Sql,
    inTurn: InTurn,
    work: (tx: Tx) => Promise<T>,
    readsFirst: boolean,
  ) => {
    /** What failed first. */
    let failure: unknown
    const watch = (statement: SentStatement): SentStatement => {
      statement.then(undefined, (error) => {
        failure ??= error
      })
      return client === background.now ? cancellable(statement) : statement
    }
    let last: Promise<unknown> | undefined
    const lastly = (statements: Promise<unknown>) => {
      last = statements
      // It is awaited, but not before the commit is sent.
      last.catch(() => {})
    }
    const inside = async (sql: postgres.TransactionSql) => {
      let isOver = false
      const current = () => {
        if (isOver) throw new Error('A statement has come after the end of its transaction')
        return sql
      }
      try {
        return await work(Object.assign(door(current, atOnce, watch), { lastly }))
      } finally {
        isOver = true
      }
    }
    try {
      try {
        // Whatever the database is set to: what is read after a lock has to be what its last holder left.
        const mode = 'isolation level read committed'
        return (await inTurn(() => (client().begin as Begin)(mode, inside, { readsFirst }))) as T
      } finally {
        // When it has failed, that says more than that there was no commit.
        await last
      }
    } catch (error) {
      // Of statements that were sent together, those behind the one that failed say no more than that one did.
      throw isAftermath(error) ? failure : error
    }
  }

  const hot = door(hotReads.now, shared)
  const onReserved = door(reserved.now, turns('reserved', 1))
  const openReplica = ({ url, watch }: NonNullable<DatabaseOptions['replica']>) => {
    const driverOf = (connections: number, answerSeconds: number) =>
      createDriver({ url, connections, prepare, answerSeconds, role: 'standby' })
    const readers = driverOf(poolSize, ANSWER_SECONDS.requests)
    const probed = driverOf(1, ANSWER_SECONDS.reads)
    const onReaders = turns('replica', poolSize, REPLICA_WAIT_MS)
    const replica = createReplica({
      primary: { hot, reserved: onReserved },
      replica: door(() => probed, turns('replica_probe', 1)),
      begin: (work) => begin(() => readers, onReaders, work, true),
      watch,
      count: (server) => meter.count('team_settings_database_replica_reads_total', { server }),
    })
    return { replica, clients: [readers, probed] }
  }
  const opened = replicaOptions && openReplica(replicaOptions)
  const replica = opened?.replica
  const transaction: Database['transaction'] = async (work, options = {}) => {
    const { readsFirst = false, rowsMayConflict = false } = options
    const deadline = Date.now() + CONFLICTS_MS
    for (let pauseMs = 5; ; pauseMs = Math.min(2 * pauseMs, PAUSE_MS)) {
      try {
        const result = options.background
          ? await begin(background.now, onBackground, work, readsFirst)
          : await begin(pool.now, onPoolAsWriter, work, readsFirst)
        meter.count('team_settings_database_transactions_total', { outcome: 'committed' })
        return result
      } catch (error) {
        const canRepeat = isConflict(error) || (rowsMayConflict && isRowConflict(error))
        const outcome = canRepeat ? 'conflict' : 'failed'
        meter.count('team_settings_database_transactions_total', { outcome })
        if (!canRepeat) throw error
        if (Date.now() > deadline) throw new DatabaseBusy('Others were always first', { cause: error })
      }
      await sleep(Math.random() * pauseMs)
    }
  }
  const transactionOfReads = <T>(work: (tx: Tx) => Promise<T>) => transaction(work, { readsFirst: true })

  return {
    read: door(pool.now, onPool),
    hot,
    write: door(pool.now, onPoolAsWriter),
    reserved: onReserved,
    transaction,
    readAnywhere: (work) => (replica ? replica.read(work, transactionOfReads) : transactionOfReads(work)),
    replica,
    renew: () => {
      for (const connections of ofPrimary) connections.renew()
    },
    close: async () => {
      replica?.close()
      const cancelled = Promise.allSettled([...inBackground].map((statement) => statement.cancel()))
      await Promise.race([cancelled, sleep(CANCEL_MS, undefined, { ref: false })])
      await Promise.all(
        [...ofPrimary.map(({ now }) => now()), ...(opened?.clients ?? [])].map((client) =>
          client.end({ timeout: 0.5 }),
        ),
      )
    },
  }
}
