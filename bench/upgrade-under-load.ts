/**
 * Upgrades of a filled database of release 1.0.0 under load: failed requests, the longest wait of a write, and whether the sums are
 * equal. Without `--old`, flushes are the statements of that release without its second try after a conflict, two instances
 * start each upgrade, and an example migration with a step of every kind comes last. `--old ../built-1.0.0` names a checkout of it that is installed and built: then two of its instances serve
 * behind HAProxy and are replaced one after the other, as `docs/operate.md` says.
 * Options: `--times 2`, `--rows 200000`, and `--rate 80`, `--deadlock 1000` and `--reader 60` (seconds) for one case alone.
 */
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import postgres from 'postgres'
import { startRepohost } from '../demo/repohost.js'
import { copyPreviousActivity } from '../src/features/previous/copy.js'
import { connect } from '../src/platform/database/client.js'
import { migrate, readPending } from '../src/platform/database/migrate.js'
import { addDays } from '../src/platform/time/days.js'
import { startBalancer } from '../test/balancer.js'
import { RELEASE, readReleased, shipped } from '../test/migrated.js'
import { freePort } from '../test/process.js'
import {
  benchmark,
  createWorkspace,
  expectOk,
  freshDatabase,
  type SignedIn,
  say,
  send,
  startDatabase,
  startTheService,
} from './harness.js'

const WORKSPACES = 50
/** People's time zones in turn, whose days begin and end at other hours than UTC's. */
const TIMEZONES = ['America/Los_Angeles', 'Asia/Tokyo', 'Pacific/Auckland']
const CONNECTIONS = 20
/** How long flushes run before and after the upgrade. */
const AROUND_MS = 1_500
/** The people who flush through HTTP are in this many teams. */
const TEAMS = 10
const MEMBERS = 5
/** The handbook's value for a proxy that checks every second. */
const NOTICED_MS = 2_500

const option = { type: 'string' } as const
const { values } = parseArgs({
  options: { times: option, rows: option, rate: option, deadlock: option, reader: option, old: option },
})
const times = Number(values.times ?? 2)
const rows = Number(values.rows ?? 200_000)
const rates = values.rate ? [Number(values.rate)] : [15, 80, 150]
const deadlocks = values.deadlock ? [Number(values.deadlock)] : [1_000, 500]
const readers = values.reader ? [Number(values.reader)] : [0, 60]
const old = values.old && resolve(values.old)

/** A database that is upgraded while it's in use. */
interface Installation {
  /** Adds a minute. @throws if that fails */
  flush(n: number): Promise<void>
  upgrade(): Promise<unknown>
  end(): Promise<unknown>
}

const fill = async (url: string, deadlockMs: number) => {
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  const [{ count = 0 } = {}] = await sql<{ count: number }[]>`select count(*)::int as count from workspaces`
  await sql`
    update users set timezone = (${TIMEZONES}::text[])[1 + numbered.n % ${TIMEZONES.length}]
    from (select id, (row_number() over (order by id))::int as n from users where repohost_id is not null) numbered
    where numbered.id = users.id`
  await sql`
    insert into activity (workspace_id, user_id, day, repo_key, minutes)
    select w.id, u.id, '2000-01-01'::date + day, 'acme/filled', 1
    from workspaces w, generate_series(1, ${Math.round(rows / count)}) day,
      (select id, row_number() over (order by id) as n, count(*) over () as people from users where repohost_id is not null) u
    where day % u.people = u.n - 1`
  const [filled] = await sql<{ minutes: number }[]>`
    select sum(minutes)::int as minutes from activity where repo_key = 'acme/filled'`
  await sql`analyze`
  await sql.unsafe(`alter database ${new URL(url).pathname.slice(1)} set deadlock_timeout = ${deadlockMs}`)
  await sql.end()
  return filled?.minutes
}

/** Copies activity of the release to the tables of this version. Two instances may do so at once. */
const copy = async (url: string) => {
  const database = connect({ url, poolSize: 4, prepare: true })
  await copyPreviousActivity(database).finally(() => database.close())
}

/** Locks of the release's flush, in its order: rows of activity first, then what refers to the workspace. */
const installStatements = async (url: string): Promise<Installation> => {
  const admin = postgres(url, { max: 1, onnotice: () => {} })
  await admin.unsafe(await readReleased(`${RELEASE}.sql.gz`))
  await admin`
    insert into public.workspaces (id, name, idle_window_minutes)
    select gen_random_uuid(), 'Team ' || n, 5 from generate_series(1, ${WORKSPACES}) n`
  await admin.end()
  const sql = postgres(url, {
    max: CONNECTIONS,
    onnotice: () => {},
    connection: { lock_timeout: 2_000, statement_timeout: 5_000 },
  })
  const workspaces = await sql<{ id: string }[]>`select id from workspaces order by id`
  const [user] = await sql<{ id: string }[]>`
    select id from users where repohost_id is not null limit 1`
  const userId = user?.id ?? ''
  return {
    async flush(n) {
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
    },
    upgrade: () =>
      Promise.all(
        [1, 2].map(async () => {
          await migrate(url, undefined, undefined, shipped)
          await copy(url)
        }),
      ),
    end: () => sql.end(),
  }
}

