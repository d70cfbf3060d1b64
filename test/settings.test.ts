import t from 'tap'
import { repohostKinds } from '../schemas/common.js'
import { limits } from '../schemas/limits.js'
import { throughPooler } from './database.js'
import { hasProperties } from './has-properties.js'
import { retryWhileUnavailable, reuseService, type Service, startService, startTeam } from './service.js'

const LIMIT = 262_144

/** Settings whose JSON text has exactly this many bytes. */
const settingsOfSize = (bytes: number) => {
  const frame = Buffer.byteLength(JSON.stringify({ 'ext.blob': '' }))
  const umlauts = 100
  return { 'ext.blob': 'ü'.repeat(umlauts) + 'x'.repeat(bytes - frame - 2 * umlauts) }
}

t.test('settings can be pushed, pulled, restored and deleted, and pushes can conflict', async (t) => {
  const service = await reuseService(t)
  const ada = await service.signIn('Ada')
  const settings = { 'ext.theme': 'dark', 'ext.list': [1, { a: null }], 'ext.ratio': 0.1 }

  const first = await ada.push('ada/Dotfiles', settings)
  t.equal(first.status, 200)
  const text = JSON.stringify(settings)
  t.hasStrict(first.body, {
    owner: 'ada',
    repo: 'Dotfiles',
    version: 1,
    changed: true,
    workspace_created: true,
    size_bytes: text.length,
    updated_by: 'Ada',
  })
  t.notOk('settings' in first.body)

  const pulled = await ada.get('/api/settings/ADA/dotfiles')
  t.equal(pulled.status, 200)
  t.ok(pulled.text.includes(`"settings":${text},`), 'the text is the one that was stored')
  t.hasStrict(pulled.body, {
    owner: 'ada',
    repo: 'Dotfiles',
    version: 1,
    workspace_id: first.body.workspace_id,
  })
  t.equal(pulled.headers.get('etag'), first.headers.get('etag'))
  t.equal(pulled.headers.get('cache-control'), 'private, no-cache')

  const etag = pulled.headers.get('etag') ?? ''
  for (const header of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
    const unchanged = await ada.get('/api/settings/ada/dotfiles', { 'If-None-Match': header })
    t.equal(unchanged.status, 304, header)
    t.equal(unchanged.text, '')
    t.equal(unchanged.headers.get('etag'), etag)
  }

  const same = await ada.push('ADA/dotfiles', settings)
  t.hasStrict(same.body, {
    changed: false,
    version: 1,
    updated_at: first.body.updated_at,
    workspace_created: false,
  })

  const second = await ada.push('ada/dotfiles', { 'ext.theme': 'light' }, { 'If-Match': etag })
  t.match(second.body, { version: 2, changed: true })
  t.equal((await ada.get('/api/settings/ada/dotfiles', { 'If-None-Match': etag })).status, 200)
  const conflict = await ada.push('ada/dotfiles', { 'ext.theme': 'blue' }, { 'If-Match': etag })
  t.hasStrict(conflict, { status: 412, body: { code: 'version_conflict', current_version: 2 } })
  const createOnly = await ada.push('ada/dotfiles', {}, { 'If-None-Match': '*' })
  t.match(createOnly, { status: 412, body: { current_version: 2 } })
  const nothingThere = await ada.push('ada/new', {}, { 'If-Match': etag })
  t.match(nothingThere, { status: 412, body: { current_version: null } })
  t.equal((await ada.push('ada/new', {}, { 'If-None-Match': '*' })).status, 200)

  const { versions } = (await ada.get('/api/settings/ada/dotfiles/versions')).body
  hasProperties(t, versions, [
    { version: 2, created_by: 'Ada' },
    { version: 1, size_bytes: text.length },
  ])
  hasProperties(t, (await ada.get('/api/settings/ada/dotfiles/versions/1')).body, { settings, version: 1 })
  t.hasStrict(await ada.get('/api/settings/ada/dotfiles/versions/3'), {
    status: 404,
    body: { code: 'version_not_found' },
  })

  const restored = await ada.post('/api/settings/ada/dotfiles/restore', { version: 1 })
  t.match(restored, { status: 200, body: { version: 3, changed: true, workspace_created: false } })
  t.strictSame((await ada.get('/api/settings/ada/dotfiles')).body.settings, settings)
  const unknown = await ada.post('/api/settings/ada/dotfiles/restore', { version: 9 })
  t.hasStrict(unknown, { status: 404, body: { code: 'version_not_found' } })

  t.match(await ada.delete('/api/settings/ada/dotfiles'), { status: 200, body: { ok: true } })
  t.hasStrict(await ada.get('/api/settings/ada/dotfiles'), { status: 404, body: { code: 'never_synced' } })
  t.hasStrict(await ada.delete('/api/settings/ada/dotfiles'), { status: 404, body: { code: 'never_synced' } })
  t.equal((await ada.get('/api/settings/ada/dotfiles/versions')).status, 404)

  const again = await ada.push('ada/dotfiles', settings)
  t.match(again.body, { version: 1, changed: true, workspace_created: false })
  t.not(again.headers.get('etag'), etag, 'an ETag never comes back')
})

