/**
 * Everyday operations against another version, in turns. The argument is a checkout of that version, installed and built.
 * Options: `--rounds 5`, `--seconds 3` (of each load), `--clients 1,8,64`, `--only flush,heartbeat,large`.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import {
  asLua,
  bearer,
  benchmark,
  cpuTimeOfServer,
  createWorkspace,
  expectOk,
  leaveAtRest,
  median,
  memoryOf,
  openSession,
  prepare,
  push,
  type SignedIn,
  type Started,
  say,
  send,
  writeWrkScript,
  wrk,
} from './harness.js'

const TEAMS = 10
/** The people of each team. They take turns, so that no one's hours fill up. */
const CALLERS = 20
const HISTORY_DAYS = 28
const DAY = 86_400_000

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '3' },
    clients: { type: 'string', default: '1,8,64' },
    only: { type: 'string' },
  },
})
const [root] = positionals
if (root === undefined) throw new Error('The argument is a checkout of the other version')
const only = values.only?.split(',')

const dayBefore = (days: number) => new Date(Date.now() - days * DAY).toISOString().slice(0, 10)
const today = dayBefore(0)
const json = (value: unknown) => JSON.stringify(value)
const settings = { 'ext.blob': 'x'.repeat(2_000) }
const repos = ['acme/web', 'acme/docs', 'acme/infra']

/** The largest requests of an admin, with a text that differs from round to round. */
const large: Record<string, (workspace: string, mark: string) => Parameters<typeof asLua>> = {
  'upload of 100,000 counts': (workspace, mark) => {
    const counts = Array.from({ length: 200 }, (_, n) => ({ repo: `acme/of-${n}`, count: mark.length }))
    const members = Array.from({ length: 500 }, (_, n) => ({ login: `of-0-${n}`, repos: counts }))
    return ['POST', '/api/team/commits', {}, json({ workspace, day: today, members })]
  },
  'configuration of 15 MiB': (workspace, mark) => {
    const projects = Array.from({ length: 60 }, (_, n) => [
      `acme/of-${n}`,
      { settings: { 'ext.text': 'x'.repeat(260_000 - mark.length) } },
    ])
    const body = json({ patterns: ['acme/*'], projects: Object.fromEntries(projects) })
    return ['PUT', `/api/team/workspaces/${workspace}/configuration`, {}, body]
  },
}

/** Requests of each operation, of many callers, against this version or the other. */
const fill = async ({ url }: Started, signIn: (login: string) => Promise<SignedIn>) => {
  const requests: Record<string, string[]> = {}
  let first = { workspace: '', token: '' }
  const add = (name: string, ...[method, path, headers, body]: Parameters<typeof asLua>) => {
    requests[name] ??= []
    requests[name].push(asLua(method, path, headers, body))
  }
  const flush = (name: string, token: string, entries: object[]) =>
    add(name, 'POST', '/api/team/active-minutes', bearer(token), json({ flush_id: '@', entries }))
  const tokens: string[] = []
  for (let team = 0; team < TEAMS; team++) {
    const people = await Promise.all(Array.from({ length: CALLERS }, (_, n) => signIn(`of-${team}-${n}`)))
    const workspace = await createWorkspace(url, people)
    const [admin] = people as [SignedIn]
    if (team === 0) first = { workspace, token: admin.token }
    const board = `/api/team/dashboard?workspace=${workspace}`
    const year = `&from=${dayBefore(364)}&to=${today}`
    add('dashboard of a month', 'GET', board, bearer(admin.token))
    add('dashboard of a year', 'GET', board + year, bearer(admin.token))
    add('dashboard as CSV', 'GET', `${board}&format=csv`, bearer(admin.token))
    const own = `/api/team/dashboard/mine?workspace=${workspace}`
    add('own dashboard of a month', 'GET', own, bearer(admin.token))
    add('own dashboard of a year', 'GET', own + year, bearer(admin.token))
    const summaries = '/api/wakatime/v1/users/current/summaries'
    add('summaries', 'GET', `${summaries}?start=${dayBefore(6)}&end=${today}`, bearer(admin.token))
    await push(url, admin, 'acme/web', settings)
    const path = '/api/settings/acme/web'
    add('pull', 'GET', path, bearer(admin.token))
    const headers = { ...bearer(admin.token), 'X-Repohost-Token': admin.repohostToken }
    add('push', 'PUT', path, headers, json({ settings: { 'ext.blob': `@${'x'.repeat(2_000)}` } }))
    for (const [index, { token }] of people.entries()) {
      const past = Array.from({ length: HISTORY_DAYS }, (_, n) => dayBefore(n + 1)).flatMap((day) =>
        // No hour is full, so that every heartbeat adds a minute.
        repos.map((repo) => ({ repo, day, minutes: 30, hours: { 9: 10, 10: 10, 11: 10 } })),
      )
      const body = { flush_id: `past-${index}`, entries: past }
      await expectOk(send(url, 'POST', '/api/team/active-minutes', token, body))
      tokens.push(token)
      flush(
        'flush of 200',
        token,
        Array.from({ length: 200 }, (_, n) => ({
          repo: `acme/of-${n % 40}`,
          day: dayBefore(Math.floor(n / 40)),
          minutes: 1,
          hours: { [index]: 1 },
        })),
      )
      const beat = [{ time: '@time', project: 'acme/web', entity: '/home/ada/app.ts', type: 'file' }]
      add(
        'heartbeat',
        'POST',
        '/api/wakatime/v1/users/current/heartbeats.bulk',
        bearer(token),
        json(beat).replace('"@time"', '@time'),
      )
    }
  }
  // In turns, so that heartbeats sent at once belong to different people, as in production.
  for (let hour = 0; hour < 24; hour++)
    for (const token of tokens)
      flush(
        'flush of 3',
        token,
        repos.map((repo) => ({ repo, day: today, minutes: 1, hours: { [hour]: 1 } })),
      )
  return { requests, first }
}

