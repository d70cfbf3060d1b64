/** Settings of a renamed repository move to its new name: with proof, once, completely, and in one workspace only. */
import { createHash } from 'node:crypto'
import t from 'tap'
import { deliveryShapes } from '../demo/host-deliveries.js'
import { repohostKinds } from '../schemas/common.js'
import { lockWorkspace } from '../src/features/workspaces/index.js'
import { lockWaiters, whileHeld } from './locks.js'
import { type Caller, reuseService, type Service } from './service.js'
import { startWebhook, type Webhook } from './webhooks.js'

const pathOf = (repo: string) => repo.replace(/\/(?=[^/]*\/)/g, '%2F')

const move = (caller: Caller, workspace: string, from: unknown, to: unknown, headers = {}) =>
  caller.request('POST', `/api/team/workspaces/${workspace}/repos/move`, {
    body: { from, to },
    headers: { 'X-Repohost-Token': caller.repohostToken, ...headers },
  })

const moved = { status: 200, body: { ok: true } }
const denied = { status: 403, body: { code: 'repo_access_denied' } }

/** Everything that the API tells about a repository's settings and override, except the name. */
const readHistories = async (caller: Caller, workspace: string, repo: string) => {
  const read = async (path: string, query = '') => {
    const list = await caller.get(`${path}/versions${query}`)
    const versions: unknown[] = []
    for (const { version } of list.body.versions ?? []) {
      const { headers, body } = await caller.get(`${path}/versions/${version}${query}`)
      versions.push([headers.get('etag'), { ...body, owner: null, repo: null }])
    }
    const { status, headers, body } = await caller.get(path + query)
    return [
      status,
      headers.get('etag'),
      status === 200 ? { ...body, owner: null, repo: null } : body.code,
      list.body.versions,
      versions,
    ]
  }
  return {
    settings: await read(`/api/settings/${pathOf(repo)}`, `?workspace=${workspace}`),
    override: await read(`/api/team/workspaces/${workspace}/project-settings/${pathOf(repo)}`),
  }
}

const hashOf = (histories: object) => createHash('sha256').update(JSON.stringify(histories)).digest('hex')

const nothing = {
  settings: [404, null, 'never_synced', undefined, []],
  override: [404, null, 'override_not_found', undefined, []],
}

/** Three versions of pushed settings, one of them restored, and three of an override. */
const store = async (caller: Caller, workspace: string, repo: string) => {
  for (const theme of ['light', 'dark'])
    await caller.push(repo, { 'ext.theme': theme }, {}, `?workspace=${workspace}`)
  await caller.post(`/api/settings/${pathOf(repo)}/restore?workspace=${workspace}`, {
    version: 1,
    reason: 'Too dark',
  })
  const override = `/api/team/workspaces/${workspace}/project-settings/${pathOf(repo)}`
  for (const size of [1, 2, 3])
    await caller.put(override, { settings: { 'ext.size': size }, reason: `Size ${size}` })
}

const auditOf = async (caller: Caller, workspace: string) =>
  (await caller.get(`/api/team/workspaces/${workspace}/audit`)).body.entries
    .filter(({ action }: { action: string }) => action.startsWith('repo.'))
    .map(({ actor, action, target, details }: Record<string, unknown>) => ({
      actor,
      action,
      target,
      details,
    }))

/** Rows without a snapshot or an override that they belong to. */
const countOrphans = async ({ database }: Service) => {
  const [row] = await database.hot.statement<{ orphans: number }>(
    `select (
       (select count(*) from snapshot_versions v where not exists (
         select from snapshots s where s.workspace_id = v.workspace_id and s.owner_key = v.owner_key and s.repo_key = v.repo_key))
       + (select count(*) from override_versions v where not exists (
         select from overrides o where o.workspace_id = v.workspace_id and o.owner_key = v.owner_key and o.repo_key = v.repo_key))
     )::int as orphans`,
    [],
  )
  return row?.orphans
}

