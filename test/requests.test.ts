import { request as httpRequest } from 'node:http'
import { connect as tcpConnect } from 'node:net'
import postgres from 'postgres'
import t from 'tap'
import { signatureOf } from '../demo/billing-provider.js'
import { limits } from '../schemas/limits.js'
import { hasProperties } from './has-properties.js'
import {
  type Caller,
  DASHBOARD,
  type Reply,
  reuseService,
  type Service,
  startProviders,
  startService,
  startTeam,
} from './service.js'

/** A request whose path is sent as it is: `fetch` would tidy it up. */
const raw = (service: Service, method: string, path: string, headers: Record<string, string>) =>
  new Promise<{ status: number; body: { code: string } }>((resolve, reject) => {
    const { hostname, port } = new URL(service.url)
    const request = httpRequest({ hostname, port, method, path, headers }, async (response) => {
      const chunks = []
      for await (const chunk of response) chunks.push(chunk)
      resolve({ status: response.statusCode ?? 0, body: JSON.parse(Buffer.concat(chunks).toString()) })
    })
    request.on('error', reject).end()
  })

/** A push whose body is this text. */
const pushText = (caller: Caller, text: string | Uint8Array, contentType = 'application/json') =>
  caller.request('PUT', '/api/settings/ada/a', {
    body: text,
    headers: { 'Content-Type': contentType, 'X-Repohost-Token': caller.repohostToken },
  })

t.test('values that the database can’t store exactly are rejected', async (t) => {
  const service = await reuseService(t)
  const ada = await service.signIn('ada')
  const hostile: Record<string, string | Uint8Array> = {
    'no JSON': '{',
    'two values': '{}{}',
    NaN: '{"settings":{"ext.a":NaN}}',
    'a byte order mark': `\uFEFF{"settings":{}}`,
    NUL: '{"settings":{"ext.a":"\\u0000"}}',
    'NUL in a key': '{"settings":{"ext.\\u0000":1}}',
    'a lone surrogate': '{"settings":{"ext.a":"\\ud800"}}',
    'the other lone surrogate': '{"settings":{"ext.a":"x\\udc00"}}',
    '1e400': '{"settings":{"ext.a":1e400}}',
    '-1e400': '{"settings":{"ext.a":-1e400}}',
    '1e-400': '{"settings":{"ext.a":1e-400}}',
    'a big integer': '{"settings":{"ext.a":12345678901234567890}}',
    'an integer just too big': '{"settings":{"ext.a":9007199254740993}}',
    'too many digits': '{"settings":{"ext.a":0.12345678901234567890123}}',
    __proto__: '{"settings":{"__proto__":{"ext.a":1}}}',
    '__proto__ deep down': '{"settings":{"ext.a":[{"__proto__":1}]}}',
    '__proto__ in disguise': '{"settings":{"ext.a":{"\\u005f_proto__":1}}}',
    'constructor.prototype': '{"settings":{"ext.a":{"constructor":{"prototype":{}}}}}',
    '33 levels': `{"settings":{"ext.a":${'['.repeat(31)}${']'.repeat(31)}}}`,
    'a number behind a long string': `{"a":"${'a'.repeat(500_000)}","b":1e999}`,
    '100,000 brackets': '['.repeat(100_000) + ']'.repeat(100_000),
    '100,000 open brackets': '['.repeat(100_000),
    '100,000 objects': '{"a":'.repeat(100_000),
    'bytes that are not UTF-8': Buffer.from([
      ...Buffer.from('{"settings":{"ext.a":"'),
      0xff,
      0xfe,
      ...Buffer.from('"}}'),
    ]),
  }
  for (const [what, text] of Object.entries(hostile)) {
    t.hasStrict(await pushText(ada, text), { status: 400, body: { code: 'invalid_json' } }, what)
  }
  for (const text of [
    'null',
    '[]',
    '"x"',
    '7',
    'true',
    '',
    '{"settings":null}',
    '{"settings":[]}',
    '{"settings":{},"more":1}',
  ]) {
    t.hasStrict(await pushText(ada, text), { status: 400, body: { code: 'validation_failed' } }, text)
  }
  t.match(await ada.get('/api/settings/ada/a'), { status: 404 })
  t.notOk(({} as Record<string, unknown>)['ext.a'], 'nothing was polluted')

  const harmless = [
    `{"settings":{"ext.a":${'['.repeat(30)}${']'.repeat(30)}}}`,
    '{"settings":{"ext.a":[1e5, 1E+2, 100000000000000000000000, 0.1, 0.30000000000000004, -0, 1.50, 9007199254740992, 5e-324]}}',
    '{"settings":{"ext.a":"12345678901234567890 1e400 \\ud83d\\ude00 \\"1e999"}}',
    '{"settings":{"ext.a":{"constructor":1,"prototype":{}}}}',
  ]
  for (const text of harmless) t.equal((await pushText(ada, text)).status, 200, text)
})

