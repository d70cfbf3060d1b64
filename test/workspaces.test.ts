import t from 'tap'
import { limits } from '../schemas/limits.js'
import { locksOfUsers } from '../src/platform/database/locks.js'
import { hasProperties } from './has-properties.js'
import { lockWaiters, whileHeld } from './locks.js'
import { type Reply, reuseService, startService, startTeam } from './service.js'

const team = '/api/team/workspaces'

t.test('a workspace is created with its patterns and a first invite', async (t) => {
  const service = await reuseService(t)
  const ada = await service.signIn('ada')
  const made = await ada.post(`${team}/create`, { name: '  Acme  ', patterns: ['acme/*', 'beta/one'] })
  t.equal(made.status, 201)
  hasProperties(t, made.body.workspace, {
    name: 'Acme',
    personal: false,
    role: 'admin',
    idle_window_minutes: 5,
    patterns: ['acme/*', 'beta/one'],
    member_count: 1,
  })
  t.hasStrict(made.body.invite, { role: 'member', status: 'active', max_uses: null, created_by: 'ada' })
  t.same((await ada.get('/api/team/me')).body, {
    id: (await ada.get('/api/me')).body.id,
    login: 'ada',
    workspaces: [made.body.workspace],
  })
  t.equal((await ada.post(`${team}/create`, { name: 'Acme' })).status, 201, 'names need not be unique')
})

t.test('names have 1 to 100 characters as sent and aren’t blank', async (t) => {
  const { ada, id } = await startTeam(t)
  for (const name of ['', ' ', '\t\n', 'x'.repeat(101), ` ${'x'.repeat(100)}`, null, 1, undefined, 'a\0b']) {
    t.equal((await ada.post(`${team}/create`, { name })).status, 400, JSON.stringify(name))
    t.equal((await ada.patch(`${team}/${id}`, { name })).status, 400, JSON.stringify(name))
  }
  t.hasStrict((await ada.patch(`${team}/${id}`, { name: `${'😀'.repeat(99)} ` })).body, {
    name: '😀'.repeat(99),
  })
  t.hasStrict((await ada.patch(`${team}/${id}`, { name: 'B' })).body, { id, name: 'B', role: 'admin' })
  t.equal((await ada.patch(`${team}/${id}`, { name: 'B', personal: true })).status, 400)
  hasProperties(t, (await ada.get('/api/team/me')).body.workspaces, [{ name: 'B' }])
})

t.test('a caller can have at most 20 workspaces that they created', async (t) => {
  const service = await startService(t, {
    env: { LIMITS: `workspaces_created=${limits.workspaces_created}` },
  })
  const [ada, bob] = await service.signInAll('ada', 'bob')
  const { code } = await service.workspace(bob)
  const many: Reply[] = []
  while (many.length < 25) {
    const some = Array.from({ length: 5 }, () => ada.post(`${team}/create`, { name: 'One of many' }))
    many.push(...(await Promise.all(some)))
  }
  t.equal(many.filter(({ status }) => status === 201).length, 20)
  const limit = { status: 409, code: 'workspace_limit' }
  for (const { body } of many.filter(({ status }) => status !== 201)) t.hasStrict(body, limit)
  t.hasStrict((await ada.push('ada/dotfiles', {})).body, limit)
  t.equal((await ada.post(`${team}/join`, { code })).status, 200, 'joining is another limit')
  // Those that others administer now still exist.
  const [left, deleted] = many.filter(({ status }) => status === 201).map(({ body }) => body)
  t.equal((await bob.post(`${team}/join`, { code: left.invite.code })).status, 200)
  t.equal(
    (await ada.patch(`${team}/${left.workspace.id}/members`, { login: 'bob', role: 'admin' })).status,
    200,
  )
  t.equal((await ada.post(`${team}/${left.workspace.id}/leave`)).status, 200)
  t.hasStrict((await ada.push('ada/dotfiles', {})).body, limit)
  t.equal((await ada.delete(`${team}/${deleted.workspace.id}`)).status, 200)
  t.hasStrict((await ada.push('ada/dotfiles', {})).body, { workspace_created: true })
  t.hasStrict((await ada.post(`${team}/create`, { name: 'One more' })).body, limit)
})

