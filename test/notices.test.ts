/** Members learn of changes that affect them. */
import t from 'tap'
import { limits } from '../schemas/limits.js'
import { readToday } from '../src/platform/time/clock.js'
import { addDays, mondayOf } from '../src/platform/time/days.js'
import { whileHeld } from './locks.js'
import { type Caller, reuseService, type Service, startService, startTeam } from './service.js'

const team = '/api/team/workspaces'

const noticesOf = async (caller: Caller) => {
  const reply = await caller.get('/api/me/notices')
  return reply.status === 200 ? reply.body.notices : reply
}

/** Without what differs in each run. */
const toldTo = async (caller: Caller) =>
  (await noticesOf(caller)).map(({ id, at, ...rest }: { id: string; at: string }) => rest)

const nothing = { login: null, named_from: null, keys: [], repos: [], renamed_to: null }

t.test('when the level is loosened, members are told from which day admins see names', async (t) => {
  const { service, ada, bob, id } = await startTeam(t, 'bob')
  const settings = `${team}/${id}/settings`
  await ada.patch(settings, { activity_privacy: 'team' })
  t.same(await noticesOf(bob), [], 'a stricter level takes nothing from anyone')
  const loosened = await ada.patch(settings, { activity_privacy: 'named' })
  const day = loosened.body.activity_privacy_since.slice(0, 10)
  const notice = {
    ...nothing,
    code: 'level_loosened',
    workspace: { id, name: 'Acme' },
    login: 'ada',
    named_from: addDays(mondayOf(addDays(day, 1)), 7),
  }
  t.same(await toldTo(bob), [notice])
  t.same(await noticesOf(bob), await noticesOf(bob), 'its id stays the same')
  t.same(await noticesOf(ada), [], 'ada did it')

  const cyd = await service.signIn('cyd')
  const invite = await ada.post(`${team}/${id}/invites`, {})
  await cyd.post('/api/team/workspaces/join', { code: invite.body.code })
  t.same(await noticesOf(cyd), [], 'cyd joined afterwards')
  await ada.patch(settings, { settings: { 'ext.a': 1 } })
  t.same(await toldTo(bob), [notice])
  await ada.patch(settings, { activity_privacy: 'team' })
  t.same(await noticesOf(bob), [], 'the level is no longer loosened')
})

t.test('where the operator hides names, no level is loosened', async (t) => {
  const service = await startService(t)
  const [ada, bob] = await service.signInAll('ada', 'bob')
  const { id } = await service.workspace(ada, { members: [bob] })
  for (const activity_privacy of ['team', 'named'])
    await ada.patch(`${team}/${id}/settings`, { activity_privacy })
  t.equal((await noticesOf(bob)).length, 1)
  const strict = await startService(t, { beside: service, env: { ACTIVITY_PRIVACY_FLOOR: 'team' } })
  t.same(
    (await strict.request('GET', '/api/me/notices', { headers: { Authorization: `Bearer ${bob.token}` } }))
      .body,
    { notices: [] },
  )
})

