import { request as httpRequest } from 'node:http'
import t from 'tap'
import { hasProperties } from './has-properties.js'
import { type Service, startProviders, startService } from './service.js'
import { until } from './until.js'

const setup = await startProviders(t, { budgetMs: 60_000 })
const service = await startService(t, {
  ...setup,
  env: { ...setup.env, RATE_LIMITS: 'on', TRUST_PROXY: '127.0.0.1' },
})
const ada = await service.signIn('ada')
const { id: adaId } = (await ada.get('/api/me')).body

type Line = Record<string, unknown>

const linesOf = ({ logs }: Service): Line[] => logs.map((line) => JSON.parse(line))

/** The lines about a request; the last one is written when its response has been sent. */
const linesAbout = async (id: string): Promise<Line[]> => {
  const lines = () => linesOf(service).filter(({ request_id }) => request_id === id)
  await until(() => lines().some(({ msg }) => msg === 'request'), `the request ${id} is logged`)
  return lines()
}

let requests = 0

/** Sends a request, and finds out what was logged of it. */
const logged = async (method: string, path: string, headers: Record<string, string> = {}, body?: unknown) => {
  const id = `request-${++requests}`
  const reply = await service.request(method, path, { headers: { ...headers, 'X-Request-Id': id }, body })
  const lines = await linesAbout(id)
  return { reply, lines, line: lines.at(-1) ?? {} }
}

const bearer = { Authorization: `Bearer ${ada.token}` }

t.test('a log line has the caller, the route and the outcome', async (t) => {
  const { line } = await logged('GET', '/api/settings/ada/dotfiles?key=canary', bearer)
  hasProperties(t, line, {
    level: 30,
    msg: 'request',
    method: 'GET',
    route: '/api/settings/:owner/:repo',
    status: 404,
    code: 'never_synced',
    user_id: adaId,
    ms: Number,
    trace_id: /^[0-9a-f]{32}$/,
    span_id: /^[0-9a-f]{16}$/,
  })
  t.notOk('path' in line)
  t.notMatch(JSON.stringify(line), /canary|dotfiles/)

  const anonymous = await logged('GET', '/api/me')
  t.hasStrict(anonymous.line, { route: '/api/me', status: 401, code: 'unauthenticated' })
  t.notOk('user_id' in anonymous.line)
  const good = await logged('GET', '/api/me', bearer)
  t.hasStrict(good.line, { status: 200, user_id: adaId })
  t.notOk('code' in good.line)
})

t.test('a log line names the limit that rejected a request', async (t) => {
  const headers = { 'X-Forwarded-For': '192.0.2.7' }
  const body = { repohost_token: 'wrong' }
  let line: Line = {}
  for (let n = 0; n < 40 && line.status !== 429; n++)
    line = (await logged('POST', '/api/auth/verify', headers, body)).line
  t.hasStrict(line, { status: 429, code: 'rate_limited', limit: 'sign_in' })
})

t.test('for an unknown path, only segments that also occur in a route are logged', async (t) => {
  /** `fetch` would normalize the path. */
  const ask = async (path: string, method = 'GET') => {
    const id = `request-${++requests}`
    const { hostname, port } = new URL(service.url)
    await new Promise((resolve, reject) => {
      const options = { hostname, port, path, method, headers: { 'X-Request-Id': id } }
      const request = httpRequest(options, (response) => response.resume().on('end', resolve))
      request.on('error', reject).end()
    })
    return (await linesAbout(id)).at(-1) ?? {}
  }
  const { status, code, path } = await ask('/api/settingz/ada/dotfiles?apiKey=canary#canary')
  t.strictSame({ status, code, path }, { status: 404, code: 'route_not_found', path: '/api/…' })
  const logged: Record<string, string> = {
    '/api/team/workspaces/ada/acme/api': '/api/team/workspaces/…',
    '/api/settings/ada/dotfiles/version': '/api/settings/…',
    '/api/settings': '/api/settings',
    '/api//settings/ada': '/api/…',
    '/ada': '/…',
    '/ada/dotfiles': '/…',
    '//ada': '/…',
    '/api/%1b[31m': '/api/…',
    [`/a/${'b'.repeat(10_000)}/c`]: '/…',
    '/invite/AAAAA-BBBBB': '/…',
    [`/api/${ada.token}`]: '/api/…',
    'http://user:secret@service.example.com/api/nowhere?a=b': '/…',
  }
  for (const [path, part] of Object.entries(logged)) t.equal((await ask(path)).path, part, path.slice(0, 40))
  t.equal((await ask('/api/limits', 'POST')).path, '/api/limits')
  const unreadable = await ask('/api/settings/ada/%zz')
  t.strictSame(
    { status: unreadable.status, code: unreadable.code, path: unreadable.path },
    { status: 400, code: 'validation_failed', path: '/api/settings/…' },
  )
})

t.test('errors returned as a page are logged with their code', async (t) => {
  const { reply, line } = await logged('GET', '/nowhere', { Accept: 'text/html' })
  t.equal(reply.headers.get('content-type'), 'text/html; charset=utf-8')
  t.hasStrict(line, { status: 404, code: 'route_not_found', path: '/…' })
})

