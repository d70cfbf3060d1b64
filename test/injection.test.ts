import t from 'tap'
import { attacksOn, type Document } from './attack.js'
import { hasMembers } from './has-members.js'
import { DASHBOARD, startProviders, startService } from './service.js'

/** Texts with a meaning in SQL, LIKE, HTTP, file systems or templates. */
const TEXTS = [
  `a'; drop table users; -- ") $1 \\' %_ \${1} {{1}}`,
  'a\r\nX-Evil: 1',
  '../../etc/passwd',
  '\u0000',
]

const KEY = 'an-admin-key-for-this-test'

t.test('parameters of every operation are treated as values only', async (t) => {
  const { env } = await startProviders(t)
  const service = await startService(t, { env: { ...env, ADMIN_KEYS: KEY } })
  const ada = await service.signIn('ada')
  const { id } = await service.workspace(ada, { patterns: ['ada/*'] })
  await ada.push('ada/repo', { 'ext.a': 1 })
  const day = new Date().toISOString().slice(0, 10)
  const values = {
    owner: 'ada',
    repo: 'repo',
    id,
    workspace: id,
    day,
    from: day,
    to: day,
    key: KEY,
  }
  const document = (await service.request('GET', '/api/openapi.json')).body as Document
  const credentials = {
    authorization: `Bearer ${ada.token}`,
    'x-repohost-token': ada.repohostToken,
    origin: DASHBOARD,
  }
  const statuses: Record<number, number> = {}
  for (const { operation, place, filling, method, path, headers, body } of attacksOn(
    document,
    values,
    credentials,
    [0],
    TEXTS,
  )) {
    const reply = await service.request(method, path, { headers, ...(body !== undefined && { body }) })
    statuses[reply.status] = (statuses[reply.status] ?? 0) + 1
    const isNotConfigured = reply.status === 503 && /not_configured$/.test(reply.body.code)
    if (reply.status >= 500 && !isNotConfigured) t.fail(`${operation}, ${place}, ${filling}: ${reply.text}`)
    if (reply.headers.has('x-evil')) t.fail(`${operation}, ${place}: a header came through`)
  }
  t.ok((statuses[400] ?? 0) > 300, JSON.stringify(statuses))
  t.ok((statuses[200] ?? 0) > 10, JSON.stringify(statuses))
  t.hasStrict((await ada.get('/api/team/me')).body, { login: 'ada' }, 'and no one is signed out or deleted')
})

/** The billing provider, the repository host and editors decide what they send. */
const foreign = ['receiveBillingEvent', 'receiveDelivery', 'sendHeartbeat', 'sendHeartbeats']

t.test('no operation accepts unknown members of a body', async (t) => {
  const service = await startService(t)
  const ada = await service.signIn('ada')
  const { id } = await service.workspace(ada)
  const document = (await service.request('GET', '/api/openapi.json')).body
  const parts: Record<string, string> = { owner: 'acme', repo: 'api', id, invite: id, key: id }
  let asked = 0
  for (const [template, operations] of Object.entries<object>(document.paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      const known = operation.requestBody?.content['application/json']?.example
      if (known === undefined || foreign.includes(operation.operationId)) continue
      const path = template.replace(/\{([^}]+)\}/g, (_, name) => parts[name] ?? '')
      const reply = await service.request(method.toUpperCase(), path, {
        body: { ...known, is_admin: true },
        headers: { authorization: `Bearer ${ada.token}`, 'x-repohost-token': ada.repohostToken },
      })
      const errors = [{ path: '/body/is_admin', message: 'is not known' }]
      hasMembers(
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
