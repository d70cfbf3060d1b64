/** Access keys of people and of workspaces: what they give access to, what is recorded about them, and how they end. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import t from 'tap'
import { editorTokenOf } from '../src/features/sessions/index.js'
import { hasProperties } from './has-properties.js'
import { launchProgram, onDatabase, temporaryFolder } from './process.js'
import {
  type Call,
  type Caller,
  type Reply,
  retryWhileUnavailable,
  type Service,
  startService,
} from './service.js'
import { until } from './until.js'

const team = '/api/team/workspaces'
const today = new Date().toISOString().slice(0, 10)
const UNKNOWN = 'svc_5f0c8a3e-9d1b-4c67-8a42-7e1d0b9f3c25'
const UUID_V4 = '[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}'

/** Calls with a key. */
const withKey = (service: Service, secret: string) => {
  const request = (method: string, path: string, { body, headers }: Call = {}): Promise<Reply> =>
    service.request(method, path, { body, headers: { Authorization: `Bearer ${secret}`, ...headers } })
  return {
    request,
    get: (path: string, headers: Record<string, string> = {}) => request('GET', path, { headers }),
    post: (path: string, body?: unknown) => request('POST', path, { body }),
    put: (path: string, body?: unknown) => request('PUT', path, { body }),
    patch: (path: string, body?: unknown) => request('PATCH', path, { body }),
    delete: (path: string) => request('DELETE', path),
  }
}

const created = (reply: Reply) => {
  if (reply.status !== 201) throw new Error(`The key was rejected: ${reply.text}`)
  return reply.body as { id: string; secret: string; created_at: string; expires_at: string }
}

const ownKey = async (caller: Caller, scopes: string[], name = 'laptop') =>
  created(await caller.post('/api/me/keys', { name, scopes }))

const workspaceKey = async (admin: Caller, workspace: string, scopes: string[], name = 'nightly') =>
  created(await admin.post(`${team}/${workspace}/keys`, { name, scopes }))

const outcome = ({ status, body }: Reply) => [status, body?.code]

const service = await startService(t)
const [ada, bob] = await service.signInAll('ada', 'bob')

t.test('a person can create, list and revoke keys, and sees each secret once', async (t) => {
  const cyd = await service.signIn('cyd')
  const days = (n: number) => new Date(Date.now() + n * 86_400_000).toISOString().slice(0, 10)
  const first = await cyd.post('/api/me/keys', { name: '  script ', scopes: ['settings:read'] })
  const { id, secret, created_at, expires_at, ...rest } = first.body
  t.equal(first.status, 201)
  t.same(rest, { name: 'script', scopes: ['settings:read'], created_by: 'cyd', last_used_day: null })
  t.match(secret, new RegExp(`^svc_${UUID_V4}$`))
  t.equal(expires_at.slice(0, 10), days(365))
  const second = await cyd.post('/api/me/keys', {
    name: 'editor',
    scopes: ['activity:write', 'activity:read'],
    expires_in_days: 1,
  })
  t.match(second.body.secret, new RegExp(`^waka_${UUID_V4}$`))
  t.equal(second.body.expires_at.slice(0, 10), days(1))
  const { secret: _, ...listed } = second.body
  t.same((await cyd.get('/api/me/keys')).body, {
    keys: [listed, { id, ...rest, created_at, expires_at }],
  })
  t.same((await ada.get('/api/me/keys')).body, { keys: [] }, 'others have their own list')
  t.same(outcome(await ada.delete(`/api/me/keys/${id}`)), [404, 'key_not_found'])
  t.equal((await withKey(service, secret).get('/api/projects')).status, 200)
  t.same((await cyd.delete(`/api/me/keys/${id}`)).body, { ok: true })
  t.same((await cyd.delete(`/api/me/keys/${id}`)).body, { ok: true }, 'again changes nothing')
  t.same(outcome(await withKey(service, secret).get('/api/projects')), [401, 'token_revoked'])
  t.same((await cyd.get('/api/me/keys')).body, { keys: [listed] })
})

t.test('the list shows the day each key was last used', async (t) => {
  const { id, secret } = await ownKey(ada, ['settings:read'])
  const lastUse = async () => {
    const { body } = await ada.get('/api/me/keys')
    return body.keys.find((key: { id: string }) => key.id === id).last_used_day
  }
  t.equal(await lastUse(), null)
  t.equal((await withKey(service, secret).get('/api/projects')).status, 200)
  t.equal(await lastUse(), today)
  await service.database.write.statement(
    `update access_keys set last_used_day = last_used_day - 3 where id = $1::uuid`,
    [id],
  )
  // A cached key is forgotten within seconds.
  await until(async () => {
    await withKey(service, secret).get('/api/projects')
    return (await lastUse()) === today
  }, 'the use of a later day is noted')
})

