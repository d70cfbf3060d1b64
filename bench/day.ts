/**
 * Simulates a working day of a company. The service and its database share one core and 1 GiB of memory.
 * Options: `--developers 1000`, `--speed 20` (times faster than life), `--minutes 480` (of the day; the last ones), `--team 20`
 * (people in a workspace), `--cores 1` (0: as many as there are). Developers sign in, pull, ask whether their settings have
 * changed, flush every ten minutes or send heartbeats every two, push, and view dashboards. Each team uploads commits once an
 * hour. Rollups, checkpoints and autovacuum run as much faster as the day.
 */
import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { ROLL_UP_MS, ROLL_UP_TODAY_MS } from '../src/features/rollups/jobs.js'
import { rollUp } from '../src/features/rollups/roll-up.js'
import { addDays } from '../src/platform/time/days.js'
import { confine, leaveCore } from './confine.js'
import {
  addTeam,
  bearer,
  benchmark,
  cpuTime,
  cpuTimeOfServer,
  makeAdmin,
  memoryOf,
  memoryOfServer,
  numbersAsked,
  openSession,
  percentile,
  prepare,
  type SignedIn,
  say,
  startDatabase,
  waitForRollups,
} from './harness.js'

const {
  developers: DEVELOPERS,
  speed: SPEED,
  minutes: MINUTES,
  team: TEAM,
  cores: CORES,
} = numbersAsked({ developers: 1_000, speed: 20, minutes: 480, team: 20, cores: 1 })

const MEMORY_MIB = 1_024
const MINUTE_MS = 60_000
const DAYS_BEFORE = 90
/** One developer in this many. */
const WITH_HEARTBEATS = 10
const WITH_DASHBOARDS = 20
const WHO_PUSH = 10
const WHO_SIGN_IN = 30
const REPORTS = 10
/** As many connections as a proxy would keep open. */
const CONNECTIONS = 64

interface Developer extends SignedIn {
  workspaceId: string
  owner: string
  admin: boolean
  etag: string
}

interface Call {
  name: string
  method: string
  path: string
  headers?: Record<string, string>
  body?: unknown
}

/** Something that happens in a minute of the day. Events of a minute start at once. */
interface Event {
  minute: number
  developer: Developer
  call: (developer: Developer, minute: number) => Call
}

/** The last minute of the day is now, so that no time lies ahead. */
const end = Date.now()
const at = (minute: number): Date => new Date(end - (MINUTES - minute) * MINUTE_MS)
const dayOf = (minute: number): string => at(minute).toISOString().slice(0, 10)

const repoOf = (owner: string, minute: number): string => {
  const names = ['web', 'docs', 'infra']
  return `${owner}/${names[Math.floor(minute / 40) % names.length]}`
}

const flush = (developer: Developer, minute: number): Call => ({
  name: 'flush',
  method: 'POST',
  path: '/api/team/active-minutes',
  body: {
    flush_id: `day-${minute.toFixed(3)}`,
    entries: [
      {
        repo: repoOf(developer.owner, minute),
        day: dayOf(minute),
        minutes: 8,
        hours: { [at(minute).getUTCHours()]: 8 },
      },
    ],
  },
})

const heartbeat = (developer: Developer, minute: number): Call => ({
  name: 'heartbeat',
  method: 'POST',
  path: '/api/wakatime/v1/users/current/heartbeats.bulk',
  body: [
    {
      time: at(minute).getTime() / 1_000,
      project: repoOf(developer.owner, minute),
      entity: '/home/ada/app.ts',
      type: 'file',
    },
  ],
})

const settingsOf = (developer: Developer) => `/api/settings/${developer.owner}/web`
const pull = (developer: Developer): Call => ({ name: 'pull', method: 'GET', path: settingsOf(developer) })
const pullUnchanged = (developer: Developer): Call => ({
  name: 'pull with ETag',
  method: 'GET',
  path: settingsOf(developer),
  headers: { 'If-None-Match': developer.etag },
})
const recording = (): Call => ({ name: 'recording preferences', method: 'GET', path: '/api/me/recording' })
const signIn = ({ repohostToken }: Developer): Call => ({
  name: 'sign-in',
  method: 'POST',
  path: '/api/auth/verify',
  body: { repohost_token: repohostToken },
})
const push = (developer: Developer, minute: number): Call => ({
  name: 'push',
  method: 'PUT',
  path: settingsOf(developer),
  headers: { 'X-Repohost-Token': developer.repohostToken },
  body: { settings: { 'ext.minute': minute, 'ext.blob': 'x'.repeat(2_000) } },
})
const dashboard =
  (days: number) =>
  (developer: Developer, minute: number): Call => ({
    name: `dashboard, ${days} days`,
    method: 'GET',
    path: `/api/team/dashboard?workspace=${developer.workspaceId}&from=${addDays(dayOf(minute), 1 - days)}&to=${dayOf(minute)}`,
  })

