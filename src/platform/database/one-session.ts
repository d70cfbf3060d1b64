import type postgres from 'postgres'
import { openClient, targetOf } from './driver.js'

/**
 * A session of its own, which knows no types but the built-in ones. Nothing is prepared: most statements come once, and a
 * transaction pooler may stand before the database.
 */
export const openSession = (url: string, connectSeconds = 10): postgres.Sql =>
  openClient(url, {
    ...targetOf(url),
    max: 1,
    onnotice: () => {},
    connect_timeout: connectSeconds,
    fetch_types: false,
    prepare: false,
  })

/**
 * Work that takes as long as it takes, in a session of its own. The locks of the session end with it.
 * @param stopped ends it; what was not done to the end is not done at all
 */
export const inOneSession = async <T>(
  url: string,
  stopped: AbortSignal | undefined,
  work: (sql: postgres.Sql) => Promise<T>,
): Promise<T> => {
  stopped?.throwIfAborted()
  const sql = openSession(url)
  const giveUp = () => sql.end({ timeout: 0 })
  stopped?.addEventListener('abort', giveUp)
  try {
    return await work(sql)
  } finally {
    stopped?.removeEventListener('abort', giveUp)
    await sql.end({ timeout: 1 })
  }
}

/** The same in one transaction, for which there are no time-outs: those of the database are for requests. */
export const inOneTransaction = <T>(
  url: string,
  mode: string,
  stopped: AbortSignal | undefined,
  work: (tx: postgres.TransactionSql) => Promise<T>,
): Promise<T> =>
  inOneSession(
    url,
    stopped,
    (sql) =>
      sql.begin(mode, async (tx) => {
        await tx`set local statement_timeout = 0`
        await tx`set local lock_timeout = 0`
        await tx`set local idle_in_transaction_session_timeout = 0`
        // There since PostgreSQL 17.
        await tx`
          select set_config('transaction_timeout', '0', true)
          where current_setting('transaction_timeout', true) is not null`
        // The text of a moment depends on it.
        await tx`set local timezone = 'UTC'`
        return work(tx)
      }) as Promise<T>,
  )
