/** Large bodies from senders who may not send them: the response comes before the body. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { limits } from '../schemas/limits.js'
import { readToday } from '../src/platform/time/clock.js'
import { type Caller, type Service, startService } from './service.js'
import { until } from './until.js'
import { createWebhook } from './webhooks.js'

const LARGE = 24 * 1_048_576
const NOBODY = '0193a0c2-7d55-7cc1-9c5e-6a1f2b3c4d5e'
const COMMITS = 'POST /api/team/commits'
const ISSUES = 'POST /api/team/closed-issues'

const configuration = (id: string) => `PUT /api/team/workspaces/${id}/configuration`

type Headers = Record<string, string>
const bearer = ({ token }: { token: string }): Headers => ({ Authorization: `Bearer ${token}` })

/** A connection, as both sides see it. */
class Wire {
  text = ''
  constructor(
    readonly client: Socket,
    /** The service's side. */
    readonly served: Socket,
  ) {
    client.on('error', () => {})
    client.on('data', (chunk) => {
      this.text += chunk
    })
  }

  async answer(): Promise<{ status: number; code: string }> {
    await until(() => /\r\n\r\n\{.*\}$/s.test(this.text), 'an answer')
    const status = Number(this.text.split(' ')[1])
    const { code = '' } = JSON.parse(this.text.slice(this.text.indexOf('\r\n\r\n') + 4))
    return { status, code }
  }
}

const open = async (test: Test, { app, url }: Service): Promise<Wire> => {
  const { hostname: host, port } = new URL(url)
  const accepted = once(app.server, 'connection')
  const client = connect({ host, port: Number(port) })
  test.teardown(() => client.destroy())
  const [served] = (await accepted) as [Socket]
  return new Wire(client, served)
}

