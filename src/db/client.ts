import type { PgDatabase } from 'drizzle-orm/pg-core'
import type { PostgresJsQueryResultHKT } from 'drizzle-orm/postgres-js'
import { drizzle } from 'drizzle-orm/postgres-js'
import postgres from 'postgres'
import { Gate } from '../gate.js'
import { DatabaseBusy, isConflict } from './failures.js'

/** The pool or a transaction: queries take either. */
export type Db = PgDatabase<PostgresJsQueryResultHKT>

export type Parameter = string | number | boolean | Date | null | readonly (string | number | null)[]

export interface Database {
  /** Drizzle over the pool: every call is one statement on its own. */
  db: Db
  /** Runs one constant, prepared statement without a query builder: for reads on hot paths. */
  query<Row>(text: string, parameters: Parameter[]): Promise<Row[]>
  /** Runs `work` in a transaction; a deadlock or serialisation failure runs it again, at most three times. */
  transaction<T>(work: (tx: Db) => Promise<T>): Promise<T>
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
/**
 * The same for a read of a hot path. Several of those may be under way on a connection, one behind the other, which
 * saves system calls on both sides; one that waits for a lock then holds up those behind it, so they are given up early.
 */
const READ_MS = 2_200
const PIPELINE_DEPTH = 4
/** The longest that a caller waits for a statement's answer; the server gives up before (see `sessionSettings`). */
const ANSWER_MS = 5_500
const ATTEMPTS = 3

const sessionSettings = {
  TimeZone: 'UTC',
  statement_timeout: 5_000,
  lock_timeout: 2_000,
  idle_in_transaction_session_timeout: 10_000,
}

export const connect = (options: DatabaseOptions): Database => {
  const { poolSize, prepare } = options
  const client = postgres(options.url, {
    max: poolSize,
    prepare,
    connect_timeout: 2,
    backoff: (attempt) => Math.min(0.1 * 2 ** attempt, 1),
    onnotice: () => {},
    connection: { application_name: 'team-settings-cloud', ...(prepare && sessionSettings) },
  })
  const queueLimit = poolSize * 100
  const gate = (limit: number) =>
    new Gate(limit, queueLimit, WAIT_MS, () => new DatabaseBusy('No connection became free in time'))
  const statements = gate(poolSize)
  const reads = gate(poolSize * PIPELINE_DEPTH)
  // One connection stays free of transactions, so that reads go on while writers wait for each other.
  const transactions = gate(Math.max(1, poolSize - 1))

  const db = drizzle(adapt(client, prepare, (work) => statements.run(() => answered(work(), ANSWER_MS))))
  return {
    db,
    query: (text, parameters) =>
      reads.run(() =>
        answered(client.unsafe(text, parameters as never, { prepare }), READ_MS),
      ) as Promise<never>,
    transaction: async (work) => {
      for (let attempt = 1; ; attempt++) {
        try {
          return await transactions.run(() => db.transaction(work))
        } catch (error) {
          if (attempt === ATTEMPTS || !isConflict(error)) throw error
        }
      }
    },
    close: () => client.end({ timeout: 3 }),
  }
}

type Run = <T>(work: () => PromiseLike<T>) => Promise<T>

/**
 * The part of postgres.js that Drizzle uses, with two changes: statements are really prepared (Drizzle asks for that
 * only in `.prepare()`, which our queries do not need), and `run` decides when a statement on the pool may start.
 */
const adapt = (client: postgres.Sql, prepare: boolean, run: Run) => {
  const wrap = (sql: postgres.Sql | postgres.TransactionSql, start: Run): postgres.Sql => {
    const adapted = {
      options: client.options,
      unsafe: (text: string, parameters: never[]) => {
        const send = () => sql.unsafe(text, parameters, { prepare })
        return {
          // biome-ignore lint/suspicious/noThenProperty: Drizzle awaits what `unsafe` returns
          then: (ok: never, failed: never) => start(send).then(ok, failed),
          values: () => start(() => send().values()),
        }
      },
      begin: (work: (tx: postgres.Sql) => Promise<unknown>) => client.begin((tx) => work(wrap(tx, direct))),
      savepoint: (work: (tx: postgres.Sql) => Promise<unknown>) =>
        (sql as postgres.TransactionSql).savepoint((tx) => work(wrap(tx, direct))),
    }
    return adapted as unknown as postgres.Sql
  }
  return wrap(client, run)
}

const direct: Run = async (work) => await work()

/** Gives up on an answer that does not come: a dead network must not hold a request for longer than it holds a lock. */
const answered = async <T>(query: PromiseLike<T>, ms: number): Promise<T> => {
  let timer: NodeJS.Timeout | undefined
  const deadline = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new DatabaseBusy('The database did not answer in time')), ms)
  })
  try {
    return await Promise.race([query, deadline])
  } finally {
    clearTimeout(timer)
  }
}