t.test('many keys and many strings are slow but don’t stop the service', async (t) => {
  const service = await reuseService(t)
  const ada = await service.signIn('ada')
  const keys = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`ext.${index}`, index]))
  t.equal((await ada.push('ada/many', keys)).status, 200)
  const pulled = (await ada.get('/api/settings/ada/many')).body.settings
  t.strictSame(Object.keys(pulled), Object.keys(keys), 'the keys keep their order')

  const membersOf = (count: number) =>
    `{${Array.from({ length: count }, (_, index) => `"${index.toString(36)}":1`).join()}}`
  const fullest = `{"settings":{"ext.a":${membersOf(28_000)}}}`
  t.equal((await pushText(ada, fullest, 'application/json')).status, 200)
  t.hasStrict(await pushText(ada, membersOf(limits.json_members + 1), 'application/json'), {
    status: 413,
    body: { code: 'payload_too_large' },
  })
})

t.test('bodies are JSON, and an empty body counts as absent', async (t) => {
  const service = await reuseService(t)
  const ada = await service.signIn('ada')
  for (const type of [
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/jsonp',
    'multipart/form-data',
    'x',
  ]) {
    t.hasStrict(
      await pushText(ada, '{"settings":{}}', type),
      { status: 415, body: { code: 'unsupported_media_type' } },
      type,
    )
  }
  t.equal((await pushText(ada, '{"settings":{}}', 'application/json; charset=utf-8')).status, 200)
  const authorization = { Authorization: `Bearer ${ada.token}` }
  const logout = (headers: Record<string, string>, body?: unknown) =>
    service.request('POST', '/api/auth/logout', { headers, body })
  t.equal((await logout({ 'Content-Type': 'application/json' }, '')).status, 200)
  t.equal((await logout({ 'Content-Type': 'text/plain' }, '')).status, 200)
  hasProperties(t, await logout({}, { everywhere: 'true' }), {
    status: 400,
    body: { errors: [{ path: '/body/everywhere' }] },
  })
  t.match(await logout({}, { everywhere: 1 }), { status: 400 })
  t.match(await logout({}, { everywhere: null }), { status: 400 })
  hasProperties(t, await logout({}, { 'a/b~': 1 }), {
    status: 400,
    body: { errors: [{ path: '/body/a~1b~0', message: 'isn’t known' }] },
  })
  t.equal((await logout(authorization)).status, 200)
})

