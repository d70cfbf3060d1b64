/** How the extension writes a team's settings, in a fake editor with the real service. */
import { execFile } from 'node:child_process'
import { lstat, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { planFor, settingsIn, valuesOf } from '../extension/src/plan.js'
import { editText, readText } from '../extension/src/settings-text.js'
import { plain } from '../extension/src/text.js'
import { judgeOf, readManifests } from '../extension/src/trust.js'
import { ALLOWED_KEYS } from '../schemas/denied-patterns.js'
import { settingMatcherOf } from '../schemas/kept-settings.js'
import { projectRoot } from '../src/platform/process/root.js'
import { type FakeExtension, installEditor, type OpenFolder } from './fake-vscode.js'
import { temporaryFolder } from './process.js'
import { startService } from './service.js'
import { until } from './until.js'

const run = promisify(execFile)

/** The service denies nothing that these tests use, so that only the editor does. */
const service = await startService(t, {
  env: { EXTENSION_PREFIX: 'ext,editor,files,window,tool,lint,safe', SETTINGS_DENIED: 'terminal.*' },
})
type Test = Parameters<typeof temporaryFolder>[0]

/** One extension runs programs and doesn't declare what is safe, one runs programs and does, and one is safe. */
const EXTENSIONS: FakeExtension[] = [
  {
    id: 'acme.tool',
    packageJSON: {
      contributes: {
        configuration: {
          properties: {
            'tool.runner': { default: '', scope: 'resource' },
            'tool.level': { default: 0, scope: 'resource' },
          },
        },
      },
    },
  },
  {
    id: 'acme.lint',
    packageJSON: {
      capabilities: {
        untrustedWorkspaces: { supported: 'limited', restrictedConfigurations: ['lint.engine'] },
      },
      contributes: {
        configuration: {
          properties: {
            'lint.engine': { default: '', scope: 'resource' },
            'lint.strict': { default: false, scope: 'resource' },
            'lint.cache': { default: '', scope: 'machine' },
            'lint.local': { default: '', scope: 'machine-overridable' },
            'lint.once': { default: '', scope: 'application' },
          },
        },
      },
    },
  },
]

const start = async (
  t: Test,
  login: string,
  {
    explained = true,
    name = 'api',
    ...place
  }: Partial<OpenFolder> & { explained?: boolean; name?: string } = {},
) => {
  const folder = await temporaryFolder(t)
  const opened: OpenFolder = {
    address: join(folder, name),
    remote: `git@github.com:${login}-team/api.git`,
    ...place,
  }
  await mkdir(join(opened.address, '.vscode'), { recursive: true })
  const caller = await service.signIn(login)
  const { id } = await service.workspace(caller, { name: `${login} & co`, patterns: [`${login}-team/*`] })
  const decide = (settings: object, locked: string[] = []) =>
    caller.patch(`/api/team/workspaces/${id}/settings`, { settings, locked })
  const editor = await installEditor({ folder, url: service.url, extensions: EXTENSIONS, explained })
  editor.person.github = service.repohost.addUser(login, { id: caller.repohostId }).token
  return { caller, decide, editor, opened, folder }
}
type Editor = Awaited<ReturnType<typeof installEditor>>
type Window = Awaited<ReturnType<Editor['openWindow']>>
const signIn = async (window: Window) => {
  await window.run('signIn')
  await until(() => !/not said|aren’t signed in/.test(window.item.tooltip), 'the team is known')
}
const fileIn = ({ address }: OpenFolder) => join(address, '.vscode/settings.json')
const textIn = (opened: OpenFolder) => readFile(fileIn(opened), 'utf8')
const listed = async ({ window, editor, repo = '' }: { window: Window; editor: Editor; repo?: string }) => {
  await window.run('show')
  return Object.fromEntries(
    editor.seen.listed
      .filter(({ detail }) => detail?.startsWith(repo))
      .map(({ label, detail = '' }) => [label, detail.slice(detail.indexOf(': ') + 2)]),
  )
}
const becomes = async (window: Window, expected: object, what: string) => {
  const sorted = (values: object) => JSON.stringify(Object.entries(values).sort())
  await until(() => sorted(window.values()) === sorted(expected), what)
}

t.test('other people’s text never becomes a link, a command, an icon or another line', (t) => {
  for (const [text, expected] of [
    ['ext.[Show details](command:evil)', 'ext.[Show details] (command:evil)'],
    ['[a](https://evil.example "b")', '[a] (https://evil.example "b")'],
    ['$(check) done', '$ (check) done'],
    ['one\ntwo\u202Ethree\u2028four', 'one two three four'],
    ['"[1](2)", a]( b $((', '"[1] (2)", a] ( b $ (('],
    ['[typescript] editor.tabSize: 2 (two)', '[typescript] editor.tabSize: 2 (two)'],
  ] as const)
    t.equal(plain(text), expected)
  t.end()
})

t.test('Markdown in a workspace’s name isn’t rendered in the tooltip either', async (t) => {
  const { caller, editor, opened } = await start(t, 'tia')
  const [{ id }] = (await caller.get('/api/team/me')).body.workspaces
  const name = '[Show details](command:evil) $(check)'
  t.equal((await caller.patch(`/api/team/workspaces/${id}`, { name })).status, 200)
  const window = await editor.openWindow([opened])
  await signIn(window)
  const shown = 'Minutes in tia-team/api count in [Show details] (command:evil) $ (check).'
  await until(() => window.item.tooltip.includes(shown), shown)
  await window.close()
})

t.test('only say.ts shows messages and pickers', async (t) => {
  const folder = join(projectRoot, 'extension/src')
  for (const name of await readdir(folder)) {
    const text = await readFile(join(folder, name), 'utf8')
    if (name !== 'say.ts') t.notMatch(text, /\.show(\w*Message|QuickPick)\b/, name)
  }
})

t.test('denied names are found in deep values and with malformed manifests', (t) => {
  let deep: unknown = 1
  for (let level = 0; level < 10_000; level++) deep = { a: deep }
  const fits = settingMatcherOf(['lint.engine', 'lint.a.b', 'a.'.repeat(500_000)])
  for (const [key, value, expected] of [
    ['lint', { engine: 'x' }, true],
    ['lint', { a: { c: 1, b: [1] } }, true],
    ['lint', { 'a.b.c': 1 }, true],
    ['lint', deep, false],
    ['lint.a', { x: { b: 1 } }, false],
    ['lint.engines', 'x', false],
    ['lint', { ['a.'.repeat(500_000)]: 1 }, false],
  ] as const)
    t.equal(
      fits(key, value),
      expected,
      `${key} ${Object.keys(value as object)
        .join()
        .slice(0, 20)}`,
    )
  const sloppy = [null, 1, {}, { contributes: { configuration: [null, { properties: { 'a.b': null } }] } }]
  const manifests = readManifests(
    sloppy.map((packageJSON) => ({ id: 'a.b', packageJSON })),
    '',
  )
  t.strictSame([...manifests.registered], ['a.b'])
  const limits = { settings_prefixes: ['ext', 'editor', 'lint', 'chat', 'gopls'], settings_denied: [] }
  const judge = judgeOf({
    limits,
    manifests: readManifests(EXTENSIONS, ''),
    declared: [],
    isKnown: () => true,
  })
  for (const [key, value, isRefused, asks] of [
    ['lint.strict', true, false, false],
    ['lint.engine', 'x', true, false],
    ['lint.engine.node', 'x', true, false],
    ['lint', { engine: 'x' }, true, false],
    ['lint', { strict: true }, false, false],
    ['lint.cache', 'x', true, false],
    ['lint.once', 'x', true, false],
    ['lint.local', 'x', false, true],
    ['editor.tabSize', 2, false, false],
    ['editor.unicodeHighlight.invisibleCharacters', false, true, false],
    ['editor', { unicodeHighlight: { invisibleCharacters: false } }, true, false],
    ['chat.theme', 'x', true, true],
    ['gopls', { hints: {} }, false, true],
    ['ext', 1, true, true],
    ['other.a', 1, true, true],
  ] as const)
    t.strictSame([judge.refusal(key, value) !== undefined, judge.asks(key, value)], [isRefused, asks], key)
  t.end()
})

t.test('what the service allows is written, aside from what extensions and the editor keep', (t) => {
  const judge = (settings_allowed: string[] | undefined) =>
    judgeOf({
      limits: {
        settings_prefixes: ['ext', 'lint', 'terminal', 'window'],
        settings_denied: ['!acme.*'],
        ...(settings_allowed && { settings_allowed }),
        settings_restricted: ['lint.pluginPath'],
      },
      manifests: readManifests(EXTENSIONS, ''),
      declared: [],
      isKnown: () => true,
    })
  const keys = ['lint.binPath', 'lint.pluginPath', 'terminal.integrated.fontSize', 'terminal.integrated.cwd']
  const written = (allowed: string[] | undefined) => {
    const { refusal } = judge(allowed)
    return [...keys, 'window.titleBarStyle'].filter((key) => refusal(key, 'x') === undefined)
  }
  t.strictSame(written(undefined), [], 'a service that lists nothing allows nothing')
  t.strictSame(written([]), [])
  t.strictSame(written(['lint.*path']), ['lint.binPath'], 'what a manifest restricts stays denied')
  t.strictSame(written(ALLOWED_KEYS), ['terminal.integrated.fontSize'])
  t.strictSame(written(['*']), ['lint.binPath', 'terminal.integrated.fontSize'])
  t.end()
})

/** What people have in their files, before a team comes. */
const OWN_TEXTS = [
  '{}',
  '{\n}\n',
  '{\n    // nothing yet\n}\n',
  '{"ext.theme":"mine","other.list":["a","b"]}',
  '{ "editor.tabSize": 8, "other.a": 1, }',
  '{\n    "ext.theme": "mine", // mine\n    "other.list": ["a", "b"],\n    "[typescript]": { "editor.tabSize": 8 } // both\n}\n',
  '{\n    /* one */ "other.a": /* two */ 1 /* three */, // four\n    // five\n    "editor.rulers": [ 1,2,   3 ] // six\n    // seven\n}\n// eight\n',
  '{\n    "[typescript]": {},\n    "[go]": {\n        "editor.insertSpaces": false,\n    },\n}\n',
  '{\n    "editor.tabSize": 1,\n    "other.a": {\n        "b": [\n            1\n        ] },\n    "editor.tabSize": 8,\n    "ext.theme": "a",\n    "ext.theme": "b"\n}\n',
  '// before\n{\n\n    "[typescript][go]": { "editor.tabSize": 3 },\n\n    "other.a": 1\n\n}',
  '{\n    "[typescript]": {"editor.tabSize":8,"editor.rulers":[1]}, "other.a": 1\n  , "ext.theme" : "mine"\n}\n',
  `{\n    "other.long": ${JSON.stringify(Array.from({ length: 300 }, (_, index) => `value ${index}`))},\n    "ext.theme": "mine"\n}\n`,
]
const FORMS: ((text: string) => string)[] = [
  (text) => text,
  (text) => text.replaceAll('\n', '\r\n'),
  (text) => text.replaceAll('    ', '\t'),
  (text) => `\uFEFF${text}`,
  (text) => text.trimEnd(),
]
const FILES = [
  ...OWN_TEXTS.flatMap((text) => FORMS.map((form) => form(text))),
  '',
  ' \n',
  '// only this\n',
  `{\n    "other.long": "${'x'.repeat(1_000_000)}",\n    "ext.theme": "mine"\n}\n`,
]

t.test('whatever a team does, the files are byte for byte what they were', async (t) => {
  const { editor, opened, decide, folder } = await start(t, 'oya')
  const folders = FILES.map((_, index) => ({ ...opened, address: join(folder, `${index}`) }))
  const [linked, none, kept] = ['linked', 'none', 'kept'].map((name) => ({
    ...opened,
    address: join(folder, name),
  }))
  if (!linked || !none || !kept) throw new Error('no folders')
  const shared = join(linked.address, 'shared.json')
  for (const { address } of [...folders, linked, kept])
    await mkdir(join(address, '.vscode'), { recursive: true })
  await mkdir(none.address)
  for (const [index, one] of folders.entries()) await writeFile(fileIn(one), FILES[index] ?? '')
  await writeFile(shared, '{"ext.theme":"mine"}')
  await symlink('../shared.json', fileIn(linked))

  const first = { 'ext.theme': 'dark', 'editor.tabSize': 2, 'editor.rulers': [80, 100] }
  const blocks = {
    '[typescript]': { 'editor.tabSize': 2, 'editor.rulers': [1] },
    '[rust]': { 'editor.tabSize': 4, 'editor.insertSpaces': true },
  }
  await decide({ ...first, ...blocks })
  const all = [...folders, linked, none, kept]
  // Some of their values equal the team's.
  editor.person.presses = ['They’re Mine']
  const window = await editor.openWindow(all)
  await signIn(window)
  const areApplied = () => all.every(({ address }) => '[rust]' in window.values(address))
  await until(areApplied, 'the settings are applied')
  for (const one of folders) t.doesNotThrow(async () => readText((await textIn(one)).replace(/^\uFEFF/, '')))

  const remains = async (what: string, more = '') => {
    for (const [index, one] of folders.entries()) {
      const text = FILES[index] ?? ''
      if (more === '' || text.includes('{'))
        t.equal(await textIn(one), text + more, `${what}: ${JSON.stringify(text.slice(0, 200))}`)
    }
    if (more === '') t.equal(await readFile(shared, 'utf8'), '{"ext.theme":"mine"}', what)
    t.ok((await lstat(fileIn(linked))).isSymbolicLink())
  }
  const change = async (settings: object, locked: string[] = []) => {
    await decide(settings, locked)
    await window.run('apply')
  }
  await change({ 'ext.theme': 'blue', 'editor.rulers': [120], '[rust]': { 'editor.tabSize': 3 } })
  await change({}, ['ext.theme', 'editor.tabSize', '[typescript]'])
  for (const { address } of all) t.equal(window.values(address)['editor.tabSize'], 2, 'the last name counts')
  await change({ 'editor.rulers': null })
  const nothing = { 'ext.theme': null, 'editor.tabSize': null, '[typescript]': null, '[rust]': null }
  await change(nothing)
  await remains('after the team has removed everything')
  t.strictSame(await readdir(none.address), [], 'a folder that the extension made is gone')
  t.strictSame(await readdir(join(kept.address, '.vscode')), [], 'one that was there stays')

  const isTakenOut = () => all.every(({ address }) => !('[rust]' in window.values(address)))
  await change({ ...first, ...blocks }, ['ext.theme', '[typescript]'])
  await window.run('signOut')
  await until(isTakenOut, 'the settings are taken out')
  await remains('after a sign-out')
  t.strictSame([await readdir(none.address), await readdir(join(kept.address, '.vscode'))], [[], []])

  await signIn(window)
  await until(areApplied, 'the settings are applied again')
  for (const { address } of folders)
    await window.replaceFile(address, `${await textIn({ ...opened, address })}// mine\n`)
  await change({ ...first, 'ext.theme': 'green' }, ['ext.theme', 'editor.tabSize', '[typescript]'])
  await change({ 'editor.rulers': null })
  await window.run('signOut')
  await until(isTakenOut, 'the settings are taken out')
  await remains('although the person has added something', '// mine\n')
  await window.close()
})

t.test('a change keeps comments, indentation and line endings', (t) => {
  const before = '{\r\n\t// mine\r\n\t"a.b": 1, // one\r\n\t"[x]": { "a.c": 1 },\r\n}\r\n'
  const change = (key: string, value: unknown) => editText(before, [{ key, value }])
  t.equal(change('a.b', 2), before.replace('1, // one', '2, // one'))
  t.equal(change('a.c', undefined), before)
  t.equal(change('[x]a.c', 2), before.replace('"a.c": 1', '"a.c": 2'))
  t.equal(change('[x]a.c', undefined), before.replace('{ "a.c": 1 }', '{ }'), 'an own empty block stays')
  t.ok(change('a.d', true).includes('\r\n\t"a.d": true'))
  t.equal(
    editText('', [
      { key: 'a.b', value: 1 },
      { key: '[x]a.b', value: 2 },
    ]),
    '{\n    "a.b": 1,\n    "[x]": {\n        "a.b": 2\n    }\n}\n',
  )
  t.throws(() => readText('{ "a": '), /syntax/)
  t.throws(() => readText('[1]'), /syntax/)
  t.strictSame(valuesOf(readText(before)), { 'a.b': 1, '[x]': { 'a.c': 1 } })
  t.strictSame([...settingsIn({ '[x]': 5, __proto__: 1, 'a.b': {} })], [['a.b', {}]])
  t.strictSame(
    planFor({ settings: {}, locked: [] }, () => undefined, new Map()),
    [],
  )
  t.end()
})

t.test(
  'before the first write, the extension asks once, with the number of settings and the folder name as plain text',
  async (t) => {
    const { editor, opened, decide } = await start(t, 'ann', {
      explained: false,
      name: '[Show details](command:evil)',
    })
    await decide({ 'ext.theme': 'dark', 'editor.tabSize': 2, '[typescript]': { 'editor.tabSize': 4 } })
    const question =
      'Your team has 3 settings for [Show details] (command:evil), which go to .vscode/settings.json of the folder. Values that you set there stay, unless they are locked.'
    const asked = () => editor.seen.messages.filter((message) => message === question).length
    editor.person.presses = ['Not Now']
    const window = await editor.openWindow([opened])
    await signIn(window)
    await until(() => asked() === 1, 'it asks')
    await window.emit('window')
    t.strictSame([editor.seen.writes, window.values()], [0, {}])
    editor.person.presses = ['Apply']
    await window.run('apply')
    await until(() => window.written.length === 3, 'the person agreed')
    t.equal(asked(), 1)
    t.strictSame(editor.seen.links, [])
    await decide({ 'ext.theme': 'blue' })
    editor.person.presses = []
    await window.run('apply')
    t.equal(window.values()['ext.theme'], 'blue', 'it asks once')
    await window.close()
  },
)

t.test('thirteen settings in seven folders take seven writes and seven events', async (t) => {
  const { editor, opened, decide, folder } = await start(t, 'ben')
  const names = ['tabSize', 'rulers', 'insertSpaces']
  await decide({
    ...Object.fromEntries(names.map((name) => [`editor.${name}`, 1])),
    'files.eol': '\n',
    'ext.theme': 'dark',
    'lint.strict': true,
    'window.zoomLevel': 1,
    '[go]': { 'editor.tabSize': 8, 'editor.insertSpaces': false, 'editor.rulers': [1] },
    '[python]': { 'editor.tabSize': 4, 'editor.insertSpaces': true, 'editor.rulers': [2] },
  })
  const folders = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => ({ ...opened, address: join(folder, name) }))
  const text = '{\n  // mine\n  "other.key": 1\n}\n'
  await writeFile(fileIn(opened), text)
  const window = await editor.openWindow([opened, ...folders])
  await signIn(window)
  await until(() => editor.seen.writes === 7, 'each folder is written')
  await until(() => editor.seen.events === 7, 'each window is told once')
  t.strictSame([editor.seen.writes, editor.seen.events], [7, 7])
  t.equal(readText(await textIn(opened)).size, 14)
  t.match(await textIn(opened), /\/\/ mine\n {2}"other.key": 1,\n/)
  await window.run('signOut')
  await until(() => editor.seen.writes === 14, 'each folder is written again')
  await until(async () => (await textIn(opened)) === text, 'the text is as it was')
  await window.close()
})

