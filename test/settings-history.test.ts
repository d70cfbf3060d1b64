import { randomUUID } from 'node:crypto'
import t from 'tap'
import { limits } from '../schemas/limits.js'
import { hasProperties } from './has-properties.js'
import { type Reply, retryWhileUnavailable, startTeam } from './service.js'

const team = '/api/team/workspaces'
const versionsOf = ({ body }: Reply): [number, string | null][] =>
  body.versions.map(({ version, created_by }: { version: number; created_by: string | null }) => [
    version,
    created_by,
  ])

t.test('workspace settings record who changed them, and versions can be read and restored', async (t) => {
  const { ada, bob, id } = await startTeam(t, 'bob')
  const path = `${team}/${id}/settings`
  t.same(versionsOf(await bob.get(`${path}/versions`)), [[1, 'ada']])

  await ada.patch(path, { settings: { 'ext.a': 1, 'ext.b': { deep: 'é' } }, idle_window_minutes: 9 })
  await ada.patch(path, { locked: ['ext.a'] })
  await ada.patch(`${team}/${id}/members`, { login: 'bob', role: 'admin' })
  await bob.patch(path, { settings: { 'ext.a': 'bad' }, idle_window_minutes: 2, locked: [] })
  const list = await bob.get(`${path}/versions`)
  t.same(versionsOf(list), [
    [4, 'bob'],
    [3, 'ada'],
    [2, 'ada'],
    [1, 'ada'],
  ])
  t.same(list.body.versions[1].size_bytes, Buffer.byteLength('{"ext.a":1,"ext.b":{"deep":"é"}}'))

  const third = await bob.get(`${path}/versions/3`)
  t.same(third.body, {
    idle_window_minutes: 9,
    settings: { 'ext.a': 1, 'ext.b': { deep: 'é' } },
    locked: ['ext.a'],
    merged: [],
    version: 3,
    size_bytes: list.body.versions[1].size_bytes,
    updated_at: list.body.versions[1].created_at,
    updated_by: 'ada',
  })
  const etag = third.headers.get('etag') ?? ''
  t.equal((await bob.get(`${path}/versions/3`, { 'If-None-Match': etag })).status, 304)
  const missing = { status: 404, body: { code: 'version_not_found' } }
  for (const version of [5, 2_147_483_647, 2_147_483_648, 9_007_199_254_740_991]) {
    t.hasStrict(await bob.get(`${path}/versions/${version}`), missing)
    t.hasStrict(await bob.post(`${path}/restore`, { version }), missing)
  }
  for (const body of [undefined, {}, { version: 0 }, { version: '1' }, { version: 1, x: 1 }]) {
    t.equal((await bob.post(`${path}/restore`, body)).status, 400, JSON.stringify(body))
  }

  const restored = await bob.post(`${path}/restore`, { version: 3 })
  t.equal(restored.status, 200)
  hasProperties(t, restored.body, {
    settings: { 'ext.a': 1, 'ext.b': { deep: 'é' } },
    locked: ['ext.a'],
    idle_window_minutes: 9,
    version: 5,
  })
  t.same((await bob.get(path)).text, restored.text)
  t.equal((await bob.get(path)).headers.get('etag'), restored.headers.get('etag'))
  t.equal((await bob.post(`${path}/restore`, { version: 3 })).text, restored.text, 'again changes nothing')

  const { entries } = (await ada.get(`${team}/${id}/audit`)).body
  const trail = entries.filter(({ action }: { action: string }) => action.startsWith('workspace_settings.'))
  t.same(
    trail.map(({ actor, action, details }: Record<string, unknown>) => [actor, action, details]),
    [
      [
        'bob',
        'workspace_settings.restored',
        {
          version: 5,
          restored_version: 3,
          size_bytes: 33,
          idle_window_minutes: { before: 2, after: 9 },
          changed: ['ext.a'],
          locked: ['ext.a'],
        },
      ],
      [
        'bob',
        'workspace_settings.changed',
        {
          version: 4,
          size_bytes: 37,
          idle_window_minutes: { before: 9, after: 2 },
          changed: ['ext.a'],
          unlocked: ['ext.a'],
        },
      ],
      ['ada', 'workspace_settings.changed', { version: 3, size_bytes: 33, locked: ['ext.a'] }],
      [
        'ada',
        'workspace_settings.changed',
        {
          version: 2,
          size_bytes: 33,
          idle_window_minutes: { before: 5, after: 9 },
          added: ['ext.a', 'ext.b'],
        },
      ],
    ],
  )
})