t.test('malformed repository paths are rejected, not normalized', async (t) => {
  const service = await reuseService(t)
  const ada = await service.signIn('ada')
  const headers = { Authorization: `Bearer ${ada.token}`, 'X-Repohost-Token': ada.repohostToken }
  const asked = service.repohost.requests.length
  for (const path of [
    '..%2F..%2Fuser/x',
    'ada/..%2F..%2Fuser',
    'ada/a%00b',
    'ada%2Fa/b',
    'ada%2fa',
    'ada/a%20b',
    'ada/ü',
    'ada/%C3%BC',
    'ada/a;b',
    `ada/${'a'.repeat(101)}`,
    `ada/${'a'.repeat(3_000)}`,
    'ada/%zz',
    'ada/%2e%2e',
    'ada/%2E',
    `ada/a'--`,
  ]) {
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const path_ = `/api/settings/${path.replace('ü', encodeURIComponent('ü'))}`
      t.hasStrict(
        await raw(service, method, path_, headers),
        { status: 400, body: { code: 'validation_failed' } },
        `${method} ${path}`,
      )
    }
  }
  t.equal(service.repohost.requests.length, asked, 'and nothing is sent to the host')
  for (const [method, path] of [
    ['POST', '/api/me'],
    ['PATCH', '/api/settings/ada/a'],
    ['GET', '/api/auth/verify'],
    ['GET', '/api'],
    ['GET', '/api/nowhere'],
    ['GET', '/nowhere'],
    ['GET', '/api/me/'],
    ['GET', '/API/me'],
    ['GET', '//api/me'],
  ] as const) {
    t.hasStrict(
      await raw(service, method, path, headers),
      { status: 404, body: { code: 'route_not_found' } },
      `${method} ${path}`,
    )
  }
  for (const code of ['a%2fb', 'a%2Fb', 'a%00b']) {
    t.hasStrict(
      await raw(service, 'GET', `/api/team/invites/${code}`, headers),
      { status: 400, body: { code: 'validation_failed' } },
      `an invite ${code}`,
    )
  }
})

t.test('unknown routes get 404 before their body is read', async (t) => {
  const service = await reuseService(t)
  const json = { 'Content-Type': 'application/json' }
  for (const [name, headers, body] of [
    ['no JSON', json, '{'],
    ['a body that is too large', json, 'x'.repeat(2 ** 20 + 1)],
    ['another type', { 'Content-Type': 'text/plain' }, 'x'],
    ['no type at all', { 'Content-Type': ',' }, 'x'],
  ] as const) {
    for (const path of ['/api/nowhere', '/api/me', '/nowhere']) {
      const response = await fetch(service.url + path, { method: 'POST', headers, body })
      t.equal(response.status, 404, `${name}, ${path}`)
      t.hasStrict(await response.json(), { code: 'route_not_found' })
    }
  }
  for (const method of ['QUERY', 'SEARCH', 'TRACE']) {
    t.hasStrict(
      await raw(service, method, '/api/me', {}),
      { status: 404, body: { code: 'route_not_found' } },
      method,
    )
  }
})

t.test('numbers in a query are checked against their bounds', async (t) => {
  const service = await reuseService(t)
  const ada = await service.signIn('ada')
  for (const limit of [
    '0',
    '501',
    '1.5',
    'x',
    '-1',
    '',
    '1e999',
    '9'.repeat(2_000),
    'NaN',
    'Infinity',
    '0x',
  ]) {
    hasProperties(
      t,
      await ada.get(`/api/projects?limit=${limit}`),
      { status: 400, body: { code: 'validation_failed', errors: [{ path: '/query/limit' }] } },
      limit.slice(0, 20),
    )
  }
  for (const limit of ['1', '500', '1e2', '+1']) {
    t.match(await ada.get(`/api/projects?limit=${limit}`), { status: 200 }, limit)
  }
})

t.test('every response has its request id', async (t) => {
  const service = await reuseService(t)
  const named = await service.request('GET', '/api/me', { headers: { 'X-Request-Id': 'My-request_1.0' } })
  t.equal(named.headers.get('x-request-id'), 'My-request_1.0')
  t.equal(named.body.request_id, 'My-request_1.0')
  for (const insane of ['a b', 'x'.repeat(129), '<script>']) {
    const reply = await service.request('GET', '/api/nowhere', { headers: { 'X-Request-Id': insane } })
    t.match(reply.headers.get('x-request-id'), /^[0-9a-f-]{36}$/)
    t.equal(reply.body.request_id, reply.headers.get('x-request-id'))
  }
  t.match(named.headers.get('content-type'), /^application\/problem\+json/)
  t.strictSame(Object.keys(named.body), ['type', 'status', 'title', 'code', 'detail', 'request_id'])
})

