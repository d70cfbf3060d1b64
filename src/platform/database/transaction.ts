/** Runs a transaction, and runs it again after a conflict with another one. */
import { setTimeout as sleep } from 'node:timers/promises'
import type postgres from 'postgres'
import type { Db, Tx } from './db.js'
import type { SentStatement } from './driver.js'
import {
  DatabaseBusy,
  isConflict,
  isFollowUpFailure,
  isOutcomeUnknown,
  isRowConflict,
  UnknownOutcome,
} from './failures.js'
import { type Limiter, unlimited } from './limiter.js'

/** How long to retry a transaction that has conflicts. */
const RETRY_WINDOW_MS = 4_000
/** The longest pause before a retry. Pauses are random, because equal ones would lead to the same conflict again. */
const MAX_RETRY_PAUSE_MS = 100

export interface TransactionOptions {
  /**
   * Uses a separate connection, which waits up to an hour for a response. Work that needs more than 5 s for a
   * statement sets its own `statement_timeout`.
   */
  background?: boolean
  /**
   * Statements that the work sends before its first response only read. They are sent together with `begin`, which the
   * server may still reject.
   */
  readsFirst?: boolean
  /** All statements see the state of the database at the first one, and none can write or lock rows. */
  readsOneState?: boolean
  /**
   * Other transactions may insert or delete rows that this one relies on, so `isRowConflict` is also a conflict.
   * Without this option, such a conflict is a bug in the work, and fails at once.
   */
  rowsCanConflict?: boolean
}

type Watch = (statement: SentStatement) => SentStatement

/** `begin` with the options that `patches/` adds. */
type Begin = (
  mode: string,
  work: (sql: postgres.TransactionSql) => Promise<unknown>,
  options: { readsFirst: boolean },
) => Promise<unknown>

/** A transaction's connections. */
export interface Connections {
  client(): postgres.Sql
  limit: Limiter
  dbOn(client: () => postgres.TransactionSql, limit: Limiter, watch: Watch): Db
  /** Called for each statement once it's sent. */
  watch?: Watch
}

/**
 * @throws {UnknownOutcome} if the commit was sent, and nothing says whether it was done; otherwise the failure of the
 * first failed statement, because those behind it only fail with the transaction
 */
export const runTransaction = async <T>(
  { client, limit, dbOn, watch = (statement) => statement }: Connections,
  work: (tx: Tx) => Promise<T>,
  { readsFirst = false, readsOneState = false }: TransactionOptions,
): Promise<T> => {
  let firstFailure: unknown
  let isCommitSent = false
  const watchFailures: Watch = (statement) => {
    statement.then(undefined, (error) => {
      firstFailure ??= error
    })
    return watch(statement)
  }
  const unfinished: Promise<unknown>[] = []
  const awaitAtCommit = (...statements: Promise<unknown>[]) => {
    // A failure that comes before then mustn't count as unhandled.
    for (const statement of statements) statement.catch(() => {})
    unfinished.push(...statements)
  }
  const inside = async (sql: postgres.TransactionSql) => {
    let isOver = false
    const current = () => {
      if (isOver) throw new Error('A statement has come after the end of its transaction')
      return sql
    }
    try {
      const result = await work(Object.assign(dbOn(current, unlimited, watchFailures), { awaitAtCommit }))
      isCommitSent = true
      return result
    } finally {
      isOver = true
    }
  }
  try {
    // Set explicitly, because reads after a lock must see what its last holder wrote, whatever the server's default is.
    const mode = `isolation level ${readsOneState ? 'repeatable read read only' : 'read committed'}`
    const result = (await limit(() => (client().begin as Begin)(mode, inside, { readsFirst }))) as T
    // Not after a failure: statements that a broken connection never sent don't end.
    await Promise.all(unfinished)
    return result
  } catch (error) {
    const failure = (isFollowUpFailure(error) && firstFailure) || error
    // The failure of the commit itself counts here: it says that the transaction was rolled back, whatever failed in it.
    throw isCommitSent && isOutcomeUnknown(error) ? new UnknownOutcome(failure) : failure
  }
}

/**
 * @param rowsCanConflict whether `isRowConflict` is a conflict too
 * @param count receives the outcome of each attempt
 * @throws {DatabaseBusy} if the conflicts don't stop in time
 */
export const retryConflicts = async <T>(
  attempt: () => Promise<T>,
  rowsCanConflict: boolean,
  count: (outcome: 'committed' | 'conflict' | 'failed') => void,
): Promise<T> => {
  const deadline = performance.now() + RETRY_WINDOW_MS
  for (let pauseMs = 5; ; pauseMs = Math.min(2 * pauseMs, MAX_RETRY_PAUSE_MS)) {
    try {
      const result = await attempt()
      count('committed')
      return result
    } catch (error) {
      const isRetryable = isConflict(error) || (rowsCanConflict && isRowConflict(error))
      count(isRetryable ? 'conflict' : 'failed')
      if (!isRetryable) throw error
      if (performance.now() > deadline)
        throw new DatabaseBusy('The transaction lost every conflict with other transactions', {
          cause: error,
        })
    }
    await sleep(Math.random() * pauseMs)
  }
}
