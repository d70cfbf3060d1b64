/** Mistakes in a route that are found without calling it. */
import { Type } from '@sinclair/typebox'
import type { InjectOptions, RouteOptions } from 'fastify'
import { pino } from 'pino'
import t from 'tap'
import { BILLING, signatureOf } from '../demo/billing-provider.js'
import { Closed, Ok, RepoParams, RepoPath, ref, Uuid, WorkspaceParams } from '../schemas/common.js'
import { limits } from '../schemas/limits.js'
import { buildApp } from '../src/app.js'
import { readConfig } from '../src/config.js'
import { billingSignature } from '../src/features/billing/billing-signature.js'
import { adminOfNamedWorkspace } from '../src/features/counts/access.js'
import { effectiveConfig, pull } from '../src/features/settings/access.js'
import { configurationBody } from '../src/features/settings/configuration-body.js'
import { adminOf, memberOf } from '../src/features/workspaces/access.js'
import { anyCallerWith, anyone } from '../src/platform/access/access.js'
import { largeJson } from '../src/platform/http/large-json.js'
import type { Scope } from '../src/platform/http/own-body.js'
import { createTestDatabase, openDatabase } from './database.js'
import { JWT_SECRET } from './process.js'

const { url, drop } = await createTestDatabase()
const database = openDatabase(url)
t.teardown(async () => {
  await database.close()
  await drop()
})

const answering = (schema: object) => ({ operationId: 'getNew', response: { 200: ref(Ok) }, ...schema })

/**
 * Boots the service with one more route, which is correct except for the given part, and sends it a request.
 * @param mistakeIn makes the given part, from the scope of the route
 */
const boot = async (
  mistake: Partial<RouteOptions>,
  request: InjectOptions = { url: '/api/limits' },
  mistakeIn: (scope: Scope) => Partial<RouteOptions> = () => ({}),
) => {
  const app = await buildApp(
    readConfig({
      DATABASE_URL: url,
      JWT_SECRETS: JWT_SECRET,
      BILLING_WEBHOOK_SECRET: BILLING.webhookSecret,
    }),
    database,
    pino({ level: 'silent' }),
  )
  try {
    await app.register(async (scope) => {
      scope.route({
        method: 'GET',
        url: '/api/new',
        config: { access: anyone },
        schema: answering({}),
        handler: async () => ({ ok: true }),
        ...mistake,
        ...mistakeIn(scope),
      })
    })
    await app.ready()
    return await app.inject(request)
  } finally {
    await app.close()
  }
}

t.test('a correctly declared route boots', async (t) => {
  await t.resolves(boot({}))
  const byQuery = answering({ querystring: Type.Object({ workspace: Uuid }) })
  await t.resolves(boot({ config: { access: adminOf('query.workspace') }, schema: byQuery }))
  await t.resolves(boot({ method: 'POST', config: { access: adminOfNamedWorkspace() } }))
  await t.resolves(
    boot({
      url: '/api/new/:id',
      config: { access: memberOf('params.id') },
      schema: answering({ params: WorkspaceParams }),
    }),
  )
  await t.resolves(
    boot({
      url: '/api/new/:owner/:repo',
      config: { access: pull },
      schema: answering({ params: RepoParams }),
    }),
  )
})

const inQuery = { access: adminOf('query.workspace') }
const noWorkspace = 'takes its workspace from query.workspace, which it doesn’t require'
const noText = Closed({ workspace: Type.String() })
const noRepo = Type.Object({ repo: Type.Optional(RepoPath) })

