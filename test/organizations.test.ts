/** Memberships that follow an organization of the repository host. */
import t, { type Test } from 'tap'
import { deliveryShapes, signedDelivery } from '../demo/host-deliveries.js'
import { type RepohostKind, repohostKinds } from '../schemas/common.js'
import { createClients } from '../src/app.js'
import { hostKinds } from '../src/platform/hosts/index.js'
import { type Caller, reuseService, type Service, type ServiceOptions, startService } from './service.js'
import { until } from './until.js'
import { createWebhook } from './webhooks.js'

const ACME = 9_919

const asks = { mayAskOrganizations: true }

interface Scene {
  service: Service
  /** Owns the organization, and administers the workspace. */
  ada: Caller
  id: string
  path: string
  belong(login: Caller | number, role?: 'member' | 'admin'): void
  leave(caller: Caller): void
  logins(): Promise<string[]>
  link(body: object, caller?: Caller): ReturnType<Caller['put']>
  /** Whether a call with a session of the caller is answered as for a member. */
  isMember(caller: Caller): Promise<boolean>
}

const start = async (t: Test, { kind, ...options }: ServiceOptions = {}): Promise<Scene> => {
  const isPlain = Object.keys(options).length === 0
  const service = await (isPlain ? reuseService(t, kind) : startService(t, { kind, ...options }))
  const acme = { id: ACME, name: 'Acme', members: new Map<number, 'member' | 'admin'>() }
  service.repohost.organizations.push(acme)
  const ada = await service.signIn('ada', asks)
  acme.members.set(ada.repohostId, 'admin')
  const { id } = await service.workspace(ada)
  const path = `/api/team/workspaces/${id}`
  return {
    service,
    ada,
    id,
    path,
    belong: (person, role = 'member') =>
      acme.members.set(typeof person === 'number' ? person : person.repohostId, role),
    leave: ({ repohostId }) => acme.members.delete(repohostId),
    logins: async () =>
      (await ada.get(`${path}/members?limit=500`)).body.members.map(({ login }: { login: string }) => login),
    link: (body, caller = ada) =>
      caller.request('PUT', `${path}/organization`, {
        body,
        headers: { 'X-Repohost-Token': caller.repohostToken },
      }),
    isMember: async (caller) => (await caller.get(`${path}/members`)).status === 200,
  }
}

const entriesOf = async ({ ada, path }: Scene, action: string) =>
  (await ada.get(`${path}/audit?limit=500`)).body.entries
    .filter((entry: { action: string }) => entry.action === action)
    .map(({ actor, target, details }: Record<string, unknown>) => ({ actor, target, details }))

const hostNames = { github: 'GitHub', gitlab: 'GitLab', forgejo: 'Forgejo' }

/** Someone who belongs to the organization, before the first sign-in. */
const newcomer = async (scene: Scene, login: string) => {
  const user = scene.service.repohost.addUser(login, asks)
  scene.belong(user.id)
  return scene.service.signIn(login, asks)
}

