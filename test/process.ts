/** The service as its own process, for tests of starts, stops and crashes. */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { chmod, mkdtemp, readdir, readFile, readlink, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { projectRoot } from '../src/platform/process/root.js'
import { reach } from './database.js'
import { until } from './until.js'

interface Test {
  teardown(work: () => unknown): void
}

export const JWT_SECRET = 'a-test-secret-of-more-than-32-bytes-for-tests-only'

export interface ServiceProcess {
  url: string
  child: ChildProcess
  /** Its output so far. */
  output(): string
  /** Its exit code, or the signal that ended it. */
  ended: Promise<number | NodeJS.Signals>
}

/** Below the range from which systems choose the ports of outgoing connections, so that none takes it before its use. */
const PORTS = { from: 15_000, to: 32_000 }

export const freePort = async (): Promise<number> => {
  for (;;) {
    const port = randomInt(PORTS.from, PORTS.to)
    const probe = createServer()
    const isFree = await new Promise<boolean>((resolve) =>
      probe.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true)),
    )
    if (!isFree) continue
    await new Promise((resolve) => probe.close(resolve))
    return port
  }
}

/** A folder that is removed when the test ends, in memory where there is room. */
export const temporaryFolder = async (
  test: Test,
  parent = process.env.TEST_FOLDER ?? tmpdir(),
): Promise<string> => {
  const folder = await mkdtemp(join(parent, 'team-settings-'))
  // Root runs the embedded server under another account, which must get in.
  await chmod(folder, 0o711)
  // What a test has started may still write a last file.
  test.teardown(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }))
  return folder
}

/** The folder whose build is run. Another one serves for comparison. */
const root = process.env.SERVICE_ROOT ?? projectRoot

/** How long a process has to end before it counts as hung. */
const TIMEOUT_MS = 60_000

/** Starts a program with nothing in its environment but this, and doesn't wait for it. */
export const spawnProgram = (
  test: Test,
  program: string,
  args: string[],
  env: Record<string, string>,
  cwd: string,
): Omit<ServiceProcess, 'url'> => {
  const child = spawn(program, args, { cwd, env: { PATH: process.env.PATH, ...env } })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += chunk
    })
  }
  const ended = new Promise<number | NodeJS.Signals>((resolve) =>
    child.once('close', (code, signal) => resolve(code ?? signal ?? 1)),
  )
  test.teardown(async () => {
    const timer = setTimeout(() => child.kill('SIGKILL'), TIMEOUT_MS)
    child.kill('SIGTERM')
    await ended
    clearTimeout(timer)
  })
  return { child, output: () => output, ended }
}

/** The file of a program of `build/`, or of its bundle. */
export const programFile = (name: string): string =>
  join(root, process.env.TEST_BUILD ?? 'build', `${name}.js`)

/** Starts `node build/<name>.js` in a folder without an `.env`. */
export const launchProgram = (
  test: Test,
  name: string,
  env: Record<string, string>,
  args: string[] = [],
  cwd = tmpdir(),
): Omit<ServiceProcess, 'url'> => spawnProgram(test, process.execPath, [programFile(name), ...args], env, cwd)

/** Starts the service; doesn't wait for it. */
export const launch = (test: Test, port: number, env: Record<string, string>): ServiceProcess => ({
  url: `http://127.0.0.1:${port}`,
  ...launchProgram(test, 'src/server', { PORT: String(port), RATE_LIMITS: 'off', ...env }),
})

/** The processes that work in a folder, or were told of it. */
export const processesOf = async (folder: string): Promise<number[]> => {
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^[0-9]+$/.test(name))
  const found = pids.map(async (pid) => {
    const place = await readlink(`/proc/${pid}/cwd`).catch(() => '')
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
    return place.startsWith(folder) || command.includes(folder) ? [Number(pid)] : []
  })
  return (await Promise.all(found)).flat()
}

/** Ends processes without a warning. Some end by themselves meanwhile: those of PostgreSQL end with their parent. */
export const killProcesses = (pids: number[]) => {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    }
  }
}

export const onDatabase = (url: string) => ({ ...reach(url), JWT_SECRETS: JWT_SECRET })

/** Waits until the service answers that it is ready. */
export const ready = async (service: ServiceProcess): Promise<ServiceProcess> => {
  await until(async () => {
    const { exitCode, signalCode } = service.child
    if (exitCode !== null || signalCode !== null)
      throw new Error(`The service ended with ${exitCode ?? signalCode}`)
    const signal = AbortSignal.timeout(1_000)
    return (await fetch(`${service.url}/api/ready`, { signal }).catch(() => undefined))?.ok
  }, 'the service is ready').catch((error) => {
    throw new Error(`${error.message}\n${service.output()}`)
  })
  return service
}
