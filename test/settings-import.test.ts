/** An editor's `settings.json` becomes part of a workspace's configuration: `team-settings import`. */
import { execFile } from 'node:child_process'
import { mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import fc from 'fast-check'
import t from 'tap'
import { run as runCommand } from '../client/src/command.js'
import { putSettings } from '../client/src/edit.js'
import { parseJson } from '../client/src/jsonc.js'
import { withImported } from '../schemas/settings-import.js'
import { projectRoot, serviceVersion } from '../src/platform/process/root.js'
import { temporaryFolder } from './process.js'
import { startService } from './service.js'
import { until } from './until.js'

type Values = Record<string, unknown>

const EXTENSION_PREFIX = 'ext,editor,files,js/ts,gopls,eslint,terminal'
const service = await startService(t, { env: { EXTENSION_PREFIX, RATE_LIMITS: 'off' } })
const ada = await service.signIn('ada')
const folder = join(projectRoot, 'test/settings-shapes')

const run = async (args: string[], env: Record<string, string> = {}) => {
  const ended = { code: 0, out: '', err: '' }
  ended.code = await runCommand(args, {
    env: { TEAM_SETTINGS_URL: service.url, ...env },
    version: serviceVersion,
    isTerminal: false,
    usesProxy: false,
    write: (text) => {
      ended.out += text
    },
    fail: (text) => {
      ended.err += text
    },
    wait: async () => {},
  })
  return ended
}

const read = async (path: string) => parseJson(await readFile(path, 'utf8')).value

const prefix = 'isn’t shared on this server'
const denied = 'is denied on this server (`SETTINGS_DENIED`)'
const long = 'is too long: a key has at most 200 characters'
const markup = 'must not contain any of `( ) < > [ ]` or a backtick'
const invisible = 'must not contain control or invisible characters'
const space = 'must not contain white space except single spaces inside'
const empty = 'has no settings in it'
const unset = 'must not be null: leave the key out'
const pair = 'contains half of a surrogate pair'
const prototype = 'contains `__proto__`'

/** The result for each file: the settings that are taken, and the keys that are left out. */
const shapes: Record<string, [taken: Values, leftOut?: string[]]> = {
  'block-in-block.json': [
    { '[typescript]': { 'editor.tabSize': 2 } },
    ['[typescript] [jsonc] must not be in another language block'],
  ],
  'block-names-language-twice.jsonc': [{}, ['[json][json] must name each language once']],
  'block-of-all-languages.jsonc': [{ '[*]': { 'editor.tabSize': 2 } }],
  'block-twice.jsonc': [{ '[json]': { 'editor.wordWrap': 'on' } }],
  'block-with-denied-keys-alone.jsonc': [{ 'editor.tabSize': 2 }, [`[vue] eslint.runtime ${denied}`]],
  'block-with-list.json': [{}, ['[typescript] must be an object of settings']],
  'block-without-end.json': [{}, ['[typescript must name languages, such as `[typescript]`']],
  'comment-before-value.jsonc': [{ 'editor.tabSize': 2 }],
  'comments-in-values.jsonc': [{ 'editor.rulers': [80, 120], 'files.exclude': { '**/*.js': true } }],
  'deep-key.json': [
    {
      'editor.unicodeHighlight.allowedLocales': { _os: true, _vscode: true },
      'editor.inlayHints.enabled': 'offUnlessPressed',
    },
  ],
  'deep-value.jsonc': [
    { 'editor.flat': JSON.parse(`${'['.repeat(30)}1${']'.repeat(30)}`) },
    ['editor.deep is nested too deeply: a request has at most 32 levels'],
  ],
  'denied-key-in-block.jsonc': [{ '[vue]': { 'editor.tabSize': 2 } }, [`[vue] eslint.runtime ${denied}`]],
  'denied-key-in-other-case.jsonc': [{}, [`ESLINT.NodePath ${prefix}`, `eslint.NODEPATH ${denied}`]],
  'denied-key.jsonc': [{ 'eslint.validate': ['vue'] }, [`eslint.nodePath ${denied}`]],
  'denied-name-in-value.jsonc': [{ 'editor.tabSize': 2 }, [`eslint has \`nodePath\` in it, which ${denied}`]],
  'denied-prefix.jsonc': [
    { 'editor.fontSize': 12 },
    [`terminal.integrated.sendKeybindingsToShell ${denied}`],
  ],
  'emoji-and-other-scripts.json': [{ 'ext.größe': 1, 'ext.設定': 'はい', 'ext.greeting': '👋🏽' }],
  'empty-block.json': [{ 'files.eol': '\n' }, [`[markdown] ${empty}`]],
  'empty.jsonc': [{}],
  'escaped-key.jsonc': [{ 'editor.tabSize': 2 }],
  'first-prefix-alone.json': [{ gopls: {} }, [`ext ${prefix}`]],
  'formatter-for-several-languages.json': [
    { '[javascript][typescript][typescriptreact]': { 'editor.defaultFormatter': 'esbenp.prettier-vscode' } },
  ],
  'globs-as-names.json': [
    {
      'files.exclude': { '**/node_modules': true, '**/*.{js,map}': { when: '$(basename).ts' } },
      'files.associations': { '*.mdx': 'markdown' },
    },
  ],
  'half-of-a-pair.jsonc': [{ 'ext.b': '😀' }, [`ext.a ${pair}`]],
  'key-as-markup.json': [
    { 'editor.tabSize': 2 },
    [`ext.<img src=x onerror=alert(1)> ${markup}`, `ext.[click](command:x) ${markup}`],
  ],
  'key-twice.jsonc': [{ 'editor.tabSize': 8, 'editor.wordWrap': 'on' }],
  'key-with-invisible-characters.json': [
    {},
    [`editor.tab\\u{200b}Size ${invisible}`, `ext.a\\u{202e}b ${invisible}`],
  ],
  'key-with-two-spaces.json': [{}, [`ext.word  wrap ${space}`, `ext.end  ${space}`]],
  'language-with-punctuation.json': [
    {
      '[c++]': { 'editor.tabSize': 8 },
      '[objective-c.mm]': { 'editor.tabSize': 3 },
      '[plain text]': { 'editor.wordWrap': 'on' },
    },
  ],
  'line-comments.jsonc': [{ 'editor.tabSize': 2, 'editor.wordWrap': 'off' }],
  'list-of-objects.json': [
    { 'editor.rulers': [80, { column: 120, color: '#f00' }], 'editor.quickSuggestions': { strings: 'on' } },
  ],
  'long-key-in-block.jsonc': [
    { '[json]': { 'editor.tabSize': 2 } },
    [`[json] editor.${'c'.repeat(194)} ${long}`],
  ],
  'long-key.jsonc': [{ [`editor.${'a'.repeat(193)}`]: 1 }, [`editor.${'b'.repeat(194)} ${long}`]],
  'names-like-numbers.jsonc': [{ 'ext.sizes': { '10': 'b', '2': 'a', x: 'c' } }],
  'nested-names.jsonc': [{ editor: { tabSize: 2, bracketPairColorization: { enabled: true } } }],
  'no-settings.jsonc': [{}],
  'nothing-after-the-dot.json': [{ 'ext.a': 1 }, ['editor. must have a name after `editor.`']],
  'nothing-of-this-server.jsonc': [{}, [`go.lintTool ${prefix}`]],
  'nul-in-text.jsonc': [{ 'ext.c': 1 }, ['ext.a contains NUL', 'ext.b contains NUL']],
  'null-value.json': [{}, [`ext.theme ${unset}`, `[json] editor.defaultFormatter ${unset}`]],
  'numbers.jsonc': [{ 'editor.fontSize': 12.5, 'editor.lineHeight': 100, 'editor.letterSpacing': -0.5 }],
  'one-language-block.json': [
    { 'editor.tabSize': 4, '[typescript]': { 'editor.tabSize': 2, 'editor.formatOnSave': true } },
  ],
  'one-line.jsonc': [{ 'editor.tabSize': 2, 'files.eol': '\n' }],
  'only-a-comment.jsonc': [{}],
  'other-prefix-in-block.json': [
    { '[python]': { 'editor.tabSize': 4 } },
    [`[python] black-formatter.args ${prefix}`],
  ],
  'other-prefixes.jsonc': [
    { 'editor.tabSize': 2 },
    [`go.useLanguageServer ${prefix}`, `workbench.colorTheme ${prefix}`],
  ],
  'prefix-in-other-case.jsonc': [{ 'editor.tabSize': 4 }, [`Editor.tabSize ${prefix}`]],
  'prefix-without-dot.jsonc': [{ files: { eol: '\n' } }, [`editorconfig.generateAuto ${prefix}`]],
  'program-of-the-first-prefix.jsonc': [{ 'ext.server.path': './server' }],
  'prototype-names.jsonc': [
    { 'ext.c': { constructor: 1 } },
    [`__proto__ ${prefix}`, `ext.a ${prototype}`, 'ext.b contains `constructor`'],
  ],
  'same-language-in-two-blocks.json': [
    { '[javascript][typescript]': { 'editor.tabSize': 2 }, '[typescript]': { 'editor.tabSize': 4 } },
  ],
  'slash-in-prefix-in-block.json': [{ '[typescriptreact]': { 'js/ts.preferences.quoteStyle': 'double' } }],
  'slash-in-prefix.json': [{ 'js/ts.preferences.quoteStyle': 'single', 'js/ts.format.semicolons': 'insert' }],
  'space-in-key.json': [{ 'ext.word wrap': true, 'ext.a.b c.d': 1 }],
  'tabs.jsonc': [{ 'editor.tabSize': 2 }],
  'text-like-comments.jsonc': [{ 'ext.home': 'https://team.example.com/*x*/', 'ext.note': 'a // b' }],
  'trailing-commas.jsonc': [{ 'editor.rulers': [100], '[json]': { 'editor.tabSize': 2 } }],
  'utf-16-big-endian.jsonc': [{ 'ext.name': 'Zoë' }],
  'utf-16-little-endian.jsonc': [{ 'ext.name': 'Zoë' }],
  'utf-16-without-mark.jsonc': [{ 'ext.name': 'Zoë' }],
  'utf-8-mark.jsonc': [{ 'editor.tabSize': 2 }],
  'whole-key-in-block.json': [
    { '[go]': { gopls: { 'ui.semanticTokens': false }, 'editor.insertSpaces': false } },
  ],
  'whole-key.json': [{ gopls: { 'ui.semanticTokens': true, 'formatting.gofumpt': true } }],
  'windows-lines.jsonc': [{ 'editor.insertSpaces': false, 'files.eol': '\r\n' }],
}

t.test('a file in any format is imported as far as allowed, with reasons for the rest', async (t) => {
  const files = (await readdir(folder)).filter((name) => name !== 'README.md')
  t.same(files.sort(), Object.keys(shapes).sort())
  const { id } = await service.workspace(ada, { patterns: ['acme/*'] })
  for (const [name, [taken, leftOut = []]] of Object.entries(shapes)) {
    const into = join(await temporaryFolder(t), 'team-settings.json')
    const file = join(folder, name)
    const { code, out, err } = await run(['import', file, '--into', into, '--all'])
    t.same([code, err], [0, ''], name)
    const listed = out.split('\n').filter((line) => line.startsWith(`  ${file}:`))
    t.same(
      listed.map((line) => line.slice(2 + file.length).replace(/^:\d+:\d+: /, '')),
      leftOut,
      name,
    )
    const isNothing = Object.keys(taken).length === 0
    if (isNothing) await t.rejects(stat(into), { code: 'ENOENT' }, name)
    else t.strictSame(await read(into), { settings: taken }, name)
    const stored = await ada.put(`/api/team/workspaces/${id}/configuration`, { settings: taken })
    t.equal(stored.status, 200, `${name}: the service stores what is taken`)
  }
})

t.test('a configuration file keeps its comments, and the command lists what it replaces', async (t) => {
  const at = await temporaryFolder(t)
  const [file, into] = [join(at, 'settings.json'), join(at, 'team-settings.json')]
  await writeFile(
    file,
    `{
  "editor.tabSize": 2,
  "editor.wordWrap": "off",
  "editor.rulers": [80],
  "go.lintTool": "x",
  "[typescript]": { "editor.tabSize": 4, "editor.rulers": [100], "eslint.runtime": "node" },
  "[go]": { "editor.tabSize": 8 }
}`,
  )
  await writeFile(
    into,
    `// Acme
{
    /* all */
    "settings": {
        "editor.tabSize": 3, // why three
        "[typescript]": {
            "editor.tabSize": 3, // kept
            "editor.wordWrap": "on" // no comma
        },
        "editor.wordWrap": "off",
        "ext.theme": "dark" // last
    },
    "patterns": ["acme/*"], // ours
}
`,
  )
  const { code, out, err } = await run(['import', file, '--into', into])
  t.same([code, err], [0, ''])
  t.equal(
    out,
    `${into}: 3 added, 2 replaced, 1 already there.
  replaced editor.tabSize: 3 by 2
  added editor.rulers: [80]
  replaced [typescript] editor.tabSize: 3 by 4
  added [typescript] editor.rulers: [100]
  added [go] editor.tabSize: 8
Left out of ${into}: 2.
  ${file}:5:3: go.lintTool isn’t shared on this server
  ${file}:6:66: [typescript] eslint.runtime is denied on this server (\`SETTINGS_DENIED\`)
This server’s prefixes are ext, editor, files, js/ts, gopls, eslint, terminal. Its operator can add others.
`,
  )
  const text = await readFile(into, 'utf8')
  t.equal(
    text,
    `// Acme
{
    /* all */
    "settings": {
        "editor.tabSize": 2, // why three
        "[typescript]": {
            "editor.tabSize": 4, // kept
            "editor.wordWrap": "on", // no comma
            "editor.rulers": [
                100
            ]
        },
        "editor.wordWrap": "off",
        "ext.theme": "dark", // last
        "editor.rulers": [
            80
        ],
        "[go]": {
            "editor.tabSize": 8
        }
    },
    "patterns": ["acme/*"], // ours
}
`,
  )
  const again = await run(['import', file, '--into', into])
  t.ok(again.out.startsWith(`${into}: 0 added, 0 replaced, 6 already there.\n`), again.out)
  t.equal(await readFile(into, 'utf8'), text)
})

t.test('with --project, settings become an override, without the keys that the file locks', async (t) => {
  const at = await temporaryFolder(t)
  const [file, into] = [join(at, 'settings.json'), join(at, 'team-settings.json')]
  await writeFile(
    file,
    '{"editor.tabSize": 2, "editor.rulers": null, "[json]": {"editor.tabSize": 2, "editor.wordWrap": "on"}}',
  )
  await writeFile(
    into,
    '{"locked": ["editor.tabSize"], "projects": {"Acme/Web": {"settings": {"ext.a": 1}}}}',
  )
  const { code, out } = await run(['import', file, '--into', into, '--project', 'acme/web'])
  t.equal(code, 0)
  t.ok(out.includes(': editor.tabSize is locked for all repositories\n'), out)
  t.ok(out.includes(': [json] editor.tabSize is locked for all repositories\n'), out)
  t.strictSame(await read(into), {
    locked: ['editor.tabSize'],
    projects: {
      'Acme/Web': { settings: { 'ext.a': 1, 'editor.rulers': null, '[json]': { 'editor.wordWrap': 'on' } } },
    },
  })
  t.equal((await run(['import', file, '--into', into, '--project', 'acme/platform/api'])).code, 0)
  t.same(Object.keys(((await read(into)) as { projects: Values }).projects), [
    'Acme/Web',
    'acme/platform/api',
  ])
})

t.test('a locked language block keeps other blocks for its languages out of overrides', async (t) => {
  const at = await temporaryFolder(t)
  const [file, into] = [join(at, 'settings.json'), join(at, 'team-settings.json')]
  await writeFile(file, '{"[javascript][typescript]": {"editor.tabSize": 2}, "[go]": {"editor.tabSize": 8}}')
  await writeFile(into, '{"locked": ["[typescript]"]}')
  const { code, out } = await run(['import', file, '--into', into, '--project', 'acme/web'])
  t.equal(code, 0)
  t.ok(out.includes(`${file}:1:2: [javascript][typescript] is locked for all repositories\n`), out)
  t.strictSame(await read(into), {
    locked: ['[typescript]'],
    projects: { 'acme/web': { settings: { '[go]': { 'editor.tabSize': 8 } } } },
  })
})

/** A file's name and text, what is imported, and the other lines of the output. */
const kinds: [name: string, text: string, taken: Values | undefined, lines: string[]][] = [
  [
    'acme.code-workspace',
    `{
  "folders": [{ "path": "." }], // one
  "settings": {
    "editor.tabSize": 2,
    "editor.tabSize": 4,
    "go.lintTool": "x",
  },
  "extensions": { "recommendations": [] },
}`,
    { 'editor.tabSize': 4 },
    [':5:5: appears twice, so the last one counts', ':6:5: go.lintTool isn’t shared on this server'],
  ],
  ['acme.code-workspace', '{ "folders": [] }', undefined, [' has no settings.']],
  ['renamed.json', '{ "folders": [], "settings": { "ext.a": 1 } }', { 'ext.a': 1 }, []],
  [
    '.devcontainer/devcontainer.json',
    `{
  // A container
  "image": "debian", "features": { "ghcr.io/a/b:1": {}, "ghcr.io/a/b:1": {} },
  "customizations": { "vscode": { "extensions": ["a.b"], "settings": { "editor.tabSize": 2, "eslint.nodePath": "x" } } },
}`,
    { 'editor.tabSize': 2 },
    [':4:93: eslint.nodePath is denied on this server (`SETTINGS_DENIED`)'],
  ],
  ['.devcontainer.json', '{ "image": "debian", "settings": { "ext.a": 1 } }', { 'ext.a': 1 }, []],
  [
    'devcontainer.json',
    `{
  "settings": { "editor.tabSize": 2, "go.lintTool": "x" },
  "customizations": { "vscode": { "settings": { "editor.tabSize": 4, "eslint.nodePath": "x" } } },
}`,
    { 'editor.tabSize': 4 },
    [
      ':2:38: go.lintTool isn’t shared on this server',
      ':3:70: eslint.nodePath is denied on this server (`SETTINGS_DENIED`)',
    ],
  ],
  ['devcontainer.json', '{ "image": "debian" }', undefined, [' has no settings.']],
  [
    'devcontainer.json',
    '{ "customizations": { "vscode": { "settings": [] } } }',
    undefined,
    [' has no settings.'],
  ],
  ['renamed.json', '{ "customizations": { "vscode": { "settings": { "ext.a": 1 } } } }', { 'ext.a': 1 }, []],
  [
    'settings.json',
    '{ "ext.a": 1, "settings": { "ext.b": 2 } }',
    { 'ext.a': 1 },
    [':1:15: settings isn’t shared on this server'],
  ],
  ['settings.json', '{}', undefined, [' has no settings.']],
  ['settings.json', '', undefined, [' has no settings.']],
  [
    'settings.json',
    '{ "gopls": { "ui.semanticTokens": true } }',
    { gopls: { 'ui.semanticTokens': true } },
    [],
  ],
]

t.test('settings are found in the files of workspaces and dev containers', async (t) => {
  for (const [name, text, taken, lines] of kinds) {
    const at = await temporaryFolder(t)
    const [file, into] = [join(at, name), join(at, 'team-settings.json')]
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, text)
    const { code, out, err } = await run(['import', file, '--into', into])
    t.same([code, err], [0, ''], text)
    t.ok(out.startsWith(`${into}: ${taken ? 1 : 0} added, 0 replaced, 0 already there.\n`), out)
    const found = out.split('\n').filter((line) => line.trim().startsWith(file))
    t.same(
      found.map((line) => line.trim().slice(file.length)),
      lines,
      text,
    )
    if (taken) t.strictSame(await read(into), { settings: taken }, text)
    else await t.rejects(stat(into), { code: 'ENOENT' }, text)
  }
})