t.test('windows with one folder, several folders and a workspace file see the same', async (t) => {
  const { editor, opened, decide, folder } = await start(t, 'cid')
  await decide({ 'window.zoomLevel': 1, 'editor.tabSize': 2 }, ['window.zoomLevel'])
  await writeFile(fileIn(opened), '{ "window.zoomLevel": 5 }')
  const other = { address: join(folder, 'other'), remote: 'https://github.com/cid-team/other.git' }
  await mkdir(other.address)
  const one = await editor.openWindow([opened])
  await signIn(one)
  await until(() => one.written.length === 2, 'it is written')
  await one.close()
  const several = await editor.openWindow([opened, other], { workspaceFile: true })
  await until(() => several.values(other.address)['editor.tabSize'] === 2, 'the other folder is written')
  t.strictSame(several.values(), { 'window.zoomLevel': 1, 'editor.tabSize': 2 })
  t.equal(
    (await listed({ window: several, editor, repo: 'cid-team/api' }))['window.zoomLevel'],
    'Not applied. A window with several folders takes it from no folder.',
  )
  await several.close()
  const last = await editor.openWindow([other], { workspaceFile: true })
  await last.run('signOut')
  await until(async () => (await textIn(opened)).includes('5'), 'even in the folder that isn’t open')
  t.strictSame(readText(await textIn(opened)), new Map([['window.zoomLevel', 5]]))
  await becomes(last, {}, 'and in the other one')
  await last.close()
})