for (const kind of repohostKinds)
  t.test(
    `${kind}: a push to the old name returns the new one, and an admin moves settings, override and history`,
    async (t) => {
      const service = await reuseService(t, kind)
      const [ada, bob] = await service.signInAll('ada', 'bob')
      const { id } = await service.workspace(ada, { members: [bob] })
      await store(ada, id, 'Acme/old')
      const day = new Date().toISOString().slice(0, 10)
      await bob.post('/api/team/active-minutes', { entries: [{ repo: 'acme/old', day, minutes: 5 }] })
      const before = await readHistories(ada, id, 'acme/old')
      for (const response of ['redirect', 'new name'] as const) {
        service.repohost.renameRepo('acme/old', 'Acme/New', response)
        t.hasStrict(await ada.push('acme/old', {}), {
          status: 409,
          body: { code: 'repo_renamed', renamed_to: 'Acme/New' },
        })
      }
      t.same(await readHistories(ada, id, 'acme/old'), before, 'a rejected push changes nothing')
      t.hasStrict(await move(ada, id, 'acme/OLD', 'Acme/New'), moved)
      const after = await readHistories(bob, id, 'acme/new')
      t.same(after, before)
      t.equal(hashOf(after), hashOf(before))
      t.same(await readHistories(ada, id, 'acme/old'), nothing)
      t.hasStrict((await bob.get('/api/settings/acme/new')).body, { owner: 'Acme', repo: 'New', version: 3 })
      t.same(await auditOf(ada, id), [
        {
          actor: 'ada',
          action: 'repo.moved',
          target: 'Acme/New',
          details: { from: 'acme/OLD', snapshot: true, override: true },
        },
      ])
      const mine = await bob.get(`/api/team/dashboard/mine?workspace=${id}`)
      t.same(
        mine.body.repos.map(({ repo }: { repo: string }) => repo),
        ['acme/old'],
        'activity keeps its name',
      )
      t.hasStrict((await ada.push('acme/new', { 'ext.theme': 'blue' })).body, { version: 4, changed: true })
      const path = `/api/team/workspaces/${id}/project-settings/acme/new`
      t.equal((await ada.put(path, { settings: { 'ext.size': 4 } })).body.version, 4, 'versions go on')
      t.equal(await countOrphans(service), 0)
    },
  )

t.test('on GitLab, a project can move between groups', async (t) => {
  const service = await reuseService(t, 'gitlab')
  const ada = await service.signIn('ada')
  const { id } = await service.workspace(ada, { patterns: ['acme/**'] })
  await store(ada, id, 'acme/platform/web')
  const before = await readHistories(ada, id, 'acme/platform/web')
  service.repohost.renameRepo('acme/platform/web', 'acme/apps/web/front', 'redirect')
  t.equal((await ada.push('acme/platform/web', {})).body.renamed_to, 'acme/apps/web/front')
  t.hasStrict(await move(ada, id, 'acme/platform/web', 'acme/apps/web/front'), moved)
  t.same(await readHistories(ada, id, 'acme/apps/web/front'), before)
})

t.test('a move without a redirect needs access to the new repository and none to the old', async (t) => {
  const service = await reuseService(t)
  const ada = await service.signIn('ada')
  const { id } = await service.workspace(ada)
  await store(ada, id, 'acme/old')
  t.hasStrict(await move(ada, id, 'acme/old', 'acme/new'), denied, 'it sees both')
  service.repohost.removeRepo('acme/new')
  t.hasStrict(await move(ada, id, 'acme/old', 'acme/new'), denied, 'it sees the old one')
  service.repohost.removeRepo('acme/old')
  t.hasStrict(await move(ada, id, 'acme/old', 'acme/new'), denied, 'it sees none')
  service.repohost.addPrivateRepo('acme/new', [ada.repohostId])
  t.hasStrict(await move(ada, id, 'acme/old', 'acme/new'), moved)
})