t.test('the operator sets how many workspaces a caller can create and join', async (t) => {
  const service = await startService(t, {
    env: { LIMITS: 'workspaces_created=2,workspaces_joined=3' },
  })
  const [ada, bob] = await service.signInAll('ada', 'bob')
  const invites = [await service.workspace(bob), await service.workspace(bob)]
  const limit = { status: 409, code: 'workspace_limit' }
  t.hasStrict((await bob.post(`${team}/create`, { name: 'Third' })).body, limit)
  await service.workspace(ada)
  const [one, other] = invites.map(({ code }) => code)
  t.equal((await ada.post(`${team}/join`, { code: one })).status, 200)
  t.equal((await ada.post(`${team}/create`, { name: 'Second' })).status, 201)
  t.hasStrict((await ada.post(`${team}/join`, { code: other })).body, limit)
  t.equal((await ada.post(`${team}/join`, { code: one })).status, 200, 'a member is not asked')
  await service.database.write.statement('update workspaces set created_by = null', [])
  t.hasStrict((await ada.post(`${team}/create`, { name: 'Fourth' })).body, limit)
  const list = (await ada.get('/api/limits')).body
  t.same([list.workspaces_created, list.workspaces_joined], [2, 3])
})

/** One pattern each. */
const patternsOf = (owner: string, count: number) => Array.from({ length: count }, (_, n) => `${owner}/r${n}`)
const tooManyPatterns = (most: number) => ({
  status: 409,
  code: 'workspace_limit',
  detail: `The workspaces that you have created or joined can have at most ${most} patterns together. Remove some, or leave or delete a workspace first.`,
})

t.test(
  'a caller’s workspaces have at most 1,000 patterns together, even with many concurrent requests',
  async (t) => {
    const service = await reuseService(t)
    const [ada, bob] = await service.signInAll('ada', 'bob')
    t.equal((await ada.get('/api/limits')).body.patterns_per_person, 1_000)
    const full = patternsOf('ada', limits.patterns_per_workspace)
    for (let n = 0; n < 18; n++)
      t.equal((await ada.post(`${team}/create`, { name: 'Full', patterns: full })).status, 201)
    const { id, code } = await service.workspace(bob, { patterns: patternsOf('bob', 30) })
    const replies = await Promise.all([
      ...Array.from({ length: 4 }, () => ada.post(`${team}/create`, { name: 'Last', patterns: full })),
      ada.post(`${team}/join`, { code }),
    ])
    const refused = replies.filter(({ status }) => status === 409)
    for (const { body } of refused) t.hasStrict(body, tooManyPatterns(1_000))
    const { workspaces } = (await ada.get('/api/team/me')).body
    const total = workspaces.reduce(
      (sum: number, { patterns }: { patterns: string[] }) => sum + patterns.length,
      0,
    )
    t.ok(total <= 1_000, `${total} patterns`)
    t.equal(replies.length - refused.length, workspaces.length - 18)
    t.ok(refused.length >= 3)
    t.equal((await bob.put(`${team}/${id}/patterns`, { patterns: full })).status, 200, 'others learn nothing')
  },
)

