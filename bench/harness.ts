/** What the benchmarks share: a database, the service as its own process, and wrk as the load. */
import { execFile, spawn } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import postgres from 'postgres'
import { startEmbedded } from '../src/db/embedded.js'
import { projectRoot } from '../src/root.js'

const run = promisify(execFile)

export const say = (line: string) => process.stdout.write(`${line}\n`)

export const JWT_SECRETS = 'a-benchmark-secret-of-more-than-32-bytes'

/** Runs a benchmark and, however it ends, whatever it asked to be cleaned up, last first. */
export const benchmark = async (work: (cleanUp: (task: () => Promise<void>) => void) => Promise<void>) => {
  const tasks: (() => Promise<void>)[] = []
  try {
    await work((task) => tasks.unshift(task))
  } finally {
    for (const task of tasks) await task().catch((error) => say(String(error)))
  }
}

/** A durable embedded PostgreSQL in a temporary folder, with an empty database. */
export const startDatabase = async () => {
  const given = process.env.BENCH_DATABASE_URL
  if (given) return { url: given, stop: async () => {} }
  const dataDir = await mkdtemp(join(tmpdir(), 'team-settings-bench-'))
  await run('chmod', ['711', dataDir])
  const log = { info: say, warn: say, error: say }
  const server = await startEmbedded({ dataDir, maxConnections: 100, log })
  return {
    url: server.url,
    stop: async () => {
      await server.stop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

export interface Started {
  url: string
  pid: number
  stop(): Promise<void>
}

/** Starts a script of the build and waits until `readyPath` answers. */
export const startProcess = async (
  script: string,
  port: number,
  env: Record<string, string>,
  readyPath: string,
): Promise<Started> => {
  const child = spawn(process.execPath, [join(projectRoot, 'build', script)], {
    cwd: projectRoot,
    env: { PATH: process.env.PATH, PORT: String(port), ...env },
    // The log is written, as in production, but not kept.
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const url = `http://127.0.0.1:${port}`
  for (let attempt = 0; attempt < 200; attempt++) {
    const reply = await fetch(url + readyPath).catch(() => undefined)
    if (reply?.ok) break
    await sleep(50)
  }
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  return {
    url,
    pid: child.pid ?? 0,
    stop: async () => {
      child.kill('SIGTERM')
      await ended
    },
  }
}

export const startTheService = (port: number, databaseUrl: string, env: Record<string, string> = {}) =>
  startProcess(
    'src/server.js',
    port,
    { DATABASE_URL: databaseUrl, JWT_SECRETS, DATABASE_POOL_SIZE: '10', ...env },
    '/api/ready',
  )

export interface Load {
  perSecond: number
  /** Milliseconds. */
  p99: number
  /** CPU time of the measured process per request, in microseconds: steadier than the rate on a busy machine. */
  cpu: number
}

/** CPU time that a process has used, user and system, in microseconds. */
const cpuTime = async (pid: number): Promise<number> => {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  // In clock ticks of 10 ms.
  return (Number(fields[11]) + Number(fields[12])) * 10_000
}

/** Load from wrk, which Debian and Homebrew have as a package; fails when an answer is not 2xx or 3xx. */
export const wrk = async (
  { url, pid }: { url: string; pid: number },
  headers: Record<string, string> = {},
  { seconds = 5, connections = 32 } = {},
): Promise<Load> => {
  const headerArguments = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`])
  const args = ['-t1', `-c${connections}`, `-d${seconds}s`, '--latency', ...headerArguments, url]
  const before = await cpuTime(pid)
  const { stdout } = await run('wrk', args)
  const used = (await cpuTime(pid)) - before
  if (/Non-2xx or 3xx responses|Socket errors/.test(stdout)) throw new Error(stdout)
  const perSecond = Number(stdout.match(/Requests\/sec:\s+([0-9.]+)/)?.[1])
  const [, amount, unit] = stdout.match(/99%\s+([0-9.]+)(us|ms|s)/) ?? []
  const scale = { us: 0.001, ms: 1, s: 1000 }[unit ?? ''] ?? Number.NaN
  const requests = Number(stdout.match(/([0-9]+) requests in/)?.[1])
  return { perSecond, p99: Number(amount) * scale, cpu: used / requests }
}

export const median = (values: number[]): number => {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

/** Runs every candidate in turn, round after round, and returns the medians: neighbours share the machine's mood. */
export const interleave = async <Name extends string>(
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
      { perSecond: middle(name, 'perSecond'), p99: middle(name, 'p99'), cpu: middle(name, 'cpu') },
    ]),
  ) as Record<Name, Load>
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
