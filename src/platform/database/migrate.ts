import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { readMigrationFiles } from 'drizzle-orm/migrator'
import type postgres from 'postgres'
import { ConfigError } from '../../config.js'
import { OperatorError } from '../process/operator-error.js'
import { projectRoot } from '../process/root.js'
import { endWithClient, inDedicatedSession, withoutTimeouts } from './dedicated-session.js'
import { locks } from './locks.js'
import { planSteps } from './migration-plan.js'
import { followMigration, readSizes, rowsOf, type Say } from './migration-progress.js'
import { replacements } from './migration-replacements.js'
import { beginMigration, type Pending, type Run, readDone, runStep } from './migration-runner.js'
import { findDatabaseFault } from './requirements.js'

const migrationsFolder = join(projectRoot, 'drizzle')

/** How soon a waiting instance asks again whether the migration is done. */
export const ASK_AGAIN_MS = 500

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
 * An empty database gets it in one transaction. One in use gets it step by step, while instances of the previous version
 * serve requests; an interrupted migration goes on at the next start.
 * @param stopped aborts the work; an unfinished step is rolled back
 * @param say receives a line now and then while the work takes long
 * @throws {OperatorError} when a newer version has migrated the database, or the service cannot use it
 */
export const migrate = (url: string, stopped?: AbortSignal, say: Say = () => {}): Promise<void> =>
  inDedicatedSession(url, stopped, async (sql) => {
    await requireUsable(sql)
    for (let isFirst = true; !(await isCurrent(sql)); isFirst = false) {
      if (await whileAlone(sql, (alone) => migrateAlone({ url, stopped, say }, alone))) return
      if (isFirst) say('Another instance is migrating the database. This instance is waiting.')
      await sleep(ASK_AGAIN_MS, undefined, stopped && { signal: stopped })
    }
  })

/**
 * Does the work if no other session migrates. The lock is that of a transaction: behind a transaction pooler, a session is not
 * ours to hold one in. No transaction waits for it: an index that is made meanwhile would wait for that transaction.
 * @returns whether it did
 */
const whileAlone = (sql: postgres.Sql, work: (tx: postgres.TransactionSql) => Promise<void>) =>
  sql.begin('isolation level read committed', async (tx) => {
    const [lock] = await tx`select pg_try_advisory_xact_lock(${locks.migration}) as taken`
    if (!lock?.taken) return false
    await withoutTimeouts(tx)
    await endWithClient(tx)
    await work(tx)
    return true
  })

/** @param alone the transaction that holds the lock */
const migrateAlone = async (run: Omit<Run, 'sql'>, alone: postgres.TransactionSql): Promise<void> => {
  if (await isCurrent(alone)) return
  if ((await readNewestMigration(alone)) === undefined) return applyMigrations(alone)
  await inDedicatedSession(run.url, run.stopped, async (sql) => {
    const pending = await readPending(sql)
    const sizes = await readSizes(sql)
    const progress = followMigration(
      pending.flatMap(({ steps }) => steps.map((step) => rowsOf(step, sizes))),
      run.say,
    )
    try {
      for (const migration of pending) {
        await beginMigration(sql, migration)
        for (const step of migration.steps) {
          // Fails when the lock was lost. In the simple protocol, because the last statement of the other one keeps its snapshot, for
          // whose end a new index would wait.
          await alone.unsafe('select')
          await progress.run(() => runStep({ ...run, sql }, migration, step))
        }
      }
    } finally {
      progress.end()
    }
  })
}

/** What has to be done to a database that has tables: migrations, and the steps that are left of each. */
export const readPending = async (sql: postgres.ISql): Promise<Pending[]> => {
  const found = (await readNewestMigration(sql)) ?? 0
  const done = await readDone(sql)
  return readFiles(found).map(({ sql: statements, hash, folderMillis: when }) => {
    const { tag = '' } = journal.entries.find((entry) => entry.when === when) ?? {}
    const steps = planSteps(statements.map((statement) => replacements.get(statement.trim()) ?? statement))
    return { tag, when, hash, steps: steps.filter(({ from }) => from >= (done.get(when) ?? 0)) }
  })
}

const readFiles = (after: number, upTo = newestMigration.when) =>
  readMigrationFiles({ migrationsFolder }).filter(
    ({ folderMillis }) => folderMillis > after && folderMillis <= upTo,
  )

/** @throws {ConfigError} if the service cannot use this database */
export const requireUsable = async (sql: postgres.ISql): Promise<void> => {
  const fault = await findDatabaseFault(sql, firstMigration.when)
  if (fault) throw new ConfigError([`DATABASE_URL names ${fault.cause}. ${fault.remedy}`])
}

/**
 * Brings the schema of a database that no one uses to what it was after the migration made at `upTo`, in the transaction that it
 * is given. What it notes is as `drizzle-kit migrate` would write it.
 */
export const applyMigrations = async (
  tx: postgres.TransactionSql,
  { upTo = newestMigration.when }: { upTo?: number } = {},
): Promise<void> => {
  const found = (await readNewestMigration(tx)) ?? 0
  await tx`create schema if not exists drizzle`
  await tx`
    create table if not exists drizzle.__drizzle_migrations (id serial primary key, hash text not null, created_at bigint)`
  for (const { sql, hash, folderMillis } of readFiles(found, upTo)) {
    for (const command of sql) await tx.unsafe(command)
    await tx`insert into drizzle.__drizzle_migrations (hash, created_at) values (${hash}, ${folderMillis})`
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