t.test('restricted settings are never written, and those that could run programs need consent', async (t) => {
  const { editor, opened, decide, caller } = await start(t, 'dan')
  const settings = {
    'lint.engine': '/bin/evil',
    lint: { engine: '/bin/evil' },
    'lint.cache': '/x',
    'lint.once': 'x',
    'lint.strict': true,
    'lint.local': '/x',
    'tool.runner': '/bin/evil',
    'tool.level': 3,
    'editor.renderControlCharacters': false,
    '[go]': { 'lint.engine': '/bin/evil', 'editor.tabSize': 2 },
  }
  await decide(settings, ['lint.engine', 'tool.runner'])
  const window = await editor.openWindow([opened])
  await signIn(window)
  const asked = () =>
    editor.seen.messages.filter((message) => message.includes('could run programs with them')).length
  await until(() => asked() === 2, 'one dialog for each extension')
  t.strictSame(editor.seen.details, ['lint.local: "/x"', 'tool.runner: "/bin/evil"\ntool.level: 3'])
  const harmless = { 'lint.strict': true, '[go]': { 'editor.tabSize': 2 } }
  await until(() => window.written.length === 2, 'the rest is written')
  t.strictSame(window.values(), harmless)
  const restricted = 'Not applied. Its extension restricts it, because it could run a program.'
  const machine = 'Not applied. It belongs to the application or the machine, not to a folder.'
  t.strictSame(await listed({ window, editor }), {
    'lint.engine': restricted,
    lint: restricted,
    'lint.cache': machine,
    'lint.once': machine,
    'lint.strict': 'Applied. Overrides false.',
    'lint.local': 'Not applied. You declined it.',
    'tool.runner': 'Not applied. You declined it.',
    'tool.level': 'Not applied. You declined it.',
    'editor.renderControlCharacters': 'Not applied. The editor restricts it, or keeps it for the machine.',
    '[go]lint.engine': restricted,
    '[go]editor.tabSize': 'Applied. Overrides 4.',
  })
  await window.close()
  editor.person.presses = ['Apply']
  editor.seen.messages = []
  const next = await editor.openWindow([opened])
  await until(
    async () => (await listed({ window: next, editor }))['tool.level'] === 'Not applied. You declined it.',
    'the settings are pulled',
  )
  t.equal(asked(), 0, 'the answer is remembered')
  await decide({ 'tool.level': 4 }, [])
  await next.run('apply')
  const agreed = { ...harmless, 'lint.local': '/x', 'tool.runner': '/bin/evil', 'tool.level': 4 }
  await until(() => next.written.length === 3, 'the person has agreed')
  t.strictSame(next.values(), agreed)
  t.equal(asked(), 2)
  await next.run('apply')
  t.equal(asked(), 0, 'once per value')
  editor.person.presses = []
  await decide({ 'tool.runner': '/bin/other' })
  await next.run('apply')
  await until(() => next.values()['tool.runner'] === undefined, 'a declined value is none')
  t.strictSame(editor.seen.details, ['tool.runner: "/bin/other"'])
  await caller.push('dan-team/api', { 'lint.engine': '/bin/evil', 'lint.strict': false, 'tool.level': 5 })
  await next.run('pull')
  t.strictSame(
    editor.seen.details,
    ['lint.strict: yours true, theirs false\ntool.level: yours 4, theirs 5'],
    'a snapshot shows what it changes, and no more',
  )
  await next.close()
})

