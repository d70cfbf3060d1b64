import { drizzle } from 'drizzle-orm/postgres-js'
import postgres from 'postgres'
import { OperatorError } from '../process/operator-error.js'
import { hasSeveralHosts } from './url.js'

export type SentStatement = ReturnType<postgres.Sql['unsafe']>

interface DriverOptions {
  url: string
  connections: number
  /** False behind a transaction pooler, which also takes no session settings. */
  prepare: boolean
  /** How long a statement waits for its response before its connection is closed. */
  responseSeconds: number
  /** A connection's lifetime. By default, 30 to 60 minutes. */
  lifeSeconds?: number | undefined
  /** Multiplies the server's timeouts. */
  timeoutFactor: number
}

/** The server gives up before the connection does. */
const sessionSettings = (timeoutFactor: number) => ({
  TimeZone: 'UTC',
  statement_timeout: 5_000 * timeoutFactor,
  lock_timeout: 2_000 * timeoutFactor,
  idle_in_transaction_session_timeout: 10_000 * timeoutFactor,
})

/** With several hosts, only the primary is used. After a failover, new connections go to the new primary. */
export const targetOf = (url: string) =>
  hasSeveralHosts(url) ? { target_session_attrs: 'primary' as const } : {}

/** Opens all of the service's connections. */
export const openClient = (url: string, options: postgres.Options<Record<string, never>>): postgres.Sql => {
  const client = postgres(url, options)
  requirePatched(client)
  return client
}

/** A pool. Connections open when they are first needed, and reopen when they break. */
export const createDriver = ({
  url,
  connections,
  prepare,
  responseSeconds,
  lifeSeconds,
  timeoutFactor,
}: DriverOptions): postgres.Sql => {
  const options = {
    ...targetOf(url),
    max: connections,
    prepare,
    // Without prepared statements, a statement is described before it runs. A pooler that has just handed the server's
    // session to another client (PgBouncer before 1.21) loses the response, so each statement waits for the previous
    // one.
    ...(!prepare && { max_pipeline: 0 }),
    connect_timeout: 2 * timeoutFactor,
    answer_timeout: responseSeconds * timeoutFactor,
    ...(lifeSeconds !== undefined && { max_lifetime: lifeSeconds }),
    backoff: (attempt: number) => Math.min(0.1 * 2 ** attempt, 1),
    onnotice: () => {},
    connection: { application_name: 'team-settings-cloud', ...(prepare && sessionSettings(timeoutFactor)) },
  }
  const driver = openClient(url, options)
  // Drizzle configures the driver to read and write dates as text.
  drizzle(driver)
  return driver
}

/** The version of the patch in `patches/`. */
const PATCH = 2

/** Without `patches/`, acknowledged writes can be lost, and an impostor server can get the password. */
const requirePatched = (driver: postgres.Sql): void => {
  if ((driver as { patched?: number }).patched === PATCH) return
  throw new OperatorError(
    'The database driver in node_modules lacks a patch that this version needs, because npm ran no install scripts. Run: npx patch-package',
  )
}
