/**
 * The worst that one caller, or many without a session, can ask for, beside an ordinary caller: how long the others wait,
 * how much memory it takes, and what is left of it. Each attack goes on for some seconds, then all of them together.
 */
import { readdir, readFile } from 'node:fs/promises'
import { request as sendRequest } from 'node:http'
import { connect as connectSocket, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { startRepohost } from '../../demo/repohost.js'
import { seedTeam } from '../../demo/team.js'
import { readToday } from '../../src/platform/time/clock.js'
import { addDays } from '../../src/platform/time/days.js'
import { withAdHocSql } from '../ad-hoc.js'
import { createTestDatabase, openDatabase } from '../database.js'
import { bombs, fillWithPatterns, oldBombs } from '../many-patterns.js'
import { freePort, launch, onDatabase, ready } from '../process.js'
import type { Fault, Scope } from './fault.js'

const SECONDS = 10
/** The longest acceptable 99th percentile of the waits of an ordinary caller. */
const MAX_WAIT_MS = 500
const MIB = 2 ** 20

const filled = (part: string, bytes: number, before: string, after: string) =>
  Buffer.from(before + part.repeat(Math.floor(bytes / part.length)).slice(0, -1) + after)
const percentile = (times: number[], share: number) =>
  [...times].sort((a, b) => a - b)[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0

interface Watch {
  times: number[]
  failures: number
}

const isUp = ({ child }: { child: { exitCode: unknown; signalCode: unknown } }) =>
  child.exitCode === null && child.signalCode === null

const setAttacks = async (scope: Scope) => {
  const testDatabase = await createTestDatabase()
  scope.teardown(() => testDatabase.drop())
  const database = withAdHocSql(openDatabase(testDatabase.url))
  scope.teardown(() => database.close())
  const repohost = await startRepohost()
  scope.teardown(() => repohost.close())
  const startService = async () =>
    ready(
      launch(scope, await freePort(), {
        ...onDatabase(testDatabase.url),
        RATE_LIMITS: 'on',
        REPOHOST_URL: repohost.url,
        REPOHOST_API_URL: repohost.url,
        LOG_LEVEL: 'fatal',
      }),
    )
  let service = await startService()

  const json = { 'Content-Type': 'application/json' }
  const signIn = async (login: string) => {
    const { token: host } = repohost.addUser(login)
    const reply = await fetch(`${service.url}/api/auth/verify`, {
      method: 'POST',
      headers: json,
      body: JSON.stringify({ repohost_token: host }),
    })
    const { token } = (await reply.json()) as { token: string }
    return { host, bearer: { Authorization: `Bearer ${token}` } }
  }
  const ada = await signIn('ada')
  const mallory = await signIn('mallory')
  /** Two attackers have patterns that are allowed now, and one has patterns that were allowed earlier. */
  const patternAttackers = { mal: bombs, mel: bombs, mil: oldBombs }
  const attackers = await Promise.all(
    Object.keys(patternAttackers).map(async (login) => ({ login, ...(await signIn(login)) })),
  )
  const today = await readToday(database)

  /** Makes Mallory's requests expensive, with as many workspaces, patterns and rows as the limits allow. */
  const prepare = async () => {
    await fetch(`${service.url}/api/settings/ada/repo`, {
      method: 'PUT',
      headers: { ...ada.bearer, ...json, 'X-Repohost-Token': ada.host },
      body: JSON.stringify({ settings: { 'ext.theme': 'dark' } }),
    })
    const statements = [
      `insert into workspaces (id, name, idle_window_minutes)
        select gen_random_uuid(), 'mallory ' || n, 5 from generate_series(1, 200) n`,
      `insert into members (workspace_id, user_id, role)
        select w.id, u.id, 'admin' from workspaces w, users u where w.name like 'mallory %' and u.login = 'mallory'`,
      `insert into patterns (workspace_id, owner_key, repo_key, position, pattern, exact, literal_length, repo_like)
        select w.id, 'mallory', k, n, 'mallory/' || k, false, 90, replace(k, '*', '%')
        from workspaces w, generate_series(1, 50) n, lateral (select repeat('*a', 89) || '*' || chr(96 + n % 26) || n as k) k
        where w.name like 'mallory %'`,
      `insert into activity_repos (workspace_id, repo_key, repo)
        select w.id, 'mallory/r' || n, 'mallory/r' || n from workspaces w, generate_series(1, 8) n where w.name like 'mallory %'`,
      `insert into daily_activity (workspace_id, user_id, day, repo_key, minutes)
        select w.id, u.id, $1::text::date - d, 'mallory/r' || n, 5
        from workspaces w, users u, generate_series(0, 299) d, generate_series(1, 8) n
        where w.name like 'mallory %' and u.login = 'mallory'`,
      `insert into overrides (owner_key, repo_key, workspace_id, revision, owner, repo, settings, updated_by)
        select 'mallory', 'o' || n, (select id from workspaces where name = 'mallory 1'), gen_random_uuid(), 'mallory', 'o' || n,
          '{"ext.a":"' || repeat(md5(n::text), 8000) || '"}', u.id
        from generate_series(1, 200) n, users u where u.login = 'mallory'`,
      'analyze',
    ]
    await database.transaction(
      async (tx) => {
        await tx.statement('set local statement_timeout = 0', [])
        for (const text of statements) await tx.statement(text, text.includes('$1') ? [today] : [])
      },
      { background: true },
    )
    for (const [login, pattern] of Object.entries(patternAttackers))
      await fillWithPatterns({ database }, login, 195, pattern)
    await database.hot.statement('analyze', [])
    await seedTeam(database, {
      name: 'Large',
      owner: 'large',
      firstRepohostId: 8_000_000_000_000,
      members: 500,
      from: addDays(today, -365),
      to: today,
    })
    await database.hot.statement(
      `insert into members (workspace_id, user_id, role)
        select w.id, u.id, 'admin' from workspaces w, users u where w.name = 'Large' and u.login = 'mallory'`,
      [],
    )
  }
  await prepare()
  const [ids] = await database.hot.statement<{ large: string; first: string }>(
    `select (select id from workspaces where name = 'Large')::text as large,
      (select id from workspaces where name = 'mallory 1')::text as first`,
    [],
  )
  const { large = '', first = '' } = ids ?? {}

  const sockets = new Set<Socket>()
  /** A connection that does nothing of itself, and doesn't hear that the other side has had enough. */
  const openSocket = (text: string | Buffer, { reads = true } = {}) => {
    const { port } = new URL(service.url)
    const socket = connectSocket({ port: Number(port), host: '127.0.0.1', allowHalfOpen: true })
    sockets.add(socket)
    socket.on('error', () => {}).on('close', () => sockets.delete(socket))
    if (reads) socket.on('data', () => {})
    else socket.pause()
    socket.write(text)
  }

  const counts = new Map<string, number>()
  /** Sends a request, and counts its outcome. */
  const fire = (method: string, path: string, headers: Record<string, string>, body?: string | Buffer) =>
    new Promise<void>((resolve) => {
      const done = (what: string) => {
        counts.set(what, (counts.get(what) ?? 0) + 1)
        resolve()
      }
      const call = sendRequest(service.url + path, { method, headers, timeout: 60_000 }, (reply) => {
        reply.resume()
        reply.on('close', () => done(String(reply.statusCode)))
      })
      call.on('error', () => done('cut'))
      call.end(body)
    })

  const uploads = ['{},', '[],', '1e5,'].map((part) => filled(part, 23 * MIB, '{"members":[', ']}'))
  uploads.push(Buffer.from(`{${Array.from({ length: 900_000 }, (_, n) => `"${n}":1`).join()}}`))
  const zeros = `{"repohost_token":"x","a":1.${'0'.repeat(60_000)}1}`
  const largeBodies = ['1234567890123456,', '{},', '"a",'].map((part) =>
    filled(part, MIB - 100, '{"name":[', ']}'),
  )
  const range = `from=${addDays(today, -365)}&to=${today}`

  const flushOf = (owner: string, count: number) =>
    JSON.stringify({
      entries: Array.from({ length: count }, (_, n) => ({
        repo: `${owner}/${'a'.repeat(97)}${100 + n}`,
        day: today,
        minutes: 0,
      })),
    })

  /** One round of each. */
  const attacks: Record<string, { everyMs: number; round(): unknown }> = {
    'long numbers, not signed in': {
      everyMs: 2_000,
      round: () => fire('POST', '/api/auth/verify', json, zeros),
    },
    'blanks after Bearer': {
      everyMs: 200,
      round: () => fire('GET', '/api/me', { Authorization: `Bearer${' '.repeat(15_900)}x y` }),
    },
    'uploads that are no counts': {
      everyMs: 1_000,
      round: () =>
        uploads.map((upload) => fire('POST', '/api/team/commits', { ...mallory.bearer, ...json }, upload)),
    },
    'large bodies of small values': {
      everyMs: 300,
      round: () =>
        largeBodies.map((body) =>
          fire('POST', '/api/team/workspaces/create', { ...mallory.bearer, ...json }, body),
        ),
    },
    'bodies that never end': {
      everyMs: 100,
      round: () =>
        openSocket(
          `POST /api/auth/logout HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${MIB}\r\n\r\n{"a":"${'x'.repeat(MIB - 1_000)}`,
        ),
    },
    'answers that are never read': {
      everyMs: 300,
      round: () =>
        openSocket(
          `GET /api/team/workspaces/${first}/project-settings?limit=500 HTTP/1.1\r\nHost: x\r\nAuthorization: ${mallory.bearer.Authorization}\r\n\r\n`,
          { reads: false },
        ),
    },
    'pulls through 10,000 patterns': {
      everyMs: 6_500,
      round: () =>
        Array.from({ length: 64 }, () =>
          fire('GET', `/api/settings/mallory/${'a'.repeat(100)}`, mallory.bearer),
        ),
    },
    'flushes of three through 9,750 patterns each': {
      everyMs: 200,
      round: () =>
        attackers.flatMap(({ login, bearer }) =>
          [200, 1].map((count) =>
            fire('POST', '/api/team/active-minutes', { ...bearer, ...json }, flushOf(login, count)),
          ),
        ),
    },
    'pulls of three through 9,750 patterns each': {
      everyMs: 100,
      round: () =>
        attackers.map(({ login, bearer }) =>
          fire('GET', `/api/settings/${login}/${'a'.repeat(100)}`, bearer),
        ),
    },
    'minutes of a year in 200 workspaces': {
      everyMs: 125,
      round: () => fire('GET', `/api/team/active-minutes?${range}`, mallory.bearer),
    },
    'dashboards of one member over a year': {
      everyMs: 166,
      round: () =>
        fire('GET', `/api/team/dashboard?workspace=${large}&member=large-7&${range}`, mallory.bearer),
    },
  }

  /** Keeps sending requests until it is stopped. */
  const watch = async (
    path: string,
    headers: Record<string, string>,
    everyMs: number,
    stop: AbortSignal,
  ): Promise<Watch> => {
    const seen: Watch = { times: [], failures: 0 }
    while (!stop.aborted) {
      const began = performance.now()
      const reply = await fetch(service.url + path, { headers }).catch(() => undefined)
      await reply?.arrayBuffer().catch(() => {})
      seen.times.push(performance.now() - began)
      if (!reply?.ok) seen.failures++
      await sleep(everyMs)
    }
    return seen
  }

  const memory = async () =>
    Number(
      (await readFile(`/proc/${service.child.pid}/status`, 'utf8').catch(() => '')).match(
        /VmRSS:\s+(\d+)/,
      )?.[1] ?? 0,
    ) / 1_024
  const descriptors = async () => (await readdir(`/proc/${service.child.pid}/fd`).catch(() => [])).length

  /**
   * Runs these attacks for this long. @returns the cells of a row, and whether an ordinary caller was served throughout
   */
  const play = async (name: string, names: string[], seconds: number) => {
    if (!isUp(service)) service = await startService()
    counts.clear()
    const [mibBefore, open] = [await memory(), await descriptors()]
    let most = mibBefore
    const stop = new AbortController()
    const watching = Promise.all([
      watch('/api/settings/ada/repo', ada.bearer, 120, stop.signal),
      watch('/api/health', {}, 20, stop.signal),
      watch('/api/ready', {}, 100, stop.signal),
    ])
    const timers = names.map((each) => {
      const { everyMs, round } = attacks[each] ?? { everyMs: 1_000, round: () => {} }
      round()
      return setInterval(round, names.length > 1 ? everyMs * 3 : everyMs)
    })
    for (const end = Date.now() + seconds * 1_000; Date.now() < end; await sleep(100)) {
      most = Math.max(most, await memory())
    }
    for (const timer of timers) clearInterval(timer)
    stop.abort()
    const [ordinary, health, readiness] = await watching
    const lived = isUp(service)
    // Abandoned connections are closed within 90 s.
    const left = async () => (await descriptors()) - open
    for (const end = Date.now() + 100_000; lived && (await left()) > 5 && Date.now() < end; await sleep(500));
    const leftOver = await left()
    for (const socket of sockets) socket.destroy()
    const p99 = percentile(ordinary.times, 0.99)
    const cells = [
      name,
      [...counts].map(([what, count]) => `${count} × ${what}`).join(', ') || '–',
      `${p99.toFixed(0)}, ${percentile(ordinary.times, 1).toFixed(0)}, ${ordinary.failures} of ${ordinary.times.length}`,
      percentile(health.times, 1).toFixed(0),
      `${percentile(readiness.times, 1).toFixed(0)}, ${readiness.failures}`,
      `${mibBefore.toFixed(0)}, ${most.toFixed(0)}, ${(await memory()).toFixed(0)}`,
      `${leftOver > 0 ? '+' : ''}${leftOver}`,
      lived ? 'yes' : 'no',
    ]
    return {
      row: `| ${cells.join(' | ')} |`,
      requests: ordinary.times.length,
      failed: ordinary.failures,
      longestMs: percentile(ordinary.times, 1),
      held: lived && ordinary.failures === 0 && p99 < MAX_WAIT_MS && leftOver <= 5,
    }
  }
  return { names: Object.keys(attacks), play }
}

const HEAD = [
  '| attack | answers | ordinary: p99, longest (ms), failed | health: longest | ready: longest, failed | MiB before, most, after | descriptors | lived |',
  '|---|---|---|---|---|---|---|---|',
]

export const worstCaller: Fault = {
  name: 'worst-caller',
  play: async (scope, { seconds = SECONDS }) => {
    const { names, play } = await setAttacks(scope)
    const played: Awaited<ReturnType<typeof play>>[] = []
    for (const name of names) played.push(await play(name, [name], seconds))
    played.push(await play('everything at once', names, seconds * 3))
    return {
      did: `${names.length} attacks, each ${seconds} s`,
      requests: played.reduce((sum, { requests }) => sum + requests, 0),
      failed: played.reduce((sum, { failed }) => sum + failed, 0),
      longestMs: Math.max(...played.map(({ longestMs }) => longestMs)),
      details: [...HEAD, ...played.map(({ row }) => row)],
      broken: played.filter(({ held }) => !held).map(({ row }) => row),
    }
  },
}
