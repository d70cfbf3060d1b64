/**
 * Measures the cost of each operation, in CPU time of the service and of PostgreSQL, in WAL and in rows, and calculates the
 * figures of docs/scale.md. Options: `--seconds 6` (per load), `--minutes 10` (between two flushes of a person),
 * `--team 20` (people in a workspace).
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Sql } from 'postgres'
import { retention } from '../src/features/personal-data/queries/purge.js'
import { addDays } from '../src/platform/time/days.js'
import {
  addOthers,
  addTeam,
  asLua,
  bearer,
  benchmark,
  cpuTimeOfServer,
  makeAdmin,
  memoryOf,
  numbersAsked,
  openSession,
  prepare,
  type SignedIn,
  say,
  waitForRollups,
  writeWrkScript,
  wrk,
} from './harness.js'
import { type Bytes, sumsOf, type Unit } from './sums.js'

const { seconds: SECONDS, minutes, team: people } = numbersAsked({ seconds: 6, minutes: 10, team: 20 })
const TEAMS = 10
/** The people of each team. They take turns, so that no one's hours fill up. */
const CALLERS = 20
/** Heartbeats of each caller, one every two minutes: more than the load sends, so that few are repeated. */
const HEARTBEATS = 120
const ROLLUPS = 20
const OLD_FLUSHES = 100_000

const ms = (microseconds: number) => (microseconds / 1_000).toFixed(2)

