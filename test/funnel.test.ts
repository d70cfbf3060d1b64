import t from 'tap'
import { hasProperties } from './has-properties.js'
import { reuseService, type Service, startService } from './service.js'

const KEY = 'an-admin-key'
const start = (t: Parameters<typeof reuseService>[0], env: Record<string, string> = {}) =>
  reuseService(t, 'github', { ADMIN_KEYS: `${KEY},another-one`, ...env })

const funnel = async (service: Service, query = '', key = KEY) =>
  service.request('GET', `/api/admin/funnel${query}`, { headers: { 'X-Service-Admin-Key': key } })

const stepOf = async (service: Service, event: string) =>
  (await funnel(service)).body.steps.find((step: { event: string }) => step.event === event)

t.test('all events that got a 202 are counted, however many arrive concurrently', async (t) => {
  const service = await start(t)
  const callers = await Promise.all(['ada', 'bob', 'eve'].map((login) => service.signIn(login)))
  const replies = await Promise.all(
    callers.flatMap((caller, index) =>
      Array.from({ length: 10 * (index + 1) }, () =>
        caller.post('/api/events', { event: 'panel_opened', source: 'extension' }),
      ),
    ),
  )
  t.ok(replies.every(({ status, body }) => status === 202 && body.ok === true))
  const { body } = await funnel(service)
  t.same(body.other_events, [{ event: 'panel_opened', users: 3, events: 60 }])
  t.same(body.by_source, [
    { source: 'extension', users: 3, events: 60 },
    { source: 'service', users: 3, events: 3 },
  ])
  t.equal(body.users, 3)
  t.same(body.range, { from: null, to: null })
})

t.test('events and sources are slugs, and the service’s own source is reserved', async (t) => {
  const service = await start(t)
  const ada = await service.signIn('ada')
  const good = { event: 'a', source: 'b' }
  for (const body of [
    { ...good, source: 'service' },
    { ...good, event: '' },
    { ...good, event: 'Opened' },
    { ...good, event: '1st' },
    { ...good, event: 'a b' },
    { ...good, event: 'a\n' },
    { ...good, event: 'a'.repeat(65) },
    { ...good, event: 7 },
    { ...good, at: '2026-01-01' },
    { event: 'a' },
  ]) {
    t.equal((await ada.post('/api/events', body)).body.code, 'validation_failed', JSON.stringify(body))
  }
  t.equal((await ada.post('/api/events', { event: `a${'-'.repeat(63)}`, source: 'x.y_z-1' })).status, 202)
  t.equal((await service.request('POST', '/api/events', { body: good })).status, 401)
})

t.test('the service records its own milestones, each once per user', async (t) => {
  const service = await start(t)
  const [ada, bob] = await service.signInAll('ada', 'bob')
  await service.signIn('ada')
  const { code } = await service.workspace(ada, { members: [bob] })
  await service.workspace(ada, { patterns: ['other/*'] })
  await bob.post('/api/team/workspaces/join', { code })
  for (let n = 0; n < 3; n++) {
    await ada.push('acme/api', { 'ext.n': n })
    await bob.get('/api/settings/acme/api')
  }
  await bob.get('/api/settings/acme/unknown')
  // A repeated report of another instance changes nothing.
  const other = await startService(t, { beside: service, env: { ADMIN_KEYS: KEY } })
  await other.request('GET', '/api/settings/acme/api', { headers: { Authorization: `Bearer ${bob.token}` } })
  t.equal((await funnel(other)).status, 200)

  const { body } = await funnel(service, '?source=service')
  const counts = Object.fromEntries(
    [...body.steps, ...body.other_events].map(({ event, users, events }) => [event, [users, events]]),
  )
  t.same(counts, {
    signed_in: [2, 2],
    settings_pushed: [1, 1],
    workspace_created: [1, 1],
    workspace_joined: [1, 1],
    activity_flushed: [0, 0],
    settings_pulled: [1, 1],
  })
})

t.test('milestones are written when the service stops, even if no one reads the funnel', async (t) => {
  const service = await start(t)
  const ada = await service.signIn('ada')
  const { id } = (await ada.get('/api/me')).body
  service.app.milestones.reached(id, 'activity_flushed')
  service.app.milestones.reached('0193a0c2-7d55-7cc1-9c5e-6a1f2b3c4d5e', 'activity_flushed')
  await service.app.close()
  const next = await startService(t, { beside: service, env: { ADMIN_KEYS: KEY } })
  t.match(await stepOf(next, 'activity_flushed'), { users: 1, events: 1 })
})

t.test('milestones that couldn’t be written are written later', async (t) => {
  const service = await start(t)
  await service.app.milestones.flush()
  const rename = (from: string, to: string) =>
    service.database.hot.statement(`alter table ${from} rename to ${to}`, [])
  await rename('funnel_users', 'funnel_gone')
  await service.signIn('ada')
  t.equal((await funnel(service)).status, 500)
  t.equal((await service.signIn('bob')).login, 'bob', 'no one else has to wait')
  await rename('funnel_gone', 'funnel_users')
  t.match(await stepOf(service, 'signed_in'), { users: 2, events: 2 })
})