t.test('a chain of renames leads only to the last name', async (t) => {
  const service = await reuseService(t)
  const ada = await service.signIn('ada')
  const { id } = await service.workspace(ada)
  await store(ada, id, 'acme/a')
  service.repohost.renameRepo('acme/a', 'acme/b', 'redirect')
  service.repohost.renameRepo('acme/b', 'acme/c', 'redirect')
  const { renamed_to, detail } = (await ada.push('acme/a', {})).body
  t.equal(renamed_to, 'acme/c')
  t.match(detail, /^The repository is called acme\/c at the repository host now\./, 'editors show this')
  t.hasStrict(await move(ada, id, 'acme/a', 'acme/b'), denied)
  service.repohost.addPrivateRepo('acme/c', [])
  t.hasStrict(await move(ada, id, 'acme/a', 'acme/c'), denied, 'the token doesn’t see it')
  t.hasStrict(await ada.push('acme/a', {}), denied)
  service.repohost.addPrivateRepo('acme/c', [ada.repohostId])
  t.hasStrict(await move(ada, id, 'acme/a', 'acme/c'), moved)
})

t.test('only a few redirects are followed, within the host’s API', async (t) => {
  for (const kind of repohostKinds)
    await t.test(kind, async (t) => {
      const service = await reuseService(t, kind)
      const other = await reuseService(t, kind)
      const ada = await service.signIn('ada')
      await service.workspace(ada)
      const { apiUrl } = service.repohost
      const { host, port, pathname } = new URL(`${apiUrl}/`)
      const self = kind === 'gitlab' ? 'projects/acme%2Fnew' : 'repos/acme/new'
      const loop = kind === 'gitlab' ? 'projects/acme%2Fold' : 'repos/acme/old'
      for (const location of [
        `${other.url}/${self}`,
        `//evil.example.com${pathname}${self}`,
        `https://${host}${pathname}${self}`,
        `http://localhost:${port}${pathname}${self}`,
        `${apiUrl}/${loop}`,
        `${apiUrl}/`,
        'http://',
        '',
        ...(kind === 'github' ? [] : [`/${self}`, `${apiUrl}/../../${self}`]),
      ]) {
        service.repohost.renameRepo('acme/old', 'acme/new', { location })
        service.repohost.requests.length = 0
        t.hasStrict(await ada.push('acme/old', {}), denied, location)
        t.ok(service.repohost.requests.length <= 7, location)
      }
      for (const status of [301, 302, 303, 307, 308]) {
        const location = `${other.url}/${self}`
        service.repohost.renameRepo('acme/old', 'acme/new', { location, status })
        t.hasStrict(await ada.push('acme/old', {}), denied, `${status}`)
      }
      for (const location of [
        `${apiUrl}/${self}`,
        `http://someone:else@${host}${pathname}${self}?page=1#part`,
        `${pathname}${self}`,
      ]) {
        service.repohost.renameRepo('acme/old', 'acme/new', { location })
        t.hasStrict(
          await ada.push('acme/old', {}),
          { status: 409, body: { code: 'repo_renamed', renamed_to: 'acme/new' } },
          location,
        )
      }
    })
})

