/** One instance of several processes on one port. */
import { Agent, createServer, get } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import t, { type Test } from 'tap'
import { startRepohost } from '../demo/repohost.js'
import { limits } from '../schemas/limits.js'
import { createTestDatabase } from './database.js'
import {
  freePort,
  launch,
  onDatabase,
  processesOf,
  ready,
  type ServiceProcess,
  temporaryFolder,
} from './process.js'
import { until } from './until.js'

const { url: databaseUrl, drop } = await createTestDatabase()
t.teardown(drop)
const repohost = await startRepohost()
t.teardown(() => repohost.close())

const launchTwo = async (t: Test, env: Record<string, string> = {}) =>
  launch(t, await freePort(), {
    ...onDatabase(databaseUrl),
    WORKERS: '2',
    REPOHOST_URL: repohost.url,
    REPOHOST_API_URL: repohost.url,
    RATE_LIMITS: 'on',
    ...env,
  })

/** A request on a connection of its own, so that workers take turns. */
const ask = (service: ServiceProcess, path: string, token = '', body?: object) =>
  fetch(`${service.url}/api${path}`, {
    method: body ? 'POST' : 'GET',
    headers: {
      Connection: 'close',
      ...(token && { Authorization: `Bearer ${token}` }),
      ...(body && { 'Content-Type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  })

const signIn = async (service: ServiceProcess, login: string) => {
  const reply = await ask(service, '/auth/verify', '', { repohost_token: repohost.addUser(login).token })
  return ((await reply.json()) as { token: string }).token
}

interface Line {
  pid: number
  msg: string
  route?: string
}
const linesOf = (service: ServiceProcess) =>
  service
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Line)
/** The processes that have served a route. */
const serversOf = (service: ServiceProcess, route: string) =>
  new Set(linesOf(service).flatMap((line) => (line.route === route ? [line.pid] : [])))
const workersOf = (service: ServiceProcess) => [
  ...new Set(linesOf(service).flatMap(({ msg, pid }) => (msg.startsWith('Server listening') ? [pid] : []))),
]
const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
/** Two workers that serve. */
const served = async (service: ServiceProcess) => {
  await ready(service)
  await until(() => service.output().includes('The service is at'), 'both workers serve')
  return service
}

t.test('two workers serve as one instance', async (t) => {
  const metricsPort = await freePort()
  const revoked = 300
  const sql = postgres(databaseUrl, { max: 1 })
  await sql`insert into revocations (jti, expires_at)
    select gen_random_uuid(), now() + interval '1 day' from generate_series(1, ${revoked})`
  await sql.end()
  const service = await served(await launchTwo(t, { METRICS_PORT: `${metricsPort}` }))

  await t.test('and count limits together', async (t) => {
    const token = await signIn(service, 'ada')
    const statuses: number[] = []
    for (let n = 0; n <= limits.rate_join_per_caller; n++)
      statuses.push((await ask(service, '/team/invites/WRONG', token)).status)
    t.equal(statuses.pop(), 429)
    t.strictSame(new Set(statuses), new Set([404]))
    await until(() => serversOf(service, '/api/team/invites/:code').size === 2, 'both have served')
  })

  await t.test('and count as refused only what was refused', async (t) => {
    const hostToken = repohost.addUser('carol').token
    const signedIn = await ask(service, '/auth/verify', '', { repohost_token: hostToken })
    const { token } = (await signedIn.json()) as { token: string }
    const push = async (shown: string) => {
      const reply = await fetch(`${service.url}/api/settings/carol/repo`, {
        method: 'PUT',
        headers: {
          Connection: 'close',
          'Content-Type': 'application/json',
          Authorization: `Bearer ${token}`,
          'X-Repohost-Token': shown,
        },
        body: '{"settings":{}}',
      })
      return reply.status
    }
    const all = (times: number, shown: string) =>
      Promise.all(Array.from({ length: times }, () => push(shown)))
    const max = limits.rate_refused_tokens_per_caller
    t.strictSame(new Set(await all(max - 1, 'not-a-token')), new Set([401]))
    t.strictSame(new Set(await all(8, hostToken)), new Set([200]), 'with one left, who is right has it')
    t.equal(await push('not-a-token'), 401)
    t.equal(await push(hostToken), 429)
  })

  await t.test('and a logout holds in both', async (t) => {
    const token = await signIn(service, 'bob')
    t.equal((await ask(service, '/auth/logout', token, {})).status, 200)
    await until(async () => {
      const replies = await Promise.all(Array.from({ length: 6 }, () => ask(service, '/me', token)))
      return replies.every(({ status }) => status === 401)
    }, 'the token is refused by both')
  })

  await t.test('and their metrics are added up', async () => {
    const own = () => ask(service, '/limits')
    for (let n = 0; n < 10; n++) await own()
    const scrape = async () => (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
    const line = /^http_request_duration_seconds_count\{.*route="\/api\/limits".*\} (\d+)$/m
    await until(async () => Number(line.exec(await scrape())?.[1]) === 10, 'all requests are counted')
    await until(() => serversOf(service, '/api/limits').size === 2, 'both have served')
  })

  await t.test('and what was revoked before is read by each, and asked for no more', async (t) => {
    const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
    const line =
      /^team_settings_database_statement_duration_seconds_count\{statement="select revocations"\} (\d+)$/m
    const reads = Number(line.exec(metrics)?.[1])
    t.ok(reads >= 2 && reads < revoked / 2, `${reads} reads`)
  })

  await t.test('and one that dies is replaced, while the other serves', async (t) => {
    const before = workersOf(service)
    process.kill(before[0] ?? 0, 'SIGKILL')
    await until(() => workersOf(service).length > before.length, 'there is another one')
    t.match(
      linesOf(service).filter(({ msg }) => /a worker has ended/.test(msg)),
      { length: 1 },
    )
    for (let n = 0; n < 6; n++) t.equal((await ask(service, '/ready')).status, 200)
  })

  await t.test('and serve on while the primary process is suspended', async (t) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const onOneConnection = () =>
      new Promise<number | undefined>((resolve, reject) => {
        get(`${service.url}/api/limits`, { agent }, (response) => {
          response.resume().on('end', () => resolve(response.statusCode))
        }).on('error', reject)
      })
    t.equal(await onOneConnection(), 200)
    service.child.kill('SIGSTOP')
    for (let n = 0; n < 3; n++) t.equal(await onOneConnection(), 200)
    service.child.kill('SIGCONT')
    agent.destroy()
    const says = (text: string) => linesOf(service).some(({ msg }) => msg.startsWith(text))
    await until(() => says('the primary process does not answer'), 'the worker counts for itself')
    await until(() => says('the primary process answers'), 'and with the others again')
  })

  const workers = workersOf(service)
  service.child.kill('SIGTERM')
  t.equal(await service.ended, 0, 'a signal ends all of them in good order')
  t.notOk(workers.some(isAlive))
})

/** The repository host, which lets requests wait once it is told to. */
const startSlowHost = async (t: Test) => {
  const open = new Set<object>()
  const host = { isSlow: false, open, begun: 0, url: '' }
  const server = createServer(async (request, response) => {
    if (host.isSlow) {
      host.begun++
      open.add(request)
      request.socket.once('close', () => open.delete(request))
      return
    }
    const { authorization = '' } = request.headers
    const reply = await fetch(`${repohost.url}${request.url}`, { headers: { authorization } })
    response.writeHead(reply.status, { 'Content-Type': 'application/json' }).end(await reply.text())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  t.teardown(() => server.closeAllConnections())
  host.url = `http://127.0.0.1:${(server.address() as { port: number }).port}`
  return host
}

t.test('the places of a caller are shared, and those of a dead worker are given back', async (t) => {
  const host = await startSlowHost(t)
  const service = await served(await launchTwo(t, { REPOHOST_API_URL: host.url }))
  const token = await signIn(service, 'dave')
  host.isSlow = true
  const atOnce = limits.requests_at_once_per_caller
  const push = () =>
    fetch(`${service.url}/api/settings/dave/repo`, {
      method: 'PUT',
      headers: {
        Connection: 'close',
        'Content-Type': 'application/json',
        Authorization: `Bearer ${token}`,
        'X-Repohost-Token': 'slow',
      },
      body: '{"settings":{}}',
    }).catch(() => {})
  const pushes = Array.from({ length: 3 * atOnce }, push)
  await until(() => host.open.size === atOnce, 'as many are under way as one instance lets in')
  process.kill(workersOf(service)[0] ?? 0, 'SIGKILL')
  // Those who waited may have waited at the worker that is gone, or for too long.
  pushes.push(...Array.from({ length: atOnce }, push))
  await until(() => host.begun > atOnce && host.open.size === atOnce, 'others have their turn')
  service.child.kill('SIGKILL')
  await Promise.all(pushes)
})

t.test('what stops one process stops all of them', async (t) => {
  const [service, killed] = await Promise.all([
    launchTwo(t, { SHUTDOWN_DELAY_MS: '60000' }).then(served),
    launchTwo(t).then(served),
  ])
  const [workers, others] = [workersOf(service), workersOf(killed)]
  killed.child.kill('SIGKILL')
  await until(() => !others.some(isAlive), 'without the primary process no worker stays')

  // A terminal sends its signals to all.
  for (const pid of [...workers, service.child.pid ?? 0]) process.kill(pid, 'SIGINT')
  await until(async () => (await ask(service, '/ready')).status === 503, 'balancers are turned away')
  t.equal((await ask(service, '/health')).status, 200, 'and it serves on')
  for (const pid of workers) process.kill(pid, 'SIGSTOP')
  await sleep(1_100)
  service.child.kill('SIGINT')
  t.equal(await service.ended, 1, 'a second signal waits for nobody')
  t.notOk(workers.some(isAlive))
})

t.test('what keeps all from starting is said once', async (t) => {
  const taken = createServer()
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
  t.teardown(() => taken.close())
  const { port } = taken.address() as { port: number }
  const service = launch(t, port, { ...onDatabase(databaseUrl), WORKERS: '3' })
  t.equal(await service.ended, 1)
  t.equal(service.output().match(/PORT \d+ is in use by another program/g)?.length, 1)
})

t.test('with an embedded database the primary process keeps it, and nothing is left behind', async (t) => {
  const DATA_DIR = await temporaryFolder(t)
  const service = await served(
    launch(t, await freePort(), { DATA_DIR, WORKERS: '2', REPOHOST_API_URL: repohost.url }),
  )
  const token = await signIn(service, 'carol')
  const replies = await Promise.all(Array.from({ length: 6 }, () => ask(service, '/me', token)))
  t.strictSame(new Set(replies.map(({ status }) => status)), new Set([200]), 'both know the secret')
  service.child.kill('SIGTERM')
  t.equal(await service.ended, 0)
  t.strictSame(await processesOf(DATA_DIR), [])
})
