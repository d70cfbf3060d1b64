import { type PgDatabase, PgDialect } from 'drizzle-orm/pg-core'
import { PostgresJsDatabase, type PostgresJsQueryResultHKT, PostgresJsSession } from 'drizzle-orm/postgres-js'
import type postgres from 'postgres'
import { checkedRows } from './answers.js'
import type { SentStatement } from './driver.js'
import { type Follow, nameOfBuilt } from './measuring.js'
import { type Parameter, toParameter } from './parameters.js'
import type { Statement } from './statement.js'
import type { InTurn } from './turns.js'

/**
 * What query functions take, whichever way their statements go: a door of `Database`, or a transaction. Drizzle's builder,
 * and `rows` for SQL written by hand. Every statement is prepared. In a transaction, statements that are not awaited one by
 * one (`Promise.all`) are sent together and run one after the other, in their order.
 */
export interface Db extends PgDatabase<PostgresJsQueryResultHKT> {
  rows<Row>(statement: Statement<Row>, parameters: Parameter[]): Promise<Row[]>
}

/** What the work of a transaction gets. */
export interface Tx extends Db {
  /**
   * Leaves statements that are on their way to the commit, which is sent right behind them; when one of them fails, the
   * transaction does. The last thing that the work does.
   */
  lastly(statements: Promise<unknown>): void
}

type Send = (text: string, parameters: unknown[]) => SentStatement

const dialect = new PgDialect()

/** As `drizzle` does it, but at no cost for each transaction. */
const builderOn = (driver: postgres.Sql) =>
  new PostgresJsDatabase(dialect, new PostgresJsSession(driver, dialect, undefined), undefined)

export const createDoor = (send: Send, inTurn: InTurn, follow?: Follow): Db =>
  Object.assign(builderOn(driverForDrizzle(send, inTurn, follow)), {
    rows: <Row>({ name, text }: Statement<Row>, parameters: Parameter[]) => {
      const ask = () => checkedRows(text, send(text, parameters.map(toParameter)))
      return inTurn(follow ? () => follow(name, ask) : ask) as Promise<Row[]>
    },
  })

/** The part of the driver that Drizzle uses. Through it, statements are prepared, which Drizzle does not ask for by itself. */
const driverForDrizzle = (send: Send, inTurn: InTurn, follow?: Follow): postgres.Sql => {
  const rowsOf = (text: string, sent: () => SentStatement) => {
    const ask = () => checkedRows(text, sent())
    return inTurn(follow ? () => follow(nameOfBuilt(text), ask) : ask)
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
