import { drizzle } from 'drizzle-orm/postgres-js'
import postgres from 'postgres'
import { hasSeveralHosts } from './url.js'

export type SentStatement = ReturnType<postgres.Sql['unsafe']>

interface DriverOptions {
  url: string
  connections: number
  /** False behind a transaction pooler, which also takes no session settings. */
  prepare: boolean
  /** How long a statement waits for its answer before its connection is given up. */
  answerSeconds: number
  /** After so long a connection is made anew; without it, after 30 to 60 minutes. */
  lifeSeconds?: number | undefined
  /** Which of several hosts is meant. */
  role?: Role
}

type Role = 'primary' | 'standby'

/** The server gives up before the connection does. */
const sessionSettings = {
  TimeZone: 'UTC',
  statement_timeout: 5_000,
  lock_timeout: 2_000,
  idle_in_transaction_session_timeout: 10_000,
}

/** Of several hosts, only the primary is used; connections that it loses go to whichever is the primary then. */
export const targetOf = (url: string, role: Role = 'primary') =>
  hasSeveralHosts(url) ? { target_session_attrs: role } : {}

/** All connections of the service are made here. */
export const openClient = (url: string, options: postgres.Options<Record<string, never>>): postgres.Sql => {
  const client = postgres(url, options)
  requirePatched(client)
  return client
}

/** Connections, which are made when they are first needed, and made anew when they break. */
export const createDriver = ({
  url,
  connections,
  prepare,
  answerSeconds,
  lifeSeconds,
  role,
}: DriverOptions): postgres.Sql => {
  const options = {
    ...targetOf(url, role),
    max: connections,
    prepare,
    connect_timeout: 2,
    answer_timeout: answerSeconds,
    ...(lifeSeconds !== undefined && { max_lifetime: lifeSeconds }),
    backoff: (attempt: number) => Math.min(0.1 * 2 ** attempt, 1),
    onnotice: () => {},
    connection: { application_name: 'team-settings-cloud', ...(prepare && sessionSettings) },
  }
  const driver = openClient(url, options)
  // Drizzle sets here that dates and moments are read and written as texts.
  drizzle(driver)
  return driver
}

/** The number of the patch, which grows when the service comes to depend on more of it. */
const PATCH = 2

/** Without `patches/`, acknowledged writes can be lost, and a false server can get the password. */
const requirePatched = (driver: postgres.Sql): void => {
  if ((driver as { patched?: number }).patched === PATCH) return
  throw new Error(
    'The database driver in node_modules is not patched as this version needs it. Run: npm ci, and then, if npm runs no scripts: npx patch-package',
  )
}
