/** A link to an organization is valid only while its creator has the right to create it. */
import t, { type Test } from 'tap'
import { deliveryShapes } from '../demo/host-deliveries.js'
import { repohostKinds } from '../schemas/common.js'
import { hasProperties } from './has-properties.js'
import { type Caller, reuseService, startService } from './service.js'
import { until } from './until.js'
import { createWebhook } from './webhooks.js'

const ACME = { id: 9_919, name: 'Acme' }
const asks = { mayAskOrganizations: true }
const team = '/api/team/workspaces'
const beats = '/api/wakatime/v1/users/current'

const shared = await startService(t)
let scenes = 0

/** Ada and bob administer a workspace and own an organization, which ada has linked. */
const start = async (t: Test, service = shared, base = ACME.name) => {
  const scene = scenes++
  const name = `${base}-${scene}`
  const acme = { id: ACME.id + scene, name, members: new Map<number, 'member' | 'admin'>() }
  service.repohost.organizations.push(acme)
  const [ada, bob] = [await service.signIn('ada', asks), await service.signIn('bob', asks)]
  acme.members.set(ada.repohostId, 'admin').set(bob.repohostId, 'admin')
  const { id } = await service.workspace(ada, { patterns: [`${name.toLowerCase()}/*`] })
  const path = `${team}/${id}`
  const { code } = (await ada.post(`${path}/invites`, { role: 'admin' })).body
  t.equal((await bob.post(`${team}/join`, { code })).status, 200)
  const link = (caller: Caller, body: object = {}) =>
    caller.request('PUT', `${path}/organization`, {
      body: { organization: name, join: 'member', leave: 'remove', ...body },
      headers: { 'X-Repohost-Token': caller.repohostToken },
    })
  const linked = await link(ada)
  t.equal(linked.status, 200, linked.text)
  const state = async (caller = bob) => {
    const { state, paused_because, linked_by } = (await caller.get(`${path}/organization`)).body
    return { state, paused_because, linked_by }
  }
  const logins = async (caller = bob) =>
    (await caller.get(`${path}/members?limit=500`)).body.members.map(({ login }: { login: string }) => login)
  /** Someone of the organization signs in for the first time. */
  const newcomer = (person: string) => {
    const login = `${person}-${scene}`
    acme.members.set(service.repohost.addUser(login, asks).id, 'member')
    return service.signIn(login, asks)
  }
  const sql = (text: string) => service.database.write.statement(text, [])
  return { service, name, acme, ada, bob, id, path, link, state, logins, newcomer, sql }
}

const active = { state: 'active', paused_because: null }
const paused = (because: string) => ({ state: 'paused', paused_because: because, linked_by: 'ada' })

const endings = {
  left: ({ ada, path }: Scene) => ada.post(`${path}/leave`),
  'was removed': ({ bob, path }: Scene) => bob.delete(`${path}/members?login=ada`),
  'was demoted': ({ bob, path }: Scene) => bob.patch(`${path}/members`, { login: 'ada', role: 'member' }),
  'deleted the account': ({ ada }: Scene) => ada.request('DELETE', '/api/me', { body: { confirm: 'ada' } }),
}
type Scene = Awaited<ReturnType<typeof start>>

for (const [how, end] of Object.entries(endings))
  t.test(`a link admits no one once its creator ${how}, until another owner renews it`, async (t) => {
    const scene = await start(t)
    const { service, acme, bob, state, logins, link, newcomer } = scene
    t.same(await state(), { ...active, linked_by: 'ada' })
    const cyd = await newcomer('cyd')
    t.ok((await logins()).includes(cyd.login))
    const ended = await end(scene)
    t.equal(ended.status, 200, ended.text)
    hasProperties(t, await state(), { state: 'paused', paused_because: 'maker_left' })
    const dan = await newcomer('dan')
    t.notOk((await logins()).includes(dan.login), 'no one joins')
    t.ok((await logins()).includes(cyd.login), 'no one loses anything')
    acme.members.delete(cyd.repohostId)
    await service.signIn(cyd.login, asks)
    t.notOk((await logins()).includes(cyd.login), 'people who leave the organization are removed as before')
    t.equal((await link(bob)).status, 200)
    t.same(await state(), { ...active, linked_by: 'bob' })
    await service.signIn(dan.login, asks)
    t.ok((await logins()).includes(dan.login))
  })