t.test('input that isn’t HTTP also gets a problem document', async (t) => {
  const service = await reuseService(t)
  const { hostname, port } = new URL(service.url)
  const send = (text: string) =>
    new Promise<string>((resolve) => {
      const socket = tcpConnect(Number(port), hostname, () => socket.write(text))
      let response = ''
      socket.on('data', (chunk) => {
        response += chunk
      })
      socket.on('close', () => resolve(response))
    })
  t.match(await send('nonsense\r\n\r\n'), /^HTTP\/1.1 400 [\s\S]*application\/problem\+json[\s\S]*request_id/)
  t.match(await send(`GET / HTTP/1.1\r\nHost: x\r\nA: ${'a'.repeat(20_000)}\r\n\r\n`), /^HTTP\/1.1 431 /)
})

t.test('known dashboards get credentialed CORS, and all other origins a wildcard', async (t) => {
  const service = await startService(t, {
    env: { DASHBOARD_ORIGINS: 'https://other.example.com, http://localhost:5173' },
  })
  const ada = await service.signIn('ada')
  for (const origin of [DASHBOARD, 'https://other.example.com', 'http://localhost:5173']) {
    const reply = await ada.get('/api/me', { Origin: origin })
    t.equal(reply.headers.get('access-control-allow-origin'), origin)
    t.equal(reply.headers.get('access-control-allow-credentials'), 'true')
    t.match(reply.headers.get('vary'), /Origin/)
  }
  const strangers = [
    'null',
    `${DASHBOARD}.evil.com`,
    `${DASHBOARD}:444`,
    'http://dashboard.example.com',
    DASHBOARD.toUpperCase(),
    `${DASHBOARD}/`,
  ]
  for (const origin of strangers) {
    const reply = await ada.get('/api/me', { Origin: origin })
    t.equal(reply.headers.get('access-control-allow-origin'), '*', origin)
    t.equal(reply.headers.get('access-control-allow-credentials'), null, origin)
    t.match(reply.headers.get('vary'), /Origin/)
  }
  const none = await ada.get('/api/me')
  t.equal(none.headers.get('access-control-allow-origin'), '*')
  t.match(none.headers.get('access-control-expose-headers'), /ETag, X-Request-Id, Retry-After, RateLimit-/)
  const failed = await service.request('GET', '/api/nowhere', { headers: { Origin: DASHBOARD } })
  t.equal(failed.headers.get('access-control-allow-origin'), DASHBOARD, 'errors can be read, too')

  const allowed = 'Authorization, Content-Type, X-Repohost-Token, Billing-Signature'
  for (const [path, method, headers] of [
    ['/api/settings/a/b', 'PUT', allowed],
    ['/api/team/workspaces/join', 'POST', allowed],
    ['/api/me', 'GET', allowed],
    ['/api/wakatime', 'GET', allowed],
    ['/api/wakatime/v1/users/current/heartbeats.bulk', 'POST', `${allowed}, X-Machine-Name, Timezone`],
  ] as const) {
    const preflight = await service.request('OPTIONS', path, {
      headers: {
        Origin: DASHBOARD,
        'Access-Control-Request-Method': method,
        'Access-Control-Request-Headers': 'authorization',
      },
    })
    t.equal(preflight.status, 204)
    t.equal(preflight.headers.get('access-control-allow-origin'), DASHBOARD)
    t.equal(preflight.headers.get('access-control-allow-headers'), headers)
    t.match(preflight.headers.get('access-control-allow-methods'), new RegExp(method))
    t.match(preflight.headers.get('vary'), /Origin/)
    t.match(preflight.headers.get('x-request-id'), /./)
  }
})

/** As many calls at once as a caller may have, so that on a busy machine none waits too long for its turn. */
const burst = async (times: number, call: (index: number) => Promise<Reply>): Promise<Reply[]> => {
  const replies: Reply[] = []
  let next = 0
  const worker = async () => {
    while (next < times) {
      const index = next++
      replies[index] = await call(index)
    }
  }
  await Promise.all(Array.from({ length: limits.requests_at_once_per_caller }, worker))
  return replies
}

