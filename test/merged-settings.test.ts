/** Keys whose lists and objects an override adds to, instead of replacing them. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { temporaryFolder } from './process.js'
import { reuseService, type Service, startService } from './service.js'

const team = '/api/team/workspaces'
const WORDS = 'cSpell.words'
const EXCLUDE = 'files.exclude'
const FILES = 'files.associations'

const setScene = async (service: Service) => {
  const [ada, bob] = await service.signInAll('ada', 'bob')
  const { id } = await service.workspace(ada, { members: [bob] })
  const [below, above] = [`${team}/${id}/settings`, `${team}/${id}/project-settings/acme/api`]
  const effective = async () => {
    const { body } = await bob.get('/api/team/effective-config?repo=acme/api')
    return [body.settings, body.sources, body.merged]
  }
  return { ada, bob, id, below, above, effective, file: `${team}/${id}/configuration` }
}

const withPrefixes = (test: Parameters<typeof reuseService>[0]) =>
  reuseService(test, 'github', { EXTENSION_PREFIX: 'ext,files,cSpell' }).then(setScene)

t.test('an override adds words, excludes and associations to the workspace’s', async (t) => {
  const { ada, bob, below, above, effective } = await withPrefixes(t)
  const settings = {
    [WORDS]: ['acme', 'webhook', 'acme'],
    [EXCLUDE]: { '**/.git': true, '**/dist': true, '**/tmp': true },
    [FILES]: { '*.tpl': 'html' },
    'ext.plain': ['a'],
  }
  const patched = await ada.patch(below, { settings, merged: [WORDS, EXCLUDE, FILES] })
  t.same([patched.status, patched.body.merged], [200, [WORDS, EXCLUDE, FILES]])
  t.same((await bob.get(below)).body, patched.body)
  t.same(
    await effective(),
    [
      settings,
      { [WORDS]: 'workspace', [EXCLUDE]: 'workspace', [FILES]: 'workspace', 'ext.plain': 'workspace' },
      [WORDS, EXCLUDE, FILES],
    ],
    'nothing is combined without an override',
  )

  const override = {
    'ext.plain': ['b'],
    [WORDS]: ['postgres', 'webhook', 'postgres', 'Acme'],
    [EXCLUDE]: { '**/dist': null, '**/coverage': true, '**/tmp': false, '**/none': null },
  }
  t.equal((await ada.put(above, { settings: override })).status, 200)
  const [merged, sources] = await effective()
  t.same(
    Object.entries(merged).map(([key, value]) => [key, JSON.stringify(value)]),
    [
      [WORDS, '["acme","webhook","acme","postgres","Acme"]'],
      [EXCLUDE, '{"**/.git":true,"**/tmp":false,"**/coverage":true}'],
      [FILES, '{"*.tpl":"html"}'],
      ['ext.plain', '["b"]'],
    ],
    'new names come last, and repeated items are dropped',
  )
  t.same(sources, { [WORDS]: 'merged', [EXCLUDE]: 'merged', [FILES]: 'workspace', 'ext.plain': 'project' })
  t.same((await ada.get(above)).body.settings, override, 'the override stays as it was written')

  await ada.put(above, { settings: { [WORDS]: null, [EXCLUDE]: [], [FILES]: 'none', 'ext.plain': null } })
  t.same(
    await effective(),
    [{ [EXCLUDE]: [], [FILES]: 'none' }, { [EXCLUDE]: 'project', [FILES]: 'project' }, [EXCLUDE, FILES]],
    'null unsets the key, and another type replaces it',
  )

  await ada.put(above, { settings: { [WORDS]: ['own'] } })
  await ada.patch(below, { merged: [EXCLUDE] })
  t.same((await effective())[0][WORDS], ['own'], 'a key that is no longer merged is replaced')
  const removed = await ada.patch(below, { settings: { [EXCLUDE]: null } })
  t.same(removed.body.merged, [], 'a key that is removed is no longer merged')
  await ada.patch(below, { settings: { [EXCLUDE]: { '**/.git': true } } })
  t.same((await ada.get(below)).body.merged, [], 'nor when it comes back')
})

