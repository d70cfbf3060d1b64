/** Settings as editors have them: language blocks, keys without a dot, prefixes with a slash, and how keys are spelled. */
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { locksOfWorkspaces } from '../src/platform/database/locks.js'
import { projectRoot } from '../src/platform/process/root.js'
import { lockWaiters, whileHeld } from './locks.js'
import { temporaryFolder } from './process.js'
import { reuseService, startService } from './service.js'

const team = '/api/team/workspaces'
const PREFIXES = 'ext,editor,files,js/ts,gopls'

t.test('language blocks, whole keys and prefixes with a slash can be stored everywhere', async (t) => {
  const service = await reuseService(t, 'github', { EXTENSION_PREFIX: PREFIXES })
  const ada = await service.signIn('ada')
  const { id } = await service.workspace(ada)
  const settings = {
    'js/ts.preferences.quoteStyle': 'single',
    gopls: { gofumpt: true },
    '[typescript]': { 'editor.tabSize': 2, 'js/ts.format.semicolons': 'remove' },
    '[javascript][typescript]': { 'editor.formatOnSave': true, gopls: {} },
    '[jsonc]': {},
    '[css]': { 'editor.tabSize': 2 },
  }
  t.equal((await ada.push('acme/api', settings)).status, 200)
  t.same((await ada.get('/api/settings/acme/api')).body.settings, settings)
  const patched = await ada.patch(`${team}/${id}/settings`, { settings, locked: ['[css]', 'gopls'] })
  t.same([patched.status, patched.body.settings, patched.body.locked], [200, settings, ['[css]', 'gopls']])
  const override = { '[javascript][typescript]': { 'editor.formatOnSave': null }, '[jsonc]': null }
  const put = await ada.put(`${team}/${id}/project-settings/acme/api`, { settings: override })
  t.same([put.status, put.body.settings], [200, override])
  const { body: configuration } = await ada.get(`${team}/${id}/configuration`)
  t.same(configuration.settings, settings)
  t.same(configuration.projects, { 'acme/api': { settings: override } })
  const applied = await ada.put(`${team}/${id}/configuration`, configuration)
  t.same([applied.status, applied.body.changes], [200, []])
})

t.test('all errors are returned together, in order, with their positions', async (t) => {
  const service = await reuseService(t, 'github', { EXTENSION_PREFIX: PREFIXES })
  const ada = await service.signIn('ada')
  const { id } = await service.workspace(ada)
  const starts = 'must start with `ext.` or `editor.` or `files.` or `js/ts.` or `gopls.`'
  const long = `ext.${'x'.repeat(197)}`
  const settings = {
    wrong: 1,
    'editor.tabSize': 2,
    'ext.<img>': 1,
    'js/ts.nodePath': '/bin/true',
    '[typescript]': { tabSize: 2, 'editor.tabSize': 2, '[jsonc]': {}, 'js/ts.tsserver.nodePath': 'x' },
    '[javascript': {},
    '[go][go]': {},
    '[ go]': {},
    '[json]': 1,
    [long]: 1,
    ext: 1,
  }
  const expected = [
    ['/wrong', starts],
    ['/ext.<img>', 'must not contain any of `( ) < > [ ]` or a backtick'],
    ['/js~1ts.nodePath', 'is denied on this server (`SETTINGS_DENIED`)'],
    ['/[typescript]/tabSize', starts],
    ['/[typescript]/[jsonc]', 'must not be in another language block'],
    ['/[typescript]/js~1ts.tsserver.nodePath', 'is denied on this server (`SETTINGS_DENIED`)'],
    ['/[javascript', 'must name languages, such as `[typescript]`'],
    ['/[go][go]', 'must name each language once'],
    ['/[ go]', 'must not contain white space except single spaces inside'],
    ['/[json]', 'must be an object of settings'],
    [`/${long}`, 'must NOT have more than 200 characters'],
    ['/ext', starts],
  ]
  const at = (place: string) => expected.map(([path, message]) => ({ path: place + path, message }))
  const responses = [
    await ada.push('acme/api', settings),
    await ada.patch(`${team}/${id}/settings`, { settings }),
    await ada.put(`${team}/${id}/project-settings/acme/api`, { settings }),
    await ada.put(`${team}/${id}/configuration`, { settings }),
  ]
  for (const { status, body } of responses) t.same([status, body.errors], [400, at('/body/settings')])
  const inProject = await ada.put(`${team}/${id}/configuration`, { projects: { 'acme/api': { settings } } })
  t.same(inProject.body.errors, at('/body/projects/acme~1api/settings'))
  const many = Object.fromEntries(Array.from({ length: 150 }, (_, n) => [`k${n}`, 1]))
  const { errors } = (await ada.push('acme/api', many)).body
  t.same([errors.length, errors[99].path], [100, '/body/settings/k99'])
})

