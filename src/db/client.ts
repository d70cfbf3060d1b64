import { setTimeout as sleep } from 'node:timers/promises'
import type { PgDatabase } from 'drizzle-orm/pg-core'
import type { PostgresJsQueryResultHKT } from 'drizzle-orm/postgres-js'
import { drizzle } from 'drizzle-orm/postgres-js'
import postgres from 'postgres'
import { Gate } from '../runtime/gate.js'
import { couldNotConnect, DatabaseBusy, isConflict } from './failures.js'
import type { Statement } from './statement.js'

export type Parameter = string | number | boolean | Date | null | readonly (string | number | null)[]

/** The one kind of database that queries take: any of the doors below, or a transaction. */
export interface Db extends PgDatabase<PostgresJsQueryResultHKT> {
  /**
   * Runs one constant, prepared statement. In a transaction, statements that are not awaited one by one (`Promise.all`)
   * are sent at once and run one after the other, in their order.
   */
  rows<Row>(statement: Statement<Row>, parameters: Parameter[]): Promise<Row[]>
  /**
   * Runs one constant, prepared statement without the query builder. In a transaction, statements that are not awaited
   * one by one (`Promise.all`) are sent at once and run one after the other, in their order.
   */
  statement<Row>(text: string, parameters: Parameter[]): Promise<Row[]>
}

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
   * Runs `work` in a transaction; a deadlock or serialisation failure runs it again, at most three times.
   * @param options.background on a connection apart from requests, whose answers are awaited for up to an hour; work that
   * needs more than 5 s for a statement sets its own `statement_timeout`
   */
  transaction<T>(work: (tx: Db) => Promise<T>, options?: { background?: boolean }): Promise<T>
  /** Ends within a second, whatever the database does; statements of the background are cancelled. */
  close(): Promise<void>
}

export interface DatabaseOptions {
  url: string
  /** Connections in all, of which three are not for requests in general. With fewer than four there are four. */
  poolSize: number
  /** False behind a transaction pooler, which also takes no session settings. */
  prepare: boolean
}

/** The longest that a call waits for a connection. */
const WAIT_MS = 2_000
/** Reads of hot paths that are under way at once. */
const READS = 64
const ATTEMPTS = 3
/** Seconds that a statement waits for its answer before its connection is given up; the server gives up before. */
const ANSWER_SECONDS = { requests: 5.5, reads: 2.2, background: 3_600 }

const sessionSettings = {
  TimeZone: 'UTC',
  statement_timeout: 5_000,
  lock_timeout: 2_000,
  idle_in_transaction_session_timeout: 10_000,
}

type Sql = postgres.Sql | postgres.TransactionSql
type Sent = ReturnType<Sql['unsafe']>