t.test('an impossible move returns the reason without a request to the host', async (t) => {
  const service = await reuseService(t)
  const [ada, bob, eve] = await service.signInAll('ada', 'bob', 'eve')
  const { id } = await service.workspace(ada, { patterns: ['acme/*', 'other/one'], members: [bob] })
  await store(ada, id, 'acme/old')
  await store(ada, id, 'acme/both')
  const override = `/api/team/workspaces/${id}/project-settings/acme/override`
  await ada.put(override, { settings: {} })
  await ada.push('acme/pushed', {})
  const before = await readHistories(ada, id, 'acme/old')
  service.repohost.removeRepo('acme/old')
  service.repohost.requests.length = 0
  const rejected = async (status: number, code: string, reply: Promise<{ status: number; body: unknown }>) =>
    t.hasStrict(await reply, { status, body: { code } }, code)
  for (const [from, to] of [
    ['acme/old', 'acme/OLD'],
    ['acme/old', 'acme/sub/new'],
    ['acme/old', 'acme/..'],
    ['old', 'acme/new'],
    ['acme/old', 7],
  ])
    await rejected(400, 'validation_failed', move(ada, id, from, to))
  await rejected(
    400,
    'repohost_token_required',
    ada.post(`/api/team/workspaces/${id}/repos/move`, { from: 'acme/old', to: 'acme/new' }),
  )
  await rejected(403, 'admin_required', move(bob, id, 'acme/old', 'acme/new'))
  await rejected(404, 'workspace_not_found', move(eve, id, 'acme/old', 'acme/new'))
  await rejected(422, 'repo_outside_patterns', move(ada, id, 'acme/old', 'other/two'))
  await rejected(422, 'repo_outside_patterns', move(ada, id, 'other/two', 'acme/new'))
  await rejected(404, 'never_synced', move(ada, id, 'acme/none', 'acme/new'))
  for (const taken of ['acme/both', 'acme/override', 'acme/Pushed'])
    await rejected(409, 'repo_taken', move(ada, id, 'acme/old', taken))
  t.same(service.repohost.requests, [])

  const another = { 'X-Repohost-Token': bob.repohostToken }
  t.hasStrict(await move(ada, id, 'acme/old', 'acme/new', another), denied, 'another person’s token')
  const none = { 'X-Repohost-Token': 'ghp_none' }
  await rejected(401, 'repohost_token_invalid', move(ada, id, 'acme/old', 'acme/new', none))
  service.repohost.fault = 'rate-limited'
  await rejected(502, 'upstream_failed', move(ada, id, 'acme/old', 'acme/new'))
  service.repohost.fault = undefined
  t.same(await readHistories(ada, id, 'acme/old'), before)
  t.same(await auditOf(ada, id), [])
})

t.test('a deleted target repository doesn’t block a move, and only existing data moves', async (t) => {
  const service = await reuseService(t)
  const ada = await service.signIn('ada')
  const { id } = await service.workspace(ada)
  service.repohost.removeRepo('acme/old')
  await store(ada, id, 'acme/new')
  const override = `/api/team/workspaces/${id}/project-settings`
  await ada.put(`${override}/acme/old`, { settings: { 'ext.a': 1 } })
  await ada.delete('/api/settings/acme/new')
  await ada.delete(`${override}/acme/new`)
  t.hasStrict(await move(ada, id, 'acme/old', 'acme/new'), moved)
  t.same((await ada.get(`${override}/acme/new`)).body.version, 1)
  t.equal((await ada.get('/api/settings/acme/new')).status, 404)
  service.repohost.removeRepo('acme/new')
  t.hasStrict(await move(ada, id, 'acme/new', 'acme/newer'), moved)
  t.same(
    (await auditOf(ada, id)).map(({ details }: { details: unknown }) => details),
    [
      { from: 'acme/new', snapshot: false, override: true },
      { from: 'acme/old', snapshot: false, override: true },
    ],
  )
})

t.test(
  'a stranger with the same patterns can’t move other workspaces’ data, and loses nothing',
  async (t) => {
    const service = await reuseService(t)
    const [ada, eve] = await service.signInAll('ada', 'eve')
    const { id } = await service.workspace(ada)
    const hers = await service.workspace(eve)
    await store(ada, id, 'acme/old')
    await store(eve, hers.id, 'acme/old')
    const [before, hersBefore] = [
      await readHistories(ada, id, 'acme/old'),
      await readHistories(eve, hers.id, 'acme/old'),
    ]
    service.repohost.renameRepo('acme/old', 'acme/new', 'redirect')
    t.hasStrict(await move(eve, id, 'acme/old', 'acme/new'), {
      status: 404,
      body: { code: 'workspace_not_found' },
    })
    t.hasStrict(await move(eve, hers.id, 'acme/old', 'acme/new'), moved)
    t.same(await readHistories(ada, id, 'acme/old'), before)
    t.same(await readHistories(ada, id, 'acme/new'), nothing)
    t.same(await readHistories(eve, hers.id, 'acme/new'), hersBefore)
    t.hasStrict(await move(ada, id, 'acme/old', 'acme/new'), moved, 'a stranger’s settings take no name')
    t.same(await readHistories(ada, id, 'acme/new'), before)
    t.same(await readHistories(eve, hers.id, 'acme/new'), hersBefore)
  },
)

