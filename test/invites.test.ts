import t from 'tap'
import type { Invite } from '../schemas/invites.js'
import { lockWaiters, whileHeld } from './locks.js'
import {
  type Caller,
  type Reply,
  retryWhileUnavailable,
  reuseService,
  type Service,
  startService,
  startTeam,
} from './service.js'

const team = '/api/team/workspaces'

t.test('an invite can be created, listed while active, redeemed and revoked', async (t) => {
  const service = await reuseService(t)
  const [ada, bob, cyd] = await service.signInAll('ada', 'bob', 'cyd')
  const { id } = await service.workspace(ada)
  const path = `${team}/${id}/invites`

  const made = await ada.post(path)
  t.equal(made.status, 201)
  t.hasStrict(made.body, {
    role: 'member',
    max_uses: null,
    used_count: 0,
    status: 'active',
    created_by: 'ada',
  })
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
  t.hasStrict(joined.body, { workspace: { id, role: 'admin', member_count: 2 }, already_member: false })
  t.hasStrict((await cyd.post(`${team}/join`, { code })).body, { status: 410, code: 'invite_exhausted' })
  t.match((await bob.post(`${team}/join`, { code })).body, { already_member: true })
  t.notOk((await ada.get(path)).body.invites.some((invite: Invite) => invite.id === single.id))

  t.match((await ada.delete(`${path}/${made.body.id}`)).body, { ok: true })
  t.match((await ada.delete(`${path}/${made.body.id}`)).body, { ok: true }, 'again: nothing to do')
  t.hasStrict((await cyd.post(`${team}/join`, { code: made.body.code })).body, {
    status: 410,
    code: 'invite_revoked',
  })
  t.match((await bob.post(`${team}/join`, { code: made.body.code })).body, { already_member: true })
  t.equal((await ada.get(path)).body.invites.length, 1)

  const other = await service.workspace(cyd, { name: 'Other' })
  t.hasStrict((await cyd.delete(`${team}/${other.id}/invites/${made.body.id}`)).body, {
    status: 404,
    code: 'invite_not_found',
  })
  t.equal((await ada.delete(`${path}/x`)).status, 400)
  t.hasStrict((await cyd.post(`${team}/join`, { code: 'AAAA' })).body, { code: 'invite_not_found' })
})

t.test('an expired invite admits no one, and a revoked one stays revoked', async (t) => {
  const service = await reuseService(t)
  const [ada, bob] = await service.signInAll('ada', 'bob')
  const { id, code } = await service.workspace(ada)
  await service.database.hot.statement('update invites set expires_at = now() where workspace_id = $1', [id])
  t.hasStrict((await bob.post(`${team}/join`, { code })).body, { status: 410, code: 'invite_expired' })
  t.same((await ada.get(`${team}/${id}/invites`)).body.invites, [])
  await service.database.hot.statement('update invites set revoked_at = now() where workspace_id = $1', [id])
  t.hasStrict((await bob.post(`${team}/join`, { code })).body, { code: 'invite_revoked' })
})