t.test('another JSON object isn’t a settings file', async (t) => {
  const others = [
    '{ "name": "web", "files": ["dist"], "dependencies": { "lodash.get": "4" } }',
    '{ "compilerOptions": { "paths": { "@/*": ["./*"] } }, "files": [] }',
    '{ "settings": { "editor.tabSize": 2 }, "locked": [] }',
    '{ "permissions": { "allow": [] } }',
    '{ "__proto__": {} }',
  ]
  const at = await temporaryFolder(t)
  const [file, into] = [join(at, 'other.json'), join(at, 'team-settings.json')]
  for (const text of others) {
    await writeFile(file, text)
    const { code, out, err } = await run(['import', file, '--into', into])
    t.strictSame(
      [code, out, err],
      [
        1,
        '',
        `${file} isn’t a settings file: no name in it has a dot or is a language block. Nothing was written.\n`,
      ],
      text,
    )
    await t.rejects(stat(into), { code: 'ENOENT' }, text)
  }
})

t.test('a number that would change leaves out its key alone', async (t) => {
  const at = await temporaryFolder(t)
  const [file, into] = [join(at, 'settings.json'), join(at, 'team-settings.json')]
  await writeFile(
    file,
    `{
  "ext.id": 12345678901234567890,
  "ext.list": [1, { "a": 1e999 }],
  "ext.b": 1.50,
  "ext.twice": 1e999,
  "ext.twice": 2,
  "go.id": 1e999,
  "[go]": { "ext.c": 0.1000000000000000000001, "ext.d": 1 },
}`,
  )
  const { code, out, err } = await run(['import', file, '--into', into])
  t.same([code, err], [0, ''])
  t.ok(
    out.endsWith(`
${file}:6:3: appears twice, so the last one counts
Left out of ${into}: 4.
  ${file}:2:3: ext.id \`12345678901234567890\` would become \`12345678901234567000\`
  ${file}:3:3: ext.list \`1e999\` would become \`Infinity\`
  ${file}:7:3: go.id isn’t shared on this server
  ${file}:8:13: [go] ext.c \`0.1000000000000000000001\` would become \`0.1\`
This server’s prefixes are ext, editor, files, js/ts, gopls, eslint, terminal. Its operator can add others.
`),
    out,
  )
  t.strictSame(await read(into), { settings: { 'ext.b': 1.5, 'ext.twice': 2, '[go]': { 'ext.d': 1 } } })
})