for (const kind of repohostKinds) {
  t.test(`${kind}: members join when they sign in, and are removed at the next sign-in`, async (t) => {
    const scene = await start(t, { kind })
    const { service, ada, path, link } = scene
    t.hasStrict(await ada.get(`${path}/organization`), {
      status: 404,
      body: { code: 'organization_not_found' },
    })
    const linked = await link({ organization: 'acme', join: 'member', leave: 'remove' })
    t.equal(linked.status, 200, linked.text)
    const { linked_at, confirmed_at, ...rest } = linked.body
    t.equal(confirmed_at, linked_at)
    t.ok(Date.parse(linked_at) > Date.now() - 60_000)
    t.same(rest, {
      organization: 'Acme',
      organization_id: ACME,
      join: 'member',
      leave: 'remove',
      linked_by: 'ada',
      state: 'active',
      paused_because: null,
    })

    const eve = await service.signIn('eve', asks)
    t.same(await scene.logins(), ['ada'], 'strangers do not join')
    const bob = await newcomer(scene, 'bob')
    t.same(await scene.logins(), ['ada', 'bob'])
    t.same((await bob.get(`${path}/organization`)).body, linked.body, 'members see the link')
    t.equal((await eve.get(`${path}/organization`)).status, 404)
    t.hasStrict((await bob.get('/api/team/me')).body.workspaces, [{ id: scene.id, organization: 'Acme' }])
    t.same(await entriesOf(scene, 'member.joined'), [
      { actor: 'bob', target: 'bob', details: { role: 'member', organization: 'Acme' } },
    ])
    const key = await bob.post('/api/me/keys', { name: 'editor', scopes: ['settings:read'] })
    t.equal(key.status, 201)

    await service.signIn('bob')
    t.ok(await scene.isMember(bob), 'a token without the scope changes nothing')
    scene.leave(bob)
    await service.signIn('bob')
    t.ok(await scene.isMember(bob), 'even when the person has left')
    const { repohost } = service
    for (const fault of [403, 404, 429, 500, 502, 204, 301] as const) {
      // All questions are answered so. A 404 to each is what a clear no looks like, where the scope is known.
      if (fault === 404) continue
      repohost.organizationFault = fault
      const again = await service.signIn('bob', asks)
      t.ok(await scene.isMember(again), `nor does ${fault}`)
    }
    repohost.organizationFault = undefined
    const again = await service.signIn('bob', asks)
    t.notOk(await scene.isMember(again), 'a clear no removes')
    t.same(await entriesOf(scene, 'member.removed'), [
      {
        actor: 'service',
        target: 'bob',
        details: { role: 'member', reason: `left Acme at ${hostNames[kind]}` },
      },
    ])
    scene.belong(bob)
    await service.signIn('bob', asks)
    t.same(await scene.logins(), ['ada', 'bob'], 'and people who come back join again')
  })

  t.test(
    `${kind}: a sign-in names the scope that its token lacks, where memberships depend on it`,
    async (t) => {
      const scene = await start(t, { kind })
      const { service, path, ada, link } = scene
      const missing = async (login: string, options = {}) => {
        const { id, token } = service.repohost.addUser(login, options)
        if (login === 'bob') scene.belong(id)
        const reply = await service.request('POST', '/api/auth/verify', { body: { repohost_token: token } })
        t.equal(reply.status, 200, reply.text)
        return reply.body.missing_scope
      }
      const { scope } = hostKinds[kind].organizations
      t.equal(await missing('bob'), undefined, 'no workspace follows an organization')
      t.equal((await link({ organization: 'acme' })).status, 200)
      t.equal(await missing('bob'), undefined, 'nor does a link depend on it that moves no one')
      t.equal(await missing('ada'), undefined)
      await link({ organization: 'acme', join: 'member', leave: 'keep' })
      t.equal(await missing('bob'), scope)
      t.equal(await missing('eve'), scope, 'the host doesn’t say who belongs to it')
      t.equal(await missing('ada'), scope, 'who made the link')
      t.same(await scene.logins(), ['ada'])
      for (const fault of [403, 404, 429, 500, 204] as const) {
        service.repohost.organizationFault = fault
        t.equal(await missing('bob', asks), undefined, `a fault of the host isn’t a missing scope: ${fault}`)
      }
      service.repohost.organizationFault = undefined
      t.equal(await missing('bob', asks), undefined)
      t.same(await scene.logins(), ['ada', 'bob'])
      await link({ organization: 'acme', join: 'nobody', leave: 'remove' })
      t.equal(await missing('bob'), scope, 'whether a member has left')
      t.equal(await missing('eve'), undefined, 'strangers have nothing to lose')
      await ada.delete(`${path}/organization`)
      t.equal(await missing('bob'), undefined)
    },
  )

  t.test(`${kind}: only owners can link an organization, with their own token`, async (t) => {
    const scene = await start(t, { kind })
    const { service, ada, path, link } = scene
    const [bob, cyd] = [await service.signIn('bob', asks), await service.signIn('cyd', asks)]
    scene.belong(cyd)
    for (const person of [bob, cyd]) {
      await service.workspace(person, { name: 'Own' })
      const own = (await person.get('/api/team/me')).body.workspaces[0].id
      const put = (token: string) =>
        person.request('PUT', `/api/team/workspaces/${own}/organization`, {
          body: { organization: 'acme' },
          headers: { 'X-Repohost-Token': token },
        })
      const denied = { status: 403, body: { code: 'organization_access_denied' } }
      t.hasStrict(await put(person.repohostToken), denied, `${person.login} does not own it`)
      t.hasStrict(await put(ada.repohostToken), denied, 'and a token of the owner does not help')
      t.hasStrict(await put('nonsense'), { status: 401, body: { code: 'repohost_token_invalid' } })
    }
    const none = await ada.put(`${path}/organization`, { organization: 'acme' })
    t.hasStrict(none, { status: 400, body: { code: 'repohost_token_required' } })
    t.hasStrict(await link({ organization: 'elsewhere' }), { status: 403 })
    const scopeless = await service.signIn('ada')
    t.hasStrict(await link({ organization: 'acme' }, scopeless), { status: 403 }, 'without the scope')
    service.repohost.organizationFault = 500
    t.hasStrict(await link({ organization: 'acme' }), { status: 502, body: { code: 'upstream_failed' } })
    service.repohost.organizationFault = undefined
    t.hasStrict(await link({ organization: 'acme' }), {
      status: 200,
      body: { join: 'nobody', leave: 'keep' },
    })
  })
}