t.test('a restore concurrent with another change gets 412, and nothing is lost', async (t) => {
  const { ada, id } = await startTeam(t)
  await ada.push('acme/api', { 'ext.a': 1 })
  const settings = `${team}/${id}/settings`
  const override = `${team}/${id}/project-settings/acme/api`
  const pushed = '/api/settings/acme/api'
  await ada.patch(settings, { settings: { 'ext.b': 1 } })
  await ada.put(override, { settings: { 'ext.c': 1 } })
  let value = 1
  const changes: Record<string, () => Promise<Reply>> = {
    [settings]: () => ada.patch(settings, { settings: { 'ext.b': ++value }, locked: ['ext.b'] }),
    [override]: () => ada.put(override, { settings: { 'ext.c': ++value } }),
    [pushed]: () => ada.push('acme/api', { 'ext.a': ++value }),
  }
  for (const [path, change] of Object.entries(changes)) {
    const versionOf = async () => (await ada.get(path)).body.version
    const first = await versionOf()
    const restore = (etag: string) =>
      ada.request('POST', `${path}/restore`, { body: { version: first }, headers: { 'If-Match': etag } })
    t.equal((await change()).status, 200)
    const stale = (await ada.get(path)).headers.get('etag') ?? ''
    const current = (await change()).body.version
    const conflict = { status: 412, body: { code: 'version_conflict', current_version: current } }
    t.hasStrict(await restore(stale), conflict, path)
    t.hasStrict(
      await ada.post(`${path}/restore?if_match=${encodeURIComponent(stale)}`, { version: first }),
      conflict,
      path,
    )
    t.equal(await versionOf(), current)
    for (let round = 0; round < 5; round++) {
      const before = (await ada.get(path)).headers.get('etag') ?? ''
      const [changed, restored] = await Promise.all([change(), restore(before)])
      t.equal(changed.status, 200)
      t.ok([200, 412].includes(restored.status), `${restored.status}`)
      // Without its precondition, the restore would undo the change.
      const { version } = (await ada.get(path)).body
      t.equal(version, changed.body.version, 'the change is the newest')
    }
    const etag = (await ada.get(path)).headers.get('etag') ?? ''
    t.equal((await restore(etag)).status, 200)
    await change()
    t.equal((await ada.post(`${path}/restore`, { version: first })).status, 200, 'without it, as before')
  }
})

t.test('a restore can’t loosen the privacy level', async (t) => {
  const { ada, id } = await startTeam(t)
  const path = `${team}/${id}/settings`
  await ada.patch(path, { settings: { 'ext.a': 1 }, activity_privacy: 'named' })
  const team2 = (await ada.patch(path, { activity_privacy: 'team', settings: { 'ext.a': 2 } })).body
  const restored = (await ada.post(`${path}/restore`, { version: 2 })).body
  t.hasStrict(restored, {
    activity_privacy: 'team',
    activity_privacy_since: team2.activity_privacy_since,
    version: 4,
  })
  t.same(restored.settings, { 'ext.a': 1 })
  for (const version of [1, 2, 3, 4]) {
    t.notOk('activity_privacy' in (await ada.get(`${path}/versions/${version}`)).body)
  }
})

t.test('the last twenty versions are kept, even with many concurrent writes', async (t) => {
  const { service, ada, id } = await startTeam(t)
  const kept = limits.settings_versions_kept
  await Promise.all(
    Array.from({ length: 25 }, (_, n) =>
      retryWhileUnavailable(() => ada.patch(`${team}/${id}/settings`, { settings: { [`ext.${n}`]: n } })),
    ),
  )
  await Promise.all(
    Array.from({ length: 25 }, (_, n) =>
      retryWhileUnavailable(() =>
        ada.put(`${team}/${id}/project-settings/acme/api`, { settings: { 'ext.n': n } }),
      ),
    ),
  )
  const numbers = (from: number) => Array.from({ length: kept }, (_, index) => [from - index, 'ada'])
  t.same(versionsOf(await ada.get(`${team}/${id}/settings/versions`)), numbers(26))
  t.same(versionsOf(await ada.get(`${team}/${id}/project-settings/acme/api/versions`)), numbers(25))
  t.equal((await ada.get(`${team}/${id}/settings/versions/6`)).status, 404)
  t.equal((await ada.get(`${team}/${id}/settings/versions/7`)).status, 200)
  t.equal((await ada.post(`${team}/${id}/project-settings/acme/api/restore`, { version: 5 })).status, 404)
  t.equal((await ada.post(`${team}/${id}/project-settings/acme/api/restore`, { version: 6 })).status, 200)
  const rows = await service.database.read.statement<{ n: number }>(
    `select (select count(*) from workspace_settings_versions)::int + (select count(*) from override_versions)::int as n`,
    [],
  )
  t.same(rows, [{ n: kept + kept - 1 }])
})

