import type { PgDatabase } from 'drizzle-orm/pg-core'
import type { PostgresJsQueryResultHKT } from 'drizzle-orm/postgres-js'
import { drizzle } from 'drizzle-orm/postgres-js'
import postgres from 'postgres'
import { Gate } from '../gate.js'
import { DatabaseBusy, isConflict, isConnectionLost } from './failures.js'

export type Parameter = string | number | boolean | Date | null | readonly (string | number | null)[]

/** The pool or a transaction: queries take either. */
export interface Db extends PgDatabase<PostgresJsQueryResultHKT> {
  /**
   * Runs one constant, prepared statement without the query builder. In a transaction, statements that are not awaited
   * one by one (`Promise.all`) are sent at once and run one after the other, in their order.
   */
  statement<Row>(text: string, parameters: Parameter[]): Promise<Row[]>
}

export interface Database {
  /** The pool: every call is one statement on its own. */
  db: Db
  /** The same for statements that may wait for locks, which leave a connection free as transactions do. */
  writes: Db
  /** The same as `db.statement` for short reads of hot paths, which share a connection and are given up early. */
  query<Row>(text: string, parameters: Parameter[]): Promise<Row[]>
  /**
   * Runs `work` in a transaction; a deadlock or serialisation failure runs it again, at most three times.
   * @param options.patient for background work whose statements have more time
   */
  transaction<T>(work: (tx: Db) => Promise<T>, options?: { patient?: boolean }): Promise<T>
  close(): Promise<void>
}

export interface DatabaseOptions {
  url: string
  poolSize: number
  /** False behind a transaction pooler, which also takes no session settings. */
  prepare: boolean
}

/** The longest that a call waits for a connection. */
const WAIT_MS = 2_000
/** The longest that a read of a hot path waits for its answer, and how many are under way at once. */
const READ_MS = 2_200
const READS = 64
/** The longest that a caller waits for a statement's answer; the server gives up before (see `sessionSettings`). */
const ANSWER_MS = 5_500
/** The same for background work, to which the server may give more time: an hour. */
const PATIENT_MS = 3_600_000
const ATTEMPTS = 3

const sessionSettings = {
  TimeZone: 'UTC',
  statement_timeout: 5_000,
  lock_timeout: 2_000,
  idle_in_transaction_session_timeout: 10_000,
}

