/** Memberships that follow an organization: attacks, and a company's day. */
import t, { type Test } from 'tap'
import { deliveryShapes } from '../demo/host-deliveries.js'
import { countWorkspacesOf } from '../src/features/workspaces/queries/members.js'
import { type Caller, reuseService, type Service } from './service.js'
import { until } from './until.js'
import { createWebhook } from './webhooks.js'

const userIdOf = async (service: Service, login: string): Promise<string> => {
  const [row] = await service.database.write.statement<{ id: string }>(
    'select id from users where login = $1',
    [login],
  )
  return row?.id ?? ''
}

const asks = { mayAskOrganizations: true }
const ACME = 9_919

const start = async (t: Test) => {
  const service = await reuseService(t)
  const acme = { id: ACME, name: 'Acme', members: new Map<number, 'member' | 'admin'>() }
  service.repohost.organizations.push(acme)
  const ada = await service.signIn('ada', asks)
  acme.members.set(ada.repohostId, 'admin')
  const { id } = await service.workspace(ada)
  const path = `/api/team/workspaces/${id}`
  const linkOf = (caller: Caller, workspace: string, body: object) =>
    caller.request('PUT', `/api/team/workspaces/${workspace}/organization`, {
      body,
      headers: { 'X-Repohost-Token': caller.repohostToken },
    })
  const organization = (orgId: number, name: string, ...people: [Caller, 'member' | 'admin'][]) => {
    const one = { id: orgId, name, members: new Map(people.map(([who, role]) => [who.repohostId, role])) }
    service.repohost.organizations.push(one)
    return one
  }
  return { service, acme, ada, id, path, linkOf, organization }
}

t.test('a personal workspace can’t follow an organization', async (t) => {
  const { service, linkOf, organization } = await start(t)
  const eve = await service.signIn('eve', asks)
  const pushed = await eve.push('eve/app', { 'ext.a': 1 })
  t.equal(pushed.status, 200, pushed.text)
  const own = (await eve.get('/api/team/me')).body.workspaces.find((w: { personal: boolean }) => w.personal)
  organization(50, 'evil', [eve, 'admin'])
  t.equal((await eve.put(`/api/team/workspaces/${own.id}/patterns`, { patterns: [] })).status, 200)
  const linked = await linkOf(eve, own.id, { organization: 'evil', join: 'member' })
  t.hasStrict(linked, { status: 409, body: { code: 'personal_workspace' } })
  const victim = service.repohost.addUser('victim', asks)
  service.repohost.organizations.find(({ id }) => id === 50)?.members.set(victim.id, 'member')
  await service.signIn('victim', asks)
  const logins = async () =>
    (await eve.get(`/api/team/workspaces/${own.id}/members`)).body.members.map(
      (m: { login: string }) => m.login,
    )
  t.same(await logins(), ['eve'])
  t.equal((await eve.push('eve/app2', { 'ext.a': 1 })).status, 200)
})

t.test('a leaver can’t hide behind more organizations than one sign-in looks up', async (t) => {
  const { service, acme, ada, linkOf } = await start(t)
  const bobUser = service.repohost.addUser('bob', asks)
  const bob = await service.signIn('bob', asks)
  for (let n = 0; n < 12; n++) {
    const org = {
      id: 1000 + n,
      name: `shield-${n}`,
      members: new Map<number, 'member' | 'admin'>([[bob.repohostId, 'admin']]),
    }
    service.repohost.organizations.push(org)
    const made = await service.workspace(bob, { name: `S${n}`, patterns: [] })
    const put = await linkOf(bob, made.id, { organization: org.name, leave: 'remove' })
    t.equal(put.status, 200, put.text)
    org.members.delete(bob.repohostId)
  }
  const { id } = await service.workspace(ada, { name: 'Company' })
  const path = `/api/team/workspaces/${id}`
  t.equal((await linkOf(ada, id, { organization: 'acme', join: 'member', leave: 'remove' })).status, 200)
  acme.members.set(bobUser.id, 'member')
  await service.signIn('bob', asks)
  t.equal((await bob.get(`${path}/members`)).status, 200, 'bob has joined')
  acme.members.delete(bob.repohostId)
  for (let n = 0; n < 20; n++) await service.signIn('bob', asks)
  t.equal((await bob.get(`${path}/members`)).status, 404, 'bob has left')
})

