/** Settings that run programs: which names are denied by default, and where they count in a value. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { ALLOWED_KEYS, DENIED_KEYS } from '../schemas/denied-patterns.js'
import { NO_RULES, settingsKeys } from '../schemas/settings-keys.js'
import { readConfig } from '../src/config.js'
import { projectRoot } from '../src/platform/process/root.js'
import { temporaryFolder } from './process.js'
import { startService } from './service.js'

const team = '/api/team/workspaces'
const message = 'is denied on this server (`SETTINGS_DENIED`)'

type Row = readonly [key: string, value: unknown]

/** Settings of published manifests and repositories, made before the patterns. */
const rowsOf = async (name: string): Promise<Row[]> => {
  const text = await readFile(join(projectRoot, 'test/settings-lists', `${name}.tsv`), 'utf8')
  const lines = text.trim().split('\n').slice(1)
  return lines.map((line) => line.split('\t')).map(([key = '', json = '']) => [key, JSON.parse(json)])
}
const running = await rowsOf('runs-programs')
const harmless = await rowsOf('harmless')

/** Settings that run programs or redirect traffic, and that no pattern denies. A pattern for each would be a longer list. */
const NOT_DENIED = [
  ...['cody.customHeaders', 'crystal-lang.shards', 'deno.config', 'deno.importMap', 'elixirLS.dotFormatter'],
  ...['gitlens.advanced.externalDiffTool', 'go.toolsManagement.go', 'idf.openOcdConfigs'],
  ...['java.checkstyle.modules', 'jupyter.widgetScriptSources', 'mdb.browserCommandForOIDCAuth'],
  ...['mdb.presetConnections', 'metals.scalafixRulesDependencies', 'mochaExplorer.optsFile'],
  ...['opa.languageServers', 'openctx.providers', 'perlnavigator.perlParams', 'phpstan.dockerContainerName'],
  ...['puppet.editorService.tcp.address', 'python.venvFolders', 'rubyLsp.branch', 'ruff.importStrategy'],
  ...['solidity.compileUsingLocalVersion', 'vscode-neovim.afterInitConfig', 'zig.debugAdapter'],
]
/** Harmless settings that are denied. */
const FALSELY_DENIED = ['contributions.settings.replaceDefaultValue', 'lint.rules']

t.test(
  'of settings that run programs at least 95 % are denied by default, of harmless ones at most 1 %',
  (t) => {
    t.ok(DENIED_KEYS.length <= 80)
    t.equal(new Set([...DENIED_KEYS, ...ALLOWED_KEYS]).size, DENIED_KEYS.length + ALLOWED_KEYS.length)
    const { deniedParts } = settingsKeys({
      ...NO_RULES,
      prefixes: ['own', '*'],
      denied: DENIED_KEYS,
      allowed: ALLOWED_KEYS,
    })
    const isDenied = ([key, value]: Row) => deniedParts(key, value).length > 0
    const keysOf = (rows: Row[]) => [...new Set(rows.map(([key]) => key))].sort()
    const missed = running.filter((row) => !isDenied(row))
    t.same(keysOf(missed), [...NOT_DENIED].sort())
    t.ok(running.length >= 200 && missed.length <= running.length * 0.05)
    const refused = harmless.filter(isDenied)
    t.same(keysOf(refused), [...FALSELY_DENIED].sort())
    t.ok(harmless.length >= 200 && refused.length <= harmless.length * 0.01)
    t.end()
  },
)