const setUp = async (setting: Parameters<typeof addTeam>[0]) => {
  const people: Developer[] = []
  for (let first = 0; first < DEVELOPERS; first += TEAM) {
    const size = Math.min(TEAM, DEVELOPERS - first)
    const index = first / TEAM + 1
    const owner = `team-${index}`
    const { workspaceId } = await addTeam(setting, index, { days: DAYS_BEFORE, members: size })
    for (let n = 0; n < size; n++) {
      const person = await setting.signIn(`dev-${first + n}`)
      await makeAdmin(setting, workspaceId, person.id)
      people.push({ ...person, workspaceId, owner, admin: n === 0, etag: '' })
    }
  }
  return people
}

/** Evenly spread, and the same on each run. */
const eventsOf = (people: Developer[]): Event[] => {
  const events: Event[] = []
  people.forEach((developer, index) => {
    const spread = (width: number) => (((index + 1) * 0.618_034) % 1) * width
    const every = (period: number, call: Event['call'], offset = spread(period)) => {
      for (let minute = offset; minute < MINUTES; minute += period) events.push({ minute, developer, call })
    }
    const some = (times: number, call: Event['call']) => every(MINUTES / times, call, spread(MINUTES / times))
    if (index % WHO_SIGN_IN === 0) some(1, signIn)
    some(2, pull)
    every(60, pullUnchanged)
    every(60, recording, spread(60))
    if (index % WITH_HEARTBEATS === 0) every(2, heartbeat)
    else every(10, flush)
    if (index % WHO_PUSH === 0) some(1, push)
    if (index % WITH_DASHBOARDS === 0) {
      some(4, dashboard(30))
      some(1, dashboard(DAYS_BEFORE))
    }
    if (developer.admin) {
      const team = people.filter(({ workspaceId }) => workspaceId === developer.workspaceId)
      every(60, (_, minute) => ({
        name: 'upload of commits',
        method: 'POST',
        path: '/api/team/commits',
        body: {
          workspace: developer.workspaceId,
          day: dayOf(minute),
          members: team.map((_, n) => ({
            login: `dev-${index + n}`,
            repos: [{ repo: `${developer.owner}/web`, count: Math.floor(minute / 60) + 1 }],
          })),
        },
      }))
    }
  })
  return events.sort((a, b) => a.minute - b.minute)
}

const mib = (bytes: number) => (bytes / 2 ** 20).toFixed(0)