t.test('the last twenty versions are kept', async (t) => {
  const service = await reuseService(t)
  const ada = await service.signIn('ada')
  for (let version = 1; version <= 23; version++) await ada.push('ada/a', { 'ext.n': version })
  const { versions } = (await ada.get('/api/settings/ada/a/versions')).body
  t.strictSame(
    versions.map(({ version }: { version: number }) => version),
    Array.from({ length: 20 }, (_, index) => 23 - index),
  )
  t.equal((await ada.get('/api/settings/ada/a/versions/3')).status, 404)
})

t.test('settings of exactly 262,144 bytes fit, and one more byte doesn’t', async (t) => {
  const service = await reuseService(t)
  const ada = await service.signIn('ada')
  const largest = settingsOfSize(LIMIT)
  const pushed = await ada.push('ada/big', largest)
  t.match(pushed, { status: 200, body: { size_bytes: LIMIT } })
  t.strictSame((await ada.get('/api/settings/ada/big')).body.settings, largest)
  const larger = await ada.push('ada/big', settingsOfSize(LIMIT + 1))
  t.hasStrict(larger, {
    status: 413,
    body: { code: 'settings_too_large', limit_bytes: LIMIT, actual_bytes: LIMIT + 1 },
  })
  const huge = await ada.push('ada/big', { 'ext.blob': 'x'.repeat(1_100_000) })
  t.hasStrict(huge, { status: 413, body: { code: 'payload_too_large' } })
  t.match((await ada.get('/api/settings/ada/big')).body, { version: 1 })
})

t.test('settings keys need the prefix', async (t) => {
  const service = await startService(t, { env: { EXTENSION_PREFIX: 'tool' } })
  const ada = await service.signIn('ada')
  t.equal((await ada.push('ada/a', { 'tool.a': 1, [`tool.${'k'.repeat(195)}`]: 2 })).status, 200)
  t.equal((await ada.push('ada/a', {})).status, 200)
  for (const key of ['a', 'ext.a', 'Tool.a', 'tool', 'toolx.a', `tool.${'k'.repeat(196)}`]) {
    const rejected = await ada.push('ada/a', { [key]: 1 })
    t.hasStrict(rejected, { status: 400, body: { code: 'validation_failed' } }, key)
    t.equal(rejected.body.errors.length, 1)
    t.equal(rejected.body.errors[0].path, `/body/settings/${key}`)
    const isLong = key.startsWith('tool.')
    t.equal(
      rejected.body.errors[0].message,
      isLong ? 'must NOT have more than 200 characters' : 'must start with `tool.`',
    )
  }
})

