import t from 'tap'
import {
  type AnswerCache,
  ApiProblem,
  applySettings,
  type CachedAnswer,
  type ClientOptions,
  createClient,
  effectiveConfig,
  idleWindow,
  isProblem,
  memoryCache,
  paginate,
  pullSettings,
  pushSettings,
  repositoryAt,
} from '../client/src/index.js'
import { hasProperties } from './has-properties.js'
import { startService } from './service.js'

const json = (status: number, body: unknown, headers: Record<string, string> = {}) =>
  new Response(status === 304 ? null : JSON.stringify(body), { status, headers })
const problem = (status: number, code: string, headers: Record<string, string> = {}) =>
  json(status, { status, code, detail: 'What to do.', request_id: 'r' }, headers)
const me = { id: 'x', login: 'ada', avatar_url: '', plan: 'pro', status: 'none' }

type Step = Response | Error | ((request: Request) => Response | Promise<Response>)

/** A client whose network gives these responses in turn, and then repeats the last one. */
const scripted = (steps: Step[], options: Partial<ClientOptions> = {}) => {
  const requests: Request[] = []
  const waits: number[] = []
  const client = createClient({
    baseUrl: 'https://settings.example.com/',
    token: 'first',
    fetch: async (input, init) => {
      const request = new Request(input, init)
      requests.push(request)
      const step = steps[Math.min(requests.length, steps.length) - 1]
      if (step instanceof Error) throw step
      return typeof step === 'function' ? step(request) : (step?.clone() ?? Response.error())
    },
    wait: async (ms) => {
      waits.push(ms)
    },
    ...options,
  })
  return { client, requests, waits }
}

const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error) => error,
  )

const LOST = new TypeError('fetch failed')

t.test('a call sends its parameters and token, and returns the response', async (t) => {
  const { client, requests } = scripted([json(200, me, { ETag: '"1"', 'X-Request-Id': 'r1' })])
  const { data, ...rest } = await client.request('GET /api/me')
  t.equal(data.login, 'ada')
  t.same(rest, { status: 200, etag: '"1"', notModified: false, requestId: 'r1' })
  t.hasStrict(requests[0], { method: 'GET', url: 'https://settings.example.com/api/me', redirect: 'manual' })
  t.equal(requests[0]?.headers.get('authorization'), 'Bearer first')
})

t.test('path and query values are encoded and can’t change the target', async (t) => {
  const { client, requests } = scripted([json(200, { versions: [] })])
  const operation = 'GET /api/settings/{owner}/{repo}/versions'
  await client.request(operation, { path: { owner: 'a/b', repo: '?c' }, query: { workspace: 'ä&=' } })
  t.equal(
    requests[0]?.url,
    'https://settings.example.com/api/settings/a%2Fb/%3Fc/versions?workspace=%C3%A4%26%3D',
  )
  for (const repo of ['..', '.', '']) {
    t.ok((await failureOf(client.request(operation, { path: { owner: 'acme', repo } }))) instanceof TypeError)
  }
  t.equal(requests.length, 1)
})

t.test('reads are retried up to four times if a retry can help', async (t) => {
  for (const step of [LOST, ...[429, 502, 503, 504].map((status) => problem(status, 'unavailable'))]) {
    const { client, requests, waits } = scripted([step, step, step, step, json(200, me)])
    t.equal((await client.request('GET /api/me')).data.login, 'ada')
    t.equal(requests.length, 5)
    t.ok(
      waits.every((ms, attempt) => ms >= 0 && ms <= 1000 * 2 ** attempt),
      'full jitter',
    )
  }
  const { client, requests } = scripted([problem(502, 'upstream_failed')])
  t.hasStrict(await failureOf(client.request('GET /api/me')), { code: 'upstream_failed' })
  t.equal(requests.length, 5)
})

t.test('the client waits for Retry-After up to a minute, and leaves the rest to the caller', async (t) => {
  const soon = new Date(Date.now() + 30_000).toUTCString()
  const steps = [
    problem(503, 'unavailable', { 'Retry-After': '7' }),
    problem(503, 'unavailable', { 'Retry-After': soon }),
  ]
  const { client, waits } = scripted([...steps, json(200, me)])
  await client.request('GET /api/me')
  t.equal(waits[0], 7_000)
  t.ok((waits[1] ?? 0) > 20_000 && (waits[1] ?? 0) <= 30_000)

  const late = scripted([problem(429, 'rate_limited', { 'Retry-After': '3600' })])
  t.hasStrict(await failureOf(late.client.request('GET /api/me')), {
    code: 'rate_limited',
    retryAfter: 3600,
  })
  t.equal(late.requests.length, 1)
})