/** What admins read about renames. */
const renamesToldTo = async (caller: Caller) =>
  (await caller.get('/api/me/notices')).body.notices
    .filter(({ code }: { code: string }) => code === 'repo_renamed')
    .map(({ repos, renamed_to }: { repos: string[]; renamed_to: string }) => [...repos, renamed_to])

const reportRename = async (webhook: Webhook, to: string, before: string, secret?: string) => {
  const report = deliveryShapes.github.renamed?.(to, before)
  if (!report) throw new Error('GitHub reports renames')
  return (await webhook.send(report, secret === undefined ? {} : { secret })).status
}

t.test('a reported rename moves nothing, and admins get a notice until the settings are moved', async (t) => {
  const { service, ada, bob, id, webhook } = await startWebhook(t)
  const eve = await service.signIn('eve')
  const hers = await service.workspace(eve)
  await store(ada, id, 'acme/old')
  await store(eve, hers.id, 'acme/old')
  const before = await readHistories(ada, id, 'acme/old')
  t.equal(await reportRename(webhook, 'acme/new', 'old'), 200)
  t.same(await readHistories(ada, id, 'acme/old'), before)
  t.same(await readHistories(ada, id, 'acme/new'), nothing)
  t.same(await renamesToldTo(ada), [['acme/old', 'acme/new']])
  t.same([await renamesToldTo(bob), await renamesToldTo(eve)], [[], []], 'admins of the workspace alone')
  const [audited] = await auditOf(ada, id)
  t.hasStrict(audited, {
    action: 'repo.move_waits',
    target: 'acme/new',
    details: { from: 'acme/old', because: 'unconfirmed' },
  })

  t.hasStrict(await move(ada, id, 'acme/old', 'acme/new'), denied, 'the host sees no rename')
  service.repohost.renameRepo('acme/old', 'acme/new', 'redirect')
  t.hasStrict(await move(ada, id, 'acme/old', 'acme/new'), moved)
  t.same(await readHistories(ada, id, 'acme/new'), before)
  t.same(await renamesToldTo(ada), [])
  await ada.push('acme/old', { 'ext.of': 'another repository' })
  t.equal(await reportRename(webhook, 'acme/new', 'old'), 200)
  t.equal((await auditOf(ada, id)).length, 2, 'the same report has an effect once')
})

t.test('a removed admin who knows the webhook’s secret moves nothing', async (t) => {
  const { service, ada, bob, id, webhook } = await startWebhook(t)
  await ada.patch(`/api/team/workspaces/${id}/members`, { login: 'bob', role: 'admin' })
  const known = webhook.secret
  await store(ada, id, 'acme/old')
  const before = await readHistories(ada, id, 'acme/old')
  await ada.delete(`/api/team/workspaces/${id}/members?login=bob`)
  for (const to of ['acme/mine', 'acme/theirs', 'acme/OTHER'])
    t.equal(await reportRename(webhook, to, 'old', known), 200)
  await webhook.rotate()
  t.equal(await reportRename(webhook, 'acme/last', 'old', known), 200, 'the old secret works for a day')
  t.same(await readHistories(ada, id, 'acme/old'), before)
  t.same(await renamesToldTo(ada), [['acme/old', 'acme/last']], 'one for each repository')
  t.same(await renamesToldTo(bob), [])
  for (const to of ['acme/mine', 'acme/last']) {
    t.hasStrict(await move(ada, id, 'acme/old', to), denied, 'the host decides')
    t.same(await readHistories(ada, id, to), nothing)
  }
  t.equal(await countOrphans(service), 0)
})