t.test('a link that adds members needs patterns inside the organization', async (t) => {
  const scene = await start(t)
  const { ada, path, link } = scene
  const outside = { status: 422, body: { code: 'pattern_outside_organization' } }
  const put = (patterns: string[]) => ada.put(`${path}/patterns`, { patterns })
  await put(['acme/*', 'other/*'])
  t.hasStrict(await link({ organization: 'acme', join: 'member' }), outside)
  t.equal((await link({ organization: 'acme', join: 'nobody', leave: 'remove' })).status, 200)
  await put(['ACME/web'])
  t.equal((await link({ organization: 'acme', join: 'member' })).status, 200)
  t.hasStrict(await put(['acme/*', 'acme-2/*']), outside)
  t.same((await ada.get(`${path}/patterns`)).body.patterns, ['ACME/web'])
  t.equal((await put(['acme/*'])).status, 200)
  t.equal((await ada.delete(`${path}/organization`)).status, 200)
  t.hasStrict(await ada.delete(`${path}/organization`), { status: 404 })
  t.equal((await put(['acme-2/*'])).status, 200)
  t.same(
    (await entriesOf(scene, 'organization.linked')).map(
      ({ details }: { details: { after: object } }) => details.after,
    ),
    [
      { organization: 'Acme', organization_id: ACME, join: 'member', leave: 'keep' },
      { organization: 'Acme', organization_id: ACME, join: 'nobody', leave: 'remove' },
    ],
  )
})

t.test('a linked GitLab organization can have patterns in its subgroups', async (t) => {
  const scene = await start(t, { kind: 'gitlab' })
  const { ada, path, link } = scene
  await ada.put(`${path}/patterns`, { patterns: ['acme/platform/*', 'acme/**'] })
  t.equal((await link({ organization: 'acme', join: 'member' })).status, 200)
  t.equal((await ada.put(`${path}/patterns`, { patterns: ['acmeplatform/*'] })).status, 422)
})

t.test('a renamed organization, or one whose name was taken over, changes no membership', async (t) => {
  for (const kind of repohostKinds) {
    const scene = await start(t, { kind })
    const { service, link } = scene
    await link({ organization: 'acme', join: 'member', leave: 'remove' })
    const bob = await newcomer(scene, 'bob')
    const [acme] = service.repohost.organizations
    if (acme) acme.name = 'Acme-Corp'
    await service.signIn('bob', asks)
    t.ok(await scene.isMember(bob), `${kind}: renamed`)
    await newcomer(scene, 'cyd')
    const mallory = await service.signIn('mallory', asks)
    service.repohost.organizations.push({
      id: 666,
      name: 'acme',
      members: new Map([[mallory.repohostId, 'admin']]),
    })
    await service.signIn('mallory', asks)
    await service.signIn('bob', asks)
    t.same(
      await scene.logins(),
      ['ada', 'bob'],
      `${kind}: no one joins under a name that now means other people`,
    )
  }
})