t.test(
  'items are the same only if their names are in the same order, and merging is one level deep',
  async (t) => {
    const { ada, below, above, effective } = await withPrefixes(t)
    const settings = {
      'ext.list': [{ a: 1, b: 2 }, 1, '1', [1], null, true],
      'ext.map': { a: { x: 1, y: 2 }, b: [1], c: null },
    }
    await ada.patch(below, { settings, merged: ['ext.list', 'ext.map'] })
    const override = {
      'ext.list': [{ b: 2, a: 1 }, { a: 1, b: 2 }, 1, 1.0, '1', '01', [1], null, false],
      'ext.map': { a: { x: null }, b: [2], d: { e: null } },
    }
    await ada.put(above, { settings: override })
    t.equal(
      JSON.stringify((await effective())[0]),
      JSON.stringify({
        'ext.list': [{ a: 1, b: 2 }, 1, '1', [1], null, true, { b: 2, a: 1 }, '01', false],
        'ext.map': { a: { x: null }, b: [2], c: null, d: { e: null } },
      }),
    )
    await ada.put(above, { settings: { 'ext.list': [], 'ext.map': { a: null, b: null, c: null } } })
    t.same((await effective()).slice(0, 2), [
      { 'ext.list': settings['ext.list'], 'ext.map': {} },
      { 'ext.list': 'merged', 'ext.map': 'merged' },
    ])
  },
)

t.test('only keys of the settings that are neither locked nor blocks can be merged', async (t) => {
  const { ada, bob, below, above, file } = await withPrefixes(t)
  const settings = { 'ext.a': ['a'], 'ext.b': ['b'], '[go]': { 'ext.a': ['go'] } }
  await ada.patch(below, { settings, locked: ['ext.b'] })
  const faults = async (body: object) => {
    const [patched, put] = [await ada.patch(below, body), await ada.put(file, body)]
    t.same([patched.status, put.status], [400, 400])
    t.same(patched.body.errors, put.body.errors)
    return patched.body.errors
  }
  const NO_KEY = 'must be a key of the settings'
  t.same(await faults({ merged: ['ext.a', 'ext.none', 'ext.b', '[go]', '[x]'] }), [
    { path: '/body/merged/1', message: NO_KEY },
    { path: '/body/merged/2', message: 'must not also be locked' },
    { path: '/body/merged/3', message: 'must not be a language block' },
    { path: '/body/merged/4', message: NO_KEY },
  ])
  t.same(await faults({ merged: ['ext.a'], locked: ['ext.none', 'ext.a'] }), [
    { path: '/body/locked/0', message: NO_KEY },
    { path: '/body/merged/0', message: 'must not also be locked' },
  ])
  for (const merged of [null, 'ext.a', ['ext.a', 'ext.a'], [1], [''], { 'ext.a': true }])
    t.equal((await ada.patch(below, { merged })).status, 400, JSON.stringify(merged))
  t.equal((await bob.patch(below, { merged: ['ext.a'] })).status, 403)

  const merged = await ada.patch(below, { merged: ['ext.a'] })
  t.same([merged.status, merged.body.version], [200, 3])
  t.equal((await ada.patch(below, { merged: ['ext.a'] })).body.version, 3, 'again changes nothing')
  t.same(await faults({ locked: ['ext.b', 'ext.a'] }), [
    { path: '/body/locked/1', message: 'must not also be merged' },
  ])
  const swapped = await ada.patch(below, { locked: ['ext.a'], merged: ['ext.b'] })
  t.same([swapped.body.locked, swapped.body.merged], [['ext.a'], ['ext.b']])
  t.equal((await ada.put(above, { settings: { 'ext.a': ['x'] } })).body.code, 'key_locked')
})