t.test('each settings shape is stored or rejected as documented', async (t) => {
  const service = await reuseService(t, 'github', { EXTENSION_PREFIX: PREFIXES })
  const ada = await service.signIn('ada')
  const starts = 'must start with `ext.` or `editor.` or `files.` or `js/ts.` or `gopls.`'
  const markup = 'must not contain any of `( ) < > [ ]` or a backtick'
  const invisible = 'must not contain control or invisible characters'
  const space = 'must not contain white space except single spaces inside'
  /** The others are taken. */
  const rejected: Record<string, [path: string, message: string][]> = {
    'block-in-block': [['/[typescript]/[jsonc]', 'must not be in another language block']],
    'block-without-end': [['/[typescript', 'must name languages, such as `[typescript]`']],
    'block-with-list': [['/[typescript]', 'must be an object of settings']],
    'other-prefix-in-block': [['/[python]/black-formatter.args', starts]],
    'key-as-markup': [
      ['/ext.<img src=x onerror=alert(1)>', markup],
      ['/ext.[click](command:x)', markup],
    ],
    'key-with-invisible-characters': [
      ['/editor.tab\u200bSize', invisible],
      ['/ext.a\u202eb', invisible],
    ],
    'key-with-two-spaces': [
      ['/ext.word  wrap', space],
      ['/ext.end ', space],
    ],
    'nothing-after-the-dot': [['/editor.', 'must have a name after `editor.`']],
    'first-prefix-alone': [['/ext', starts]],
  }
  const folder = join(projectRoot, 'test/settings-shapes')
  const files = (await readdir(folder)).filter((name) => name.endsWith('.json'))
  for (const file of files) {
    const name = file.slice(0, -'.json'.length)
    const settings = JSON.parse(await readFile(join(folder, file), 'utf8'))
    const { status, body } = await ada.push(`ada/${name}`, settings)
    const errors = rejected[name]?.map(([path, message]) => ({ path: `/body/settings${path}`, message }))
    t.same([status, body.errors], errors ? [400, errors] : [200, undefined], name)
    if (errors) continue
    t.equal(
      JSON.stringify((await ada.get(`/api/settings/ada/${name}`)).body.settings),
      JSON.stringify(settings),
    )
  }
  t.equal(files.length, 24)
})

t.test('in the effective config, blocks merge by inner key, and locks apply inside them', async (t) => {
  const service = await reuseService(t, 'github', { EXTENSION_PREFIX: PREFIXES })
  const ada = await service.signIn('ada')
  const { id } = await service.workspace(ada)
  const [below, above] = [`${team}/${id}/settings`, `${team}/${id}/project-settings/acme/api`]
  const effective = async () => {
    const { body } = await ada.get('/api/team/effective-config?repo=acme/api')
    return [body.settings, body.sources, body.locked]
  }
  const settings = {
    'editor.tabSize': 4,
    '[go]': { 'editor.tabSize': 8 },
    '[json]': { 'editor.tabSize': 2 },
    '[typescript]': { 'editor.tabSize': 2, 'editor.wordWrap': 'on', 'ext.a': 1 },
  }
  await ada.patch(below, { settings })
  const override = {
    '[typescript]': { 'editor.wordWrap': null, 'editor.tabSize': 3, 'ext.b': 2 },
    '[json]': { 'editor.tabSize': null },
    '[go]': {},
    '[markdown]': { 'editor.tabSize': 1 },
  }
  t.equal((await ada.put(above, { settings: override })).status, 200)
  t.same(await effective(), [
    {
      'editor.tabSize': 4,
      '[go]': { 'editor.tabSize': 8 },
      '[typescript]': { 'editor.tabSize': 3, 'ext.a': 1, 'ext.b': 2 },
      '[markdown]': { 'editor.tabSize': 1 },
    },
    {
      'editor.tabSize': 'workspace',
      '[go]': 'workspace',
      '[typescript]': 'project',
      '[markdown]': 'project',
    },
    [],
  ])

  await ada.patch(below, { locked: ['editor.tabSize', '[json]'] })
  t.same(await effective(), [
    {
      ...settings,
      '[typescript]': { 'editor.tabSize': 2, 'ext.a': 1, 'ext.b': 2 },
    },
    { 'editor.tabSize': 'locked', '[go]': 'workspace', '[json]': 'locked', '[typescript]': 'project' },
    ['editor.tabSize', '[json]'],
  ])
  const rejected = await ada.put(above, { settings: override })
  t.same(
    [rejected.status, rejected.body.code, rejected.body.keys],
    [422, 'key_locked', ['editor.tabSize', '[json]']],
  )
  const inOne = { '[go]': { 'editor.tabSize': null } }
  const applied = await ada.put(`${team}/${id}/configuration`, {
    projects: { 'acme/api': { settings: inOne } },
  })
  t.same([applied.status, applied.body.keys], [422, ['editor.tabSize']])
  const restored = await ada.post(`${above}/restore`, { version: 1 })
  t.same([restored.status, restored.body.keys], [422, ['editor.tabSize', '[json]']])

  await ada.patch(below, { locked: [], settings: { '[go]': null } })
  t.equal((await ada.put(above, { settings: { '[json]': null, '[typescript]': null } })).status, 200)
  t.same((await effective())[0], { 'editor.tabSize': 4 }, 'null hides a whole block')
  t.same((await ada.patch(below, { settings: { '[json]': { 'editor.tabSize': null } } })).body.errors, [
    { path: '/body/settings/[json]/editor.tabSize', message: 'must not be null: leave the key out' },
  ])
})

