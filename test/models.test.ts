import t from 'tap'
import { ALLOWED_KEYS, DENIED_KEYS } from '../schemas/denied-patterns.js'
import { limits } from '../schemas/limits.js'
import {
  type Caller,
  faultsByBudget,
  type Reply,
  reuseService,
  startProviders,
  startService,
} from './service.js'
import { until } from './until.js'

const routes = { a: '/api/assistant-a-models', b: '/api/assistant-b-models' }

const shared = await startProviders(t)

const start = async (t: Parameters<typeof startService>[0]) => {
  const { a, b } = shared.providers
  for (const provider of [a, b])
    Object.assign(provider, { requests: [], endless: false, pageSize: 1_000, fault: undefined })
  const service = await reuseService(t, 'github', shared.env)
  return { service, ada: await service.signIn('ada'), a, b }
}

const startWithBudget = async (t: Parameters<typeof startService>[0], budgetMs: number) => {
  const setup = await startProviders(t, { budgetMs })
  const service = await startService(t, setup)
  return { service, ada: await service.signIn('ada'), ...setup.providers }
}

const list = (caller: Caller, which: 'a' | 'b', key: string) =>
  caller.get(`${routes[which]}?apiKey=${encodeURIComponent(key)}`)

t.test('both lists are returned newest first and in the same format', async (t) => {
  const { service, ada, a, b } = await start(t)
  a.models = [
    { id: 'older', createdAt: '2025-01-01T00:00:00.000Z' },
    { id: 'newest', createdAt: '2026-06-01T12:30:05.000Z' },
    { id: 'middle', createdAt: '2025-09-01T00:00:00.000Z' },
  ]
  const fromA = await list(ada, 'a', a.key)
  t.equal(fromA.status, 200)
  t.equal(fromA.headers.get('cache-control'), 'no-store')
  t.same(fromA.body, {
    models: [
      { id: 'newest', name: 'newest', created_at: '2026-06-01T12:30:05.000Z' },
      { id: 'middle', name: 'middle', created_at: '2025-09-01T00:00:00.000Z' },
      { id: 'older', name: 'older', created_at: '2025-01-01T00:00:00.000Z' },
    ],
  })
  b.models = [{ id: 'beta', createdAt: '2025-02-24T00:00:00Z' }]
  t.same((await list(ada, 'b', b.key)).body, {
    models: [{ id: 'beta', name: 'Model beta', created_at: '2025-02-24T00:00:00.000Z' }],
  })
  t.equal((await service.request('GET', `${routes.a}?apiKey=x`)).status, 401)
})

t.test('every page of the provider’s list is followed', async (t) => {
  const { ada, b } = await start(t)
  b.pageSize = 7
  b.models = Array.from({ length: 45 }, (_, n) => ({
    id: `model/${n}`,
    createdAt: new Date(Date.UTC(2025, 0, 1 + ((n * 7) % 45))).toISOString(),
  }))
  const { body } = await list(ada, 'b', b.key)
  t.equal(body.models.length, 45)
  const times = body.models.map((model: { created_at: string }) => model.created_at)
  t.same(times, times.toSorted().reverse())
  t.equal(b.requests.length, 7)
  t.match(b.requests[0], /limit=1000/)
})

t.test('an endless provider list ends in a 502', async (t) => {
  const { ada, b } = await start(t)
  b.endless = true
  t.hasStrict((await list(ada, 'b', b.key)).body, { status: 502, upstream: 'assistant-b' })
  t.ok(b.requests.length <= 20)
})

