import { setTimeout } from 'node:timers/promises'
import fc from 'fast-check'
import t from 'tap'
import { limits } from '../schemas/limits.js'
import { locksOfUsers, locksOfWorkspaces } from '../src/platform/database/locks.js'
import { hasProperties } from './has-properties.js'
import { whileHeld } from './locks.js'
import { type Caller, reuseService, type Service, startService } from './service.js'

const team = '/api/team/workspaces'

const setScene = async (service: Service, patterns = ['acme/*']) => {
  const [ada, bob] = await service.signInAll('ada', 'bob')
  const { id } = await service.workspace(ada, { members: [bob], patterns })
  const at = `${team}/${id}`
  return { ada, bob, at, id, path: `${at}/configuration` }
}

/** A hash of each table's rows, for tables that a configuration change writes. */
const hashRows = async ({ database }: Service): Promise<string[]> => {
  const tables = [
    'workspaces',
    'workspace_settings_versions',
    'patterns',
    'overrides',
    'override_versions',
    'audit_entries',
  ]
  return Promise.all(
    tables.map(async (table) => {
      const [row] = await database.hot.statement<{ hash: string }>(
        `select md5(coalesce(string_agg(x::text, ',' order by x::text), '')) as hash from ${table} x`,
        [],
      )
      return `${table} ${row?.hash}`
    }),
  )
}

const etagOf = async (caller: Caller, path: string) => (await caller.get(path)).headers.get('etag') ?? ''

t.test('the configuration is read and replaced as one resource', async (t) => {
  const service = await reuseService(t)
  const { ada, bob, at, path } = await setScene(service)
  await ada.push('acme/api', { 'ext.a': 1 })
  const first = await bob.get(path)
  t.same(first.body, {
    settings: {},
    locked: [],
    merged: [],
    idle_window_minutes: 5,
    patterns: ['acme/*'],
    projects: {},
  })
  const etag = first.headers.get('etag') ?? ''
  t.equal((await bob.get(path, { 'If-None-Match': etag })).status, 304)

  const body = {
    settings: { 'ext.b': 2, 'ext.a': 1 },
    locked: ['ext.b'],
    merged: ['ext.a'],
    idle_window_minutes: 7,
    patterns: ['acme/*', 'other/web'],
    projects: { 'Other/Web': { settings: { 'ext.a': null, 'ext.c': [1] } } },
    reason: 'Start',
  }
  const changes = [
    { scope: 'workspace', key: 'ext.a', before: null, after: 1 },
    { scope: 'workspace', key: 'ext.b', before: null, after: 2 },
    { scope: 'workspace', key: 'locked', before: [], after: ['ext.b'] },
    { scope: 'workspace', key: 'merged', before: [], after: ['ext.a'] },
    { scope: 'workspace', key: 'idle_window_minutes', before: 5, after: 7 },
    { scope: 'workspace', key: 'patterns', before: ['acme/*'], after: ['acme/*', 'other/web'] },
    { scope: 'Other/Web', key: 'ext.a', before: null, after: null, hides: 'after' },
    { scope: 'Other/Web', key: 'ext.c', before: null, after: [1] },
  ]
  const response = { changes, warnings: [], affected: { repositories: 2, people: 2 } }
  const dry = await ada.put(`${path}?dry_run=true`, body)
  t.same(dry.body, { ...response, etag })
  t.equal((await bob.get(path)).text, first.text, 'a dry run changes nothing')

  const done = await ada.request('PUT', path, { body, headers: { 'If-Match': etag } })
  const now = await bob.get(path)
  t.same(done.body, { ...response, etag: now.headers.get('etag') })
  t.equal(done.headers.get('etag'), now.headers.get('etag'))
  const { reason: _, ...stored } = body
  t.same(now.body, stored)
  hasProperties(t, await ada.put(path, stored), {
    body: { changes: [], affected: { repositories: 0, people: 0 } },
  })
  t.equal(await etagOf(bob, path), done.body.etag)

  const { entries } = (await ada.get(`${at}/audit`)).body
  t.same(
    entries
      .slice(0, 3)
      .map(({ action, target, details }: Record<string, { reason: string }>) => [
        action,
        target,
        details?.reason,
      ]),
    [
      ['override.set', 'Other/Web', 'Start'],
      ['patterns.replaced', null, 'Start'],
      ['workspace_settings.changed', null, 'Start'],
    ],
  )
  const reasons = async (route: string) =>
    (await ada.get(`${at}/${route}/versions`)).body.versions.map(({ reason }: { reason: string }) => reason)
  t.same(await reasons('settings'), ['Start', null])
  t.same(await reasons('project-settings/other/web'), ['Start'])
  t.equal((await ada.put(`${at}/project-settings/other/web`, { settings: { 'ext.c': 2 } })).body.version, 2)
  await ada.put(path, { projects: { 'other/web': { settings: { 'ext.c': 3 } } } })
  t.same((await ada.get(`${at}/project-settings/other/web/versions`)).body.versions.length, 3)
  const removed = await ada.put(path, { projects: {} })
  t.same(removed.body.changes, [{ scope: 'Other/Web', key: 'ext.c', before: 3, after: null }])
  t.equal((await ada.get(`${at}/project-settings/other/web`)).status, 404)
})