t.test('rate limits are per caller, and a correct client never reaches them', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'on', LIMITS: 'rate_per_caller=60' } })
  const [ada, bob] = await service.signInAll('ada', 'bob')
  const calls = await burst(64, () => ada.get('/api/me'))
  t.strictSame(tally(calls), { 200: 60, 429: 4 })
  const limited = calls.find(({ status }) => status === 429)
  t.hasStrict(limited?.body, { code: 'rate_limited' })
  t.ok(Number(limited?.headers.get('retry-after')) >= 1)
  t.equal(limited?.headers.get('ratelimit-limit'), '60')
  t.equal(limited?.headers.get('ratelimit-remaining'), '0')
  t.equal((await ada.get('/api/nowhere')).status, 429, 'the limit comes before everything else')
  t.equal((await bob.get('/api/me')).status, 200)
  t.equal((await service.request('GET', '/api/health')).status, 200)

  const joins = await burst(12, () => bob.post('/api/team/workspaces/join', { code: 'GUESS' }))
  t.equal(joins.filter(({ status }) => status === 404).length, 10)
  t.equal(joins.filter(({ status }) => status === 429).length, 2)

  const verify = () => service.request('POST', '/api/auth/verify', { body: { repohost_token: 'guess' } })
  const guesses = await burst(30, verify)
  t.equal(guesses.filter(({ status }) => status === 401).length, 28, 'two were the sign-ins above')
  t.equal(guesses.filter(({ status }) => status === 429).length, 2)
})

const tally = (replies: Reply[]) => {
  const counts: Record<number, number> = {}
  for (const { status } of replies) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

const limitedReplies = (replies: Reply[]) => replies.filter(({ status }) => status === 429)

t.test('all sign-in methods share an address’s rate limit, and a network is one address', async (t) => {
  const service = await startService(t, {
    env: { RATE_LIMITS: 'on', TRUST_PROXY: '127.0.0.1', LIMITS: 'rate_per_caller=60' },
  })
  const from = (address: string) => ({ 'X-Forwarded-For': address })
  const verify = (address: string) =>
    service.request('POST', '/api/auth/verify', {
      body: { repohost_token: 'guess' },
      headers: from(address),
    })
  const ways = [
    verify,
    (address: string) => service.request('GET', '/api/auth/repohost', { headers: from(address) }),
    (address: string) =>
      service.request('GET', '/api/auth/callback?code=x&state=y', { headers: from(address) }),
  ]
  const replies = await burst(45, (index) => {
    const way = ways[index % 3] ?? verify
    return way(`2001:db8:1:2:${index}::${index}`)
  })
  t.equal(limitedReplies(replies).length, 15)
  for (const { headers } of limitedReplies(replies)) {
    t.match(headers.get('retry-after'), /^[1-9][0-9]?$/)
    t.equal(headers.get('ratelimit-limit'), '30')
    t.equal(headers.get('ratelimit-remaining'), '0')
    t.equal(headers.get('ratelimit-reset'), headers.get('retry-after'))
  }
  t.equal((await verify('2001:db8:1:3::1')).status, 401, 'the next network has a limit of its own')

  const mapped = await burst(40, (index) => verify(index % 2 ? '192.0.2.1' : '::ffff:192.0.2.1'))
  t.strictSame(tally(mapped), { 401: 30, 429: 10 }, 'an IPv4 address is one, however it is written')
  t.equal((await verify('192.0.2.2')).status, 401)
  t.ok(service.repohost.requests.length <= 10 + 1 + 30 + 1)

  const spellings = {
    ipv4: ['192.0.2.3', '192.0.2.3:1', '192.0.2.3:65535', '::ffff:192.0.2.3', '::FFFF:c000:203'].concat([
      '0:0:0:0:0:ffff:c000:0203',
      '[::ffff:c000:203]:80',
      '[::ffff:192.0.2.3]',
      '::ffff:192.0.2.3%eth0',
    ]),
    ipv6: [
      '2001:db8:5:6::1',
      '[2001:db8:5:6::2]:443',
      '[2001:DB8:5:6:0:0:0:3]',
      '2001:0db8:0005:0006::4',
    ].concat(['[2001:db8:5:6::5%1]:1', '2001:db8:5:6:ffff::']),
  }
  for (const [name, addresses] of Object.entries(spellings)) {
    const spelled = await burst(40, (index) => verify(addresses[index % addresses.length] as string))
    t.strictSame(tally(spelled), { 401: 30, 429: 10 }, name)
  }
  t.equal((await verify('::ffff:c000:204')).status, 401, 'another IPv4 address in the same notation')

  const reads = await burst(64, (index) =>
    service.request('GET', '/api/limits', { headers: from(`2001:db8:9:9::${index}`) }),
  )
  t.strictSame(tally(reads), { 200: 60, 429: 4 })
})

t.test('a caller can’t make the host reject one token after another', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'on' } })
  const [ada, bob, cyd] = await service.signInAll('ada', 'bob', 'cyd')
  const before = service.repohost.requests.length
  const tokens = ['wrong', bob.repohostToken]
  const push = (index: number) =>
    ada.push('ada/a', { 'ext.a': index }, { 'X-Repohost-Token': tokens[index % 2] ?? '' })
  const guesses = await burst(40, push)
  // The calls arrive over many connections, so which of the two tokens used up the limit is open.
  const { 401: unknown = 0, 403: foreign = 0, ...limited } = tally(guesses)
  t.equal(unknown + foreign, 30)
  t.strictSame(limited, { 429: 10 })
  t.equal(service.repohost.requests.length - before, 30)
  const next = await ada.push('ada/a', { 'ext.a': 1 })
  t.hasStrict(next, { status: 429, body: { code: 'rate_limited' } }, 'even with a good token')
  t.equal(next.headers.get('ratelimit-limit'), '30')
  t.ok(Number(next.headers.get('retry-after')) > 30)
  t.equal(service.repohost.requests.length - before, 30, 'the host is not asked again')
  t.equal((await ada.get('/api/me')).status, 200, 'everything else goes on')

  const pushes = await burst(40, (index) => cyd.push(`cyd/${index}`, {}))
  t.strictSame(tally(pushes), { 200: 40 }, 'what the host accepts costs nothing')
})

