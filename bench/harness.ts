/** Shared by the benchmarks. */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { cpus, totalmem } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs, promisify } from 'node:util'
import postgres from 'postgres'
import { startThrowAwayDatabase } from '../demo/database.js'
import { startRepohost } from '../demo/repohost.js'
import { seedTeam } from '../demo/team.js'
import { rollUp } from '../src/features/rollups/roll-up.js'
import { connect } from '../src/platform/database/client.js'
import { projectRoot } from '../src/platform/process/root.js'
import { readToday } from '../src/platform/time/clock.js'
import { addDays } from '../src/platform/time/days.js'
import { type AdHocDatabase, withAdHocSql } from '../test/ad-hoc.js'

const run = promisify(execFile)

export const say = (line: string) => process.stdout.write(`${line}\n`)

export const JWT_SECRETS = 'a-benchmark-secret-of-more-than-32-bytes'

export type CleanUp = (task: () => Promise<void>) => void

/** Runs a benchmark, then its clean-up tasks in reverse order. */
export const benchmark = async (work: (cleanUp: CleanUp) => Promise<void>) => {
  const tasks: (() => Promise<void>)[] = []
  try {
    await work((task) => tasks.unshift(task))
  } finally {
    for (const task of tasks) await task().catch((error) => say(String(error)))
  }
}

export const freshDatabase = async (url: string, name: string): Promise<string> => {
  const admin = postgres(url, { max: 1, onnotice: () => {} })
  await admin.unsafe(`drop database if exists ${name} with (force)`)
  await admin.unsafe(`create database ${name}`)
  await admin.end()
  const changed = new URL(url)
  changed.pathname = `/${name}`
  return changed.href
}

/** A durable PostgreSQL with an empty database; BENCH_DATABASE_URL names another server, where `bench` is created again. */
export const startDatabase = async (options: { checkpointSeconds?: number } = {}) => {
  const given = process.env.BENCH_DATABASE_URL
  if (given) return { url: await freshDatabase(given, 'bench'), stop: async () => {} }
  const log = { info: say, warn: say, error: say }
  return startThrowAwayDatabase({ maxConnections: 100, durable: true, log, ...options })
}

export interface Started {
  url: string
  pid: number
  stop(): Promise<void>
}

/** A free port, so that benchmarks can run side by side. */
export const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** A start can wait for a migration, and a migration for a reader that takes 60 s. */
const START_MS = 120_000

/**
 * Starts a script of the build in the folder `root`, on a free port or on `PORT`, and waits until `readyPath` answers.
 * @throws if `readyPath` doesn't answer
 */
export const startProcess = async (
  script: string,
  env: Record<string, string>,
  readyPath: string,
  root = projectRoot,
  launch: readonly string[] = [process.execPath],
): Promise<Started> => {
  const port = env.PORT ?? String(await freePort())
  const [program = '', ...parameters] = launch
  const child = spawn(program, [...parameters, join(root, 'build', script)], {
    cwd: root,
    env: { PATH: process.env.PATH, PORT: port, ...env },
    // The log is written, as in production, but not kept.
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const url = `http://127.0.0.1:${port}`
  const deadline = Date.now() + START_MS
  while (!(await fetch(url + readyPath).catch(() => undefined))?.ok) {
    if (child.exitCode !== null || child.signalCode !== null)
      throw new Error(`${script} ended before it was ready`)
    if (Date.now() > deadline) throw new Error(`${script} was not ready after ${START_MS} ms`)
    await sleep(50)
  }
  return {
    url,
    pid: child.pid ?? 0,
    stop: async () => {
      child.kill('SIGTERM')
      await ended
    },
  }
}

/** Rate limits are off, because a few callers send the whole load. */
export const startTheService = (
  databaseUrl: string,
  env: Record<string, string>,
  root = projectRoot,
  launch?: readonly string[],
) =>
  startProcess(
    'src/server.js',
    { DATABASE_URL: databaseUrl, JWT_SECRETS, DATABASE_POOL_SIZE: '10', RATE_LIMITS: 'off', ...env },
    '/api/ready',
    root,
    launch,
  )

export interface Load {
  perSecond: number
  /** Milliseconds. */
  p50: number
  p99: number
  /** CPU time of the measured process per request, in microseconds: steadier than the rate on a busy machine. */
  cpu: number
}

/** A line of /proc/<pid>/status, in MiB. */
export const memoryOf = async (pid: number, line: 'VmRSS' | 'VmHWM'): Promise<number> => {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  return Number(status.match(new RegExp(`${line}:\\s+([0-9]+)`))?.[1]) / 1024
}

/** The memory of all processes of this backend's PostgreSQL server, in MiB. Shared memory counts once. */
export const memoryOfServer = async (backend: number): Promise<number> => {
  const postmaster = await parentOf(backend)
  const pids = (await readdir('/proc')).filter((name) => /^[0-9]+$/.test(name)).map(Number)
  const isOfServer = await Promise.all(
    pids.map(async (pid) => pid === postmaster || (await parentOf(pid)) === postmaster),
  )
  const shares = pids.map(async (pid, index) => {
    if (!isOfServer[index]) return 0
    const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '')
    return Number(rollup.match(/^Pss:\s+([0-9]+)/m)?.[1] ?? 0) / 1024
  })
  return (await Promise.all(shares)).reduce((sum, share) => sum + share, 0)
}

/** Where a measured service serves its metrics. */
export const METRICS_PORT = 3902

/** The measured delays include the interval of the timer. */
const TIMER_MS = 10

/** The longest pause of the service's event loop since the last call, in milliseconds. */
export const longestStall = async (metricsPort = METRICS_PORT): Promise<number> => {
  // A kept-alive connection may be closed just as it is reused.
  const reply = await fetch(`http://127.0.0.1:${metricsPort}/metrics`, { headers: { Connection: 'close' } })
  const metrics = await reply.text()
  return Number(metrics.match(/^nodejs_eventloop_lag_max_seconds (\S+)$/m)?.[1]) * 1_000 - TIMER_MS
}

/** The fields of /proc/<pid>/stat after the name: `[1]` is the parent, `[11]` to `[14]` CPU time in ticks of 10 ms. */
const statOf = async (pid: number | string): Promise<number[]> => {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  return stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number)
}
export const parentOf = async (pid: number): Promise<number> => (await statOf(pid))[1] ?? 0

