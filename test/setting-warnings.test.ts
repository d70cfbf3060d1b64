/** Warnings about settings that are stored anyway: `not_applied`, `deprecated` and `secret`. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { EDITOR_PREFIXES } from '../schemas/settings-keys.js'
import { temporaryFolder } from './process.js'
import { startService } from './service.js'

const team = '/api/team/workspaces'
const NOT_APPLIED = 'isn’t applied: the editor restricts it, or keeps it for the application or the machine'
const SECRET = 'looks like a password or a token, and everyone with these settings can read it'

type Listed = { path: string; code: string; message: string }
const briefly = (warnings: Listed[] = []) => warnings.map(({ path, code }) => `${path} ${code}`)

const manifestIn = async (
  test: Parameters<typeof temporaryFolder>[0],
  properties: object,
  texts?: object,
): Promise<string> => {
  const folder = await temporaryFolder(test)
  const file = join(folder, 'package.json')
  await writeFile(file, JSON.stringify({ contributes: { configuration: { properties } } }))
  if (texts) await writeFile(join(folder, 'package.nls.json'), JSON.stringify(texts))
  return file
}

t.test('without a schema, warnings are returned wherever settings are written or read', async (t) => {
  const service = await startService(t, { env: { EXTENSION_PREFIX: 'ext,window,editor,files,terminal' } })
  const ada = await service.signIn('ada')
  const { id } = await service.workspace(ada)
  const settings = {
    'ext.theme': 'dark',
    'ext.apiToken': 'x',
    'window.titleBarStyle': 'custom',
    'files.hotExit': 'off',
    editor: { unicodeHighlight: { ambiguousCharacters: false } },
    'terminal.integrated.fontSize': 12,
    '[go]': { 'editor.tabSize': 2, 'ext.password': 'x' },
  }
  const at = (place: string): Listed[] => [
    { path: `${place}/ext.apiToken`, code: 'secret', message: SECRET },
    { path: `${place}/window.titleBarStyle`, code: 'not_applied', message: NOT_APPLIED },
    { path: `${place}/files.hotExit`, code: 'not_applied', message: NOT_APPLIED },
    { path: `${place}/editor`, code: 'not_applied', message: NOT_APPLIED },
    { path: `${place}/[go]/ext.password`, code: 'secret', message: SECRET },
  ]
  const [written, stored] = [at('/body/settings'), at('/settings')]
  const workspace = `${team}/${id}/settings`
  const override = `${team}/${id}/project-settings/acme/api`
  t.strictSame((await ada.patch(workspace, { settings })).body.warnings, written)
  t.strictSame((await ada.get(workspace)).body.warnings, stored)
  t.strictSame((await ada.put(override, { settings })).body.warnings, written)
  t.strictSame((await ada.get(override)).body.warnings, stored)
  const { overrides } = (await ada.get(`${team}/${id}/project-settings`)).body
  t.strictSame(overrides[0].warnings, stored)
  t.strictSame((await ada.get('/api/team/effective-config?repo=acme/api')).body.warnings, stored)
  t.strictSame((await ada.push('acme/api', settings)).body.warnings, written)

  const gone = Object.fromEntries(Object.keys(settings).map((key) => [key, null]))
  t.notOk('warnings' in (await ada.put(override, { settings: gone })).body, 'keys that are unset')
  t.notOk('warnings' in (await ada.patch(workspace, { settings: gone })).body, 'keys that are removed')
  t.strictSame((await ada.post(`${workspace}/restore`, { version: 2 })).body.warnings, stored)
  t.strictSame((await ada.post(`${override}/restore`, { version: 1 })).body.warnings, stored)
  t.strictSame((await ada.push('acme/api', { 'ext.theme': 'dark' })).status, 200)
  t.strictSame((await ada.post('/api/settings/acme/api/restore', { version: 1 })).body.warnings, stored)
})

t.test('a configuration file gets warnings about the values that it changes', async (t) => {
  const service = await startService(t, { env: { EXTENSION_PREFIX: 'ext,window' } })
  const ada = await service.signIn('ada')
  const { id } = await service.workspace(ada)
  const before = { settings: { 'ext.secret': 'x' }, projects: { 'acme/api': { settings: { 'ext.a': 1 } } } }
  const url = `${team}/${id}/configuration`
  const put = async (body: object, query = '') =>
    ada.request('PUT', url + query, {
      body,
      headers: { 'If-Match': (await ada.get(url)).headers.get('etag') ?? '' },
    })
  const project = { 'acme/api': { settings: { 'window.menuStyle': 'x' } } }
  t.strictSame(briefly((await put(before)).body.warnings), ['/body/settings/ext.secret secret'])
  for (const query of ['?dry_run=true', '']) {
    const { body } = await put({ ...before, projects: project }, query)
    t.strictSame(briefly(body.warnings), ['/body/projects/acme~1api/settings/window.menuStyle not_applied'])
  }
})

t.test('manifests say what is kept and what is deprecated, and never refuse it', async (t) => {
  const properties = {
    'ext.machine': { type: 'string', scope: 'machine' },
    'ext.app': { scope: 'application' },
    'ext.both': { scope: 'application-machine' },
    'ext.local': { scope: 'machine-overridable' },
    'ext.window': { scope: 'window' },
    'ext.group.path': { scope: 'machine' },
    'ext.old': { type: 'number', deprecationMessage: 'Use `ext.new`\ninstead.' },
    'ext.marked': { markdownDeprecationMessage: 'Use `#ext.new#` <img src=x>.' },
    'ext.translated': { deprecationMessage: '%old%' },
    'ext.untranslated': { deprecationMessage: '%none%' },
    'ext.flag': { deprecated: true },
    'ext.new': { type: 'string', deprecated: false, deprecationMessage: null },
  }
  const settings = { ...Object.fromEntries(Object.keys(properties).map((key) => [key, 'x'])), 'ext.old': 1 }
  const advice = [
    ...['machine', 'app', 'both'].map((name) => [name, 'not_applied', NOT_APPLIED]),
    ['group.path', 'not_applied', NOT_APPLIED],
    ['old', 'deprecated', 'is deprecated: Use `ext.new` instead.'],
    ['marked', 'deprecated', 'is deprecated: Use `#ext.new#` .'],
    ['translated', 'deprecated', 'is deprecated: It’s gone.'],
    ['untranslated', 'deprecated', 'is deprecated'],
    ['flag', 'deprecated', 'is deprecated'],
    ['token', 'secret', SECRET],
  ].map(([name, code, message]) => ({ path: `/body/settings/ext.${name}`, code, message }))
  for (const SETTINGS_VALIDATION of ['warn', 'enforce']) {
    const all = { ...properties, 'ext.token': {} }
    const file = await manifestIn(t, all, { old: 'It’s gone.' })
    const service = await startService(t, { env: { SETTINGS_SCHEMA: file, SETTINGS_VALIDATION } })
    const ada = await service.signIn('ada')
    const { id } = await service.workspace(ada)
    const { status, body } = await ada.patch(`${team}/${id}/settings`, {
      settings: { ...settings, 'ext.token': 'x' },
    })
    t.equal(status, 200)
    t.strictSame(body.warnings, advice, SETTINGS_VALIDATION)
    const { properties: shown } = (await ada.get('/api/settings-schema')).body
    t.strictSame(shown['ext.untranslated'], { deprecated: true }, 'shown as deprecated without its words')
    t.strictSame(shown['ext.translated'], { deprecationMessage: 'It’s gone.' })
    const wrong = await ada.patch(`${team}/${id}/settings`, { settings: { 'ext.old': 'x' } })
    t.equal(wrong.status, SETTINGS_VALIDATION === 'enforce' ? 400 : 200)
    t.strictSame(
      briefly(wrong.body.warnings ?? wrong.body.errors),
      SETTINGS_VALIDATION === 'enforce'
        ? ['/body/settings/ext.old undefined']
        : ['/body/settings/ext.old invalid', '/body/settings/ext.old deprecated'],
    )
  }
})

t.test('a manifest can have anything as a scope and as words about a deprecation', async (t) => {
  const odd = [
    null,
    false,
    true,
    0,
    1,
    '',
    ' ',
    'machine ',
    [],
    ['machine'],
    {},
    { machine: 1 },
    '\u202E\u0000',
  ]
  const properties = Object.fromEntries(
    odd.map((value, index) => [
      `ext.a${index}`,
      { scope: value, deprecationMessage: value, markdownDeprecationMessage: value },
    ]),
  )
  const long = 'x'.repeat(100_000)
  const file = await manifestIn(t, {
    ...properties,
    'ext.long': { deprecationMessage: long },
    'ext.true': true,
  })
  const service = await startService(t, { env: { SETTINGS_SCHEMA: file } })
  const ada = await service.signIn('ada')
  await service.workspace(ada)
  const settings = Object.fromEntries(
    [...Object.keys(properties), 'ext.long', 'ext.true'].map((key) => [key, 1]),
  )
  const { warnings } = (await ada.push('acme/api', settings)).body as { warnings: Listed[] }
  const deprecated = [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12].map(
    (index) => `/body/settings/ext.a${index} deprecated`,
  )
  t.strictSame(briefly(warnings), [...deprecated, '/body/settings/ext.long deprecated'])
  t.strictSame(
    [...new Set(warnings.slice(0, -1).map(({ message }) => message))],
    ['is deprecated', 'is deprecated: machine'],
  )
  t.equal(warnings.at(-1)?.message, `is deprecated: ${'x'.repeat(300)}…`)
})

t.test('at most 100 warnings are listed, and mismatches come first', async (t) => {
  const file = await manifestIn(t, { 'ext.size': { type: 'number' } })
  const service = await startService(t, { env: { SETTINGS_SCHEMA: file } })
  const ada = await service.signIn('ada')
  await service.workspace(ada)
  const tokens = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`ext.t${index}.token`, 'x']))
  const blocks = Object.fromEntries(
    Array.from({ length: 99 }, (_, index) => [`[l${index}]`, { 'ext.size': 'x' }]),
  )
  const codesOf = async (settings: object) => {
    const { warnings } = (await ada.push('acme/api', settings)).body as { warnings: Listed[] }
    return warnings.map(({ code }) => code)
  }
  t.strictSame(await codesOf(tokens), Array(100).fill('unknown'))
  t.strictSame(await codesOf({ ...blocks, '[go]': tokens, 'ext.size': 1 }), [
    ...Array(99).fill('invalid'),
    'unknown',
  ])
  const known = Object.fromEntries(
    Array.from({ length: 99 }, (_, index) => [
      `[l${index}]`,
      { 'ext.size': 'eyJhbGciOiJIUzI1.eyJzdWIiOiIx.' },
    ]),
  )
  t.strictSame(await codesOf(known), [...Array(99).fill('invalid'), 'secret'])
})

t.test('values made to be slow to read are answered', async (t) => {
  const service = await startService(t, { env: { EXTENSION_PREFIX: `ext,${EDITOR_PREFIXES.join()}` } })
  const ada = await service.signIn('ada')
  await service.workspace(ada)
  let deep: unknown = 'x'
  for (let level = 0; level < 25; level++) deep = { token: deep }
  const settings = {
    'ext.jwt': 'eyJ-'.repeat(15_000),
    'ext.dots': { ['window.'.repeat(5_000)]: 'x' },
    window: { ['titleBarStyle.'.repeat(3_000)]: 'x' },
    'ext.deep': deep,
    'ext.address': '://a:'.repeat(5_000),
    'ext.pem': '-----BEGIN '.repeat(2_000),
  }
  const { status, body } = await ada.push('acme/api', settings)
  t.equal(status, 200)
  t.strictSame(briefly(body.warnings), ['/body/settings/window not_applied'])
})