t.test('matters of taste are left out, unless --all is given', async (t) => {
  const at = await temporaryFolder(t)
  const [file, into] = [join(at, 'settings.json'), join(at, 'team-settings.json')]
  const settings = {
    'editor.fontSize': 12,
    'editor.cursorBlinking': 'solid',
    'editor.tabSize': 2,
    '[json]': { 'editor.fontFamily': 'Fira Code', 'editor.tabSize': 4 },
  }
  await writeFile(file, JSON.stringify(settings))
  const { code, out } = await run(['import', file, '--into', into])
  t.equal(code, 0)
  const lines = out.split('\n')
  t.same(lines.slice(lines.indexOf(`Left out of ${into}: 3.`) + 1), [
    `  ${file}:1:2: editor.fontSize is a matter of taste`,
    `  ${file}:1:23: editor.cursorBlinking is a matter of taste`,
    `  ${file}:1:84: [json] editor.fontFamily is a matter of taste`,
    '--all imports matters of taste, too: fonts, the cursor, themes and zoom.',
    '',
  ])
  t.strictSame(await read(into), { settings: { 'editor.tabSize': 2, '[json]': { 'editor.tabSize': 4 } } })
  t.equal((await run(['import', file, '--into', into, '--all'])).code, 0)
  t.same(((await read(into)) as { settings: Values }).settings, settings)
})

