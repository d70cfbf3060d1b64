import t from 'tap'
import { type Caller, reuseService, startTeam } from './service.js'

const team = '/api/team/workspaces'

t.test('members are listed in the order they joined, page by page', async (t) => {
  const service = await reuseService(t)
  const [ada, bob, cyd] = await service.signInAll('Ada', 'bob', 'cyd')
  const { id } = await service.workspace(ada, { members: [bob, cyd] })
  const all = await bob.get(`${team}/${id}/members`)
  t.equal(all.status, 200)
  t.same(
    all.body.members.map(({ login, role }: { login: string; role: string }) => [login, role]),
    [
      ['Ada', 'admin'],
      ['bob', 'member'],
      ['cyd', 'member'],
    ],
  )
  t.equal(all.body.next_cursor, null)
  t.same(all.body.members[0].last_active_day, null)

  const seen: string[] = []
  let cursor = ''
  do {
    const page = await bob.get(`${team}/${id}/members?limit=1${cursor && `&cursor=${cursor}`}`)
    t.equal(page.body.members.length, 1)
    seen.push(page.body.members[0].login)
    cursor = page.body.next_cursor ?? ''
  } while (cursor)
  t.same(seen, ['Ada', 'bob', 'cyd'])

  for (const query of ['limit=0', 'limit=501', 'limit=x', 'cursor=x', 'cursor=WyJ4Il0', 'cursor=']) {
    t.equal((await bob.get(`${team}/${id}/members?${query}`)).status, 400, query)
  }
})

t.test('an admin can change roles, and logins are compared case-insensitively', async (t) => {
  const { ada, Bob: bob, id } = await startTeam(t, 'Bob')
  const path = `${team}/${id}/members`

  const promoted = await ada.patch(path, { login: 'bOB', role: 'admin' })
  t.equal(promoted.status, 200)
  t.hasStrict(promoted.body, { login: 'Bob', role: 'admin', last_active_day: null })
  t.equal((await bob.patch(path, { login: 'ada', role: 'member' })).status, 200)
  t.hasStrict((await ada.patch(path, { login: 'bob', role: 'member' })).body, { code: 'admin_required' })
  t.hasStrict((await bob.patch(path, { login: 'nobody', role: 'member' })).body, {
    status: 404,
    code: 'member_not_found',
  })
  for (const body of [
    undefined,
    {},
    { login: 'ada' },
    { role: 'admin' },
    { login: 'ada', role: 'owner' },
    { login: '', role: 'admin' },
    { login: 'x'.repeat(101), role: 'admin' },
    { login: 1, role: 'admin' },
    { login: 'ada', role: 'admin', id: 1 },
  ]) {
    t.equal((await bob.patch(path, body)).status, 400, JSON.stringify(body))
  }
})

t.test('the last admin can’t be demoted, be removed or leave', async (t) => {
  const { ada, bob, id } = await startTeam(t, 'bob')
  const path = `${team}/${id}/members`
  const lastAdmin = { status: 409, code: 'last_admin' }
  t.hasStrict((await ada.patch(path, { login: 'ada', role: 'member' })).body, lastAdmin)
  t.hasStrict((await ada.delete(`${path}?login=ADA`)).body, lastAdmin)
  t.hasStrict((await ada.post(`${team}/${id}/leave`)).body, lastAdmin)
  t.equal((await ada.patch(path, { login: 'ada', role: 'admin' })).status, 200, 'staying admin is no change')

  t.equal((await ada.patch(path, { login: 'bob', role: 'admin' })).status, 200)
  t.equal((await ada.post(`${team}/${id}/leave`)).status, 200)
  t.hasStrict((await ada.get(path)).body, { status: 404, code: 'workspace_not_found' })
  t.hasStrict((await bob.delete(`${path}?login=bob`)).body, lastAdmin)
})

