import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readMigrationFiles } from 'drizzle-orm/migrator'
import type postgres from 'postgres'
import { ConfigError } from '../../config.js'
import { OperatorError } from '../process/operator-error.js'
import { projectRoot } from '../process/root.js'
import { inDedicatedSession, inLongTransaction } from './dedicated-session.js'
import { locks } from './locks.js'
import { followMigration, type Say } from './migration-progress.js'
import { findDatabaseFault } from './requirements.js'

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
export const firstMigration = journal.entries.reduce((a, b) => (a.when < b.when ? a : b))

/**
 * Brings the database to the schema of this version; of several instances that start at once one does it, the others wait.
 * The lock is that of a transaction: behind a transaction pooler, a session is not ours to hold one in.
 * @param stopped aborts the work; unfinished work is rolled back
 * @param say receives a line now and then while the work takes long
 * @throws {OperatorError} when a newer version has migrated the database, or the service cannot use it
 */
export const migrate = async (url: string, stopped?: AbortSignal, say: Say = () => {}): Promise<void> => {
  const isDone = await inDedicatedSession(url, stopped, async (sql) => {
    await requireUsable(sql)
    return isCurrent(sql)
  })
  if (isDone) return
  await inLongTransaction(url, 'isolation level read committed', stopped, async (tx) => {
    // Otherwise a statement would keep running, and hold the lock, after its client has gone.
    await tx.savepoint((sp) => sp`set local client_connection_check_interval = '1s'`).catch(unlessUnsupported)
    const [lock] = await tx`select pg_try_advisory_xact_lock(${locks.migration}) as taken`
    if (!lock?.taken) {
      say('Another instance is migrating the database. This instance is waiting.')
      await tx`select pg_advisory_xact_lock(${locks.migration})`
    }
    if (!(await isCurrent(tx))) await applyMigrations(tx, { say })
  })
}

/** @throws {ConfigError} if the service cannot use this database */
export const requireUsable = async (sql: postgres.ISql): Promise<void> => {
  const fault = await findDatabaseFault(sql, firstMigration.when)
  if (fault) throw new ConfigError([`DATABASE_URL names ${fault.cause}. ${fault.remedy}`])
}

/** Some systems do not support it. */
const unlessUnsupported = (error: { code?: string }) => {
  if (error.code !== '22023') throw error
}

/**
 * Brings the schema to what it was after the migration made at `upTo`, in the transaction that it is given. What it notes
 * is as `drizzle-kit migrate` would write it.
 */
export const applyMigrations = async (
  tx: postgres.TransactionSql,
  { upTo = newestMigration.when, say = () => {} }: { upTo?: number; say?: Say } = {},
): Promise<void> => {
  const found = (await readNewestMigration(tx)) ?? 0
  await tx`create schema if not exists drizzle`
  await tx`
    create table if not exists drizzle.__drizzle_migrations (id serial primary key, hash text not null, created_at bigint)`
  const pending = readMigrationFiles({ migrationsFolder }).filter(
    ({ folderMillis }) => folderMillis > found && folderMillis <= upTo,
  )
  const progress = await followMigration(
    tx,
    pending.flatMap(({ sql }) => sql),
    say,
  )
  try {
    for (const { sql, hash, folderMillis } of pending) {
      for (const command of sql) await progress.run(() => tx.unsafe(command))
      await tx`insert into drizzle.__drizzle_migrations (hash, created_at) values (${hash}, ${folderMillis})`
    }
  } finally {
    progress.end()
  }
}

/** The newest migration of a database. @throws {OperatorError} when there is none, or this version does not know it */
export const readMigration = async (sql: postgres.ISql): Promise<Migration> => {
  const found = await readNewestMigration(sql)
  if (found === undefined) throw new OperatorError('The database has no tables of this service.')
  const migration = journal.entries.find(({ when }) => when === found)
  if (migration) return { tag: migration.tag, when: migration.when }
  throw newer(found)
}

/** @throws {OperatorError} when a newer version has migrated the database */
export const isCurrent = async (client: postgres.ISql): Promise<boolean> => {
  const found = await readNewestMigration(client)
  if (found !== undefined && found > newestMigration.when) throw newer(found)
  return found === newestMigration.when
}

/** When the newest migration of a database was made; undefined without any. */
export const readNewestMigration = async (sql: postgres.ISql): Promise<number | undefined> => {
  // `to_regclass` may not see what another session committed while this transaction waited for a lock.
  const tables = await sql`
    select from pg_tables where schemaname = 'drizzle' and tablename = '__drizzle_migrations'`
  if (tables.length === 0) return undefined
  const [row] = await sql<{ newest: string | null }[]>`
    select max(created_at)::text as newest from drizzle.__drizzle_migrations`
  return Number(row?.newest)
}

const newer = (found: number) =>
  new OperatorError(
    `The database has a newer schema, of ${toTime(found)}, than this version, whose newest migration is ${newestMigration.tag} of ${toTime(newestMigration.when)}: start the version that migrated it, or a newer one, or set DATABASE_URL or DATA_DIR to another database.`,
  )

const toTime = (when: number) => new Date(when).toISOString()
