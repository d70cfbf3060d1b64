/**
 * Everyday operations against another version, in turns. The argument is a checkout of that version, installed and built.
 * Options: `--rounds 5`, `--seconds 3` (of each load), `--clients 1,8,64`, `--only flush,heartbeat`.
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
  median,
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

/** Requests of each operation, of many callers, against this version or the other. */
const fill = async ({ url }: Started, signIn: (login: string) => Promise<SignedIn>) => {
  const requests: Record<string, string[]> = {}
  const add = (name: string, ...[method, path, headers, body]: Parameters<typeof asLua>) => {
    requests[name] ??= []
    requests[name].push(asLua(method, path, headers, body))
  }
  for (let team = 0; team < TEAMS; team++) {
    const people = await Promise.all(Array.from({ length: CALLERS }, (_, n) => signIn(`of-${team}-${n}`)))
    const workspace = await createWorkspace(url, people)
    const [admin] = people as [SignedIn]
    const board = `/api/team/dashboard?workspace=${workspace}`
    add('dashboard of a year', 'GET', `${board}&from=${dayBefore(364)}&to=${today}`, bearer(admin.token))
    await push(url, admin, 'acme/web', settings)
    const path = '/api/settings/acme/web'
    add('pull', 'GET', path, bearer(admin.token))
    const headers = { ...bearer(admin.token), 'X-Repohost-Token': admin.repohostToken }
    add('push', 'PUT', path, headers, json({ settings: { 'ext.blob': `@${'x'.repeat(2_000)}` } }))
    for (const [index, { token }] of people.entries()) {
      const past = Array.from({ length: HISTORY_DAYS }, (_, n) => dayBefore(n + 1)).flatMap((day) =>
        repos.map((repo) => ({ repo, day, minutes: 90, hours: { 9: 30, 10: 30, 11: 30 } })),
      )
      const body = { flush_id: `past-${index}`, entries: past }
      await expectOk(send(url, 'POST', '/api/team/active-minutes', token, body))
      const flush = (name: string, entries: object[]) =>
        add(name, 'POST', '/api/team/active-minutes', bearer(token), json({ flush_id: '@', entries }))
      for (let hour = 0; hour < 24; hour++) {
        const hours = { [hour]: 1 }
        flush(
          'flush of 3',
          repos.map((repo) => ({ repo, day: today, minutes: 1, hours })),
        )
      }
      flush(
        'flush of 200',
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
  return requests
}

await benchmark(async (cleanUp) => {
  const setting = await prepare(cleanUp)
  const { sql, backend } = await openSession(setting, cleanUp)
  const folder = await mkdtemp(join(tmpdir(), 'bench-versions-'))
  cleanUp(() => rm(folder, { recursive: true }))
  const started = { this: setting.service, other: await setting.startOther(root) }
  const versions = ['other', 'this'] as const
  const scripts: Record<string, Record<(typeof versions)[number], string>> = {}
  for (const version of versions) {
    const requests = await fill(started[version], (login) => setting.signIn(login, started[version]))
    for (const [name, some] of Object.entries(requests)) {
      scripts[name] ??= { this: '', other: '' }
      const file = `${version}-${name.replaceAll(/\W/g, '-')}`
      scripts[name][version] = await writeWrkScript(folder, file, some)
    }
  }
  await sql`vacuum analyze`

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

  say(
    '\n| operation | clients | version | per second | p50, ms | p99, ms | service, ms of CPU | PostgreSQL | WAL |',
  )
  say('|---|---|---|---|---|---|---|---|---|')
  for (const name of Object.keys(scripts)) {
    if (only?.every((part) => !name.includes(part)) === true) continue
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