t.test('settings of the lists are rejected or stored', async (t) => {
  const service = await startService(t, { env: { EXTENSION_PREFIX: 'own,*' } })
  const ada = await service.signIn('ada')
  const { id } = await service.workspace(ada)
  const settings = Object.fromEntries(harmless.filter(([key]) => !FALSELY_DENIED.includes(key)))
  t.equal((await ada.patch(`${team}/${id}/settings`, { settings })).status, 200)
  const denied = running.filter(([key]) => !NOT_DENIED.includes(key))
  for (let from = 0; from < denied.length; from += 50) {
    const some = Object.fromEntries(denied.slice(from, from + 50))
    const { status, body } = await ada.push('acme/api', some)
    t.equal(status, 400)
    const keyOf = ({ path }: { path: string }) => path.split('/')[3]?.replaceAll('~1', '/')
    t.same([...new Set(body.errors.map(keyOf))], Object.keys(some))
  }
  const { body } = await ada.get('/api/limits')
  t.same(
    [body.settings_denied, body.settings_allowed, body.settings_restricted],
    [DENIED_KEYS, ALLOWED_KEYS, []],
  )
})

t.test('names of programs deny values with a text, and ! denies any value', async (t) => {
  const env = {
    EXTENSION_PREFIX: 'own,lint,trust,*',
    SETTINGS_DENIED: '*command,!trust.*',
    SETTINGS_ALLOWED: 'lint.safe*',
  }
  const service = await startService(t, { env })
  const ada = await service.signIn('ada')
  await service.workspace(ada)
  for (const value of [true, false, 0, {}, [], [1, [null]], { a: { b: true } }])
    t.equal((await ada.push('acme/api', { 'lint.command': value })).status, 200, JSON.stringify(value))
  for (const value of ['', 'x', ['x'], { a: [{ b: 'x' }] }])
    for (const key of ['lint.command', 'lint.Command.linux', 'lint.commandWindows', 'lint.command.win32'])
      t.equal((await ada.push('acme/api', { [key]: value })).status, 400, JSON.stringify([key, value]))
  for (const value of [true, 0, 'x', {}])
    t.equal((await ada.push('acme/api', { 'trust.all': value })).status, 400)
  t.equal(
    (await ada.push('acme/api', { 'lint.safeCommand': 'x', 'lint.safeCommand.linux': 'x' })).status,
    200,
  )
  t.equal((await ada.push('acme/api', { lint: { safeCommand: 'x' } })).status, 200)
  t.equal((await ada.push('acme/api', { trust: { all: true } })).status, 400)
  t.equal((await ada.push('acme/api', { 'trust.a': { all: 'x' } })).status, 400)
})

t.test(
  'names in a value count where they continue a setting, or name a program in an unknown object',
  async (t) => {
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
      'eslint.rules': [{ runtimeArgs: [], path: 4, '*/command': 'x', '.env': 'x' }],
      'gopls.codelenses': { env: true, command: { on: false } },
      'editor.x': { shellPath: 'x' },
      'typescript.y': { tsserver: { nodePath: 'x' } },
      '[go]': { 'editor.tabSize': 4, 'own.path': 'x', 'editor.x': { shellPath: 'x' } },
    }
    const at = (value: object) => ada.patch(`${team}/${id}/settings`, { settings: value })
    t.equal((await at(harmless)).status, 200)
    t.equal((await ada.push('acme/api', harmless)).status, 200)
    const cases: [object, string[]][] = [
      [{ eslint: { nodePath: 'x', validate: [] } }, ['/eslint/nodePath']],
      [{ eslint: { 'lintTask.command': 'x' } }, ['/eslint/lintTask.command']],
      [{ eslint: { lintTask: { command: 'x', options: 'x' } } }, ['/eslint/lintTask']],
      [
        { gopls: { 'build.buildFlags': ['x'], 'build.env': { a: 'x' } } },
        ['/gopls/build.buildFlags', '/gopls/build.env'],
      ],
      [{ 'js/ts': { tsserver: { pluginPaths: ['x'] } } }, ['/js~1ts/tsserver/pluginPaths']],
      [
        { 'nix.serverSettings': { nixd: { formatting: { COMMAND: ['x'] } } } },
        ['/nix.serverSettings/nixd/formatting/COMMAND'],
      ],
      [{ 'eslint.rules': [{ rule: 'a' }, 1, [{ runtimeArgs: ['x'] }]] }, ['/eslint.rules/2/0/runtimeArgs']],
      [
        { '[go]': { 'eslint.x': { 'our own': { shellPath: 'x' } }, 'eslint.nodePath': 'x' } },
        ['/[go]/eslint.x/our own/shellPath', '/[go]/eslint.nodePath'],
      ],
      [{ files: { command: 'x' }, 'files.command': 'x' }, ['/files/command', '/files.command']],
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
    t.hasStrict(await override({ 'eslint.nodePath': null }), { status: 200 })
    t.hasStrict(await override({ '[go]': { 'eslint.nodePath': null } }), { status: 200 })
    t.hasStrict(await at({ 'eslint.nodePath': null }), { status: 200 })
  },
)