t.test('closing a tab right after a write leaves no team settings in the folder', async (t) => {
  const { decide, editor, opened } = await start(t, 'tab')
  await decide({ 'editor.tabSize': 2 })
  const tab = await editor.openWindow([opened])
  await signIn(tab)
  await becomes(tab, { 'editor.tabSize': 2 }, 'the value is applied')
  tab.closeTab()
  const next = await editor.openWindow([opened])
  await next.run('signOut')
  await becomes(next, {}, 'the value is taken out')
})

t.test('settings that an earlier extension version wrote are removed too', async (t) => {
  const { decide, editor, opened } = await start(t, 'earlier')
  await decide({ 'editor.tabSize': 2 })
  await writeFile(fileIn(opened), '{ "editor.tabSize": 8, "editor.rulers": [80] }')
  editor.globalState.set(`written ${opened.address}`, { 'editor.tabSize': { value: 8 } })
  const window = await editor.openWindow([opened])
  await signIn(window)
  await becomes(window, { 'editor.rulers': [80], 'editor.tabSize': 2 }, 'the value is replaced')
  await window.run('signOut')
  await becomes(window, { 'editor.rulers': [80] }, 'the value is taken out')
})

t.test('language blocks are written and pushed by inner key', async (t) => {
  const { editor, opened, decide, caller } = await start(t, 'eli')
  await decide({ '[go]': { 'editor.tabSize': 8 }, '[rust]': { 'editor.tabSize': 4 } }, ['[rust]'])
  await writeFile(
    fileIn(opened),
    '{ "[go]": { "editor.insertSpaces": false }, "[rust]": { "editor.tabSize": 1 } }',
  )
  const window = await editor.openWindow([opened])
  await signIn(window)
  await until(() => window.written.length === 2, 'both are written')
  const both = {
    '[go]': { 'editor.insertSpaces': false, 'editor.tabSize': 8 },
    '[rust]': { 'editor.tabSize': 4 },
  }
  t.strictSame(window.values(), both)
  await window.edit('[rust]', { 'editor.tabSize': 2 })
  await becomes(window, both, 'a locked block comes back')
  await window.run('push')
  const { settings } = (await caller.get('/api/settings/eli-team/api')).body
  t.strictSame(settings, { '[go]': { 'editor.insertSpaces': false } })
  await window.run('signOut')
  const own = { '[go]': { 'editor.insertSpaces': false }, '[rust]': { 'editor.tabSize': 2 } }
  await becomes(window, own, 'it is taken out')
  await window.close()
})

