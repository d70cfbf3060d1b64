import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { drizzle } from 'drizzle-orm/postgres-js'
import { migrate as applyMigrations } from 'drizzle-orm/postgres-js/migrator'
import postgres from 'postgres'
import { OperatorError } from '../runtime/operator-error.js'
import { projectRoot } from '../runtime/root.js'
import { targetOf } from './driver.js'
import { locks } from './locks.js'

const migrationsFolder = join(projectRoot, 'drizzle')

interface Migration {
  tag: string
  /** When it was made, which is what a database remembers of it. */
  when: number
}

const journal: { entries: Migration[] } = JSON.parse(
  readFileSync(join(migrationsFolder, 'meta', '_journal.json'), 'utf8'),
)
/** The newest migration that this version ships. */
export const newestMigration = journal.entries.reduce((a, b) => (a.when > b.when ? a : b))

/**
 * Brings the database to the schema of this version; of several instances that start at once one does it, the others wait.
 * @param stopped ends it; what was not done to the end is not done at all
 * @throws {OperatorError} when a newer version has migrated the database
 */
export const migrate = async (url: string, stopped?: AbortSignal): Promise<void> => {
  stopped?.throwIfAborted()
  const client = postgres(url, {
    ...targetOf(url),
    max: 1,
    onnotice: () => {},
    connect_timeout: 10,
    fetch_types: false,
  })
  const giveUp = () => client.end({ timeout: 0 })
  stopped?.addEventListener('abort', giveUp)
  try {
    // Else a statement whose client is gone would go on to its end, and keep the lock.
    await client`set client_connection_check_interval = '1s'`.catch(unlessUnsupported)
    if (await isCurrent(client)) return
    await client`select pg_advisory_lock(${locks.migration})`
    if (await isCurrent(client)) return
    await applyMigrations(drizzle(client), { migrationsFolder })
  } finally {
    stopped?.removeEventListener('abort', giveUp)
    // Ending the session releases the lock.
    await client.end({ timeout: 1 })
  }
}

/** Not on every system can a server notice it. */
const unlessUnsupported = (error: { code?: string }) => {
  if (error.code !== '22023') throw error
}

/** @throws {OperatorError} when a newer version has migrated the database */
export const isCurrent = async (client: postgres.Sql): Promise<boolean> => {
  const [table] = await client`select to_regclass('drizzle.__drizzle_migrations') as name`
  if (table?.name === null) return false
  const [row] = await client<{ newest: string | null }[]>`
    select max(created_at)::text as newest from drizzle.__drizzle_migrations`
  const found = Number(row?.newest)
  if (found > newestMigration.when) {
    throw new OperatorError(
      `The database has a newer schema, of ${toTime(found)}, than this version knows, whose newest is ${newestMigration.tag} of ${toTime(newestMigration.when)}: start the version that migrated it, or a newer one, or set DATABASE_URL or DATA_DIR to another database.`,
    )
  }
  return found === newestMigration.when
}

const toTime = (when: number) => new Date(when).toISOString()