/** Two instances of the release behind a balancer. */
const installInstances = async (url: string, root: string): Promise<Installation> => {
  const ends: (() => unknown)[] = []
  const repohost = await startRepohost()
  ends.unshift(() => repohost.close())
  const ports = [await freePort(), await freePort()]
  const start = (port: number | undefined, of?: string) =>
    startTheService(
      url,
      { REPOHOST_API_URL: repohost.url, PORT: String(port), SHUTDOWN_DELAY_MS: String(NOTICED_MS) },
      of,
    )
  const instances = [await start(ports[0], root), await start(ports[1], root)]
  ends.unshift(() => Promise.all(instances.map(({ stop }) => stop())))
  const front = await startBalancer({ teardown: (end) => ends.unshift(end) }, ports)
  const signIn = async (_: unknown, n: number): Promise<SignedIn> => {
    const { token: repohostToken } = repohost.addUser(`person-${n}`)
    const { token } = JSON.parse(
      await expectOk(send(front, 'POST', '/api/auth/verify', undefined, { repohost_token: repohostToken })),
    )
    return { id: '', token, repohostToken }
  }
  const people = await Promise.all(Array.from({ length: TEAMS * MEMBERS }, signIn))
  const teams = await Promise.all(
    Array.from({ length: TEAMS }, (_, n) =>
      createWorkspace(front, people.slice(n * MEMBERS, (n + 1) * MEMBERS)),
    ),
  )
  const today = new Date().toISOString().slice(0, 10)
  return {
    async flush(n) {
      const person = n % people.length
      const { token } = people[person] ?? {}
      // Occasionally, an admin changes the workspace itself.
      if (n % (5 * MEMBERS) === 0) {
        const path = `/api/team/workspaces/${teams[Math.floor(person / MEMBERS)]}/settings`
        await expectOk(send(front, 'PATCH', path, token, { idle_window_minutes: 5 + (n % 2) }))
      }
      const day = addDays(today, -(n % 7))
      const entries = [{ repo: 'acme/written', day, minutes: 1 }]
      await expectOk(
        send(front, 'POST', '/api/team/active-minutes', token, { flush_id: `flush-${n}`, entries }),
      )
    },
    async upgrade() {
      for (const [n, port] of ports.entries()) {
        await instances[n]?.stop()
        instances[n] = await start(port)
        await sleep(NOTICED_MS)
      }
    },
    async end() {
      for (const end of ends) await end()
    },
  }
}

const startFlushes = ({ flush }: Installation, url: string, rate: number) => {
  const failures: string[] = []
  const flushes: Promise<void>[] = []
  let [done, longestMs, isOver] = [0, 0, false]
  const start = performance.now()
  const pace = async () => {
    for (let n = 0; !isOver; n++) {
      // Waiting for a turn counts, so that a standstill shows in every call that it delays.
      const due = start + (n * 1_000) / rate
      await sleep(Math.max(0, due - performance.now()))
      flushes.push(
        flush(n).then(
          () => {
            done++
            longestMs = Math.max(longestMs, performance.now() - due)
          },
          (error) =>
            void failures.push(`${error.code ?? ''} ${error.message.replace(/"request_id".*/, '…')}`.trim()),
        ),
      )
    }
  }
  const pacing = pace()
  return async () => {
    isOver = true
    await pacing
    await Promise.all(flushes)
    // What the release has written since the copy.
    await copy(url)
    const sql = postgres(url, { max: 1 })
    const [sums] = await sql`
      select coalesce(sum(minutes) filter (where repo_key = 'acme/written'), 0)::int as written,
        sum(minutes) filter (where repo_key = 'acme/filled')::int as filled from daily_activity`
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
    const installation = await (old ? installInstances(url, old) : installStatements(url))
    const filled = await fill(url, deadlockMs)
    const endFlushes = startFlushes(installation, url, rate)
    const endReader = await startReader(url, readerSeconds)
    await sleep(AROUND_MS)
    const start = performance.now()
    const outcome = await installation.upgrade().then(
      () => undefined,
      (error: Error) => error.message,
    )
    const tookMs = performance.now() - start
    await endReader()
    await sleep(AROUND_MS)
    const flushed = await endFlushes()
    await installation.end()
    const sql = postgres(url, { max: 1 })
    const left = await readPending(sql, old ? undefined : shipped)
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
        for (const text of new Set(said)) say(`  ${said.filter((other) => other === text).length} × ${text}`)
      }
})