t.test('a rename that only changes case moves nothing and leaves no note', async (t) => {
  const { ada, id, webhook } = await startWebhook(t)
  await store(ada, id, 'acme/old')
  const before = await readHistories(ada, id, 'acme/old')
  const report = deliveryShapes.github.renamed?.('acme/Old', 'old')
  if (!report) throw new Error('GitHub reports renames')
  t.equal((await webhook.send(report)).status, 200)
  t.same(await auditOf(ada, id), [])
  t.same(await readHistories(ada, id, 'acme/old'), before)
})

t.test('a report through a webhook that is deleted in the meantime moves nothing', async (t) => {
  const { service, ada, id, webhook } = await startWebhook(t)
  await store(ada, id, 'acme/old')
  const report = deliveryShapes.github.renamed?.('acme/new', 'old')
  if (!report) throw new Error('GitHub reports renames')
  let reply: ReturnType<Webhook['send']> | undefined
  await service.database.transaction(async (tx) => {
    await lockWorkspace(tx, id)
    reply = webhook.send(report)
    await lockWaiters(service)
    await tx.statement('delete from webhooks where workspace_id = $1::uuid', [id])
  })
  t.hasStrict(await reply, { status: 404, body: { code: 'webhook_not_found' } })
  t.equal((await ada.get('/api/settings/acme/old')).status, 200)
  t.equal((await ada.get('/api/settings/acme/new')).status, 404)
})

t.test('a report that can’t be applied leaves a note', async (t) => {
  const { ada, id, webhook } = await startWebhook(t)
  const report = (to: string, before: string) => {
    const event = deliveryShapes.github.renamed?.(to, before)
    if (!event) throw new Error('GitHub reports renames')
    return webhook.send(event)
  }
  await ada.put(`/api/team/workspaces/${id}/patterns`, { patterns: ['acme/old*', 'acme/pushed'] })
  await ada.push('acme/old', { 'ext.a': 1 })
  await ada.push('acme/pushed', { 'ext.a': 2 })
  await report('acme/new', 'old')
  await report('acme/pushed', 'old')
  await report('acme/old-2', 'none')
  t.same(
    (await auditOf(ada, id)).map(({ action, target, details }: Record<string, unknown>) => ({
      action,
      target,
      details,
    })),
    [
      {
        action: 'repo.move_waits',
        target: 'acme/pushed',
        details: { from: 'acme/old', because: 'repo_taken' },
      },
      {
        action: 'repo.move_waits',
        target: 'acme/new',
        details: { from: 'acme/old', because: 'outside_patterns' },
      },
    ],
  )
  const listed = (await webhook.deliveries()).map(
    ({ repo, skipped_because }: { repo: string; skipped_because: { outside_patterns: number } }) => [
      repo,
      skipped_because.outside_patterns,
    ],
  )
  t.same(listed, [
    ['acme/old-2', 0],
    ['acme/pushed', 0],
    ['acme/new', 0],
  ])
  t.same((await ada.get('/api/settings/acme/old')).body.settings, { 'ext.a': 1 })
  await ada.put(`/api/team/workspaces/${id}/patterns`, { patterns: ['acme/*'] })
  await report('acme/new', 'old')
  t.equal((await ada.get('/api/settings/acme/new')).status, 404)
  for (const payload of [
    { action: 'renamed' },
    {
      action: 'renamed',
      changes: { repository: { name: { from: '../old' } } },
      repository: { full_name: 'acme/x' },
    },
    { action: 'renamed', changes: { repository: { name: { from: 'old' } } }, repository: { full_name: 7 } },
    {
      action: 'renamed',
      changes: { repository: { name: { from: 'old' } } },
      repository: { full_name: 'acme' },
    },
    { action: 'transferred', changes: { owner: { from: {} } }, repository: { full_name: 'acme/old-2' } },
    {
      action: 'renamed',
      changes: { repository: { name: { from: 'o\0ld' } } },
      repository: { full_name: 'acme/\0' },
    },
  ])
    t.equal((await webhook.send({ event: 'repository', payload })).status, 200)
  t.equal((await auditOf(ada, id)).length, 2)
})

