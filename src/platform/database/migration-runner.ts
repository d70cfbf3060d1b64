/**
 * Runs the steps of a migration while instances of the previous version serve requests. A step that does not get its lock in a
 * moment lets the requests behind it through, and tries again, for as long as it takes.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type postgres from 'postgres'
import { OperatorError } from '../process/operator-error.js'
import { endWithClient, inDedicatedSession, withoutTimeouts } from './dedicated-session.js'
import { isLockConflict } from './failures.js'
import type { Step } from './migration-plan.js'
import type { Say } from './migration-progress.js'

/** How long requests may have to wait behind a step that waits for its lock. */
const LOCK_MS = 200
/** For a step behind which no one waits. */
const HARMLESS_LOCK_MS = 5_000
/** An autovacuum ends for whoever has waited for it this much longer than `deadlock_timeout`. */
const VACUUM_MS = 300
const MOST_LOCK_MS = 1_500
/** How long requests have the table for themselves between two tries. */
const PAUSE_MS = 1_000
const SAY_EVERY_MS = 3_000
/** How many of those that hold a lock are named. */
const HOLDERS_NAMED = 3

/** A migration that is not done yet. */
export interface Pending {
  tag: string
  when: number
  hash: string
  steps: Step[]
}

/** Where migrations run, and who is told. */
export interface Run {
  url: string
  sql: postgres.Sql
  stopped: AbortSignal | undefined
  say: Say
}

/** How many statements of unfinished migrations are done, by when the migration was made. */
export const readDone = async (sql: postgres.ISql): Promise<Map<number, number>> => {
  const tables = await sql`
    select from pg_tables where schemaname = 'drizzle' and tablename = 'migration_steps'`
  if (tables.length === 0) return new Map()
  const rows = await sql<{ migration: string; done: number }[]>`
    select migration::text, done from drizzle.migration_steps`
  return new Map(rows.map(({ migration, done }) => [Number(migration), done]))
}

export const beginMigration = async (sql: postgres.Sql, { when }: Pending): Promise<void> => {
  await sql`
    create table if not exists drizzle.migration_steps (migration bigint primary key, done integer not null)`
  await sql`insert into drizzle.migration_steps values (${when}, 0) on conflict do nothing`
}

/** Does a step, for as often as it takes, and notes that it is done. */
export const runStep = async (run: Run, migration: Pending, step: Step): Promise<void> => {
  const since = performance.now()
  let said = Number.NEGATIVE_INFINITY
  let holders: Holder[] = []
  for (;;) {
    try {
      if (step.index) await changeIndex(run, step, step.index)
      await commitStep(run.sql, migration, step, holders)
      return
    } catch (error) {
      if (!isLockConflict(error)) throw error
      holders = await readHolders(run.sql, step)
      const now = performance.now()
      if (now - said >= SAY_EVERY_MS) {
        said = now
        run.say(waitingFor(migration, step, now - since, holders))
      }
      await sleep(PAUSE_MS * (0.5 + Math.random()), undefined, run.stopped && { signal: run.stopped })
    }
  }
}

/** Less than `deadlock_timeout`, so that no request is ended because of this step. */
const lockMsOf = (step: Step, holders: Holder[], deadlockMs: number): number => {
  if (step.locks.every(({ mode }) => mode === 'share update exclusive')) return HARMLESS_LOCK_MS
  const isVacuum = holders.length > 0 && holders.every(({ kind }) => kind === 'autovacuum worker')
  if (isVacuum && deadlockMs + VACUUM_MS <= MOST_LOCK_MS) return deadlockMs + VACUUM_MS
  return Math.max(1, Math.min(LOCK_MS, Math.floor(deadlockMs / 2)))
}