t.test('the total override history is limited, and the oldest versions are deleted first', async (t) => {
  const { service, ada, id } = await startTeam(t)
  const other = await service.workspace(ada, { name: 'Other', patterns: ['beta/*'] })
  const each = 131_072
  const most = limits.workspace_history_bytes / each
  const { statement } = service.database.write
  for (const [workspace, number] of [
    [id, most],
    [other.id, 3],
  ] as const) {
    await statement(
      `insert into overrides (owner_key, repo_key, workspace_id, revision, owner, repo, version, settings, updated_by)
       select 'acme', 'filler-' || n, $1::uuid, gen_random_uuid(), 'acme', 'filler-' || n, 2, '{}', (select id from users where login = 'ada')
       from generate_series(1, $2::int) n`,
      [workspace, number],
    )
    await statement(
      `insert into override_versions (owner_key, repo_key, workspace_id, version, settings, created_at, created_by)
       select 'acme', 'filler-' || n, $1::uuid, 1, '{"a":"' || repeat('x', $3::int - 8) || '"}', now() - make_interval(days => n),
         (select id from users where login = 'ada')
       from generate_series(1, $2::int) n`,
      [workspace, number, each],
    )
  }
  const path = (repo: string) => `${team}/${id}/project-settings/acme/${repo}`
  const set = (value: number) => ada.put(path('api'), { settings: { 'ext.a': value } })
  t.equal((await set(1)).status, 200)
  t.same(versionsOf(await ada.get(`${path(`filler-${most}`)}/versions`)), [
    [2, 'ada'],
    [1, 'ada'],
  ])
  t.equal((await set(2)).status, 200)
  t.same(versionsOf(await ada.get(`${path('api')}/versions`)), [
    [2, 'ada'],
    [1, 'ada'],
  ])
  t.same(versionsOf(await ada.get(`${path(`filler-${most}`)}/versions`)), [[2, 'ada']], 'the oldest one')
  t.equal((await ada.post(`${path(`filler-${most - 1}`)}/restore`, { version: 1 })).status, 200)
  const rows = await statement<{ workspace_id: string; rows: number }>(
    'select workspace_id, count(*)::int as rows from override_versions group by 1',
    [],
  )
  const counts = new Map(rows.map((row) => [row.workspace_id, row.rows]))
  t.equal(counts.get(id), most + 1, 'a small version fits into the space of the oldest one')
  t.equal(counts.get(other.id), 3, 'another workspace keeps its own')

  await statement(
    `insert into overrides (owner_key, repo_key, workspace_id, revision, owner, repo, version, settings, updated_at, updated_by)
     select 'acme', 'forgotten', $1::uuid, gen_random_uuid(), 'acme', 'forgotten', 1, '{"a":"' || repeat('x', $2::int - 8) || '"}',
       now() - interval '9 years', (select id from users where login = 'ada')`,
    [id, each],
  )
  t.equal((await ada.put(path('forgotten'), { settings: {} })).status, 200)
  t.equal(
    (await ada.post(`${path('forgotten')}/restore`, { version: 1 })).status,
    200,
    'what was just replaced stays',
  )
  t.same(
    versionsOf(await ada.get(`${path(`filler-${most - 1}`)}/versions`)),
    [
      [3, 'ada'],
      [2, 'ada'],
    ],
    'the oldest of another one goes',
  )
})

