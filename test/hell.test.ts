/** Hostile values, which each operation of the document gets in each place, from each kind of caller. */
import t from 'tap'
import { type Attack, attacksOn, type Document, type Hostile } from './attack.js'
import { hasProperties } from './has-properties.js'
import { type Caller, DASHBOARD, startProviders, startService, startTeam } from './service.js'

const value = (
  text: string,
  json = JSON.stringify(text),
  url = encodeURIComponent(text.toWellFormed()),
): Hostile => ({ text, json, url })

/** Each place gets these. */
const NASTIEST = [
  'constructor',
  '__proto__',
  `a'; drop table users; -- ") $1 \\' %_ \${1} {{1}}`,
  '\0',
  '',
].map((text) => value(text))
/** Each kind of place gets these, and some places of all operations. */
const OTHERS = [
  ...['toString', 'a\r\nX-Evil: 1', '../../etc/passwd', ' ', 'a'.repeat(10_000), 'NaN'].map((text) =>
    value(text),
  ),
  ...['2026-02-30', '0003-01-01', '9999-12-31'].map((text) => value(text)),
  value('\ud800', '"\\ud800"', '%ED%A0%80'),
  ...['-1', '0', '1e400', '9007199254740992', 'true', 'null', '[]', '{}'].map((json) => value(json, json)),
]
const SHARE = 8

/** Every one of the first values; each other value once per kind of place, then in every eighth place. */
const sampleOf = (attacks: Iterable<Attack>): Attack[] => {
  const known = new Map<string, number>()
  const isFirst = new Set(NASTIEST.map(({ text }) => text))
  const offsets = new Map(OTHERS.map(({ text }, index) => [text, index]))
  return [...attacks].filter(({ place, kind, filling }) => {
    // HTTP itself rejects it, before any operation.
    if (place === 'header expect') return false
    const which = JSON.stringify([kind, filling])
    const before = known.get(which) ?? 0
    known.set(which, before + 1)
    return isFirst.has(filling) || before === 0 || (before + (offsets.get(filling) ?? 0)) % SHARE === 0
  })
}

/** These end sessions, memberships and workspaces, so they come last. */
const LAST = ['leaveWorkspace', 'removeMember', 'deleteWorkspace', 'logout', 'deleteAccount']

const AT_ONCE = 8

t.test('no value in any parameter or property of any operation causes a server error', async (t) => {
  const unhandled: unknown[] = []
  const note = (error: unknown) => unhandled.push(error)
  process.on('unhandledRejection', note)
  t.teardown(() => process.off('unhandledRejection', note))
  const { env } = await startProviders(t)
  const ADMIN_KEYS = 'an-admin-key-for-this-test'
  const service = await startService(t, { env: { ...env, ADMIN_KEYS, LOG_LEVEL: 'error' } })
  const [ada, bob, eve] = await service.signInAll('ada', 'bob', 'eve')
  const { id } = await service.workspace(ada, { patterns: ['ada/*'], members: [bob] })
  await ada.push('ada/repo', { 'ext.a': 1 })
  const scopes = ['activity:read', 'activity:write', 'settings:read', 'settings:write']
  const key = await ada.post('/api/me/keys', { name: 'all', scopes })
  const headersOf = ({ repohostToken, token }: Caller, secret = token) => ({
    authorization: `Bearer ${secret}`,
    'x-repohost-token': repohostToken,
    origin: DASHBOARD,
  })
  const callers = Object.entries({
    admin: headersOf(ada),
    member: headersOf(bob),
    stranger: headersOf(eve),
    key: headersOf(ada, key.body.secret),
    'no one': { origin: DASHBOARD },
  })
  const document = (await service.request('GET', '/api/openapi.json')).body as Document
  const day = new Date().toISOString().slice(0, 10)
  const values = { owner: 'ada', repo: 'repo', id, workspace: id, user: 'current', day, from: day, to: day }

  const sent = new Map<number, number>()
  const call = async (caller: string, { operation, place, filling, method, path, headers, body }: Attack) => {
    const what = `${operation}, ${place}, ${filling.slice(0, 40)}, ${caller}`
    const reply = await service.request(method, path, { headers, ...(body !== undefined && { body }) })
    sent.set(reply.status, (sent.get(reply.status) ?? 0) + 1)
    if (reply.status >= 500) t.fail(`${what}: ${reply.text}`)
    if (reply.headers.has('x-evil')) t.fail(`${what}: a header came through`)
  }
  // Each caller calls each operation, and callers send what is hostile in turn.
  const ordinary = [...attacksOn(document, values, {}, [], [])]
  const hostile = sampleOf(attacksOn(document, values, {}, [0], [...NASTIEST, ...OTHERS]))
  const calls = callers.flatMap(([caller, headers], nth) => {
    const own = hostile.filter((_, index) => index % callers.length === nth)
    return [...ordinary, ...own].map((attack) => ({
      caller,
      attack: { ...attack, headers: { ...headers, ...attack.headers } },
    }))
  })
  const rank = ({ attack }: (typeof calls)[number]) => LAST.indexOf(attack.operation)
  const queue = calls.sort((a, b) => rank(a) - rank(b)).values()
  const worker = async () => {
    for (const { caller, attack } of queue) await call(caller, attack)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  t.strictSame(unhandled, [])
  t.ok((sent.get(400) ?? 0) > 1_000 && (sent.get(200) ?? 0) > 100, JSON.stringify([...sent]))
})

/** The billing provider, the repository host and editors decide what they send. */
const foreign = ['receiveBillingEvent', 'receiveDelivery', 'sendHeartbeat', 'sendHeartbeats']

t.test('no operation accepts unknown body properties', async (t) => {
  const { service, ada, id } = await startTeam(t)
  const document = (await service.request('GET', '/api/openapi.json')).body
  const parts: Record<string, string> = { owner: 'acme', repo: 'api', id, invite: id, key: id }
  let asked = 0
  for (const [template, operations] of Object.entries<object>(document.paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      const known = operation.requestBody?.content['application/json']?.example
      if (known === undefined || foreign.includes(operation.operationId)) continue
      const path = template.replace(/\{([^}]+)\}/g, (_, name) => parts[name] ?? '')
      const reply = await service.request(method.toUpperCase(), path, {
        body: { ...known, ...('workspace' in known && { workspace: id }), is_admin: true },
        headers: { authorization: `Bearer ${ada.token}`, 'x-repohost-token': ada.repohostToken },
      })
      const errors = [{ path: '/body/is_admin', message: 'isn’t known' }]
      hasProperties(
        t,
        reply,
        { status: 400, body: { code: 'validation_failed', errors } },
        operation.operationId,
      )
      asked++
    }
  }
  t.ok(asked > 20)
})