t.test('a push needs the caller’s own host token and access to the repository', async (t) => {
  for (const kind of repohostKinds)
    await t.test(kind, async (t) => {
      const service = await reuseService(t, kind)
      const [ada, bob] = await service.signInAll('ada', 'bob')
      await service.workspace(ada, { members: [] })
      await ada.push('acme/api', { 'ext.a': 1 })
      const version = async () => (await ada.get('/api/settings/acme/api')).body.version

      const none = await ada.put('/api/settings/acme/api', { settings: {} })
      t.hasStrict(none, { status: 400, body: { code: 'repohost_token_required' } })
      const foreign = await ada.push('acme/api', {}, { 'X-Repohost-Token': bob.repohostToken })
      t.hasStrict(foreign, { status: 403, body: { code: 'repo_access_denied' } })
      const unknown = await ada.push('acme/api', {}, { 'X-Repohost-Token': 'ghp_unknown' })
      t.hasStrict(unknown, { status: 401, body: { code: 'repohost_token_invalid' } })
      service.repohost.addPrivateRepo('acme/api', [bob.repohostId])
      t.hasStrict(await ada.push('acme/api', {}), { status: 403, body: { code: 'repo_access_denied' } })
      service.repohost.addPrivateRepo('acme/api', [ada.repohostId])
      for (const [fault, status, code] of [
        ['status-500', 502, 'upstream_failed'],
        ['redirect', 502, 'upstream_failed'],
        ['rate-limited', 502, 'upstream_failed'],
      ] as const) {
        service.repohost.fault = fault
        t.hasStrict(await ada.push('acme/api', {}), { status, body: { code, upstream: 'repohost' } }, fault)
      }
      service.repohost.fault = undefined
      t.equal(await version(), 1, 'nothing was changed')

      const before = service.repohost.requests.length
      t.equal((await ada.push('other/repo', {})).status, 409)
      t.equal((await bob.push('acme/api', {})).status, 409)
      t.equal(service.repohost.requests.length, before, 'the host is asked last')

      service.repohost.addPrivateRepo('ada/secret', [bob.repohostId])
      t.equal((await ada.push('ada/secret', {})).status, 403)
      t.equal(
        (await ada.get('/api/team/me')).body.workspaces.length,
        1,
        'a rejected push creates no personal workspace',
      )
    })
})

t.test('members can pull, admins can push, and strangers see nothing', async (t) => {
  const service = await reuseService(t)
  const [ada, bob, eve] = await service.signInAll('ada', 'bob', 'eve')
  const { id } = await service.workspace(ada, { patterns: ['acme/*'], members: [bob] })
  await ada.push('acme/api', { 'ext.a': 1 })

  t.hasStrict((await bob.get('/api/settings/acme/api')).body, { settings: { 'ext.a': 1 }, workspace_id: id })
  for (const rejected of [
    await bob.push('acme/api', {}),
    await bob.delete('/api/settings/acme/api'),
    await bob.post('/api/settings/acme/api/restore', { version: 1 }),
    await bob.delete('/api/settings/acme/none'),
  ]) {
    t.hasStrict(rejected, { status: 403, body: { code: 'admin_required' } })
  }
  t.hasStrict(await bob.get('/api/settings/acme/none'), { status: 404, body: { code: 'never_synced' } })
  for (const rejected of [
    await eve.get('/api/settings/acme/api'),
    await eve.get('/api/settings/acme/api/versions'),
    await eve.delete('/api/settings/acme/api'),
    await eve.post('/api/settings/acme/api/restore', { version: 1 }),
  ]) {
    t.hasStrict(rejected, { status: 403, body: { code: 'not_a_member' } })
  }
  t.hasStrict(await eve.push('acme/api', {}), {
    status: 409,
    body: { code: 'workspace_required', suggested_pattern: 'acme/*' },
  })
  t.hasStrict(await eve.get('/api/settings/eve/none'), { status: 404, body: { code: 'never_synced' } })
})

t.test('a stranger who claims another organization’s pattern sees and blocks nothing', async (t) => {
  const service = await reuseService(t)
  const [victim, eve] = await service.signInAll('victim', 'eve')
  await service.workspace(victim, { patterns: ['acme/*'] })
  await victim.push('acme/api', { 'ext.secret': 1 })
  await service.workspace(eve, { name: 'Evil', patterns: ['acme/*', 'acme/api', 'victim/*'] })

  t.hasStrict(await eve.get('/api/settings/acme/api'), { status: 404, body: { code: 'never_synced' } })
  t.hasStrict(await eve.delete('/api/settings/acme/api'), { status: 404, body: { code: 'never_synced' } })
  t.match(await eve.get('/api/settings/acme/api/versions'), { status: 404 })
  t.strictSame((await eve.get('/api/projects')).body.projects, [])
  t.equal((await eve.push('acme/api', { 'ext.theirs': 2 })).status, 200)
  t.match((await victim.get('/api/settings/acme/api')).body, { settings: { 'ext.secret': 1 }, version: 1 })
  t.match((await victim.push('victim/own', {})).body, { workspace_created: true })
  t.equal((await eve.delete('/api/settings/acme/api')).status, 200)
  t.equal((await victim.get('/api/settings/acme/api')).status, 200)
})

