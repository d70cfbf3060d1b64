import type { PgDatabase } from 'drizzle-orm/pg-core'
import { drizzle, type PostgresJsQueryResultHKT } from 'drizzle-orm/postgres-js'
import type postgres from 'postgres'
import { checkedRows } from './answers.js'
import type { SentStatement } from './driver.js'
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

type Send = (text: string, parameters: unknown[]) => SentStatement

export const createDoor = (send: Send, inTurn: InTurn): Db =>
  Object.assign(drizzle(driverForDrizzle(send, inTurn)), {
    rows: <Row>({ text }: Statement<Row>, parameters: Parameter[]) =>
      inTurn(() => checkedRows(text, send(text, parameters.map(toParameter)))) as Promise<Row[]>,
  })

/** The part of the driver that Drizzle uses. Through it, statements are prepared, which Drizzle does not ask for by itself. */
const driverForDrizzle = (send: Send, inTurn: InTurn): postgres.Sql => {
  const driver = {
    options: { parsers: {}, serializers: {} },
    unsafe: (text: string, parameters: unknown[]) => ({
      // biome-ignore lint/suspicious/noThenProperty: Drizzle awaits what `unsafe` returns
      then: (ok: never, failed: never) =>
        inTurn(() => checkedRows(text, send(text, parameters))).then(ok, failed),
      values: () => inTurn(() => checkedRows(text, send(text, parameters).values() as never)),
    }),
  }
  return driver as unknown as postgres.Sql
}