t.test('after an error, nothing is written', async (t) => {
  const at = await temporaryFolder(t)
  const [file, into] = [join(at, 'settings.json'), join(at, 'team-settings.json')]
  const fails = async (content: string | Uint8Array, message: string, args: string[] = []) => {
    await writeFile(file, content)
    const before = await readFile(into, 'utf8').catch(() => undefined)
    const { code, out, err } = await run(['import', file, '--into', into, ...args])
    t.strictSame([code, out, err], [1, '', `${message}\n`])
    t.equal(await readFile(into, 'utf8').catch(() => undefined), before)
  }
  const good = '{"editor.tabSize": 2}'
  await fails('{\n  "editor.tabSize" 2\n}', `${file}:2:20: \`:\` is missing after \`editor.tabSize\``)
  await fails("{'editor.tabSize': 2}", `${file}:1:2: a name in double quotes is missing`)
  await fails('["editor.tabSize"]', `${file}:1:1: the file must be an object of settings`)
  await fails(Buffer.from('{"ext.a": "ä"}', 'latin1'), `${file}:1:1: the file is neither UTF-8 nor UTF-16`)
  await fails(`{"ext.a": "${'x'.repeat(2 ** 20)}"}`, `${file} is larger than 1048576 bytes.`)
  await fails(
    `{"ext.a": "${'x'.repeat(262_144)}"}`,
    'The settings would have more than 262144 bytes. Nothing was written.',
  )
  await fails(good, 'Name the repository of --project as owner/repo.', ['--project', 'acme'])
  await writeFile(into, '{"settings": {,}}')
  await fails(good, `${into}:1:15: a name in double quotes is missing`)
  await writeFile(into, '{"editor.tabSize": 2}')
  await fails(good, `${into}:1:2: \`editor.tabSize\` isn’t a section`)
  await writeFile(into, '{}')
  const gone = await run(['import', file, '--into', into], { TEAM_SETTINGS_URL: 'http://127.0.0.1:9' })
  t.same([gone.code, gone.out, await readFile(into, 'utf8')], [1, '', '{}'])
  const missing = await run(['import', join(at, 'none.json'), '--into', into])
  t.same([missing.code, missing.err], [1, `${join(at, 'none.json')} can’t be read (ENOENT).\n`])
  const folders = await run(['import', file, '--into', at])
  t.same([folders.code, folders.err], [1, `${at} can’t be read (EISDIR).\n`])
  const other = await run(['diff', file, '--into', into])
  t.same([other.code, other.err], [1, '--into, --project and --all belong to import.\n'])
  t.same((await readdir(at)).sort(), ['settings.json', 'team-settings.json'], 'no other file is left')
})