t.test('several matching workspaces are ranked in one order', async (t) => {
  const service = await reuseService(t)
  const [ada, bob] = await service.signInAll('ada', 'bob')
  const wide = await service.workspace(ada, { name: 'wide', patterns: ['acme/*'] })
  const long = await service.workspace(ada, { name: 'long', patterns: ['acme/api-*'] })
  const exact = await service.workspace(ada, { name: 'exact', patterns: ['ACME/api-gate', 'acme/*'] })
  const asMember = await service.workspace(bob, {
    name: 'member',
    patterns: ['acme/api-gate'],
    members: [ada],
  })

  const push = (query = '') => ada.push('acme/api-gate', { 'ext.from': query }, {}, query)
  t.equal((await push()).body.workspace_id, exact.id, 'admin first, then the exact pattern')
  t.equal((await ada.push('acme/api-x', {})).body.workspace_id, long.id, 'then the longer literal part')
  t.equal((await ada.push('acme/web', {})).body.workspace_id, wide.id, 'then the older workspace')

  const chosen = await push(`?workspace=${wide.id}`)
  t.equal(chosen.body.workspace_id, wide.id)
  t.equal((await ada.get(`/api/settings/acme/api-gate?workspace=${wide.id}`)).body.workspace_id, wide.id)
  t.equal((await ada.get('/api/settings/acme/api-gate')).body.workspace_id, exact.id)

  await bob.push('acme/api-gate', { 'ext.from': 'bob' })
  t.equal((await ada.delete('/api/settings/acme/api-gate')).status, 200)
  t.equal(
    (await ada.get('/api/settings/acme/api-gate')).body.workspace_id,
    wide.id,
    'only holders are looked at',
  )
  t.equal((await push()).body.workspace_id, wide.id, 'a person reads what they have pushed')
  t.equal((await ada.delete('/api/settings/acme/api-gate')).status, 200)
  t.equal((await ada.get('/api/settings/acme/api-gate')).body.workspace_id, asMember.id)
  t.hasStrict(await ada.delete('/api/settings/acme/api-gate'), {
    status: 403,
    body: { code: 'admin_required' },
  })

  const elsewhere = await service.workspace(bob, { name: 'elsewhere', patterns: ['other/*'] })
  const notIn = `?workspace=${elsewhere.id}`
  t.hasStrict(await ada.get(`/api/settings/acme/web${notIn}`), {
    status: 404,
    body: { code: 'workspace_not_found' },
  })
  t.hasStrict(await push(notIn), { status: 404, body: { code: 'workspace_not_found' } })
  t.hasStrict(await ada.delete(`/api/settings/acme/web${notIn}`), {
    status: 404,
    body: { code: 'workspace_not_found' },
  })
  const noMatch = `?workspace=${wide.id}`
  t.hasStrict(await ada.get(`/api/settings/zzz/web${noMatch}`), {
    status: 403,
    body: { code: 'not_a_member' },
  })
  t.hasStrict(await ada.push('ada/own', {}, {}, noMatch), { status: 403, body: { code: 'not_a_member' } })
  t.hasStrict(await ada.get('/api/settings/acme/web?workspace=x'), {
    status: 400,
    body: { code: 'validation_failed' },
  })
})

t.test('twenty concurrent first pushes create one personal workspace', async (t) => {
  const service = await reuseService(t)
  const ada = await service.signIn('ada')
  const replies = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      retryWhileUnavailable(() => ada.push(`ada/repo-${index % 4}`, { 'ext.n': index })),
    ),
  )
  t.strictSame([...new Set(replies.map(({ status }) => status))], [200])
  t.equal(replies.filter(({ body }) => body.workspace_created).length, 1)
  hasProperties(t, (await ada.get('/api/team/me')).body.workspaces, [
    { name: 'ada', personal: true, role: 'admin', patterns: ['ada/*'], member_count: 1 },
  ])
  for (let repo = 0; repo < 4; repo++) {
    const versions = (await ada.get(`/api/settings/ada/repo-${repo}/versions`)).body.versions
    t.strictSame(
      versions.map(({ version }: { version: number }) => version),
      [5, 4, 3, 2, 1],
      'versions have no gaps',
    )
  }
})

