/** Mistakes in a route that are found without calling it. */
import { Type } from '@sinclair/typebox'
import type { InjectOptions, RouteOptions } from 'fastify'
import { pino } from 'pino'
import t from 'tap'
import { BILLING, signatureOf } from '../demo/billing-provider.js'
import { Closed, Ok, RepoParams, RepoPath, ref, Uuid, WorkspaceParams } from '../schemas/common.js'
import { buildApp } from '../src/app.js'
import { readConfig } from '../src/config.js'
import { billingSignature } from '../src/features/billing/billing-signature.js'
import { repoMember } from '../src/features/settings/access.js'
import { toPull } from '../src/features/settings/policies/repo-access.js'
import { adminOf, memberOf } from '../src/features/workspaces/access.js'
import { anyone } from '../src/platform/access/access.js'
import { createTestDatabase, openDatabase } from './database.js'
import { JWT_SECRET } from './process.js'

const { url, drop } = await createTestDatabase()
const database = openDatabase(url)
t.teardown(async () => {
  await database.close()
  await drop()
})

const answering = (schema: object) => ({ operationId: 'getNew', response: { 200: ref(Ok) }, ...schema })

/** Boots the service with one more route, which is right but for what is given, and sends it a request. */
const boot = async (mistake: Partial<RouteOptions>, request: InjectOptions = { url: '/api/limits' }) => {
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
    app.route({
      method: 'GET',
      url: '/api/new',
      config: { access: anyone },
      schema: answering({}),
      handler: async () => ({ ok: true }),
      ...mistake,
    })
    await app.ready()
    return await app.inject(request)
  } finally {
    await app.close()
  }
}

t.test('a route without mistakes boots', async (t) => {
  await t.resolves(boot({}))
  const byQuery = answering({ querystring: Type.Object({ workspace: Uuid }) })
  await t.resolves(boot({ config: { access: adminOf('query.workspace') }, schema: byQuery }))
  const byBody = answering({ body: Closed({ workspace: Uuid }) })
  await t.resolves(boot({ method: 'POST', config: { access: adminOf('body.workspace') }, schema: byBody }))
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
      config: { access: repoMember('params', toPull) },
      schema: answering({ params: RepoParams }),
    }),
  )
})

t.test('a route that does not declare its access does not boot', async (t) => {
  await t.rejects(boot({ config: {} }), { message: 'GET /api/new declares no access' })
})

t.test('an operation without an id does not boot', async (t) => {
  await t.rejects(boot({ schema: answering({ operationId: undefined }) }), {
    message: 'GET /api/new declares no operationId',
  })
})

t.test('a route whose workspace is not certain to be there does not boot', async (t) => {
  const inPath = { access: memberOf('params.id') }
  await t.rejects(boot({ config: inPath }), {
    message: 'GET /api/new takes its workspace from params.id, which it doesn’t require',
  })
  const inQuery = { access: adminOf('query.workspace') }
  for (const wrong of [
    {},
    { querystring: Type.Object({ id: Uuid }) },
    { querystring: Type.Object({ workspace: Type.Optional(Uuid) }) },
  ]) {
    await t.rejects(boot({ config: inQuery, schema: answering(wrong) }), {
      message: 'GET /api/new takes its workspace from query.workspace, which it doesn’t require',
    })
  }
  const inBody = { access: adminOf('body.workspace') }
  const body = Closed({ workspace: Type.String() })
  await t.rejects(boot({ method: 'POST', config: inBody, schema: answering({ body }) }), {
    message: 'POST /api/new takes its workspace from body.workspace, which isn’t a UUID',
  })
})

t.test('a route whose repository is not certain to be there does not boot', async (t) => {
  await t.rejects(boot({ config: { access: repoMember('params', toPull) } }), {
    message: 'GET /api/new takes its repository from params, which doesn’t require owner',
  })
  const querystring = Type.Object({ repo: Type.Optional(RepoPath) })
  await t.rejects(
    boot({ config: { access: repoMember('query.repo', toPull) }, schema: answering({ querystring }) }),
    { message: 'GET /api/new takes its repository from query.repo, which doesn’t require repo' },
  )
})

t.test('a parameter of the path that no schema describes does not boot', async (t) => {
  await t.rejects(boot({ url: '/api/new/:name' }), {
    message: 'GET /api/new/:name has :name in its path, which its params don’t require',
  })
})

t.test('a route that declares no answer does not boot', async (t) => {
  await t.rejects(boot({ schema: {} }), { message: 'GET /api/new declares no response' })
})

t.test('a reference to a schema that is no resource does not boot, and says which', async (t) => {
  const Stray = Closed({}, { $id: 'Stray' })
  await t.rejects(boot({ schema: { response: { 200: Type.Array(ref(Stray)) } } }), {
    message: 'GET /api/new refers to Stray, which is no resource',
  })
  t.throws(() => ref(Closed({})), { message: 'Only a schema with an `$id` can be referred to' })
})

t.test('a schema that does not compile does not boot', async (t) => {
  const querystring = Type.Object({ day: Type.String({ format: 'no-such-format' }) })
  await t.rejects(boot({ schema: answering({ querystring }) }), /GET: \/api\/new.*no-such-format/)
  const broken = { type: 'object', properties: { name: { type: 'no-such-type' } } }
  await t.rejects(
    boot({ schema: { response: { 200: broken } } }),
    /GET: \/api\/new.*type must be equal to one of/,
  )
})

t.test('a handler gets at nothing that the access of its route has not found', async (t) => {
  const access = repoMember('params', toPull)
  const handlers: [number, RouteOptions['handler']][] = [
    [500, async ({ membership }) => ({ ok: membership.userId !== '' })],
    [500, async (request) => ({ ok: request.granted(access) !== null })],
    [401, async ({ caller }) => ({ ok: caller.userId !== '' })],
  ]
  for (const [status, handler] of handlers) {
    t.equal((await boot({ handler }, { url: '/api/new' })).statusCode, status)
  }
})

t.test('a notification whose bytes were parsed before is rejected', async (t) => {
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
})
