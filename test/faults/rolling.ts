/**
 * Restarts instances behind HAProxy, two of four at a time, while people are at work: nobody notices. Needs `haproxy`.
 *   node build/test/faults/rolling.js [--restarts 100] [--callers 8] [--delay 2500]
 * Exits with 1 if a request fails or an acknowledged minute is not there once.
 */
import { spawn } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import postgres from 'postgres'
import { startThrowAwayDatabase } from '../../demo/database.js'
import { startRepohost } from '../../demo/repohost.js'
import { projectRoot } from '../../src/runtime/root.js'
import { freePort, launch, onDatabase, ready, temporaryFolder } from '../process.js'
import { until } from '../until.js'

const { values } = parseArgs({
  options: {
    restarts: { type: 'string', default: '100' },
    callers: { type: 'string', default: '8' },
    delay: { type: 'string', default: '2500' },
  },
})
/** Longer than the balancer takes to ask. */
const SHUTDOWN_DELAY_MS = values.delay
const AT_ONCE = 2

const say = (line: string) => process.stdout.write(`${line}\n`)
const ends: (() => unknown)[] = []
const scope = { teardown: (end: () => unknown) => ends.unshift(end) }
const log = { info: () => {}, warn: say, error: say }

const database = await startThrowAwayDatabase({ maxConnections: 100, durable: true, log })
scope.teardown(() => database.stop())
const repohost = await startRepohost()
scope.teardown(() => repohost.close())

const startInstance = (port: number) =>
  ready(
    launch(scope, port, {
      ...onDatabase(database.url),
      REPOHOST_URL: repohost.url,
      REPOHOST_API_URL: repohost.url,
      SHUTDOWN_DELAY_MS,
      LOG_LEVEL: 'error',
    }),
  )

const ports = await Promise.all(Array.from({ length: 4 }, freePort))
const instances = await Promise.all(ports.map(startInstance))

const front = await freePort()
const example = await readFile(join(projectRoot, 'ops/haproxy.cfg'), 'utf8')
const configuration = join(await temporaryFolder(scope), 'haproxy.cfg')
await writeFile(
  configuration,
  example
    .replace(':8080', `:${front}`)
    .replace(/:300([1-4])/g, (_, number: string) => `:${ports[Number(number) - 1]}`),
)
const balancer = spawn('haproxy', ['-f', configuration, '-db', '-q'], { stdio: 'ignore' })
scope.teardown(() => balancer.kill('SIGTERM'))
const url = `http://127.0.0.1:${front}`
await until(async () => (await fetch(`${url}/api/ready`).catch(() => undefined))?.ok, 'the balancer serves')

const failures: string[] = []
let requests = 0
let longest = 0
const send = async (token: string, path: string, body?: object) => {
  const since = performance.now()
  requests++
  try {
    const response = await fetch(`${url}/api${path}`, {
      method: body ? 'POST' : 'GET',
      headers: {
        ...(body && { 'Content-Type': 'application/json' }),
        ...(token && { Authorization: `Bearer ${token}` }),
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    const answer = (await response.json()) as { token: string }
    if (!response.ok) failures.push(`${path}: ${response.status} ${JSON.stringify(answer)}`)
    return { ok: response.ok, answer }
  } catch (error) {
    failures.push(`${path}: ${String((error as Error).cause ?? error)}`)
    return { ok: false, answer: { token: '' } }
  } finally {
    longest = Math.max(longest, performance.now() - since)
  }
}

let isOver = false
const today = new Date().toISOString().slice(0, 10)
/** Flushes and reads until all is over. @returns the minutes that were acknowledged */
const work = async (n: number): Promise<[login: string, minutes: number]> => {
  const login = `caller-${n}`
  const { answer } = await send('', '/auth/verify', { repohost_token: repohost.addUser(login).token })
  await send(answer.token, '/team/workspaces/create', { name: login, patterns: [`${login}/*`] })
  let minutes = 0
  for (let turn = 0; !isOver; turn++) {
    const entries = [{ repo: `${login}/repo`, day: today, minutes: 1 }]
    const flush = await send(answer.token, '/team/active-minutes', { flush_id: `flush-${turn}`, entries })
    if (flush.ok && minutes < 1_440) minutes++
    await send(answer.token, `/team/effective-config?repo=${login}/repo`)
    await sleep(20)
  }
  return [login, minutes]
}
const working = Promise.all(Array.from({ length: Number(values.callers) }, (_, n) => work(n)))

const since = Date.now()
for (let restart = 0; restart < Number(values.restarts); restart += AT_ONCE) {
  const places = Array.from({ length: AT_ONCE }, (_, n) => (restart + n) % ports.length)
  await Promise.all(
    places.map(async (place) => {
      const former = instances[place]
      former?.child.kill('SIGTERM')
      const code = await former?.ended
      if (code !== 0) failures.push(`an instance ended with ${code}`)
      const instance = await startInstance(ports[place] ?? 0)
      instances[place] = instance
    }),
  )
  // Until the balancer has seen that they are ready.
  await sleep(1_500)
  if (restart % 20 === 0)
    say(`${restart + AT_ONCE} restarts, ${requests} requests, ${failures.length} failed`)
}
isOver = true
const acknowledged = new Map(await working)
const sql = postgres(database.url, { max: 1, onnotice: () => {} })
scope.teardown(() => sql.end())
for (const [login, minutes] of acknowledged) {
  const [row] = await sql`
    select coalesce(sum(a.minutes), 0)::int as minutes from activity a join users u on u.id = a.user_id
    where u.login = ${login}`
  if (row?.minutes !== minutes)
    failures.push(`${login}: ${minutes} minutes acknowledged, ${row?.minutes} there`)
}
for (const failure of failures.slice(0, 20)) say(failure)
say(
  `${values.restarts} restarts in ${Math.round((Date.now() - since) / 1_000)} s, ${requests} requests, ${failures.length} failed, longest ${Math.round(longest)} ms`,
)
for (const end of ends) await end()
process.exit(failures.length > 0 ? 1 : 0)