for (const kind of repohostKinds)
  t.test(`${kind}: a link admits no one once the host reports that its creator isn’t an owner`, async (t) => {
    const scene = await start(t, await reuseService(t, kind))
    const { service, acme, ada, bob, path, state, logins, link, newcomer } = scene
    for (const [fault, signIn] of [
      [500, asks],
      [403, asks],
      [429, asks],
      [undefined, {}],
    ] as const) {
      service.repohost.organizationFault = fault
      await service.signIn('ada', signIn)
      t.same(await state(), { ...active, linked_by: 'ada' }, `${fault ?? 'no scope'} says nothing`)
    }
    service.repohost.organizationFault = undefined
    acme.members.set(ada.repohostId, 'member')
    await service.signIn('ada', asks)
    t.same(await state(), paused('maker_not_owner'))
    await newcomer('cyd')
    t.same(await logins(), ['ada', 'bob'])
    const { entries } = (await bob.get(`${path}/audit`)).body
    t.same(
      entries
        .slice(0, 1)
        .map(({ actor, action, details }: Record<string, unknown>) => [actor, action, details]),
      [['service', 'organization.paused', { because: 'maker_not_owner' }]],
    )
    t.hasStrict(await link(ada), { status: 403, body: { code: 'organization_access_denied' } })
    acme.members.set(ada.repohostId, 'admin')
    await service.signIn('ada', asks)
    t.same(await state(), { ...active, linked_by: 'ada' }, 'and again once it shows an owner')
    t.equal((await link(ada, { leave: 'keep' })).status, 200)
    acme.members.delete(ada.repohostId)
    await service.signIn('ada', asks)
    t.same(await state(), paused('maker_not_owner'), 'even where no one is removed for leaving')
    acme.members.set(ada.repohostId, 'admin')
    t.equal((await link(ada)).status, 200)
    t.same(await state(), { ...active, linked_by: 'ada' })
    acme.members.set(ada.repohostId, 'member')
    t.equal((await ada.push(`${scene.name.toLowerCase()}/web`, { 'ext.a': 1 })).status, 200)
    t.same(await state(), paused('maker_not_owner'), 'a push asks, too')
    t.equal((await link(bob, { join: 'nobody' })).status, 200)
    acme.members.set(bob.repohostId, 'member')
    await service.signIn('bob', asks)
    t.same(await state(), { ...active, linked_by: 'bob' }, 'a link that admits no one is not paused')
  })

t.test('a link admits no one if its creator hasn’t been confirmed for 60 days', async (t) => {
  const { service, bob, path, state, logins, link, newcomer, sql } = await start(t)
  const wait = () =>
    sql(`update organizations set linked_at = linked_at - interval '61 days',
      confirmed_at = confirmed_at - interval '61 days'`)
  await wait()
  t.same(await state(), paused('not_confirmed'))
  await newcomer('cyd')
  t.same(await logins(), ['ada', 'bob'])
  await service.signIn('ada')
  t.same(await state(), paused('not_confirmed'), 'a sign-in without the scope confirms nothing')
  await service.signIn('bob', asks)
  t.same(await state(), paused('not_confirmed'), 'nor does another owner')
  await service.signIn('ada', asks)
  t.same(await state(), { ...active, linked_by: 'ada' })
  const { linked_at, confirmed_at } = (await bob.get(`${path}/organization`)).body
  t.ok(Date.parse(confirmed_at) - Date.parse(linked_at) > 60 * 86_400_000)
  await wait()
  t.same(await state(), paused('not_confirmed'))
  t.equal((await link(bob)).status, 200)
  t.same(await state(), { ...active, linked_by: 'bob' })
})