t.test('of two pushes with the same If-Match, one gets 412', async (t) => {
  const service = await reuseService(t)
  const ada = await service.signIn('ada')
  const etag = (await ada.push('ada/a', { 'ext.n': -1 })).headers.get('etag') ?? ''
  const replies = await Promise.all(
    Array.from({ length: 12 }, (_, n) => ada.push('ada/a', { 'ext.n': n }, { 'If-Match': etag })),
  )
  t.equal(replies.filter(({ status }) => status === 200).length, 1)
  t.equal(replies.filter(({ status }) => status === 412).length, 11)
})

t.test('the personal workspace follows a renamed login', async (t) => {
  const service = await reuseService(t)
  const ada = await service.signIn('ada')
  await ada.push('ada/a', {})
  service.repohost.renameUser(ada.repohostId, 'lovelace')
  const renamed = await service.signIn('lovelace')
  const pushed = await renamed.push('lovelace/b', {})
  t.match(pushed, { status: 200, body: { workspace_created: false } })
  hasProperties(t, (await renamed.get('/api/team/me')).body.workspaces, [
    { patterns: ['ada/*', 'lovelace/*'] },
  ])
})

t.test('projects are listed in pages, one row per workspace and repository', async (t) => {
  const service = await reuseService(t)
  const [ada, bob] = await service.signInAll('ada', 'bob')
  const one = await service.workspace(ada, { name: 'One', patterns: ['acme/*'], members: [bob] })
  const two = await service.workspace(ada, { name: 'Two', patterns: ['acme/shared'] })
  for (const repo of ['acme/B', 'acme/a', 'ada/x']) await ada.push(repo, {})
  await ada.push('acme/shared', {}, {}, `?workspace=${one.id}`)
  await ada.push('acme/shared', {}, {}, `?workspace=${two.id}`)

  const all = (await ada.get('/api/projects')).body
  t.strictSame(
    all.projects.map(({ owner, repo, workspace_name, role }: Record<string, string>) => [
      owner,
      repo,
      workspace_name,
      role,
    ]),
    [
      ['acme', 'a', 'One', 'admin'],
      ['acme', 'B', 'One', 'admin'],
      ['acme', 'shared', 'One', 'admin'],
      ['acme', 'shared', 'Two', 'admin'],
      ['ada', 'x', 'ada', 'admin'],
    ],
  )
  t.match(all.projects[0], { synced: true, has_override: false, version: 1, updated_at: String })
  t.equal(all.next_cursor, null)
  t.equal((await bob.get('/api/projects')).body.projects.length, 3)

  const paged = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const page: { body: { projects: object[]; next_cursor: string | null } } = await ada.get(
      `/api/projects?limit=2${cursor && `&cursor=${cursor}`}`,
    )
    t.ok(page.body.projects.length <= 2)
    paged.push(...page.body.projects)
    cursor = page.body.next_cursor
  }
  t.strictSame(paged, all.projects)
  for (const query of [
    'limit=0',
    'limit=501',
    'limit=x',
    'cursor=x',
    'cursor=',
    `cursor=${Buffer.from('["a","b","c"]').toString('base64url')}`,
  ]) {
    t.hasStrict(
      await ada.get(`/api/projects?${query}`),
      { status: 400, body: { code: 'validation_failed' } },
      query,
    )
  }
})