t.test('conversions count people who took both steps, and medians are over these people', async (t) => {
  const service = await start(t, { FUNNEL_STEPS: 'first,second,third' })
  const logins = ['ada', 'bob', 'eve', 'fay']
  const ids = await Promise.all(
    logins.map(async (login) => (await (await service.signIn(login)).get('/api/me')).body.id as string),
  )
  const [ada = '', bob = '', eve = '', fay = ''] = ids
  await seed(service, [
    [ada, 'first', 'x', '2026-03-01T00:00:00Z', 2],
    [ada, 'second', 'x', '2026-03-01T00:01:40Z', 1],
    [bob, 'first', 'x', '2026-03-02T00:00:00Z', 1],
    [bob, 'second', 'y', '2026-03-02T00:05:00Z', 1],
    [bob, 'third', 'y', '2026-03-03T00:00:00Z', 4],
    [eve, 'third', 'y', '2026-03-01T00:00:00Z', 1],
    [eve, 'first', 'y', '2026-03-04T00:00:00Z', 1],
    [fay, 'second', 'x', '2026-03-04T00:00:00Z', 1],
    [fay, 'elsewhere', 'x', '2026-03-04T00:00:00Z', 9],
  ])
  const all = (await funnel(service, '?to=2026-12-31')).body
  t.same(all.steps, [
    {
      event: 'first',
      users: 3,
      events: 4,
      conversion_from_previous: null,
      conversion_from_start: 1,
      median_seconds_from_start: 0,
    },
    {
      event: 'second',
      users: 3,
      events: 3,
      conversion_from_previous: 2 / 3,
      conversion_from_start: 2 / 3,
      median_seconds_from_start: 200,
    },
    {
      event: 'third',
      users: 2,
      events: 5,
      conversion_from_previous: 1 / 3,
      conversion_from_start: 2 / 3,
      median_seconds_from_start: 43_200,
    },
  ])
  t.match(
    all.other_events.find(({ event }: { event: string }) => event === 'elsewhere'),
    { users: 1, events: 9 },
  )
  t.same((await funnel(service, '?to=2026-12-31&source=y')).body.steps[1], {
    event: 'second',
    users: 1,
    events: 1,
    conversion_from_previous: 0,
    conversion_from_start: 0,
    median_seconds_from_start: null,
  })
  const none = (await funnel(service, '?from=2020-01-01&to=2020-01-02')).body
  hasProperties(t, none, { users: 0, by_source: [], other_events: [] })
  t.same(none.steps[1], {
    event: 'second',
    users: 0,
    events: 0,
    conversion_from_previous: null,
    conversion_from_start: null,
    median_seconds_from_start: null,
  })
  t.equal((await funnel(service, '?from=2026-03-02&to=2026-03-02')).body.users, 1, 'both days are included')
})

t.test('ranges need valid days in order', async (t) => {
  const service = await start(t)
  t.equal((await funnel(service, '?from=2026-02-01&to=2026-01-01')).body.code, 'invalid_range')
  for (const query of ['?from=2026-02-30', '?to=yesterday', '?from=2026-1-1', '?source=No', '?from=']) {
    t.equal((await funnel(service, query)).body.code, 'validation_failed', query)
  }
  t.equal((await funnel(service, '?from=0001-01-01&to=9999-12-31')).status, 200)
})

t.test('only an admin key opens the funnel', async (t) => {
  const service = await start(t)
  const ada = await service.signIn('ada')
  const rejected = async (path: string, headers: Record<string, string> = {}, asked = service) =>
    t.hasStrict(
      (await asked.request('GET', path, { headers })).body,
      { status: 401, code: 'admin_key_invalid' },
      path,
    )
  const path = '/api/admin/funnel'
  await rejected(path)
  await rejected(`${path}?key=`)
  await rejected(`${path}?key=${KEY.slice(0, -1)}`)
  await rejected(`${path}?key=${KEY}x`)
  await rejected(`${path}?key=${KEY.toUpperCase()}`)
  await rejected(`${path}?key=${KEY},another-one`)
  await rejected(`${path}?key=${KEY}&key=${KEY}`)
  await rejected(`${path}?key[]=${KEY}`)
  await rejected(path, { 'X-Service-Admin-Key': '' })
  await rejected(`${path}?key=${KEY}`, { 'X-Service-Admin-Key': 'wrong' })
  await rejected(path, { Authorization: `Bearer ${ada.token}` })
  const closed = await reuseService(t)
  await rejected(`${path}?key=`, {}, closed)
  await rejected(`${path}?key=undefined`, {}, closed)
  t.equal((await service.request('GET', `${path}?key=${KEY}`)).status, 200)
  t.equal((await funnel(service, '', 'another-one')).status, 200)
})

type Row = [userId: string, event: string, source: string, at: string, events: number]

/** Writes events of the past, as if they had been recorded then. */
const seed = async (service: Service, rows: Row[]) => {
  for (const [userId, event, source, at, events] of rows) {
    const parameters = [userId, event, source, at, events]
    await service.database.hot.statement(
      `insert into funnel_users (user_id, event, source, first_at, events) values ($1, $2, $3, $4, $5)
       on conflict (user_id, event, source) do update set
         events = funnel_users.events + excluded.events, first_at = least(funnel_users.first_at, excluded.first_at)`,
      parameters,
    )
    await service.database.hot.statement(
      `insert into funnel_days (user_id, event, source, day, first_at, events)
       values ($1, $2, $3, ($4::timestamptz)::date, $4::timestamptz, $5)
       on conflict (user_id, event, source, day) do update set
         events = funnel_days.events + excluded.events, first_at = least(funnel_days.first_at, excluded.first_at)`,
      parameters,
    )
  }
}
