/**
 * Activity that is recorded about a person goes where that person sent it or agreed to. Every operation is called by an
 * admin, and no response about the person's own data is another for it; and agents of a person change no response to
 * anyone else.
 */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { peopleColumns, tables } from '../src/features/tables.js'
import { attacksOn, type Document } from './attack.js'
import { type Caller, reuseService, type Service, startService } from './service.js'

const DAY = 86_400
const yesterday = Math.floor(Date.now() / 1_000 / DAY) * DAY - DAY
const day = new Date(yesterday * 1_000).toISOString().slice(0, 10)
const today = new Date().toISOString().slice(0, 10)
const FOLDERS = ['job-applications', 'diary']

const send = async (caller: Caller, minute: number, projects: string[], category = 'coding') => {
  const reply = await caller.post(
    '/api/wakatime/v1/users/current/heartbeats.bulk',
    projects.map((project, index) => ({
      time: yesterday + (9 * 60 + minute + index) * 60,
      project,
      category,
    })),
  )
  if (reply.status !== 202) throw new Error(reply.text)
}

/** These end the membership, the account or the session. */
const ENDS = [
  'deleteWorkspace',
  'removeMember',
  'leaveWorkspace',
  'deleteAccount',
  'logout',
  'verifyRepohostToken',
]

let document: Document | undefined

/** Calls every operation for which `isIncluded`, with these values. @returns the responses by operation */
const callAll = async (
  service: Service,
  caller: Pick<Caller, 'token' | 'repohostToken'>,
  values: Record<string, unknown>,
  isIncluded: (operation: string, method: string) => boolean,
) => {
  document ??= (await service.request('GET', '/api/openapi.json')).body as Document
  const headers = { authorization: `Bearer ${caller.token}`, 'x-repohost-token': caller.repohostToken }
  const responses: Record<string, { status: number; text: string }> = {}
  for (const call of attacksOn(document, values, headers, [], [])) {
    if (ENDS.includes(call.operation) || !isIncluded(call.operation, call.method)) continue
    const { status, text } = await service.request(call.method, call.path, {
      headers: call.headers,
      ...(call.body !== undefined && { body: call.body }),
    })
    responses[call.operation] = { status, text }
  }
  return responses
}

/** Members of an account export with rows that their person alone routes. Events of the funnel are written later, together. */
const ownMembers = peopleColumns().flatMap(({ tableName, export: member }) => {
  const rules = tables.find(({ table }) => tableName === nameOf(table))?.rules
  return rules?.routedBy === 'their person' && typeof member === 'string' && !/^(profile|funnel)/.test(member)
    ? member
    : []
})
function nameOf(table: object): string {
  return String(Reflect.get(table, Symbol.for('drizzle:Name')))
}

const steady = (value: unknown, person: string) =>
  JSON.stringify(value)
    .replaceAll(person, 'bob')
    .replace(/"[0-9]{4}-[0-9]{2}-[0-9]{2}T[^"]*"/g, '"a time"')
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'an id')

t.test('an admin’s changes never affect responses about a person’s own data', async (t) => {
  t.ok(ownMembers.includes('editor_projects') && ownMembers.includes('heartbeat_hours'))
  const service = await reuseService(t)
  const admin = await service.signIn('admin')
  let meddled = 0
  const play = async (meddle: boolean) => {
    const login = `bob-${randomUUID().slice(0, 8)}`
    const bob = await service.signIn(login)
    const { id } = await service.workspace(admin, { members: [bob], patterns: ['acme/*'] })
    await send(bob, 0, [`${login}/diary`, ...FOLDERS])
    if (meddle) {
      const patterns = ['acme/*', 'other/*']
      for (const name of FOLDERS) {
        const shared = { id, workspace: id, owner: 'acme', login, name, patterns, day, from: day, to: today }
        for (const repo of [name, `acme/${name}`]) {
          const responses = await callAll(
            service,
            admin,
            { ...shared, repo },
            (_, method) => method !== 'GET',
          )
          meddled += Object.values(responses).filter(({ status }) => status < 300).length
        }
        await admin.put(`/api/team/workspaces/${id}/project-settings/acme/${name}`, {
          settings: { 'ext.a': 1 },
        })
      }
    }
    await send(bob, 20, [...FOLDERS, `${login}/diary`])
    const exported = (await bob.get('/api/me/export')).body
    const own = (operation: string, method: string) =>
      method === 'GET' &&
      /^(listEditorProjects|getRecording|get(StatusBar|Stats|Summaries|AllTime|TimedProjects|Durations))$/.test(
        operation,
      )
    const responses = await callAll(
      service,
      bob,
      { start: day, end: today, range: 'last_7_days', date: day, user: 'current' },
      own,
    )
    return {
      exported: Object.fromEntries(
        ownMembers.map((member) => [member, steady(exported[member] ?? null, login)]),
      ),
      answers: Object.fromEntries(
        Object.entries(responses).map(([name, { status, text }]) => [
          name,
          [status, steady(JSON.parse(text), login)],
        ]),
      ),
    }
  }
  const alone = await play(false)
  t.strictSame(await play(true), alone)
  t.ok(meddled > 50, `${meddled} changes were accepted`)
  t.ok(
    Object.values(alone.answers).every(([status]) => status === 200),
    JSON.stringify(alone.answers).slice(0, 2_000),
  )
  t.match(JSON.stringify(alone), /diary/)
})