t.test('a page of projects is cut short if none of many repositories match', async (t) => {
  const service = await reuseService(t)
  const ada = await service.signIn('ada')
  const { id } = await service.workspace(ada, { patterns: ['acme/seen-*'] })
  for (const repo of ['seen-1', 'seen-2'])
    t.equal(
      (await ada.put(`/api/team/workspaces/${id}/project-settings/acme/${repo}`, { settings: {} })).status,
      200,
    )
  await service.database.hot.statement(
    `insert into overrides (owner_key, repo_key, workspace_id, revision, owner, repo, settings, updated_by)
      select 'acme', 'r' || n, $1::uuid, gen_random_uuid(), 'acme', 'r' || n, '{}', u.id
      from users u, generate_series(1, 1000) n where u.login = 'ada'`,
    [id],
  )
  const first = (await ada.get('/api/projects')).body
  t.same(first.projects, [])
  t.type(first.next_cursor, 'string')
  const decoded = Buffer.from(first.next_cursor, 'base64url').toString('latin1')
  t.notOk(/acme|r\d{3}/.test(decoded), 'a cursor names no repository that the caller does not see')
  const forged = Buffer.from(JSON.stringify(['acme', '', id])).toString('base64url')
  t.equal((await ada.get(`/api/projects?cursor=${forged}`)).status, 400)
  const second = (await ada.get(`/api/projects?cursor=${first.next_cursor}`)).body
  t.same(
    second.projects.map(({ repo }: { repo: string }) => repo),
    ['seen-1', 'seen-2'],
  )
  t.equal(second.next_cursor, null)
  const one = (await ada.get(`/api/projects?limit=1&cursor=${first.next_cursor}`)).body
  t.same(
    one.projects.map(({ repo }: { repo: string }) => repo),
    ['seen-1'],
  )
  const last = (await ada.get(`/api/projects?limit=1&cursor=${one.next_cursor}`)).body
  t.same([last.projects[0].repo, last.next_cursor], ['seen-2', null])
})

const notPrepared = throughPooler() ? 'behind a pooler nothing is prepared' : false

t.test('pulling settings takes one prepared statement', { skip: notPrepared }, async (t) => {
  const service = await startService(t, { env: { DATABASE_POOL_SIZE: '1' } })
  const ada = await service.signIn('ada')
  await ada.push('ada/a', { 'ext.a': 1 })
  for (let i = 0; i < 3; i++) await ada.get('/api/settings/ada/a')
  const prepared = await service.database.hot.statement<{ statement: string; calls: string }>(
    'select statement, generic_plans + custom_plans as calls from pg_prepared_statements',
    [],
  )
  const pulls = prepared.filter(({ statement }) => statement.includes('left join lateral'))
  t.equal(pulls.length, 1)
  t.equal(Number(pulls[0]?.calls), 3)
})

t.test('conditions in the query work like those in headers', async (t) => {
  const service = await reuseService(t)
  const ada = await service.signIn('ada')
  const push = (query: string, theme: string, headers: Record<string, string> = {}) =>
    ada.push('ada/dotfiles', { 'ext.theme': theme }, headers, query)
  const first = await push('?if_none_match=*', 'dark')
  t.equal(first.status, 200)
  const etag = first.headers.get('etag') ?? ''
  const conflict = (current_version: number | null) => ({
    status: 412,
    body: { code: 'version_conflict', current_version },
  })
  t.hasStrict(await push('?if_none_match=*', 'light'), conflict(1))
  t.hasStrict(await ada.push('ada/other', {}, {}, `?if_match=${encodeURIComponent(etag)}`), conflict(null))
  const second = await push(`?if_match=${encodeURIComponent(etag)}`, 'light')
  t.match(second, { status: 200, body: { version: 2 } })
  const newer = second.headers.get('etag') ?? ''
  for (const query of [etag, `W/${newer}`, newer.replaceAll('"', ''), '', 'x']) {
    t.hasStrict(await push(`?if_match=${encodeURIComponent(query)}`, 'blue'), conflict(2), query)
  }
  const good = `?if_match=${encodeURIComponent(newer)}`
  t.hasStrict(await push(good, 'blue', { 'If-Match': etag }), conflict(2), 'both must hold')
  t.hasStrict(await push('?if_match=*', 'blue', { 'If-Match': etag }), conflict(2))
  t.hasStrict(await push(`?if_match=${encodeURIComponent(etag)}`, 'blue', { 'If-Match': newer }), conflict(2))
  t.match(await push(good, 'blue', { 'If-Match': newer }), { status: 200, body: { version: 3 } })
  t.match(await push(`${good}&if_match=x`, 'red'), { status: 400 })
})