t.test('invalid invites are rejected', async (t) => {
  const { ada, id } = await startTeam(t)
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

t.test('a personal workspace can’t have invites', async (t) => {
  const service = await reuseService(t)
  const ada = await service.signIn('ada')
  const { workspace_id: id } = (await ada.push('ada/dotfiles', {})).body
  t.hasStrict((await ada.post(`${team}/${id}/invites`)).body, { status: 409, code: 'personal_workspace' })
  t.same((await ada.get(`${team}/${id}/invites`)).body.invites, [])
})

t.test('twenty concurrent joins with an invite for five add five members', async (t) => {
  const { service, ada, id } = await startTeam(t)
  const { id: inviteId, code } = (await ada.post(`${team}/${id}/invites`, { max_uses: 5 })).body
  const crowd = await Promise.all(Array.from({ length: 20 }, (_, index) => service.signIn(`user${index}`)))
  const replies = await Promise.all(
    crowd.map((who) => retryWhileUnavailable(() => who.post(`${team}/join`, { code }))),
  )
  t.equal(replies.filter(({ status }) => status === 200).length, 5)
  const rejected = replies.filter(({ status, body }) => status === 410 && body.code === 'invite_exhausted')
  t.equal(rejected.length, 15)
  t.equal((await ada.get(`${team}/${id}/members`)).body.members.length, 6)
  const rows = await service.database.hot.statement('select used_count from invites where id = $1', [
    inviteId,
  ])
  t.same(rows, [{ used_count: 5 }])
})

t.test('an admin’s invites end when the admin loses the right to create them', async (t) => {
  const service = await reuseService(t)
  const [ada, bob, cyd] = await service.signInAll('ada', 'bob', 'cyd')
  const { id, code } = await service.workspace(ada, { members: [bob] })
  const path = `${team}/${id}`
  const losses: Record<string, () => Promise<Reply>> = {
    demoted: () => ada.patch(`${path}/members`, { login: 'bob', role: 'member' }),
    removed: () => ada.delete(`${path}/members?login=bob`),
    left: () => bob.post(`${path}/leave`),
  }
  for (const [how, lose] of Object.entries(losses)) {
    const { code: way } = (await ada.post(`${path}/invites`, { role: 'admin' })).body
    await bob.post(`${team}/join`, { code: way })
    await ada.patch(`${path}/members`, { login: 'bob', role: 'admin' })
    const invites = [
      (await bob.post(`${path}/invites`, { role: 'admin' })).body,
      (await bob.post(`${path}/invites`)).body,
    ]
    t.equal((await lose()).status, 200, how)
    for (const { code } of invites) {
      t.hasStrict(
        (await cyd.post(`${team}/join`, { code })).body,
        { status: 410, code: 'invite_revoked' },
        how,
      )
    }
    const listed = (await ada.get(`${path}/invites`)).body.invites
    t.notOk(
      listed.some((invite: Invite) => invite.created_by === 'bob'),
      how,
    )
    const { entries } = (await ada.get(`${path}/audit`)).body
    const entry = entries.find(({ action }: { action: string }) => action === 'invites.revoked')
    const actor = how === 'left' ? 'bob' : 'ada'
    t.hasStrict(entry, { actor, target: 'bob', details: { count: 2 } }, how)
    if (how === 'demoted') {
      const again = await bob.post(`${team}/join`, { code: invites[0].code })
      t.hasStrict(again.body, { workspace: { role: 'member' }, already_member: true })
    }
  }
  t.equal((await cyd.post(`${team}/join`, { code })).status, 200, 'those of others stay')
})

t.test('after a removal, a person needs a newer invite, but not after leaving', async (t) => {
  const { service, ada, bob, id, code } = await startTeam(t, 'bob')
  const join = (code: string) => bob.post(`${team}/join`, { code })
  const isMember = async () => (await bob.get(`${team}/${id}/members`)).status === 200

  await bob.post(`${team}/${id}/leave`)
  t.equal((await join(code)).status, 200, 'people who left can come back')
  await ada.patch(`${team}/${id}/members`, { login: 'bob', role: 'admin' })
  await bob.delete(`${team}/${id}/members?login=bob`)
  t.equal((await join(code)).status, 200, 'so can people who removed themselves')

  const second = (await ada.post(`${team}/${id}/invites`)).body
  await ada.delete(`${team}/${id}/members?login=bob`)
  for (const old of [code, second.code]) {
    t.hasStrict((await join(old)).body, { status: 410, code: 'invite_revoked' })
  }
  t.notOk(await isMember())
  const { code: fresh } = (await ada.post(`${team}/${id}/invites`)).body
  t.match((await join(fresh)).body, { already_member: false })
  t.match((await join(code)).body, { already_member: true }, 'a member is told so whatever the invite')
  await bob.post(`${team}/${id}/leave`)
  t.hasStrict((await join(code)).body, { code: 'invite_revoked' }, 'the removal is not forgotten')
  t.equal((await join(fresh)).status, 200)
  const rows = await service.database.hot.statement('select used_count from invites where id = $1', [
    second.id,
  ])
  t.same(rows, [{ used_count: 0 }], 'a rejected join uses nothing up')
})

t.test('a delayed removal still keeps out a person who rejoins in the meantime', async (t) => {
  const { service, ada, bob, id, code } = await startTeam(t, 'bob')
  let late: Promise<Reply[]> = Promise.resolve([])
  await whileHeld(service, ['lock table audit_entries in exclusive mode'], async () => {
    // Until this ends, the removal has deleted the membership and can't write of it in the audit trail.
    const removal = ada.delete(`${team}/${id}/members?login=bob`)
    await lockWaiters(service)
    late = Promise.all([bob.post(`${team}/join`, { code }), removal])
    await lockWaiters(service, 2)
  })
  const [join, removal] = await late
  t.equal(removal?.status, 200)
  t.hasStrict(join?.body, { status: 410, code: 'invite_revoked' })
  t.equal((await bob.get(`${team}/${id}/members`)).status, 404)
})

t.test('an admin who is demoted while creating invites keeps none', async (t) => {
  const service = await reuseService(t)
  const [ada, bob, cyd] = await service.signInAll('ada', 'bob', 'cyd')
  const { id } = await service.workspace(ada, { members: [bob] })
  const role = (role: string) => ada.patch(`${team}/${id}/members`, { login: 'bob', role })
  const invite = () => bob.post(`${team}/${id}/invites`, { role: 'admin' })
  for (let round = 0; round < 4; round++) {
    await role('admin')
    const [first, second, demoted, third] = await Promise.all([invite(), invite(), role('member'), invite()])
    t.equal(demoted.status, 200)
    for (const made of [first, second, third]) {
      if (made.status === 403) continue
      t.equal(made.status, 201)
      const joined = await cyd.post(`${team}/join`, { code: made.body.code })
      t.hasStrict(joined.body, { code: 'invite_revoked' })
    }
  }
})

t.test('a demoted member who leaves can’t become admin again with an older invite', async (t) => {
  const service = await reuseService(t)
  const [ada, bob] = await service.signInAll('ada', 'bob')
  const { id } = await service.workspace(ada)
  const invite = async () => (await ada.post(`${team}/${id}/invites`, { role: 'admin' })).body.code
  const code = await invite()
  t.equal((await bob.post(`${team}/join`, { code })).status, 200)
  t.equal((await ada.patch(`${team}/${id}/members`, { login: 'bob', role: 'member' })).status, 200)
  t.equal((await bob.post(`${team}/${id}/leave`)).status, 200)
  t.hasStrict(await bob.post(`${team}/join`, { code }), { status: 410, body: { code: 'invite_revoked' } })
  t.equal((await bob.post(`${team}/join`, { code: await invite() })).status, 200)
})

/** Ends the account of a person, who then signs in again. */
const startAnew = async (service: Service, caller: Caller): Promise<Caller> => {
  const { status, text } = await caller.request('DELETE', '/api/me', { body: { confirm: caller.login } })
  if (status !== 200) throw new Error(text)
  return service.signIn(caller.login, { id: caller.repohostId })
}

const readKept = ({ database }: Service) =>
  database.read.statement<{ workspace_id: string; person: string }>(
    'select workspace_id, person from removed_people order by workspace_id, person',
    [],
  )

t.test('removals and demotions apply to the same person’s new account', async (t) => {
  const service = await reuseService(t)
  const [ada, dan, eve] = await service.signInAll('ada', 'dan', 'eve')
  const { id, code } = await service.workspace(ada, { members: [dan] })
  const path = `${team}/${id}`
  const { code: adminCode } = (await ada.post(`${path}/invites`, { role: 'admin' })).body
  const losses: Record<string, (login: string) => Promise<Reply>> = {
    removed: (login) => ada.delete(`${path}/members?login=${login}`),
    demoted: (login) => ada.patch(`${path}/members`, { login, role: 'member' }),
    'demoted and left': (login) => ada.patch(`${path}/members`, { login, role: 'member' }),
  }
  for (const [index, [how, lose]] of Object.entries(losses).entries()) {
    const before = await service.signIn(`bob${index}`)
    t.equal((await before.post(`${team}/join`, { code: adminCode })).status, 200, how)
    t.equal((await lose(before.login)).status, 200, how)
    if (how === 'demoted and left') t.equal((await before.post(`${path}/leave`)).status, 200)
    let bob = before
    for (let time = 0; time < 2; time++) {
      bob = await startAnew(service, bob)
      for (const old of [adminCode, code]) {
        const reply = await bob.post(`${team}/join`, { code: old })
        t.same([reply.status, reply.body.code], [410, 'invite_revoked'], how)
        t.equal((await bob.get(`/api/team/invites/${old}`)).body.status, 'revoked', how)
      }
      t.equal((await bob.get(`${path}/members`)).status, 404, how)
    }
    const { code: fresh } = (await ada.post(`${path}/invites`)).body
    t.equal((await bob.post(`${team}/join`, { code: fresh })).status, 200, 'a newer invite helps')
    bob = await startAnew(service, bob)
    t.equal((await bob.post(`${team}/join`, { code: adminCode })).status, 410, 'the old one never does')
    t.equal((await bob.post(`${team}/join`, { code: fresh })).status, 200)
    await bob.post(`${path}/leave`)
  }
  const again = await startAnew(service, dan)
  t.equal((await again.post(`${team}/join`, { code })).status, 200, 'a person who left can join again')
  t.equal((await eve.post(`${team}/join`, { code: adminCode })).status, 200, 'others are not concerned')
})

t.test('a stored removal doesn’t reveal the person', async (t) => {
  const service = await reuseService(t)
  const [ada, bob] = await service.signInAll('ada', 'bob')
  const { id: userId } = (await bob.get('/api/me')).body
  const ids: string[] = []
  for (const name of ['One', 'Two', 'Without invites']) {
    const { id } = await service.workspace(ada, { name, members: [bob] })
    await ada.delete(`${team}/${id}/members?login=bob`)
    ids.push(id)
  }
  const { invites } = (await ada.get(`${team}/${ids[2]}/invites`)).body
  for (const { id } of invites) await ada.delete(`${team}/${ids[2]}/invites/${id}`)
  await startAnew(service, bob)
  const kept = await readKept(service)
  t.same(
    kept.map(({ workspace_id }) => workspace_id),
    ids.slice(0, 2).sort(),
    'only where an older invite is left',
  )
  t.equal(new Set(kept.map(({ person }) => person)).size, 2, 'rows of one person cannot be linked')
  const text = JSON.stringify(kept)
  for (const name of ['bob', userId, String(bob.repohostId)]) t.notOk(text.includes(name), name)
})

t.test('a stored removal ends with the last older invite, and with the workspace', async (t) => {
  const service = await reuseService(t)
  const ada = await service.signIn('ada')
  const run = async () => {
    await service.app.housekeeping.run()
    return (await readKept(service)).length
  }
  const keepOne = async (login: string) => {
    const caller = await service.signIn(login)
    const { id, code } = await service.workspace(ada, { name: login, members: [caller] })
    const { id: second } = (await ada.post(`${team}/${id}/invites`, { max_uses: 1 })).body
    await ada.delete(`${team}/${id}/members?login=${login}`)
    await startAnew(service, caller)
    await ada.post(`${team}/${id}/invites`)
    t.equal(await run(), 1, 'older invites are left')
    return { id, code, second }
  }
  const set = (change: string, id: string) =>
    service.database.write.statement(`update invites set ${change} where id = $1::uuid`, [id])

  for (const ends of ['revoked_at = now()', 'expires_at = now()', 'used_count = 1']) {
    const { id, second } = await keepOne('bob')
    const { invites } = (await ada.get(`${team}/${id}/invites`)).body
    await ada.delete(`${team}/${id}/invites/${invites.at(-1).id}`)
    t.equal(await run(), 1, 'one is left')
    await set(ends, second)
    t.equal(await run(), 0, ends)
  }
  const { id } = await keepOne('cyd')
  await ada.delete(`${team}/${id}`)
  t.equal(await run(), 0)
})

t.test('stored removals still apply after the signing secret changes', async (t) => {
  const service = await reuseService(t)
  const [ada, bob, old] = await service.signInAll('ada', 'bob', 'old')
  const { id, code } = await service.workspace(ada, { members: [bob] })
  await ada.delete(`${team}/${id}/members?login=bob`)
  await startAnew(service, bob)
  const secret = 'another-test-secret-of-more-than-32-bytes'
  const join = async (login: string, by: Service, code: string, repohostId?: number) => {
    const caller = await by.signIn(login, repohostId === undefined ? {} : { id: repohostId })
    const { status } = await caller.post(`${team}/join`, { code })
    return status
  }

  const rotated = await startService(t, {
    beside: service,
    env: { JWT_SECRETS: `${secret},${service.config.jwtSecrets[0]}` },
  })
  t.equal(await join('bob', rotated, code, bob.repohostId), 410)
  t.equal(await join('newcomer', rotated, code), 200)

  const dropped = await startService(t, { beside: service, env: { JWT_SECRETS: secret } })
  t.equal(await join('bob', dropped, code, bob.repohostId), 410)
  t.equal(await join('later', dropped, code), 410, 'it could be about any account that came after it')
  t.equal(await join('old', dropped, code, old.repohostId), 200, 'and about no account that was there')
  const admin = await dropped.signIn('ada', { id: ada.repohostId })
  const { code: fresh } = (await admin.post(`${team}/${id}/invites`)).body
  t.equal(await join('later', dropped, fresh), 200, 'a newer invite helps')
})

t.test('deleting the account during a removal keeps the removal', async (t) => {
  const { service, ada, bob, id, code } = await startTeam(t, 'bob')
  let late: Promise<Reply[]> = Promise.resolve([])
  await whileHeld(service, ['lock table audit_entries in exclusive mode'], async () => {
    const removal = ada.delete(`${team}/${id}/members?login=bob`)
    await lockWaiters(service)
    const deletion = bob.request('DELETE', '/api/me', { body: { confirm: 'bob' } })
    await lockWaiters(service, 2)
    late = Promise.all([removal, deletion])
  })
  t.same(
    (await late).map(({ status }) => status),
    [200, 200],
  )
  const again = await service.signIn('bob', { id: bob.repohostId })
  t.equal((await again.post(`${team}/join`, { code })).status, 410)
})

t.test('an invite code shows its workspace and state', async (t) => {
  const service = await reuseService(t)
  const [ada, bob, eve] = await service.signInAll('ada', 'bob', 'eve')
  const { id, code } = await service.workspace(ada, { patterns: ['acme/web', 'acme/api-*'], members: [bob] })
  const invite = async (body: object) => (await ada.post(`${team}/${id}/invites`, body)).body
  const lookUp = (caller: Caller, code: string) => caller.get(`/api/team/invites/${code}`)
  const [{ expires_at }] = (await ada.get(`${team}/${id}/invites`)).body.invites
  t.strictSame((await lookUp(eve, code)).body, {
    workspace: {
      name: 'Acme',
      member_count: 2,
      patterns: ['acme/web', 'acme/api-*'],
      activity_privacy: 'named',
    },
    role: 'member',
    status: 'active',
    expires_at,
  })
  t.hasStrict(await lookUp(eve, code.toLowerCase().replaceAll('-', '')), {
    status: 200,
    body: { role: 'member' },
  })
  t.equal((await eve.get(`${team}/${id}/members`)).status, 404, 'viewing an invite does not admit the person')

  const used = await invite({ role: 'admin', max_uses: 1 })
  await service.signIn('cyd').then((cyd) => cyd.post(`${team}/join`, { code: used.code }))
  t.hasStrict((await lookUp(eve, used.code)).body, { status: 'exhausted', role: 'admin' })
  const revoked = await invite({})
  await ada.delete(`${team}/${id}/invites/${revoked.id}`)
  t.hasStrict((await lookUp(eve, revoked.code)).body, { status: 'revoked' })
  const old = await invite({})
  await service.database.read.statement(`update invites set expires_at = now() where id = $1::uuid`, [old.id])
  t.hasStrict((await lookUp(eve, old.code)).body, { status: 'expired' })

  await ada.delete(`${team}/${id}/members?login=bob`)
  t.hasStrict((await lookUp(bob, code)).body, { status: 'revoked' }, 'for people who were removed since')
  t.hasStrict((await lookUp(eve, code)).body, { status: 'active' }, 'and for no one else')

  const unknown = { status: 404, body: { code: 'invite_not_found' } }
  for (const none of ['X', '%F0%9F%8C%8D', 'x'.repeat(64)])
    t.hasStrict(await lookUp(eve, none), unknown, none)
  t.equal((await lookUp(eve, 'x'.repeat(65))).status, 400)
  await ada.delete(`${team}/${id}`)
  t.hasStrict(await lookUp(eve, code), unknown, 'nothing of a deleted workspace shows')
})

t.test('an invite that works tells its workspace and its sender before the sign-in', async (t) => {
  const service = await reuseService(t)
  const ada = await service.signIn('ada')
  const { id, code } = await service.workspace(ada)
  const greet = (code: string) => service.request('GET', `/api/invites/${code}`)
  t.hasStrict(await greet(code), { status: 200, body: { workspace_name: 'Acme', invited_by: 'ada' } })
  t.equal((await greet(code.toLowerCase().replaceAll('-', ''))).status, 200)
  const unknown = { status: 404, body: { code: 'invite_not_found' } }
  for (const none of ['X', '%F0%9F%8C%8D']) t.hasStrict(await greet(none), unknown, none)
  const { invites } = (await ada.get(`${team}/${id}/invites`)).body
  await ada.delete(`${team}/${id}/invites/${invites[0].id}`)
  t.hasStrict(await greet(code), unknown, 'revoked')
  const last = (await ada.post(`${team}/${id}/invites`)).body
  await ada.delete(`${team}/${id}`)
  t.hasStrict(await greet(last.code), unknown, 'nothing of a deleted workspace shows')
})

t.test('an address can ask for few greetings a minute', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'on' } })
  const greet = () => service.request('GET', '/api/invites/guess')
  for (let guess = 0; guess < 10; guess++) t.equal((await greet()).status, 404)
  t.equal((await greet()).status, 429)
})