t.test('no one can leave a personal workspace, and its only admin stays', async (t) => {
  const service = await reuseService(t)
  const ada = await service.signIn('ada')
  const { workspace_id: id } = (await ada.push('ada/dotfiles', {})).body
  t.hasStrict((await ada.post(`${team}/${id}/leave`)).body, { status: 409, code: 'personal_workspace' })
  t.hasStrict((await ada.delete(`${team}/${id}/members?login=ada`)).body, { code: 'last_admin' })
  t.hasStrict((await ada.patch(`${team}/${id}/members`, { login: 'ada', role: 'member' })).body, {
    code: 'last_admin',
  })
})

t.test('a removed member is rejected on the next call, with header and cookie', async (t) => {
  const { service, ada, bob, id } = await startTeam(t, 'bob')
  await ada.push('acme/api', { 'ext.a': 1 })
  const byCookie = (path: string) =>
    service.request('GET', path, { headers: { Cookie: `svc_token=${bob.token}` } })
  const paths = [
    `${team}/${id}/members`,
    '/api/settings/acme/api',
    '/api/team/effective-config?repo=acme/api',
  ]
  for (const path of paths) {
    t.equal((await bob.get(path)).status, 200)
    t.equal((await byCookie(path)).status, 200)
  }
  t.match((await ada.delete(`${team}/${id}/members`)).body, { status: 400 })
  t.hasStrict((await ada.delete(`${team}/${id}/members?login=eve`)).body, { code: 'member_not_found' })
  t.match((await ada.delete(`${team}/${id}/members?login=BOB`)).body, { ok: true })
  for (const [index, path] of paths.entries()) {
    const status = index === 0 ? 404 : 403
    t.equal((await bob.get(path)).status, status, path)
    t.equal((await byCookie(path)).status, status, path)
  }
  t.same((await bob.get('/api/projects')).body.projects, [])
  t.same((await bob.get('/api/team/me')).body.workspaces, [])
  t.hasStrict((await ada.delete(`${team}/${id}/members?login=bob`)).body, { code: 'member_not_found' })
})

t.test('one admin always remains when two admins demote, remove and leave concurrently', async (t) => {
  const { ada, bob, id } = await startTeam(t, 'bob')
  const path = `${team}/${id}/members`
  await ada.patch(path, { login: 'bob', role: 'admin' })

  // Workspace ids are case-insensitive.
  const loud = `${team}/${id.toUpperCase()}/members`
  const demote = (who: Caller, at: string, login: string) => who.patch(at, { login, role: 'member' })
  for (let round = 0; round < 10; round++) {
    const replies = await Promise.all([demote(ada, round % 2 ? loud : path, 'bob'), demote(bob, path, 'ada')])
    t.same(replies.map(({ status }) => status).sort(), [200, 403], 'one wins, the other is no admin any more')
    const { members } = (await ada.get(path)).body
    const admins = members.filter(({ role }: { role: string }) => role === 'admin')
    t.equal(admins.length, 1)
    const winner = admins[0].login === 'ada' ? ada : bob
    await winner.patch(path, { login: winner === ada ? 'bob' : 'ada', role: 'admin' })
  }

  for (let round = 0; round < 4; round++) {
    const replies = await Promise.all([
      ada.post(`${team}/${id}/leave`),
      bob.delete(`${path}?login=bob`),
      ada.delete(`${path}?login=bob`),
      bob.patch(path, { login: 'bob', role: 'member' }),
    ])
    t.ok(
      replies.every(({ status }) => status < 500),
      `${replies.map(({ status }) => status)}`,
    )
    const views = await Promise.all([ada, bob].map((who) => who.get(path)))
    const { members } = views.find(({ status }) => status === 200)?.body ?? { members: [] }
    const admins = members.filter(({ role }: { role: string }) => role === 'admin')
    t.ok(admins.length > 0)
    const [admin, other] = admins[0].login === 'ada' ? [ada, bob] : [bob, ada]
    const { code } = (await admin.post(`${team}/${id}/invites`, { role: 'admin' })).body
    await other.post(`${team}/join`, { code })
    await admin.patch(path, { login: other.login, role: 'admin' })
  }
})