t.test('a merged key doesn’t reach into language blocks', async (t) => {
  const { ada, below, above, effective } = await withPrefixes(t)
  const settings = { [WORDS]: ['acme'], '[go]': { [WORDS]: ['goroutine'], 'ext.a': 1 } }
  await ada.patch(below, { settings, merged: [WORDS] })
  await ada.put(above, { settings: { [WORDS]: ['api'], '[go]': { [WORDS]: ['channel'] } } })
  t.same(await effective(), [
    { [WORDS]: ['acme', 'api'], '[go]': { [WORDS]: ['channel'], 'ext.a': 1 } },
    { [WORDS]: 'merged', '[go]': 'project' },
    [WORDS],
  ])
})

t.test('merged keys are in the history, the audit trail and the configuration file', async (t) => {
  const { ada, below, file } = await withPrefixes(t)
  const settings = { [WORDS]: ['acme'], [EXCLUDE]: { '**/dist': true } }
  await ada.patch(below, { settings, merged: [WORDS] })
  await ada.patch(below, { merged: [EXCLUDE, WORDS] })
  await ada.patch(below, { merged: [EXCLUDE] })
  const version = async (number: number) => (await ada.get(`${below}/versions/${number}`)).body.merged
  t.same([await version(1), await version(2), await version(3)], [[], [WORDS], [EXCLUDE, WORDS]])
  const restored = await ada.post(`${below}/restore`, { version: 2 })
  t.same([restored.body.version, restored.body.merged], [5, [WORDS]])
  const trail = async () => {
    const { entries } = (await ada.get(below.replace('settings', 'audit'))).body
    return entries.flatMap(({ action, details }: { action: string; details: Record<string, unknown> }) =>
      action.startsWith('workspace_settings.') ? [[details.merged, details.unmerged]] : [],
    )
  }
  t.same(await trail(), [
    [[WORDS], [EXCLUDE]],
    [undefined, [WORDS]],
    [[EXCLUDE], undefined],
    [[WORDS], undefined],
  ])

  const pulled = (await ada.get(file)).body
  t.same(pulled.merged, [WORDS])
  t.same((await ada.put(file, pulled)).body.changes, [], 'what was read can be written')
  const { merged: _, ...earlier } = pulled
  const changed = await ada.put(file, { ...earlier, idle_window_minutes: 9 })
  t.same(
    changed.body.changes.map(({ key }: { key: string }) => key),
    ['idle_window_minutes'],
    'a file without the section leaves it as it is',
  )
  const change = { scope: 'workspace', key: 'merged', before: [WORDS], after: [EXCLUDE] }
  const preview = await ada.put(`${file}?dry_run=true`, { merged: [EXCLUDE] })
  t.same(preview.body.changes, [change])
  t.same((await ada.get(file)).body.merged, [WORDS], 'a preview changes nothing')
  t.same((await ada.put(file, { merged: [EXCLUDE] })).body.changes, [change])
  const without = await ada.put(file, { settings: { [WORDS]: ['acme'] } })
  t.same(
    without.body.changes.map(({ key }: { key: string }) => key),
    [EXCLUDE, 'merged'],
    'and removing the key ends its merge',
  )
  t.same((await ada.get(file)).body.merged, [])
})

