/** Settings that run programs: which names are denied by default, and where they count in a value. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { DENIED_KEYS, textMatcherOf } from '../schemas/denied-settings.js'
import { readConfig } from '../src/config.js'
import { projectRoot } from '../src/platform/process/root.js'
import { temporaryFolder } from './process.js'
import { startService } from './service.js'

const team = '/api/team/workspaces'
const message = 'is denied on this server (`SETTINGS_DENIED`)'

/** Settings of published extensions: whether the default lets them be stored, and why not. */
const rows = (await readFile(join(projectRoot, 'test/editor-settings.csv'), 'utf8'))
  .trim()
  .split('\n')
  .slice(1)
  .map((line) => line.split(',') as [stored: string, key: string, extension: string, why: string])
const keysOf = (stored: string) => rows.filter((row) => row[0] === stored).map(([, key]) => key)

t.test('settings that run programs in published extensions are denied by default', (t) => {
  const isDenied = textMatcherOf(DENIED_KEYS)
  const unexpected = rows.filter(([stored, key]) => isDenied(key.toLowerCase()) !== (stored === 'denied'))
  t.same(unexpected, [])
  t.ok(keysOf('allowed').length >= 200)
  t.ok(new Set(rows.map(([, , extension]) => extension)).size >= 100)
  t.same(
    DENIED_KEYS.filter((pattern, index) => DENIED_KEYS.indexOf(pattern) !== index),
    [],
  )
  const matchNone = DENIED_KEYS.filter((pattern) => {
    const matches = textMatcherOf([pattern])
    return !keysOf('denied').some((key) => matches(key.toLowerCase()))
  })
  t.same(matchNone, [], 'each pattern denies a setting in the list')
  t.end()
})

t.test('settings listed as denied are rejected, and those listed as allowed are stored', async (t) => {
  const prefixes = [
    ...['go', 'ruff', 'emeraldwalk', 'jest', 'code-runner', 'biome', 'vitest', 'rust-analyzer', 'java'],
    ...['typescript', 'js/ts', 'debug', 'makefile', 'xml', 'eslint', 'latex-workshop', 'cmake', 'github'],
    'todo-tree',
  ]
  const service = await startService(t, { env: { EXTENSION_PREFIX: `own,${prefixes.join()}` } })
  const ada = await service.signIn('ada')
  const { id } = await service.workspace(ada)
  const listed = (stored: string) =>
    keysOf(stored).filter((key) => prefixes.includes(key.split('.')[0] ?? ''))
  const settings = Object.fromEntries(listed('allowed').map((key) => [key, ['x']]))
  t.equal((await ada.patch(`${team}/${id}/settings`, { settings })).status, 200)
  const denied = listed('denied')
  t.ok(denied.length > 100)
  for (let from = 0; from < denied.length; from += 100) {
    const some = denied.slice(from, from + 100)
    const { status, body } = await ada.push('acme/api', Object.fromEntries(some.map((key) => [key, true])))
    t.equal(status, 400)
    t.same(
      body.errors,
      some.map((key) => ({ path: `/body/settings/${key.replaceAll('/', '~1')}`, message })),
    )
  }
})

t.test('denied names are detected inside objects, lists and language blocks, but not in globs', async (t) => {
  const service = await startService(t, {
    env: {
      EXTENSION_PREFIX:
        'own,eslint,gopls,files,search,yaml,typescript,sqltools,workbench,js/ts,nix,cSpell,editor',
    },
  })
  const ada = await service.signIn('ada')
  const { id } = await service.workspace(ada)
  const harmless = {
    'own.tool': { nodePath: 'x' },
    eslint: { validate: ['path', 'command'], probe: [] },
    gopls: { 'formatting.gofumpt': true, 'ui.semanticTokens': true },
    'files.exclude': { '**/path': true, command: true, path: true },
    'search.exclude': { '**/env': true, env: true },
    'yaml.schemas': { 'https://example.com/args': ['*.yml'], '*/path': { nodePath: 1 } },
    'workbench.colorCustomizations': { 'terminal.background': '#000000' },
    'typescript.preferences.importModuleSpecifier': 'relative',
    'cSpell.words': ['path', 'command', 'env'],
    '[go]': { 'editor.tabSize': 4, 'own.path': 'x' },
  }
  const at = (value: object) => ada.patch(`${team}/${id}/settings`, { settings: value })
  t.equal((await at(harmless)).status, 200)
  t.equal((await ada.push('acme/api', harmless)).status, 200)
  const cases: [object, string[]][] = [
    [{ eslint: { nodePath: 'x', validate: [] } }, ['/eslint/nodePath']],
    [{ eslint: { 'lintTask.command': 'x' } }, ['/eslint/lintTask.command']],
    [
      { eslint: { lintTask: { command: 'x', options: 'x' } } },
      ['/eslint/lintTask/command', '/eslint/lintTask/options'],
    ],
    [{ gopls: { 'build.buildFlags': [], 'build.env': {} } }, ['/gopls/build.buildFlags', '/gopls/build.env']],
    [{ 'js/ts': { tsserver: { pluginPaths: [] } } }, ['/js~1ts/tsserver/pluginPaths']],
    [
      { 'nix.serverSettings': { nixd: { formatting: { COMMAND: ['x'] } } } },
      ['/nix.serverSettings/nixd/formatting/COMMAND'],
    ],
    [{ 'eslint.rules': [{ rule: 'a' }, 1, [{ runtimeArgs: [] }]] }, ['/eslint.rules/2/0/runtimeArgs']],
    [
      { '[go]': { 'editor.x': { shellPath: 'x' }, 'eslint.nodePath': 'x' } },
      ['/[go]/editor.x/shellPath', '/[go]/eslint.nodePath'],
    ],
    [{ files: { command: 'x' }, 'files.command': 'x' }, ['/files.command']],
  ]
  for (const [settings, paths] of cases) {
    for (const { status, body } of [
      await at(settings),
      await ada.push('acme/api', settings as Record<string, unknown>),
      await ada.put(`${team}/${id}/project-settings/acme/api`, { settings }),
      await ada.put(`${team}/${id}/configuration`, { settings, patterns: ['acme/*'] }),
    ]) {
      t.equal(status, 400, JSON.stringify(settings))
      t.same(
        body.errors,
        paths.map((path) => ({ path: `/body/settings${path}`, message })),
      )
    }
  }
  const override = (settings: object) => ada.put(`${team}/${id}/project-settings/acme/api`, { settings })
  t.hasStrict(await override({ 'eslint.nodePath': null }), { status: 400 })
  t.hasStrict(await override({ '[go]': { 'eslint.nodePath': null } }), { status: 400 })
  t.hasStrict(await at({ 'eslint.nodePath': null }), { status: 200 })
})