t.test('a report that the creator left pauses the link, even if the last admin stays', async (t) => {
  const { service, acme, ada, bob, path, id, state, newcomer } = await start(t)
  const webhook = await createWebhook(service, ada, id)
  t.equal((await bob.post(`${path}/leave`)).status, 200)
  const event = deliveryShapes.github.left?.(acme, { id: ada.repohostId, login: 'ada' })
  if (!event) throw new Error('GitHub reports it')
  t.equal((await webhook.send(event)).status, 200)
  t.same(await state(ada), paused('maker_not_owner'))
  const cyd = await newcomer('cyd')
  t.equal((await cyd.get(`${path}/members`)).status, 404)
})

t.test(
  'a report that the creator left pauses the link once, even if people who leave stay members',
  async (t) => {
    const { service, acme, ada, bob, id, state, link, logins } = await start(t)
    const webhook = await createWebhook(service, ada, id)
    const event = deliveryShapes.github.left?.(acme, { id: ada.repohostId, login: 'ada' })
    if (!event) throw new Error('GitHub reports it')
    t.equal((await link(ada, { leave: 'keep' })).status, 200)
    t.equal((await webhook.send(event, { deliveryId: 'left' })).status, 200)
    t.same(await state(), paused('maker_not_owner'))
    t.same(await logins(), ['ada', 'bob'], 'no one is removed')
    t.equal((await link(ada, { leave: 'keep' })).status, 200)
    for (const deliveryId of ['left', 'copied']) {
      t.equal((await webhook.send(event, { deliveryId })).status, 200)
      t.same(await state(), { ...active, linked_by: 'ada' }, `${deliveryId}: nothing new`)
    }
    t.equal((await link(bob, { leave: 'keep' })).status, 200)
    const again = { ...event, payload: { ...event.payload, at: 'another time' } }
    t.equal((await webhook.send(again, { deliveryId: 'again' })).status, 200)
    t.same(
      await state(),
      { ...active, linked_by: 'bob' },
      'a report about someone other than the creator pauses nothing',
    )
  },
)

t.test('no sign-in that begins after the creator loses ownership makes anyone a member', async (t) => {
  for (let round = 0; round < 2; round++) {
    const { service, acme, ada, bob, path, state, logins } = await start(t)
    const people = Array.from({ length: 6 }, (_, n) => service.repohost.addUser(`racer-${round}-${n}`, asks))
    for (const { id } of people) acme.members.set(id, 'member')
    const verify = ({ token }: { token: string }) =>
      service.request('POST', '/api/auth/verify', { body: { repohost_token: token } })
    const end = () =>
      round % 2 ? ada.post(`${path}/leave`) : bob.patch(`${path}/members`, { login: 'ada', role: 'member' })
    const replies = await Promise.all([
      ...people.slice(0, 3).map(verify),
      end(),
      ...people.slice(3).map(verify),
    ])
    for (const { status, text } of replies) t.equal(status, 200, text)
    hasProperties(t, await state(), { paused_because: 'maker_left' })
    const entries = (await bob.get(`${path}/audit?limit=500`)).body.entries.map(
      ({ action }: { action: string }) => action,
    )
    // Newest first.
    const ended = entries.findIndex((action: string) => /^member\.(left|role_changed)$/.test(action))
    t.notOk(entries.slice(0, ended).includes('member.joined'), 'no one joins after the right has ended')
    const before = await logins()
    for (const person of people) await verify(person)
    t.same(await logins(), before)
  }
})