await benchmark(async (cleanUp) => {
  // In the day, checkpoints are as far apart as in the embedded database, where PostgreSQL allows it.
  const checkpointSeconds = Math.max(30, Math.round(1_800 / SPEED))
  const setting = await prepare(cleanUp, {}, () => startDatabase({ checkpointSeconds }))
  const { service, database } = setting
  const { sql, backend } = await openSession(setting, cleanUp)
  const people = await setUp(setting)
  await waitForRollups(database)
  await sql.unsafe(`alter system set autovacuum_naptime = '${Math.max(1, Math.round(60 / SPEED))}s'`)
  await sql`select pg_reload_conf()`
  await sql`vacuum analyze`
  await sql`checkpoint`

  if (CORES > 0) {
    say(await confine([service.pid, backend], { cores: CORES, mib: MEMORY_MIB }, cleanUp))
    await leaveCore(CORES)
  }
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  cleanUp(async () => agent.destroy())
  const ask = (token: string, { method, path, headers, body }: Call) =>
    new Promise<{ status: number; etag: string }>((resolve, reject) => {
      const payload = body === undefined ? undefined : JSON.stringify(body)
      const json = payload === undefined ? {} : { 'Content-Type': 'application/json' }
      const options = { method, agent, headers: { ...bearer(token), ...json, ...headers } }
      const sent = request(service.url + path, options, (response) => {
        response.resume()
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, etag: response.headers.etag ?? '' }),
        )
      })
      sent.on('error', reject)
      sent.end(payload)
    })
  for (const developer of people.filter(({ admin }) => admin)) {
    const { etag } = await ask(developer.token, push(developer, -1))
    for (const one of people) if (one.workspaceId === developer.workspaceId) one.etag = etag
  }

  const events = eventsOf(people)
  say(
    `${people.length} developers in teams of ${TEAM}, ${MINUTES} minutes of a day at ${SPEED} times its speed: ${events.length} requests`,
  )
  const times: { name: string; ms: number }[] = []
  const errors = new Map<string, number>()
  const sizes = async () => {
    const [row] = await sql`
      select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 as lsn, pg_database_size(current_database())::float8 as bytes,
        (select wal_fpi from pg_stat_wal)::float8 as images`
    return { lsn: Number(row?.lsn), bytes: Number(row?.bytes), images: Number(row?.images) }
  }
  const cpuTimes = async () => ({
    service: await cpuTime(service.pid),
    database: await cpuTimeOfServer(backend),
  })
  const before = await sizes()
  const start = performance.now()
  const waitUntil = (minute: number) => sleep(start + (minute * MINUTE_MS) / SPEED - performance.now())

  let isOver = false
  /** In production, an instance of the service does this. Its share of the CPU time is small. */
  const keepRollups = async () => {
    for (let pass = 1; !isOver; pass++) {
      await waitUntil((pass * ROLL_UP_MS) / MINUTE_MS)
      const isTodayDue = pass % (ROLL_UP_TODAY_MS / ROLL_UP_MS) === 0
      await rollUp(database, { before: isTodayDue ? undefined : new Date().toISOString().slice(0, 10) })
    }
  }
  const play = async ({ developer, call, minute }: Event) => {
    const made = call(developer, minute)
    const since = performance.now()
    const { status, etag } = await ask(developer.token, made).catch(() => ({ status: 0, etag: '' }))
    times.push({ name: made.name, ms: performance.now() - since })
    if (status !== 200 && status !== 202 && status !== 304)
      errors.set(`${made.name}: ${status}`, (errors.get(`${made.name}: ${status}`) ?? 0) + 1)
    if (made.name === 'pull' && etag) developer.etag = etag
  }
  const rollups = keepRollups()
  say(
    '\n| until minute | requests | p50, ms | p99, ms | errors | CPU of the service | of PostgreSQL | memory of the service, MiB | of PostgreSQL |\n|---|---|---|---|---|---|---|---|---|',
  )
  let known = await cpuTimes()
  let next = 0
  for (let part = 1; part <= REPORTS; part++) {
    const until = (MINUTES * part) / REPORTS
    const [from, since] = [times.length, performance.now()]
    const pending: Promise<void>[] = []
    for (let event = events[next]; event && event.minute < until; event = events[++next]) {
      await waitUntil(event.minute)
      pending.push(play(event))
    }
    await waitUntil(until)
    await Promise.all(pending)
    const now = await cpuTimes()
    const share = (used: number) => `${((used / (performance.now() - since) / 1_000) * 100).toFixed(0)} %`
    const ms = times.slice(from).map((time) => time.ms)
    const failed = [...errors.values()].reduce((sum, count) => sum + count, 0)
    say(
      `| ${until.toFixed(0)} | ${ms.length} | ${percentile(ms, 0.5).toFixed(1)} | ${percentile(ms, 0.99).toFixed(1)} | ${failed} | ${share(now.service - known.service)} | ${share(now.database - known.database)} | ${(await memoryOf(service.pid, 'VmRSS')).toFixed(0)} | ${(await memoryOfServer(backend)).toFixed(0)} |`,
    )
    known = now
  }
  isOver = true
  const after = await sizes()
  await rollups

  say('\n| request | times | p50, ms | p99, ms | longest |\n|---|---|---|---|---|')
  for (const name of [...new Set(times.map((time) => time.name)), 'all']) {
    const ms = times.filter((time) => name === 'all' || time.name === name).map((time) => time.ms)
    say(
      `| ${name} | ${ms.length} | ${percentile(ms, 0.5).toFixed(1)} | ${percentile(ms, 0.99).toFixed(1)} | ${Math.max(...ms).toFixed(0)} |`,
    )
  }
  for (const [what, count] of errors) say(`${count} errors: ${what}`)
  say(
    `\nWAL ${mib(after.lsn - before.lsn)} MiB, with ${after.images - before.images} images of pages after checkpoints; the database grew by ${mib(after.bytes - before.bytes)} MiB`,
  )
})