t.test('a stored setting with a denied part is kept, isn’t applied, and can be removed', async (t) => {
  const env = { EXTENSION_PREFIX: 'own,eslint,gopls' }
  const before = await startService(t, { env: { ...env, SETTINGS_DENIED: 'x.*' } })
  const ada = await before.signIn('ada')
  const { id } = await before.workspace(ada)
  const settings = { eslint: { nodePath: 'x' }, '[go]': { gopls: { env: {} }, 'gopls.a': 1 }, 'gopls.b': 2 }
  await ada.patch(`${team}/${id}/settings`, { settings, locked: ['eslint'] })
  const after = await startService(t, { beside: before, env })
  const later = await after.signIn('ada')
  const { body } = await later.get('/api/team/effective-config?repo=acme/api')
  t.same([body.settings, body.locked], [{ '[go]': { 'gopls.a': 1 }, 'gopls.b': 2 }, []])
  t.same((await later.get(`${team}/${id}/settings`)).body.settings, settings)
  t.hasStrict(await later.post(`${team}/${id}/settings/restore`, { version: 2 }), {
    status: 400,
    body: {
      errors: [
        { path: '/settings/eslint/nodePath', message },
        { path: '/settings/[go]/gopls/env', message },
      ],
    },
  })
  t.equal(
    (await later.patch(`${team}/${id}/settings`, { settings: { eslint: null, '[go]': null } })).status,
    200,
  )
})

t.test('deep, wide and long values are checked completely', async (t) => {
  const service = await startService(t, { env: { EXTENSION_PREFIX: 'own,eslint' } })
  const ada = await service.signIn('ada')
  await service.workspace(ada)
  const deep = (inner: object, levels: number) => {
    let value = inner
    for (let level = 0; level < levels; level++) value = { ['n'.repeat(level % 7)]: value }
    return value
  }
  const long = 'n'.repeat(100_000)
  for (const value of [
    deep({ nodePath: 1 }, 20),
    { [long]: { [long]: { nodePath: 1 } } },
    [...Array(5_000).fill({ a: [{}] }), { nodePath: 1 }],
  ]) {
    const { status, body } = await ada.push('acme/api', { 'eslint.a': value })
    t.equal(status, 400)
    t.equal(body.errors.length, 1)
    t.match(body.errors[0].path, /\/nodePath$/)
  }
  const many = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`a${n}Path`, 1]))
  t.equal((await ada.push('acme/api', { 'eslint.a': many })).body.errors.length, 100)
})

t.test('settings that manifests restrict are denied too, except under the first prefix', async (t) => {
  const folder = await temporaryFolder(t)
  const manifest = (prefix: string, restrictedConfigurations: unknown) => ({
    capabilities: { untrustedWorkspaces: { supported: 'limited', restrictedConfigurations } },
    contributes: {
      configuration: { properties: { [`${prefix}.style`]: {}, [`${prefix}.rules`]: {} } },
    },
  })
  const files = [
    ['own', ['own.rules', 'lint.rules']],
    ['lint', ['Lint.Rules', 7, null, '', 'a b', 'lint.rules']],
    ['sloppy', 'sloppy.rules'],
  ] as const
  for (const [prefix, restricted] of files)
    await writeFile(join(folder, `${prefix}.json`), JSON.stringify(manifest(prefix, restricted)))
  const SETTINGS_SCHEMA = files.map(([prefix]) => join(folder, `${prefix}.json`)).join(', ')
  const env = { EXTENSION_PREFIX: 'own,lint,sloppy', SETTINGS_SCHEMA }
  t.same(readConfig(env).settingsKeys.denied, [...DENIED_KEYS, 'lint.rules', 'Lint.Rules'])
  const service = await startService(t, { env })
  const ada = await service.signIn('ada')
  await service.workspace(ada)
  t.same((await ada.get('/api/limits')).body.settings_denied, [...DENIED_KEYS, 'lint.rules', 'Lint.Rules'])
  const { status, body } = await ada.push('acme/api', { 'lint.rules': 1, 'own.rules': 1, lint: { rules: 1 } })
  t.equal(status, 400)
  t.same(body.errors, [
    { path: '/body/settings/lint.rules', message },
    { path: '/body/settings/lint/rules', message },
  ])
  t.equal((await ada.push('acme/api', { 'own.rules': 1, 'sloppy.rules': 1, 'lint.style': 1 })).status, 200)
  const { properties } = (await ada.get('/api/settings-schema')).body
  t.same(Object.keys(properties), ['own.style', 'own.rules', 'lint.style', 'sloppy.style', 'sloppy.rules'])
})