t.test('requests that may have taken effect aren’t retried', async (t) => {
  const settings = {
    path: { owner: 'acme', repo: 'api' },
    headers: { 'X-Repohost-Token': 'h' },
    body: { settings: {} },
  }
  const flush = { entries: [] }
  const calls: [string, number, (client: ReturnType<typeof createClient>) => Promise<unknown>][] = [
    ['an event', 1, (c) => c.request('POST /api/events', { body: { event: 'a', source: 'b' } })],
    ['a workspace', 1, (c) => c.request('POST /api/team/workspaces/create', { body: { name: 'Acme' } })],
    ['minutes', 1, (c) => c.request('POST /api/team/active-minutes', { body: flush })],
    [
      'minutes with an id',
      5,
      (c) => c.request('POST /api/team/active-minutes', { body: { ...flush, flush_id: 'f' } }),
    ],
    ['a push', 5, (c) => c.request('PUT /api/settings/{owner}/{repo}', settings)],
    [
      'a push on a base',
      1,
      (c) => c.request('PUT /api/settings/{owner}/{repo}', { ...settings, query: { if_match: '"1"' } }),
    ],
    ['whatever was told not to', 1, (c) => c.request('GET /api/me', { retry: false })],
  ]
  for (const [what, attempts, call] of calls) {
    const { client, requests } = scripted([LOST])
    t.equal(await failureOf(call(client)), LOST)
    t.equal(requests.length, attempts, what)
  }
  const refused = scripted([problem(429, 'rate_limited'), json(202, { ok: true })])
  await refused.client.request('POST /api/events', { body: { event: 'a', source: 'b' } })
  t.equal(refused.requests.length, 2, 'a request that was rate limited had no effect')
  const never = scripted([problem(503, 'oauth_not_configured')])
  await failureOf(never.client.request('GET /api/me'))
  t.equal(never.requests.length, 1, 'waiting does not configure anything')
})

t.test('a response that isn’t the service’s becomes its own kind of problem', async (t) => {
  const html = '<html>Bad Gateway</html>'
  const huge = () => new Response('x'.repeat(300_000), { status: 500 })
  const steps = [
    () => new Response(html, { status: 502 }),
    () => new Response(html, { status: 200 }),
    () => new Response(null, { status: 302, headers: { Location: 'https://elsewhere.example.com/' } }),
    () => json(500, { error: 'other' }),
    huge,
  ]
  for (const step of steps) {
    const { client } = scripted([step])
    const error = await failureOf(client.request('GET /api/me', { retry: false }))
    t.ok(error instanceof ApiProblem)
    hasProperties(t, error, { name: 'ApiProblem', code: 'unexpected_answer', status: step().status })
  }
})

t.test('a problem has its code’s properties, and none that shadow those of Error', async (t) => {
  const body = { code: 'workspace_required', status: 409, detail: 'Make one.', suggested_pattern: 'acme/*' }
  const { client } = scripted([
    json(409, { ...body, stack: 'hidden', message: 'hidden' }, { 'X-Request-Id': 'r9' }),
  ])
  const operation = 'PUT /api/settings/{owner}/{repo}'
  const error = await failureOf(
    client.request(operation, {
      path: { owner: 'acme', repo: 'api' },
      headers: { 'X-Repohost-Token': 'h' },
      body: { settings: {} },
    }),
  )
  hasProperties(t, error, { ...body, operation, requestId: 'r9' })
  t.equal(error.message, error.detail)
  t.notMatch(error.stack, 'hidden')
  t.ok(isProblem(error, operation))
  t.notOk(isProblem(error, 'GET /api/me'))
})

t.test('a problem’s message is one sentence with the first reason and its field', async (t) => {
  const detail = 'The request does not match the schema.'
  const messageOf = async (...errors: { path: string; message: string }[]) => {
    const { client } = scripted([json(400, { code: 'validation_failed', status: 400, detail, errors })])
    return (await failureOf(client.request('GET /api/me', { retry: false }))).message
  }
  const theme = { path: '/body/settings/theme', message: 'must start with `mochaExplorer.`' }
  t.equal(await messageOf(theme), '`theme` must start with `mochaExplorer.`')
  t.equal(await messageOf(theme, theme, theme), '`theme` must start with `mochaExplorer.` (and 2 more)')
  t.equal(await messageOf({ path: '/body/patterns/2', message: 'is empty' }), '`patterns/2` is empty')
  t.equal(await messageOf({ path: '/body/entries/3/minutes', message: 'is missing' }), '`minutes` is missing')
  t.equal(await messageOf({ path: '/body/settings/ext.a~1b', message: 'is null' }), '`ext.a/b` is null')
  t.equal(await messageOf({ path: '/body', message: 'must be an object' }), 'The request must be an object')
  t.equal(await messageOf(), detail)
})