t.test('an override has its own route, version and ETag', async (t) => {
  const { ada, bob, id } = await startTeam(t, 'bob')
  const path = `${team}/${id}/project-settings/Acme/Api`
  const none = { status: 404, body: { code: 'override_not_found' } }
  t.hasStrict(await bob.get(path), none)
  t.hasStrict(await bob.get(`${path}/versions`), none)
  t.hasStrict(await bob.get(`${path}/versions/1`), none)
  t.hasStrict(await ada.post(`${path}/restore`, { version: 1 }), none)

  const first = await ada.put(path, { settings: { 'ext.a': 1 } })
  t.hasStrict(first.body, { version: 1 })
  const second = await ada.put(path, { settings: { 'ext.a': 2 } })
  t.hasStrict(second.body, { version: 2, updated_by: 'ada' })
  const read = await bob.get(`${team}/${id}/project-settings/acme/api`)
  t.equal(read.text, second.text)
  const etag = read.headers.get('etag') ?? ''
  t.equal(etag, second.headers.get('etag'))
  t.equal((await bob.get(path, { 'If-None-Match': etag })).status, 304)
  t.equal((await ada.put(path, { settings: { 'ext.a': 2 } })).headers.get('etag'), etag)

  t.same(versionsOf(await bob.get(`${path}/versions`)), [
    [2, 'ada'],
    [1, 'ada'],
  ])
  t.same((await bob.get(`${path}/versions/1`)).body, first.body)
  t.hasStrict(await bob.get(`${path}/versions/3`), { status: 404, body: { code: 'version_not_found' } })
  const restored = await ada.post(`${path}/restore`, { version: 1 })
  t.hasStrict(restored, { status: 200, body: { version: 3, owner: 'Acme', repo: 'Api' } })
  t.same(restored.body.settings, { 'ext.a': 1 })
  t.equal((await ada.get(path)).headers.get('etag'), restored.headers.get('etag'))

  await ada.delete(path)
  t.hasStrict(await bob.get(`${path}/versions`), none, 'the history goes with it')
  const again = await ada.put(path, { settings: { 'ext.a': 1 } })
  t.hasStrict(again.body, { version: 1 })
  t.same(versionsOf(await bob.get(`${path}/versions`)), [[1, 'ada']])
  const tags = [first, second, restored, again].map(({ headers }) => headers.get('etag'))
  t.equal(new Set(tags).size, 4, 'an ETag never comes back')

  await ada.put(`${team}/${id}/patterns`, { patterns: ['other/*'] })
  t.hasStrict(await ada.post(`${path}/restore`, { version: 1 }), {
    status: 422,
    body: { code: 'repo_outside_patterns' },
  })
})

t.test('a write and a removal can require a version', async (t) => {
  const { ada, id } = await startTeam(t)
  const path = `${team}/${id}/project-settings/acme/api`
  const call = (method: string, value: number, query = '', headers: Record<string, string> = {}) =>
    ada.request(method, path + query, {
      ...(method === 'PUT' && { body: { settings: { 'ext.a': value } } }),
      headers,
    })
  const conflict = (current_version: number | null) => ({
    status: 412,
    body: { code: 'version_conflict', current_version },
  })
  const inQuery = (tag: string) => `?if_match=${encodeURIComponent(tag)}`
  t.hasStrict(await call('PUT', 1, '?if_match=*'), conflict(null))
  const first = await call('PUT', 1, '?if_none_match=*')
  t.equal(first.status, 200)
  t.hasStrict(await call('PUT', 2, '', { 'If-None-Match': '*' }), conflict(1))
  const old = first.headers.get('etag') ?? ''
  const second = await call('PUT', 2, inQuery(old))
  const current = second.headers.get('etag') ?? ''
  t.hasStrict(await call('PUT', 3, inQuery(old)), conflict(2))
  t.hasStrict(await call('PUT', 3, '', { 'If-Match': old }), conflict(2))
  t.hasStrict(await call('DELETE', 0, inQuery(old)), conflict(2))
  t.hasStrict(await call('DELETE', 0, '', { 'If-Match': old }), conflict(2))
  const replies = await Promise.all(
    Array.from({ length: 10 }, (_, n) => call('PUT', 10 + n, inQuery(current))),
  )
  t.same(replies.map(({ status }) => status).sort(), [200, ...Array(9).fill(412)], 'one of many wins')
  const newest = (await ada.get(path)).headers.get('etag') ?? ''
  t.equal((await call('DELETE', 0, inQuery(newest))).status, 200)
  t.hasStrict(await call('DELETE', 0, inQuery(newest)), { status: 404, body: { code: 'override_not_found' } })
})

