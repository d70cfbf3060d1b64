import postgres from 'postgres'
import t from 'tap'
import { readToday } from '../src/platform/time/clock.js'
import { startEditingProxy } from './editing-proxy.js'
import { startFreezableProxy } from './freezable-proxy.js'
import { hasProperties } from './has-properties.js'
import { lockWaiters, whileHeld } from './locks.js'
import { retryWhileUnavailable, type Service, startService, startTeam } from './service.js'
import { startTcpProxy } from './tcp-proxy.js'

t.test('while the database is unavailable, requests get 503, and the service recovers', async (t) => {
  const service = await startService(t)
  const ada = await service.signIn('ada')
  const admin = postgres(new URL('/postgres', service.databaseUrl).href, { max: 1, onnotice: () => {} })
  t.teardown(() => admin.end())
  const name = new URL(service.databaseUrl).pathname.slice(1)
  await admin.unsafe(`alter database ${name} with allow_connections false`)
  await admin`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name}`

  const away = await ada.get('/api/me')
  t.hasStrict(away, { status: 503, body: { code: 'unavailable' } })
  t.ok(Number(away.headers.get('retry-after')) >= 1)
  t.equal((await service.request('GET', '/api/health')).status, 200)
  t.hasStrict(await service.request('GET', '/api/ready'), { status: 503, body: { code: 'unavailable' } })

  await admin.unsafe(`alter database ${name} with allow_connections true`)
  t.equal((await retryWhileUnavailable(() => ada.get('/api/me'))).status, 200, 'without a restart')
})

t.test('while the database doesn’t respond, requests get 503, even in transactions', async (t) => {
  const service = await startService(t)
  const ada = await service.signIn('ada')
  const line = await startFreezableProxy(t, service.databaseUrl)
  const env = { DATABASE_URL: line.url }
  const { url } = await startService(t, { beside: service, env, timeoutFactor: 1 })
  const create = () =>
    fetch(`${url}/api/team/workspaces/create`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${ada.token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ name: 'Acme', patterns: ['acme/*'] }),
    })
  t.equal((await create()).status, 201)
  line.freeze()
  const reply = await create()
  t.equal(reply.status, 503)
  t.ok(reply.headers.get('retry-after'))
  line.thaw()
  t.equal((await create()).status, 201)
})

t.test('when every connection is busy, requests fail fast, and the service recovers', async (t) => {
  const first = await startService(t)
  const ada = await first.signIn('ada')
  await ada.push('ada/a', {})
  const small = await startService(t, { beside: first, env: { DATABASE_POOL_SIZE: '2' }, timeoutFactor: 1 })
  const read = () =>
    small.request('GET', '/api/settings/ada/a', { headers: { Authorization: `Bearer ${ada.token}` } })
  const other = postgres(first.databaseUrl, { max: 1 })
  t.teardown(() => other.end())
  await other.begin(async (sql) => {
    await sql`lock table users in access exclusive mode`
    const replies = await Promise.all(Array.from({ length: 12 }, read))
    for (const reply of replies) t.hasStrict(reply, { status: 503, body: { code: 'unavailable' } })
    t.equal((await small.request('GET', '/api/health')).status, 200)
  })
  t.equal((await retryWhileUnavailable(read)).status, 200)
})

/** A team whose requests reach the database through a proxy, and some of each kind: reads, writes, transactions. */
const startBehind = async (t: Parameters<typeof startTeam>[0], service: Service, databaseUrl: string) => {
  const [ada] = await service.signInAll('ada')
  const { id } = await service.workspace(ada, { patterns: ['acme/*'] })
  const day = await readToday(service.database)
  const beside = await startService(t, { beside: service, env: { DATABASE_URL: databaseUrl } })
  let made = 0
  const send = (method: string, path: string, body?: object) =>
    beside.request(method, path, { body, headers: { Authorization: `Bearer ${ada.token}` } })
  const requests = [
    () => send('GET', '/api/me'),
    () => send('GET', `/api/team/dashboard?workspace=${id}`),
    () => send('PATCH', `/api/team/workspaces/${id}/settings`, { settings: { 'ext.a': ++made } }),
    () => send('GET', `/api/team/workspaces/${id}/settings`),
    () =>
      send('POST', '/api/team/active-minutes', {
        flush_id: `flush ${++made}`,
        entries: [{ repo: 'acme/a', day, minutes: 1 }],
      }),
    () =>
      send('PUT', `/api/team/workspaces/${id}/project-settings/acme/a`, { settings: { 'ext.a': ++made } }),
    () => send('GET', '/api/ready'),
  ]
  return { requests }
}

