/**
 * Upgrades of a filled database of release 0.1.0 while flushes go on, as statements of that release and without its second try after
 * a conflict: failed flushes, the longest wait of one, and whether the sums are equal. Two instances start each upgrade.
 * Options: `--times 2`, `--rows 200000`, and `--rate 80`, `--deadlock 1000` and `--reader 60` (seconds) for one case alone.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import postgres from 'postgres'
import { migrate, readPending } from '../src/platform/database/migrate.js'
import { readReleased } from '../test/migrated.js'
import { benchmark, freshDatabase, say, startDatabase } from './harness.js'

const RELEASE = '0008_account.sql.gz'
const WORKSPACES = 50
const CONNECTIONS = 20
/** How long flushes go on before and after. */
const AROUND_MS = 1_500

const option = { type: 'string' } as const
const { values } = parseArgs({
  options: { times: option, rows: option, rate: option, deadlock: option, reader: option },
})
const times = Number(values.times ?? 2)
const rows = Number(values.rows ?? 200_000)
const rates = values.rate ? [Number(values.rate)] : [15, 80, 150]
const deadlocks = values.deadlock ? [Number(values.deadlock)] : [1_000, 100]
const readers = values.reader ? [Number(values.reader)] : [0, 60]

const fill = async (url: string, deadlockMs: number) => {
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  await sql.unsafe(await readReleased(RELEASE))
  await sql`set search_path = public`
  await sql`
    insert into workspaces (id, name, idle_window_minutes)
    select gen_random_uuid(), 'Team ' || n, 5 from generate_series(1, ${WORKSPACES}) n`
  await sql`
    insert into activity (workspace_id, user_id, day, repo_key, minutes)
    select w.id, u.id, '2000-01-01'::date + n, 'acme/filled', 1
    from workspaces w, (select id from users where repohost_id is not null limit 1) u, generate_series(1, ${Math.round(rows / WORKSPACES)}) n`
  const [filled] = await sql<{ minutes: number }[]>`
    select sum(minutes)::int as minutes from activity where repo_key = 'acme/filled'`
  await sql`analyze`
  await sql.unsafe(`alter database ${new URL(url).pathname.slice(1)} set deadlock_timeout = ${deadlockMs}`)
  await sql.end()
  return filled?.minutes
}

/** What a flush of the release locks, in its order: rows of activity first, then what refers to the workspace. */
const startFlushes = async (url: string, rate: number) => {
  const sql = postgres(url, {
    max: CONNECTIONS,
    onnotice: () => {},
    connection: { lock_timeout: 2_000, statement_timeout: 5_000 },
  })
  const workspaces = await sql<{ id: string }[]>`select id from workspaces order by id`
  const [user] = await sql<{ id: string }[]>`select id from users where repohost_id is not null limit 1`
  const userId = user?.id ?? ''
  const flush = async (n: number) => {
    const { id = '' } = workspaces[n % workspaces.length] ?? {}
    await sql.begin(async (tx) => {
      await tx`
        insert into activity (workspace_id, user_id, day, repo_key, minutes)
        values (${id}, ${userId}, ${`2026-01-${10 + (n % 8)}`}, 'acme/written', 1)
        on conflict (workspace_id, user_id, day, repo_key) do update set minutes = activity.minutes + 1`
      await tx`insert into stale_days (workspace_id, day) values (${id}, '2026-01-10')`
      await tx`select name from workspaces where id = ${id} for key share`
      if (n % 5 === 0) await tx`update workspaces set name = name where id = ${id}`
      await tx`
        insert into flushes (user_id, flush_id, body_hash, answer) values (${userId}, gen_random_uuid(), '', '')`
    })
  }
  const failures: string[] = []
  const flushes: Promise<void>[] = []
  let [done, longestMs, isOver] = [0, 0, false]
  const start = performance.now()
  const pace = async () => {
    for (let n = 0; !isOver; n++) {
      // Waiting for its turn counts as waiting, so that a standstill is seen by all whom it delays.
      const due = start + (n * 1_000) / rate
      await sleep(Math.max(0, due - performance.now()))
      flushes.push(
        flush(n).then(
          () => {
            done++
            longestMs = Math.max(longestMs, performance.now() - due)
          },
          (error) => void failures.push(`${error.code} ${error.message}`),
        ),
      )
    }
  }
  const pacing = pace()
  return async () => {
    isOver = true
    await pacing
    await Promise.all(flushes)
    const [sums] = await sql`
      select coalesce(sum(minutes) filter (where repo_key = 'acme/written'), 0)::int as written,
        sum(minutes) filter (where repo_key = 'acme/filled')::int as filled from activity`
    await sql.end()
    return { failures, done, longestMs, written: sums?.written, filled: sums?.filled }
  }
}