t.test('import sends one request, without the key or any settings', async (t) => {
  const requests: string[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => {
      requests.push(`${request.method} ${request.url} ${request.headers.authorization} ${body}`)
      response.setHeader('Content-Type', 'application/json')
      response.end('{"settings_prefixes":["ext","editor"],"settings_denied":[],"settings_bytes":262144}')
    })
  })
  server.listen(0, '127.0.0.1')
  await until(() => server.listening, 'it listens')
  t.teardown(() => void server.close())
  const { port } = server.address() as { port: number }
  const at = await temporaryFolder(t)
  await writeFile(join(at, 'settings.json'), '{ "editor.tabSize": 2, }')
  await symlink('linked.json', join(at, 'team-settings.json'))
  await writeFile(join(at, 'linked.json'), '{}\n')
  const program = join(projectRoot, 'client/dist/bin.js')
  const { stdout } = await promisify(execFile)(process.execPath, [program, 'import', 'settings.json'], {
    cwd: at,
    env: { TEAM_SETTINGS_URL: `http://127.0.0.1:${port}`, TEAM_SETTINGS_KEY: 'secret' },
  })
  t.same(requests, ['GET /api/limits undefined '])
  t.equal(stdout, 'team-settings.json: 1 added, 0 replaced, 0 already there.\n  added editor.tabSize: 2\n')
  t.equal(
    await readFile(join(at, 'linked.json'), 'utf8'),
    '{\n  "settings": {\n    "editor.tabSize": 2\n  }\n}\n',
    'a link stays a link',
  )
})