t.test('a key needs a name, scopes allowed for its kind, and an expiry', async (t) => {
  const { id } = await service.workspace(ada)
  const body = { name: 'x', scopes: ['settings:read'] }
  const bad = [
    { ...body, scopes: [] },
    { ...body, scopes: ['everything'] },
    { ...body, name: '' },
    { ...body, name: ' ' },
    { ...body, name: 'x'.repeat(101) },
    { ...body, expires_in_days: 0 },
    { ...body, expires_in_days: 731 },
    { ...body, user_id: id },
    { name: 'x' },
  ]
  for (const path of ['/api/me/keys', `${team}/${id}/keys`]) {
    for (const given of bad)
      t.same(outcome(await ada.post(path, given)), [400, 'validation_failed'], JSON.stringify(given))
    for (const given of [
      { ...body, name: 'x'.repeat(100), expires_in_days: 730 },
      { ...body, expires_in_days: 1 },
    ])
      t.equal((await ada.post(path, given)).status, 201, JSON.stringify(given))
  }
  for (const scope of ['settings:read', 'settings:write', 'counts:write', 'dashboard:read']) {
    const given = { name: 'x', scopes: ['activity:write', scope] }
    t.hasStrict((await ada.post('/api/me/keys', given)).body, {
      code: 'validation_failed',
      errors: [{ path: '/body/scopes' }],
    })
  }
  for (const scope of ['activity:read', 'activity:write']) {
    const given = { name: 'x', scopes: [scope] }
    t.same(outcome(await ada.post(`${team}/${id}/keys`, given)), [400, 'validation_failed'], scope)
  }
})

t.test(
  'a person and a workspace can have at most 20 active keys, even with concurrent requests',
  async (t) => {
    const dan = await service.signIn('dan')
    const { id } = await service.workspace(dan)
    const paths = ['/api/me/keys', `${team}/${id}/keys`]
    for (const path of paths) {
      const body = { name: 'one of many', scopes: ['settings:read'] }
      const replies = await Promise.all(
        Array.from({ length: 25 }, () => retryWhileUnavailable(() => dan.post(path, body))),
      )
      const statuses = replies.map(({ status }) => status).sort()
      t.same(statuses, [...Array(20).fill(201), ...Array(5).fill(409)], path)
      t.same(outcome(await dan.post(path, body)), [409, 'key_limit'])
      const { keys } = (await dan.get(path)).body
      t.equal(keys.length, 20)
      await dan.delete(`${path}/${keys[0].id}`)
      await service.database.write.statement(
        `update key_secrets set expires_at = now() - interval '1 second' where key_id = $1::uuid`,
        [keys[1].id],
      )
      t.equal((await dan.post(path, body)).status, 201, 'a revoked key does not count')
      t.equal((await dan.post(path, body)).status, 201, 'an expired key does not count')
      t.same(outcome(await dan.post(path, body)), [409, 'key_limit'])
    }
  },
)

t.test('unknown, revoked and expired keys get different errors for 400 days after they end', async (t) => {
  t.same(outcome(await withKey(service, UNKNOWN).get('/api/projects')), [401, 'token_invalid'])
  const [expired, revoked] = [await ownKey(bob, ['settings:read']), await ownKey(bob, ['settings:read'])]
  const age = (column: string, id: string, days: number) =>
    service.database.write.statement(
      `update key_secrets set ${column} = now() - make_interval(days => $2::int, secs => 1) where key_id = $1::uuid`,
      [id, days],
    )
  await age('expires_at', expired.id, 0)
  await bob.delete(`/api/me/keys/${revoked.id}`)
  const responses = async () => [
    outcome(await withKey(service, expired.secret).get('/api/projects')),
    outcome(await withKey(service, revoked.secret).get('/api/projects')),
  ]
  const known = [
    [401, 'token_expired'],
    [401, 'token_revoked'],
  ]
  t.same(await responses(), known)
  for (const [column, { id }] of [
    ['expires_at', expired],
    ['revoked_at', revoked],
  ] as const)
    await age(column, id, 399)
  await service.app.housekeeping.run()
  t.same(await responses(), known)
  for (const [column, { id }] of [
    ['expires_at', expired],
    ['revoked_at', revoked],
  ] as const)
    await age(column, id, 400)
  await service.app.housekeeping.run()
  t.same(await responses(), [
    [401, 'token_invalid'],
    [401, 'token_invalid'],
  ])
  const rows = await service.database.hot.statement('select id from access_keys where id = any($1::uuid[])', [
    [expired.id, revoked.id],
  ])
  t.same(rows, [], 'the rest of a key goes with its hash')
})

t.test('a key works only in the header and signs no one in or out', async (t) => {
  const eve = await service.signIn('eve')
  const { secret } = await ownKey(eve, ['settings:read'])
  const key = withKey(service, secret)
  const asCookie = { Cookie: `svc_token=${secret}`, 'Sec-Fetch-Site': 'same-origin' }
  t.same(outcome(await service.request('GET', '/api/projects', { headers: asCookie })), [
    401,
    'token_invalid',
  ])
  for (const body of [undefined, { everywhere: true }]) {
    const reply = await key.post('/api/auth/logout', body)
    hasProperties(t, reply, { status: 403, body: { code: 'scope_missing', scope: null } })
  }
  t.equal((await withKey(service, UNKNOWN).post('/api/auth/logout')).status, 200, 'a bad token signs out')
  t.equal((await eve.get('/api/me')).status, 200)
  t.equal((await eve.post('/api/auth/logout', { everywhere: true })).status, 200)
  t.same(outcome(await eve.get('/api/me')), [401, 'token_revoked'])
  t.equal((await key.get('/api/projects')).status, 200, 'signing out everywhere leaves keys alone')
})