t.test(
  'a caller can add patterns only up to the limit, in any request, and keeps existing ones',
  async (t) => {
    const service = await startService(t, { env: { LIMITS: 'patterns_per_person=4' } })
    const [ada, bob] = await service.signInAll('ada', 'bob')
    const limit = tooManyPatterns(4)
    const first = await service.workspace(ada, { patterns: patternsOf('ada', 3), members: [bob] })
    const second = await service.workspace(ada, { patterns: ['acme/*'] })
    const [one, two] = [first, second].map(({ id }) => `${team}/${id}`)
    t.hasStrict((await ada.post(`${team}/create`, { name: 'Third', patterns: ['acme/*'] })).body, limit)
    t.equal((await ada.post(`${team}/create`, { name: 'Empty' })).status, 201)
    const more = { patterns: ['acme/*', 'acme/web'] }
    t.hasStrict((await ada.put(`${two}/patterns`, more)).body, limit)
    t.hasStrict((await ada.put(`${two}/configuration`, more)).body, limit)
    t.hasStrict((await ada.put(`${two}/configuration?dry_run=true`, more)).body, limit)
    t.equal((await ada.put(`${two}/patterns`, { patterns: ['acme/web'] })).status, 200, 'as many as before')
    t.hasStrict((await ada.push('ada-other/x', {})).body, { code: 'workspace_required' })
    t.hasStrict((await bob.post(`${team}/join`, { code: second.code })).body, { already_member: false })
    // The others' patterns count too, once they're there.
    t.equal((await ada.patch(`${one}/members`, { login: 'bob', role: 'admin' })).status, 200)
    t.hasStrict((await bob.put(`${one}/patterns`, { patterns: patternsOf('ada', 4) })).body, limit)
    t.equal((await bob.post(`${team}/${second.id}/leave`)).status, 200)
    t.equal((await bob.put(`${one}/patterns`, { patterns: patternsOf('ada', 4) })).status, 200)
    t.hasStrict((await bob.push('bob/dotfiles', {})).body, limit)
    t.hasStrict((await bob.post(`${team}/join`, { code: second.code })).body, limit)
    t.hasStrict((await ada.post(`${team}/create`, { name: 'Empty' })).body, limit)
    t.same((await ada.get(`${two}/patterns`)).body, { patterns: ['acme/web'] })
    t.equal((await ada.put(`${one}/patterns`, { patterns: patternsOf('ada', 3) })).status, 200)
    t.hasStrict((await ada.post(`${team}/create`, { name: 'Empty' })).body, { workspace: { patterns: [] } })
  },
)

t.test('a caller’s patterns are counted only after concurrent additions have ended', async (t) => {
  const service = await startService(t, { env: { LIMITS: 'patterns_per_person=4' } })
  const [ada, bob] = await service.signInAll('ada', 'bob')
  const own = `${team}/${(await service.workspace(ada, { patterns: ['acme/*'] })).id}`
  const bobs = `${team}/${(await service.workspace(bob, { members: [ada] })).id}/patterns`
  const lock = `select pg_advisory_xact_lock(${locksOfUsers.patterns}, hashtext($1::uuid::text))`
  const { id } = (await ada.get('/api/me')).body
  for (const route of ['patterns', 'configuration']) {
    t.equal((await bob.put(bobs, { patterns: patternsOf('bob', 1) })).status, 200)
    let adding: Promise<Reply> | undefined
    await whileHeld(service, [lock, id], async () => {
      adding = ada.put(`${own}/${route}`, { patterns: ['acme/*', 'acme/web'] })
      await lockWaiters(service)
      t.equal((await bob.put(bobs, { patterns: patternsOf('bob', 3) })).status, 200)
    })
    t.hasStrict((await adding)?.body, tooManyPatterns(4), route)
    t.same((await ada.get(`${own}/patterns`)).body.patterns, ['acme/*'])
  }
})

t.test('a push can’t add a pattern to the personal workspace beyond the limit', async (t) => {
  const service = await startService(t, { env: { LIMITS: 'patterns_per_person=2' } })
  const ada = await service.signIn('ada')
  const { workspace_id: personal } = (await ada.push('ada/dotfiles', { 'ext.a': 1 })).body
  const own = `${team}/${personal}/patterns`
  t.equal((await ada.put(own, { patterns: [] })).status, 200)
  const { id } = await service.workspace(ada, { patterns: patternsOf('acme', 2) })
  t.hasStrict((await ada.push('ada/dotfiles', { 'ext.a': 2 })).body, tooManyPatterns(2))
  t.same((await ada.get(own)).body.patterns, [])
  t.equal((await ada.put(`${team}/${id}/patterns`, { patterns: patternsOf('acme', 1) })).status, 200)
  t.hasStrict((await ada.push('ada/dotfiles', { 'ext.a': 2 })).body, { changed: true, version: 2 })
  t.same((await ada.get(own)).body.patterns, ['ada/*'])
})

