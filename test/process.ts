/** The service as its own process, for tests of starts, stops and crashes. */
import { type ChildProcess, spawn } from 'node:child_process'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { projectRoot } from '../src/root.js'
import { JWT_SECRET } from './service.js'

interface Test {
  teardown(work: () => unknown): void
}

export interface ServiceProcess {
  url: string
  child: ChildProcess
  /** What it has printed. */
  output(): string
  /** Its exit code, or the signal that ended it. */
  ended: Promise<number | NodeJS.Signals>
}

export const freePort = () =>
  new Promise<number>((resolve) => {
    const probe = createServer()
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number }
      probe.close(() => resolve(port))
    })
  })

/** A folder that is removed when the test ends. */
export const temporaryFolder = async (test: Test): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'team-settings-'))
  // Root runs the embedded server under another account, which must get in.
  await chmod(folder, 0o711)
  test.teardown(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** Starts `node build/src/server.js` with nothing in its environment but this; does not wait for it. */
export const launch = (test: Test, port: number, env: Record<string, string>): ServiceProcess => {
  const child = spawn(process.execPath, [join(projectRoot, 'build/src/server.js')], {
    cwd: projectRoot,
    env: { PATH: process.env.PATH, PORT: String(port), RATE_LIMITS: 'off', ...env },
  })
  let output = ''
  child.stdout.on('data', (chunk) => {
    output += chunk
  })
  child.stderr.on('data', (chunk) => {
    output += chunk
  })
  const ended = new Promise<number | NodeJS.Signals>((resolve) =>
    child.once('exit', (code, signal) => resolve(code ?? signal ?? 1)),
  )
  test.teardown(async () => {
    child.kill('SIGTERM')
    await ended
  })
  return { url: `http://127.0.0.1:${port}`, child, output: () => output, ended }
}

export const onDatabase = (url: string) => ({ DATABASE_URL: url, JWT_SECRETS: JWT_SECRET })

/** Waits until the service answers that it is ready. */
export const ready = async (service: ServiceProcess): Promise<ServiceProcess> => {
  for (let attempt = 0; attempt < 600; attempt++) {
    const reply = await fetch(`${service.url}/api/ready`).catch(() => undefined)
    if (reply?.ok) return service
    if (service.child.exitCode !== null) break
    await sleep(50)
  }
  throw new Error(`The service did not become ready:\n${service.output()}`)
}
