import type postgres from 'postgres'
import { inOneSession } from '../db/one-session.js'

/** Runs `work` in a transaction; `stopped` ends it, and nothing of it is then done. */
export const inOneTransaction = <T>(
  url: string,
  isolation: string,
  work: (tx: postgres.TransactionSql) => Promise<T>,
  stopped: AbortSignal,
): Promise<T> =>
  inOneSession(
    url,
    stopped,
    (sql) =>
      sql.begin(isolation, async (tx) => {
        // What the database is set to is for requests; and the text of a moment depends on the zone.
        await tx`set local statement_timeout = 0`
        await tx`set local idle_in_transaction_session_timeout = 0`
        await tx`set local timezone = 'UTC'`
        return work(tx)
      }) as Promise<T>,
  )

/** What the rows of tables add up to, by `table.column`. */
export const sumUp = async (
  tx: postgres.TransactionSql,
  columns: string[],
): Promise<Record<string, string>> => {
  const sums: Record<string, string> = {}
  for (const name of columns) {
    const [table = '', column = ''] = name.split('.')
    const [row] = await tx<{ sum: string }[]>`
      select coalesce(sum(${tx(column)}), 0)::text as sum from ${tx(table)}`
    sums[name] = row?.sum ?? '0'
  }
  return sums
}