/** Microseconds in fields that count ticks. */
const sumTicks = (fields: number[]) => fields.reduce((sum, ticks) => sum + ticks, 0) * 10_000

/** CPU time that a process has used, user and system, in microseconds. */
export const cpuTime = async (pid: number): Promise<number> => sumTicks((await statOf(pid)).slice(11, 13))

/** CPU time of all processes of this backend's PostgreSQL server, including those that have ended. */
export const cpuTimeOfServer = async (backend: number): Promise<number> => {
  const [, postmaster = 0] = await statOf(backend)
  const pids = (await readdir('/proc')).filter((name) => /^[0-9]+$/.test(name))
  const ofChildren = (await Promise.all(pids.map(statOf))).filter(([, parent]) => parent === postmaster)
  const ticks = [
    ...(await statOf(postmaster)).slice(11, 15),
    ...ofChildren.flatMap((stat) => stat.slice(11, 13)),
  ]
  return sumTicks(ticks)
}

/** Load from wrk. @throws if a response isn't 2xx or 3xx */
export const wrk = async (
  { url, pid }: { url: string; pid: number },
  headers: Record<string, string> = {},
  { seconds = 5, connections = 32, script = '' } = {},
): Promise<Load & { requests: number }> => {
  const headerArguments = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`])
  const scriptArguments = script === '' ? [] : ['-s', script]
  const args = [
    '-t1',
    `-c${connections}`,
    `-d${seconds}s`,
    '--latency',
    ...headerArguments,
    ...scriptArguments,
    url,
  ]
  const before = await cpuTime(pid)
  const { stdout } = await run('wrk', args)
  const used = (await cpuTime(pid)) - before
  if (/Non-2xx or 3xx responses|Socket errors/.test(stdout)) throw new Error(stdout)
  const perSecond = Number(stdout.match(/Requests\/sec:\s+([0-9.]+)/)?.[1])
  const latency = (share: number) => {
    const [, amount, unit] = stdout.match(new RegExp(`${share}%\\s+([0-9.]+)(us|ms|s)`)) ?? []
    return Number(amount) * ({ us: 0.001, ms: 1, s: 1000 }[unit ?? ''] ?? Number.NaN)
  }
  const requests = Number(stdout.match(/([0-9]+) requests in/)?.[1])
  return { perSecond, p50: latency(50), p99: latency(99), cpu: used / requests, requests }
}

/**
 * Writes a script for wrk that sends requests of many callers in turn. `@` in a body becomes a new number, and `@time` the
 * start of the caller's next two minutes of the last week.
 * @returns its path
 */
export const writeWrkScript = async (folder: string, name: string, requests: string[]): Promise<string> => {
  const path = join(folder, `${name}.lua`)
  const lines = [
    'math.randomseed(os.time())',
    'local requests = {',
    requests.join(',\n'),
    '}',
    'local run, turn = math.random(1000000000), math.random(#requests)',
    'local slots, week = 7 * 720, os.time() - 8 * 86400',
    'request = function()',
    '  turn = turn + 1',
    '  local slot = (run + math.floor(turn / #requests)) % slots',
    '  return requests[turn % #requests + 1](run .. "-" .. turn, string.format("%d", week + slot * 120))',
    'end',
  ]
  await writeFile(path, lines.join('\n'))
  return path
}

export const bearer = (token = ''): Record<string, string> => ({ Authorization: `Bearer ${token}` })

/** One of these requests. */
export const asLua = (method: string, path: string, headers: Record<string, string>, body?: string) => {
  const given = Object.entries({ ...headers, 'Content-Type': 'application/json' })
  const table = given.map(([name, value]) => `["${name}"] = [==[${value}]==]`).join(', ')
  const text = body === undefined ? 'nil' : `([==[${body}]==]):gsub("@time", time):gsub("@", turn)`
  return `function(turn, time) local body = ${text} return wrk.format("${method}", "${path}", { ${table} }, body) end`
}

/** @param share 0.99: the value that 1 % of the values exceed */
export const percentile = (values: number[], share: number): number => {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length * share)] ?? Number.NaN
}

export const median = (values: number[]): number => percentile(values, 0.5)

/** Medians of several rounds. Candidates take turns, so that a busy machine affects all of them. */
export const medianLoads = async <Name extends string>(
  candidates: Record<Name, () => Promise<Load>>,
  rounds = 3,
): Promise<Record<Name, Load>> => {
  const names = Object.keys(candidates) as Name[]
  const results = new Map<Name, Load[]>(names.map((name) => [name, []]))
  for (let round = 0; round < rounds; round++) {
    for (const name of names) results.get(name)?.push(await candidates[name]())
  }
  const middle = (name: Name, figure: keyof Load) =>
    median((results.get(name) ?? []).map((load) => load[figure]))
  return Object.fromEntries(
    names.map((name) => [
      name,
      {
        perSecond: middle(name, 'perSecond'),
        p50: middle(name, 'p50'),
        p99: middle(name, 'p99'),
        cpu: middle(name, 'cpu'),
      },
    ]),
  ) as Record<Name, Load>
}

/** The environment of a benchmark. */
export interface Setting {
  databaseUrl: string
  /** Direct access to the database, for data that no route can create. */
  database: AdHocDatabase
  service: Started
  /** Restarts the service on the same database. */
  restart(): Promise<Started>
  signIn(login: string, at?: Started): Promise<SignedIn>
  /** Starts the build of another checkout beside the service, on a database of its own on the same server. */
  startOther(root: string): Promise<Started & { databaseUrl: string }>
}

export interface SignedIn {
  id: string
  /** The session token. */
  token: string
  repohostToken: string
}

/** Starts a database, the service on it as a process of its own, and a repository host. */
export const prepare = async (
  cleanUp: CleanUp,
  env: Record<string, string> = {},
  start = startDatabase,
  launch?: readonly string[],
): Promise<Setting> => {
  say(
    `${cpus().length} × ${cpus()[0]?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}`,
  )
  const { url: databaseUrl, stop } = await start()
  cleanUp(stop)
  const repohost = await startRepohost()
  cleanUp(repohost.close)
  const startService = () =>
    startTheService(databaseUrl, { REPOHOST_API_URL: repohost.url, ...env }, projectRoot, launch)
  const service = await startService()
  let current = service
  cleanUp(() => current.stop())
  const restart = async () => {
    await current.stop()
    current = await startService()
    return current
  }
  const database = withAdHocSql(connect({ url: databaseUrl, poolSize: 4, prepare: true }))
  cleanUp(database.close)
  const signIn = async (login: string, { url } = service) => {
    const { token: repohostToken } = repohost.addUser(login)
    const body = { repohost_token: repohostToken }
    const { token } = JSON.parse(await expectOk(send(url, 'POST', '/api/auth/verify', undefined, body)))
    const { id } = JSON.parse(await expectOk(send(url, 'GET', '/api/me', token)))
    return { id, token, repohostToken }
  }
  const startOther = async (root: string) => {
    const otherUrl = await freshDatabase(databaseUrl, 'bench_other')
    const other = await startTheService(otherUrl, { REPOHOST_API_URL: repohost.url }, root)
    cleanUp(other.stop)
    return { ...other, databaseUrl: otherUrl }
  }
  return { databaseUrl, database, service, restart, signIn, startOther }
}

/** The command-line options. All of them are numbers with these defaults. */
export const numbersAsked = <Name extends string>(defaults: Record<Name, number>): Record<Name, number> => {
  const names = Object.keys(defaults) as Name[]
  const options = names.map((name) => [name, { type: 'string', default: String(defaults[name]) }] as const)
  const { values } = parseArgs({ options: Object.fromEntries(options) })
  return Object.fromEntries(names.map((name) => [name, Number(values[name])])) as Record<Name, number>
}

/** Other teams in the database: 31 have 10 million rows. */
export const OTHER_TEAMS = 31

const MEMBERS = 500
export const DAYS_OF_TEAMS = 365

/** Adds a team, named by its number. */
export const addTeam = async (
  { database }: Setting,
  index: number,
  { days = DAYS_OF_TEAMS, members = MEMBERS } = {},
): Promise<{ workspaceId: string; today: string }> => {
  const today = await readToday(database)
  const owner = `team-${index}`
  const { workspaceId } = await seedTeam(database, {
    name: owner,
    owner,
    firstRepohostId: 1_000_000_000 + index * 10_000,
    members,
    from: addDays(today, 1 - days),
    to: today,
  })
  return { workspaceId, today }
}

export const makeAdmin = async (
  { database }: Setting,
  workspaceId: string,
  userId: string,
): Promise<void> => {
  await database.hot.statement(
    `insert into members (workspace_id, user_id, role) values ($1::uuid, $2::uuid, 'admin')`,
    [workspaceId, userId],
  )
}

/** The service updates rollups too, and only one process can at a time. */
export const waitForRollups = async (database: AdHocDatabase): Promise<void> => {
  for (;;) {
    await rollUp(database)
    const [row] = await database.hot.statement<{ waiting: boolean }>(
      'select exists (select 1 from changed_days) as waiting',
      [],
    )
    if (!row?.waiting) return
    await sleep(100)
  }
}

/** A session without the service's timeouts, and its backend process. */
export const openSession = async ({ databaseUrl }: Setting, cleanUp: CleanUp) => {
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} })
  cleanUp(() => sql.end())
  const [row] = await sql`select pg_backend_pid() as pid`
  return { sql, backend: Number(row?.pid) }
}

/** Creates a workspace with all of them as members. */
export const createWorkspace = async (
  url: string,
  [admin, ...others]: SignedIn[],
  patterns = ['acme/*'],
): Promise<string> => {
  const body = { name: 'bench', patterns }
  const { status, text } = await send(url, 'POST', '/api/team/workspaces/create', admin?.token, body)
  if (status !== 201) throw new Error(text)
  const { workspace, invite } = JSON.parse(text)
  for (const { token } of others)
    await expectOk(send(url, 'POST', '/api/team/workspaces/join', token, { code: invite.code }))
  return workspace.id
}

/** Pushes settings of `owner/repo`. @returns the ETag */
export const push = async (
  url: string,
  { token, repohostToken }: SignedIn,
  repo: string,
  settings: object,
): Promise<string> => {
  const reply = await fetch(`${url}/api/settings/${repo}`, {
    method: 'PUT',
    headers: { ...bearer(token), 'Content-Type': 'application/json', 'X-Repohost-Token': repohostToken },
    body: JSON.stringify({ settings }),
  })
  if (!reply.ok) throw new Error(await reply.text())
  return reply.headers.get('etag') ?? ''
}

/**
 * Updates all waiting rollups, and gathers statistics, because query plans depend on them. @returns how many rows of
 * activity there are
 */
export const leaveAtRest = async (databaseUrl: string, root = projectRoot): Promise<number> => {
  // A session without the service's timeouts.
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} })
  const isThere = async (table: string) => (await sql`select to_regclass(${table}) as name`)[0]?.name != null
  try {
    const isOther = !(await isThere('changed_days'))
    // The program of that version knows its own tables. It's repeated, because the service may be updating rollups at
    // the same time.
    do
      await run(process.execPath, [join(root, 'build/src/bin/rebuild-rollups.js')], {
        cwd: root,
        env: { ...process.env, DATABASE_URL: databaseUrl },
      })
    while (!isOther && (await sql`select from changed_days limit 1`).length > 0)
    await sql`vacuum analyze`
    const table = isOther ? 'activity' : 'daily_activity'
    const [row] = await sql<{ rows: number }[]>`select count(*)::float8 as rows from ${sql(table)}`
    return row?.rows ?? 0
  } finally {
    await sql.end()
  }
}

/** Adds other teams with a year of activity, up to `teams`, and leaves the database at rest. */
export const addOthers = async (setting: Setting, teams: number, known = 0): Promise<void> => {
  for (let index = known + 1; index <= teams; index++) await addTeam(setting, index)
  const rows = await leaveAtRest(setting.databaseUrl)
  say(`${(rows / 1e6).toFixed(1)}M rows of activity`)
}

/** One request on a connection that is kept. */
export const send = (
  url: string,
  method: string,
  path: string,
  token?: string,
  body?: unknown,
): Promise<HttpResponse> => {
  const payload = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
  const headers = {
    ...(token && { Authorization: `Bearer ${token}` }),
    ...(payload !== undefined && {
      'Content-Type': 'application/json',
      // Node doesn't set it for DELETE.
      'Content-Length': Buffer.byteLength(payload),
    }),
  }
  return exchange(url + path, method, headers, payload)
}

interface HttpResponse {
  status: number
  text: string
}

const exchange = (
  url: string,
  method: string,
  headers: Record<string, string | number>,
  payload: string | Buffer | undefined,
): Promise<HttpResponse> =>
  new Promise((resolve, reject) => {
    const sent = request(url, { method, headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk) => chunks.push(chunk))
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() })
      })
    })
    sent.on('error', reject)
    sent.end(payload)
  })

/** Sends a POST request with these headers and no session. */
export const post = (
  url: string,
  { body, headers }: { body: string | Buffer; headers: Record<string, string> },
) => exchange(url, 'POST', { ...headers, 'Content-Length': Buffer.byteLength(body) }, body)

/** @returns the response's text @throws when the response isn't 200 */
export const expectOk = async (reply: Promise<{ status: number; text: string }>): Promise<string> => {
  const { status, text } = await reply
  if (status !== 200) throw new Error(`${status}: ${text.slice(0, 300)}`)
  return text
}

/** The median time of each in milliseconds. They are measured in turns, so that a busy machine affects all of them. */
export const medianTimes = async <Name extends string>(
  rounds: number,
  works: Record<Name, () => Promise<unknown>>,
): Promise<Record<Name, number>> => {
  const times = Object.fromEntries(Object.keys(works).map((name) => [name, []])) as unknown as Record<
    Name,
    number[]
  >
  for (let round = -1; round < rounds; round++) {
    for (const [name, work] of Object.entries(works) as [Name, () => Promise<unknown>][]) {
      const start = performance.now()
      await work()
      // The first round warms up.
      if (round >= 0) times[name].push(performance.now() - start)
    }
  }
  return Object.fromEntries(
    Object.entries(times).map(([name, values]) => [name, median(values as number[])]),
  ) as Record<Name, number>
}

/**
 * Transactions per second of a script, or undefined where pgbench isn't installed; `:ready` is 0 until the script sets
 * it.
 */
export const pgbench = (databaseUrl: string, script: string, clients: number, seconds: number) =>
  new Promise<number | undefined>((resolve, reject) => {
    const child = spawn(
      'pgbench',
      [
        '-n',
        '-M',
        'prepared',
        '-D',
        'ready=0',
        '-c',
        String(clients),
        '-T',
        String(seconds),
        '-f',
        '-',
        // Only known since PostgreSQL 16.
        databaseUrl.replace(/[?&]require_auth=[^&]*/, ''),
      ],
      { stdio: ['pipe', 'pipe', 'inherit'] },
    )
    let output = ''
    child.stdout.on('data', (chunk) => {
      output += chunk
    })
    child.on('error', (error: NodeJS.ErrnoException) =>
      error.code === 'ENOENT' ? resolve(undefined) : reject(error),
    )
    child.on('exit', () => {
      const tps = Number(output.match(/tps = ([0-9.]+)/)?.[1])
      if (Number.isNaN(tps)) reject(new Error(`pgbench says: ${output}`))
      else resolve(tps)
    })
    child.stdin.end(script)
  })

/** The timeout of a call, which then counts as failed. */
export const WATCH_MS = 60_000

/** Keeps calling until it is stopped. @returns the longest wait, and how many calls failed */
export const watch = (everyMs: number, call: () => Promise<{ status: number }>) => {
  let isOver = false
  const watching = (async () => {
    let longest = 0
    let failed = 0
    while (!isOver) {
      const start = performance.now()
      const { status } = await Promise.race([call(), sleep(WATCH_MS, { status: 0 })]).catch(() => ({
        status: 0,
      }))
      longest = Math.max(longest, performance.now() - start)
      if (status !== 200) failed++
      await sleep(everyMs)
    }
    return { longest, failed }
  })()
  return () => {
    isOver = true
    return watching
  }
}