export const connect = (options: DatabaseOptions): Database => {
  const { poolSize, prepare } = options
  const connectWith = (max: number) =>
    postgres(options.url, {
      max,
      prepare,
      connect_timeout: 2,
      backoff: (attempt) => Math.min(0.1 * 2 ** attempt, 1),
      onnotice: () => {},
      connection: { application_name: 'team-settings-cloud', ...(prepare && sessionSettings) },
    })
  const size = Math.max(1, poolSize - 1)
  const client = connectWith(size)
  const queueLimit = poolSize * 100
  const gate = (limit: number) =>
    new Gate(limit, queueLimit, WAIT_MS, () => new DatabaseBusy('No connection became free in time'))
  const statements = gate(size)
  const reads = gate(READS)
  // One connection stays free of transactions, so that statements go on while writers wait for each other.
  const transactions = gate(Math.max(1, size - 1))

  const send = (sql: postgres.Sql | postgres.TransactionSql, text: string, parameters: Parameter[]) =>
    sql.unsafe(text, parameters.map(toParameter) as never, { prepare })

  /** `run` decides when a statement may start. Drizzle changes how the driver of these options reads dates. */
  const open = (sql: postgres.Sql | postgres.TransactionSql, run: Run, options = client.options): Db =>
    Object.assign(drizzle(adapt(sql, options, prepare, run)), {
      statement: (text: string, parameters: Parameter[]) =>
        run(() => send(sql, text, parameters)) as Promise<never>,
    })

  /**
   * Once its connection is lost, the driver itself ends a transaction; what it would still send, a rollback or a
   * statement of ours, would end the process. So nothing is said to the driver any more, not even that `work` has ended.
   * Only what the transaction's own statements say counts: `work` may fail for the loss of something else.
   *
   * When an answer does not come in time, the caller is told so; the driver goes on waiting for it, and then rolls back.
   */
  const begin = <T>(work: (tx: Db) => Promise<T>, answerMs: number): Promise<T> =>
    new Promise<T>((settle, giveUp) => {
      let isLost = false
      let isLate = false
      const notice = (error: unknown) => {
        isLost ||= isConnectionLost(error)
      }
      const watch = (sent: PromiseLike<unknown>) => {
        answered(sent, answerMs).catch((error) => {
          if (!(error instanceof DatabaseBusy)) return
          isLate = true
          giveUp(error)
        })
      }
      const whileSound: Run = (send) => {
        if (isLost || isLate) return Promise.reject(new DatabaseBusy('The connection was lost'))
        const sent = send()
        sent.then(undefined, notice)
        watch(sent)
        return sent
      }
      let start = () => {}
      const started = new Promise<void>((resolve) => {
        start = resolve
      })
      const begun = client.begin(
        (tx) =>
          new Promise<T>((resolve, reject) => {
            start()
            const done = isLate ? Promise.reject(new DatabaseBusy('Too late')) : work(open(tx, whileSound))
            done.then(
              (value) => {
                if (isLost) return
                resolve(value)
                watch(begun)
              },
              (error) => isLost || reject(error),
            )
          }),
      ) as Promise<T>
      begun.then(settle, (error) => {
        notice(error)
        giveUp(error)
      })
      watch(Promise.race([started, begun]))
    })

  /**
   * Reads of hot paths share a connection: what comes at the same time is sent, answered and read together, and twice as
   * much fits into a second as over many connections. Whatever holds up one holds up all behind it, so only short reads
   * belong here, and a connection that does not answer is replaced.
   */
  const openReader = () => {
    const sql = poolSize > 1 ? connectWith(1) : client
    return { sql, db: open(sql, direct, sql.options) }
  }
  let reader = openReader()
  const read = async <Row>(text: string, parameters: Parameter[]): Promise<Row[]> => {
    const current = reader
    try {
      return await answered(current.db.statement<Row>(text, parameters), READ_MS)
    } catch (error) {
      if (error instanceof DatabaseBusy && current === reader && current.sql !== client) {
        reader = openReader()
        current.sql.end({ timeout: 0 })
      }
      throw error
    }
  }

  return {
    db: open(client, (work) => statements.run(() => answered(work(), ANSWER_MS))),
    writes: open(client, (work) => transactions.run(() => answered(work(), ANSWER_MS))),
    query: (text, parameters) => reads.run(() => read(text, parameters)),
    transaction: async <T>(work: (tx: Db) => Promise<T>, { patient = false } = {}) => {
      for (let attempt = 1; ; attempt++) {
        try {
          return await transactions.run(() => begin(work, patient ? PATIENT_MS : ANSWER_MS))
        } catch (error) {
          if (attempt === ATTEMPTS || !isConflict(error)) throw error
        }
      }
    },
    close: async () => {
      await Promise.all([client, reader.sql].map((sql) => sql.end({ timeout: 3 })))
    },
  }
}

type Run = <T>(work: () => PromiseLike<T>) => PromiseLike<T>

const direct: Run = (work) => work()

/** The part of postgres.js that Drizzle uses, but with statements that are really prepared (Drizzle asks for that only in `.prepare()`). */
const adapt = (
  sql: postgres.Sql | postgres.TransactionSql,
  options: postgres.Sql['options'],
  prepare: boolean,
  run: Run,
): postgres.Sql => {
  const adapted = {
    options,
    unsafe: (text: string, parameters: never[]) => {
      const send = () => sql.unsafe(text, parameters, { prepare })
      return {
        // biome-ignore lint/suspicious/noThenProperty: Drizzle awaits what `unsafe` returns
        then: (ok: never, failed: never) => run(send).then(ok, failed),
        values: () => run(() => send().values()),
      }
    },
  }
  return adapted as unknown as postgres.Sql
}

/** Arrays as PostgreSQL writes them, which are JSON's but for the brackets; the driver's own way takes several times as long. */
const toParameter = (value: Parameter): Parameter => {
  if (!Array.isArray(value)) return value
  const json = JSON.stringify(value)
  // Only two escapes mean the same in both, of quotes and of backslashes; few values have any.
  return json.includes('\\') && /\\[^"\\]/.test(json) ? value : `{${json.slice(1, -1)}}`
}

/** Gives up on an answer that does not come: a dead network must not hold a request for longer than it holds a lock. */
const answered = <T>(query: PromiseLike<T>, ms: number): Promise<T> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new DatabaseBusy('The database did not answer in time')), ms)
    query.then(
      (rows) => {
        clearTimeout(timer)
        resolve(rows)
      },
      (error) => {
        clearTimeout(timer)
        reject(error)
      },
    )
  })