t.test('a person’s key always has the person’s current role', async (t) => {
  const [admin, member] = await service.signInAll('frank', 'grace')
  const { id } = await service.workspace(admin, { patterns: ['roles/*'], members: [member] })
  await admin.push('roles/app', { 'ext.a': 1 })
  const { secret } = await ownKey(member, [
    'settings:read',
    'settings:write',
    'counts:write',
    'dashboard:read',
  ])
  const key = withKey(service, secret)
  const push = () =>
    key.request('PUT', '/api/settings/roles/app', {
      body: { settings: { 'ext.a': 2 } },
      headers: { 'X-Repohost-Token': member.repohostToken },
    })
  const calls = {
    pull: () => key.get('/api/settings/roles/app'),
    settings: () => key.get(`${team}/${id}/settings`),
    patch: () => key.patch(`${team}/${id}/settings`, { idle_window_minutes: 7 }),
    push,
    counts: () => key.post('/api/team/commits', { workspace: id, day: today, members: [] }),
    dashboard: () => key.get(`/api/team/dashboard?workspace=${id}`),
  }
  const statuses = async () => {
    const found: Record<string, number> = {}
    for (const [name, call] of Object.entries(calls)) found[name] = (await call()).status
    return found
  }
  const asMember = { pull: 200, settings: 200, patch: 403, push: 403, counts: 403, dashboard: 403 }
  const asAdmin = { pull: 200, settings: 200, patch: 200, push: 200, counts: 200, dashboard: 200 }
  t.same(await statuses(), asMember)
  await admin.patch(`${team}/${id}/members`, { login: 'grace', role: 'admin' })
  t.same(await statuses(), asAdmin)
  t.equal((await calls.pull()).body.updated_by, 'grace', 'the push is the person’s')
  const audit = (await admin.get(`${team}/${id}/audit`)).body.entries[0]
  hasProperties(t, audit, { actor: 'grace', action: 'settings.pushed' })
  await admin.patch(`${team}/${id}/members`, { login: 'grace', role: 'member' })
  t.same(await statuses(), asMember, 'the key itself is not revoked')
  await admin.delete(`${team}/${id}/members?login=grace`)
  const gone = { pull: 403, settings: 404, patch: 404, push: 409, counts: 404, dashboard: 404 }
  t.same(await statuses(), gone)
})

t.test('a workspace key reaches only its workspace and doesn’t need a person', async (t) => {
  const hal = await service.signIn('hal')
  const { id } = await service.workspace(hal, { patterns: ['shared/*'] })
  const { id: other } = await service.workspace(hal, { name: 'Other', patterns: ['shared/*', 'else/*'] })
  await hal.put(`${team}/${id}/project-settings/shared/app`, { settings: { 'ext.a': 1 } })
  await hal.put(`${team}/${other}/project-settings/else/app`, { settings: { 'ext.a': 2 } })
  await hal.request('PUT', `/api/settings/shared/app?workspace=${other}`, {
    body: { settings: { 'ext.secret': 1 } },
    headers: { 'X-Repohost-Token': hal.repohostToken },
  })
  const { secret } = await workspaceKey(hal, id, [
    'settings:read',
    'settings:write',
    'counts:write',
    'dashboard:read',
  ])
  const key = withKey(service, secret)
  const counts = (workspace: string) => ({ workspace, day: today, members: [] })
  for (const [workspace, status] of [
    [id, 200],
    [id.toUpperCase(), 200],
    [other, 404],
    ['0193a0c2-7d55-7cc1-9c5e-6a1f2b3c4d5e', 404],
  ] as const) {
    const replies = [
      await key.get(`${team}/${workspace}/settings`),
      await key.get(`${team}/${workspace}/patterns`),
      await key.get(`${team}/${workspace}/project-settings`),
      await key.patch(`${team}/${workspace}/settings`, { settings: { 'ext.b': 1 } }),
      await key.post('/api/team/commits', counts(workspace)),
      await key.post('/api/team/closed-issues', counts(workspace)),
      await key.get(`/api/team/dashboard?workspace=${workspace}`),
    ]
    for (const reply of replies)
      t.same(outcome(reply), [status, status === 404 ? 'workspace_not_found' : undefined])
  }
  const { body: projects } = await key.get('/api/projects')
  t.same(
    projects.projects.map((project: Record<string, string>) => [project.workspace_id, project.repo]),
    [[id, 'app']],
  )
  t.equal((await hal.get('/api/projects')).body.projects.length, 3)
  const config = await key.get('/api/team/effective-config?repo=shared/app')
  hasProperties(t, config.body, { workspace_id: id, also_matched: [], settings: { 'ext.b': 1, 'ext.a': 1 } })
  const asHal = await hal.get(`/api/team/effective-config?repo=shared/app&workspace=${id}`)
  t.same(asHal.body.also_matched, [other], 'of which the person would know')
  t.same(outcome(await key.get('/api/settings/shared/app')), [404, 'never_synced'])
  t.equal((await hal.get('/api/settings/shared/app')).status, 200)
  for (const path of [
    '/api/settings/else/app',
    '/api/settings/hal/dotfiles',
    '/api/settings/else/app/versions',
  ])
    t.same(outcome(await key.get(path)), [403, 'not_a_member'], path)
  t.same(outcome(await key.get('/api/team/effective-config?repo=else/app')), [403, 'not_a_member'])
  for (const path of ['settings/shared/app', 'settings/shared/app/versions', 'team/effective-config'])
    t.same(
      outcome(await key.get(`/api/${path}?repo=shared/app&workspace=${other}`)),
      [404, 'workspace_not_found'],
      path,
    )
})