t.test('no data is lost that an earlier release has stored or writes concurrently', async (t) => {
  const { service, ada, id } = await startTeam(t)
  const path = `${team}/${id}/settings`
  const override = `${team}/${id}/project-settings/acme/api`
  await ada.patch(path, { settings: { 'ext.a': 1 } })
  await ada.put(override, { settings: { 'ext.a': 1 } })
  const { write } = service.database
  // The statements of an earlier release on the same rows.
  const asBefore = async (n: number) => {
    await write.statement(
      `update workspaces set settings = $2::text, settings_version = settings_version + 1, settings_updated_at = now()
       where id = $1::uuid`,
      [id, `{"ext.a":${n}}`],
    )
    await write.statement(
      `update overrides set settings = $2::text, revision = $3::uuid where workspace_id = $1::uuid`,
      [id, `{"ext.a":${n}}`, randomUUID()],
    )
  }
  await write.statement('delete from workspace_settings_versions', [])
  t.same(versionsOf(await ada.get(`${path}/versions`)), [[2, null]])
  t.hasStrict((await ada.get(`${path}/versions/2`)).body, { version: 2, updated_by: null })
  await asBefore(7)
  t.same((await ada.get(`${path}/versions/3`)).body.settings, { 'ext.a': 7 })
  await ada.patch(path, { settings: { 'ext.a': 8 } })
  await ada.put(override, { settings: { 'ext.a': 8 } })
  t.same(versionsOf(await ada.get(`${path}/versions`)), [
    [4, 'ada'],
    [3, null],
  ])
  t.same((await ada.get(`${override}/versions/1`)).body.settings, { 'ext.a': 7 })
  t.same((await ada.post(`${path}/restore`, { version: 3 })).body.settings, { 'ext.a': 7 })

  await ada.put(override, { settings: { 'ext.a': 9 } })
  await write.statement('delete from overrides', [])
  await ada.put(override, { settings: { 'ext.b': 1 } })
  t.same(
    versionsOf(await ada.get(`${override}/versions`)),
    [[1, 'ada']],
    'nothing of the removed one returns',
  )
})

t.test('a long change lists a hundred keys in the audit trail', async (t) => {
  const { ada, id } = await startTeam(t)
  const settings = Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`ext.${n}`, n]))
  await ada.patch(`${team}/${id}/settings`, { settings, locked: ['ext.1'] })
  const [{ details }] = (await ada.get(`${team}/${id}/audit`)).body.entries
  t.equal(details.added.length, 100)
  t.hasStrict(details, { more_keys: 901, version: 2 })
})

t.test('no version names a person whose account is deleted', async (t) => {
  const { service, ada, bob, id } = await startTeam(t, 'bob')
  await ada.patch(`${team}/${id}/members`, { login: 'bob', role: 'admin' })
  await bob.patch(`${team}/${id}/settings`, { settings: { 'ext.a': 1 } })
  await bob.put(`${team}/${id}/project-settings/acme/api`, { settings: { 'ext.a': 1 } })
  await bob.put(`${team}/${id}/project-settings/acme/api`, { settings: { 'ext.a': 2 } })
  t.equal((await bob.request('DELETE', '/api/me', { body: { confirm: 'bob' } })).status, 200)
  const look = async () => [
    ...versionsOf(await ada.get(`${team}/${id}/settings/versions`)),
    ...versionsOf(await ada.get(`${team}/${id}/project-settings/acme/api/versions`)),
  ]
  const gone = [
    [2, 'deleted user'],
    [1, 'ada'],
    [2, 'deleted user'],
    [1, 'deleted user'],
  ]
  t.same(await look(), gone)
  await service.app.jobs.rollups.run()
  t.same(await look(), gone)
})