t.test('an omitted section is kept, and removing a key also removes its lock', async (t) => {
  const service = await reuseService(t)
  const { ada, path } = await setScene(service)
  const all = {
    settings: { 'ext.a': 1, 'ext.b': 2 },
    locked: ['ext.a', 'ext.b'],
    merged: [],
    idle_window_minutes: 3,
    patterns: ['acme/*', 'old/*'],
    projects: { 'acme/web': { settings: {} }, 'old/web': { settings: { 'ext.c': 1 } } },
  }
  await ada.put(path, all)
  await ada.put(path, {})
  t.same((await ada.get(path)).body, all)
  t.same((await ada.put(path, { settings: { 'ext.b': 2 } })).body.changes, [
    { scope: 'workspace', key: 'ext.a', before: 1, after: null },
    { scope: 'workspace', key: 'locked', before: ['ext.a', 'ext.b'], after: ['ext.b'] },
  ])
  // Settings from before a lock or a pattern changed can be applied again.
  const outside = await ada.put(path, { patterns: ['acme/*'] })
  t.same(outside.body.affected, { repositories: 1, people: 2 })
  await ada.put(path, { settings: { 'ext.b': 2, 'ext.c': 1 }, locked: ['ext.c'] })
  const pulled = (await ada.get(path)).body
  t.same((await ada.put(path, pulled)).body.changes, [])
  const changed = { ...pulled, projects: { ...pulled.projects, 'old/web': { settings: { 'ext.d': 1 } } } }
  t.hasStrict(await ada.put(path, changed), { status: 422, body: { code: 'repo_outside_patterns' } })
  const locked = { projects: { ...pulled.projects, 'acme/web': { settings: { 'ext.c': 1 } } } }
  hasProperties(t, await ada.put(path, locked), {
    status: 422,
    body: { code: 'key_locked', keys: ['ext.c'] },
  })
  t.match((await ada.put(path, locked)).body.detail, /acme\/web/)
  t.same((await ada.get(path)).body, pulled, 'all or nothing')
})

t.test('errors include the section and the key', async (t) => {
  const service = await reuseService(t)
  const { ada, path } = await setScene(service)
  const at = async (body: object) => {
    const { status, body: problem } = await ada.put(path, body)
    return [status, problem.code, problem.errors?.[0]?.path]
  }
  const wrong = (path: string) => [400, 'validation_failed', path]
  const project = (settings: unknown) => ({ projects: { 'acme/web': { settings } } })
  t.same(await at({ settings: { other: 1 } }), wrong('/body/settings/other'))
  t.same(await at({ settings: { 'ext.a': null } }), wrong('/body/settings/ext.a'))
  t.same(await at({ locked: ['ext.a'] }), wrong('/body/locked/0'))
  t.same(await at({ patterns: ['acme'] }), wrong('/body/patterns/0'))
  t.same(await at({ idle_window_minutes: 0 }), wrong('/body/idle_window_minutes'))
  t.same(await at({ activity_privacy: 'named' }), wrong('/body/activity_privacy'))
  t.same(await at({ projects: { acme: { settings: {} } } }), wrong('/body/projects/acme'))
  t.same(await at({ projects: { 'acme/web': {} } }), wrong('/body/projects/acme~1web/settings'))
  t.same(await at(project({ other: 1 })), wrong('/body/projects/acme~1web/settings/other'))
  t.same(
    await at({ projects: { 'acme/web': { settings: {} }, 'Acme/Web': { settings: {} } } }),
    wrong('/body/projects/Acme~1Web'),
  )
  const large = { 'ext.a': 'x'.repeat(262_144) }
  t.same(await at({ settings: large }), [413, 'settings_too_large', undefined])
  hasProperties(t, await ada.put(path, project(large)), {
    status: 413,
    body: { code: 'settings_too_large', limit_bytes: 262_144, actual_bytes: 262_156 },
  })
  t.equal((await ada.put(path, { reason: 'x'.repeat(201) })).status, 400)
})