t.test('a person who was removed by an admin or left doesn’t rejoin through the organization', async (t) => {
  const scene = await start(t)
  const { service, ada, path, link } = scene
  await link({ organization: 'acme', join: 'member', leave: 'remove' })
  const [bob, cyd] = [await newcomer(scene, 'bob'), await newcomer(scene, 'cyd')]
  t.equal((await ada.delete(`${path}/members?login=bob`)).status, 200)
  t.equal((await cyd.post(`${path}/leave`)).status, 200)
  await service.signIn('bob', asks)
  await service.signIn('cyd', asks)
  t.same(await scene.logins(), ['ada'])
  const goodbye = await bob.request('DELETE', '/api/me', { body: { confirm: 'bob' } })
  t.equal(goodbye.status, 200, goodbye.text)
  await service.signIn('bob', asks)
  t.same(await scene.logins(), ['ada'], 'not with a new account either')
  const invite = await ada.post(`${path}/invites`)
  t.equal((await cyd.post('/api/team/workspaces/join', { code: invite.body.code })).status, 200)
  t.same(await scene.logins(), ['ada', 'cyd'], 'an invite still admits')
})

t.test('joining through an organization doesn’t use up the workspace or pattern limits', async (t) => {
  const scene = await start(t, { env: { LIMITS: 'workspaces_joined=1,patterns_per_person=1' } })
  const { service, link } = scene
  await link({ organization: 'acme', join: 'member' })
  const bob = await newcomer(scene, 'bob')
  t.same(await scene.logins(), ['ada', 'bob'])
  const eve = await service.signIn('eve')
  const { code } = await service.workspace(eve, { name: 'Eve', patterns: ['eve/*'] })
  t.equal((await bob.post('/api/team/workspaces/join', { code })).status, 200)
  const { code: second } = await service.workspace(await service.signIn('fay'), { name: 'Fay', patterns: [] })
  t.equal((await bob.post('/api/team/workspaces/join', { code: second })).status, 409)
})

t.test('a sign-in succeeds in time although the host doesn’t respond', async (t) => {
  const scene = await start(t, { clients: createClients })
  const { service, link } = scene
  await link({ organization: 'acme', join: 'member', leave: 'remove' })
  const bob = await newcomer(scene, 'bob')
  scene.leave(bob)
  service.repohost.organizationFault = 'hang'
  const token = service.repohost.addUser('bob', asks).token
  const reply = await service.request('POST', '/api/auth/verify', { body: { repohost_token: token } })
  t.equal(reply.status, 200)
  t.same(Object.keys(reply.body).sort(), ['avatar_url', 'login', 'token'])
  t.ok(await scene.isMember(bob))
})

/** An admin of a workspace that removes those who leave its organization. */
const startAdmin = async (t: Test, options: ServiceOptions = {}) => {
  const scene = await start(t, options)
  const { service, ada, path, link } = scene
  await link({ organization: 'acme', leave: 'remove' })
  const bob = await service.signIn('bob', asks)
  scene.belong(bob)
  const invite = await ada.post(`${path}/invites`, { role: 'admin' })
  await bob.post('/api/team/workspaces/join', { code: invite.body.code })
  return { ...scene, scene, bob }
}

t.test('a push detects that an admin has left', async (t) => {
  const { scene, service, path, bob } = await startAdmin(t)
  const key = await bob.post(`${path}/keys`, { name: 'build', scopes: ['counts:write'] })
  t.equal((await bob.push('acme/web', { 'ext.a': 1 })).status, 200)
  scene.leave(bob)
  t.hasStrict(await bob.push('acme/web', { 'ext.a': 2 }), {
    status: 409,
    body: { code: 'workspace_required' },
  })
  t.notOk(await scene.isMember(bob))
  const { status } = await service.request('POST', '/api/team/commits', {
    body: { workspace: scene.id, day: new Date().toISOString().slice(0, 10), members: [] },
    headers: { Authorization: `Bearer ${key.body.secret}` },
  })
  t.equal(status, 401, 'keys end with the membership')
})