t.test('a locked block fixes its languages, whatever other languages a block contains', async (t) => {
  const service = await reuseService(t, 'github', { EXTENSION_PREFIX: PREFIXES })
  const ada = await service.signIn('ada')
  const { id } = await service.workspace(ada)
  const [below, above] = [`${team}/${id}/settings`, `${team}/${id}/project-settings/acme/api`]
  const settings = {
    '[javascript][typescript]': { 'editor.tabSize': 2 },
    '[python]': { 'editor.tabSize': 4 },
    '[typescript]': { 'editor.wordWrap': 'on' },
  }
  const override = {
    '[typescript]': { 'editor.tabSize': 8 },
    '[typescript][javascript]': { 'editor.tabSize': 8 },
    '[go][python]': { 'editor.tabSize': 8 },
    '[javascriptreact]': { 'editor.tabSize': 8 },
  }
  await ada.patch(below, { settings })
  t.equal((await ada.put(above, { settings: override })).status, 200)
  await ada.patch(below, { locked: ['[python]', '[javascript][typescript]'] })

  const { body } = await ada.get('/api/team/effective-config?repo=acme/api')
  t.same(
    [body.settings, body.sources],
    [
      { ...settings, '[javascriptreact]': { 'editor.tabSize': 8 } },
      {
        '[javascript][typescript]': 'locked',
        '[python]': 'locked',
        '[typescript]': 'workspace',
        '[javascriptreact]': 'project',
      },
    ],
    'what an older override says has no effect',
  )
  const rejected: [block: string, key: string][] = [
    ['[typescript]', '[javascript][typescript]'],
    ['[javascript]', '[javascript][typescript]'],
    ['[typescript][javascript]', '[javascript][typescript]'],
    ['[css][javascript]', '[javascript][typescript]'],
    ['[javascript][typescript]', '[javascript][typescript]'],
    ['[go][python]', '[python]'],
  ]
  for (const [block, key] of rejected) {
    for (const value of [{ 'editor.tabSize': 8 }, {}, null]) {
      const sent = { settings: { [block]: value } }
      const put = await ada.put(above, sent)
      t.same([put.status, put.body.code, put.body.keys], [422, 'key_locked', [key]], block)
    }
    const sent = { projects: { 'acme/web': { settings: { [block]: {} } } } }
    const applied = await ada.put(`${team}/${id}/configuration`, sent)
    t.same([applied.status, applied.body.code, applied.body.keys], [422, 'key_locked', [key]], block)
  }
  const restored = await ada.post(`${above}/restore`, { version: 1 })
  t.same([restored.status, restored.body.keys], [422, ['[python]', '[javascript][typescript]']])
  const kept = await ada.put(`${team}/${id}/configuration`, {
    projects: { 'acme/api': { settings: override } },
  })
  t.same([kept.status, kept.body.changes], [200, []], 'older overrides may stay')
  t.equal((await ada.put(above, { settings: { '[typescriptreact][go]': {} } })).status, 200)
})