t.test('notifications are rate-limited only if their signature is invalid', async (t) => {
  const { env } = await startProviders(t)
  const service = await startService(t, {
    env: { ...env, RATE_LIMITS: 'on', LIMITS: 'rate_wrong_signatures_per_address=60' },
  })
  const deliver = (signature: string) =>
    service.request('POST', '/api/billing-provider/webhook', {
      body: '{"id":"evt_1","type":"unknown","created":1,"data":{"object":{}}}',
      headers: { 'Content-Type': 'application/json', ...(signature && { 'Billing-Signature': signature }) },
    })
  const forged = await burst(64, (index) => deliver(index % 2 ? 't=1,v1=00' : ''))
  t.strictSame(tally(forged), { 400: 60, 429: 4 })
  t.equal(limitedReplies(forged)[0]?.headers.get('ratelimit-limit'), '60')
  const genuine = () =>
    deliver(signatureOf('{"id":"evt_1","type":"unknown","created":1,"data":{"object":{}}}'))
  t.strictSame(tally(await burst(20, genuine)), { 200: 20 })
})

t.test('a request is validated before its access is checked', async (t) => {
  const service = await reuseService(t)
  const [ada, bob, eve] = await service.signInAll('ada', 'bob', 'eve')
  const { id } = await service.workspace(ada, { members: [bob] })
  const dashboard = `/api/team/dashboard?workspace=${id}&from=2026-02-01&to=2026-01-01`
  const impossible = Buffer.from('["2026-02-31T00:00:00.000Z","00000000-0000-7000-8000-000000000000"]')
  for (const caller of [ada, bob, eve]) {
    t.hasStrict(await caller.get(dashboard), { status: 400, body: { code: 'invalid_range' } })
    for (const list of ['audit', 'members', 'invites', 'project-settings']) {
      for (const cursor of ['zzz', impossible.toString('base64url')]) {
        const reply = await caller.get(`/api/team/workspaces/${id}/${list}?cursor=${cursor}`)
        if (list !== 'project-settings' || cursor === 'zzz') t.match(reply, { status: 400 }, list)
      }
    }
    t.equal((await caller.get(`/api/team/workspaces/urn:uuid:${id}/members`)).status, 400)
  }
  // Except where bodies can be large (`unwanted-bodies`).
  const counts = { workspace: id, day: '1999-12-31', members: [] }
  const codes = [ada, bob, eve].map(
    async (caller) => (await caller.post('/api/team/commits', counts)).body.code,
  )
  t.same(await Promise.all(codes), ['validation_failed', 'admin_required', 'workspace_not_found'])
  const withBody = await ada.request('DELETE', '/api/settings/acme/none', { body: { x: 1 } })
  hasProperties(t, withBody, { status: 400, body: { errors: [{ path: '/body/x' }] } })
  t.equal((await ada.get('/api/settings/acme/none/versions/2147483648')).status, 404)
})

