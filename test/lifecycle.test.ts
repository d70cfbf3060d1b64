import { once } from 'node:events'
import { readFile, stat } from 'node:fs/promises'
import { Agent, get } from 'node:http'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import t from 'tap'
import { startRepohost } from '../src/demo/repohost.js'
import { readToday } from '../src/queries/activity.js'
import { projectRoot } from '../src/root.js'
import { createTestDatabase } from './database.js'
import { lockWaiters, whileHeld } from './locks.js'
import { freePort, launch, onDatabase, ready, type ServiceProcess, temporaryFolder } from './process.js'
import { patiently, type Reply, startService } from './service.js'

const signIn = async (service: ServiceProcess, token: string) => {
  const reply = await fetch(`${service.url}/api/auth/verify`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ repohost_token: token }),
  })
  return ((await reply.json()) as { token: string }).token
}

const push = async (service: ServiceProcess, session: string, hostToken: string, repo: string, n: number) => {
  const reply = await fetch(`${service.url}/api/settings/ada/${repo}`, {
    method: 'PUT',
    headers: {
      'Content-Type': 'application/json',
      Authorization: `Bearer ${session}`,
      'X-Repohost-Token': hostToken,
    },
    body: JSON.stringify({ settings: { 'ext.n': n } }),
  })
  if (!reply.ok) throw new Error(await reply.text())
  return ((await reply.json()) as { version: number }).version
}

const pull = async (service: ServiceProcess, session: string, repo: string) => {
  const headers = { Authorization: `Bearer ${session}` }
  const reply = await fetch(`${service.url}/api/settings/ada/${repo}`, { headers })
  return (await reply.json()) as { version: number; settings: { 'ext.n': number } }
}

t.test(
  'with nothing but a folder the service starts, survives kill -9 and keeps what it acknowledged',
  async (t) => {
    const DATA_DIR = await temporaryFolder(t)
    const repohost = await startRepohost()
    t.teardown(() => repohost.close())
    const { token } = repohost.addUser('ada')
    const env = { DATA_DIR, REPOHOST_API_URL: repohost.url }
    const port = await freePort()

    const first = await ready(launch(t, port, env))
    t.match(first.output(), new RegExp(`The reference is at http://127.0.0.1:${port}/api/docs`))
    const session = await signIn(first, token)

    const second = launch(t, await freePort(), env)
    t.not(await second.ended, 0, 'a second process on the same folder is refused')
    t.match(
      second.output(),
      /Another process of this service is using .*Stop it first, or give this one another DATA_DIR/,
    )
    t.equal((await fetch(`${first.url}/api/ready`)).status, 200, 'and does not disturb the first')

    const acknowledged = [0, 0, 0, 0]
    let killed = false
    const writers = acknowledged.map(async (_, index) => {
      for (let n = 1; !killed; n++) {
        try {
          acknowledged[index] = await push(first, session, token, `r${index}`, n)
        } catch {
          return
        }
      }
    })
    while (acknowledged.some((version) => version < 3)) await sleep(20)
    first.child.kill('SIGKILL')
    killed = true
    await Promise.all(writers)
    await first.ended

    const again = await ready(launch(t, port, env))
    for (const [index, version] of acknowledged.entries()) {
      t.ok(version > 0)
      const kept = await pull(again, session, `r${index}`)
      t.ok(
        kept.version === version || kept.version === version + 1,
        `version ${version} of r${index} was acknowledged`,
      )
      t.equal(kept.settings['ext.n'], kept.version)
    }
    t.equal((await stat(join(DATA_DIR, 'jwt-secret'))).mode & 0o777, 0o600)
    t.equal((await stat(join(DATA_DIR, 'postgresql-password'))).mode & 0o777, 0o600)

    again.child.kill('SIGINT')
    t.equal(await again.ended, 0)
    const log = await readFile(join(DATA_DIR, 'postgresql.log'), 'utf8')
    t.match(log, /database system is shut down\n$/, 'the database was stopped with the service')
  },
)