const mistakes: [mistake: Partial<RouteOptions>, message: string][] = [
  [{ config: {} }, 'declares no access'],
  [{ bodyLimit: limits.body_bytes + 1, config: inQuery }, 'has a large body, but no accessBeforeBody'],
  [
    { config: { access: { ...anyCallerWith(), dryRunScopes: ['settings:read'] } } },
    'admits keys to a dry run, but has no dry_run in its query',
  ],
  [{ schema: answering({ operationId: undefined }) }, 'declares no operationId'],
  [{ schema: {} }, 'declares no response'],
  [
    { config: { access: memberOf('params.id') } },
    'takes its workspace from params.id, which it doesn’t require',
  ],
  ...[
    {},
    { querystring: Type.Object({ id: Uuid }) },
    { querystring: Type.Object({ workspace: Type.Optional(Uuid) }) },
  ].map((wrong): [object, string] => [{ config: inQuery, schema: answering(wrong) }, noWorkspace]),
  [
    { config: inQuery, schema: answering({ querystring: noText }) },
    'takes its workspace from query.workspace, which isn’t a UUID',
  ],
  [{ config: { access: pull } }, 'takes its repository from params, which doesn’t require owner'],
  [
    { config: { access: effectiveConfig }, schema: answering({ querystring: noRepo }) },
    'takes its repository from query.repo, which doesn’t require repo',
  ],
  [{ url: '/api/new/:name' }, 'has :name in its path, which its params don’t require'],
  [
    { schema: { response: { 200: Type.Array(ref(Closed({}, { $id: 'Stray' }))) } } },
    'refers to Stray, which is no resource',
  ],
]

t.test('a faulty route stops the boot with an error that describes the fault', async (t) => {
  for (const [mistake, message] of mistakes) {
    const { method = 'GET', url = '/api/new' } = mistake
    await t.rejects(boot(mistake), { message: `${method} ${url} ${message}` }, message)
  }
  const querystring = Type.Object({ day: Type.String({ format: 'no-such-format' }) })
  await t.rejects(boot({ schema: answering({ querystring }) }), /GET: \/api\/new.*no-such-format/)
  t.throws(() => ref(Closed({})), { message: 'Only a schema with an `$id` can be referred to' })
})

t.test('a scope for large JSON bodies rejects routes that don’t declare one completely', async (t) => {
  const whole = {
    bodyLimit: configurationBody.maxBytes,
    config: { access: anyone, accessBeforeBody: true, readsBody: configurationBody.schema },
  } as const
  const takes = (change: (route: typeof whole) => Partial<RouteOptions>) =>
    boot({ method: 'POST' }, undefined, (scope) => {
      largeJson(scope, configurationBody)
      return change(whole)
    })
  await t.resolves(takes((route) => route))
  const other = { message: 'POST /api/new doesn’t take the large body of its scope' }
  await t.rejects(
    takes(() => ({})),
    other,
  )
  await t.rejects(
    takes((route) => ({ ...route, bodyLimit: 1 })),
    other,
  )
  await t.rejects(
    takes((route) => ({ ...route, config: { access: anyone } })),
    other,
  )
  await t.rejects(
    takes((route) => ({ ...route, schema: answering({ body: Closed({}) }) })),
    { message: 'POST /api/new has a schema for its body, which its scope doesn’t parse' },
  )
})

t.test('a handler can’t read values that its route’s access check hasn’t loaded', async (t) => {
  const access = pull
  const handlers: [number, RouteOptions['handler']][] = [
    [500, async (request) => ({ ok: request.granted(access) !== null })],
    [500, async (request) => ({ ok: request.validated(() => true) })],
    [401, async ({ caller }) => ({ ok: caller.userId !== '' })],
  ]
  for (const [status, handler] of handlers) {
    t.equal((await boot({ handler }, { url: '/api/new' })).statusCode, status)
  }
})

t.test(
  'a billing notification is rejected if its body was parsed before its signature was checked',
  async (t) => {
    let handled = 0
    const route: Partial<RouteOptions> = {
      method: 'POST',
      config: { access: billingSignature },
      handler: async () => {
        handled++
        return { ok: true }
      },
    }
    const payload = '{"id":"evt_1"}'
    const reply = await boot(route, {
      method: 'POST',
      url: '/api/new',
      headers: { 'content-type': 'application/json', 'billing-signature': signatureOf(payload) },
      payload,
    })
    t.hasStrict(reply.json(), { status: 400, code: 'signature_invalid' })
    t.equal(handled, 0)
  },
)