t.test('looking up and joining share one rate limit', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'on' } })
  const [ada, eve] = await service.signInAll('ada', 'eve')
  for (let guess = 0; guess < 5; guess++) {
    t.equal((await eve.get(`/api/team/invites/guess-${guess}`)).status, 404)
    t.equal((await eve.post(`${team}/join`, { code: `guess-${guess}` })).status, 404)
  }
  t.equal((await eve.get('/api/team/invites/guess')).status, 429)
  t.equal((await eve.post(`${team}/join`, { code: 'guess' })).status, 429)
  t.equal((await ada.get('/api/team/invites/guess')).status, 404)
})

t.test('rate limits follow a person to a new account even while the hot connection is blocked', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'on' } })
  const old = await service.signIn('ada')
  const lookUpOften = async () => {
    for (let guess = 0; guess < 10; guess++) await old.get(`/api/team/invites/guess-${guess}`)
    return (await old.get('/api/team/invites/guess')).status
  }
  t.equal(await lookUpOften(), 429)
  t.equal((await old.request('DELETE', '/api/me', { body: { confirm: 'ada' } })).status, 200)
  const again = await service.signIn('ada', { id: old.repohostId })
  const LOCK = 'select pg_advisory_xact_lock(1)'
  let isHeldUp = true
  let held: Promise<unknown> = Promise.resolve()
  await whileHeld(service, [LOCK], async () => {
    held = service.database.hot.statement(LOCK, []).finally(() => {
      isHeldUp = false
    })
    t.equal((await again.get('/api/team/invites/guess')).status, 429)
    t.ok(isHeldUp, 'the answer did not wait for the hot connection')
  })
  await held
})
