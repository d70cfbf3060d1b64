import t from 'tap'
import type { Invite } from '../schemas/invites.js'
import { patiently, startService } from './service.js'

const team = '/api/team/workspaces'

t.test('an invite is made, listed while it is active, redeemed and revoked', async (t) => {
  const service = await startService(t)
  const [ada, bob, cyd] = [
    await service.signIn('ada'),
    await service.signIn('bob'),
    await service.signIn('cyd'),
  ]
  const { id } = await service.workspace(ada)
  const path = `${team}/${id}/invites`

  const made = await ada.post(path)
  t.equal(made.status, 201)
  t.match(made.body, { role: 'member', max_uses: null, used_count: 0, status: 'active', created_by: 'ada' })
  const hours = (Date.parse(made.body.expires_at) - Date.parse(made.body.created_at)) / 3_600_000
  t.equal(hours, 168)

  const single = (await ada.post(path, { role: 'admin', expires_in_hours: 1, max_uses: 1 })).body
  const listed = (await ada.get(path)).body.invites.map((invite: Invite) => invite.id)
  t.same(listed.slice(0, 2), [single.id, made.body.id], 'newest first')
  t.equal(listed.length, 3)
  const first = (await ada.get(`${path}?limit=1`)).body
  const second = (await ada.get(`${path}?limit=2&cursor=${first.next_cursor}`)).body
  t.same(
    [...first.invites, ...second.invites].map((invite: Invite) => invite.id),
    listed,
  )
  t.equal(second.next_cursor, null)

  const code = single.code.toLowerCase().replaceAll('-', '')
  const joined = await bob.post(`${team}/join`, { code })
  t.match(joined.body, { workspace: { id, role: 'admin', member_count: 2 }, already_member: false })
  t.match((await cyd.post(`${team}/join`, { code })).body, { status: 410, code: 'invite_exhausted' })
  t.match((await bob.post(`${team}/join`, { code })).body, { already_member: true })
  t.notOk((await ada.get(path)).body.invites.some((invite: Invite) => invite.id === single.id))

  t.match((await ada.delete(`${path}/${made.body.id}`)).body, { ok: true })
  t.match((await ada.delete(`${path}/${made.body.id}`)).body, { ok: true }, 'again: nothing to do')
  t.match((await cyd.post(`${team}/join`, { code: made.body.code })).body, {
    status: 410,
    code: 'invite_revoked',
  })
  t.match((await bob.post(`${team}/join`, { code: made.body.code })).body, { already_member: true })
  t.equal((await ada.get(path)).body.invites.length, 1)

  const other = await service.workspace(cyd, { name: 'Other' })
  t.match((await cyd.delete(`${team}/${other.id}/invites/${made.body.id}`)).body, {
    status: 404,
    code: 'invite_not_found',
  })
  t.equal((await ada.delete(`${path}/x`)).status, 400)
  t.match((await cyd.post(`${team}/join`, { code: 'AAAA' })).body, { code: 'invite_not_found' })
})

t.test('an expired invite lets nobody in, and a revoked one stays revoked', async (t) => {
  const service = await startService(t)
  const [ada, bob] = [await service.signIn('ada'), await service.signIn('bob')]
  const { id, code } = await service.workspace(ada)
  await service.database.query('update invites set expires_at = now() where workspace_id = $1', [id])
  t.match((await bob.post(`${team}/join`, { code })).body, { status: 410, code: 'invite_expired' })
  t.same((await ada.get(`${team}/${id}/invites`)).body.invites, [])
  await service.database.query('update invites set revoked_at = now() where workspace_id = $1', [id])
  t.match((await bob.post(`${team}/join`, { code })).body, { code: 'invite_revoked' })
})

t.test('wrong invites are refused', async (t) => {
  const service = await startService(t)
  const ada = await service.signIn('ada')
  const { id } = await service.workspace(ada)
  for (const body of [
    { role: 'owner' },
    { role: null },
    { expires_in_hours: 0 },
    { expires_in_hours: 2161 },
    { expires_in_hours: 1.5 },
    { expires_in_hours: '1' },
    { expires_in_hours: null },
    { max_uses: 0 },
    { max_uses: 1001 },
    { code: 'AAAA' },
    [],
  ]) {
    t.equal((await ada.post(`${team}/${id}/invites`, body)).status, 400, JSON.stringify(body))
  }
  const widest = { role: 'member', expires_in_hours: 2160, max_uses: 1000 }
  t.match(await ada.post(`${team}/${id}/invites`, widest), { status: 201, body: { max_uses: 1000 } })
  t.equal((await ada.post(`${team}/${id}/invites`, { max_uses: null })).status, 201)
})

t.test('a personal workspace takes no invites', async (t) => {
  const service = await startService(t)
  const ada = await service.signIn('ada')
  const { workspace_id: id } = (await ada.push('ada/dotfiles', {})).body
  t.match((await ada.post(`${team}/${id}/invites`)).body, { status: 409, code: 'personal_workspace' })
  t.same((await ada.get(`${team}/${id}/invites`)).body.invites, [])
})

t.test('fifty joins at once on an invite for ten make ten members', async (t) => {
  const service = await startService(t)
  const ada = await service.signIn('ada')
  const { id } = await service.workspace(ada)
  const { id: inviteId, code } = (await ada.post(`${team}/${id}/invites`, { max_uses: 10 })).body
  const crowd = await Promise.all(Array.from({ length: 50 }, (_, index) => service.signIn(`user${index}`)))
  const replies = await Promise.all(crowd.map((who) => patiently(() => who.post(`${team}/join`, { code }))))
  t.equal(replies.filter(({ status }) => status === 200).length, 10)
  const refused = replies.filter(({ status, body }) => status === 410 && body.code === 'invite_exhausted')
  t.equal(refused.length, 40)
  t.equal((await ada.get(`${team}/${id}/members`)).body.members.length, 11)
  const rows = await service.database.query('select used_count from invites where id = $1', [inviteId])
  t.same(rows, [{ used_count: 10 }])
})