t.test('keys stored before their spelling was checked are kept and can be removed', async (t) => {
  const service = await reuseService(t, 'github', { EXTENSION_PREFIX: PREFIXES })
  const ada = await service.signIn('ada')
  const { id } = await service.workspace(ada)
  const [below, above] = [`${team}/${id}/settings`, `${team}/${id}/project-settings/acme/api`]
  await ada.patch(below, { settings: { 'ext.old': 1 } })
  await ada.put(above, { settings: { 'ext.old': 1 } })
  await ada.push('acme/api', { 'ext.old': 1 })
  const old = { 'ext.<b>': 1, 'ext.': 2 }
  for (const table of ['workspaces', 'overrides', 'snapshots'])
    await service.database.write.statement(`update ${table} set settings = $1`, [JSON.stringify(old)])
  t.same((await ada.get('/api/team/effective-config?repo=acme/api')).body.settings, old)
  const { body: pulled } = await ada.get(`${team}/${id}/configuration`)
  const applied = await ada.put(`${team}/${id}/configuration`, pulled)
  t.same([applied.status, applied.body.changes], [200, []])
  const [message, fresh] = ['must not contain any of `( ) < > [ ]` or a backtick', { ...old, 'ext.<i>': 1 }]
  const errors = [{ path: '/body/settings/ext.<i>', message }]
  const pushed = async (settings: Record<string, unknown>) => (await ada.push('acme/api', settings)).body
  t.same((await pushed(fresh)).errors, errors)
  t.equal((await pushed({ ...old, 'ext.a': 1 })).changed, true)
  t.same((await ada.patch(below, { settings: { 'ext.<i>': 1 } })).body.errors, errors)
  t.equal((await ada.patch(below, { settings: { 'ext.a': 1 } })).status, 200)
  t.same((await ada.patch(below, { settings: { 'ext.<b>': null } })).body.settings, { 'ext.': 2, 'ext.a': 1 })
  t.same((await ada.put(above, { settings: fresh })).body.errors, errors)
  t.equal((await ada.put(above, { settings: { ...old, 'ext.a': 1 } })).status, 200)
  const body = { projects: { 'acme/api': { settings: fresh } } }
  t.same((await ada.put(`${team}/${id}/configuration`, body)).body.errors, [
    { path: '/body/projects/acme~1api/settings/ext.<i>', message },
  ])
})

t.test(
  'a key whose spelling is wrong doesn’t come back after someone else has removed it during the push',
  async (t) => {
    const service = await reuseService(t, 'github', { EXTENSION_PREFIX: PREFIXES })
    const ada = await service.signIn('ada')
    const { id } = await service.workspace(ada)
    const { headers } = await ada.push('acme/api', { 'ext.old': 1 })
    const store = (settings: object, version: number) =>
      service.database.write.statement('update snapshots set settings = $1, version = $2', [
        JSON.stringify(settings),
        version,
      ])
    await store({ 'ext.<b>': 1 }, 1)
    const roles = `select pg_advisory_xact_lock(${locksOfWorkspaces.roles}, hashtext($1::uuid::text))`
    const push = async (preconditions?: Record<string, string>) => {
      const { status, body } = await ada.push('acme/api', { 'ext.<b>': 1, 'ext.a': 1 }, preconditions)
      return [status, body.code]
    }
    const pushes: Promise<unknown>[] = []
    await whileHeld(service, [roles, id], async () => {
      pushes.push(push(), push({ 'If-Match': headers.get('etag') ?? '' }))
      await lockWaiters(service, 2)
      await store({}, 2)
    })
    t.same(await Promise.all(pushes), [
      [400, 'validation_failed'],
      [412, 'version_conflict'],
    ])
    t.same((await ada.get('/api/settings/acme/api')).body.settings, {})
  },
)

t.test('stored values that don’t match the schema are marked wherever they’re read', async (t) => {
  const file = join(await temporaryFolder(t), 'schema.json')
  const properties = { 'ext.size': { type: 'number' } }
  await writeFile(file, JSON.stringify({ contributes: { configuration: { properties } } }))
  const before = await reuseService(t)
  const ada = await before.signIn('ada')
  const { id } = await before.workspace(ada)
  const settings = { 'ext.size': 'big', '[json]': { 'ext.size': 'small' } }
  await ada.patch(`${team}/${id}/settings`, { settings })
  await ada.put(`${team}/${id}/project-settings/acme/api`, { settings })
  const [first, second] = ['/ext.size', '/[json]/ext.size'].map((path) => ({
    path: `/settings${path}`,
    code: 'invalid',
    message: 'must be a number',
  }))
  for (const SETTINGS_VALIDATION of ['warn', 'enforce']) {
    const after = await startService(t, {
      beside: before,
      env: { SETTINGS_SCHEMA: file, SETTINGS_VALIDATION },
    })
    const later = await after.signIn('ada')
    t.same((await later.get(`${team}/${id}/settings`)).body.warnings, [first, second])
    t.same((await later.get(`${team}/${id}/project-settings/acme/api`)).body.warnings, [first, second])
    const { overrides } = (await later.get(`${team}/${id}/project-settings`)).body
    t.same(overrides[0].warnings, [first, second])
    t.same((await later.get('/api/team/effective-config?repo=acme/api')).body.warnings, [first, second])
    const sent = { ...settings, 'other.a': 1 }
    const patched = await later.patch(`${team}/${id}/settings`, { settings: sent })
    t.same(
      patched.body.errors.map(({ path }: { path: string }) => path),
      SETTINGS_VALIDATION === 'warn'
        ? ['/body/settings/other.a']
        : ['/body/settings/ext.size', '/body/settings/[json]/ext.size', '/body/settings/other.a'],
    )
  }
})