t.test('an attempt without a response times out, and aborting ends everything', async (t) => {
  const silent = (request: Request) =>
    new Promise<Response>((_, reject) => {
      request.signal.addEventListener('abort', () => reject(request.signal.reason))
    })
  const { client } = scripted([silent])
  const timedOut = await failureOf(client.request('GET /api/me', { timeoutMs: 5, retry: false }))
  t.equal(timedOut.name, 'TimeoutError')

  const reason = new Error('No longer needed.')
  const gone = AbortSignal.abort(reason)
  t.equal(await failureOf(client.request('GET /api/me', { signal: gone })), reason)
  const controller = new AbortController()
  const running = failureOf(client.request('GET /api/me', { signal: controller.signal }))
  controller.abort(reason)
  t.equal(await running, reason)

  const waiting = createClient({
    baseUrl: 'https://settings.example.com',
    fetch: async () => problem(503, 'unavailable', { 'Retry-After': '50' }),
  })
  const pause = new AbortController()
  const paused = failureOf(waiting.request('GET /api/me', { signal: pause.signal }))
  setTimeout(() => pause.abort(reason), 5)
  t.equal(await paused, reason, 'even between two attempts')
})

t.test('an expired token is refreshed once for any number of concurrent calls', async (t) => {
  let asked = 0
  const onUnauthorized = async () => {
    asked++
    return 'second'
  }
  const response = (request: Request) =>
    request.headers.get('authorization') === 'Bearer second' ? json(200, me) : problem(401, 'token_expired')
  const { client, requests } = scripted([response], { onUnauthorized })
  await Promise.all([1, 2, 3].map(() => client.request('GET /api/me')))
  t.equal(asked, 1)
  t.equal(requests.length, 6)
  t.equal(client.token, 'second')

  const refused = scripted([problem(401, 'token_revoked')], { onUnauthorized })
  t.hasStrict(await failureOf(refused.client.request('GET /api/me')), { code: 'token_revoked' })
  t.equal(refused.requests.length, 2, 'the new one is tried once')
  const other = scripted([problem(401, 'repohost_token_invalid')], { onUnauthorized })
  await failureOf(other.client.request('GET /api/me'))
  t.equal(other.requests.length, 1, 'a rejected host token doesn’t end the session')
})

t.test('repeated reads are conditional', async (t) => {
  const response = (request: Request) =>
    request.headers.get('if-none-match') === '"1"' ? json(304, null) : json(200, me, { ETag: '"1"' })
  const { client } = scripted([response])
  const first = await client.request('GET /api/me')
  first.data.login = 'changed by the caller'
  const again = await client.request('GET /api/me')
  t.hasStrict(again, { data: { login: 'ada' }, status: 304, notModified: true, etag: '"1"' })

  const kept = new Map<string, CachedAnswer>([['GET /api/me', { etag: '"1"', text: JSON.stringify(me) }]])
  const cache: AnswerCache = {
    get: async (key) => kept.get(key),
    set: (key, value) => void kept.set(key, value),
    clear: () => kept.clear(),
  }
  const stored = scripted([response], { cache })
  t.ok((await stored.client.request('GET /api/me')).notModified, 'even from a custom cache')
  stored.client.setToken('of someone else')
  t.equal(kept.size, 0)
})

t.test('a page on another origin sends no headers that browsers would block', async (t) => {
  const page = { origin: 'https://page.example.com', href: 'https://page.example.com/' }
  Object.defineProperty(globalThis, 'location', { value: page, configurable: true })
  t.teardown(() => Reflect.deleteProperty(globalThis, 'location'))
  const { client, requests } = scripted([json(200, me, { ETag: '"1"' })])
  for (let times = 0; times < 2; times++) await client.request('GET /api/me')
  t.equal(requests[1]?.headers.get('if-none-match'), null)
})

t.test('the response cache is bounded and evicts the least recently used entry', async (t) => {
  const cache = memoryCache(100)
  const of = (text: string) => ({ etag: '"1"', text })
  cache.set('a', of('a'.repeat(40)))
  cache.set('b', of('b'.repeat(40)))
  cache.get('a')
  cache.set('c', of('c'.repeat(40)))
  t.same(
    ['a', 'b', 'c'].map((key) => cache.get(key) !== undefined),
    [true, false, true],
  )
  cache.set('d', of('d'.repeat(101)))
  t.notOk(cache.get('d'), 'a value larger than the whole cache isn’t kept')
})

t.test('a client clamps the idle window to 5 to 10 minutes', async (t) => {
  t.same([1, 5, 7, 10, 15].map(idleWindow), [5, 5, 7, 10, 10])
})