t.test('a stop lets requests in flight end and closes kept-alive connections', async (t) => {
  const { url, drop } = await createTestDatabase()
  t.teardown(drop)
  const repohost = await startRepohost()
  t.teardown(() => repohost.close())
  const { token } = repohost.addUser('ada')
  const service = await ready(
    launch(t, await freePort(), { ...onDatabase(url), REPOHOST_API_URL: repohost.url }),
  )

  const agent = new Agent({ keepAlive: true })
  await new Promise((resolve) =>
    get(`${service.url}/api/health`, { agent }, (response) => response.resume().on('end', resolve)),
  )
  repohost.fault = 'hang'
  const slow = fetch(`${service.url}/api/auth/verify`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ repohost_token: token }),
  })
  while (repohost.requests.length === 0) await sleep(10)
  const stopped = Date.now()
  service.child.kill('SIGTERM')
  const reply = await slow
  t.equal(reply.status, 504, 'the request that was under way got its answer')
  t.equal(reply.headers.get('connection'), 'close')
  t.equal(await service.ended, 0)
  t.ok(Date.now() - stopped < 10_000, 'within ten seconds')
  agent.destroy()
})

t.test('many instances that start at once on an empty database migrate it once', async (t) => {
  const { url, drop } = await createTestDatabase('template0')
  t.teardown(drop)
  const ports = await Promise.all(Array.from({ length: 4 }, freePort))
  const instances = await Promise.all(ports.map((port) => ready(launch(t, port, onDatabase(url)))))
  t.equal(instances.length, 4)
  const database = postgres(url, { max: 1 })
  t.teardown(() => database.end())
  const journal = await readFile(join(projectRoot, 'drizzle/meta/_journal.json'), 'utf8')
  const applied =
    await database`select created_at::float8 as when from drizzle.__drizzle_migrations order by id`
  t.same(
    applied.map(({ when }) => when),
    JSON.parse(journal).entries.map(({ when }: { when: number }) => when),
  )
})

t.test('a wrong configuration refuses to start and says all that is wrong', async (t) => {
  const service = launch(t, await freePort(), { DATABASE_URL: 'nonsense', LOG_LEVEL: 'loud' })
  t.equal(await service.ended, 1)
  t.match(service.output(), /DATABASE_URL must be[\s\S]*LOG_LEVEL must be/)
  t.notMatch(service.output(), /at .*\.js/, 'without a stack')
  for (const [env, said] of [
    [{ DATA_DIR: join(projectRoot, 'package.json') }, /DATA_DIR is not a folder/],
    [{ DATA_DIR: '/proc/nowhere' }, /DATA_DIR is not a folder/],
    [
      onDatabase('postgres://nobody@127.0.0.1:1/nothing'),
      /DATABASE_URL names a database that cannot be used/,
    ],
  ] as const) {
    const refused = launch(t, await freePort(), env)
    t.equal(await refused.ended, 1)
    t.match(refused.output(), said)
    t.notMatch(refused.output(), /at .*\.js/)
  }
})

t.test('metrics have a port of their own', async (t) => {
  const { url, drop } = await createTestDatabase()
  t.teardown(drop)
  const METRICS_PORT = String(await freePort())
  const service = await ready(launch(t, await freePort(), { ...onDatabase(url), METRICS_PORT }))
  const metrics = await (await fetch(`http://127.0.0.1:${METRICS_PORT}/metrics`)).text()
  t.match(
    metrics,
    /http_request_duration_seconds_count\{method="GET",route="\/api\/ready",status="200"\} \d+/,
  )
  t.equal((await fetch(`${service.url}/metrics`)).status, 404)
})

t.test('a database that is away is answered with 503, and comes back by itself', async (t) => {
  const service = await startService(t)
  const ada = await service.signIn('ada')
  const admin = postgres(new URL('/postgres', service.databaseUrl).href, { max: 1, onnotice: () => {} })
  t.teardown(() => admin.end())
  const name = new URL(service.databaseUrl).pathname.slice(1)
  await admin.unsafe(`alter database ${name} with allow_connections false`)
  await admin`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name}`

  const started = Date.now()
  const away = await ada.get('/api/me')
  t.match(away, { status: 503, body: { code: 'unavailable' } })
  t.ok(Number(away.headers.get('retry-after')) >= 1)
  t.ok(Date.now() - started < 2_500)
  t.equal((await service.request('GET', '/api/health')).status, 200)
  t.match(await service.request('GET', '/api/ready'), { status: 503, body: { code: 'unavailable' } })

  await admin.unsafe(`alter database ${name} with allow_connections true`)
  let back = await ada.get('/api/me')
  for (let attempt = 0; back.status !== 200 && attempt < 50; attempt++) {
    await sleep(100)
    back = await ada.get('/api/me')
  }
  t.equal(back.status, 200, 'within five seconds and without a restart')
})