t.test('people are told when a key in their override is locked', async (t) => {
  const { service, ada, bob, id } = await startTeam(t, 'bob')
  const [cyd, dan] = await service.signInAll('cyd', 'dan')
  for (const one of [cyd, dan]) {
    const invite = await ada.post(`${team}/${id}/invites`, {})
    await one.post('/api/team/workspaces/join', { code: invite.body.code })
  }
  await ada.patch(`${team}/${id}/members`, { login: 'bob', role: 'admin' })
  const override = (repo: string, settings: object, caller = bob) =>
    caller.put(`${team}/${id}/project-settings/acme/${repo}`, { settings })
  const lock = (...locked: string[]) => ada.patch(`${team}/${id}/settings`, { locked })
  await ada.patch(`${team}/${id}/settings`, {
    settings: { 'ext.a': 1, 'ext.b': 2, 'ext.c': 3, 'ext.d': { 'ext.a': 4 } },
  })
  t.equal((await override('Api', { '[go]': { 'ext.a': 10 }, 'ext.b': 20 })).status, 200)
  await override('web', { 'ext.b': 5, 'ext.d': { 'ext.c': 6 } })
  await override('docs', { 'ext.b': 5 }, ada)
  const entries = [{ repo: 'acme/docs', day: await readToday(service.database), minutes: 5 }]
  t.equal((await dan.post('/api/team/active-minutes', { entries })).status, 200)
  const locksOf = async (caller: Caller) =>
    (await toldTo(caller)).filter(({ code }: { code: string }) => code === 'key_locked')
  const notice = { ...nothing, code: 'key_locked', workspace: { id, name: 'Acme' }, login: 'ada' }

  await lock('ext.c')
  t.same(await locksOf(bob), [], 'no override sets it')
  await lock('ext.c', 'ext.a')
  const first = { ...notice, keys: ['ext.a'], repos: ['acme/Api'] }
  t.same(await locksOf(bob), [first], 'a lock also holds inside language blocks')
  await lock('ext.c', 'ext.a', 'ext.b')
  t.same(
    await locksOf(bob),
    [{ ...notice, keys: ['ext.b', 'ext.a'], repos: ['acme/Api', 'acme/web'] }],
    'one for each admin, whatever the number of changes',
  )
  t.same(await locksOf(dan), [{ ...notice, keys: ['ext.b'], repos: ['acme/docs'] }], 'dan has worked there')
  t.same(await locksOf(ada), [], 'ada did it')
  t.same(await locksOf(cyd), [], 'cyd has no repository')

  await lock('ext.b')
  t.same(
    (await locksOf(bob)).map(({ keys }: { keys: string[] }) => keys),
    [['ext.b']],
    'a key that is no longer locked isn’t named',
  )
  await override('web', { '[rust][toml]': { 'ext.z': 1 } })
  t.same(await locksOf(bob), [{ ...notice, keys: ['ext.b'], repos: ['acme/Api'] }])
  await ada.patch(`${team}/${id}/settings`, { settings: { '[toml]': { 'ext.z': 2 } } })
  await lock('ext.b', '[toml]')
  t.same(
    (await locksOf(bob))[0],
    { ...notice, keys: ['[toml]', 'ext.b'], repos: ['acme/web', 'acme/Api'] },
    'a block for its language',
  )
  for (const repo of ['api', 'web']) await ada.delete(`${team}/${id}/project-settings/acme/${repo}`)
  t.same(await locksOf(bob), [], 'the overrides are gone')
})

t.test('members are told of a new admin, except the new admin and whoever appointed them', async (t) => {
  const { service, ada, bob, id } = await startTeam(t, 'bob')
  const [cyd, dan] = await service.signInAll('cyd', 'dan')
  const joinAs = async (caller: Caller, role: string) => {
    const invite = await ada.post(`${team}/${id}/invites`, { role })
    await caller.post('/api/team/workspaces/join', { code: invite.body.code })
  }
  const makeCyd = (role: string) => ada.patch(`${team}/${id}/members`, { login: 'cyd', role })
  await joinAs(cyd, 'member')
  const notice = { ...nothing, code: 'admin_added', workspace: { id, name: 'Acme' } }
  await makeCyd('admin')
  t.same(await toldTo(bob), [{ ...notice, login: 'cyd' }])
  t.same([await noticesOf(ada), await noticesOf(cyd)], [[], []])
  await joinAs(dan, 'admin')
  t.same(
    await toldTo(bob),
    [
      { ...notice, login: 'dan' },
      { ...notice, login: 'cyd' },
    ],
    'by an invite, newest first',
  )
  t.same(await toldTo(ada), [{ ...notice, login: 'dan' }])
  t.same(await noticesOf(dan), [], 'cyd was an admin before dan joined')
  await makeCyd('member')
  t.same(await toldTo(bob), [{ ...notice, login: 'dan' }], 'cyd is no longer one')
  await dan.request('DELETE', '/api/me', { body: { confirm: 'dan' } })
  t.same(await noticesOf(bob), [])
})