t.test('an error is logged without the value that couldn’t be read', async (t) => {
  const errors = await Promise.all([
    service.database.read.statement('select $1::text::uuid', ['ada/"dotfiles"']).then(
      () => undefined,
      (error) => error,
    ),
    Promise.resolve('ada')
      .then(JSON.parse)
      .catch((error) => error),
  ])
  for (const err of errors) service.app.log.warn({ err }, 'a value that could not be read')
  const lines = linesOf(service).filter(({ msg }) => msg === 'a value that could not be read')
  t.strictSame(
    lines.map(({ err }) => {
      const { message, cause } = err as { message: string; cause?: { message: string } }
      return cause?.message ?? message
    }),
    ['invalid input syntax for type uuid: "…"', `Unexpected token 'a', "…" is not valid JSON`],
  )
  t.notMatch(JSON.stringify(lines), /dotfiles/)
})

t.test('load balancer probes are logged at debug level', async (t) => {
  for (const probe of ['health', 'ready'])
    t.hasStrict((await logged('GET', `/api/${probe}`)).line, {
      level: 20,
      route: `/api/${probe}`,
      status: 200,
    })
})

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const PARENT = '00f067aa0ba902b7'

t.test('a request continues its caller’s trace in calls to other services', async (t) => {
  const { providers } = setup
  const traceparent = `00-${TRACE}-${PARENT}-01`
  const calls = {
    repohost: () =>
      logged(
        'PUT',
        '/api/settings/ada/a',
        { ...bearer, traceparent, 'X-Repohost-Token': ada.repohostToken },
        {
          settings: { 'ext.a': 1 },
        },
      ),
    billing: () => logged('POST', '/api/billing/checkout', { ...bearer, traceparent }, {}),
    a: () => logged('GET', `/api/assistant-a-models?apiKey=${providers.a.key}`, { ...bearer, traceparent }),
    b: () => logged('GET', `/api/assistant-b-models?apiKey=${providers.b.key}`, { ...bearer, traceparent }),
  }
  const standIns = { repohost: service.repohost, ...providers }
  for (const [name, call] of Object.entries(calls)) {
    const standIn = standIns[name as keyof typeof calls]
    const before = standIn.traces.length
    const { reply, line } = await call()
    t.equal(reply.status, 200, name)
    hasProperties(t, line, { trace_id: TRACE, span_id: /^(?!00f067aa0ba902b7)[0-9a-f]{16}$/ })
    const sent = standIn.traces.slice(before)
    t.ok(sent.length > 0)
    for (const trace of sent) t.match(trace, new RegExp(`^00-${TRACE}-[0-9a-f]{16}-01$`))
    const spans = [PARENT, line.span_id, ...sent.map((trace) => trace?.split('-')[2])]
    t.equal(new Set(spans).size, spans.length, 'each call is a span of its own')
  }
})

t.test('all log lines of a failed request have its trace', async (t) => {
  service.repohost.fault = 'status-500'
  const { reply, lines } = await logged(
    'POST',
    '/api/auth/verify',
    { traceparent: `00-${TRACE}-${PARENT}-00`, 'X-Forwarded-For': '192.0.2.8' },
    { repohost_token: 'any' },
  )
  service.repohost.fault = undefined
  t.equal(reply.status, 502)
  t.strictSame(
    lines.map(({ level, trace_id }) => [level, trace_id]),
    [
      [50, TRACE],
      [30, TRACE],
    ],
  )
})

t.test('an invalid trace isn’t continued', async (t) => {
  const good = [`cc-${TRACE}-${PARENT}-01-what-comes-later`, `01-${TRACE}-${PARENT}-09`]
  for (const traceparent of good)
    t.equal((await logged('GET', '/api/limits', { traceparent })).line.trace_id, TRACE, traceparent)
  const bad = [
    '',
    TRACE,
    `00-${TRACE}-${PARENT}-01-more`,
    `00-${TRACE}-${PARENT}-0`,
    `00-${TRACE.toUpperCase()}-${PARENT}-01`,
    `ff-${TRACE}-${PARENT}-01`,
    `00-${'0'.repeat(32)}-${PARENT}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE}-${PARENT}-01, 00-${TRACE}-${PARENT}-01`,
    `01-${TRACE}-${PARENT}-01x`,
    `00-${'a'.repeat(10_000)}`,
  ]
  const found = new Set<unknown>()
  for (const traceparent of bad) {
    const { line } = await logged('GET', '/api/limits', { traceparent })
    t.match(line.trace_id, /^[0-9a-f]{32}$/)
    t.not(line.trace_id, TRACE, traceparent.slice(0, 80))
    found.add(line.trace_id)
  }
  t.equal(found.size, bad.length, 'each gets a new one')
})

t.test('a proxy missing from TRUST_PROXY is logged once', async (t) => {
  const behindProxy = await startService(t, { env: { TRUST_PROXY: '10.1.2.3' } })
  const through = (headers: Record<string, string>) => behindProxy.request('GET', '/api/health', { headers })
  const warnings = () =>
    linesOf(behindProxy)
      .map(({ msg }) => String(msg))
      .filter((text) => text.includes('proxy'))
  await through({})
  t.strictSame(warnings(), [])
  for (let n = 0; n < 2; n++) await through({ 'X-Forwarded-For': '192.0.2.7' })
  t.strictSame(warnings(), [
    '127.0.0.1 sends X-Forwarded-For, but TRUST_PROXY doesn’t list it. If your proxy has this address, set TRUST_PROXY=10.1.2.3,127.0.0.1. Until then, all callers behind it share the limits of one address.',
  ])
})