t.test('no key can change the privacy level', async (t) => {
  const { id } = await service.workspace(ada)
  const keys = [await ownKey(ada, ['settings:write']), await workspaceKey(ada, id, ['settings:write'])]
  for (const { secret } of keys) {
    const key = withKey(service, secret)
    const reply = await key.patch(`${team}/${id}/settings`, {
      activity_privacy: 'team',
      idle_window_minutes: 9,
    })
    hasProperties(t, reply, { status: 403, body: { code: 'scope_missing', scope: null } })
  }
  hasProperties(t, (await ada.get(`${team}/${id}/settings`)).body, {
    activity_privacy: 'named',
    idle_window_minutes: 5,
  })
})

t.test('changes and reads with a workspace key are recorded under the key’s name', async (t) => {
  const [ivy, jon] = await service.signInAll('ivy', 'jon')
  const { id } = await service.workspace(ivy, { patterns: ['rec/*'], members: [jon] })
  const scopes = ['settings:write', 'dashboard:read', 'settings:read', 'counts:write']
  const made = await workspaceKey(ivy, id, scopes, 'CI "nightly"')
  const key = withKey(service, made.secret)
  const before = Date.now()
  await key.patch(`${team}/${id}/settings`, { settings: { 'ext.a': 1 } })
  const set = await key.put(`${team}/${id}/project-settings/rec/app`, { settings: { 'ext.b': 1 } })
  t.equal(set.body.updated_by, 'key CI "nightly"')
  await key.put(`${team}/${id}/patterns`, { patterns: ['rec/*', 'more/*'] })
  const { body: listed } = await jon.get(`${team}/${id}/project-settings`)
  t.same(
    listed.overrides.map(({ updated_by }: { updated_by: string }) => updated_by),
    ['key CI "nightly"'],
  )
  const { body: trail } = await ivy.get(`${team}/${id}/audit`)
  const entries = trail.entries
    .slice(0, 4)
    .map(({ actor, action, target }: Record<string, string>) => ({ actor, action, target }))
  const actor = 'key CI "nightly"'
  t.same(entries, [
    { actor, action: 'patterns.replaced', target: null },
    { actor, action: 'override.set', target: 'rec/app' },
    { actor, action: 'workspace_settings.changed', target: null },
    { actor: 'ivy', action: 'key.created', target: 'CI "nightly"' },
  ])
  hasProperties(t, trail.entries[3].details, { id: made.id, scopes })
  await ivy.put(`${team}/${id}/project-settings/rec/app`, { settings: { 'ext.b': 2 } })
  const again = await jon.get(`${team}/${id}/project-settings`)
  t.equal(again.body.overrides[0].updated_by, 'ivy', 'the next author is a person')

  const entry = { repo: 'rec/app', day: today, minutes: 30, hours: { 0: 30 } }
  for (const caller of [ivy, jon]) await caller.post('/api/team/active-minutes', { entries: [entry] })
  const dashboard = await key.get(`/api/team/dashboard?workspace=${id}`)
  hasProperties(t, dashboard.body, { heatmap: null, totals: { active_minutes: 60 } })
  t.equal((await ivy.get(`/api/team/dashboard?workspace=${id}&member=ivy`)).body.heatmap.length, 168)
  const own = await key.get(`/api/team/dashboard?workspace=${id}&member=ivy`)
  hasProperties(t, own, { status: 200, body: { heatmap: null } }, 'not even that of the creator')
  const csv = await key.get(`/api/team/dashboard?workspace=${id}&format=csv&from=${today}&to=${today}`)
  t.same(
    csv.text.split('\n').sort(),
    [
      '',
      `${today},ivy,30,0,0`,
      `${today},jon,30,0,0`,
      'day,login,active_minutes,commits,closed_issues',
    ].sort(),
  )
  for (const person of [ivy, jon]) {
    const { body: views } = await person.get('/api/me/views')
    hasProperties(
      t,
      views.views.find(
        ({ viewer, kind }: Record<string, string>) => viewer?.startsWith('key ') && kind === 'csv',
      ),
      {
        viewer: 'key CI "nightly" (created by ivy)',
        workspace: { id },
        kind: 'csv',
      },
    )
    t.ok(JSON.parse((await person.get('/api/me/export')).text).views.length > 0)
  }
  await ivy.delete(`${team}/${id}/keys/${made.id}`)
  const [revoked] = (await ivy.get(`${team}/${id}/audit`)).body.entries
  hasProperties(t, revoked, {
    actor: 'ivy',
    action: 'key.revoked',
    target: 'CI "nightly"',
    details: { id: made.id },
  })
  t.equal((await jon.get('/api/me/views')).body.views.length > 0, true, 'a revoked key keeps its name')
  const exported = JSON.parse((await ivy.get('/api/me/export')).text)
  const [{ created_at, expires_at, revoked_at, ...exportedKey }] = exported.keys
  t.same(exportedKey, { id: made.id, workspace_id: id, name: 'CI "nightly"', scopes, last_used_day: today })
  t.ok(Date.parse(revoked_at) >= before && Date.parse(created_at) < Date.parse(expires_at))
  t.same(
    exported.overrides_written.map(({ repo }: { repo: string }) => repo),
    ['app'],
    'what ivy wrote last',
  )
  t.same(JSON.parse((await jon.get('/api/me/export')).text).keys, [])
})

