import t from 'tap'
import { retryWhileUnavailable, startTeam } from './service.js'

const path = (id: string) => `/api/team/workspaces/${id}/settings`

t.test('settings start empty and are patched key by key', async (t) => {
  const { ada, bob, id } = await startTeam(t, 'bob')
  const fresh = await bob.get(path(id))
  t.match(fresh.body, { idle_window_minutes: 5, settings: {}, version: 1 })

  const first = await ada.patch(path(id), { settings: { 'ext.b': 1, 'ext.a': { x: null }, 'ext.c': [null] } })
  t.equal(first.status, 200)
  t.equal(first.body.version, 2)
  const second = await ada.patch(path(id), {
    idle_window_minutes: 15,
    settings: { 'ext.d': 'new', 'ext.b': { deep: { er: null } }, 'ext.c': null, 'ext.none': null },
  })
  t.equal(
    JSON.stringify(second.body.settings),
    '{"ext.b":{"deep":{"er":null}},"ext.a":{"x":null},"ext.d":"new"}',
    'a key that stays keeps its place; null below the first level is a value',
  )
  t.match(second.body, { idle_window_minutes: 15, version: 3 })

  const read = await bob.get(path(id))
  t.equal(read.text, second.text)
  t.equal(read.headers.get('etag'), second.headers.get('etag'))
  t.equal(read.headers.get('cache-control'), 'private, no-cache')
  t.match((await ada.get('/api/team/me')).body.workspaces[0], { idle_window_minutes: 15 })
})

t.test('a version that the caller has returns 304, and its ETag is never reused', async (t) => {
  const { ada, id } = await startTeam(t)
  const etags = new Set<string>()
  for (const value of [1, 2, 1, null]) {
    const patched = await ada.patch(path(id), { settings: { 'ext.a': value } })
    const etag = patched.headers.get('etag') ?? ''
    t.match(etag, /^"[^"]+"$/)
    etags.add(etag)
    const again = await ada.get(path(id), { 'If-None-Match': `"x", W/${etag}` })
    t.equal(again.status, 304)
    t.equal(again.text, '')
    t.equal(again.headers.get('etag'), etag)
    t.equal((await ada.get(path(id), { 'If-None-Match': '"x"' })).status, 200)
  }
  t.equal(etags.size, 4)
  t.equal((await ada.get(path(id), { 'If-None-Match': '*' })).status, 304)
})

t.test('a patch that changes nothing creates no version', async (t) => {
  const { ada, id } = await startTeam(t)
  const before = await ada.patch(path(id), { idle_window_minutes: 7, settings: { 'ext.a': [1] } })
  const empty: unknown[] = [
    undefined,
    {},
    { settings: {} },
    { idle_window_minutes: 7 },
    { settings: { 'ext.a': [1], 'ext.b': null } },
  ]
  for (const body of empty) {
    const after = await ada.patch(path(id), body)
    t.equal(after.status, 200)
    t.equal(after.text, before.text, JSON.stringify(body))
  }
})

t.test('invalid patches are rejected', async (t) => {
  const { ada, id } = await startTeam(t)
  for (const body of [
    { idle_window_minutes: 0 },
    { idle_window_minutes: 16 },
    { idle_window_minutes: 5.5 },
    { idle_window_minutes: '5' },
    { idle_window_minutes: null },
    { settings: null },
    { settings: [] },
    { settings: { theme: 1 } },
    { settings: { theme: null } },
    { settings: { [`ext.${'x'.repeat(197)}`]: 1 } },
    { version: 1 },
  ]) {
    t.equal((await ada.patch(path(id), body)).status, 400, JSON.stringify(body))
  }
  t.equal((await ada.patch(path(id), { settings: { [`ext.${'x'.repeat(196)}`]: 1 } })).status, 200)
})