/** A transaction that has read every table, as a backup does. */
const startReader = async (url: string, seconds: number) => {
  if (seconds === 0) return async () => {}
  const sql = postgres(url, { max: 1, connection: { application_name: 'a-long-report' } })
  const reading = sql.begin('isolation level repeatable read', async (tx) => {
    const tables = await tx<{ name: string }[]>`
      select tablename as name from pg_tables where schemaname = 'public'`
    for (const { name } of tables) await tx`select 1 from ${tx(name)} limit 1`
    await sleep(seconds * 1_000)
  })
  return async () => {
    await reading
    await sql.end()
  }
}

await benchmark(async (cleanUp) => {
  const server = await startDatabase()
  cleanUp(() => server.stop())
  say(
    'flushes/s  deadlock_timeout  reader  succeeded  flushes  failed  longest wait  sums equal  upgrade took',
  )
  const upgradeOnce = async (rate: number, deadlockMs: number, readerSeconds: number) => {
    const url = await freshDatabase(server.url, 'upgraded')
    const filled = await fill(url, deadlockMs)
    const endFlushes = await startFlushes(url, rate)
    const endReader = await startReader(url, readerSeconds)
    await sleep(AROUND_MS)
    const start = performance.now()
    const outcome = await Promise.all([migrate(url), migrate(url)]).then(
      () => undefined,
      (error: Error) => error.message,
    )
    const tookMs = performance.now() - start
    await endReader()
    await sleep(AROUND_MS)
    const flushed = await endFlushes()
    const sql = postgres(url, { max: 1 })
    const left = await readPending(sql)
    await sql.end()
    return {
      ...flushed,
      outcome,
      tookMs,
      isDone: outcome === undefined && left.length === 0,
      isEqual: flushed.written === flushed.done && flushed.filled === filled,
    }
  }
  for (const readerSeconds of readers)
    for (const deadlockMs of deadlocks)
      for (const rate of rates) {
        const runs: Awaited<ReturnType<typeof upgradeOnce>>[] = []
        for (let n = 0; n < times; n++) runs.push(await upgradeOnce(rate, deadlockMs, readerSeconds))
        const sum = (of: (run: (typeof runs)[number]) => number) =>
          runs.reduce((total, run) => total + of(run), 0)
        const most = (of: (run: (typeof runs)[number]) => number) => Math.round(Math.max(...runs.map(of)))
        const cells = [
          rate,
          `${deadlockMs} ms`,
          `${readerSeconds} s`,
          `${sum(({ isDone }) => Number(isDone))} of ${times}`,
          sum(({ done }) => done),
          sum(({ failures }) => failures.length),
          `${most(({ longestMs }) => longestMs)} ms`,
          runs.every(({ isEqual }) => isEqual) ? 'yes' : 'no',
          `${most(({ tookMs }) => tookMs / 1_000)} s`,
        ]
        say(cells.join('  '))
        const said = runs.flatMap(({ outcome, failures }) => [...(outcome ? [outcome] : []), ...failures])
        for (const text of new Set(said)) say(`  ${text}`)
      }
})