t.test(
  'personal keys are recorded in the workspaces they affect, with names visible only to their owner',
  async (t) => {
    const [ora, pat] = await service.signInAll('ora', 'pat')
    await ora.push('ora/notes', {})
    const { workspaces } = (await ora.get('/api/team/me')).body
    const personal = workspaces.find((workspace: { personal: boolean }) => workspace.personal).id
    const { id } = await service.workspace(ora, { members: [pat] })
    const ofOther = await service.workspace(pat, { members: [ora] })
    const trailOf = async (caller: Caller, workspace: string) =>
      (await caller.get(`${team}/${workspace}/audit`)).body.entries
        .filter(({ action }: { action: string }) => action.startsWith('key.'))
        .map(({ actor, action, target, details }: Record<string, unknown>) => [
          actor,
          action,
          target,
          details,
        ])
    const editor = await ownKey(ora, ['activity:write'], 'my laptop')
    const script = await ownKey(ora, ['settings:read', 'settings:write'], 'my script')
    await ora.delete(`/api/me/keys/${script.id}`)
    await ora.delete(`/api/me/keys/${script.id}`)
    const details = { scopes: ['settings:read', 'settings:write'], owner: 'ora', id: script.id }
    const { expires_at } = script
    t.same(await trailOf(ora, id), [
      ['ora', 'key.revoked', null, details],
      ['ora', 'key.created', null, { ...details, expires_at }],
    ])
    t.same(await trailOf(ora, personal), [
      ['ora', 'key.revoked', 'my script', details],
      ['ora', 'key.created', 'my script', { ...details, expires_at }],
      [
        'ora',
        'key.created',
        'my laptop',
        { scopes: ['activity:write'], owner: 'ora', id: editor.id, expires_at: editor.expires_at },
      ],
    ])
    t.same(await trailOf(pat, ofOther.id), [], 'a member’s key can’t do what admins do')
  },
)

t.test('the account export lists keys that a person without a workspace created and revoked', async (t) => {
  const quinn = await service.signIn('quinn')
  t.same((await quinn.get('/api/team/me')).body.workspaces, [])
  const kept = await ownKey(quinn, ['activity:write'], 'my laptop')
  const revoked = await ownKey(quinn, ['activity:write'], 'my old laptop')
  await quinn.delete(`/api/me/keys/${revoked.id}`)
  const { keys } = JSON.parse((await quinn.get('/api/me/export')).text)
  t.strictSame(
    keys.map(({ id, name, created_at, revoked_at }: Record<string, unknown>) => ({
      id,
      name,
      created_at,
      isRevoked: revoked_at !== null,
    })),
    [
      { id: kept.id, name: 'my laptop', created_at: kept.created_at, isRevoked: false },
      { id: revoked.id, name: 'my old laptop', created_at: revoked.created_at, isRevoked: true },
    ],
  )
})

t.test('at level “team”, a workspace key sees no individuals, like an admin', async (t) => {
  const kim = await service.signIn('kim')
  const { id } = await service.workspace(kim)
  await kim.patch(`${team}/${id}/settings`, { activity_privacy: 'team' })
  const { secret } = await workspaceKey(kim, id, ['dashboard:read'])
  const key = withKey(service, secret)
  for (const login of ['kim', 'nobody'])
    t.same(
      outcome(await key.get(`/api/team/dashboard?workspace=${id}&member=${login}`)),
      [403, 'member_detail_hidden'],
      login,
    )
  hasProperties(t, (await key.get(`/api/team/dashboard?workspace=${id}`)).body, {
    heatmap: null,
    members: [],
  })
})

t.test('a workspace key never acts for a person, whatever its scopes', async (t) => {
  const noa = await service.signIn('noa')
  const { id } = await service.workspace(noa)
  const made = await workspaceKey(noa, id, ['dashboard:read'])
  await service.database.write.statement('update access_keys set scopes = $2::text[] where id = $1::uuid', [
    made.id,
    '{activity:read,activity:write}',
  ])
  const key = withKey(service, made.secret)
  const replies = [
    await key.get('/api/team/dashboard/mine'),
    await key.get(`/api/team/dashboard/mine?workspace=${id}`),
    await key.get('/api/team/active-minutes'),
    await key.post('/api/team/active-minutes', { entries: [] }),
  ]
  for (const reply of replies) t.same(outcome(reply), [403, 'scope_missing'])
})