t.test('a locked block also applies in every other block for its languages', async (t) => {
  const { caller, editor, opened, decide } = await start(t, 'ebo')
  const both = '[javascript][typescript]'
  const settings = { [both]: { 'editor.tabSize': 2 }, '[rust]': { 'editor.tabSize': 4 } }
  await decide(settings, [both, '[rust]'])
  const own = {
    '[typescript]': { 'editor.tabSize': 8, 'editor.insertSpaces': false },
    '[typescript][vue]': { 'editor.tabSize': 9 },
    '[rust][go]': { 'editor.tabSize': 1 },
    '[python]': { 'editor.tabSize': 8 },
    'editor.tabSize': 3,
  }
  await writeFile(fileIn(opened), JSON.stringify(own))
  const window = await editor.openWindow([opened])
  await signIn(window)
  const held = {
    '[typescript]': { 'editor.insertSpaces': false },
    '[typescript][vue]': {},
    '[rust][go]': {},
    '[vue]': { 'editor.tabSize': 9 },
    '[go]': { 'editor.tabSize': 1 },
    '[python]': { 'editor.tabSize': 8 },
    'editor.tabSize': 3,
    ...settings,
  }
  await becomes(window, held, 'what gets around them is taken out')
  await window.edit('[typescript]', { 'editor.insertSpaces': false, 'editor.tabSize': 7 })
  await becomes(window, held, 'it is taken out again')
  const note = '[typescript]editor.tabSize: Set by your team.'
  await until(() => editor.seen.messages.includes(note), 'it says so')
  await caller.push('ebo-team/api', {
    '[typescript]': { 'editor.tabSize': 6 },
    '[python]': { 'editor.tabSize': 5 },
  })
  editor.person.presses = ['Apply']
  await window.run('pull')
  t.same(editor.seen.details, ['[python]editor.tabSize: yours 8, theirs 5'], 'a snapshot gets around no lock')
  await becomes(window, { ...held, '[python]': { 'editor.tabSize': 5 } }, 'the rest of it is applied')
  await window.edit('[python]', own['[python]'])
  await decide(settings, ['[rust]'])
  await window.run('apply')
  const unlocked = { ...own, '[rust][go]': {}, '[go]': { 'editor.tabSize': 1 }, '[rust]': settings['[rust]'] }
  await becomes(
    window,
    { ...unlocked, '[typescript]': { 'editor.insertSpaces': false, 'editor.tabSize': 7 } },
    'an unlocked block gives back what the person has set',
  )
  await window.run('signOut')
  await becomes(
    window,
    { ...own, '[typescript]': { 'editor.insertSpaces': false, 'editor.tabSize': 7 } },
    'all',
  )
  await window.close()
})