t.test('wherever a connection breaks, the response is either 503 or the normal one', async (t) => {
  const service = await startService(t)
  const proxy = await startTcpProxy(t, service.databaseUrl)
  const { requests } = await startBehind(t, service, proxy.url)
  for (const request of requests) t.equal((await retryWhileUnavailable(request)).status, 200)
  const seen = new Map<number, number>()
  for (const from of ['client', 'server'] as const)
    for (let at = 0; at < 6; at++)
      for (const request of requests) {
        let passed = 0
        proxy.cut = (source) => source === from && passed++ === at
        const { status } = await request()
        proxy.cut = undefined
        seen.set(status, (seen.get(status) ?? 0) + 1)
        const after = await retryWhileUnavailable(request)
        t.equal(after.status, 200, 'and the next one succeeds')
      }
  t.same([...seen.keys()].sort(), [200, 503], JSON.stringify([...seen]))
})

t.test(
  'if the database responds to a different statement, the request gets 503 and the connection is closed',
  async (t) => {
    const service = await startService(t)
    const proxy = await startEditingProxy(t, service.databaseUrl)
    const { requests } = await startBehind(t, service, proxy.url)
    const completed = (command: string) => {
      const message = Buffer.alloc(6 + command.length)
      message.write('C', 'latin1')
      message.writeUInt32BE(message.length - 1, 1)
      message.write(command, 5, 'latin1')
      return message
    }
    const edits: Record<string, (type: string, message: Buffer) => Buffer> = {
      'no end': (type, message) => (type === 'C' ? Buffer.alloc(0) : message),
      'nothing at all': (type, message) =>
        ['C', 'T', 'n', 'D', '2'].includes(type) ? Buffer.alloc(0) : message,
      'another command': (type, message) => (type === 'C' ? completed('VACUUM') : message),
      'another number of rows': (type, message) =>
        type === 'C' && message.includes('SELECT') ? completed('SELECT 777') : message,
    }
    const isAnswered = async (request: (typeof requests)[number]) =>
      (await retryWhileUnavailable(request)).status === 200
    for (const [name, edit] of Object.entries(edits)) {
      const statuses = new Set<number>()
      for (const request of requests) {
        t.ok(await isAnswered(request), `${name}: before`)
        const before = proxy.connections()
        proxy.edit = edit
        const { status } = await request()
        proxy.edit = undefined
        statuses.add(status)
        t.ok(await isAnswered(request), `${name}: afterwards`)
        if (status === 503) t.ok(proxy.connections() > before, `${name}: over a new connection`)
      }
      t.notOk(statuses.has(500), `${name}: ${[...statuses]}`)
      t.ok(statuses.has(503), `${name}: ${[...statuses]}`)
    }
  },
)

t.test('a connection that breaks during a transaction fails only that request', async (t) => {
  const { service, ada } = await startTeam(t)
  const flush = {
    flush_id: 'once',
    // A changed time zone makes the transaction wait for the lock of the user's row.
    timezone: 'Europe/Berlin',
    entries: [{ repo: 'acme/a', day: await readToday(service.database), minutes: 5 }],
  }
  await whileHeld(service, ['select from users where login_key = $1::text for update', 'ada'], async () => {
    const reply = ada.post('/api/team/active-minutes', flush)
    await lockWaiters(service)
    await service.database.hot.statement(
      `select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`,
      [],
    )
    t.hasStrict(await reply, { status: 503, body: { code: 'unavailable' } })
  })
  t.match(await retryWhileUnavailable(() => ada.post('/api/team/active-minutes', flush)), {
    status: 200,
    body: { accepted: 1, duplicate: false },
  })
})