t.test('a change’s reason is shown in the history and the audit trail', async (t) => {
  const { ada, id } = await startTeam(t)
  await ada.push('acme/web', { 'ext.a': 1 })
  await ada.push('acme/web', { 'ext.a': 2 })
  const settings = `${team}/${id}/settings`
  const override = `${team}/${id}/project-settings/acme/web`
  const reason = 'Größere Schrift, #42'
  await ada.patch(settings, { settings: { 'ext.a': 1 }, reason })
  await ada.patch(settings, { settings: { 'ext.a': 2 }, reason: '' })
  await ada.post(`${settings}/restore`, { version: 2, reason: 'Back' })
  await ada.put(override, { settings: { 'ext.a': 1 }, reason })
  await ada.put(override, { settings: { 'ext.a': 2 } })
  await ada.post(`${override}/restore`, { version: 1, reason: 'Back' })
  await ada.post('/api/settings/acme/web/restore', { version: 1, reason: 'Back' })
  t.equal((await ada.patch(settings, { reason: 'Nothing changes' })).body.version, 4)

  const reasonsOf = async (path: string) =>
    (await ada.get(`${path}/versions`)).body.versions.map(({ reason }: { reason: string | null }) => reason)
  t.same(await reasonsOf(settings), ['Back', null, reason, null])
  t.same(await reasonsOf(override), ['Back', null, reason])
  t.same(await reasonsOf('/api/settings/acme/web'), ['Back', null, null])
  const { entries } = (await ada.get(`${team}/${id}/audit`)).body
  t.same(
    entries.map(({ action, details }: { action: string; details: { reason?: string } }) => [
      action,
      details.reason,
    ]),
    [
      ['settings.restored', 'Back'],
      ['override.restored', 'Back'],
      ['override.set', undefined],
      ['override.set', reason],
      ['workspace_settings.restored', 'Back'],
      ['workspace_settings.changed', undefined],
      ['workspace_settings.changed', reason],
      ['settings.pushed', undefined],
      ['settings.pushed', undefined],
      ['workspace.created', undefined],
    ],
  )

  const tooLong = { reason: 'x'.repeat(limits.reason_length + 1) }
  t.equal((await ada.patch(settings, tooLong)).status, 400)
  t.equal((await ada.put(override, { settings: {}, ...tooLong })).status, 400)
  t.equal((await ada.post(`${settings}/restore`, { version: 1, ...tooLong })).status, 400)
  t.equal((await ada.put(override, { settings: {}, reason: '😀'.repeat(limits.reason_length) })).status, 200)
})

t.test('the versions of one key are those that changed its value, lock or merge', async (t) => {
  const { ada, bob, id } = await startTeam(t, 'bob')
  const path = `${team}/${id}/settings`
  const historyOf = async (key: string) => {
    const { status, body } = await bob.get(`${path}/versions?key=${encodeURIComponent(key)}`)
    t.equal(status, 200)
    return body.versions.map(({ version, reason, setting }: Record<string, unknown>) => [
      version,
      reason,
      setting,
    ])
  }
  const long = 'x'.repeat(16_384)
  await ada.patch(path, { settings: { 'ext.a': 5112, '[go]': { 'ext.a': 1, 'ext.b': 2 } } })
  await ada.patch(path, { settings: { 'ext.b': [1] } })
  await ada.patch(path, { settings: { 'ext.a': 5113 }, reason: 'One more' })
  await ada.patch(path, { locked: ['ext.a'], merged: ['ext.b'] })
  await ada.patch(path, { settings: { 'ext.a': long, '[go]': null } })
  await ada.patch(path, { settings: { 'ext.a': null } })
  const open = { locked: false, merged: false }
  t.strictSame(await historyOf('ext.a'), [
    [7, null, { is_set: false, ...open }],
    [6, null, { is_set: true, locked: true, merged: false }],
    [5, null, { is_set: true, value: 5113, locked: true, merged: false }],
    [4, 'One more', { is_set: true, value: 5113, ...open }],
    [2, null, { is_set: true, value: 5112, ...open }],
  ])
  t.strictSame(await historyOf('ext.b'), [
    [5, null, { is_set: true, value: [1], locked: false, merged: true }],
    [3, null, { is_set: true, value: [1], ...open }],
  ])
  t.strictSame(await historyOf('[go]'), [
    [6, null, { is_set: false, ...open }],
    [2, null, { is_set: true, value: { 'ext.a': 1, 'ext.b': 2 }, ...open }],
  ])
  t.strictSame(await historyOf("ext.'; --"), [])
  for (let round = 0; round < limits.settings_versions_kept; round++)
    await ada.patch(path, { settings: { 'ext.b': [round + 2] } })
  t.strictSame(await historyOf('ext.a'), [], 'its versions are no longer kept')
  t.equal((await historyOf('ext.b')).length, limits.settings_versions_kept)
  t.equal((await bob.get(`${path}/versions?key=${'k'.repeat(201)}`)).status, 400)
})