t.test('the merged settings have at most 262,144 bytes of UTF-8', async (t) => {
  const { ada, id } = await startTeam(t)
  const around = Buffer.byteLength(JSON.stringify({ 'ext.a': '', 'ext.b': '€' }))
  t.equal((await ada.patch(path(id), { settings: { 'ext.b': '€' } })).status, 200)
  const fill = (length: number) => ada.patch(path(id), { settings: { 'ext.a': 'x'.repeat(length) } })
  t.hasStrict((await fill(262_144 - around + 1)).body, {
    status: 413,
    code: 'settings_too_large',
    limit_bytes: 262_144,
    actual_bytes: 262_145,
  })
  t.match(await fill(262_144 - around), { status: 200, body: { version: 3 } })
  t.equal((await ada.patch(path(id), { settings: { 'ext.c': 1 } })).status, 413)
  t.equal((await ada.patch(path(id), { settings: { 'ext.c': 1, 'ext.a': null } })).status, 200)
  // The limit is on the merged settings. The patch itself may be larger.
  const many = Object.fromEntries(Array.from({ length: 30_000 }, (_, index) => [`ext.${index}`, null]))
  t.equal((await ada.patch(path(id), { settings: many })).status, 200)
  const only = (length: number) =>
    ada.patch(path(id), {
      settings: {
        ...many,
        'ext.b': null,
        'ext.c': null,
        'ext.a': 'x'.repeat(length - '{"ext.a":""}'.length),
      },
    })
  t.hasStrict((await only(262_145)).body, { code: 'settings_too_large', actual_bytes: 262_145 })
  t.match(await only(262_144), { status: 200 })
})

t.test('a hundred concurrent patches to different keys all survive, without version gaps', async (t) => {
  const { ada, id } = await startTeam(t)
  const replies = await Promise.all(
    Array.from({ length: 100 }, (_, index) =>
      retryWhileUnavailable(() => ada.patch(path(id), { settings: { [`ext.${index}`]: index } })),
    ),
  )
  t.ok(replies.every(({ status }) => status === 200))
  const versions = replies.map(({ body }) => body.version).sort((a, b) => a - b)
  t.same(
    versions,
    Array.from({ length: 100 }, (_, index) => index + 2),
  )
  const { body } = await ada.get(path(id))
  t.equal(body.version, 101)
  t.equal(Object.keys(body.settings).length, 100)
})

t.test('a patch can require a version', async (t) => {
  const { ada, id } = await startTeam(t)
  const path = `/api/team/workspaces/${id}/settings`
  const etag = (await ada.get(path)).headers.get('etag') ?? ''
  const patch = (value: number, query = '', headers: Record<string, string> = {}) =>
    ada.request('PATCH', `${path}${query}`, { body: { settings: { 'ext.a': value } }, headers })
  const inQuery = (tag: string) => `?if_match=${encodeURIComponent(tag)}`
  const second = await patch(1, '', { 'If-Match': etag })
  t.match(second, { status: 200, body: { version: 2 } })
  const newer = second.headers.get('etag') ?? ''
  const conflict = { status: 412, body: { code: 'version_conflict', current_version: 2 } }
  t.hasStrict(await patch(2, '', { 'If-Match': etag }), conflict)
  t.hasStrict(await patch(2, inQuery(etag)), conflict)
  t.hasStrict(await patch(2, inQuery(newer), { 'If-Match': etag }), conflict)
  t.hasStrict(await patch(2, inQuery(etag), { 'If-Match': newer }), conflict)
  t.hasStrict(await patch(2, '?if_none_match=*'), conflict, 'there always is something')
  t.match((await ada.get(path)).body, { version: 2, settings: { 'ext.a': 1 } })
  t.match(await patch(2, inQuery(newer)), { status: 200, body: { version: 3 } })
  t.match(await patch(3, '?if_match=*'), { status: 200, body: { version: 4 } })

  const current = (await ada.get(path)).headers.get('etag') ?? ''
  const replies = await Promise.all(Array.from({ length: 10 }, (_, n) => patch(10 + n, inQuery(current))))
  t.same(replies.map(({ status }) => status).sort(), [200, ...Array(9).fill(412)], 'one of many wins')
})