t.test('for a tracked file, the question lists the settings, and the reply can be changed', async (t) => {
  const { editor, opened, decide } = await start(t, 'flo', { tracked: true })
  await decide({ 'ext.theme': 'dark', 'editor.tabSize': 2 }, ['editor.tabSize'])
  await writeFile(fileIn(opened), '{ "editor.tabSize": 8 }')
  editor.person.presses = ['Write']
  const window = await editor.openWindow([opened])
  await signIn(window)
  await until(() => window.written.length === 2, 'the person agreed')
  const question = (message: string) => message.includes('Git tracks this file')
  t.strictSame(editor.seen.messages.filter(question), [
    'Your team has 2 settings for .vscode/settings.json of api: ext.theme, editor.tabSize. Values that you set there stay, unless they are locked. Git tracks this file, so the repository will show the change.',
  ])
  editor.person.presses = []
  await window.run('signOut')
  await becomes(window, { 'editor.tabSize': 8 }, 'it is taken out')
  await signIn(window)
  await becomes(window, { 'editor.tabSize': 2, 'ext.theme': 'dark' }, 'signed in again, the answer is kept')
  await window.run('stopWriting')
  t.strictSame(window.values(), { 'editor.tabSize': 8 })
  const next = await editor.openWindow([opened])
  await until(() => /count in/.test(next.item.tooltip), 'the team is known')
  t.strictSame(next.values(), { 'editor.tabSize': 8 })
  editor.person.presses = ['Stop Writing Here']
  t.equal(editor.seen.messages.filter(question).length, 0)
  await window.close()
  await next.close()
})

t.test('only a changed locked setting is restored, and Git isn’t touched', async (t) => {
  const { editor, opened, decide } = await start(t, 'gus', { tracked: true })
  const locked = ['editor.tabSize', 'editor.rulers']
  await decide({ 'ext.theme': 'dark', 'editor.tabSize': 2, 'editor.rulers': [80] }, locked)
  const inGit = '{ "editor.tabSize": 8 }\n'
  await writeFile(fileIn(opened), inGit)
  editor.person.presses = ['Write']
  const window = await editor.openWindow([opened])
  const [repository] = window.repositories
  if (repository) repository.folder.inIndex = inGit
  await signIn(window)
  await until(() => window.written.length === 3, 'it is written')
  const notes = () => editor.seen.messages.filter((message) => message.endsWith('Set by your team.'))
  editor.seen.messages = []
  await window.replaceFile(opened.address, '{ "editor.tabSize": 3, "editor.rulers": [1] }')
  const restored = { 'editor.tabSize': 2, 'editor.rulers': [80] }
  await becomes(window, restored, 'they come back, and the other one does not')
  await until(() => notes().length > 0, 'it says so')
  t.strictSame(notes(), ['editor.tabSize, editor.rulers: Set by your team.'], 'in one notification')

  const before = editor.seen.writes
  await window.replaceFile(opened.address, inGit)
  await window.emit('configuration', { affectsConfiguration: () => true })
  await window.emit('window')
  await window.run('apply')
  t.equal(editor.seen.writes, before + 1, 'the person has asked for it')
  await window.replaceFile(opened.address, inGit)
  await window.emit('window')
  t.equal(editor.seen.writes, before + 1, 'Git has changed the file')
  await until(() => window.item.text.endsWith('2 locked settings differ'), 'it says so')
  t.equal(window.item.command, 'teamSettings.review')
  t.equal((await listed({ window, editor }))['editor.rulers'], 'Not applied. Git has undone it.')
  await window.run('review')
  const undone =
    'Git has undone 2 settings of your team in .vscode/settings.json of api: editor.tabSize, editor.rulers.'
  t.strictSame(editor.seen.messages, [undone])
  editor.person.presses = ['Restore']
  await window.run('review')
  await until(() => window.values()['editor.tabSize'] === 2, 'the person says so')
  t.equal(editor.seen.writes, before + 2)
  await until(() => /min$/.test(window.item.text), 'nothing waits')

  await mkdir(join(opened.address, '.git'))
  await writeFile(join(opened.address, '.git/MERGE_HEAD'), '')
  await window.replaceFile(opened.address, '{ "editor.tabSize": 4 }\n')
  await window.emit('window')
  await decide({ 'ext.theme': 'blue' }, locked)
  await window.run('apply')
  t.equal(editor.seen.writes, before + 2, 'Git is in the middle of a merge')
  await rm(join(opened.address, '.git/MERGE_HEAD'))
  await window.emit(`git ${opened.address}`)
  const merged = { 'editor.tabSize': 2, 'ext.theme': 'blue', 'editor.rulers': [80] }
  await becomes(window, merged, 'once Git is done, without a change of the focus')
  await window.close()
})

t.test(
  'with several repositories in a folder, no settings apply, and earlier ones are removed',
  async (t) => {
    const { editor, opened, decide } = await start(t, 'hob')
    await decide({ 'ext.theme': 'dark' })
    const first = await editor.openWindow([opened])
    await signIn(first)
    await until(() => first.written.length === 1, 'one repository')
    await first.close()
    const remote = opened.remote
    const several = { ...opened, within: { one: remote, two: 'https://github.com/hob-team/two.git' } }
    const window = await editor.openWindow([several])
    await becomes(window, {}, 'it is taken out')
    window.type(join(opened.address, 'two/index.ts'))
    await window.minutePasses()
    await until(() => window.item.tooltip.includes('Minutes in hob-team/two count in'), 'minutes go by file')
    await window.close()
  },
)

t.test('a file that can’t be read or isn’t saved stays unchanged', async (t) => {
  const { editor, opened, decide } = await start(t, 'ian')
  await decide({ 'ext.theme': 'dark' })
  const broken = '{ "ext.theme": "mine", "a'
  await writeFile(fileIn(opened), broken)
  const window = await editor.openWindow([opened])
  await window.run('signIn')
  t.strictSame(await window.run('apply'), [
    '.vscode/settings.json of api can’t be read: it has a syntax error.',
  ])
  t.equal(await textIn(opened), broken)
  await window.replaceFile(opened.address, '{}')
  const [, uri] = [0, window.document(fileIn(opened)).uri]
  window.openDocuments.push({ uri, isDirty: true })
  t.strictSame(await window.run('apply'), [
    '.vscode/settings.json of api has changes that aren’t saved. Your team’s settings follow once you save it.',
  ])
  window.openDocuments.length = 0
  await window.run('apply')
  t.strictSame(window.values(), { 'ext.theme': 'dark' })
  await window.close()
})

