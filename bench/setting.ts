/** What the benchmarks share: a durable PostgreSQL of their own, the service on it, and ways to measure. */
import { spawn } from 'node:child_process'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { request } from 'node:http'
import { cpus, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { buildApp } from '../src/app.js'
import { readConfig } from '../src/config.js'
import { connect, type Database } from '../src/db/client.js'
import { startEmbedded } from '../src/db/embedded.js'
import { migrate } from '../src/db/migrate.js'
import { startRepohost } from '../src/demo/repohost.js'

export const say = (line: string) => process.stdout.write(`${line}\n`)

export interface Setting {
  url: string
  database: Database
  databaseUrl: string
  /** Rolls up what has changed. */
  rollUp(): Promise<void>
  /** @returns the session token of a user with this login, and the user's id */
  signIn(login: string): Promise<{ token: string; id: string }>
}

/** A database and a service that end with `work`. BENCH_DATABASE_URL names another, empty database. */
export const withService = async (work: (setting: Setting) => Promise<void>): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), 'team-settings-bench-'))
  // Root runs the server under another account, which must get in.
  await chmod(folder, 0o711)
  const log = { info: say, warn: say, error: say }
  const given = process.env.BENCH_DATABASE_URL
  const server = given ? undefined : await startEmbedded({ dataDir: folder, maxConnections: 50, log })
  const databaseUrl = given ?? server?.url ?? ''
  const repohost = await startRepohost()
  const config = readConfig({
    DATABASE_URL: databaseUrl,
    JWT_SECRETS: 'only-for-benchmarks-on-this-machine-and-nothing-else',
    REPOHOST_URL: repohost.url,
    REPOHOST_API_URL: repohost.url,
    RATE_LIMITS: 'off',
  })
  await migrate(databaseUrl)
  const database = connect({ url: databaseUrl, poolSize: 10, prepare: true })
  const app = await buildApp(config, database, pino({ level: 'silent' }))
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  say(
    `${cpus().length} × ${cpus()[0]?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}`,
  )
  try {
    await work({
      url,
      database,
      databaseUrl,
      rollUp: () => app.rollups.run(),
      signIn: async (login) => {
        const { token: repohostToken } = repohost.addUser(login)
        const reply = await send(url, 'POST', '/api/auth/verify', undefined, {
          repohost_token: repohostToken,
        })
        const { token } = JSON.parse(reply.text)
        const { id } = JSON.parse((await send(url, 'GET', '/api/me', token)).text)
        return { token, id }
      },
    })
  } finally {
    await app.close()
    await database.close()
    await repohost.close()
    await server?.stop()
    if (server) await rm(server.location, { recursive: true, force: true })
    await rm(folder, { recursive: true, force: true })
  }
}

/** One request on a connection that is kept. */
export const send = (
  url: string,
  method: string,
  path: string,
  token?: string,
  body?: unknown,
): Promise<{ status: number; text: string }> =>
  new Promise((resolve, reject) => {
    const headers = {
      ...(token && { Authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
    }
    const sent = request(url + path, { method, headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk) => chunks.push(chunk))
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() })
      })
    })
    sent.on('error', reject)
    sent.end(body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body))
  })

/** @returns the answer's text @throws when the answer is not 200 */
export const expectOk = async (reply: Promise<{ status: number; text: string }>): Promise<string> => {
  const { status, text } = await reply
  if (status !== 200) throw new Error(`${status}: ${text.slice(0, 300)}`)
  return text
}

export const median = (values: number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN

/** Milliseconds of each, taken in turns so that what else the machine does hits all alike; medians. */
export const inTurns = async <Name extends string>(
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

/** How often per second `work` ends with `clients` at it. */
export const perSecond = async (
  clients: number,
  seconds: number,
  work: (client: number, turn: number) => Promise<unknown>,
): Promise<number> => {
  const start = performance.now()
  const end = start + seconds * 1_000
  let done = 0
  await Promise.all(
    Array.from({ length: clients }, async (_, client) => {
      for (let turn = 0; performance.now() < end; turn++) {
        await work(client, turn)
        done++
      }
    }),
  )
  return (done * 1_000) / (performance.now() - start)
}

/** Transactions per second of a script, or undefined where pgbench is not installed. */
export const pgbench = (databaseUrl: string, script: string, clients: number, seconds: number) =>
  new Promise<number | undefined>((resolve, reject) => {
    const child = spawn(
      'pgbench',
      ['-n', '-M', 'prepared', '-c', String(clients), '-T', String(seconds), '-f', '-', databaseUrl],
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