t.test('a stored setting with a denied part is kept, isn’t applied, and can be removed', async (t) => {
  const env = { EXTENSION_PREFIX: 'own,eslint,gopls' }
  const before = await startService(t, { env: { ...env, SETTINGS_DENIED: 'x.*' } })
  const ada = await before.signIn('ada')
  const { id } = await before.workspace(ada)
  const settings = {
    eslint: { nodePath: 'x' },
    '[go]': { gopls: { env: { A: 'x' } }, 'gopls.a': 1 },
    'gopls.b': 2,
  }
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
    deep({ nodePath: 'x' }, 20),
    { [long]: { [long]: { nodePath: 'x' } } },
    [...Array(5_000).fill({ a: [{}] }), { nodePath: 'x' }],
  ]) {
    const { status, body } = await ada.push('acme/api', { 'eslint.a': value })
    t.equal(status, 400)
    t.equal(body.errors.length, 1)
    t.match(body.errors[0].path, /\/nodePath$/)
  }
  const many = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`a${n}Path`, 'x']))
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
  const env = { EXTENSION_PREFIX: 'own,lint,sloppy', SETTINGS_SCHEMA, SETTINGS_ALLOWED: 'lint.*' }
  const { denied, restricted } = readConfig(env).settingsKeys
  t.same([denied, restricted], [DENIED_KEYS, ['lint.rules', 'Lint.Rules']])
  const service = await startService(t, { env })
  const ada = await service.signIn('ada')
  await service.workspace(ada)
  t.same((await ada.get('/api/limits')).body.settings_denied, [...DENIED_KEYS, '!lint.rules', '!Lint.Rules'])
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

t.test('a manifest decides which names in a value are settings', async (t) => {
  const folder = await temporaryFolder(t)
  const file = join(folder, 'lint.json')
  const properties = {
    'lint.servers': { type: 'object' },
    'lint.engine': { type: 'object' },
    'lint.engine.path': { type: 'string' },
    'lint.showPath': { type: 'boolean' },
    'lint.binPath': { type: ['string', 'null'] },
  }
  await writeFile(file, JSON.stringify({ contributes: { configuration: { properties } } }))
  const service = await startService(t, { env: { EXTENSION_PREFIX: 'own,lint', SETTINGS_SCHEMA: file } })
  const ada = await service.signIn('ada')
  await service.workspace(ada)
  const push = async (settings: Record<string, unknown>) => (await ada.push('acme/api', settings)).status
  t.equal(await push({ 'lint.servers': { a: { command: 'x', path: 'x' } }, 'lint.showPath': true }), 200)
  t.equal(await push({ 'lint.other': { a: { command: 'x' } } }), 400)
  t.equal(await push({ 'lint.engine': { command: 'x' } }), 200)
  t.equal(await push({ 'lint.engine': { path: 'x' } }), 400)
  t.equal(await push({ 'lint.engine': { path: true } }), 200)
  t.equal(await push({ lint: { servers: { command: 'x' } } }), 200)
  t.equal(await push({ lint: { other: { command: 'x' } } }), 400)
  const shown = (await ada.get('/api/settings-schema')).body.properties
  t.same(Object.keys(shown), ['lint.servers', 'lint.engine', 'lint.showPath'])
})