t.test(
  'an own block for a language keeps unlocked values out, and a locked key holds in blocks',
  async (t) => {
    const { editor, opened, decide } = await start(t, 'joy')
    const settings = { '[typescript]': { 'editor.tabSize': 2 }, 'editor.rulers': [80] }
    await decide(settings)
    const own = {
      '[javascript][typescript]': { 'editor.tabSize': 8, 'editor.rulers': [1] },
      '[go]': { 'editor.rulers': [2] },
    }
    await writeFile(fileIn(opened), JSON.stringify(own))
    const window = await editor.openWindow([opened])
    await signIn(window)
    await becomes(window, { ...own, 'editor.rulers': [80] }, 'the own block wins')
    t.strictSame(await listed({ window, editor }), {
      '[typescript]editor.tabSize': 'Yours. You have set it in another block for the language.',
      'editor.rulers': 'Applied. Overrides [].',
    })
    await decide({}, ['editor.rulers'])
    await window.run('apply')
    const held = {
      '[javascript][typescript]': { 'editor.tabSize': 8 },
      '[go]': {},
      'editor.rulers': [80],
    }
    await becomes(window, held, 'a locked key holds in all blocks')
    await window.edit('[go]', { 'editor.rulers': [3] })
    await becomes(window, held, 'it is put back like the key')
    await decide({}, ['editor.rulers', '[typescript]'])
    await window.run('apply')
    await becomes(
      window,
      { ...held, '[javascript][typescript]': {}, '[javascript]': { 'editor.tabSize': 8 }, ...settings },
      'a locked block changes nothing for other languages',
    )
    await window.run('signOut')
    const last = { '[javascript][typescript]': { 'editor.rulers': [1], 'editor.tabSize': 8 } }
    await until(
      () =>
        JSON.stringify(sortedIn(window.values())) ===
        JSON.stringify(sortedIn({ ...last, '[go]': { 'editor.rulers': [3] } })),
      'all of it comes back',
    )
    await window.close()
  },
)

const sortedIn = (values: object): unknown =>
  Object.entries(values)
    .sort()
    .map(([key, value]) => [
      key,
      typeof value === 'object' && !Array.isArray(value) ? sortedIn(value) : value,
    ])

t.test('what equals a team’s value is the team’s when the memory of a folder is lost', async (t) => {
  const { editor, opened, decide, folder } = await start(t, 'kim')
  await decide({ 'editor.tabSize': 2, 'ext.theme': 'dark', 'editor.rulers': [80] })
  await writeFile(fileIn(opened), '{ "files.eol": "mine" }')
  const first = await editor.openWindow([opened])
  await signIn(first)
  await until(() => first.written.length === 3, 'it is written')
  await first.close()

  const renamed = { ...opened, address: join(folder, 'renamed') }
  await rename(opened.address, renamed.address)
  const second = await editor.openWindow([renamed])
  await until(() => /count in/.test(second.item.tooltip), 'the team is known')
  await second.run('apply')
  t.notOk(
    editor.seen.messages.some((message) => /of your team/.test(message)),
    'the text says enough',
  )
  await decide({ 'ext.theme': null })
  await second.run('apply')
  await becomes(second, { 'files.eol': 'mine', 'editor.tabSize': 2, 'editor.rulers': [80] }, 'it follows')
  await second.close()

  // A container that was rebuilt.
  await rm(join(folder, 'storage/written'), { recursive: true })
  await decide({ 'editor.rulers': [100] })
  await second.replaceFile(
    renamed.address,
    '{ "files.eol": "mine", "editor.tabSize": 2, "ext.theme": "dark", "editor.rulers": [80] }',
  )
  editor.seen.messages = []
  const third = await editor.openWindow([renamed])
  const question =
    'In .vscode/settings.json of renamed, 3 values equal those of your team. Your team’s values change with the team and go when you sign out: editor.tabSize, ext.theme, editor.rulers.'
  await until(() => editor.seen.messages.includes(question), 'it asks')
  await until(() => third.item.text.endsWith('3 settings wait for your answer'), 'and says that it waits')
  t.equal(third.item.command, 'teamSettings.review')
  await third.run('apply')
  t.equal(
    (await listed({ window: third, editor }))['editor.tabSize'],
    'Not applied. It waits for your answer.',
  )
  editor.person.presses = ['They’re My Team’s']
  await third.run('review')
  await becomes(third, { 'files.eol': 'mine', 'editor.tabSize': 2, 'editor.rulers': [100] }, 'they follow')
  await third.run('signOut')
  await becomes(third, { 'files.eol': 'mine' }, 'and go')
  await third.edit('editor.tabSize', 2)
  await signIn(third)
  await until(() => third.values()['editor.rulers'] !== undefined, 'signed in again')
  await third.run('signOut')
  await becomes(third, { 'files.eol': 'mine', 'editor.tabSize': 2 }, 'a folder that is known has no question')
  await third.close()
})