t.test('of several errors, the first in a fixed order is reported, also by a dry run', async (t) => {
  const service = await startService(t, { env: { LIMITS: 'patterns_per_person=1' } })
  const { ada, path } = await setScene(service)
  await ada.put(path, { settings: { 'ext.a': 1 }, locked: ['ext.a'] })
  const { body: before } = await ada.get(path)
  const etag = await etagOf(ada, path)
  const override = { settings: { 'ext.a': 2 } }
  const inside = { 'acme/web': override }
  const steps: [code: string, etag: string, body: object][] = [
    ['version_conflict', '"other"', { locked: ['ext.b'], projects: { ...inside, 'other/web': override } }],
    ['validation_failed', etag, { locked: ['ext.b'], projects: { ...inside, 'other/web': override } }],
    ['repo_outside_patterns', etag, { projects: { ...inside, 'other/web': override } }],
    ['key_locked', etag, { projects: inside }],
    ['workspace_limit', etag, { projects: { 'acme/web': { settings: { 'ext.b': 2 } } } }],
  ]
  for (const query of ['?dry_run=true', ''])
    for (const [code, etag, sections] of steps) {
      const body = { patterns: ['acme/*', 'beta/*'], ...sections }
      const reply = await ada.request('PUT', path + query, { body, headers: { 'If-Match': etag } })
      t.equal(reply.body.code, code, query)
    }
  t.same((await ada.get(path)).body, before)
})

t.test('of 20 concurrent jobs one wins, and the others get the current version', async (t) => {
  const service = await reuseService(t)
  const { ada, at, path } = await setScene(service)
  const etag = await etagOf(ada, path)
  const key = (await ada.post(`${at}/keys`, { name: 'ci', scopes: ['settings:write'] })).body.secret
  const headers = { Authorization: `Bearer ${key}`, 'If-Match': etag }
  const replies = await Promise.all(
    Array.from({ length: 20 }, (_, job) =>
      service.request('PUT', path, { body: { settings: { 'ext.job': job } }, headers }),
    ),
  )
  t.same(replies.map(({ status }) => status).sort(), [200, ...Array(19).fill(412)])
  const lost = replies
    .filter(({ status }) => status === 412)
    .map(({ body }) => [body.code, body.current_version])
  t.same(lost, Array(19).fill(['version_conflict', 2]))
  const won = replies.findIndex(({ status }) => status === 200)
  t.same((await ada.get(path)).body.settings, { 'ext.job': won })
  t.equal((await ada.get(`${at}/settings/versions`)).body.versions[0].created_by, 'key ci')
  const query = `${path}?if_match=${encodeURIComponent(etag)}`
  t.equal((await ada.put(query, { settings: {} })).status, 412)
  t.equal((await ada.put(`${query}&dry_run=true`, { settings: {} })).status, 412)
})