t.test('links and members from the previous version stay if the creator is still there', async (t) => {
  const { acme, ada, bob, id, path, state, newcomer, sql } = await start(t)
  const cyd = await newcomer('cyd')
  const joinedBy = async (caller: Caller) =>
    (await caller.get('/api/team/me')).body.workspaces
      .filter((one: { id: string }) => one.id === id)
      .map(({ joined_by }: { joined_by: string }) => joined_by)
  t.same(
    [await joinedBy(ada), await joinedBy(bob), await joinedBy(cyd)],
    [['created'], ['invite'], ['organization']],
  )
  t.equal((await ada.delete(`${path}/organization`)).status, 200)
  t.same(await joinedBy(cyd), ['organization'], 'even without the link')
  // As the previous version writes a link.
  const write = (who: Caller) =>
    sql(`insert into organizations
    (workspace_id, host_id, name, joins, leaves, linked_by, linked_at)
    select m.workspace_id, ${acme.id}, '${acme.name}', 'member', 'remove', u.id, now() - interval '59 days'
    from users u, members m where u.login = '${who.login}' and m.workspace_id = '${id}' limit 1
    on conflict (workspace_id) do update set linked_by = excluded.linked_by, linked_at = excluded.linked_at`)
  await write(bob)
  t.same(await state(), { ...active, linked_by: 'bob' })
  await write(cyd)
  t.same(await state(), { state: 'paused', paused_because: 'maker_left', linked_by: cyd.login })
})

t.test('a workspace is personal if its owner created it', async (t) => {
  const eve = await shared.signIn('eve')
  t.equal((await eve.push('eve/app', { 'ext.a': 1 })).status, 200)
  hasProperties(t, (await eve.get('/api/team/me')).body.workspaces, [
    { personal: true, joined_by: 'created' },
  ])
})

const hourOf = (project: string) =>
  ['api', 'folder', 'site', 'old'].findIndex((name) => project.endsWith(name))
const days = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10)

t.test('nothing counts before the day a link made someone a member', async (t) => {
  const { service, name, id, bob, newcomer, sql } = await start(t)
  const owner = name.toLowerCase()
  const cyd = await newcomer('cyd')
  const minutes = async () =>
    (await cyd.get('/api/me/export')).body.activity
      .map(({ repo, day, minutes }: { repo: string; day: string; minutes: number }) => [day, repo, minutes])
      .sort()
  const flush = (caller: Caller, ...on: string[]) =>
    caller.post('/api/team/active-minutes', {
      entries: on.map((day) => ({ repo: `${owner}/web`, day, minutes: 5, hours: { 0: 5 } })),
    })
  const ignored = { status: 'ignored', code: 'repo_not_matched' }
  /** Each project has an hour of its own, because a minute belongs to one. */
  const beat = (day: string, minute: number, project = `${owner}/api`) => ({
    time: Date.parse(`${day}T00:00:00Z`) / 1_000 + hourOf(project) * 3_600 + minute * 60,
    project,
    entity: '/x.ts',
    type: 'file',
  })
  const beating = (day: string, project?: string) =>
    cyd.post(`${beats}/heartbeats.bulk`, [
      beat(day, 1, project),
      beat(day, 2, project),
      beat(day, 3, project),
    ])
  const joined = (ago: number) =>
    sql(
      `update members m set joined_at = now() - interval '${ago} days' from users u where u.id = m.user_id and u.login = '${cyd.login}'`,
    )

  t.hasStrict((await flush(cyd, days(1), days(0))).body, {
    accepted: 0,
    ignored: 2,
    notes: [
      { index: 0, ...ignored },
      { index: 1, ...ignored },
    ],
  })
  t.hasStrict((await flush(bob, days(1), days(0))).body, { accepted: 2 }, 'by an invite, they do')
  await beating(days(1))
  await beating(days(1), 'folder')
  t.equal((await cyd.put('/api/me/editor-projects', { name: 'folder', repo: `${owner}/folder` })).status, 200)
  const importing = async (day: string) => {
    const heartbeats = [beat(day, 1, `${owner}/old`), beat(day, 2, `${owner}/old`)]
    const dump = { user: {}, range: {}, days: [{ date: day, heartbeats }] }
    t.equal((await cyd.request('POST', `${beats}/import`, { body: JSON.stringify(dump) })).status, 202)
    await until(async () => (await cyd.get(`${beats}/import`)).body.state !== 'running', 'the import ends')
  }
  await importing(days(0))
  t.same(await minutes(), [])

  await joined(2)
  t.hasStrict((await flush(cyd, days(2), days(1), days(0))).body, {
    accepted: 2,
    ignored: 1,
    notes: [{ index: 0, ...ignored }],
  })
  await beating(days(1))
  await beating(days(2))
  await beating(days(1), 'site')
  await beating(days(2), 'site')
  t.equal((await cyd.put('/api/me/editor-projects', { name: 'site', repo: `${owner}/site` })).status, 200)
  await importing(days(1))
  await importing(days(2))
  const counted = await minutes()
  t.same([...new Set(counted.map(([day]: [string]) => day))], [days(1), days(0)])
  t.same(
    counted.filter(([day]: [string]) => day === days(1)).map(([, repo]: [string, string]) => repo),
    [`${owner}/api`, `${owner}/old`, `${owner}/site`, `${owner}/web`],
  )
  const { code } = await service.workspace(await service.signIn('fay'), {
    name: 'Fay',
    patterns: [`${owner}/*`],
  })
  t.equal((await cyd.post(`${team}/join`, { code })).status, 200)
  t.hasStrict((await flush(cyd, days(2))).body, { accepted: 1, ignored: 0 }, 'another workspace may match')
  t.same(
    (
      await service.database.write.statement(
        `select 1 from daily_activity where workspace_id = $1::uuid and day = $2::date and user_id = (select id from users where login = $3)`,
        [id, days(2), cyd.login],
      )
    ).length,
    0,
  )
})

