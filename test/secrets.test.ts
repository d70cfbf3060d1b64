import t from 'tap'
import { BILLING } from '../demo/billing-provider.js'
import type { Fault } from '../demo/stand-in.js'
import { type Service, startProviders, startService } from './service.js'

/** Secrets of the operator, and wrong ones that a caller may send by mistake where another one belongs. */
const CANARIES = {
  adminKey: 'canary-admin-key-3f81c2',
  wrongAdminKey: 'canary-wrong-admin-key-77aa',
  jwtSecret: 'canary-jwt-secret-of-more-than-32-bytes-5b1e',
  clientSecret: 'canary-client-secret-90dd',
  repohostToken: 'canary-repohost-token-12ab',
  modelKey: 'canary-model-key-66ef',
  sessionToken: 'canary.session.token-41c7',
  signature: 'canary-signature-08bd',
}

interface Operation {
  method: string
  path: string
}

/** Everything that the service documents; signing out comes last, because it ends the walk. */
const operationsOf = async (service: Service): Promise<Operation[]> => {
  const { body } = await service.request('GET', '/api/openapi.json')
  return Object.entries(body.paths as Record<string, object>)
    .flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => ({ method: method.toUpperCase(), path })),
    )
    .sort((one, other) => Number(one.path.endsWith('/logout')) - Number(other.path.endsWith('/logout')))
}

/** Everything in the database, as text. */
const dumpOf = async (service: Service): Promise<string> => {
  const tables = await service.database.hot.statement<{ name: string }>(
    `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
     where table_schema not in ('pg_catalog', 'information_schema')`,
    [],
  )
  const dumps = tables.map(({ name }) =>
    service.database.hot.statement<{ row: string }>(`select t::text as row from ${name} t`, []),
  )
  return (await Promise.all(dumps)).flatMap((rows) => rows.map(({ row }) => row)).join('\n')
}

t.test('no response, log, metric or database contains a secret', async (t) => {
  const setup = await startProviders(t, { budgetMs: 700 })
  const { providers } = setup
  const service = await startService(t, {
    ...setup,
    env: {
      ...setup.env,
      ADMIN_KEYS: CANARIES.adminKey,
      JWT_SECRETS: CANARIES.jwtSecret,
      REPOHOST_CLIENT_SECRET: CANARIES.clientSecret,
      METRICS_PORT: '9464',
    },
  })
  providers.a.key = CANARIES.modelKey
  const ada = await service.signIn('ada')
  const workspace = await service.workspace(ada)
  const secrets = [
    ...Object.values(CANARIES),
    ada.token,
    ada.token.split('.')[2] ?? '',
    ada.repohostToken,
    BILLING.secretKey,
    BILLING.webhookSecret,
  ]
  const operations = await operationsOf(service)
  t.ok(operations.length > 20)
  t.ok(operations.some(({ path }) => path.includes('assistant-a-models')))

  const fill = (path: string) =>
    path
      .replace('{id}', workspace.id)
      .replace('{owner}', 'acme')
      .replace('{repo}', 'api')
      .replace('{version}', '1')
      .replace(/\{[^}]+\}/g, workspace.id)
  const bodies: Record<string, unknown> = {
    '/api/auth/verify': { repohost_token: ada.repohostToken },
    '/api/settings/{owner}/{repo}': { settings: { 'ext.a': 1 } },
    '/api/events': { event: 'opened', source: 'extension' },
  }
  const responses: string[] = []
  const statuses = new Map<number, number>()
  const send = async (method: string, path: string, headers: Record<string, string>, body?: unknown) => {
    const reply = await service.request(method, path, { headers, ...(method !== 'GET' && { body }) })
    responses.push(
      `${method} ${path.split('?')[0]} ${reply.status} ${[...reply.headers].join(' ')} ${reply.text}`,
    )
    statuses.set(reply.status, (statuses.get(reply.status) ?? 0) + 1)
  }
  const { sessionToken, repohostToken, adminKey, wrongAdminKey, modelKey, signature } = CANARIES
  const good = {
    Authorization: `Bearer ${ada.token}`,
    'X-Repohost-Token': ada.repohostToken,
    'X-Service-Admin-Key': adminKey,
  }
  const inQuery = `?key=${adminKey}&apiKey=${modelKey}&login=nobody&state=${sessionToken}&code=${repohostToken}`
  const everywhere = Object.fromEntries(Object.entries(CANARIES).map(([name, value]) => [`x_${name}`, value]))

  const called = () => Object.values(providers).reduce((sum, { traces }) => sum + traces.length, 0)
  /** Those that call a provider. */
  const calling = new Set<Operation>()

  /** Each operation with what it needs, with wrong secrets, and with secrets where they don't belong. */
  const walk = async (some: Iterable<Operation> = operations) => {
    for (const operation of some) {
      const { method, path } = operation
      const url = fill(path)
      const before = called()
      await send(method, url + inQuery, good, bodies[path] ?? {})
      await send(
        method,
        url,
        { Cookie: `svc_token=${ada.token}; oauth2-state-${sessionToken}=${sessionToken}` },
        {},
      )
      await send(
        method,
        `${url}?key=${wrongAdminKey}&apiKey=${sessionToken}`,
        { ...good, 'X-Repohost-Token': repohostToken, 'X-Service-Admin-Key': wrongAdminKey },
        path === '/api/auth/verify' ? { repohost_token: repohostToken } : (bodies[path] ?? everywhere),
      )
      await send(
        method,
        `${url}?apiKey=${encodeURIComponent(`${modelKey} `)}`,
        { Authorization: `Bearer ${sessionToken}`, 'Billing-Signature': `t=1,v1=${signature}` },
        everywhere,
      )
      await send(method, url, { ...good, 'Content-Type': 'application/json' }, `{"a": "${repohostToken}`)
      if (called() > before) calling.add(operation)
    }
  }
  const checkAll = async (when: string) => {
    const places: Record<string, string> = {
      answer: responses.join('\n'),
      log: service.logs.join(''),
      metric: await service.app.meter.registry.metrics(),
    }
    for (const [place, text] of Object.entries(places)) {
      for (const secret of secrets) {
        const at = text.indexOf(secret)
        if (at >= 0)
          t.fail(`a secret shows in a ${place} ${when}: ${text.slice(Math.max(0, at - 200), at + 60)}`)
      }
    }
    t.ok(
      places.log?.includes('"route"') && places.metric?.includes('http_request_duration'),
      `looked ${when}`,
    )
  }

  // The walk signs out, which would end it: each round has a session of its own.
  const round = async (when: string, some?: Iterable<Operation>) => {
    const { token } = await service.signIn('ada')
    secrets.push(token, token.split('.')[2] ?? '')
    good.Authorization = `Bearer ${token}`
    await walk(some)
    await checkAll(when)
  }
  await round('when all is well')
  t.ok(calling.size > 2)
  for (const fault of ['status-500', 'html', 'reset', 'redirect'] satisfies Fault[]) {
    for (const standIn of Object.values(providers)) standIn.fault = fault
    await round(`with providers that answer with ${fault}`, [...calling])
  }
  const kept = await dumpOf(service)
  t.match(kept, /opened/, 'the dump sees what is stored')
  for (const secret of secrets) t.notOk(kept.includes(secret), 'a secret is in the database')

  const { token } = await service.signIn('ada')
  secrets.push(token)
  good.Authorization = `Bearer ${token}`
  await service.database.hot.statement('alter table users rename to users_gone', [])
  await walk()
  await checkAll('with a broken database')
  for (const status of [200, 400, 401, 404, 500, 502])
    t.ok(statuses.has(status), `${status} was among the answers`)
})