t.test('a configuration at the limits is read and replaced without blocking other requests', async (t) => {
  const service = await reuseService(t)
  const { ada, path } = await setScene(service)
  const keys = Array.from({ length: 4_000 }, (_, n) => `ext.key${n}`)
  const write = (mark: string) => ({
    settings: Object.fromEntries(keys.map((key) => [key, mark])),
    locked: keys.slice(0, 2_000),
    merged: keys.slice(2_000),
    idle_window_minutes: 15,
    patterns: ['acme/*', ...Array.from({ length: 49 }, (_, n) => `acme/*a*${n}*`)],
    projects: Object.fromEntries([
      ...Array.from({ length: 1_000 }, (_, n) => [`acme/small-${n}`, { settings: { 'ext.one': mark } }]),
      ...Array.from({ length: 4 }, (_, n) => [
        `acme/large-${n}`,
        { settings: { 'ext.text': mark.repeat(limits.settings_bytes - '{"ext.text":""}'.length) } },
      ]),
      ['acme/wide', { settings: Object.fromEntries(keys.map((key) => [`ext.w${key.slice(4)}`, mark])) }],
    ]),
  })
  for (const [mark, changes] of [
    ['a', 9_008],
    ['b', 9_004],
  ] as const) {
    const wanted = write(mark)
    const tried = await ada.put(`${path}?dry_run=true`, wanted)
    const done = await ada.put(path, wanted)
    t.same([tried.status, done.status, done.body.changes.length], [200, 200, changes])
    t.same(done.body.changes, tried.body.changes)
    t.same((await ada.get(path)).body, wanted)
  }
  const tooLong = { ...write('c'), patterns: [`acme/${'x'.repeat(7 * limits.settings_bytes)}`] }
  hasProperties(t, await ada.put(path, tooLong), { status: 400, body: { code: 'validation_failed' } })
})

t.test('changes of many overrides run one at a time, and others don’t wait for them', async (t) => {
  const service = await reuseService(t)
  const { ada, path } = await setScene(service)
  const [eve] = await service.signInAll('eve')
  const { id } = await service.workspace(eve)
  const { database } = service.app
  const { transaction } = database
  const settings = { 'ext.a': 'x'.repeat(limits.settings_bytes - 20) }
  const names = ['web', 'docs', 'infra', 'api', 'site', 'app']
  const projects = Object.fromEntries(names.map((name) => [`acme/${name}`, { settings }]))
  const put = async (body: object) => {
    const replies = await Promise.all([ada.put(path, body), eve.put(`${team}/${id}/configuration`, body)])
    for (const { status } of replies) t.equal(status, 200)
  }
  let [running, most] = [0, 0]
  t.teardown(() => {
    database.transaction = transaction
  })
  database.transaction = async (work, options) => {
    // Jobs run beside requests.
    if (options?.background) return transaction(work, options)
    most = Math.max(most, ++running)
    await setTimeout(100)
    return transaction(work, options).finally(() => running--)
  }
  await put({ projects })
  await put({ projects: {} })
  t.equal(most, 1)
  await put({ projects: {} })
  t.equal(most, 2)
})

t.test(
  'reordering keys within a language block is not a change, in the response and in the audit trail',
  async (t) => {
    const service = await reuseService(t)
    const { ada, at, path } = await setScene(service)
    const both = (settings: object) => ({ settings, projects: { 'acme/web': { settings } } })
    await ada.put(path, both({ '[json]': { 'ext.a': 1, 'ext.b': 2 }, 'ext.y': 1 }))
    const { changes } = (await ada.put(path, both({ '[json]': { 'ext.b': 2, 'ext.a': 1 }, 'ext.y': 2 }))).body
    t.strictSame(
      changes.map(({ scope, key }: { scope: string; key: string }) => [scope, key]),
      [
        ['workspace', 'ext.y'],
        ['acme/web', 'ext.y'],
      ],
    )
    const { entries } = (await ada.get(`${at}/audit`)).body
    t.strictSame(
      entries.slice(0, 2).map(({ details }: { details: { changed: string[] } }) => details.changed),
      [['ext.y'], ['ext.y']],
    )
  },
)

t.test('a dry run neither waits for workspace changes nor blocks them', async (t) => {
  const service = await reuseService(t)
  const { ada, id, path } = await setScene(service)
  const userId = (await ada.get('/api/me')).body.id
  const locks: [number, string][] = [
    [locksOfWorkspaces.administration, id],
    [locksOfWorkspaces.quota, id],
    [locksOfUsers.patterns, userId],
  ]
  const body = {
    settings: { 'ext.a': 1 },
    patterns: ['acme/*', 'other/*'],
    projects: { 'acme/web': { settings: { 'ext.b': 1 } } },
  }
  for (const [lock, key] of locks) {
    const statement = `select pg_advisory_xact_lock(${lock}, hashtext($1::uuid::text))`
    await whileHeld(service, [statement, key], async () => {
      t.equal((await ada.put(`${path}?dry_run=true`, body)).status, 200)
    })
  }
})

