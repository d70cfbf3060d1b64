import fc from 'fast-check'
import t from 'tap'
import { readFunnel } from '../src/features/funnel/queries.js'
import { hasMembers } from './has-members.js'
import { type Service, startService } from './service.js'

const KEY = 'an-admin-key'
const start = (t: Parameters<typeof startService>[0], env: Record<string, string> = {}) =>
  startService(t, { env: { ADMIN_KEYS: `${KEY},another-one`, ...env } })

const funnel = async (service: Service, query = '', key = KEY) =>
  service.request('GET', `/api/admin/funnel${query}`, { headers: { 'X-Service-Admin-Key': key } })

const stepOf = async (service: Service, event: string) =>
  (await funnel(service)).body.steps.find((step: { event: string }) => step.event === event)

t.test('all events answered with 202 are counted, however many come at once', async (t) => {
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

t.test('events and sources are slugs, and the service’s own source is its own', async (t) => {
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

t.test('milestones are written when the service stops, and need no funnel to be asked for', async (t) => {
  const service = await start(t)
  const ada = await service.signIn('ada')
  const { id } = (await ada.get('/api/me')).body
  service.app.milestones.reached(id, 'activity_flushed')
  service.app.milestones.reached('0193a0c2-7d55-7cc1-9c5e-6a1f2b3c4d5e', 'activity_flushed')
  await service.app.close()
  const next = await startService(t, { beside: service, env: { ADMIN_KEYS: KEY } })
  t.match(await stepOf(next, 'activity_flushed'), { users: 1, events: 1 })
})

t.test('milestones that could not be written are written later', async (t) => {
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

t.test('conversions count people with both steps, and medians are over these people', async (t) => {
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
  hasMembers(t, none, { users: 0, by_source: [], other_events: [] })
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

t.test('ranges are real days in order', async (t) => {
  const service = await start(t)
  t.equal((await funnel(service, '?from=2026-02-01&to=2026-01-01')).body.code, 'invalid_range')
  for (const query of ['?from=2026-02-30', '?to=yesterday', '?from=2026-1-1', '?source=No', '?from=']) {
    t.equal((await funnel(service, query)).body.code, 'validation_failed', query)
  }
  t.equal((await funnel(service, '?from=0001-01-01&to=9999-12-31')).status, 200)
})

t.test('the funnel opens to an admin key alone', async (t) => {
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
  const closed = await startService(t)
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

const DAY_MS = 86_400_000
const START = Date.UTC(2026, 0, 1)
const STEPS = ['s1', 's2', 's3']

interface Happening {
  user: number
  event: string
  source: string
  at: number
}

const happening: fc.Arbitrary<Happening> = fc.record({
  user: fc.nat(4),
  event: fc.constantFrom(...STEPS, 'o1', 'o2'),
  source: fc.constantFrom('x', 'y'),
  at: fc.integer({ min: START, max: START + 5 * DAY_MS - 1 }),
})

/** The funnel, counted by hand from single events. */
const model = (all: Happening[], days: [number, number] | undefined, source: string | undefined) => {
  const events = all.filter(
    ({ at, source: from }) =>
      (!source || from === source) &&
      (!days || (at >= START + days[0] * DAY_MS && at < START + (days[1] + 1) * DAY_MS)),
  )
  const usersOf = (some: Happening[]) => new Set(some.map(({ user }) => user))
  const firstOf = (user: number, event: string) =>
    Math.min(...events.filter((one) => one.user === user && one.event === event).map(({ at }) => at))
  const having = (event: string) => usersOf(events.filter((one) => one.event === event))
  const ratio = (event: string, before: string) => {
    const base = having(before)
    return base.size === 0 ? null : [...having(event)].filter((user) => base.has(user)).length / base.size
  }
  const start = STEPS[0] ?? ''
  const medianOf = (event: string) => {
    const waits = [...having(event)]
      .filter((user) => having(start).has(user))
      .map((user) => Math.max(0, firstOf(user, event) - firstOf(user, start)) / 1_000)
      .sort((one, other) => one - other)
    const middle = (waits.length - 1) / 2
    const [low, high] = [waits[Math.floor(middle)], waits[Math.ceil(middle)]]
    return low === undefined || high === undefined ? null : (low + high) / 2
  }
  const tally = (names: string[], of: (one: Happening) => string) =>
    names
      .map((name) => events.filter((one) => of(one) === name))
      .filter((some) => some.length > 0)
      .map((some) => ({ name: of(some[0] as Happening), users: usersOf(some).size, events: some.length }))
      .sort((a, b) => b.users - a.users || b.events - a.events || a.name.localeCompare(b.name))
  return {
    users: usersOf(events).size,
    steps: STEPS.map((event, index) => ({
      event,
      users: having(event).size,
      events: events.filter((one) => one.event === event).length,
      conversion_from_previous: index === 0 ? null : ratio(event, STEPS[index - 1] ?? ''),
      conversion_from_start: ratio(event, start),
      median_seconds_from_start: medianOf(event),
    })),
    by_source: tally(['x', 'y'], ({ source: from }) => from).map(({ name, ...rest }) => ({
      source: name,
      ...rest,
    })),
    other_events: tally(['o1', 'o2'], ({ event }) => event).map(({ name, ...rest }) => ({
      event: name,
      ...rest,
    })),
  }
}

t.test('the funnel always equals a count by hand', async (t) => {
  const service = await start(t)
  const { database } = service
  const ids = await Promise.all(
    Array.from(
      { length: 5 },
      async (_, n) => (await (await service.signIn(`user${n}`)).get('/api/me')).body.id,
    ),
  )
  await fc.assert(
    fc.asyncProperty(
      fc.array(happening, { maxLength: 25 }),
      fc.option(fc.tuple(fc.nat(4), fc.nat(4)), { nil: undefined }),
      fc.option(fc.constantFrom('x', 'y'), { nil: undefined }),
      async (events, days, source) => {
        await service.app.milestones.flush()
        await database.hot.statement('delete from funnel_users', [])
        await database.hot.statement('delete from funnel_days', [])
        await seed(
          service,
          events.map(({ user, event, source: from, at }) => [
            ids[user],
            event,
            from,
            new Date(at).toISOString(),
            1,
          ]),
        )
        const ordered = days && ([Math.min(...days), Math.max(...days)] as [number, number])
        const dayOf = (offset: number | undefined) =>
          offset === undefined ? undefined : new Date(START + offset * DAY_MS).toISOString().slice(0, 10)
        const range = { from: dayOf(ordered?.[0]), to: dayOf(ordered?.[1]), source }
        const { range: _range, ...counted } = await readFunnel(database.read, STEPS, range)
        const expected = model(events, ordered, source)
        t.same(rounded(counted), rounded(expected), JSON.stringify({ events, range }))
      },
    ),
    { numRuns: 20 },
  )
})

/** Medians are interpolated in floating point there and here. */
const rounded = (value: unknown) =>
  JSON.parse(JSON.stringify(value), (_key, part) =>
    typeof part === 'number' ? Number(part.toFixed(3)) : part,
  )
