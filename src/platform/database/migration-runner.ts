/**
 * Runs the steps of a migration while instances of the previous version serve requests. A step that doesn't get its
 * lock quickly lets the requests behind it through and tries again, for as long as it takes.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type postgres from 'postgres'
import { OperatorError } from '../process/operator-error.js'
import { endWithClient, inDedicatedSession, withoutTimeouts } from './dedicated-session.js'
import { isLockConflict } from './failures.js'
import type { Migration, Step } from './migrations.js'

/** The longest that requests may queue behind a step waiting for its lock. */
const LOCK_MS = 200
/** PostgreSQL cancels an autovacuum for a process that has waited this much longer than `deadlock_timeout`. */
const VACUUM_MS = 300
const MAX_LOCK_MS = 1_500
/** How long requests have the table to themselves between attempts. */
const PAUSE_MS = 1_000
const REPORT_INTERVAL_MS = 3_000
/** How many lock holders a message names. */
const MAX_HOLDERS_LISTED = 3

/** Receives a line. */
export type WriteLine = (line: string) => void

/** Where migrations run, and who gets reports. */
export interface Run {
  url: string
  sql: postgres.Sql
  /** Throws if another instance may be migrating too. */
  requireMigrationLock: () => Promise<unknown>
  stopped: AbortSignal | undefined
  writeLine: WriteLine
}

/** How many steps of each unfinished migration are done, by the migration's timestamp. */
export const readDone = async (sql: postgres.ISql): Promise<Map<number, number>> => {
  const tables = await sql`
    select from pg_tables where schemaname = 'drizzle' and tablename = 'migration_steps'`
  if (tables.length === 0) return new Map()
  const rows = await sql<{ migration: string; done: number }[]>`
    select migration::text, done from drizzle.migration_steps`
  return new Map(rows.map(({ migration, done }) => [Number(migration), done]))
}

/** @param done how many of its steps are done */
export const runSteps = async (run: Run, migration: Migration, done: number): Promise<void> => {
  await run.sql`
    create table if not exists drizzle.migration_steps (migration bigint primary key, done integer not null)`
  await run.sql`insert into drizzle.migration_steps values (${migration.when}, 0) on conflict do nothing`
  for (const [n, step] of migration.steps.entries()) {
    if (n < done) continue
    await run.requireMigrationLock()
    const name = `step ${n + 1} of ${migration.steps.length} of the migration ${migration.tag}`
    if (step.kind !== 'lock')
      run.writeLine(`Migrating the database: ${name} (${[step.kind, ...step.tables].join(' ')}).`)
    await runStep(run, step, name, (tx) => note(tx, migration, n))
  }
}

/** Runs a step as many times as it takes, and records that it is done. */
const runStep = async (
  run: Run,
  step: Step,
  name: string,
  note: (tx: postgres.TransactionSql) => Promise<void>,
): Promise<void> => {
  const since = performance.now()
  let said = Number.NEGATIVE_INFINITY
  let holders: Holder[] = []
  const work = async (tx: postgres.TransactionSql) => {
    let changed = 0
    for (const command of step.commands) changed = (await tx.unsafe(command)).count
    return changed
  }
  for (;;) {
    try {
      if (step.kind === 'concurrently') await runOutsideTransaction(run, step, name)
      if (step.kind === 'backfill') while ((await withShortLockTimeout(run.sql, holders, work)) > 0);
      await withShortLockTimeout(run.sql, holders, async (tx) => {
        if (step.kind === 'lock') await work(tx)
        await note(tx)
      })
      return
    } catch (error) {
      if (!isLockConflict(error)) throw error
      holders = await readHolders(run.sql, step.tables)
      const now = performance.now()
      if (now - said >= REPORT_INTERVAL_MS) {
        said = now
        const who =
          holders.length === 0 ? 'short transactions have it in turn' : `it is held by ${list(holders)}`
        run.writeLine(
          `The ${name} waits for its lock on ${step.tables.join(' and ')}, for ${Math.round((now - since) / 1_000)} s so far: ${who}. Requests continue, and it tries again.`,
        )
      }
      await sleep(PAUSE_MS * (0.5 + Math.random()), undefined, run.stopped && { signal: run.stopped })
    }
  }
}