t.test('a push succeeds in time although the host doesn’t respond about organizations', async (t) => {
  const { scene, service, bob } = await startAdmin(t, { clients: createClients })
  service.repohost.organizationFault = 'hang'
  const pushed = await bob.push('acme/web', { 'ext.a': 1 })
  t.equal(pushed.status, 200, pushed.text)
  t.ok(await scene.isMember(bob))
})

const startReports = async (t: Test, kind: RepohostKind, options: ServiceOptions = {}) => {
  const scene = await start(t, { kind, ...options })
  await scene.link({ organization: 'acme', join: 'member', leave: 'remove' })
  const webhook = await createWebhook(scene.service, scene.ada, scene.id)
  const eventOf = (
    caller: { repohostId: number; login: string },
    organization = { id: ACME, name: 'Acme' },
  ) => {
    const event = deliveryShapes[kind].left?.(organization, { id: caller.repohostId, login: caller.login })
    if (!event) throw new Error('This host reports no one')
    return event
  }
  const report = (caller: { repohostId: number; login: string }, deliveryId?: string) =>
    webhook.send(eventOf(caller), deliveryId === undefined ? {} : { deliveryId })
  return { scene, webhook, eventOf, report }
}

for (const kind of ['github', 'gitlab'] as const) {
  t.test(`a webhook reports leavers, and only a signed and new report is accepted: ${kind}`, async (t) => {
    const { scene, webhook, eventOf, report } = await startReports(t, kind)
    const { service, logins } = scene
    const [bob, cyd] = [await newcomer(scene, 'bob'), await newcomer(scene, 'cyd')]
    const forged = signedDelivery(kind, eventOf(bob), 'a-secret-of-someone-else')
    t.hasStrict(await service.request('POST', webhook.path, forged), {
      status: 400,
      body: { code: 'signature_invalid' },
    })
    t.equal((await webhook.send(eventOf(bob, { id: 666, name: 'acme' }))).status, 200)
    t.equal((await report({ repohostId: 123_456, login: 'bob' })).status, 200)
    t.same(await logins(), ['ada', 'bob', 'cyd'], 'another organization, or id, says nothing about bob')

    t.equal((await report(bob, 'delivery-1')).status, 200)
    t.same(await logins(), ['ada', 'cyd'])
    t.equal((await report(bob, 'delivery-1')).status, 200, 'repeated at once')
    await service.signIn('bob', asks)
    t.same(await logins(), ['ada', 'cyd', 'bob'], 'the host still says that bob belongs')
    t.equal((await report(bob, 'delivery-1')).status, 200)
    t.same(await logins(), ['ada', 'cyd', 'bob'], 'a repeated delivery removes no one')
    // GitLab sends the secret itself: who has seen a delivery can forge any.
    if (kind === 'github') {
      t.equal((await report(bob, 'delivery-2')).status, 200)
      const { body, headers } = signedDelivery(kind, eventOf(bob), webhook.secret)
      const { 'X-GitHub-Delivery': _, ...nameless } = headers
      t.equal((await service.request('POST', webhook.path, { body, headers: nameless })).status, 200)
      t.same(await logins(), ['ada', 'cyd', 'bob'], 'nor does a copy with another id or without one')
      t.same(await entriesOf(scene, 'member.removal_waits'), [
        {
          actor: 'service',
          target: 'bob',
          details: { reason: 'left Acme at GitHub', because: 'copied_report' },
        },
      ])
      const { members } = (await scene.ada.get(`${scene.path}/organization/members`)).body
      t.same(
        members.map(({ login }: { login: string }) => login),
        ['bob'],
        'but an admin sees it',
      )
      await service.signIn('bob', asks)
      t.same((await scene.ada.get(`${scene.path}/organization/members`)).body.members, [])
    }
    const { event, payload } = eventOf(bob)
    await webhook.send({ event, payload: { ...payload, later: true } }, { deliveryId: 'delivery-3' })
    t.same(await logins(), ['ada', 'cyd'], 'a new one does')
    await scene.link({ organization: 'acme', join: 'member', leave: 'keep' })
    t.equal((await report(cyd)).status, 200)
    t.same(await logins(), ['ada', 'cyd'], 'unless everyone is kept')
  })
}