t.test('a workspace’s keys end when their creator loses the right, and other keys stay', async (t) => {
  const [lea, max] = await service.signInAll('lea', 'max')
  const { id } = await service.workspace(lea)
  const promote = () => lea.patch(`${team}/${id}/members`, { login: 'max', role: 'admin' })
  const stays = await workspaceKey(lea, id, ['settings:read'], 'stays')
  const ends: [string, () => Promise<Reply>][] = [
    ['demoted', () => lea.patch(`${team}/${id}/members`, { login: 'max', role: 'member' })],
    ['leaves', () => max.post(`${team}/${id}/leave`)],
    ['removed', () => lea.delete(`${team}/${id}/members?login=max`)],
  ]
  for (const [name, end] of ends) {
    const invite = await lea.post(`${team}/${id}/invites`)
    await max.post('/api/team/workspaces/join', { code: invite.body.code })
    await promote()
    const made = await workspaceKey(max, id, ['settings:read'], name)
    const path = `${team}/${id}/settings`
    t.equal((await withKey(service, made.secret).get(path)).status, 200)
    t.equal((await end()).status, 200, name)
    t.same(outcome(await withKey(service, made.secret).get(path)), [401, 'token_revoked'], name)
    const { entries } = (await lea.get(`${team}/${id}/audit?limit=10`)).body
    const entry = entries.find(({ action }: { action: string }) => action === 'key.revoked')
    hasProperties(t, entry, {
      target: name,
      details: { id: made.id },
      actor: name === 'leaves' ? 'max' : 'lea',
    })
    const { keys } = (await lea.get(`${team}/${id}/keys`)).body
    t.same(
      keys.map((key: { name: string; created_by: string }) => [key.name, key.created_by]),
      [['stays', 'lea']],
    )
  }
  t.equal((await withKey(service, stays.secret).get(`${team}/${id}/settings`)).status, 200)
})

t.test('keys end with the account or workspace, and are remembered as revoked', async (t) => {
  const [ned, ola] = await service.signInAll('ned', 'ola')
  const { id } = await service.workspace(ned, { members: [ola] })
  await ned.patch(`${team}/${id}/members`, { login: 'ola', role: 'admin' })
  const own = await ownKey(ola, ['settings:read'])
  const shared = await workspaceKey(ola, id, ['settings:read', 'dashboard:read'], 'of ola')
  await ned.post('/api/team/active-minutes', { entries: [{ repo: 'acme/app', day: today, minutes: 1 }] })
  await withKey(service, shared.secret).get(`/api/team/dashboard?workspace=${id}`)
  const nedsKey = await workspaceKey(ned, id, ['settings:read'], 'of ned')
  const responses = async () => [
    outcome(await withKey(service, own.secret).get('/api/projects')),
    outcome(await withKey(service, shared.secret).get(`${team}/${id}/settings`)),
    outcome(await withKey(service, nedsKey.secret).get(`${team}/${id}/settings`)),
  ]
  const revoked = [401, 'token_revoked']
  t.same(await responses(), [
    [200, undefined],
    [200, undefined],
    [200, undefined],
  ])
  t.equal((await ola.request('DELETE', '/api/me', { body: { confirm: 'ola' } })).status, 200)
  t.same(await responses(), [revoked, revoked, [200, undefined]])
  const { entries } = (await ned.get(`${team}/${id}/audit`)).body
  const entry = entries.find(({ action }: { action: string }) => action === 'key.revoked')
  hasProperties(t, entry, { actor: 'deleted user', target: 'of ola' })
  await service.database.write.statement(`update erasures set started_at = now() - interval '1 hour'`, [])
  await service.app.jobs.erasures.run()
  const names = await service.database.hot.statement<{ name: string }>(
    'select name from access_keys where id = any($1::uuid[])',
    [[own.id, shared.id]],
  )
  t.same(names, [{ name: 'of ola' }], 'the name of a personal key goes with the account')
  const [view] = (await ned.get('/api/me/views')).body.views
  t.equal(view.viewer, 'key of ola (created by deleted user)')
  t.same(await responses(), [revoked, revoked, [200, undefined]], 'even if nothing else is left')
  t.equal((await ned.delete(`${team}/${id}`)).status, 200)
  t.same(await responses(), [revoked, revoked, revoked])
  await service.app.housekeeping.run()
  const left = await service.database.hot.statement(
    'select 1 from access_keys where workspace_id = $1::uuid',
    [id],
  )
  t.same(left, [])
  t.same(await responses(), [revoked, revoked, revoked], 'even once the workspace is gone')
})

t.test('a revocation takes effect on every instance within 5 seconds', async (t) => {
  const pat = await service.signIn('pat')
  const other = await startService(t, { beside: service })
  const { id } = await service.workspace(pat, { members: [bob] })
  await pat.patch(`${team}/${id}/members`, { login: 'bob', role: 'admin' })
  const keys = {
    revoked: await workspaceKey(pat, id, ['settings:read']),
    demoted: await workspaceKey(bob, id, ['settings:read']),
    own: await ownKey(pat, ['settings:read']),
  }
  const path = `${team}/${id}/settings`
  // The clock by which instances remember keys. It stands still, because other work could delay a test that waits.
  const { now } = performance
  t.teardown(() => Object.assign(performance, { now }))
  const since = now.call(performance)
  Object.assign(performance, { now: () => since })
  for (const { secret } of Object.values(keys)) t.equal((await withKey(other, secret).get(path)).status, 200)
  await pat.delete(`${team}/${id}/keys/${keys.revoked.id}`)
  t.equal((await withKey(other, keys.revoked.secret).get(path)).status, 200, 'it isn’t looked up each time')
  await pat.patch(`${team}/${id}/members`, { login: 'bob', role: 'member' })
  await pat.delete(`/api/me/keys/${keys.own.id}`)
  Object.assign(performance, { now: () => since + 5_000 })
  for (const [name, { secret }] of Object.entries(keys))
    t.same(outcome(await withKey(other, secret).get(path)), [401, 'token_revoked'], name)
})