/** Fills a workspace with snapshots of repositories that no one asks for, up to so many bytes below its limit. */
const fillUp = async (service: Service, workspaceId: string, left: number) => {
  const each = 131_072
  const rows = limits.workspace_bytes / each
  await service.database.write.statement(
    `insert into snapshots (owner_key, repo_key, workspace_id, id, owner, repo, version, settings, size_bytes, updated_by)
     select 'acme', 'filler-' || n, $1::uuid, gen_random_uuid(), 'acme', 'filler-' || n, 1, '{}',
       case when n = 1 then $2::int - $3::int else $2::int end, (select id from users limit 1)
     from generate_series(1, $4::int) n`,
    [workspaceId, each, left, rows],
  )
}

t.test('a full workspace accepts nothing larger and can still be emptied', async (t) => {
  const { service, ada, id } = await startTeam(t)
  const text = (length: number) => ({ 'ext.a': 'a'.repeat(length) })
  const override = (repo: string, settings: object) =>
    ada.put(`/api/team/workspaces/${id}/project-settings/acme/${repo}`, { settings })
  const first = await ada.push('acme/api', text(5_000))
  t.equal((await ada.push('acme/api', text(1_000))).status, 200)
  t.equal((await override('api', text(1_000))).status, 200)
  await fillUp(service, id, 2_100)

  const full = { status: 413, body: { code: 'workspace_full', limit_bytes: limits.workspace_bytes } }
  t.hasStrict(await ada.push('acme/new', text(2_000)), full)
  t.match(await ada.get('/api/settings/acme/new'), { status: 404 }, 'nothing was made')
  t.hasStrict(await ada.push('acme/api', text(2_200)), full)
  t.match(await ada.push('acme/api', text(2_200), { 'If-Match': first.headers.get('etag') ?? '' }), {
    status: 412,
  })
  t.hasStrict(await ada.post('/api/settings/acme/api/restore', { version: 1 }), full)
  t.hasStrict(await override('new', text(2_000)), full)
  t.hasStrict(await override('api', text(2_200)), full)
  t.hasStrict(await ada.get('/api/settings/acme/api'), { body: { version: 2, settings: text(1_000) } })

  t.match(await ada.push('acme/api', text(1_000)), { status: 200, body: { changed: false } })
  t.equal((await override('api', text(1_000))).status, 200)
  t.equal((await override('api', text(500))).status, 200)
  t.equal((await ada.push('acme/api', text(500))).status, 200)
  t.equal((await ada.delete('/api/settings/acme/filler-2')).status, 200)
  t.equal((await ada.push('acme/new', text(2_000))).status, 200, 'there is space again')
  const other = await service.workspace(ada, { name: 'Other', patterns: ['beta/*'] })
  t.equal((await ada.push('beta/api', text(9_000), {}, `?workspace=${other.id}`)).status, 200)
})

t.test('small settings fill a workspace by their number', async (t) => {
  const { service, ada, id } = await startTeam(t)
  const left = 4
  await fillUp(service, id, left * limits.workspace_bytes_per_settings)
  const override = (repo: string) =>
    ada.put(`/api/team/workspaces/${id}/project-settings/acme/${repo}`, { settings: {} })
  for (let n = 0; n < left; n++) t.equal((await override(`small-${n}`)).status, 200)
  t.hasStrict(await override('api'), {
    status: 413,
    body: { code: 'workspace_full', limit_bytes: limits.workspace_bytes },
  })
  t.equal((await ada.delete(`/api/team/workspaces/${id}/project-settings/acme/small-1`)).status, 200)
  t.equal((await override('api')).status, 200)
})

t.test('concurrent writers can’t both use the last of the quota', async (t) => {
  const { service, ada, id } = await startTeam(t)
  await fillUp(service, id, 5 * limits.workspace_bytes_per_settings + 100)
  const settings = { 'ext.a': 'a'.repeat(1_000 - 12) }
  const writes = Array.from({ length: 24 }, (_, n) =>
    retryWhileUnavailable(() =>
      n % 2
        ? ada.push(`acme/${n}`, settings)
        : ada.put(`/api/team/workspaces/${id}/project-settings/acme/${n}`, { settings }),
    ),
  )
  const statuses = (await Promise.all(writes)).map(({ status }) => status)
  t.equal(statuses.filter((status) => status === 200).length, 5)
  t.equal(statuses.filter((status) => status === 413).length, 19)
})