await benchmark(async (cleanUp) => {
  const setting = await prepare(cleanUp)
  const { service, signIn, database } = setting
  const { sql, backend } = await openSession(setting, cleanUp)
  const folder = await mkdtemp(join(tmpdir(), 'bench-units-'))
  cleanUp(() => rm(folder, { recursive: true }))

  const requests: Record<string, string[]> = {}
  const add = (name: string, ...[method, path, headers, body]: Parameters<typeof asLua>) => {
    requests[name] ??= []
    requests[name].push(asLua(method, path, headers, body))
  }
  const json = (value: unknown) => JSON.stringify(value)
  let today = ''
  const everyone: SignedIn[] = []
  const pushes: { admin: SignedIn; path: string }[] = []
  for (let team = 1; team <= TEAMS; team++) {
    const made = await addTeam(setting, team, { members: people })
    today = made.today
    const callers = await Promise.all(
      Array.from({ length: CALLERS }, (_, n) => signIn(`caller-${team}-${n}`)),
    )
    everyone.push(...callers)
    for (const { id } of callers) await makeAdmin(setting, made.workspaceId, id)
    const [admin] = callers
    if (admin) pushes.push({ admin, path: `/api/settings/team-${team}/web` })
    const board = `/api/team/dashboard?workspace=${made.workspaceId}`
    add('dashboard', 'GET', board, bearer(admin?.token))
    add(
      'dashboard of a year',
      'GET',
      `${board}&from=${addDays(today, -364)}&to=${today}`,
      bearer(admin?.token),
    )
    for (const { token } of callers) {
      for (let hour = 0; hour < 24; hour++) {
        const entries = ['web', 'docs', 'infra'].map((repo) => ({
          repo: `team-${team}/${repo}`,
          day: today,
          minutes: 1,
          hours: { [hour]: 1 },
        }))
        add('flush', 'POST', '/api/team/active-minutes', bearer(token), json({ flush_id: '@', entries }))
      }
      add('recording preferences', 'GET', '/api/me/recording', bearer(token))
    }
  }
  everyone.forEach(({ token }, index) => {
    const project = `team-${Math.floor(index / CALLERS) + 1}/web`
    for (let beat = 0; beat < HEARTBEATS; beat++) {
      const time = Date.parse(addDays(today, -1)) / 1_000 + beat * 120
      const body = json([{ time, project, entity: '/home/ada/app.ts', type: 'file' }])
      add('heartbeat', 'POST', '/api/wakatime/v1/users/current/heartbeats.bulk', bearer(token), body)
    }
  })
  for (const { admin, path } of pushes) {
    const reply = await fetch(service.url + path, {
      method: 'PUT',
      headers: {
        ...bearer(admin.token),
        'Content-Type': 'application/json',
        'X-Repohost-Token': admin.repohostToken,
      },
      body: json({ settings: { 'ext.blob': 'x'.repeat(2_000) } }),
    })
    if (!reply.ok) throw new Error(await reply.text())
    const etag = reply.headers.get('etag') ?? ''
    add('pull', 'GET', path, bearer(admin.token))
    add('pull, unchanged', 'GET', path, { ...bearer(admin.token), 'If-None-Match': etag })
  }
  // After the pulls, because it changes what they find.
  for (const { admin, path } of pushes) {
    const body = json({ settings: { 'ext.blob': `@${'x'.repeat(2_000)}` } })
    add('push', 'PUT', path, { ...bearer(admin.token), 'X-Repohost-Token': admin.repohostToken }, body)
  }
  for (const { repohostToken } of everyone)
    add('sign-in', 'POST', '/api/auth/verify', {}, json({ repohost_token: repohostToken }))
  await addOthers(setting, 0)

  const measured = async <T>(work: () => Promise<T>) => {
    const [before] = await sql`select pg_current_wal_lsn() as lsn`
    const cpu = await cpuTimeOfServer(backend)
    const result = await work()
    const used = (await cpuTimeOfServer(backend)) - cpu
    const [row] = await sql`select pg_wal_lsn_diff(pg_current_wal_lsn(), ${before?.lsn})::float8 as wal`
    return { result, cpu: used, wal: Number(row?.wal) }
  }
  const units: Record<string, Unit> = {}
  for (const [name, some] of Object.entries(requests)) {
    const script = await writeWrkScript(folder, name.replaceAll(/\W/g, '-'), some)
    await wrk(service, {}, { seconds: 2, connections: 8, script })
    const { result, cpu, wal } = await measured(() =>
      wrk(service, {}, { seconds: SECONDS, connections: 8, script }),
    )
    const { requests: count } = result
    units[name] = { service: result.cpu, database: cpu / count, wal: wal / count }
  }

  const memory = (await memoryOf(service.pid, 'VmHWM')) * 2 ** 20
  await sql`vacuum analyze`
  const bytes = await bytesPerRow(sql)

  // Every flush makes the day due for a rollup, so each period has one.
  const rollups = await measured(() =>
    ownCpu(async () => {
      for (let round = 0; round < ROLLUPS; round++) {
        await sql`insert into changed_days (workspace_id, day) select id, ${today} from workspaces on conflict do nothing`
        await waitForRollups(database)
      }
    }),
  )
  const rolledUp = ROLLUPS * TEAMS
  units['rollup of a day'] = {
    service: rollups.result / rolledUp,
    database: rollups.cpu / rolledUp,
    wal: rollups.wal / rolledUp,
  }
  await sql`
    insert into flushes (user_id, flush_id, body_hash, answer, created_at)
    select ${everyone[0]?.id ?? ''}, 'old-' || n, repeat('x', 64), repeat('x', 60), now() - interval '40 days'
    from generate_series(1, ${OLD_FLUSHES}) n`
  const deletion = await measured(() =>
    ownCpu(async () => {
      for (const { step } of retention) while (await database.transaction((tx) => step(tx, 500, '')));
    }),
  )
  units['deletion of an old answer'] = {
    service: deletion.result / OLD_FLUSHES,
    database: deletion.cpu / OLD_FLUSHES,
    wal: deletion.wal / OLD_FLUSHES,
  }

  say('\n| of each | service, ms of CPU | PostgreSQL, ms of CPU | WAL, bytes |\n|---|---|---|---|')
  for (const [name, unit] of Object.entries(units))
    say(`| ${name} | ${ms(unit.service)} | ${ms(unit.database)} | ${unit.wal.toFixed(0)} |`)
  say(
    `\nBytes: a row of activity ${bytes.activity.toFixed(0)}, and of its rollups ${bytes.rollups.toFixed(0)}; an answer ${bytes.flushes.toFixed(0)}; the service's memory at most ${(memory / 1e6).toFixed(0)} MB`,
  )
  say('')
  for (const line of sumsOf(units, { ...bytes, memory }, { minutes, team: people })) say(line)
})

/** The CPU time of this process in microseconds. It does the work of an instance here. */
async function ownCpu(work: () => Promise<unknown>) {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return user + system
}

/** The size of a row on disk in bytes, including its share of the indexes. */
async function bytesPerRow(sql: Sql): Promise<Omit<Bytes, 'memory'>> {
  const found = await sql<{ name: string; bytes: number; rows: number }[]>`
    select relname as name, pg_total_relation_size(oid)::float8 as bytes, reltuples::float8 as rows from pg_class
    where relnamespace = 'public'::regnamespace and relkind = 'r'`
  const of = (name: string) => found.find((table) => table.name === name) ?? { bytes: 0, rows: 1 }
  const each = (name: string) => of(name).bytes / of(name).rows
  const rollups = found.filter(({ name }) => /^activity_.*(days|months|people|hours)$/.test(name))
  return {
    activity: each('activity'),
    rollups: rollups.reduce((sum, { bytes }) => sum + bytes, 0) / of('activity').rows,
    flushes: each('flushes'),
  }
}