/** A network to the database that can stop carrying anything without closing a connection. */
const startLine = async (test: Parameters<typeof startService>[0], databaseUrl: string) => {
  const { hostname, port } = new URL(databaseUrl)
  const pairs: [Socket, Socket][] = []
  let isFrozen = false
  const server = createServer((client) => {
    const pair: [Socket, Socket] = [client, connect(Number(port), hostname)]
    pairs.push(pair)
    for (const socket of pair)
      socket.on('error', () => {}).on('close', () => pair.map((one) => one.destroy()))
    if (!isFrozen) client.pipe(pair[1]).pipe(client)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  test.teardown(() => {
    server.close()
    for (const socket of pairs.flat()) socket.destroy()
  })
  const url = new URL(databaseUrl)
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url: url.href,
    freeze: () => {
      isFrozen = true
      for (const socket of pairs.flat()) socket.unpipe().pause()
    },
    thaw: () => {
      isFrozen = false
      for (const [client, database] of pairs) client.pipe(database).pipe(client)
    },
  }
}

t.test('a database that falls silent is answered with 503, also in transactions', async (t) => {
  const service = await startService(t)
  const ada = await service.signIn('ada')
  const line = await startLine(t, service.databaseUrl)
  const { url } = await ready(launch(t, await freePort(), onDatabase(line.url)))
  const create = () =>
    fetch(`${url}/api/team/workspaces/create`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${ada.token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ name: 'Acme', patterns: ['acme/*'] }),
    })
  t.equal((await create()).status, 201)
  line.freeze()
  const started = Date.now()
  const reply = await create()
  t.equal(reply.status, 503)
  t.ok(reply.headers.get('retry-after'))
  t.ok(Date.now() - started < 7_000)
  line.thaw()
  t.equal((await create()).status, 201)
})

t.test('when every connection is busy, requests fail fast and recover', async (t) => {
  const service = await startService(t, { env: { DATABASE_POOL_SIZE: '2' } })
  const ada = await service.signIn('ada')
  await ada.push('ada/a', {})
  const other = postgres(service.databaseUrl, { max: 1 })
  t.teardown(() => other.end())
  const started = Date.now()
  await other.begin(async (sql) => {
    await sql`lock table users in access exclusive mode`
    const replies = await Promise.all(Array.from({ length: 40 }, () => ada.get('/api/settings/ada/a')))
    for (const reply of replies) t.match(reply, { status: 503, body: { code: 'unavailable' } })
    t.ok(Date.now() - started < 5_000, 'none hangs')
    t.equal((await service.request('GET', '/api/health')).status, 200)
  })
  t.equal((await ada.get('/api/settings/ada/a')).status, 200)
})

t.test('a connection that dies within a transaction costs that request alone', async (t) => {
  const service = await startService(t)
  const ada = await service.signIn('ada')
  const { id } = await service.workspace(ada)
  const flush = {
    flush_id: 'once',
    // It takes a transaction to change it.
    timezone: 'Europe/Berlin',
    entries: [{ repo: 'acme/a', day: await readToday(service.database), minutes: 5 }],
  }
  for (let round = 0; round < 3; round++) {
    let reply: Promise<Reply> | undefined
    await whileHeld(
      service,
      ['select from members where workspace_id = $1::uuid for update', id],
      async () => {
        reply = ada.post('/api/team/active-minutes', flush)
        await lockWaiters(service)
        await service.database.query(
          `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`,
          [],
        )
        t.match(await reply, { status: 503, body: { code: 'unavailable' } })
      },
    )
  }
  t.match(await patiently(() => ada.post('/api/team/active-minutes', flush)), {
    status: 200,
    body: { accepted: 1, duplicate: false },
  })
})