t.test('a stranger who adds people to organizations doesn’t use up others’ slots', async (t) => {
  const { service, acme, ada, id, linkOf } = await start(t)
  const victim = service.repohost.addUser('victim', asks)
  const eve = await service.signIn('eve', asks)
  const joined = async () =>
    (await bob.get('/api/team/me')).body.workspaces.map(({ name }: { name: string }) => name)
  for (let n = 0; n < 20; n++) {
    const name = `bait-${n}`
    const members = new Map<number, 'member' | 'admin'>([
      [eve.repohostId, 'admin'],
      [victim.id, 'member'],
    ])
    service.repohost.organizations.push({ id: 1000 + n, name, members })
    const made = await service.workspace(eve, { name, patterns: [] })
    t.equal((await linkOf(eve, made.id, { organization: name, join: 'member' })).status, 200)
  }
  const bob = await service.signIn('victim', asks)
  t.equal((await joined()).length, 20)
  const { workspaces } = (await eve.get('/api/team/me')).body
  for (const { id: bait } of workspaces) {
    t.equal((await eve.delete(`/api/team/workspaces/${bait}/organization`)).status, 200)
  }
  const { joined: counted } = await countWorkspacesOf(
    service.database.write,
    await userIdOf(service, 'victim'),
  )
  t.equal(counted, 0, 'nor do they count as joined when the links are gone')
  for (const { id: bait } of workspaces.slice(0, 10)) await bob.post(`/api/team/workspaces/${bait}/leave`)
  for (const { id: bait, name } of workspaces)
    t.equal((await linkOf(eve, bait, { organization: name, join: 'member' })).status, 200)
  await linkOf(ada, id, { organization: 'acme', join: 'member' })
  acme.members.set(victim.id, 'member')
  await service.signIn('victim', asks)
  const { workspaces: own } = (await bob.get('/api/team/me')).body
  t.equal(own.length, 11, 'a person who left 10 workspaces stays out of them')
  t.ok(own.some((one: { id: string }) => one.id === id))
})

t.test('a burst of reports removes up to the hourly limit and doesn’t delay others', async (t) => {
  const { service, acme, ada, id, path, linkOf } = await start(t)
  await linkOf(ada, id, { organization: 'acme', join: 'member', leave: 'remove' })
  const webhook = await createWebhook(service, ada, id)
  const people: Caller[] = []
  for (let n = 0; n < 26; n++) {
    const user = service.repohost.addUser(`p-${n}`, asks)
    acme.members.set(user.id, 'member')
    people.push(await service.signIn(`p-${n}`, asks))
  }
  const outsider = await service.signIn('outsider')
  const report = ({ repohostId, login }: Caller) => {
    const event = deliveryShapes.github.left?.({ id: ACME, name: 'Acme' }, { id: repohostId, login })
    if (!event) throw new Error('GitHub reports it')
    // On a busy machine, some give up before their turn comes.
    return until(async () => (await webhook.send(event)).status === 200, 'the report is taken')
  }
  let answered = 0
  let done = false
  const watcher = async () => {
    while (!done) {
      t.equal((await outsider.get('/api/team/me')).status, 200)
      answered++
    }
  }
  const watching = watcher()
  await Promise.all([...people, ...people].map(report))
  done = true
  await watching
  const members = (await ada.get(`${path}/members?limit=500`)).body.members
  t.equal(members.length, 7, '20 removed, 6 and the admin stay')
  const waiting = (await ada.get(`${path}/organization/members?limit=500`)).body.members
  t.equal(waiting.length, 6)
  const audit = (await ada.get(`${path}/audit?limit=500`)).body.entries
  t.equal(audit.filter((e: { action: string }) => e.action === 'member.removal_waits').length, 6)
  t.ok(answered > 1, 'others get responses meanwhile')
})

