import t from 'tap'
import { type Caller, reuseService, startTeam } from './service.js'

const team = '/api/team'
const configOf = (caller: Caller, repo: string, { workspace = '', etag = '' } = {}) =>
  caller.get(
    `${team}/effective-config?repo=${repo}${workspace && `&workspace=${workspace}`}`,
    etag ? { 'If-None-Match': etag } : {},
  )

t.test('an override is applied on top of the workspace’s settings', async (t) => {
  const { ada, bob, id } = await startTeam(t, 'bob')
  const settings = { 'ext.a': 1, 'ext.b': { x: 1 }, 'ext.c': 'hidden', 'ext.d': 4 }
  await ada.patch(`${team}/workspaces/${id}/settings`, { idle_window_minutes: 9, settings })
  await ada.put(`${team}/workspaces/${id}/project-settings/acme/api`, {
    settings: { 'ext.e': 'new', 'ext.c': null, 'ext.b': { y: null }, 'ext.none': null, 'ext.d': 4 },
  })
  const merged = await configOf(bob, 'acme/api')
  t.equal(merged.status, 200)
  t.same(merged.body, {
    repo: 'acme/api',
    workspace_id: id,
    matched_pattern: 'acme/*',
    idle_window_minutes: 9,
    settings: { 'ext.a': 1, 'ext.b': { y: null }, 'ext.d': 4, 'ext.e': 'new' },
    sources: { 'ext.a': 'workspace', 'ext.b': 'project', 'ext.d': 'project', 'ext.e': 'project' },
    locked: [],
    merged: [],
    also_matched: [],
  })
  t.same(Object.keys(merged.body.settings), ['ext.a', 'ext.b', 'ext.d', 'ext.e'], 'in their places')
  const plain = await configOf(bob, 'acme/other')
  t.hasStrict(plain.body, { settings, idle_window_minutes: 9 })
  t.same(new Set(Object.values(plain.body.sources)), new Set(['workspace']))
})

t.test('the best matching workspace decides, and the others are listed', async (t) => {
  const service = await reuseService(t)
  const [ada, bob] = await service.signInAll('ada', 'bob')
  const exact = await service.workspace(ada, {
    name: 'exact',
    patterns: ['acme/*', 'Acme/Api'],
    members: [bob],
  })
  const longer = await service.workspace(ada, {
    patterns: ['acme/*', 'acme/ap*', 'acme/*pi'],
    members: [bob],
  })
  const older = await service.workspace(ada, { patterns: ['acme/*'], members: [bob] })
  const younger = await service.workspace(ada, { patterns: ['acme/*'], members: [bob] })
  const others = await service.workspace(ada, { patterns: ['other/*'], members: [bob] })
  const own = await service.workspace(bob, { patterns: ['*'.padStart(6, 'acme/')] })

  const best = (await configOf(bob, 'ACME/api')).body
  t.equal(best.workspace_id, own.id, 'where the caller is admin comes first')
  t.same(best.also_matched, [exact.id, longer.id, older.id, younger.id])
  const asAda = (await configOf(ada, 'acme/api')).body
  t.hasStrict(asAda, { workspace_id: exact.id, matched_pattern: 'Acme/Api' })
  t.same(asAda.also_matched, [longer.id, older.id, younger.id])

  const chosen = (await configOf(bob, 'acme/api', { workspace: longer.id })).body
  t.hasStrict(chosen, { workspace_id: longer.id, matched_pattern: 'acme/*pi' }, 'then alphabetically')
  t.same(chosen.also_matched, [own.id, exact.id, older.id, younger.id])
  t.hasStrict((await configOf(bob, 'acme/api', { workspace: others.id })).body, {
    status: 403,
    code: 'not_a_member',
  })
  t.hasStrict((await configOf(ada, 'acme/api', { workspace: own.id })).body, {
    status: 404,
    code: 'workspace_not_found',
  })
  t.hasStrict((await configOf(bob, 'nobody/api')).body, { status: 403, code: 'not_a_member' })
  t.hasStrict((await configOf(bob, 'bob/api')).body, { code: 'not_a_member' })
  for (const repo of ['', 'acme', 'acme/', 'acme/..', '../x', 'a/b/c', 'acme/*', 'acme%00/x']) {
    t.equal((await configOf(bob, repo)).status, 400, repo)
  }
  t.equal((await bob.get(`${team}/effective-config`)).status, 400)
  t.equal((await configOf(bob, 'acme/api', { workspace: 'x' })).status, 400)
})

t.test('the ETag changes with every input of the response', async (t) => {
  const { service, ada, id } = await startTeam(t)
  const override = `${team}/workspaces/${id}/project-settings/acme/api`
  const settings = `${team}/workspaces/${id}/settings`
  const steps: [string, () => Promise<unknown>][] = [
    ['settings', () => ada.patch(settings, { settings: { 'ext.a': 1, 'ext.b': 1 } })],
    ['idle window', () => ada.patch(settings, { idle_window_minutes: 3 })],
    ['locks', () => ada.patch(settings, { locked: ['ext.b'] })],
    ['override', () => ada.put(override, { settings: { 'ext.a': 2 } })],
    ['override again', () => ada.put(override, { settings: { 'ext.a': 3 } })],
    ['override back', () => ada.put(override, { settings: { 'ext.a': 2 } })],
    ['pattern', () => ada.put(`${team}/workspaces/${id}/patterns`, { patterns: ['acme/a*'] })],
    ['another match', () => service.workspace(ada, { patterns: ['acme/*'] })],
  ]
  const etags = new Set<string>()
  const take = async () => {
    const current = await configOf(ada, 'acme/api')
    const etag = current.headers.get('etag') ?? ''
    const again = await configOf(ada, 'acme/api', { etag })
    t.equal(again.status, 304)
    t.equal(again.text, '')
    t.equal(again.headers.get('etag'), etag)
    etags.add(etag)
    return etag
  }
  let last = await take()
  for (const [name, step] of steps) {
    await step()
    t.equal((await configOf(ada, 'acme/api', { etag: last })).status, 200, name)
    last = await take()
  }
  t.equal(etags.size, steps.length + 1)
})