const commitStep = async (
  sql: postgres.Sql,
  { tag, when, hash, steps }: Pending,
  step: Step,
  holders: Holder[],
): Promise<void> => {
  const [setting] = await sql<{ ms: number }[]>`
    select setting::int as ms from pg_settings where name = 'deadlock_timeout'`
  const lockMs = lockMsOf(step, holders, setting?.ms ?? 0)
  const work = async (tx: postgres.TransactionSql) => {
    await withoutTimeouts(tx)
    await endWithClient(tx)
    await tx`select set_config('lock_timeout', ${String(lockMs)}, true)`
    // On a cluster, its nodes lock as well.
    await tx`
      select set_config('citus.propagate_set_commands', 'local', true) from pg_extension where extname = 'citus'`
    if (step.index || (step.constraint && (await hasConstraint(tx, step.constraint)))) return 0
    let changed = 0
    for (const command of step.commands) changed = (await tx.unsafe(command)).count
    return changed
  }
  const note = async (tx: postgres.TransactionSql) => {
    const isLast = step === steps.at(-1)
    const noted = isLast
      ? await tx`delete from drizzle.migration_steps where migration = ${when} and done = ${step.from}`
      : await tx`
          update drizzle.migration_steps set done = ${step.upTo} where migration = ${when} and done = ${step.from}`
    if (noted.count !== 1)
      throw new OperatorError(
        `Another instance has gone on with the migration ${tag} meanwhile. Start again.`,
      )
    if (isLast)
      await tx`insert into drizzle.__drizzle_migrations (hash, created_at) values (${hash}, ${when})`
  }
  const mode = 'isolation level read committed'
  while (step.repeats && (await sql.begin(mode, work)) > 0);
  await sql.begin(mode, async (tx) => {
    await work(tx)
    await note(tx)
  })
}

const hasConstraint = async (tx: postgres.TransactionSql, name: string) => {
  const found = await tx`
    select from pg_constraint where conname = ${name} and connamespace = to_regnamespace('public')`
  return found.length > 0
}

/**
 * Makes or drops an index outside of a transaction. It waits for all transactions that may still read without it, in which
 * no one waits for it. One that was interrupted leaves an index that is not valid.
 */
const changeIndex = async (
  run: Run,
  { commands }: Step,
  { name, wanted }: NonNullable<Step['index']>,
): Promise<void> => {
  const { sql } = run
  const [found] = await sql<{ valid: boolean }[]>`
    select indisvalid as valid from pg_index where indexrelid = to_regclass(${`public.${name}`})`
  if (wanted ? found?.valid : !found) return
  const settings = ['statement_timeout', 'lock_timeout']
  for (const setting of settings) await sql.unsafe(`set ${setting} = 0`)
  const [session] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`
  const watch = watchWaiting(run, name, session?.pid ?? 0)
  try {
    if (wanted && found) await sql.unsafe(`drop index concurrently "${name}"`)
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

const columns = `pid, application_name as application, backend_type as kind,
  extract(epoch from clock_timestamp() - coalesce(query_start, xact_start))::float8 as seconds`

const readHolders = async (sql: postgres.Sql, { locks }: Step): Promise<Holder[]> => {
  if (locks.length === 0) return []
  const relations = locks.map(({ relation }) => relation)
  return sql<Holder[]>`
    select distinct on (a.xact_start, a.pid) ${sql.unsafe(columns.replaceAll('pid,', 'a.pid,'))}
    from pg_locks l join pg_stat_activity a on a.pid = l.pid
    where l.granted and a.pid <> pg_backend_pid()
      and l.relation in (select oid from pg_class where relname in ${sql(relations)} and relnamespace = to_regnamespace('public'))
    order by a.xact_start limit ${HOLDERS_NAMED}`
}

/** Says now and then whom the index waits for. Asks in a session of its own, for whose end the index does not wait. */
const watchWaiting = (run: Run, index: string, pid: number) =>
  setInterval(() => {
    const ask = inDedicatedSession(run.url, run.stopped, async (sql) => {
      const holders = await sql<Holder[]>`
        select ${sql.unsafe(columns)} from pg_stat_activity where pid = any(pg_blocking_pids(${pid}))
        order by xact_start limit ${HOLDERS_NAMED}`
      if (holders.length > 0)
        run.say(`The index ${index} waits for ${list(holders)}. Reads and writes go on meanwhile.`)
    })
    // The next time says more.
    ask.catch(() => {})
  }, SAY_EVERY_MS)

const waitingFor = ({ tag }: Pending, { locks }: Step, ms: number, holders: Holder[]): string => {
  const names = locks.map(({ relation }) => relation).join(' and ')
  const who = holders.length === 0 ? 'short transactions have it in turn' : `it is held by ${list(holders)}`
  return `The migration ${tag} waits for its lock on ${names}, for ${Math.round(ms / 1_000)} s so far: ${who}. Requests go on, and it tries again.`
}

const list = (holders: Holder[]): string =>
  holders
    .map(({ pid, application, kind, seconds }) => {
      const name = application || kind || 'of another user'
      const age = seconds === null ? '' : `, whose query began ${Math.round(seconds)} s ago`
      return `process ${pid} (${name}${age})`
    })
    .join(', ')