t.test('a GitLab report applies to a top-level group, and needs confirmation for a subgroup', async (t) => {
  const gitlab = await reuseService(t, 'gitlab')
  for (const [base, isRemoved] of [
    ['acme', true],
    ['acme/platform', false],
  ] as const) {
    const { service, acme, ada, bob, id, path, logins, newcomer } = await start(t, gitlab, base)
    const cyd = await newcomer('cyd')
    const webhook = await createWebhook(service, ada, id)
    const event = deliveryShapes.gitlab.left?.(acme, { id: cyd.repohostId, login: cyd.login })
    if (!event) throw new Error('GitLab reports it')
    const waiting = async () =>
      (await bob.get(`${path}/organization/members`)).body.members.map(
        ({ login }: { login: string }) => login,
      )
    t.equal((await webhook.send(event)).status, 200)
    t.equal((await logins()).includes(cyd.login), !isRemoved)
    if (isRemoved) continue
    t.same(await waiting(), [cyd.login])
    await service.signIn(cyd.login, asks)
    t.same(await waiting(), [], 'the next sign-in shows that the person still belongs')
    await webhook.send({ ...event, payload: { ...(event.payload as object), later: true } })
    t.same(await waiting(), [cyd.login])
    acme.members.delete(cyd.repohostId)
    await service.signIn(cyd.login, asks)
    t.notOk((await logins()).includes(cyd.login), 'or not')
  }
})

t.test('a configuration dry run rejects the same changes as the real run', async (t) => {
  const { name, ada, path } = await start(t)
  const owner = name.toLowerCase()
  const put = (query: string, patterns: string[]) =>
    ada.request('PUT', `${path}/configuration${query}`, { body: { patterns }, headers: { 'If-Match': '*' } })
  const refused = { status: 422, body: { code: 'pattern_outside_organization' } }
  for (const query of ['?dry_run=true', '']) {
    t.hasStrict(await put(query, [`${owner}/*`, 'other/*']), refused)
    t.hasStrict(await put(query, [`${owner}/*`, `${owner}/web`]), { status: 200 })
  }
})