/** The settings of a language as VS Code computes them: any block wins over a plain key, and a block of one language over others. */
const editorSettings = (settings: Values, language: string): Values => {
  const blocks = Object.entries(settings).filter(([key]) => key.startsWith('['))
  const languagesOf = (block: string) => block.slice(1, -1).split('][')
  const shared = blocks.filter(([key]) => languagesOf(key).length > 1 && languagesOf(key).includes(language))
  const own = blocks.filter(([key]) => key === `[${language}]`)
  const plain = Object.entries(settings).filter(([key]) => !key.startsWith('['))
  return Object.fromEntries([
    ...plain,
    ...[...shared, ...own].flatMap(([, block]) => Object.entries(block as Values)),
  ])
}

t.test('imported, compared and applied settings reach editors as they are in the file', async (t) => {
  const { id } = await service.workspace(ada, { patterns: ['round/*'] })
  const key = await ada.post(`/api/team/workspaces/${id}/keys`, {
    name: 'ci',
    scopes: ['settings:read', 'settings:write'],
  })
  const env = { TEAM_SETTINGS_WORKSPACE: id, TEAM_SETTINGS_KEY: key.body.secret }
  const at = await temporaryFolder(t)
  const [file, own, into] = ['settings.json', 'own.json', 'team-settings.json'].map((name) => join(at, name))
  const settings = `{
  // Formatting
  "editor.tabSize": 4, /* spaces */
  "editor.formatOnSave": true,
  "js/ts.preferences.quoteStyle": "single",
  "gopls": { "ui.semanticTokens": true },
  "files.exclude": { "**/dist": true, },
  "[javascript][typescript]": { "editor.tabSize": 2, "editor.wordWrap": "on" },
  "[typescript]": { "editor.tabSize": 3 }, // stays
  "[go]": { "editor.insertSpaces": false },
}`
  const override = '{ "editor.formatOnSave": false, "[go]": { "editor.tabSize": 8 } /* wide */ }'
  await writeFile(file ?? '', settings)
  await writeFile(own ?? '', override)
  await writeFile(into ?? '', '{\n  // Ours\n  "patterns": ["round/*"]\n}\n')
  t.equal((await run(['import', `${file}`, '--into', `${into}`], env)).code, 0)
  t.equal((await run(['import', `${own}`, '--into', `${into}`, '--project', 'round/api'], env)).code, 0)
  const compared = await run(['diff', `${into}`], env)
  t.same([compared.code, compared.err], [2, ''])
  const applied = await run(['apply', `${into}`], env)
  t.same([applied.code, applied.out], [0, compared.out])
  t.equal((await run(['diff', `${into}`], env)).code, 0)
  const whole = parseJson(settings).value as Values
  const both = withImported(whole, parseJson(override).value as Values)
  for (const [repo, expected] of [
    ['round/web', whole],
    ['round/api', both],
  ] as const) {
    const { body } = await ada.get(`/api/team/effective-config?repo=${repo}&workspace=${id}`)
    for (const language of ['javascript', 'typescript', 'go', 'plaintext'])
      t.same(
        editorSettings(body.settings, language),
        editorSettings(expected, language),
        `${repo} ${language}`,
      )
  }
})