await benchmark(async (cleanUp) => {
  const setting = await prepare(cleanUp)
  const { sql, backend } = await openSession(setting, cleanUp)
  const folder = await mkdtemp(join(tmpdir(), 'bench-versions-'))
  cleanUp(() => rm(folder, { recursive: true }))
  const other = await setting.startOther(root)
  const started = { this: setting.service, other }
  const versions = ['other', 'this'] as const
  const scripts: Record<string, Record<(typeof versions)[number], string>> = {}
  const admins = { this: { workspace: '', token: '' }, other: { workspace: '', token: '' } }
  for (const version of versions) {
    const { requests, first } = await fill(started[version], (login) =>
      setting.signIn(login, started[version]),
    )
    admins[version] = first
    for (const [name, some] of Object.entries(requests)) {
      scripts[name] ??= { this: '', other: '' }
      const file = `${version}-${name.replaceAll(/\W/g, '-')}`
      scripts[name][version] = await writeWrkScript(folder, file, some)
    }
  }
  await leaveAtRest(setting.databaseUrl)
  await leaveAtRest(other.databaseUrl, root)

  const load = async (version: (typeof versions)[number], name: string, connections: number) => {
    const [before] = await sql`select pg_current_wal_lsn() as lsn`
    const cpu = await cpuTimeOfServer(backend)
    const script = scripts[name]?.[version] ?? ''
    const seconds = Number(values.seconds)
    const result = await wrk(started[version], {}, { seconds, connections, script })
    const database = ((await cpuTimeOfServer(backend)) - cpu) / result.requests
    const [row] = await sql`select pg_wal_lsn_diff(pg_current_wal_lsn(), ${before?.lsn})::float8 as wal`
    return { ...result, database, wal: Number(row?.wal) / result.requests }
  }

  const isAsked = (name: string) => only === undefined || only.some((part) => name.includes(part))
  if (isAsked('large'))
    for (const [name, requestOf] of Object.entries(large)) {
      const times = { this: [], other: [] } as Record<(typeof versions)[number], number[]>
      for (let round = 0; round <= Number(values.rounds); round++)
        for (const version of versions) {
          const { workspace, token } = admins[version]
          const [method, path, , body] = requestOf(workspace, 'x'.repeat(round + 1))
          const start = performance.now()
          await expectOk(send(started[version].url, method, path, token, body))
          if (round > 0) times[version].push(performance.now() - start)
        }
      const [now, before] = [median(times.this), median(times.other)]
      say(
        `${name}: ${now.toFixed(0)} ms, other ${before.toFixed(0)} ms: this / other ${(now / before).toFixed(2)}`,
      )
      for (const version of versions)
        say(`  memory so far, ${version}: ${(await memoryOf(started[version].pid, 'VmHWM')).toFixed(0)} MiB`)
    }

  say(
    '\n| operation | clients | version | per second | p50, ms | p99, ms | service, ms of CPU | PostgreSQL | WAL |',
  )
  say('|---|---|---|---|---|---|---|---|---|')
  for (const name of Object.keys(scripts)) {
    if (!isAsked(name)) continue
    for (const connections of values.clients.split(',').map(Number)) {
      const rounds = { this: [], other: [] } as Record<
        (typeof versions)[number],
        Awaited<ReturnType<typeof load>>[]
      >
      // The first round warms up.
      for (let round = 0; round <= Number(values.rounds); round++)
        for (const version of versions) {
          const result = await load(version, name, connections)
          if (round > 0) rounds[version].push(result)
        }
      const figures = versions.map((version) => {
        const of = (key: 'perSecond' | 'p50' | 'p99' | 'cpu' | 'database' | 'wal') =>
          median(rounds[version].map((result) => result[key]))
        return [of('perSecond'), of('p50'), of('p99'), of('cpu') / 1_000, of('database') / 1_000, of('wal')]
      })
      for (const [index, version] of versions.entries())
        say(
          `| ${name} | ${connections} | ${version} | ${figures[index]?.map((figure) => figure.toPrecision(3)).join(' | ')} |`,
        )
      const ratios = figures[1]?.map((figure, index) => (figure / (figures[0]?.[index] ?? 0)).toFixed(2))
      say(`| ${name} | ${connections} | this / other | ${ratios?.join(' | ')} |`)
    }
  }
})