const headOf = (route: string, headers: Headers, length: Headers): string => {
  const all = { Host: 'x', 'Content-Type': 'application/json', ...headers, ...length }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`)
  return [`${route} HTTP/1.1`, ...lines, '\r\n'].join('\r\n')
}
const DECLARED = { 'Content-Length': String(LARGE) }
const CHUNKED = { 'Transfer-Encoding': 'chunked' }

type Row = [what: string, route: string, headers: Headers, status: number, code: string]

const setScene = async (test: Test) => {
  const service = await startService(test)
  const [ada, bob, mia, eve] = await service.signInAll('ada', 'bob', 'mia', 'eve')
  const { id } = await service.workspace(ada, { members: [mia] })
  // Bob administers another one.
  const { id: ofBob } = await service.workspace(bob, { patterns: ['bob/*'] })
  const { id: gone } = await service.workspace(ada, { name: 'Gone', patterns: ['gone/*'] })
  const { path: ofGone } = await createWebhook(service, ada, gone)
  await ada.delete(`/api/team/workspaces/${gone}`)
  const keyOf = async (caller: Caller, path: string, ...scopes: string[]): Promise<Headers> => {
    const { body } = await caller.post(path, { name: 'key', scopes })
    return { Authorization: `Bearer ${body.secret}` }
  }
  return { service, ada, bob, mia, eve, id, ofBob, gone, ofGone, keyOf }
}

const rowsOf = async ({
  ada,
  bob,
  mia,
  eve,
  id,
  ofBob,
  gone,
  ofGone,
  keyOf,
}: Awaited<ReturnType<typeof setScene>>): Promise<Row[]> => {
  const reading = await keyOf(ada, '/api/me/keys', 'settings:read')
  const ofWorkspace = await keyOf(bob, `/api/team/workspaces/${ofBob}/keys`, 'settings:write')
  const counting = await keyOf(mia, '/api/me/keys', 'counts:write')
  const cookie = { Cookie: `svc_token=${ada.token}` }
  const beats = (user: string) => `POST /api/wakatime/v1/users/${user}/heartbeats.bulk`
  const signed = { 'X-Hub-Signature-256': `sha256=${'0'.repeat(64)}`, 'X-GitHub-Event': 'push' }
  return [
    ...[COMMITS, ISSUES].flatMap((route): Row[] => [
      ['no session', route, {}, 401, 'unauthenticated'],
      ['a cookie from elsewhere', route, cookie, 403, 'csrf_rejected'],
      ['no scope', route, reading, 403, 'scope_missing'],
      ['in no workspace', route, bearer(eve), 404, 'workspace_not_found'],
      ['admin of none', route, bearer(mia), 403, 'admin_required'],
      ['a key of an admin of none', route, counting, 403, 'admin_required'],
    ]),
    ['no session', configuration(id), {}, 401, 'unauthenticated'],
    ['a cookie from elsewhere', configuration(id), cookie, 403, 'csrf_rejected'],
    ['no scope', configuration(id), counting, 403, 'scope_missing'],
    ['a scope for a dry run only', configuration(id), reading, 403, 'scope_missing'],
    ['a stranger', configuration(id), bearer(eve), 404, 'workspace_not_found'],
    ['an admin of another workspace', configuration(id), bearer(bob), 404, 'workspace_not_found'],
    ['a key of another workspace', configuration(id), ofWorkspace, 404, 'workspace_not_found'],
    ['a member', configuration(id), bearer(mia), 403, 'admin_required'],
    ['a member’s dry run', `${configuration(id)}?dry_run=true`, bearer(mia), 403, 'admin_required'],
    ['a workspace that is gone', configuration(gone), bearer(ada), 404, 'workspace_not_found'],
    ['a workspace that never was', configuration(NOBODY), bearer(ada), 404, 'workspace_not_found'],
    ['no workspace', configuration('x'), bearer(eve), 400, 'validation_failed'],
    ['no session', beats('current'), {}, 401, 'unauthenticated'],
    ['no scope', beats('current'), reading, 403, 'scope_missing'],
    ['someone else’s heartbeats', beats('ada'), bearer(bob), 404, 'route_not_found'],
    ['someone else’s heartbeat', beats('ada').replace('.bulk', ''), bearer(bob), 404, 'route_not_found'],
    ['no session', 'POST /api/wakatime/v1/users/current/import', {}, 401, 'unauthenticated'],
    ['someone else’s file', 'POST /api/wakatime/v1/users/ada/import', bearer(bob), 404, 'route_not_found'],
    ['no session', 'POST /api/wakatime/v1/plugins/errors', {}, 401, 'unauthenticated'],
    ['no signature', `POST /api/repohost/webhook/${NOBODY}`, {}, 400, 'signature_invalid'],
    ['a webhook that is gone', `POST ${ofGone}`, signed, 404, 'webhook_not_found'],
    ['an unknown webhook', `POST /api/repohost/webhook/${NOBODY}`, signed, 404, 'webhook_not_found'],
  ]
}

t.test('a caller who may not send a large body is told before it’s read', async (t) => {
  const scene = await setScene(t)
  const { service } = scene
  for (const [what, route, headers, status, code] of await rowsOf(scene)) {
    for (const length of [DECLARED, CHUNKED, { ...DECLARED, Expect: '100-continue' }]) {
      const name = `${route}: ${what}, ${Object.keys(length).join()}`
      const wire = await open(t, service)
      const head = headOf(route, headers, length)
      wire.client.write(head)
      t.same(await wire.answer(), { status, code }, name)
      t.equal(wire.served.bytesRead, head.length, name)
      wire.client.destroy()
    }
  }
})

t.test('an upload whose query names the workspace is rejected before its body is read', async (t) => {
  const { service, ada, bob, mia, id, ofBob, keyOf } = await setScene(t)
  const ofWorkspace = await keyOf(bob, `/api/team/workspaces/${ofBob}/keys`, 'counts:write')
  // Mia administers one of her own, too.
  await service.workspace(mia, { patterns: ['mia/*'] })
  const notFound = { status: 404, code: 'workspace_not_found' }
  const notAdmin = { status: 403, code: 'admin_required' }
  const rows: [what: string, headers: Headers, workspace: string, { status: number; code: string }][] = [
    ['another one', bearer(bob), id, notFound],
    ['one that never was', bearer(ada), NOBODY, notFound],
    ['another one, with a key', ofWorkspace, id, notFound],
    ['a member', bearer(mia), id, notAdmin],
    ['in capitals', bearer(mia), id.toUpperCase(), notAdmin],
    ['no id', bearer(bob), 'x', { status: 400, code: 'validation_failed' }],
    ['two', bearer(bob), `${ofBob}&workspace=${id}`, { status: 400, code: 'validation_failed' }],
  ]
  for (const [what, headers, workspace, expected] of rows)
    for (const route of [COMMITS, ISSUES]) {
      const wire = await open(t, service)
      const head = headOf(`${route}?workspace=${workspace}`, headers, DECLARED)
      wire.client.write(head)
      t.same(await wire.answer(), expected, what)
      t.equal(wire.served.bytesRead, head.length, what)
      wire.client.destroy()
    }
})

t.test('an upload goes where its sender may write, wherever the body or the query names it', async (t) => {
  const { service, bob, ofBob, id } = await setScene(t)
  const day = await readToday(service.database)
  const members = [{ login: 'bob', repos: [{ repo: 'bob/app', count: 1 }] }]
  const send = async (text: string, query = '') => {
    const headers = { ...bearer(bob), 'Content-Type': 'application/json' }
    const { status, body } = await service.request('POST', `/api/team/commits${query}`, {
      headers,
      body: text,
    })
    return [status, body.errors?.[0].path ?? body.code ?? body.skipped]
  }
  t.same(await send(JSON.stringify({ day, members }), `?workspace=${ofBob}`), [200, []])
  t.same(
    await send(JSON.stringify({ workspace: ofBob.toUpperCase(), day, members }), `?workspace=${ofBob}`),
    [200, []],
  )
  t.same(
    await send(JSON.stringify({ workspace: id, day, members }), `?workspace=${ofBob}`),
    [400, '/body/workspace'],
    'two different ones',
  )
  t.same(await send(JSON.stringify({ workspace: ofBob, day, members })), [200, []])
  t.same(await send(JSON.stringify({ workspace: ofBob.toUpperCase(), day, members })), [200, []])
  t.same(await send(JSON.stringify({ members, day, workspace: ofBob })), [200, []])
  t.same(await send(JSON.stringify({ day, workspace: ofBob, members: [] })), [200, []])
  const spelled = (workspace: string) => `{"day":"${day}","members":[],"work\\u0073pace":"${workspace}"}`
  t.same(await send(spelled(ofBob)), [200, []], 'a name with escapes')
  t.same(await send(spelled(id)), [404, 'workspace_not_found'])
  const twice = [ofBob, id].map((one) => `"workspace":"${one}"`).join()
  t.same(
    await send(`{${twice},"day":"${day}","members":[]}`),
    [404, 'workspace_not_found'],
    'the last counts',
  )
  t.same(await send(`{"workspace":7,"day":"${day}","members":[]}`), [400, '/body/workspace'])
  t.same(await send(`{"day":"${day}","members":[]}`), [400, '/body/workspace'])
  t.same(await send('[]'), [400, '/body'])
  t.same(await send('{'), [400, 'invalid_json'])
})

t.test('a client that sends Expect gets 100 Continue only if it may send the body', async (t) => {
  const { service, ada, eve, id } = await setScene(t)
  const day = await readToday(service.database)
  const body = JSON.stringify({ workspace: id, day, members: [] })
  const length = { 'Content-Length': String(body.length), Expect: '100-continue' }
  const refused = await open(t, service)
  refused.client.write(headOf(COMMITS, bearer(eve), length))
  const ended = once(refused.client, 'end')
  t.same(await refused.answer(), { status: 404, code: 'workspace_not_found' })
  await ended
  t.match(refused.text, /^HTTP\/1\.1 404 [^{]*\r\nconnection: close\r\n/i)
  const asked = await open(t, service)
  asked.client.write(headOf(COMMITS, bearer(ada), length))
  await until(() => asked.text !== '', 'it is asked')
  t.equal(asked.text, 'HTTP/1.1 100 Continue\r\n\r\n')
  asked.client.write(body)
  await until(() => asked.text.includes('"upserted":0'), 'an answer')
  t.match(asked.text, /^HTTP\/1\.1 100 [^{]*HTTP\/1\.1 200 /)
})

/** Sends as much as the service reads. @returns once it has ended the connection */
const flood = async ({ client }: Wire, head: string): Promise<void> => {
  const piece = Buffer.alloc(65_536, ' ')
  const closed = new Promise<void>((resolve) => client.once('close', resolve))
  client.write(head)
  let left = LARGE - piece.length
  const push = () => {
    for (let isRoom = true; isRoom && left > 0 && client.writable; left -= piece.length)
      isRoom = client.write(piece)
  }
  client.on('drain', push)
  push()
  await closed
}

t.test('a body sent anyway is read only up to the limit for any route', async (t) => {
  const scene = await setScene(t)
  const { service, bob, id } = scene
  const rows = (await rowsOf(scene)).filter(([, , , status]) => status !== 400)
  const floods: Promise<unknown>[] = []
  const send = async ([what, route, headers, status, code]: Row) => {
    const wire = await open(t, service)
    const check = async () => {
      await flood(wire, headOf(route, headers, DECLARED))
      t.same(await wire.answer(), { status, code }, `${route}: ${what}`)
      t.ok(wire.served.bytesRead < 2 * limits.body_bytes, `${route}: ${what}, ${wire.served.bytesRead} bytes`)
    }
    floods.push(check())
  }
  for (const row of rows) await send(row)
  await send(['another one', `${COMMITS}?workspace=${id}`, bearer(bob), 404, 'workspace_not_found'])
  await Promise.all(floods)
})

t.test('after a small rejected body, the connection serves the next request', async (t) => {
  const { service, ada, eve, id } = await setScene(t)
  const body = JSON.stringify({ patterns: [] })
  const wire = await open(t, service)
  const length = { 'Content-Length': String(body.length) }
  for (const { token } of [eve, eve, ada]) {
    wire.text = ''
    wire.client.write(headOf(configuration(id), bearer({ token }), length))
    if (token === eve.token) {
      t.same(await wire.answer(), { status: 404, code: 'workspace_not_found' })
      t.notMatch(wire.text, /\r\nconnection: close\r\n/i)
    }
    wire.client.write(body)
  }
  await until(() => wire.text.includes('"changes"'), 'an answer')
  t.match(wire.text, /^HTTP\/1\.1 200 /)
})