t.test('a workspace key can add patterns regardless of its creator’s total', async (t) => {
  const service = await startService(t, { env: { LIMITS: 'patterns_per_person=1' } })
  const ada = await service.signIn('ada')
  const { id } = await service.workspace(ada)
  const { secret } = (await ada.post(`${team}/${id}/keys`, { name: 'ci', scopes: ['settings:write'] })).body
  const patterns = ['acme/*', 'other/*']
  t.hasStrict((await ada.put(`${team}/${id}/patterns`, { patterns })).body, tooManyPatterns(1))
  const reply = await service.request('PUT', `${team}/${id}/patterns`, {
    headers: { Authorization: `Bearer ${secret}` },
    body: { patterns },
  })
  t.same(reply.body, { patterns })
})

t.test('a deleted workspace is immediately gone for every request', async (t) => {
  const service = await reuseService(t)
  const [ada, bob, cyd] = await service.signInAll('ada', 'bob', 'cyd')
  const { id, code } = await service.workspace(ada, { members: [bob] })
  await ada.push('acme/api', { 'ext.a': 1 })
  await ada.put(`${team}/${id}/project-settings/acme/api`, { settings: {} })
  t.hasStrict((await bob.delete(`${team}/${id}`)).body, { code: 'admin_required' })
  t.same((await ada.delete(`${team}/${id}`)).body, { ok: true })
  for (const who of [ada, bob]) {
    const reads = ['members', 'patterns', 'settings', 'project-settings', 'invites', 'audit']
    for (const read of reads) {
      t.hasStrict((await who.get(`${team}/${id}/${read}`)).body, { status: 404, code: 'workspace_not_found' })
    }
    t.hasStrict((await who.get('/api/settings/acme/api')).body, { code: 'not_a_member' })
    t.same((await who.get('/api/projects')).body.projects, [])
  }
  t.hasStrict((await ada.delete(`${team}/${id}`)).body, { code: 'workspace_not_found' })
  t.hasStrict((await cyd.post(`${team}/join`, { code })).body, { code: 'invite_not_found' })
  t.hasStrict((await ada.push('acme/api', {})).body, { code: 'workspace_required' })
})

t.test('a deleted personal workspace is created again by the next push', async (t) => {
  const service = await reuseService(t)
  const ada = await service.signIn('ada')
  const first = (await ada.push('ada/dotfiles', { 'ext.a': 1 })).body
  t.same((await ada.delete(`${team}/${first.workspace_id}`)).body, { ok: true })
  t.hasStrict((await ada.get('/api/settings/ada/dotfiles')).body, { code: 'never_synced' })
  const second = (await ada.push('ada/dotfiles', { 'ext.a': 1 })).body
  t.match(second, { workspace_created: true, version: 1 })
  t.not(second.workspace_id, first.workspace_id)
})

t.test('a personal workspace whose patterns were edited is opened again, once, by many pushes', async (t) => {
  const service = await reuseService(t)
  const ada = await service.signIn('ada')
  const { workspace_id: id } = (await ada.push('ada/dotfiles', {})).body
  await ada.put(`${team}/${id}/patterns`, { patterns: ['other/x'] })
  const pushes = await Promise.all(
    Array.from({ length: 20 }, (_, index) => ada.push(`ada/repo-${index}`, { 'ext.n': index })),
  )
  t.same(new Set(pushes.map(({ status }) => status)), new Set([200]))
  t.same((await ada.get(`${team}/${id}/patterns`)).body.patterns, ['other/x', 'ada/*'])
  const { entries } = (await ada.get(`${team}/${id}/audit`)).body
  const added = entries.filter(({ action }: { action: string }) => action === 'patterns.added')
  hasProperties(t, added, [{ actor: 'ada', details: { patterns: ['ada/*'] } }])
  t.equal(added.length, 1)
})
