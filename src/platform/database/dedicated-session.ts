import type postgres from 'postgres'
import { openClient, targetOf } from './driver.js'

/**
 * A separate session with only the built-in types. It doesn't prepare statements, because most run once, and a
 * transaction pooler may be in between.
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
 * Runs long work in a separate session. The session's locks are released with it.
 * @param stopped aborts the work; unfinished work is rolled back
 */
export const inDedicatedSession = async <T>(
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

/** One transaction in a dedicated session, without timeouts, because the database's own are meant for requests. */
export const inLongTransaction = <T>(
  url: string,
  mode: string,
  stopped: AbortSignal | undefined,
  work: (tx: postgres.TransactionSql) => Promise<T>,
): Promise<T> =>
  inDedicatedSession(
    url,
    stopped,
    (sql) =>
      sql.begin(mode, async (tx) => {
        await withoutTimeouts(tx)
        return work(tx)
      }) as Promise<T>,
  )

export const withoutTimeouts = async (tx: postgres.TransactionSql): Promise<void> => {
  await tx`set local statement_timeout = 0`
  await tx`set local lock_timeout = 0`
  await tx`set local idle_in_transaction_session_timeout = 0`
  // Available since PostgreSQL 17.
  await tx`
    select set_config('transaction_timeout', '0', true)
    where current_setting('transaction_timeout', true) is not null`
  // The text form of timestamps depends on it.
  await tx`set local timezone = 'UTC'`
}

/**
 * Otherwise a statement would keep running and hold its locks after its client is gone. Some systems don't support
 * it.
 */
export const endWithClient = async (tx: postgres.TransactionSql): Promise<void> => {
  await tx
    .savepoint((sp) => sp`set local client_connection_check_interval = '1s'`)
    .catch((error: { code?: string }) => {
      if (error.code !== '22023') throw error
    })
}