t.test('people are told when their repository no longer counts in a workspace', async (t) => {
  const { service, ada, bob, id } = await startTeam(t, 'bob')
  const cyd = await service.signIn('cyd')
  const invite = await ada.post(`${team}/${id}/invites`, {})
  await cyd.post('/api/team/workspaces/join', { code: invite.body.code })
  await ada.patch(`${team}/${id}/members`, { login: 'cyd', role: 'admin' })
  const day = await readToday(service.database)
  const work = (caller: Caller, ...repos: string[]) =>
    caller.post('/api/team/active-minutes', { entries: repos.map((repo) => ({ repo, day, minutes: 5 })) })
  const set = (caller: Caller, ...patterns: string[]) => caller.put(`${team}/${id}/patterns`, { patterns })
  const reposOf = async (caller: Caller) =>
    (await toldTo(caller)).filter(({ code }: { code: string }) => code === 'repo_removed')
  await set(ada, 'acme/*', 'acme/web', 'other/api-*')
  await work(bob, 'acme/Web', 'other/api-one', 'third/site')
  await work(ada, 'acme/web')

  await set(ada, 'acme/*', 'other/api-*', 'third/*')
  t.same(await reposOf(bob), [], 'another pattern covers it, and additions take nothing')
  await set(ada, 'acme/docs', 'other/api-*')
  const notice = { ...nothing, code: 'repo_removed', workspace: { id, name: 'Acme' }, login: 'ada' }
  t.same(await reposOf(bob), [{ ...notice, repos: ['acme/Web', 'third/site'] }])
  t.same(await noticesOf(bob), await noticesOf(bob), 'its id stays the same')
  t.same(await reposOf(ada), [], 'ada did it')
  t.same(await reposOf(cyd), [], 'cyd has no repository')

  await set(cyd, 'acme/docs', 'third/*')
  t.same(await reposOf(bob), [
    { ...notice, login: 'cyd', repos: ['other/api-one'] },
    { ...notice, repos: ['acme/Web'] },
  ])
  await set(ada, 'acme/*', 'third/*', 'other/*')
  t.same(await reposOf(bob), [], 'all are covered again')
  await set(cyd, 'third/*', 'other/*')
  t.same(
    await reposOf(bob),
    [{ ...notice, login: 'cyd', repos: ['acme/Web'] }],
    'only the newest change is named',
  )
  t.same(await reposOf(ada), [{ ...notice, login: 'cyd', repos: ['acme/web'] }])
  const dan = await service.signIn('dan')
  await dan.post('/api/team/workspaces/join', { code: invite.body.code })
  await work(dan, 'acme/web')
  t.same(await reposOf(dan), [], 'dan joined afterwards')
})

t.test('a removed person is told of the removal, and of nothing after it', async (t) => {
  const { service, ada, bob, id } = await startTeam(t, 'bob')
  const cyd = await service.signIn('cyd')
  const join = async (caller: Caller) => {
    const invite = await ada.post(`${team}/${id}/invites`, {})
    t.equal((await caller.post('/api/team/workspaces/join', { code: invite.body.code })).status, 200)
  }
  await join(cyd)
  await ada.patch(`${team}/${id}/settings`, { activity_privacy: 'team' })
  await ada.patch(`${team}/${id}/settings`, { activity_privacy: 'named' })
  await ada.delete(`${team}/${id}/members?login=bob`)
  await ada.patch(`${team}/${id}/members`, { login: 'cyd', role: 'admin' })
  await ada.patch(`${team}/${id}`, { name: 'Acme 2' })
  await ada.patch(`${team}/${id}`, { name: 'Acme 3' })
  const notice = { ...nothing, code: 'removed_by_admin', workspace: { id, name: 'Acme' } }
  t.same(await toldTo(bob), [notice], 'with the name that bob knew')
  t.same((await toldTo(cyd))[0].code, 'level_loosened')

  await cyd.post(`${team}/${id}/leave`)
  t.same(await noticesOf(cyd), [], 'cyd left')
  await join(bob)
  t.same(await noticesOf(bob), [], 'bob is back')
  await ada.delete(`${team}/${id}/members?login=bob`)
  t.same(await toldTo(bob), [{ ...notice, workspace: { id, name: 'Acme 3' } }], 'the last removal alone')
  await service.database.write.statement(
    `update audit_entries set at = now() - interval '${limits.notice_days + 1} days' where action = 'member.removed'`,
    [],
  )
  t.same(await noticesOf(bob), [], 'old ones are no longer listed')
})

t.test('a notice of a removal says if an organization caused it', async (t) => {
  const service = await reuseService(t)
  const asks = { mayAskOrganizations: true }
  const acme = { id: 9_919, name: 'Acme', members: new Map<number, 'member' | 'admin'>() }
  service.repohost.organizations.push(acme)
  const ada = await service.signIn('ada', asks)
  const bob = service.repohost.addUser('bob', asks)
  acme.members.set(ada.repohostId, 'admin').set(bob.id, 'member')
  const { id } = await service.workspace(ada)
  const linked = await ada.request('PUT', `${team}/${id}/organization`, {
    body: { organization: 'acme', join: 'member', leave: 'remove' },
    headers: { 'X-Repohost-Token': ada.repohostToken },
  })
  t.equal(linked.status, 200, linked.text)
  t.same(await noticesOf(await service.signIn('bob', asks)), [])
  acme.members.delete(bob.id)
  t.same(await toldTo(await service.signIn('bob', asks)), [
    { ...nothing, code: 'removed_by_organization', workspace: { id, name: 'Acme' } },
  ])
})