t.test(
  'a dry run compares with one state, even if someone changes the configuration while it runs',
  async (t) => {
    const service = await reuseService(t)
    const { ada, bob, path } = await setScene(service)
    const { database } = service.app
    const { transaction } = database
    t.teardown(() => {
      database.transaction = transaction
    })
    const stateOf = (value: number) => ({
      settings: { 'ext.a': value },
      projects: { 'acme/web': { settings: { 'ext.b': value } } },
    })
    const { etag } = (await ada.put(path, stateOf(1))).body
    database.transaction = (work, options) =>
      transaction(async (tx) => {
        const { rows } = tx
        tx.rows = (async (statement, parameters) => {
          if (statement.name === 'list workspace overrides') {
            database.transaction = transaction
            t.equal((await ada.put(path, stateOf(2))).status, 200)
          }
          return rows.call(tx, statement, parameters)
        }) as typeof rows
        return work(tx)
      }, options)
    const dry = await ada.put(`${path}?dry_run=true`, stateOf(1))
    t.same(dry.body, { changes: [], warnings: [], affected: { repositories: 0, people: 0 }, etag })
    t.same((await bob.get(path)).body.projects, stateOf(2).projects)
  },
)

t.test('a read-only key can do a dry run but not apply it', async (t) => {
  const service = await reuseService(t)
  const { ada, at, path } = await setScene(service)
  const key = (await ada.post(`${at}/keys`, { name: 'pr', scopes: ['settings:read'] })).body.secret
  const put = (query: string) =>
    service.request('PUT', `${path}${query}`, {
      body: { settings: { 'ext.a': 1 } },
      headers: { Authorization: `Bearer ${key}` },
    })
  t.equal((await put('?dry_run=true')).status, 200)
  for (const query of ['', '?dry_run=false', '?dry_run=True', '?dry_run=true&dry_run=true'])
    hasProperties(t, await put(query), {
      status: 403,
      body: { code: 'scope_missing', scope: 'settings:write' },
    })
  t.same((await ada.get(path)).body.settings, {})
})

t.test('any configuration is read back as written, and a change matches its dry run', async (t) => {
  const service = await reuseService(t)
  const { ada, path } = await setScene(service, [])
  const key = fc.constantFrom('ext.a', 'ext.b', 'ext.ä"/~', 'ext.toString')
  const value = fc.oneof(
    fc.integer({ min: 0, max: 3 }),
    fc.string({ unit: 'grapheme', maxLength: 3 }).filter((text) => !text.includes('\0')),
    fc.constantFrom([], [null], {}, { b: 1, a: null }),
  )
  const settings = fc.dictionary(key, value)
  const configuration = fc
    .record({
      settings,
      idle_window_minutes: fc.integer({ min: 1, max: 15 }),
      patterns: fc.uniqueArray(fc.constantFrom('other/*', 'third/web', 'fourth/w*b')),
      projects: fc.dictionary(
        fc.constantFrom('acme/web', 'acme/api', 'acme/__proto', 'Acme/x.y'),
        fc.record({
          settings: fc.dictionary(
            fc.constantFrom('over.a', 'ext.o', 'ext.p').map((one) => one.replace('over', 'ext')),
            fc.oneof(value, fc.constant(null)),
          ),
        }),
      ),
    })
    .chain((one) =>
      fc.subarray(Object.keys(one.settings).filter((name) => !['ext.a'].includes(name))).map((locked) => ({
        ...one,
        locked,
        merged: Object.keys(one.settings).filter((name) => !locked.includes(name)),
        patterns: ['acme/*', ...one.patterns],
      })),
    )
  const pulled = async () => (await ada.get(path)).body
  await fc.assert(
    fc.asyncProperty(configuration, configuration, async (one, other) => {
      for (const wanted of [one, other, other]) {
        const before = await ada.get(path)
        const rows = await hashRows(service)
        const dry = await ada.put(`${path}?dry_run=true`, wanted)
        const after = await ada.get(path)
        t.same(await hashRows(service), rows, 'a dry run writes no row')
        const done = await ada.put(path, wanted)
        const { etag: _, ...said } = dry.body
        const { etag: __, ...did } = done.body
        t.same([dry.status, done.status, did, after.text], [200, 200, said, before.text])
        t.same(await pulled(), wanted)
        t.equal(done.body.changes.length === 0, (await etagOf(ada, path)) === before.headers.get('etag'))
      }
    }),
    { numRuns: 12 },
  )
})
