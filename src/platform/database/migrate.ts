import { setTimeout as sleep } from 'node:timers/promises'
import type postgres from 'postgres'
import { ConfigError } from '../process/config-error.js'
import { OperatorError } from '../process/operator-error.js'
import { endWithClient, inDedicatedSession, withoutTimeouts } from './dedicated-session.js'
import { locks } from './locks.js'
import { type Run, readDone, runSteps, type WriteLine } from './migration-runner.js'
import { type Migration, migrations, newestMigration } from './migrations.js'
import { findDatabaseFault } from './requirements.js'

/** How often a waiting instance checks whether the migration is done. */
export const LOCK_POLL_MS = 500

/**
 * Migrates the database to this version's schema. If several instances start at once, one of them migrates and the
 * others wait. An empty database gets the whole schema in one transaction. A database in use is migrated step by step,
 * while instances of the previous version keep serving requests. The next start resumes an interrupted migration.
 * @param stopped aborts the migration and rolls back the unfinished step
 * @param writeLine receives a progress line now and then if the migration takes long
 * @throws {OperatorError} if a newer version has migrated the database, or the service can't use it
 */
export const migrate = (
  url: string,
  stopped?: AbortSignal,
  writeLine: WriteLine = () => {},
  shipped = migrations,
): Promise<void> =>
  inDedicatedSession(url, stopped, async (sql) => {
    await requireUsable(sql)
    for (let isFirst = true; !(await isCurrent(sql, shipped)); isFirst = false) {
      if (await withMigrationLock(sql, (alone) => migrateLocked({ url, stopped, writeLine }, alone, shipped)))
        return
      if (isFirst) writeLine('Another instance is migrating the database. This instance is waiting.')
      await sleep(LOCK_POLL_MS, undefined, stopped && { signal: stopped })
    }
  })

/**
 * Does the work unless another session is migrating. The lock belongs to a transaction, because behind a
 * transaction pooler, no session is ours to hold it in. No transaction waits for it, because an index built in the
 * meantime would wait for that transaction. @returns whether it did the work
 */
const withMigrationLock = (sql: postgres.Sql, work: (tx: postgres.TransactionSql) => Promise<void>) =>
  sql.begin('isolation level read committed', async (tx) => {
    const [lock] = await tx`select pg_try_advisory_xact_lock(${locks.migration}) as taken`
    if (!lock?.taken) return false
    await withoutTimeouts(tx)
    await endWithClient(tx)
    await work(tx)
    return true
  })

/** @param alone the transaction that holds the lock */
const migrateLocked = async (
  run: Omit<Run, 'sql' | 'requireMigrationLock'>,
  alone: postgres.TransactionSql,
  shipped: Migration[],
): Promise<void> => {
  if (await isCurrent(alone, shipped)) return
  if ((await readNewestMigration(alone)) === undefined) return applyMigrations(alone, { shipped })
  // Throws if the lock was lost. Uses the simple protocol: the extended protocol keeps the last statement's snapshot,
  // and a new index would wait for its end.
  const requireMigrationLock = () => alone.unsafe('select')
  await inDedicatedSession(run.url, run.stopped, async (sql) => {
    for (const { migration, done } of await readPending(sql, shipped))
      await runSteps({ ...run, sql, requireMigrationLock }, migration, done)
  })
}

/** The migrations that a database with tables lacks, and how many steps of each are done. */
export const readPending = async (
  sql: postgres.ISql,
  shipped = migrations,
): Promise<{ migration: Migration; done: number }[]> => {
  const found = (await readNewestMigration(sql)) ?? 0
  const done = await readDone(sql)
  return shipped
    .filter(({ when }) => when > found)
    .map((migration) => ({ migration, done: done.get(migration.when) ?? 0 }))
}

/** @throws {ConfigError} if the service can't use this database */
export const requireUsable = async (sql: postgres.ISql): Promise<void> => {
  const fault = await findDatabaseFault(sql)
  if (fault) throw new ConfigError([`DATABASE_URL names ${fault.cause}. ${fault.remedy}`])
}

/** Brings an unused database's schema to its state after the migration made at `upTo`, in the given transaction. */
export const applyMigrations = async (
  tx: postgres.TransactionSql,
  { upTo = Number.POSITIVE_INFINITY, shipped = migrations } = {},
): Promise<void> => {
  await tx`create schema if not exists drizzle`
  await tx`
    create table if not exists drizzle.__drizzle_migrations (id serial primary key, hash text not null, created_at bigint)`
  for (const { steps, hash, when } of shipped.filter((migration) => migration.when <= upTo)) {
    for (const command of steps.flatMap(({ commands }) => commands))
      await tx.unsafe(command.replace(/\bindex concurrently\b/i, 'index'))
    await tx`insert into drizzle.__drizzle_migrations (hash, created_at) values (${hash}, ${when})`
  }
}

/** A database's newest migration. @throws {OperatorError} if there is none, or this version doesn't know it */
export const readMigration = async (sql: postgres.ISql): Promise<Pick<Migration, 'tag' | 'when'>> => {
  await requireUsable(sql)
  const found = await readNewestMigration(sql)
  if (found === undefined) throw new OperatorError('The database has no tables of this service.')
  const migration = migrations.find(({ when }) => when === found)
  if (!migration) throw newer(found)
  return { tag: migration.tag, when: migration.when }
}

/** @throws {OperatorError} if a newer version has migrated the database */
export const isCurrent = async (sql: postgres.ISql, shipped = migrations): Promise<boolean> => {
  const found = await readNewestMigration(sql)
  const newest = shipped.at(-1)?.when ?? 0
  if (found !== undefined && found > newest) throw newer(found)
  return found === newest
}

/** The creation time of a database's latest migration. Undefined if there is none. */
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

/**
 * Describes the work of `migrate`, in lines for an operator.
 * @throws {OperatorError} if a newer version has migrated the database, or the service can't use it
 */
export const describePlan = (url: string, stopped?: AbortSignal, shipped = migrations): Promise<string[]> =>
  inDedicatedSession(url, stopped, async (sql) => {
    await requireUsable(sql)
    if (await isCurrent(sql, shipped))
      return [`The database is current: ${newestMigration.tag}. Nothing would run.`]
    if ((await readNewestMigration(sql)) === undefined)
      return ['The database has no tables of this service. All would be created in one transaction.']
    const sizes = await readSizes(sql)
    return (await readPending(sql, shipped)).flatMap(({ migration: { tag, steps }, done }) => [
      tag,
      ...steps
        .slice(done)
        .flatMap(({ kind, tables, commands }, n) => [
          `  ${done + n + 1}. ${[kind, tables.map((table) => `${table} (about ${count(sizes.get(table))} rows)`).join(', ')].join(' ').trim()}`,
          ...commands.map((command) => `     ${command.replaceAll('\n', '\n     ')}`),
        ]),
    ])
  })

/** An activity row's size in bytes with its header, for a table that was never analyzed. */
const BYTES_PER_ROW = 100

/** The planner's estimate of each table's rows. */
const readSizes = async (sql: postgres.ISql): Promise<Map<string, number>> => {
  const found = await sql<{ name: string; rows: number }[]>`
    select relname as name,
      (case when reltuples < 0 then pg_relation_size(oid) / ${BYTES_PER_ROW}::float8 else reltuples end)::float8 as rows
    from pg_class where relnamespace = to_regnamespace('public') and relkind in ('r', 'p')`
  return new Map(found.map(({ name, rows }) => [name, rows]))
}

const count = (rows = 0) => Math.round(rows).toLocaleString('en')