t.test('no response to anyone else changes when a person’s agents work', async (t) => {
  const service = await startService(t, { env: { METRICS_PORT: '9469' } })
  const [admin, bob, carol] = await service.signInAll('admin', 'bob', 'carol')
  const { id } = await service.workspace(admin, { members: [bob, carol] })
  await service.database.hot.statement(`update members set joined_at = joined_at - interval '9 days'`, [])
  await send(bob, 0, ['acme/web', 'acme/web', 'acme/api', 'taxes'])
  await send(carol, 0, ['acme/web', 'acme/web'])
  const values = {
    id,
    workspace: id,
    day,
    from: day,
    to: today,
    start: day,
    end: today,
    user: 'current',
  }
  const { secret } = (
    await admin.post(`/api/team/workspaces/${id}/keys`, {
      name: 'key',
      scopes: ['settings:read'],
    })
  ).body
  const key = { login: 'key', token: secret, repohostToken: admin.repohostToken }
  // Every operation about a member, and those that show activity in each of their forms.
  const forms: [Record<string, unknown>, RegExp][] = [
    [{ ...values, member: 'bob' }, /./],
    [values, /Dashboard|Heatmap|Projects/],
    [{ ...values, trends: 'true', repo: 'acme/web' }, /Dashboard|Heatmap/],
    [{ ...values, format: 'csv' }, /Dashboard/],
    [{ ...values, format: 'csv', member: 'bob' }, /Dashboard/],
  ]
  const seen = async () => {
    await service.app.jobs.rollups.run()
    const responses: Record<string, [number, string]> = {}
    for (const caller of [admin, carol, key])
      for (const [index, [asked, pattern]] of forms.entries()) {
        const all = await callAll(
          service,
          caller,
          asked,
          (name, method) =>
            method === 'GET' && pattern.test(name) && !/Login$|export|Client|Reference/.test(name),
        )
        for (const [name, { status, text }] of Object.entries(all))
          responses[`${caller.login} ${name} ${index}`] = [status, steady(text, 'bob')]
      }
    return responses
  }
  await seen()
  const before = await seen()
  for (const name of ['admin readDashboard 3', 'admin listAuditEntries 0'])
    t.equal(before[name]?.[0], 200, name)
  await send(bob, 5, ['acme/web', 'acme/api', 'acme/new', 'taxes', 'acme/web'], 'ai coding')
  await send(bob, 200, ['acme/web', 'acme/api', 'acme/new'], 'ai coding')
  // From midnight on, all night.
  const night = Array.from({ length: 8 * 60 }, (_, minute) => (minute < 400 ? 'acme/web' : 'acme/night'))
  await send(bob, -9 * 60, night, 'ai coding')
  const own = await bob.get(`/api/team/dashboard/mine?workspace=${id}&from=${day}&to=${today}`)
  t.ok(own.body.totals.agent_minutes > 480, 'their person sees them')
  t.strictSame(await seen(), before)
  const metrics = await service.app.meter.registry.metrics()
  const people = [bob.login, (await bob.get('/api/me')).body.id, 'acme', id]
  t.same(
    people.filter((text) => metrics.includes(text)),
    [],
    'metrics name no one',
  )
})