t.test('a bad file is named, and nothing else depends on it', async (t) => {
  const { editor, opened, decide, folder } = await start(t, 'lou')
  await decide({ 'ext.theme': 'dark' })
  const names = ['invalid', 'large', 'unreadable', 'unsaved', 'good'] as const
  const [invalid, large, unreadable, unsaved, good] = names.map((name) => ({
    ...opened,
    address: join(folder, name),
  })) as [OpenFolder, OpenFolder, OpenFolder, OpenFolder, OpenFolder]
  for (const { address } of [invalid, large, unsaved, good])
    await mkdir(join(address, '.vscode'), { recursive: true })
  await mkdir(fileIn(unreadable), { recursive: true })
  await writeFile(fileIn(invalid), '{ "a": ')
  await writeFile(fileIn(large), `{ "other.a": "${'x'.repeat(5_000_000)}" }`)
  await writeFile(fileIn(unsaved), '{ "ext.theme": "mine" }')
  const window = await editor.openWindow([invalid, large, unsaved, good])
  const dirty = { uri: window.document(fileIn(unsaved)).uri, isDirty: true }
  await window.run('signIn')
  await becomes(window, {}, 'nothing')
  await until(() => window.values(good.address)['ext.theme'] === 'dark', 'the good one')
  const problems = [
    '.vscode/settings.json of invalid can’t be read: it has a syntax error.',
    '.vscode/settings.json of large can’t be read: it has more than 5 MB.',
  ]
  for (const problem of problems) await until(() => window.item.tooltip.includes(problem), problem)
  await window.run('show')
  t.strictSame(
    editor.seen.listed.map(({ detail = '' }) => detail.slice(detail.indexOf(': ') + 2)),
    [
      ...problems.map((problem) => `Not applied. ${problem}`),
      'Yours: "mine".',
      'Applied. Overrides "light".',
    ],
  )
  await decide({}, ['ext.theme'])
  window.openDocuments.push(dirty)
  await window.run('apply')
  const isntSaved =
    '.vscode/settings.json of unsaved has changes that aren’t saved. Your team’s settings follow once you save it.'
  await until(() => window.item.tooltip.includes(isntSaved), isntSaved)
  t.equal(window.values(unsaved.address)['ext.theme'], 'mine')
  window.openDocuments.length = 0
  await window.emit('saved', { uri: dirty.uri })
  t.equal(window.values(unsaved.address)['ext.theme'], 'dark', 'once it is saved')
  t.notOk(window.item.tooltip.includes(isntSaved))
  await window.replaceFile(invalid.address, '{}')
  await window.emit('window')
  t.equal(window.values(invalid.address)['ext.theme'], 'dark', 'once it is valid')
  window.openDocuments.push(dirty)
  await window.run('signOut')
  await until(() => window.item.tooltip.includes(isntSaved), 'after a sign-out, too')
  window.openDocuments.length = 0
  await window.emit('saved', { uri: dirty.uri })
  t.equal(window.values(unsaved.address)['ext.theme'], 'mine')
  t.strictSame(await window.run('show'), ['You aren’t signed in, so your team has no settings here.'])
  await window.close()
})

t.test('Git never refuses because of what the extension has written back', async (t) => {
  const { editor, opened, decide } = await start(t, 'mae', { git: true })
  await decide({ 'editor.tabSize': 2, 'ext.theme': 'dark' }, ['editor.tabSize'])
  const cwd = opened.address
  const git = async (...args: string[]) => {
    const settings = ['-c', 'user.name=Mae', '-c', 'user.email=mae@example.com', '-c', 'core.editor=true']
    await run('git', [...settings, ...args], { cwd })
  }
  const commit = async (file: string, text: string) => {
    await writeFile(join(cwd, file), text)
    await git('add', file)
    await git('commit', '--quiet', '-m', file)
  }
  await git('init', '--quiet', '--initial-branch=main')
  await commit('.vscode/settings.json', '{\n    "editor.tabSize": 8\n}\n')
  await commit('a', '1')
  await git('checkout', '--quiet', '-b', 'other')
  await commit('b', '1')
  await commit(
    '.vscode/settings.json',
    '{\n    // other\n    "editor.tabSize": 4,\n    "files.eol": "x"\n}\n',
  )
  await git('checkout', '--quiet', 'main')
  await commit('c', '1')
  await commit('d', '1')
  editor.person.presses = ['Write']
  const window = await editor.openWindow([opened])
  await signIn(window)
  const applied = { 'editor.tabSize': 2, 'ext.theme': 'dark' }
  await becomes(window, applied, 'it is written')
  /** Everything that could make the extension write. */
  const settle = async () => {
    await window.noticeFile()
    await window.emit('configuration', {
      affectsConfiguration: (name: string) => !/^teamSettings/.test(name),
    })
    await window.emit('window')
    editor.clock.ahead += 16 * 60_000
    await window.emit('window')
  }
  const { writes } = editor.seen
  for (const [what, ...steps] of [
    ['stash'],
    ['checkout', ['checkout', '--quiet', 'other'], ['checkout', '--quiet', 'main']],
    ['rebase', ['checkout', '--quiet', '-b', 'topic', 'HEAD~1'], ['rebase', '--quiet', 'main']],
    ['merge', ['merge', '--quiet', 'other'], ['reset', '--quiet', '--hard', 'main']],
    ['cherry-pick', ['cherry-pick', 'other'], ['reset', '--quiet', '--hard', 'main']],
    [
      'bisect',
      ['bisect', 'start', 'main', 'main~3'],
      ['bisect', 'good'],
      ['bisect', 'reset'],
      ['checkout', '--quiet', 'main'],
    ],
  ] as [string, ...string[][]][]) {
    await git('stash', 'push', '--quiet')
    await settle()
    t.match(window.item.text, /1 locked setting differs$/, what)
    for (const step of steps) {
      await t.resolves(git(...step), `${what}: git ${step.join(' ')}`)
      await settle()
    }
    await t.resolves(git('stash', 'pop', '--quiet'), `${what}: git stash pop`)
    await settle()
    t.strictSame(window.values(), applied, what)
    t.match(window.item.text, /min$/, what)
  }
  t.equal(editor.seen.writes, writes, 'nothing was written meanwhile')
  await window.run('signOut')
  await becomes(window, { 'editor.tabSize': 8 }, 'it is taken out')
  t.equal((await run('git', ['status', '--porcelain'], { cwd })).stdout, '')
  await window.close()
})

t.test('a question that waits is in the status bar, and a click shows it', async (t) => {
  const { editor, opened, decide } = await start(t, 'nan', { explained: false })
  await decide({ 'ext.theme': 'dark', 'editor.tabSize': 2, 'tool.level': 3 })
  const window = await editor.openWindow([opened])
  await signIn(window)
  await until(() => window.item.text.endsWith(', 3 settings wait for your answer'), 'it says so')
  t.match(window.item.tooltip, /^3 settings wait for your answer. Click to see them. /)
  t.notMatch(window.item.tooltip, /Click to pause/)
  t.equal(window.item.command, 'teamSettings.review')
  editor.seen.messages = []
  await window.emit('window')
  t.strictSame(editor.seen.messages, [], 'no second notification')
  editor.person.presses = ['Apply']
  await window.run('review')
  t.match(editor.seen.messages[0], /^Your team has 3 settings for api/)
  await until(() => window.values()['tool.level'] === 3, 'the person has agreed')
  await until(() => window.item.command === 'teamSettings.togglePause', 'nothing waits')
  await window.close()
})