t.test('settings can be added to any configuration file, and its comments are kept', (t) => {
  const name = fc.constantFrom('editor.tabSize', 'ext.a', 'ext.b/c~d', '[json]', '[go]', '10', '__proto__')
  const plain = fc.oneof(fc.integer(), fc.string(), fc.constant([1, { a: [] }]), fc.constant({ x: {} }))
  const block = fc.array(fc.tuple(name, plain)).map((entries) => Object.fromEntries(entries))
  const values = fc
    .array(fc.tuple(name, plain, block))
    .map((all) =>
      Object.fromEntries(all.map(([key, one, inner]) => [key, key.startsWith('[') ? inner : one])),
    )
  const gap = fc.constantFrom('', ' ', '\n', '\t', '// a, } "b": 1\n', '/* , ] */')
  const gaps = fc.infiniteStream(gap)
  /** JSON with something between all of its tokens. */
  const write = (value: unknown, next: () => string, mayTrail: boolean): string => {
    if (typeof value !== 'object' || value === null) return JSON.stringify(value)
    const isList = Array.isArray(value)
    const items = isList
      ? value.map((one) => write(one, next, mayTrail))
      : Object.entries(value).map(
          ([key, one]) => `${JSON.stringify(key)}${next()}:${next()}${write(one, next, mayTrail)}`,
        )
    const body = items.map((item) => `${next()}${item}${next()}`).join(',')
    const tail = mayTrail && items.length > 0 ? `,${next()}` : next()
    return `${isList ? '[' : '{'}${body}${tail}${isList ? ']' : '}'}`
  }
  const comments = (text: string) => text.match(/\/\/ a, \} "b": 1\n|\/\* , \] \*\//g) ?? []
  fc.assert(
    fc.property(values, values, gaps, fc.boolean(), fc.boolean(), (before, taken, stream, mayTrail, has) => {
      const next = () => stream.next().value as string
      const file = { patterns: ['a'], ...(has && { settings: before }) }
      const text = next() + write(file, next, mayTrail) + next()
      const after = putSettings(text, ['settings'], taken)
      const expected = { ...file, settings: withImported(has ? before : {}, taken) }
      t.strictSame(sortedOf(parseJson(after).value), sortedOf(expected))
      t.ok(comments(after).length <= comments(text).length)
      const replaced = has && Object.keys(taken).some((key) => Object.hasOwn(before, key))
      if (!replaced) t.same(comments(after), comments(text))
    }),
    { numRuns: 300 },
  )
  t.end()
})

/** Comparable whatever the order of names, `__proto__` included. */
const sortedOf = (value: unknown): unknown =>
  typeof value !== 'object' || value === null
    ? value
    : Array.isArray(value)
      ? value.map(sortedOf)
      : Object.entries(value)
          .map(([key, one]) => [key, sortedOf(one)])
          .sort(([one], [other]) => (`${one}` < `${other}` ? -1 : 1))