t.test(
  'once a revocation has its response, no request with the key succeeds, even one in progress',
  async (t) => {
    const { app } = service
    const quin = await service.signIn('quin')
    const ends = ['revoked', 'own', 'demoted', 'deleted'] as const
    for (let round = 0; round < ends.length; round++) {
      const how = ends[round % ends.length] ?? 'revoked'
      const { id } = await service.workspace(quin, { members: [bob] })
      await quin.patch(`${team}/${id}/members`, { login: 'bob', role: 'admin' })
      const made =
        how === 'own'
          ? await ownKey(quin, ['settings:write'])
          : await workspaceKey(bob, id, ['settings:write'])
      const key = withKey(service, made.secret)
      let isOver = false
      let accepted = 0
      const late: Reply[] = []
      const odd: Reply[] = []
      const use = async (worker: number) => {
        for (let turn = 0; turn < 200; turn++) {
          const wasOver = isOver
          const reply = await key.patch(`${team}/${id}/settings`, { settings: { [`ext.k${worker}`]: turn } })
          if (reply.status === 200) accepted++
          if (reply.status === 200 && wasOver) late.push(reply)
          if (![200, 401, 403, 404].includes(reply.status)) odd.push(reply)
          if (wasOver) return
        }
      }
      // Some look-ups are under way at every moment.
      const forgetting = setInterval(() => app.sessions.accessKeys.forget(() => true), 3)
      const workers = [0, 1, 2].map(use)
      await until(() => accepted >= 5, 'the key is in use')
      const ended =
        how === 'own'
          ? await quin.delete(`/api/me/keys/${made.id}`)
          : how === 'revoked'
            ? await quin.delete(`${team}/${id}/keys/${made.id}`)
            : how === 'demoted'
              ? await quin.patch(`${team}/${id}/members`, { login: 'bob', role: 'member' })
              : await quin.delete(`${team}/${id}`)
      isOver = true
      clearInterval(forgetting)
      t.equal(ended.status, 200, how)
      await Promise.all(workers)
      t.same(late, [], how)
      t.same(odd, [], how)
      t.same(outcome(await key.get(`${team}/${id}/settings`)).slice(0, 1), [401], how)
      if (how === 'deleted') continue
      const { body } = await quin.get(`${team}/${id}/settings`)
      t.equal(body.version, 1 + accepted, `${how}: what was acknowledged is there, and nothing else`)
      if (how === 'own') continue
      const { entries } = (await quin.get(`${team}/${id}/audit?limit=500`)).body
      const byKey = entries.filter(({ actor }: { actor: string }) => actor === 'key nightly')
      t.equal(byKey.length, accepted, how)
    }
  },
)

t.test('requests with keys count towards their creator’s rate limits', async (t) => {
  const limited = await startService(t, { env: { RATE_LIMITS: 'on' } })
  const sid = await limited.signIn('sid')
  const { id } = await limited.workspace(sid)
  const { id: other } = await limited.workspace(sid)
  const remaining = ({ headers }: Reply) => Number(headers.get('ratelimit-remaining'))
  const own = withKey(limited, (await ownKey(sid, ['settings:read'])).secret)
  const session = remaining(await sid.get('/api/projects'))
  t.equal(remaining(await own.get('/api/projects')), session - 1)
  t.equal(remaining(await sid.get('/api/projects')), session - 2)
  const [one, two, elsewhere] = [
    withKey(limited, (await workspaceKey(sid, id, ['settings:read'])).secret),
    withKey(limited, (await workspaceKey(sid, id, ['settings:read'])).secret),
    withKey(limited, (await workspaceKey(sid, other, ['settings:read'])).secret),
  ]
  const before = remaining(await sid.get('/api/projects'))
  t.same(
    [
      remaining(await one.get('/api/projects')),
      remaining(await two.get('/api/projects')),
      remaining(await elsewhere.get('/api/projects')),
      remaining(await sid.get('/api/projects')),
    ],
    [before - 1, before - 2, before - 3, before - 4],
    'whatever the number of keys and workspaces',
  )
})

t.test('workspace-key requests also count towards the workspace’s rate limit', async (t) => {
  const limited = await startService(t, { env: { RATE_LIMITS: 'on', LIMITS: 'rate_per_caller=40' } })
  const [sid, tia] = await limited.signInAll('sid', 'tia')
  const { id } = await limited.workspace(sid, { members: [tia] })
  await sid.patch(`/api/team/workspaces/${id}/members`, { login: 'tia', role: 'admin' })
  const keys = [
    withKey(limited, (await workspaceKey(sid, id, ['settings:read'])).secret),
    withKey(limited, (await workspaceKey(tia, id, ['settings:read'])).secret),
  ]
  const statuses: number[] = []
  for (let n = 0; n < 21; n++) for (const key of keys) statuses.push((await key.get('/api/projects')).status)
  t.same([statuses.indexOf(429), statuses.lastIndexOf(200)], [40, 39])
  t.equal((await tia.get('/api/me')).status, 200, 'its people have requests left')
})