t.test('a company’s day', async (t) => {
  const { service, acme, ada, id, path, linkOf } = await start(t)
  await linkOf(ada, id, { organization: 'acme', join: 'member', leave: 'remove' })
  const webhook = await createWebhook(service, ada, id)
  const model = new Set(['ada'])
  const people: Caller[] = []
  const logins = Array.from({ length: 55 }, (_, n) => `w-${String(n).padStart(4, '0')}`)
  const signIn = async (login: string) => {
    for (let tries = 0; tries < 200; tries++) {
      const user = service.repohost.addUser(login, asks)
      const reply = await service.request('POST', '/api/auth/verify', {
        body: { repohost_token: user.token },
      })
      if (reply.status === 200) return reply
      if (reply.status !== 429 && reply.status !== 503) throw new Error(reply.text)
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    throw new Error(`${login} cannot sign in`)
  }
  let next = 0
  const worker = async () => {
    while (next < logins.length) {
      const login = logins[next++] as string
      const user = service.repohost.addUser(login, asks)
      acme.members.set(user.id, 'member')
      await signIn(login)
      model.add(login)
      people.push({ login, repohostId: user.id } as Caller)
    }
  }
  await Promise.all(Array.from({ length: 8 }, worker))
  const members = async () => {
    const found: string[] = []
    let cursor: string | null = null
    do {
      const page: { body: { members: { login: string }[]; next_cursor: string | null } } = await ada.get(
        `${path}/members?limit=20${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ''}`,
      )
      found.push(...page.body.members.map(({ login }) => login))
      cursor = page.body.next_cursor
    } while (cursor)
    return found.sort()
  }
  const same = async (what: string) => t.strictSame(await members(), [...model].sort(), what)
  await same('all have joined')
  people.sort((a, b) => a.login.localeCompare(b.login))
  const report = ({ repohostId, login }: Caller) => {
    const event = deliveryShapes.github.left?.({ id: ACME, name: 'Acme' }, { id: repohostId, login })
    return webhook.send(event as NonNullable<typeof event>)
  }
  const leave = (someone: Caller) => acme.members.delete(someone.repohostId)
  for (const one of people.slice(0, 12)) {
    leave(one)
    t.equal((await report(one)).status, 200)
    model.delete(one.login)
  }
  await same('12 leave by webhook')
  for (const one of people.slice(12, 17)) leave(one)
  for (const fault of [500, 429, 403, 502] as const) {
    service.repohost.organizationFault = fault
    for (const one of people.slice(12, 22)) await signIn(one.login)
  }
  service.repohost.organizationFault = undefined
  await same('an outage removes nobody')
  for (const one of people.slice(12, 17)) {
    await signIn(one.login)
    model.delete(one.login)
  }
  await same('5 leave by sign-in')
  // An hour later: instead of waiting, the test backdates the entries.
  await service.database.write.statement(
    `update audit_entries set at = at - interval '2 hours' where action = 'member.removed'`,
    [],
  )
  const crowd = people.slice(25, 50)
  for (const one of crowd) leave(one)
  // They take turns. On a busy machine, some give up before their turn comes.
  await Promise.all(
    crowd.map((one) => until(async () => (await report(one)).status === 200, 'the report is taken')),
  )
  const now = await members()
  const gone = crowd.filter(({ login }) => !now.includes(login))
  t.equal(gone.length, 20, '20 go')
  for (const { login } of gone) model.delete(login)
  await same('and no one else')
  const waiting = (await ada.get(`${path}/organization/members?limit=500`)).body.members
  t.strictSame(
    waiting.map(({ login }: { login: string }) => login).sort(),
    crowd
      .filter((one) => !gone.includes(one))
      .map(({ login }) => login)
      .sort(),
    '5 wait',
  )
  for (const { login } of waiting) {
    t.equal((await ada.delete(`${path}/members?login=${login}`)).status, 200)
    model.delete(login)
  }
  await same('until an admin confirms')
})