export const connect = ({ url, poolSize, prepare }: DatabaseOptions): Database => {
  const connectWith = (max: number, answerSeconds: number) => {
    const options = {
      max,
      prepare,
      connect_timeout: 2,
      answer_timeout: answerSeconds,
      backoff: (attempt: number) => Math.min(0.1 * 2 ** attempt, 1),
      onnotice: () => {},
      connection: { application_name: 'team-settings-cloud', ...(prepare && sessionSettings) },
    }
    return requirePatched(postgres(url, options))
  }
  const size = Math.max(1, poolSize - 3)
  const pool = connectWith(size, ANSWER_SECONDS.requests)
  const reserved = connectWith(1, ANSWER_SECONDS.reads)
  const background = connectWith(1, ANSWER_SECONDS.background)

  /** One place for each connection, so that the driver never has to keep a statement waiting. */
  const gate = (limit: number, waitMs = WAIT_MS) => {
    const places = new Gate(
      limit,
      poolSize * 100,
      waitMs,
      () => new DatabaseBusy('No connection became free in time'),
    )
    const run: Run = (work, deadline) =>
      places.run(work, deadline).catch((error) => {
        // Those who wait would only wait for the same.
        if (couldNotConnect(error)) places.turnAway(error)
        throw error
      })
    return run
  }
  const onPool = gate(size)
  const onReader = gate(READS)
  const onReserved = gate(1)
  const onBackground = gate(1, ANSWER_SECONDS.background * 1_000)
  // One connection stays free of what may wait for locks, so that statements go on while writers wait for each other.
  const asWriter = gate(Math.max(1, size - 1))
  const onPoolAsWriter: Run = (work, deadline = Date.now() + WAIT_MS) =>
    asWriter(() => onPool(work, deadline), deadline)

  const underWay = new Set<Sent>()
  /** Remembers statements of the background for as long as they run, so that a stop can cancel them. */
  const remember = (statement: Sent): Sent => {
    underWay.add(statement)
    const forget = () => underWay.delete(statement)
    statement.then(forget, forget)
    return statement
  }

  /** `run` decides when a statement may start. Drizzle changes how the driver of these options reads dates. */
  const open = (sql: () => Sql, run: Run, options: postgres.Sql['options']): Db => {
    const send = (text: string, parameters: unknown[]): Sent => {
      const statement = sql().unsafe(text, parameters as never, { prepare, simple: false } as never)
      return options === background.options ? remember(statement) : statement
    }
    const rows = (text: string, parameters: Parameter[]) =>
      run(() => whole(text, send(text, parameters.map(toParameter))))
    return Object.assign(drizzle(adapt(send, options, run)), {
      rows: <Row>({ text }: Statement<Row>, parameters: Parameter[]) =>
        rows(text, parameters) as Promise<Row[]>,
      statement: <Row>(text: string, parameters: Parameter[]) => rows(text, parameters) as Promise<Row[]>,
    })
  }

  const begin = <T>(sql: postgres.Sql, run: Run, work: (tx: Db) => Promise<T>) =>
    run(() => sql.begin((tx) => work(open(() => tx, direct, sql.options)))) as Promise<T>

  /**
   * Reads of hot paths share a connection: what comes at the same time is sent, answered and read together, and twice as
   * much fits into a second as over many connections. What holds up one holds up all behind it, so only short reads belong
   * here, and a connection that does not answer is replaced, with all that waits for it.
   */
  let reader = connectWith(1, ANSWER_SECONDS.reads)
  const onSharedReader: Run = (work, deadline) =>
    onReader(async () => {
      const current = reader
      const replace = () => {
        if (current !== reader) return
        reader = connectWith(1, ANSWER_SECONDS.reads)
        // Drizzle has set there how dates are read.
        Object.assign(reader.options.parsers, current.options.parsers)
        Object.assign(reader.options.serializers, current.options.serializers)
        void current.end({ timeout: 0 })
      }
      const impatience = setTimeout(replace, ANSWER_SECONDS.reads * 1_000)
      try {
        return await work()
      } finally {
        clearTimeout(impatience)
      }
    }, deadline)

  return {
    read: open(() => pool, onPool, pool.options),
    hot: open(() => reader, onSharedReader, reader.options),
    write: open(() => pool, onPoolAsWriter, pool.options),
    reserved: open(() => reserved, onReserved, reserved.options),
    transaction: async <T>(work: (tx: Db) => Promise<T>, options: { background?: boolean } = {}) => {
      for (let attempt = 1; ; attempt++) {
        try {
          return options.background
            ? await begin(background, onBackground, work)
            : await begin(pool, onPoolAsWriter, work)
        } catch (error) {
          if (attempt === ATTEMPTS || !isConflict(error)) throw error
        }
      }
    },
    close: async () => {
      const cancelled = Promise.allSettled([...underWay].map((statement) => statement.cancel()))
      await Promise.race([cancelled, sleep(CANCEL_MS, undefined, { ref: false })])
      await Promise.all([pool, reader, reserved, background].map((sql) => sql.end({ timeout: 0.5 })))
    },
  }
}

/** The longest that a stop waits for the server to hear that statements are cancelled. */
const CANCEL_MS = 300

type Run = <T>(work: () => PromiseLike<T>, deadline?: number) => Promise<T>

const direct: Run = async (work) => work()

/** `patches/` makes the driver fit to lose connections; without it, acknowledged writes can be lost. */
const requirePatched = (sql: postgres.Sql): postgres.Sql => {
  if (!(sql as { patched?: boolean }).patched) {
    throw new Error(
      'The database driver in node_modules is not patched, because npm ran no scripts. Run: npx patch-package',
    )
  }
  return sql
}

/** The command that each kind of statement says it has done. */
const COMMANDS = /^\s*(?:with\b|(select|values|insert|update|delete|merge|set|show|begin|commit)\b)/i

/**
 * The rows of a statement, all of them. What does not look like the answer to this very statement is an error, and
 * never an answer.
 * @throws when the server's last word is that of another kind of statement, or counts other rows than came
 */
const whole = async (text: string, statement: Sent): Promise<postgres.Row[]> => {
  const rows = await statement
  const promised = COMMANDS.exec(text)?.[1]?.toUpperCase()
  const isItself = promised === undefined ? rows.command !== null : rows.command.startsWith(promised)
  const isComplete = rows.columns.length === 0 || rows.length === rows.count
  if (!isItself || !isComplete)
    throw new Error(`The answer to a statement is ${rows.command} ${rows.count} with ${rows.length} rows`)
  return rows
}

/** The part of postgres.js that Drizzle uses, but with statements that are really prepared (Drizzle asks for that only in `.prepare()`). */
const adapt = (
  send: (text: string, parameters: unknown[]) => Sent,
  options: postgres.Sql['options'],
  run: Run,
): postgres.Sql => {
  const adapted = {
    options,
    unsafe: (text: string, parameters: unknown[]) => ({
      // biome-ignore lint/suspicious/noThenProperty: Drizzle awaits what `unsafe` returns
      then: (ok: never, failed: never) => run(() => whole(text, send(text, parameters))).then(ok, failed),
      values: () => run(() => whole(text, send(text, parameters).values() as never)),
    }),
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