t.test('keys are checked before they’re sent, and a rejected one is reported to the caller', async (t) => {
  const { ada, a, b } = await start(t)
  for (const which of ['a', 'b'] as const) {
    for (const query of [
      '',
      '?apiKey=',
      '?apiKey=a%20b',
      '?apiKey=a%0d%0aX-Evil:1',
      '?apiKey=%C3%A9',
      '?apiKey=a&apiKey=b',
    ]) {
      t.equal((await ada.get(routes[which] + query)).body.code, 'validation_failed', query)
    }
    const tooLong = 'k'.repeat(limits.assistant_key_length + 1)
    t.equal((await list(ada, which, tooLong)).body.code, 'validation_failed')
  }
  t.same([...a.requests, ...b.requests], [], 'no provider was asked')
  for (const which of ['a', 'b'] as const) {
    const reply = await list(ada, which, 'sk-wrong')
    t.hasStrict(reply.body, { status: 400, code: 'assistant_key_rejected' })
    t.notMatch(reply.text, 'sk-wrong')
  }
  t.notMatch([...a.requests, ...b.requests].join(), 'sk-wrong', 'the key is in a header only')
})

for (const { budgetMs, status, faults } of faultsByBudget)
  t.test(`a misbehaving provider gives its caller ${status} and affects no one else`, async (t) => {
    const { service, ada, a, b } = await startWithBudget(t, budgetMs)
    const bob = await service.signIn('bob')
    for (const fault of faults)
      for (const [which, provider] of [
        ['a', a],
        ['b', b],
      ] as const) {
        provider.fault = fault
        const [reply, other] = await Promise.all([list(ada, which, provider.key), bob.get('/api/me')])
        // A 403 with the headers of a limit is still a rejected key.
        if (fault === 'rate-limited') t.equal(reply.status, 400, `${which} ${fault}`)
        else t.hasStrict(reply.body, { status, upstream: `assistant-${which}` }, `${which} ${fault}`)
        t.equal(other.status, 200)
      }
  })

t.test('without the shortened timeout, a lookup still times out', async (t) => {
  const { ada, a } = await start(t)
  a.fault = 'drip'
  t.hasStrict((await list(ada, 'a', a.key)).body, {
    status: 504,
    code: 'upstream_timeout',
    upstream: 'assistant-a',
  })
})

t.test('a caller can have four concurrent lookups, independent of other callers', async (t) => {
  const { service, ada, a, b } = await startWithBudget(t, 5_000)
  const bob = await service.signIn('bob')
  a.fault = 'hang'
  const waiting = Array.from({ length: 4 }, () => list(ada, 'a', a.key))
  await until(() => a.requests.length === 4, 'four look-ups are under way')
  const fifth = list(ada, 'b', b.key)
  t.equal((await list(bob, 'b', b.key)).status, 200)
  t.equal(b.requests.length, 1, 'the fifth waits')
  t.same(new Set((await Promise.all(waiting)).map(({ status }) => status)), new Set([504]))
  t.equal((await fifth).status, 200, 'until a turn comes back')
})

t.test('a caller with too many lookups gets Retry-After', async (t) => {
  const { ada, a } = await startWithBudget(t, 60_000)
  a.fault = 'hang'
  const limited: Reply[] = []
  const all = Array.from({ length: 30 }, async () => {
    const reply = await list(ada, 'a', a.key)
    if (reply.status === 429) limited.push(reply)
  })
  await until(
    () => limited.length === 6 && a.requests.length === 4,
    'all but 24 are rejected, and 4 are sent',
  )
  a.fault = undefined
  await a.close()
  await Promise.all(all)
  for (const { body, headers } of limited) {
    t.equal(body.code, 'rate_limited')
    t.equal(headers.get('retry-after'), '1')
    t.equal(headers.get('ratelimit-limit'), '4')
    t.equal(headers.get('ratelimit-remaining'), '0')
    t.equal(headers.get('ratelimit-reset'), '1')
  }
})

t.test('the limits returned are those enforced', async (t) => {
  const service = await startService(t, { env: { EXTENSION_PREFIX: 'acme,editor' } })
  const { status, body } = await service.request('GET', '/api/limits')
  t.equal(status, 200)
  t.same(body, {
    ...limits,
    workspaces_created: 200,
    extension_prefix: 'acme',
    settings_prefixes: ['acme', 'editor'],
    settings_denied: DENIED_KEYS,
    settings_allowed: ALLOWED_KEYS,
    settings_restricted: [],
  })
})