t.test('a write whose commit gets no response is repeated if it’s safe, and counts once', async (t) => {
  const { service, ada, id } = await startTeam(t)
  const proxy = await startTcpProxy(t, service.databaseUrl)
  const beside = await startService(t, { beside: service, env: { DATABASE_URL: proxy.url } })
  const day = await readToday(service.database)
  const send = (path: string, body: object) =>
    beside.request('POST', path, { body, headers: { Authorization: `Bearer ${ada.token}` } })
  const flushOf = (repos: number, flush_id?: string) => () =>
    send('/api/team/active-minutes', {
      flush_id,
      entries: Array.from({ length: repos }, (_, n) => ({ repo: `acme/r${n}`, day, minutes: 1 })),
    })
  let hour = 0
  const beat = (heartbeats: number) => () => {
    hour++
    const from = Date.parse(day) / 1_000 - hour * 3_600
    const body = Array.from({ length: heartbeats }, (_, n) => ({
      time: from + n * 10,
      project: 'acme/beats',
    }))
    return send('/api/wakatime/v1/users/current/heartbeats.bulk', body)
  }
  const sum = async () => {
    const [row] = await service.database.read.statement<{ minutes: number }>(
      `select coalesce(sum(minutes), 0)::int as minutes from daily_activity
      where workspace_id = $1::uuid and repo_key <> 'acme/beats'`,
      [id],
    )
    return row?.minutes
  }
  /** Breaks the connection when it brings the response to a commit. */
  const withoutResponse = async (call: () => Promise<{ status: number; body: unknown }>) => {
    let isCut = false
    proxy.cut = (from, bytes) => {
      if (isCut || from !== 'server' || !bytes.includes('COMMIT')) return false
      isCut = true
      return true
    }
    const reply = await call()
    proxy.cut = undefined
    t.ok(isCut, 'the connection was broken')
    return reply
  }
  // Opens the connections, and stores the names of the repositories.
  t.equal((await flushOf(60, 'first')()).status, 200)
  t.equal(await sum(), 60)

  t.match(await withoutResponse(flushOf(1, 'small')), { status: 200, body: { duplicate: true } })
  t.equal(await sum(), 61)
  t.match(await withoutResponse(flushOf(60, 'large')), { status: 200, body: { duplicate: true } })
  t.equal(await sum(), 121)
  for (const repos of [1, 60]) {
    const before = await sum()
    t.hasStrict(await withoutResponse(flushOf(repos)), { status: 503, body: { code: 'unavailable' } })
    t.equal(await sum(), (before ?? 0) + repos, 'which can’t be repeated')
  }
  for (const heartbeats of [1, 60]) t.equal((await withoutResponse(beat(heartbeats))).status, 202)
})

t.test('while the database has no disk space, requests get 503, and nothing is half done', async (t) => {
  const { service, ada, id } = await startTeam(t)
  const admin = postgres(service.databaseUrl, { max: 1, onnotice: () => {} })
  t.teardown(() => admin.end())
  // PostgreSQL's error when it can't extend a table, here at the end of every transaction that writes the audit trail.
  await admin.unsafe(`
    create function no_room() returns boolean language plpgsql as
      $$ begin raise exception 'could not extend file: No space left on device' using errcode = 'disk_full'; end $$`)
  await admin.unsafe('alter table audit_entries add constraint no_room check (no_room()) not valid')
  const path = `/api/team/workspaces/${id}`
  for (const reply of [
    await ada.push('ada/repo', { 'ext.a': 1 }),
    await ada.post(`${path}/invites`, {}),
    await ada.patch(path, { name: 'Other' }),
  ]) {
    t.hasStrict(reply, { status: 503, body: { code: 'unavailable' } })
    t.ok(Number(reply.headers.get('retry-after')) >= 1)
  }
  for (const path of ['/api/health', '/api/ready'])
    t.equal(
      (await service.request('GET', path)).status,
      200,
      `${path}: reads continue, so balancers keep the instance`,
    )
  await admin.unsafe('alter table audit_entries drop constraint no_room')
  hasProperties(t, (await ada.get('/api/team/me')).body.workspaces, [{ name: 'Acme' }])
  t.equal((await ada.get(`${path}/invites`)).body.invites.length, 1)
  t.match((await ada.push('ada/repo', { 'ext.a': 1 })).body, { version: 1 })
})
