import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { drizzle } from 'drizzle-orm/postgres-js'
import { migrate as applyMigrations } from 'drizzle-orm/postgres-js/migrator'
import postgres from 'postgres'
import { projectRoot } from '../root.js'
import type { Database } from './client.js'
import { locks } from './locks.js'

const migrationsFolder = join(projectRoot, 'drizzle')

/** Brings the database to the schema of this version; of several instances that start at once one does it, the others wait. */
export const migrate = async (url: string): Promise<void> => {
  const client = postgres(url, { max: 1, onnotice: () => {}, connect_timeout: 10 })
  try {
    await client`select pg_advisory_lock(${locks.migration})`
    await applyMigrations(drizzle(client), { migrationsFolder })
  } finally {
    // Ending the session releases the lock.
    await client.end()
  }
}

/** When the newest migration that this version ships was made, as Drizzle's journal records it. */
const newestMigration: number = Math.max(
  ...JSON.parse(readFileSync(join(migrationsFolder, 'meta', '_journal.json'), 'utf8')).entries.map(
    (entry: { when: number }) => entry.when,
  ),
)

/** Whether the database answers and has every migration of this version. */
export const isSchemaCurrent = async (database: Database): Promise<boolean> => {
  const rows = await database.reserved.statement<{ newest: string | null }>(
    'select max(created_at) as newest from drizzle.__drizzle_migrations',
    [],
  )
  return Number(rows[0]?.newest) >= newestMigration
}