t.test('what an earlier release leaves in the list has no effect', async (t) => {
  const service = await reuseService(t, 'github', { EXTENSION_PREFIX: 'ext,files,cSpell' })
  const { ada, id, below, above, file, effective } = await setScene(service)
  await ada.patch(below, { settings: { 'ext.a': [1], 'ext.b': [1], 'ext.c': [1] } })
  await ada.put(above, { settings: { 'ext.a': [2], 'ext.c': [2] } })
  // It removes and locks keys without looking at the list.
  await service.database.hot.statement(
    `update workspaces set merged = '["ext.c","ext.gone","ext.a"]', locked = '["ext.c"]',
      settings_version = settings_version + 1 where id = $1::uuid`,
    [id],
  )
  t.same((await ada.get(below)).body.merged, ['ext.a'])
  t.same(await effective(), [
    { 'ext.a': [1, 2], 'ext.b': [1], 'ext.c': [1] },
    { 'ext.a': 'merged', 'ext.b': 'workspace', 'ext.c': 'locked' },
    ['ext.a'],
  ])
  const pulled = (await ada.get(file)).body
  t.same((await ada.put(file, pulled)).body.changes, [])
  const patched = await ada.patch(below, { locked: ['ext.c', 'ext.b'] })
  t.same([patched.status, patched.body.merged], [200, ['ext.a']])
})

t.test('large lists and odd names are merged like others', async (t) => {
  const { ada, below, above, effective } = await withPrefixes(t)
  const numbers = (from: number) => Array.from({ length: 12_000 }, (_, index) => index + from)
  const odd = ['constructor', 'toString', 'hasOwnProperty', '', '1', 'a/b', '…', 'length']
  const map = (value: number) => Object.fromEntries(odd.map((name) => [name, value]))
  const settings = { 'ext.list': numbers(0), 'ext.map': map(1) }
  t.equal((await ada.patch(below, { settings, merged: ['ext.list', 'ext.map'] })).status, 200)
  const override = { 'ext.list': numbers(6_000), 'ext.map': { ...map(2), valueOf: 3, toString: null } }
  t.equal((await ada.put(above, { settings: override })).status, 200)
  const [{ 'ext.list': list, 'ext.map': merged }] = await effective()
  t.same(
    list,
    Array.from({ length: 18_000 }, (_, index) => index),
  )
  const { toString: _, ...rest } = map(2)
  t.same(merged, { ...rest, valueOf: 3 })
})

t.test('an enforced schema lets an override take away a name of an object', async (t) => {
  const file = join(await temporaryFolder(t), 'schema.json')
  const properties = {
    'ext.map': { type: 'object', additionalProperties: { type: 'boolean' } },
    'ext.size': { type: 'number' },
  }
  await writeFile(file, JSON.stringify({ contributes: { configuration: { properties } } }))
  const service = await startService(t, { env: { SETTINGS_SCHEMA: file, SETTINGS_VALIDATION: 'enforce' } })
  const ada = await service.signIn('ada')
  const { id } = await service.workspace(ada)
  const workspace = `/api/team/workspaces/${id}`
  const override = `${workspace}/project-settings/acme/api`
  await ada.patch(`${workspace}/settings`, {
    settings: { 'ext.map': { a: true, b: true } },
    merged: ['ext.map'],
  })
  const sent = await ada.put(override, { settings: { 'ext.map': { a: null, c: false } } })
  t.same([sent.status, sent.body.warnings], [200, undefined])
  t.same((await ada.get(override)).body.warnings, undefined, 'none when it’s read')
  const { settings, sources } = (await ada.get('/api/team/effective-config?repo=acme/api')).body
  t.same([settings['ext.map'], sources['ext.map']], [{ b: true, c: false }, 'merged'])
  const wrong = await ada.put(override, { settings: { 'ext.map': { a: null, c: 1 }, 'ext.size': 'big' } })
  t.same(
    [wrong.status, wrong.body.errors.map(({ path }: { path: string }) => path)],
    [400, ['/body/settings/ext.map/c', '/body/settings/ext.size']],
  )
  const projects = { 'acme/api': { settings: { 'ext.map': { b: null } } } }
  t.equal((await ada.put(`${workspace}/configuration`, { projects })).status, 200, 'in a configuration file')
  t.equal((await ada.post(`${override}/restore`, { version: 1 })).status, 200, 'in an old version')
  const direct = await ada.patch(`${workspace}/settings`, { settings: { 'ext.map': { a: null } } })
  t.equal(direct.status, 400, 'not in the workspace’s own settings')
})