t.test('format errors are explained in words', async (t) => {
  const { ada, id } = await startTeam(t)
  const rejections: [reply: Promise<Reply>, path: string, message: RegExp][] = [
    [ada.get('/api/team/workspaces/x/members'), '/params/id', /^must be a UUID/],
    [
      ada.put(`/api/team/workspaces/${id}/patterns`, { patterns: ['a'] }),
      '/body/patterns/0',
      /^must be `owner/,
    ],
    [ada.get('/api/team/active-minutes?day=2026-02-31'), '/query/day', /^must be a calendar day/],
    [ada.get('/api/team/active-minutes?day=0000-01-01'), '/query/day', /^must be a calendar day/],
    [ada.get('/api/team/active-minutes?day=today'), '/query/day', /^must be a calendar day/],
    [ada.get('/api/assistant-a-models?apiKey=a%20b'), '/query/apiKey', /^must have only visible ASCII/],
    [
      ada.push('ada/a', { theme: 'dark' }),
      '/body/settings/theme',
      /^must start with one of this server’s prefixes \(`ext\.`, `editor\.`, …\)$/,
    ],
  ]
  for (const [reply, path, message] of rejections) {
    const { status, body } = await reply
    hasProperties(
      t,
      { status, ...body },
      { status: 400, code: 'validation_failed', errors: [{ path, message }] },
    )
  }
})

t.test('a failed statement logs none of its parameters', async (t) => {
  const service = await reuseService(t)
  const [ada, bob] = await service.signInAll('ada', 'bob')
  const { code } = await service.workspace(ada)
  const key = code.replaceAll('-', '')
  const other = postgres(service.databaseUrl, { max: 1 })
  t.teardown(() => other.end())
  await other.begin(async (sql) => {
    await sql`select from invites for update`
    t.hasStrict(await bob.post('/api/team/workspaces/join', { code }), {
      status: 503,
      body: { code: 'unavailable' },
    })
  })
  const logged = service.logs.join('')
  t.match(logged, /unavailable/)
  t.notMatch(logged, new RegExp(key))
  t.notMatch(logged, new RegExp(code))
})

t.test('a body that is far too large gets a response before its connection is closed', async (t) => {
  const service = await reuseService(t)
  const verify = (body: RequestInit['body']) =>
    fetch(`${service.url}/api/auth/verify`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: body ?? null,
      duplex: 'half',
    } as RequestInit)
  const part = new Uint8Array(131_072).fill(97)
  const parts = () =>
    new ReadableStream({
      start: (stream) => {
        for (let index = 0; index < 40; index++) stream.enqueue(part)
        stream.close()
      },
    })
  for (let round = 0; round < 3; round++) {
    t.equal((await verify('a'.repeat(5_242_880))).status, 413)
    t.equal((await verify(parts())).status, 413)
  }
})