t.test('applying removes keys that the team removed, and keeps keys that the call omits', async (t) => {
  const values = new Map<string, unknown>()
  const editor = {
    read: (key: string) => values.get(key),
    write: (key: string, value: unknown) => values.set(key, value),
  }
  const team = { settings: { 'ext.theme': 'dark', 'ext.fontSize': 16 }, locked: ['ext.theme'] }
  const keys = ['ext.theme', 'ext.fontSize', 'ext.other']
  const both = ['ext.theme', 'ext.fontSize']
  const first = await applySettings(team, keys, editor)
  t.strictSame(first, { applied: both, changed: both, locked: ['ext.theme'] })

  values.set('ext.theme', 'light').set('ext.fontSize', 20)
  const { locked } = first
  const restored = await applySettings(team, locked, editor, first.applied)
  t.strictSame(restored, { applied: both, changed: locked, locked })
  t.strictSame(Object.fromEntries(values), { 'ext.theme': 'dark', 'ext.fontSize': 20 })

  const later = await applySettings({ settings: { 'ext.theme': 'dark' } }, keys, editor, restored.applied)
  t.strictSame(later, { applied: ['ext.theme'], changed: ['ext.fontSize'], locked: [] })
  t.strictSame(Object.fromEntries(values), { 'ext.theme': 'dark', 'ext.fontSize': undefined })
})

t.test('the client works with the service, from sign-in to a conflict', async (t) => {
  const service = await startService(t)
  const { token: repohostToken } = service.repohost.addUser('ada')
  const client = createClient({ baseUrl: service.url })
  const verified = await client.request('POST /api/auth/verify', { body: { repohost_token: repohostToken } })
  client.setToken(verified.data.token)

  const repo = 'acme/api'
  t.equal(await effectiveConfig(client, repo), undefined, 'no workspace has it')
  const push = { repo, settings: { 'ext.theme': 'dark' }, repohostToken, base: undefined } as const
  const homeless = await failureOf(pushSettings(client, push))
  if (!isProblem(homeless, 'PUT /api/settings/{owner}/{repo}') || homeless.code !== 'workspace_required')
    throw homeless
  const patterns = [homeless.suggested_pattern]
  const { data: created } = await client.request('POST /api/team/workspaces/create', {
    body: { name: 'Acme', patterns },
  })

  t.equal(await pullSettings(client, repo), undefined, 'nothing was ever pushed')
  t.match(await pushSettings(client, push), { conflict: false, result: { version: 1, changed: true } })
  t.match(
    await pushSettings(client, push),
    { conflict: false, result: { version: 1, changed: false } },
    'its response was lost',
  )
  const base = await pullSettings(client, repo)
  t.hasStrict(base, { settings: { 'ext.theme': 'dark' }, version: 1 })

  const theirs = { 'ext.theme': 'light' }
  t.match(await pushSettings(client, { ...push, settings: theirs, base }), { conflict: false })
  const mine = { 'ext.theme': 'blue' }
  const conflict = await pushSettings(client, { ...push, settings: mine, base })
  t.hasStrict(conflict, { conflict: true, mine, theirs: { settings: theirs, version: 2 } })
  if (!conflict.conflict) throw new Error('There was none.')
  t.match(await pushSettings(client, { ...push, settings: mine, base: conflict.theirs }), { conflict: false })
  t.match(await pushSettings(client, { ...push, base: 'overwrite' }), {
    conflict: false,
    result: { version: 4 },
  })

  t.hasStrict(await effectiveConfig(client, repo), { repo, workspace_id: created.workspace.id })
  const again = await client.request('GET /api/team/effective-config', { query: { repo } })
  t.hasStrict(again, { notModified: true, data: { repo } })

  for (const name of ['b', 'c']) await pushSettings(client, { ...push, repo: `acme/${name}` })
  const names: string[] = []
  for await (const project of paginate(client, 'GET /api/projects', { query: { limit: 1 } }))
    names.push(project.repo)
  t.same(names, ['api', 'b', 'c'])
  const csv = await client.request('GET /api/team/dashboard', {
    query: { workspace: created.workspace.id },
    as: 'text',
  })
  t.match(csv.data, /^day,login,/)
})

t.test('a remote’s URL identifies its repository, and never someone else’s', async (t) => {
  for (const [address, repo] of [
    ['git@github.com:acme/web.git', 'acme/web'],
    ['https://user:secret@github.com/acme/web.git/', 'acme/web'],
    ['ssh://git@github.com:2222/acme/web', 'acme/web'],
    ['git@gitlab.com:group/sub/web.git', 'group/sub/web'],
    ['https://gitlab.example.com/group/sub/deep/web', 'group/sub/deep/web'],
    ['git@github.com:group/sub/web.git', undefined],
    ['https://git.example.com/group/sub/web', undefined],
    ['https://github.com/web', undefined],
    ['/srv/git/acme/web', undefined],
    ['C:/dev/acme/web', undefined],
    ['file:///srv/acme/web', undefined],
  ] as const)
    t.equal(repositoryAt(address), repo, address)
  t.equal(repositoryAt('https://git.example.com/group/sub/web', /^git\.example\.com$/), 'group/sub/web')
})