t.test('an address that sends many invalid keys has to wait before more are looked up', async (t) => {
  const most = 40
  const guarded = await startService(t, {
    env: { RATE_LIMITS: 'on', LIMITS: `rate_refused_keys_per_address=${most}` },
  })
  const una = await guarded.signIn('una')
  const { secret } = await ownKey(una, ['settings:read'])
  const key = withKey(guarded, secret)
  t.equal((await key.get('/api/projects')).status, 200)
  const wrong = () => withKey(guarded, `svc_${crypto.randomUUID()}`).get('/api/projects')
  const codes = new Map<string, number>()
  for (let turn = 0; turn < 4; turn++) {
    const replies = await Promise.all(Array.from({ length: 20 }, wrong))
    for (const { body } of replies) codes.set(body.code, (codes.get(body.code) ?? 0) + 1)
  }
  t.same([...codes.keys()].sort(), ['rate_limited', 'token_invalid'])
  t.ok((codes.get('token_invalid') ?? 0) <= most, `${codes.get('token_invalid')} were looked up`)
  t.equal((await key.get('/api/projects')).status, 200, 'a known key keeps working')
})

t.test('no log, response, database, backup or export contains a key’s secret', async (t) => {
  const kept = await startService(t, { env: { METRICS_PORT: '9464' } })
  const { patch } = await kept.signIn('vic')
  const vic = await kept.signIn('vic')
  const { id } = await kept.workspace(vic)
  const keys = [
    await ownKey(vic, ['settings:read', 'settings:write']),
    await ownKey(vic, ['activity:write']),
    await workspaceKey(vic, id, ['settings:write', 'dashboard:read', 'settings:read']),
  ]
  const texts: string[] = []
  for (const { secret } of keys) {
    const key = withKey(kept, secret)
    const replies = [
      await key.get('/api/projects'),
      await key.get(`/api/projects?api_key=${secret}&key=${secret}`),
      await key.get(`/api/${secret}/settings`),
      await key.patch(`${team}/${id}/settings`, { settings: { 'ext.a': 1 } }),
      await key.patch(`${team}/${id}/settings`, `{"settings": ${secret}`),
      await key.get(`/api/team/dashboard?workspace=${id}`),
      await key.get('/api/me'),
      await withKey(kept, `${secret}x`).get('/api/projects'),
      await kept.request('GET', '/api/projects', { headers: { Cookie: `svc_token=${secret}` } }),
    ]
    for (const { text, headers } of replies) texts.push(text, [...headers].join(' '))
  }
  await patch(`${team}/${id}/settings`, { settings: { 'ext.b': 1 } })
  await vic.delete(`${team}/${id}/keys/${keys[2]?.id}`)
  for (const path of [
    '/api/me/keys',
    `${team}/${id}/keys`,
    `${team}/${id}/audit`,
    '/api/me/export',
    '/api/me/views',
  ])
    texts.push((await vic.get(path)).text)
  texts.push(await kept.app.meter.registry.metrics(), kept.logs.join('\n'))
  const tables = await kept.database.hot.statement<{ name: string }>(
    `select quote_ident(relname) as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'`,
    [],
  )
  for (const { name } of tables) {
    const rows = await kept.database.hot.statement<{ row: string }>(
      `select x::text as row from ${name} x`,
      [],
    )
    texts.push(...rows.map(({ row }) => row))
  }
  const folder = await temporaryFolder(t)
  const file = join(folder, 'all.backup')
  const { ended, output } = launchProgram(t, 'src/bin/backup', onDatabase(kept.databaseUrl), [file])
  t.equal(await ended, 0, output())
  const backup = (await promisify(gunzip)(await readFile(file))).toString()
  t.ok(backup.includes('nightly'), 'the backup has the keys')
  texts.push(backup)
  const all = texts.join('\n')
  t.ok(all.includes('key.created') && all.includes('"route"'), 'looked')
  for (const { secret } of keys) {
    t.notOk(all.includes(secret), 'no secret')
    t.notOk(all.includes(secret.replace(/^\w+_/, '')), 'nor the part of it that counts')
  }
})

t.test('WakaTime tools can send a key in several ways, but not as a cookie', async (t) => {
  const uuid = '5f0c8a3e-9d1b-4c67-8a42-7e1d0b9f3c25'
  const key = `waka_${uuid}`
  const tokenOf = (authorization?: string, query: object = {}) =>
    editorTokenOf({ headers: { authorization, cookie: `svc_token=${key}` }, query } as never)
  const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`
  for (const given of [key, uuid]) {
    t.equal(tokenOf(basic(given)), key)
    t.equal(tokenOf(basic(`${given}:`)), key)
    t.equal(tokenOf(`Bearer ${given}`), key)
    t.equal(tokenOf(undefined, { api_key: given }), key)
  }
  t.equal(tokenOf('Bearer a.session.token', { api_key: key }), 'a.session.token', 'the header decides')
  t.equal(tokenOf(undefined, { api_key: [key, key] }), undefined)
  t.equal(tokenOf(), undefined, 'a cookie does not count')
  t.equal(tokenOf('Digest x'), '')
  t.equal(tokenOf(basic('ada:password')), 'ada:password', 'which is no token')
})
