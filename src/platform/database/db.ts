/**
 * The type that all queries use, and its implementation. Drizzle expects a postgres.js client and prepares nothing. So it gets
 * a small stand-in whose `unsafe` sends prepared statements through the same limiter and metrics as `rows` does.
 */
import { type PgDatabase, PgDialect } from 'drizzle-orm/pg-core'
import { PostgresJsDatabase, type PostgresJsQueryResultHKT, PostgresJsSession } from 'drizzle-orm/postgres-js'
import type postgres from 'postgres'
import type { SentStatement } from './driver.js'
import { ImpossibleResponse } from './failures.js'
import { builtStatementName, type MeasureStatement } from './instrumentation.js'
import type { Limiter } from './limiter.js'
import { type Parameter, type Statement, toParameter } from './statement.js'

/**
 * The parameter of query functions: a property of `Database` such as `read`, or a transaction. It offers Drizzle's
 * builder, and `rows` for SQL written by hand. Every statement is prepared. In a transaction, statements that aren't
 * awaited one by one (`Promise.all`) are sent together and run one after the other, in order.
 */
export interface Db extends PgDatabase<PostgresJsQueryResultHKT> {
  rows<Row>(statement: Statement<Row>, parameters: Parameter[]): Promise<Row[]>
}

/** The parameter for a transaction's work. */
export interface Tx extends Db {
  /**
   * Takes statements that are sent, and awaits none of them. The transaction awaits them once the commit is sent too,
   * right behind them, and fails if one of them does.
   */
  awaitAtCommit(...statements: Promise<unknown>[]): void
}

type Send = (text: string, parameters: unknown[]) => SentStatement

const dialect = new PgDialect()

/** Like `drizzle()`, but cheap enough to run for each transaction. */
const builderOn = (driver: postgres.Sql) =>
  new PostgresJsDatabase(dialect, new PostgresJsSession(driver, dialect, undefined), undefined)

export const createDb = (send: Send, limit: Limiter, measure?: MeasureStatement): Db =>
  Object.assign(builderOn(driverForDrizzle(send, limit, measure)), {
    rows: <Row>({ name, text }: Statement<Row>, parameters: Parameter[]) => {
      const run = () => checkedRows(text, send(text, parameters.map(toParameter)))
      return limit(measure ? () => measure(name, run) : run) as Promise<Row[]>
    },
  })

/** The part of the driver that Drizzle uses. It prepares statements, which Drizzle doesn't do on its own. */
const driverForDrizzle = (send: Send, limit: Limiter, measure?: MeasureStatement): postgres.Sql => {
  const rowsOf = (text: string, sent: () => SentStatement) => {
    const run = () => checkedRows(text, sent())
    return limit(measure ? () => measure(builtStatementName(text), run) : run)
  }
  const driver = {
    unsafe: (text: string, parameters: unknown[]) => ({
      // biome-ignore lint/suspicious/noThenProperty: Drizzle awaits what `unsafe` returns
      then: (ok: never, failed: never) => rowsOf(text, () => send(text, parameters)).then(ok, failed),
      values: () => rowsOf(text, () => send(text, parameters).values() as never),
    }),
  }
  return driver as unknown as postgres.Sql
}

/** The command that the server reports for each kind of statement. */
const COMMAND = /^\s*(?:with\b|(select|values|insert|update|delete|merge|set|show|begin|commit)\b)/i

/**
 * All of a statement's rows. If the connection breaks at a bad moment, the driver can return a result without a command or
 * columns, or that of another statement.
 * @throws {ImpossibleResponse} if the server's last message is missing or about another kind of statement, or its row count
 * differs from what arrived
 */
const checkedRows = async (text: string, statement: SentStatement): Promise<postgres.Row[]> => {
  const rows: Partial<Awaited<SentStatement>> | undefined = await statement
  const { command, columns, count, length } = rows ?? {}
  const expected = COMMAND.exec(text)?.[1]?.toUpperCase() ?? ''
  const isItself = typeof command === 'string' && command.startsWith(expected)
  const isComplete = Array.isArray(columns) && (columns.length === 0 || length === count)
  if (!isItself || !isComplete)
    throw new ImpossibleResponse(`The response to a statement is ${command} ${count} with ${length} rows`)
  return rows as postgres.Row[]
}