t.test('a report that arrives while the host is being asked isn’t undone by the older answer', async (t) => {
  const { scene, webhook, eventOf, report } = await startReports(t, 'github')
  const { ada, path, service } = scene
  const stateOf = async () => (await ada.get(`${path}/organization`)).body.state
  const waiting = async () => {
    const { members } = (await ada.get(`${path}/organization/members`)).body
    return members.map(({ login }: { login: string }) => login)
  }
  t.equal((await report(ada, 'delivery-1')).status, 200)
  t.same([await waiting(), await stateOf()], [['ada'], 'paused'])
  t.equal((await ada.push('acme/web', { 'ext.a': 1 })).status, 200)
  t.same([await waiting(), await stateOf()], [[], 'active'], 'a newer answer ends the wait')

  let open = () => {}
  service.repohost.repoGate = new Promise<void>((resolve) => {
    open = resolve
  })
  const isAboutRepo = (request: string) => request.includes('acme/web')
  const before = service.repohost.requests.filter(isAboutRepo).length
  const pushing = ada.push('acme/web', { 'ext.a': 2 })
  await until(
    () => service.repohost.requests.filter(isAboutRepo).length > before,
    'the host has said that ada belongs, and is asked about the repository',
  )
  const { event, payload } = eventOf(ada)
  const later = { event, payload: { ...payload, later: true } }
  t.equal((await webhook.send(later, { deliveryId: 'delivery-2' })).status, 200)
  open()
  t.equal((await pushing).status, 200)
  t.same([await waiting(), await stateOf()], [['ada'], 'paused'])
  t.equal((await ada.push('acme/web', { 'ext.a': 3 })).status, 200)
  t.same([await waiting(), await stateOf()], [[], 'active'])
})

t.test('the last admin stays, and a pending removal can be seen and confirmed', async (t) => {
  const { scene, report } = await startReports(t, 'github', { env: { LIMITS: 'removals=2' } })
  const { ada, path, service, logins } = scene
  const people = [
    await newcomer(scene, 'bob'),
    await newcomer(scene, 'cyd'),
    await newcomer(scene, 'dan'),
    await newcomer(scene, 'eve'),
  ]
  t.equal((await report(ada)).status, 200)
  t.equal((await report(ada)).status, 200)
  const waits = (target: string, because: string) => ({
    actor: 'service',
    target,
    details: { reason: 'left Acme at GitHub', because },
  })
  t.same(await entriesOf(scene, 'member.removal_waits'), [waits('ada', 'last_admin')], 'said once')
  await Promise.all(people.map((person) => report(person)))
  t.equal((await logins()).length, 3, 'two are removed within an hour')
  const listed = (await ada.get(`${path}/organization/members`)).body.members
  const waiting = (await logins()).filter((login) => login !== 'ada')
  t.same(
    listed.map(({ login }: { login: string }) => login).sort(),
    ['ada', ...waiting].sort(),
    'the others wait for an admin',
  )
  const [first = '', second = ''] = waiting
  await service.signIn(first, asks)
  const left = (await ada.get(`${path}/organization/members`)).body.members
  t.notOk(
    left.some(({ login }: { login: string }) => login === first),
    'a sign-in that the host confirms ends the wait',
  )
  const keep = (login: string) => ada.delete(`${path}/organization/members?login=${login}`)
  t.same([(await keep('ada')).body, (await keep('ada')).body], [{ ok: true }, { ok: true }])
  t.hasStrict(await keep('nobody'), { status: 404, body: { code: 'member_not_found' } })
  t.same(await entriesOf(scene, 'member.kept'), [{ actor: 'ada', target: 'ada', details: {} }], 'said once')
  t.same(
    (await ada.get(`${path}/organization/members`)).body.members.map(({ login }: { login: string }) => login),
    [second],
    'people whom an admin keeps are no longer listed',
  )
  t.equal((await ada.delete(`${path}/members?login=${second}`)).status, 200)
  // The link is paused, because the host has reported its creator, too.
  await service.signIn('ada', asks)
  await service.signIn(second, asks)
  t.ok((await logins()).includes(second), 'people who come back to the organization come back here')
  t.equal((await people[0]?.get(`${path}/organization/members`))?.status === 200, false, 'only admins see it')
})