t.test('many promotions of one person are one notice', async (t) => {
  const { service, ada, bob, id } = await startTeam(t, 'bob')
  await promote(service, id, 60)
  t.same(await toldTo(bob), [
    { ...nothing, code: 'admin_added', workspace: { id, name: 'Acme' }, login: 'ada' },
  ])
  t.same(await noticesOf(ada), [])
})

t.test('notices of one kind don’t push out those of another', async (t) => {
  const { service, ada, bob, id } = await startTeam(t, 'bob')
  const other = await service.workspace(ada, { name: 'Other', patterns: ['other/*'], members: [bob] })
  await ada.delete(`${team}/${other.id}/members?login=bob`)
  const crowd = Array.from({ length: limits.notices + 1 }, (_, index) => `admin-${index}`)
  const invite = await ada.post(`${team}/${id}/invites`, { role: 'admin' })
  for (const caller of await service.signInAll(...crowd))
    t.equal((await caller.post('/api/team/workspaces/join', { code: invite.body.code })).status, 200)
  const codes = (await toldTo(bob)).map(({ code }: { code: string }) => code)
  t.same(codes, [...Array(limits.notices).fill('admin_added'), 'removed_by_admin'])
})

t.test('if one kind takes too long, the others are there', async (t) => {
  const { service, ada, bob, id } = await startTeam(t, 'bob')
  const cyd = await service.signIn('cyd')
  const invite = await ada.post(`${team}/${id}/invites`, { role: 'admin' })
  await cyd.post('/api/team/workspaces/join', { code: invite.body.code })
  await whileHeld(service, ['lock table workspace_settings_versions in access exclusive mode'], async () => {
    const { status, body } = await bob.get('/api/me/notices')
    t.equal(status, 200)
    t.hasStrict(body, { incomplete: true, notices: [{ code: 'admin_added', login: 'cyd' }] })
    t.equal(body.notices.length, 1)
  })
  t.notOk('incomplete' in (await bob.get('/api/me/notices')).body)
})

t.test('thousands of locked keys and many large overrides hide no notice', async (t) => {
  const { ada, bob, id } = await startTeam(t, 'bob')
  await ada.patch(`${team}/${id}/members`, { login: 'bob', role: 'admin' })
  const valuesOf = (name: string, length: number) =>
    Object.fromEntries(Array.from({ length }, (_, index) => [`ext.${name}${index}`, index]))
  for (let index = 0; index < 60; index++) {
    const settings = { ...valuesOf('mine', 4_000), ...(index === 59 ? { '[go]': { 'ext.k7': 1 } } : {}) }
    const path = `${team}/${id}/project-settings/acme/repo-${String(index).padStart(2, '0')}`
    t.equal((await bob.put(path, { settings })).status, 200)
  }
  const locked = Object.keys(valuesOf('k', 14_000))
  await ada.patch(`${team}/${id}/settings`, { settings: valuesOf('k', 7_000) })
  await ada.patch(`${team}/${id}/settings`, {
    settings: Object.fromEntries(locked.slice(7_000).map((key) => [key, 1])),
  })
  t.equal((await ada.patch(`${team}/${id}/settings`, { locked })).status, 200)
  const { status, body } = await bob.get('/api/me/notices')
  t.equal(status, 200)
  t.notOk('incomplete' in body)
  t.hasStrict(body.notices, [{ code: 'key_locked', keys: ['ext.k7'], repos: ['acme/repo-59'] }])
})

/** Entries that say that ada became an admin. */
const promote = (service: Service, id: string, times: number) =>
  service.database.write.statement(
    `insert into audit_entries (workspace_id, id, at, actor, actor_id, action, target, target_id, details)
    select $1::uuid, gen_random_uuid(), clock_timestamp() + make_interval(secs => n), 'cyd', gen_random_uuid(),
      'member.role_changed', 'ada', m.user_id, '{"before":"member","after":"admin"}'
    from generate_series(1, $2::int) n, members m where m.workspace_id = $1::uuid and m.role = 'admin'`,
    [id, times],
  )