const note = async (tx: postgres.TransactionSql, { tag, when, hash, steps }: Migration, n: number) => {
  const isLast = n === steps.length - 1
  const noted = isLast
    ? await tx`delete from drizzle.migration_steps where migration = ${when} and done = ${n}`
    : await tx`update drizzle.migration_steps set done = ${n + 1} where migration = ${when} and done = ${n}`
  if (noted.count !== 1)
    throw new OperatorError(
      `Another instance has continued the migration ${tag} in the meantime. Start again.`,
    )
  if (isLast) await tx`insert into drizzle.__drizzle_migrations (hash, created_at) values (${hash}, ${when})`
}

/** A transaction that waits for a lock for less than `deadlock_timeout`, so that no request is ended because of it. */
const withShortLockTimeout = async <T>(
  sql: postgres.Sql,
  holders: Holder[],
  work: (tx: postgres.TransactionSql) => Promise<T>,
): Promise<T> => {
  const [{ deadlockMs = 0 } = {}] = await sql<{ deadlockMs: number }[]>`
    select setting::int as "deadlockMs" from pg_settings where name = 'deadlock_timeout'`
  const isVacuum = holders.length > 0 && holders.every(({ kind }) => kind === 'autovacuum worker')
  const lockMs =
    isVacuum && deadlockMs + VACUUM_MS <= MAX_LOCK_MS
      ? deadlockMs + VACUUM_MS
      : Math.max(1, Math.min(LOCK_MS, Math.floor(deadlockMs / 2)))
  return sql.begin('isolation level read committed', async (tx) => {
    await withoutTimeouts(tx)
    await endWithClient(tx)
    await tx`select set_config('lock_timeout', ${String(lockMs)}, true)`
    // On a cluster, the nodes take locks as well.
    await tx`
      select set_config('citus.propagate_set_commands', 'local', true) from pg_extension where extname = 'citus'`
    return work(tx)
  }) as Promise<T>
}

/** Building an index waits for all transactions that may still read without it, but nothing waits for the index. */
const runOutsideTransaction = async (run: Run, { commands }: Step, name: string): Promise<void> => {
  const { sql } = run
  const settings = ['statement_timeout', 'lock_timeout']
  for (const setting of settings) await sql.unsafe(`set ${setting} = 0`)
  const [{ pid = 0 } = {}] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`
  const watch = setInterval(() => {
    // Runs in a separate session, which the index doesn't wait for.
    const ask = inDedicatedSession(run.url, run.stopped, async (other) => {
      const holders = await other<Holder[]>`
        select ${other.unsafe(columns)} from pg_stat_activity a where pid = any(pg_blocking_pids(${pid}))
        order by xact_start limit ${MAX_HOLDERS_LISTED}`
      if (holders.length > 0) run.writeLine(`The ${name} waits for ${list(holders)}. Requests continue.`)
    })
    // The next report tries again.
    ask.catch(() => {})
  }, REPORT_INTERVAL_MS)
  try {
    for (const command of commands) await sql.unsafe(command)
  } finally {
    clearInterval(watch)
    for (const setting of settings) await sql.unsafe(`reset ${setting}`)
  }
}

interface Holder {
  pid: number
  application: string
  kind: string
  seconds: number | null
}

const columns = `a.pid, application_name as application, backend_type as kind,
  extract(epoch from clock_timestamp() - coalesce(query_start, xact_start))::float8 as seconds`

const readHolders = async (sql: postgres.Sql, tables: string[]): Promise<Holder[]> => {
  if (tables.length === 0) return []
  return sql<Holder[]>`
    select distinct on (a.xact_start, a.pid) ${sql.unsafe(columns)}
    from pg_locks l join pg_stat_activity a on a.pid = l.pid
    where l.granted and a.pid <> pg_backend_pid()
      and l.relation in (select oid from pg_class where relname in ${sql(tables)} and relnamespace = to_regnamespace('public'))
    order by a.xact_start limit ${MAX_HOLDERS_LISTED}`
}

const list = (holders: Holder[]): string =>
  holders
    .map(({ pid, application, kind, seconds }) => {
      const name = application || kind || 'of another user'
      const age = seconds === null ? '' : `, whose query began ${Math.round(seconds)} s ago`
      return `process ${pid} (${name}${age})`
    })
    .join(', ')