t.test('a membership not confirmed by a sign-in for a long time is listed', async (t) => {
  const scene = await start(t)
  const { ada, path, service, link } = scene
  await link({ organization: 'acme', join: 'member', leave: 'remove' })
  await newcomer(scene, 'bob')
  const members = async () => (await ada.get(`${path}/organization/members`)).body
  t.same(await members(), { members: [], next_cursor: null })
  await service.database.write.statement(
    `update organization_members set confirmed_at = '2026-01-02T03:04:05Z'`,
    [],
  )
  t.same(await members(), {
    members: [{ login: 'bob', left_at: null, unconfirmed_since: '2026-01-02T03:04:05.000Z' }],
    next_cursor: null,
  })
  await service.signIn('bob')
  t.equal((await members()).members.length, 1, 'a sign-in without the scope confirms nothing')
  await service.signIn('bob', asks)
  t.same(await members(), { members: [], next_cursor: null })
})

t.test(
  'an organization that is linked again, or replaces another, has 60 days to confirm members',
  async (t) => {
    const scene = await start(t)
    const { ada, path, service, link } = scene
    service.repohost.organizations.push({
      id: 50,
      name: 'Acme-2',
      members: new Map([[ada.repohostId, 'admin']]),
    })
    const unconfirmed = async () =>
      (await ada.get(`${path}/organization/members`)).body.members.map(
        ({ login }: { login: string }) => login,
      )
    const wait = () =>
      service.database.write.statement(
        `update organization_members set confirmed_at = confirmed_at - interval '61 days'`,
        [],
      )
    await link({ organization: 'acme', join: 'member' })
    await newcomer(scene, 'bob')
    await wait()
    t.same(await unconfirmed(), ['bob'])
    await link({ organization: 'acme', join: 'nobody', leave: 'remove' })
    t.same(await unconfirmed(), ['bob'], 'the same link, changed')
    await link({ organization: 'acme-2' })
    t.same(await unconfirmed(), [], 'the new one could not confirm anyone before')
    await wait()
    t.same(await unconfirmed(), ['bob'])
    await ada.delete(`${path}/organization`)
    await wait()
    await link({ organization: 'acme' })
    t.same(await unconfirmed(), [], 'time without a link does not count')
    t.same((await ada.get('/api/team/me')).body.workspaces[0].organization, 'Acme')
  },
)

t.test('when reports race with role changes and erasures, none fails and an admin remains', async (t) => {
  const { scene, report } = await startReports(t, 'github', { env: { LIMITS: 'removals=1000' } })
  const { ada, path, service } = scene
  for (let round = 0; round < 4; round++) {
    const login = `racer-${round}`
    const racer = await newcomer(scene, login)
    const replies = await Promise.all([
      report(racer),
      report(racer),
      ada.patch(`${path}/members`, { login, role: 'admin' }),
      service.request('POST', '/api/auth/verify', { body: { repohost_token: racer.repohostToken } }),
      racer.post(`${path}/leave`),
      ...(round % 2 ? [racer.request('DELETE', '/api/me', { body: { confirm: login } })] : []),
      ...(round % 2 ? [] : [ada.delete(`${path}/members?login=${login}`)]),
    ])
    for (const { status, text } of replies) t.ok(status < 500, text)
  }
  const { body } = await ada.get(`${path}/members?limit=500`)
  t.ok(
    body.members.some(({ role }: { role: string }) => role === 'admin'),
    'there is always an admin',
  )
})