t.test(
  'concurrent moves, pushes, deletes, restores and overrides lose nothing and leave nothing behind',
  async (t) => {
    const service = await reuseService(t)
    const [ada, bob] = await service.signInAll('ada', 'bob')
    const { id, code } = await service.workspace(ada, { members: [bob] })
    t.ok(code)
    await ada.patch(`/api/team/workspaces/${id}/members`, { login: 'bob', role: 'admin' })
    const override = (repo: string) => `/api/team/workspaces/${id}/project-settings/${repo}`
    for (let round = 0; round < 6; round++) {
      const [from, to, other] = [`acme/from-${round}`, `acme/to-${round}`, `acme/other-${round}`]
      // ada no longer sees the old name, and bob still does.
      service.repohost.addPrivateRepo(from, [bob.repohostId])
      await store(bob, id, from)
      const before = hashOf(await readHistories(bob, id, from))
      const rivals = [
        () => bob.push(from, { 'ext.round': round }),
        () => bob.push(to, { 'ext.round': round }),
        () => bob.delete(`/api/settings/${from}?workspace=${id}`),
        () => bob.post(`/api/settings/${from}/restore`, { version: 1 }),
        () => bob.put(override(to), { settings: { 'ext.round': round } }),
        () => move(ada, id, from, other),
      ]
      const rival = rivals[round] as (typeof rivals)[0]
      const [first, second] = await Promise.all([move(ada, id, from, to), rival()])
      const name = `${round}: ${first.status} ${second.status}`
      t.ok([200, 404, 409].includes(first.status), name)
      t.ok([200, 404, 409].includes(second.status), name)
      const after = await Promise.all([from, to, other].map((repo) => readHistories(bob, id, repo)))
      for (const { settings, override } of after)
        for (const [status, , current, versions] of [settings, override] as never as [
          number,
          unknown,
          { version: number },
          { version: number }[],
        ][])
          if (status === 200)
            t.same(
              versions.map(({ version }) => version),
              Array.from({ length: current.version }, (_, index) => current.version - index),
              name,
            )
      if (round === 5) {
        t.same([first.status, second.status].sort(), [200, 404], 'one of two moves wins')
        t.ok(after.some((histories) => hashOf(histories) === before))
      }
      t.equal(await countOrphans(service), 0, name)
    }
  },
)

t.test('a move waits for a push to the old name and includes its version', async (t) => {
  const service = await reuseService(t)
  const ada = await service.signIn('ada')
  const { id } = await service.workspace(ada)
  await store(ada, id, 'acme/old')
  service.repohost.removeRepo('acme/old')
  let reply: ReturnType<typeof move> | undefined
  await whileHeld(
    service,
    ["select from snapshots where workspace_id = $1::uuid and repo_key = 'old' for update", id],
    async () => {
      reply = move(ada, id, 'acme/old', 'acme/new')
      await lockWaiters(service)
    },
  )
  t.hasStrict(await reply, moved)
  t.equal((await ada.get('/api/settings/acme/new')).body.version, 3)
})

t.test('a concurrent move and workspace deletion leave nothing behind', async (t) => {
  const service = await reuseService(t)
  const ada = await service.signIn('ada')
  for (let round = 0; round < 4; round++) {
    const { id } = await service.workspace(ada)
    await store(ada, id, 'acme/old')
    service.repohost.renameRepo('acme/old', 'acme/new', 'redirect')
    const [first, second] = await Promise.all([
      move(ada, id, 'acme/old', 'acme/new'),
      ada.delete(`/api/team/workspaces/${id}`),
    ])
    t.ok([200, 404].includes(first.status))
    t.equal(second.status, 200)
    t.equal(await countOrphans(service), 0)
    service.repohost.reset()
    Object.assign(ada, { ...(await service.signIn('ada', { id: ada.repohostId })) })
  }
})
