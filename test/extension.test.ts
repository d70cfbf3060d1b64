/** The extension in a fake editor with the real service, and the package that the service serves. */
import { execFile } from 'node:child_process'
import { access, copyFile, lstat, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { strFromU8, unzipSync } from 'fflate'
import t from 'tap'
import { isTyping } from '../extension/src/activity.js'
import { differences, planFor, type Written } from '../extension/src/plan.js'
import { statusOf } from '../extension/src/status.js'
import { judgeOf, readManifests } from '../extension/src/trust.js'
import { DENIED_KEYS } from '../schemas/denied-patterns.js'
import { looksSecret } from '../schemas/secrets.js'
import { projectRoot, serviceVersion } from '../src/platform/process/root.js'
import { installEditor, type OpenFolder } from './fake-vscode.js'
import { temporaryFolder } from './process.js'
import { type Caller, startService } from './service.js'
import { until } from './until.js'

const run = promisify(execFile)
const service = await startService(t, {
  env: { EXTENSION_PREFIX: 'ext,editor,files,window', BASE_URL: 'https://team.example.com' },
})
type Test = Parameters<typeof temporaryFolder>[0]

/** A person with a workspace, and an editor in which no one is signed in. */
const start = async (
  t: Test,
  login: string,
  { inBrowser = false, ...place }: Partial<OpenFolder> & { inBrowser?: boolean } = {},
) => {
  const folder = await temporaryFolder(t)
  const opened = {
    address: join(folder, 'api'),
    remote: `git@github.com:${login}-team/api.git`,
    ...place,
  }
  await mkdir(join(opened.address, '.vscode'), { recursive: true })
  const caller = await service.signIn(login)
  const { id } = await service.workspace(caller, { name: `${login} & co`, patterns: [`${login}-team/*`] })
  const decide = (settings: object, locked: string[] = []) =>
    caller.patch(`/api/team/workspaces/${id}/settings`, { settings, locked })
  const editor = await installEditor({ folder, url: service.url, inBrowser })
  editor.person.github = service.repohost.addUser(login, { id: caller.repohostId }).token
  return { caller, id, decide, editor, opened, repo: `${login}-team/api`, folder }
}
type Editor = Awaited<ReturnType<typeof installEditor>>
type Window = Awaited<ReturnType<Editor['openWindow']>>

const signIn = async (window: Window) => {
  await window.run('signIn')
  await until(
    () => /min/.test(window.item.text) && !/not said/.test(window.item.tooltip),
    'the team is known',
  )
}
const minutesOf = async (caller: Caller): Promise<number> =>
  (await caller.get('/api/team/active-minutes')).body.workspaces.reduce(
    (sum: number, { minutes }: { minutes: number }) => sum + minutes,
    0,
  )
const hasFile = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  )

t.test('applied settings replace the person’s own, which are restored later', (t) => {
  const team = (value: unknown, locked = false) => ({
    settings: value === undefined ? {} : { 'ext.a': value },
    locked: locked ? ['ext.a'] : [],
  })
  const step = (value: unknown, written?: Written) => [{ key: 'ext.a', value, written }]
  for (const [what, decided, current, before, expected] of [
    ['nothing was set', team(1), undefined, undefined, step(1, { value: 1, own: undefined })],
    ['the person has set another value', team(1), 2, undefined, []],
    ['the person has set the same value', team(1), 1, undefined, []],
    ['the value was written already', team(1), 1, { value: 1 }, []],
    ['the team changes it', team(3), 1, { value: 1 }, step(3, { value: 3, own: undefined })],
    ['the person has changed it since', team(1), 2, { value: 1 }, step(2)],
    ['the team locks it', team(1, true), 2, undefined, step(1, { value: 1, own: 2 })],
    ['a locked value was changed', team(1, true), 9, { value: 1, own: 2 }, step(1, { value: 1, own: 9 })],
    ['the team unlocks it', team(1), 1, { value: 1, own: 2 }, step(2)],
    ['the team no longer decides', team(undefined), 1, { value: 1 }, step(undefined)],
    ['the same, after a lock', team(undefined), 1, { value: 1, own: 2 }, step(2)],
    ['the same, after the person changed it', team(undefined), 5, { value: 1 }, step(5)],
    ['the person removed it', team(undefined), undefined, { value: 1 }, step(undefined)],
  ] as const) {
    const memory = new Map<string, Written>(before ? [['ext.a', before]] : [])
    t.strictSame(
      planFor(decided, () => current, memory),
      expected,
      what,
    )
  }
  t.end()
})

t.test('denied keys and the extension’s own settings are rejected, whatever the service sends', (t) => {
  const says = { settings_prefixes: ['ext', 'terminal', '__proto__'], settings_denied: ['ext.secret*'] }
  const { refusal } = judgeOf({
    limits: says,
    manifests: readManifests([], ''),
    declared: ['ext.nodePath'],
    isKnown: () => true,
  })
  const isRefused = (key: string) => refusal(key) !== undefined
  const denied = DENIED_KEYS.map((pattern) => `ext.${pattern.replaceAll('*', 'x').replace(/^x?\./, '')}`)
  for (const key of [
    'terminal.integrated.shell',
    'ext.path',
    'ext.a.PATH',
    'ext.secretKey',
    'other.a',
    'ext',
  ])
    t.ok(isRefused(key), key)
  t.ok(denied.filter(isRefused).length > 0)
  for (const key of ['ext.theme', 'ext.nodePath']) t.notOk(isRefused(key), key)
  t.strictSame(differences({ 'a.b': 1, 'a.c': [2] }, { 'a.c': [2], 'a.d': null }), [
    'a.b: yours 1, theirs not set',
    'a.d: yours not set, theirs null',
  ])
  t.end()
})

t.test('only keyboard and mouse input in an editor counts as typing', (t) => {
  t.strictSame(
    [isTyping(1, 'file'), isTyping(2, 'vscode-vfs'), isTyping(undefined, 'file'), isTyping(3, 'file')],
    [true, true, false, false],
  )
  t.equal(isTyping(2, 'output'), false)
  const facts = { signedIn: true, revoked: false, paused: false, queue: 'ready', today: 7, repo: 'a/b' }
  const known = {
    isTeams: true,
    host: 'git.example.com',
    news: undefined,
    waiting: undefined,
    problems: [],
  }
  const says = (more: object) => {
    const { text, tooltip, command } = statusOf({ ...facts, ...known, workspace: 'Acme', ...more })
    return [text, tooltip.split('. ').slice(0, 2).join('. '), command]
  }
  const counts = '7 active minutes today in this editor. Minutes in a/b count in Acme'
  for (const [more, expected] of [
    [{}, ['$(record) 7 min', counts, 'togglePause']],
    [{ revoked: true }, ['$(record) 7 min, signed out', counts, 'signIn']],
    [{ queue: 'waiting' }, ['$(record) 7 min, waiting for the service', counts, 'togglePause']],
    [{ queue: 'signed_out' }, ['$(record) 7 min, signed out', counts, 'signIn']],
    [
      { workspace: undefined },
      [
        '$(record) 7 min',
        '7 active minutes today in this editor. The service hasn’t said yet whether they count',
        'togglePause',
      ],
    ],
  ] as const)
    t.strictSame(says(more), expected)
  for (const [more, why, command] of [
    [{ signedIn: false }, 'You aren’t signed in', 'signIn'],
    [{ paused: true }, 'You have paused it', 'togglePause'],
    [{ queue: 'recording_off' }, 'You have turned recording off under Privacy in the dashboard.', undefined],
    [{ repo: undefined }, 'No open folder is of a repository with a remote at git.example.com.', undefined],
    [
      { workspace: undefined, isTeams: false },
      'The service hasn’t said yet which repositories count',
      'togglePause',
    ],
    [{ workspace: null }, 'a/b is in none of your workspaces', 'togglePause'],
  ] as const)
    t.strictSame(says(more), ['$(debug-pause) not recorded', `Nothing is recorded. ${why}`, command])
  t.end()
})

t.test(
  'the extension signs in only when asked, and applies the team’s settings for every prefix',
  async (t) => {
    const { editor, opened, decide, repo } = await start(t, 'ada')
    await decide({
      'editor.tabSize': 2,
      'editor.rulers': [80],
      'ext.theme': 'dark',
      'ext.path': '/bin/evil',
      'ext.unknown': 1,
      'window.titleBarStyle': 'native',
    })
    editor.user['editor.tabSize'] = 8
    const window = await editor.openWindow([opened])
    t.strictSame([editor.seen.asked, editor.requests.length], [0, 0])
    t.equal(window.item.command, 'teamSettings.signIn')
    const { contributes } = JSON.parse(await readFile(join(projectRoot, 'extension/package.json'), 'utf8'))
    const declared = contributes.commands.map(({ command }: { command: string }) => command)
    t.strictSame([...window.commands.keys()].sort(), declared.sort())

    await signIn(window)
    t.strictSame([editor.seen.asked, editor.seen.scopes], [1, [['read:user']]])
    await until(() => window.written.length === 3, 'three settings are written')
    t.strictSame(window.values(), { 'editor.tabSize': 2, 'editor.rulers': [80], 'ext.theme': 'dark' })
    t.ok(window.item.tooltip.includes(`Minutes in ${repo} count in ada & co.`))

    t.equal((await window.run('apply')).at(-1), 'Team settings: 3 applied, 0 of your own kept, 3 skipped.')
    await window.run('show')
    t.strictSame(
      editor.seen.listed.map(({ label, description, detail }) => [label, description, detail]),
      [
        ['editor.tabSize', '2', `${repo}, workspace: Applied. Overrides 8.`],
        ['editor.rulers', '[80]', `${repo}, workspace: Applied. Overrides [].`],
        ['ext.theme', '"dark"', `${repo}, workspace: Applied. Overrides "light".`],
        [
          'ext.path',
          '"/bin/evil"',
          `${repo}, workspace: Not applied. It could run a program or redirect traffic.`,
        ],
        ['ext.unknown', '1', `${repo}, workspace: Not applied. No installed extension registers it.`],
        [
          'window.titleBarStyle',
          '"native"',
          `${repo}, workspace: Not applied. The editor restricts it, or keeps it for the machine.`,
        ],
      ],
    )
    await window.close()
    const left = JSON.parse(await readFile(join(opened.address, '.vscode/settings.json'), 'utf8'))
    t.strictSame(left, window.values(), 'a closed window or an uninstalled extension takes nothing out')
  },
)

t.test('a person without a workspace learns which scope their token lacks for organizations', async (t) => {
  const asks = { mayAskOrganizations: true }
  const olga = await service.signIn('olga', asks)
  const { id } = await service.workspace(olga, { name: 'Olgas', patterns: ['olgas/*'] })
  const pat = service.repohost.addUser('pat')
  const members = new Map([
    [olga.repohostId, 'admin' as const],
    [pat.id, 'member' as const],
  ])
  service.repohost.organizations.push({ id: 77, name: 'olgas', members })
  const linked = await olga.request('PUT', `/api/team/workspaces/${id}/organization`, {
    body: { organization: 'olgas', join: 'member' },
    headers: { 'X-Repohost-Token': olga.repohostToken },
  })
  t.equal(linked.status, 200, linked.text)
  const folder = await temporaryFolder(t)
  const editor = await installEditor({ folder, url: service.url })
  const window = await editor.openWindow([
    { address: join(folder, 'web'), remote: 'git@github.com:olgas/web.git' },
  ])
  editor.person.github = pat.token
  t.match((await window.run('signIn')).at(-1), /a token that has the scope read:org\.$/)
  await window.run('signOut')
  editor.person.github = service.repohost.addUser('pat', asks).token
  t.notMatch((await window.run('signIn')).join(), /scope/)
  await olga.delete(`/api/team/workspaces/${id}/organization`)
})

t.test('own settings return after a sign-out, a removal, or a change of the team’s settings', async (t) => {
  const { editor, opened, decide, caller, id } = await start(t, 'bea')
  const own = { 'editor.tabSize': 8, 'files.eol': 'own', 'editor.insertSpaces': false }
  const file = join(opened.address, '.vscode/settings.json')
  await writeFile(file, JSON.stringify(own))
  const settings = { 'editor.tabSize': 2, 'files.eol': 'team', 'ext.theme': 'dark', 'editor.rulers': [80] }
  await decide(settings, ['editor.tabSize'])
  const window = await editor.openWindow([opened])
  const inForce = { ...own, 'editor.tabSize': 2, 'ext.theme': 'dark', 'editor.rulers': [80] }
  const comes = (expected: object, what: string) =>
    until(() => JSON.stringify(sorted(window.values())) === JSON.stringify(sorted(expected)), what)
  await signIn(window)
  await comes(inForce, 'a locked key replaces the own value, and no other does')

  await window.run('signOut')
  await comes(own, 'after a sign-out')
  await signIn(window)
  await comes(inForce, 'signed in again')

  await decide({ 'editor.tabSize': null, 'ext.theme': 'blue', 'editor.rulers': null }, [])
  await window.run('apply')
  await comes({ ...own, 'ext.theme': 'blue' }, 'after a change of the team’s settings')

  const other = await service.signIn('bea-admin')
  const { body: invite } = await caller.post(`/api/team/workspaces/${id}/invites`, { role: 'admin' })
  await other.post('/api/team/workspaces/join', { code: invite.code })
  await other.delete(`/api/team/workspaces/${id}/members?login=bea`)
  await window.run('apply')
  await comes(own, 'after a removal from the team')
  t.ok(window.item.tooltip.includes('bea-team/api is in none of your workspaces.'))
  window.type()
  await window.minutePasses()
  t.equal(window.item.text, '$(debug-pause) not recorded')
  await window.close()
  t.strictSame(JSON.parse(await readFile(file, 'utf8')), own)
})

const sorted = (values: object) => Object.entries(values).sort(([one], [other]) => (one < other ? -1 : 1))

t.test('a locked value changed by hand is restored, and the message names who set it', async (t) => {
  const { editor, opened, decide } = await start(t, 'gil')
  await decide({ 'ext.theme': 'dark', 'editor.tabSize': 2 }, ['ext.theme'])
  const window = await editor.openWindow([opened])
  await signIn(window)
  await until(() => window.written.length === 2, 'both are written')
  editor.seen.messages = []
  await window.edit('editor.tabSize', 3)
  await window.edit('ext.theme', 'mine')
  await until(() => window.values()['ext.theme'] === 'dark', 'it is restored')
  t.strictSame(window.values(), { 'ext.theme': 'dark', 'editor.tabSize': 3 })
  await until(() => editor.seen.messages.includes('ext.theme: Set by your team.'), 'it says who set it')
  t.notOk(editor.seen.messages.some((message) => message.startsWith('editor.tabSize')))
  await window.run('signOut')
  await until(() => window.values()['ext.theme'] === 'mine', 'the person’s last value comes back')
  await window.close()
})

t.test('if Git tracks the file, it asks once per folder without blocking', async (t) => {
  const { editor, opened, decide } = await start(t, 'cleo', { tracked: true })
  await decide({ 'ext.theme': 'dark' })
  const window = await editor.openWindow([opened])
  await signIn(window)
  const questions = () => editor.seen.messages.filter((message) => message.includes('Git tracks')).length
  await until(() => questions() === 1, 'it asks')
  t.strictSame(window.values(), {})
  window.type()
  await window.minutePasses()
  t.equal(window.item.text, '$(record) 1 min, 1 setting waits for your answer', 'minutes count meanwhile')

  editor.person.presses = ['Don’t Write Here']
  await window.run('apply')
  t.equal(questions(), 1)
  editor.person.presses = ['Write']
  await window.run('apply')
  await until(() => window.values()['ext.theme'] === 'dark', 'the person agreed')
  await decide({ 'ext.theme': 'blue' })
  const next = await editor.openWindow([opened])
  await until(() => next.values()['ext.theme'] === 'blue', 'the next window has no question')
  t.equal(questions(), 1)
  await window.close()
  await next.close()
})

t.test('it offers to ignore a file it created, and doesn’t change an existing file', async (t) => {
  const { editor, opened, decide } = await start(t, 'dora')
  await decide({ 'ext.theme': 'dark' })
  await run('git', ['init', '--quiet'], { cwd: opened.address })
  const ignored = join(opened.address, '.vscode/.gitignore')
  const window = await editor.openWindow([opened])
  await signIn(window)
  await until(() => window.written.length === 1, 'it is written')
  t.equal(await hasFile(ignored), false, 'the person has not agreed')
  await window.run('signOut')
  await until(() => window.written.length === 2, 'it is taken out')
  await until(async () => !(await hasFile(join(opened.address, '.vscode/settings.json'))), 'it is gone')
  editor.person.presses = ['Ignore It']
  await signIn(window)
  await until(() => hasFile(ignored), 'the person has agreed')
  const { stdout } = await run('git', ['status', '--porcelain'], { cwd: opened.address })
  t.equal(stdout, '')
  await window.run('signOut')
  await until(async () => !(await hasFile(ignored)), 'it goes with the file')
  await window.close()
})

t.test('people’s input records minutes, and panels, programs and agents don’t', async (t) => {
  const { editor, opened, caller } = await start(t, 'eve')
  // It takes more than an hour of the editor's clock, and the service counts nothing before its time.
  editor.clock.ahead = new Date().setUTCHours(0, 0, 0, 0) - Date.now()
  const window = await editor.openWindow([opened])
  await signIn(window)
  const file = window.document(join(opened.address, 'a.ts'))
  const minute = async () => {
    await window.minutePasses()
    return Number(window.item.text.match(/(\d+) min/)?.[1])
  }
  const idle = 11 * 60_000
  await window.emit('selection', { kind: undefined, textEditor: { document: file } })
  await window.emit('selection', { kind: 1, textEditor: { document: window.document('output:panel') } })
  t.equal(await minute(), 0, 'a panel scrolls, and a program edits')
  window.state.active = false
  for (const event of ['editor', 'debug', 'terminal']) await window.emit(event, { document: file })
  await window.emit('save', { document: file, reason: 1 })
  t.equal(await minute(), 0, 'an agent works while no one is there')
  window.state.active = true
  await window.emit('save', { document: file, reason: 2 })
  t.equal(await minute(), 0, 'the editor saves by itself')
  window.state.focused = false
  window.type()
  t.equal(await minute(), 0, 'the window is in the background')
  window.state.focused = true

  let expected = 0
  for (const [event, more] of [
    ['selection', { kind: 2, textEditor: { document: file } }],
    ['editor', { document: file }],
    ['save', { document: file, reason: 1 }],
    ['debug', {}],
    ['step', {}],
    ['terminal', {}],
  ] as const) {
    editor.clock.ahead += idle
    await minute()
    await window.emit(event, more)
    t.equal(await minute(), ++expected, event)
  }
  await window.run('togglePause')
  window.type()
  await window.minutePasses()
  t.equal(window.item.text, '$(debug-pause) not recorded')
  await window.run('togglePause')
  await window.close()
  const next = await editor.openWindow([opened])
  await until(async () => (await minutesOf(caller)) >= expected, 'the next window sends them')
  t.equal(await minutesOf(caller), expected)
  await next.close()
})

t.test('two windows share a minute, and signing out of one signs out both', async (t) => {
  const { editor, opened, decide } = await start(t, 'fay')
  await decide({ 'ext.theme': 'dark' })
  const [one, two] = [await editor.openWindow([opened]), await editor.openWindow([opened])]
  await signIn(one)
  await until(() => /count in/.test(two.item.tooltip), 'the other window follows')
  one.type()
  two.type()
  await one.minutePasses()
  editor.clock.ahead -= 40_000
  await two.minutePasses()
  t.equal(two.item.text, '$(record) 1 min')
  await one.run('togglePause')
  two.type()
  await two.minutePasses()
  t.ok(two.item.tooltip.includes('You have paused it.'), 'a pause holds in both')
  await one.run('signOut')
  await until(() => two.item.command === 'teamSettings.signIn', 'both are signed out')
  await until(() => one.values()['ext.theme'] === undefined, 'the settings are taken out')
  t.equal(editor.secrets.size, 0)
  await one.close()
  await two.close()
})

t.test('a sign-out in one tab of a browser stops the others, and a sign-in reaches them', async (t) => {
  const { editor, opened, decide, caller } = await start(t, 'fee', { inBrowser: true })
  await decide({ 'ext.theme': 'dark' }, ['ext.theme'])
  const file = join(opened.address, '.vscode/settings.json')
  const one = await editor.openWindow([opened])
  const two = await editor.openWindow([opened])
  await signIn(one)
  await until(() => hasFile(file), 'it is written')
  t.equal(two.item.command, 'teamSettings.signIn', 'no event tells the other tab')
  await two.emit('window')
  await until(() => /count in/.test(two.item.tooltip), 'it follows at its next focus')
  two.type()
  await two.minutePasses()
  await until(async () => (await minutesOf(caller)) === 1, 'and counts')

  await one.run('signOut')
  await until(async () => !(await hasFile(file)), 'it is taken out')
  const writes = editor.seen.writes
  t.notOk(two.item.command === 'teamSettings.signIn', 'the other tab still shows the session')
  await two.emit('configuration', { affectsConfiguration: (key: string) => key === 'ext.theme' })
  await two.run('apply')
  t.strictSame([await hasFile(file), editor.seen.writes], [false, writes], 'but writes nothing back')
  two.type()
  await two.minutePasses()
  t.equal(two.item.command, 'teamSettings.signIn')
  t.equal(two.item.text, '$(debug-pause) not recorded')
  t.equal(await minutesOf(caller), 1)
  await one.close()
  await two.close()
  const three = await editor.openWindow([opened])
  await three.emit('window')
  t.equal(three.item.command, 'teamSettings.signIn', 'a later tab is signed out too')
  await three.close()
})

t.test('it asks before signing in again after a session ended elsewhere', async (t) => {
  const { editor, opened, decide } = await start(t, 'gwen')
  await decide({ 'ext.theme': 'dark' })
  const window = await editor.openWindow([opened])
  await signIn(window)
  await until(() => window.written.length === 1, 'it is written')
  const { token } = JSON.parse(editor.secrets.get('session') ?? '')
  const headers = { Authorization: `Bearer ${token}` }
  await service.request('POST', '/api/auth/logout', { headers })
  editor.requests.length = 0
  await window.run('apply')
  t.strictSame(
    editor.requests.filter(({ path }) => path.endsWith('/verify')),
    [],
  )
  t.ok(window.item.text.endsWith('signed out'))
  t.strictSame(window.values(), { 'ext.theme': 'dark' }, 'the settings stay')
  editor.person.presses = ['Sign In']
  const next = await editor.openWindow([opened])
  await until(() => JSON.parse(editor.secrets.get('session') ?? '').token !== token, 'the person agreed')
  await until(() => window.item.command === 'teamSettings.togglePause', 'the other window follows')
  await window.close()
  await next.close()
})

t.test('without a response from the service, it starts, pauses, and keeps a day’s minutes', async (t) => {
  const { editor, opened, caller } = await start(t, 'hal')
  const first = await editor.openWindow([opened])
  await signIn(first)
  await first.close()
  editor.network.silent = true
  const window = await editor.openWindow([opened])
  t.equal(window.commands.size, 11, 'commands are there before any response')
  await until(() => window.item.text === '$(record) 0 min', 'it counts')
  t.ok(window.item.tooltip.includes('hasn’t said yet whether they count'))
  for (let minute = 0; minute < 3; minute++) {
    window.type()
    await window.minutePasses()
  }
  await window.run('togglePause')
  t.equal(window.item.text, '$(debug-pause) not recorded', 'a pause waits for no one')
  await window.run('togglePause')
  await window.close()
  editor.network.silent = false
  editor.clock.ahead += 86_400_000
  const next = await editor.openWindow([opened])
  await until(async () => (await minutesOfDays(caller)) > 0, 'they are sent a day later')
  t.equal(await minutesOfDays(caller), 3)
  await next.close()
})

/** Days from yesterday to tomorrow: a test's clock runs ahead. */
const minutesOfDays = async (caller: Caller): Promise<number> => {
  const day = (ahead: number) => new Date(Date.now() + ahead * 86_400_000).toISOString().slice(0, 10)
  const { body } = await caller.get(`/api/team/active-minutes?from=${day(-1)}&to=${day(1)}`)
  return body.days
    .flatMap(({ workspaces }: { workspaces: { minutes: number }[] }) => workspaces)
    .reduce((sum: number, { minutes }: { minutes: number }) => sum + minutes, 0)
}

t.test(
  'of two refreshes at once, the one that began later counts, whichever response comes last',
  async (t) => {
    const { editor, opened, decide } = await start(t, 'ivan')
    const { network } = editor
    await decide({ 'ext.theme': 'dark' })
    const window = await editor.openWindow([opened])
    await signIn(window)
    await until(() => window.values()['ext.theme'] === 'dark', 'it is applied')
    network.heldAt = '/api/team/effective-config'
    const older = window.run('apply')
    await until(() => network.held.length > 0, 'the service has responded to the older one')
    network.heldAt = undefined
    await decide({ 'ext.theme': 'light' })
    await window.run('apply')
    t.strictSame(window.values(), { 'ext.theme': 'light' })
    for (const release of network.held) release()
    await older
    t.strictSame(window.values(), { 'ext.theme': 'light' })
    await window.close()
  },
)

t.test('two folders have separate settings and minutes', async (t) => {
  const { editor, opened, decide, caller, folder } = await start(t, 'iris')
  await decide({ 'ext.theme': 'dark' })
  const { id } = await service.workspace(caller, { name: 'Web', patterns: ['iris-web/*'] })
  await caller.patch(`/api/team/workspaces/${id}/settings`, { settings: { 'ext.theme': 'blue' } })
  const web = { address: join(folder, 'web'), remote: 'https://github.com/iris-web/web.git' }
  const window = await editor.openWindow([opened, web])
  await signIn(window)
  await until(() => window.written.length === 2, 'both are written')
  t.strictSame(window.values(opened.address), { 'ext.theme': 'dark' })
  t.strictSame(window.values(web.address), { 'ext.theme': 'blue' })
  window.type(join(web.address, 'src/index.ts'))
  await window.minutePasses()
  t.ok(window.item.tooltip.includes('Minutes in iris-web/web count in Web.'))
  await window.edit('ext.theme', 'own', web.address)
  t.strictSame(await window.run('push'), [], 'it asks which, and nothing was chosen')
  editor.person.picks = 'iris-web/web'
  t.strictSame(await window.run('push'), ['The settings of iris-web/web are pushed.'])
  await window.close()
  const next = await editor.openWindow([opened])
  await until(async () => (await minutesOf(caller)) > 0, 'the minute arrives')
  const { workspaces } = (await caller.get('/api/team/active-minutes')).body
  t.strictSame(
    workspaces.map(({ name, minutes }: { name: string; minutes: number }) => [name, minutes]).sort(),
    [
      ['Web', 1],
      ['iris & co', 0],
    ],
  )
  await next.close()
})

t.test('a push sends the person’s values, a pull writes the team’s, and a conflict shows both', async (t) => {
  const { editor, opened, decide, caller, repo } = await start(t, 'jade')
  await decide({ 'editor.rulers': [80] })
  const file = join(opened.address, '.vscode/settings.json')
  await writeFile(file, '{ "ext.theme": "mine", "other.key": 1 }')
  const window = await editor.openWindow([opened])
  await signIn(window)
  await until(() => window.written.length === 1, 'the team’s value is written')
  const pushed = async () => (await caller.get(`/api/settings/${repo}`)).body.settings
  t.strictSame(await window.run('pull'), [`${repo} has no snapshot yet.`])
  t.strictSame(await window.run('push'), [`The settings of ${repo} are pushed.`])
  t.strictSame(await pushed(), { 'ext.theme': 'mine' })

  await caller.push(repo, { 'ext.theme': 'theirs', 'editor.tabSize': 3, 'ext.path': '/bin/evil' })
  await window.run('push')
  t.strictSame(editor.seen.details, [
    'ext.theme: yours "mine", theirs "theirs"\neditor.tabSize: yours not set, theirs 3\next.path: yours not set, theirs "/bin/evil"',
  ])
  t.strictSame(window.values()['ext.theme'], 'mine', 'no choice was made')
  await window.run('pull')
  t.strictSame(editor.seen.details, [
    'ext.theme: yours "mine", theirs "theirs"\neditor.tabSize: yours not set, theirs 3',
  ])
  editor.person.presses = ['Apply']
  await window.run('pull')
  const after = { 'ext.theme': 'theirs', 'other.key': 1, 'editor.rulers': [80], 'editor.tabSize': 3 }
  t.strictSame(window.values(), after)
  t.strictSame(await window.run('pull'), ['You have the newest snapshot.'])

  await caller.push(repo, { 'ext.theme': 'again' })
  editor.person.presses = ['Push Mine']
  await window.run('push')
  t.strictSame(await pushed(), { 'ext.theme': 'theirs', 'editor.tabSize': 3 })
  await window.run('signOut')
  await until(() => window.values()['editor.rulers'] === undefined, 'the team’s value is taken out')
  t.strictSame(window.values(), { 'ext.theme': 'theirs', 'other.key': 1, 'editor.tabSize': 3 })
  await window.close()
})

t.test('a push shows keys and values first, and leaves out what looks like a secret', async (t) => {
  const { editor, opened, caller, repo } = await start(t, 'liv')
  const secret = `ghp_${'a1B2'.repeat(9)}`
  const own = {
    'ext.theme': 'mine',
    'ext.apiToken': 'x',
    'ext.a': { b: [secret] },
    '[go]': { 'editor.tabSize': 8 },
  }
  await writeFile(join(opened.address, '.vscode/settings.json'), JSON.stringify(own))
  const window = await editor.openWindow([opened])
  await signIn(window)
  const pushes = () => editor.requests.filter(({ method }) => method === 'PUT').length
  editor.person.cancels = true
  t.strictSame(await window.run('push'), [])
  t.equal(pushes(), 0, 'nothing is sent before the person agrees')
  t.strictSame(
    editor.seen.listed.map(({ label, description, picked }) => [label, description, picked]),
    [
      ['ext.theme', '"mine"', true],
      ['ext.apiToken', '"x"', false],
      ['ext.a', JSON.stringify(own['ext.a']), false],
      ['[go]editor.tabSize', '8', true],
    ],
  )
  editor.person.cancels = false
  await window.run('push')
  const pushed = async () => (await caller.get(`/api/settings/${repo}`)).body.settings
  t.strictSame(await pushed(), { 'ext.theme': 'mine', '[go]': { 'editor.tabSize': 8 } })
  editor.person.ticks = ['ext.apiToken']
  await window.run('push')
  t.equal((await pushed())['ext.apiToken'], 'x', 'unless it is ticked')
  await window.close()
})

t.test('values that look like secrets are recognized', (t) => {
  for (const [key, value, expected] of [
    ['ext.token', 'x', true],
    ['ext.password', '', false],
    ['ext.tokenColors', 'x', false],
    ['ext.maxTokens', 5, false],
    ['ext.url', 'https://me:pw@example.com/x', true],
    ['ext.url', 'https://example.com/x', false],
    ['ext.key', 'AKIAABCDEFGHIJKLMNOP', true],
    ['ext.a', { list: [{ secret: 'x' }] }, true],
    ['ext.hash', 'd41d8cd98f00b204e9800998ecf8427e', true],
    ['ext.text', 'a sentence with 1 Number and more than a few words', false],
    ['ext.theme', 'Default High Contrast Light', false],
    ['ext.constructor', { constructor: { token: 1 } }, false],
  ] as const)
    t.equal(looksSecret(key, value), expected, `${key} ${JSON.stringify(value)}`)
  let deep: unknown = 'x'
  for (let level = 0; level < 10_000; level++) deep = { token: deep }
  t.equal(looksSecret('a', deep), false)
  t.end()
})

t.test('nothing is read or written through a link that leads out of the folder', async (t) => {
  const { editor, opened, decide, caller, repo, folder } = await start(t, 'lux')
  await decide({ 'ext.theme': 'dark' }, ['ext.theme'])
  const outside = join(folder, 'outside')
  await mkdir(outside)
  const file = join(opened.address, '.vscode/settings.json')
  const target = join(outside, 'settings.json')
  const says = '.vscode/settings.json of api is a link to another place, so it’s neither read nor written.'
  const window = await editor.openWindow([opened])
  const own = '{ "ext.theme": "theirs", "ext.password": "hunter2" }\n'
  await writeFile(target, own)
  await rm(join(opened.address, '.vscode'), { recursive: true })
  for (const [what, link] of [
    ['the folder', () => symlink(outside, join(opened.address, '.vscode'))],
    [
      'the file',
      async () => {
        await mkdir(join(opened.address, '.vscode'))
        await symlink(target, file)
      },
    ],
    [
      'a file that isn’t there',
      async () => {
        await mkdir(join(opened.address, '.vscode'))
        await symlink(join(outside, 'nothing.json'), file)
      },
    ],
    [
      'two links',
      async () => {
        await mkdir(join(opened.address, '.vscode'))
        await symlink(target, join(opened.address, 'settings'))
        await symlink('../settings', file)
      },
    ],
  ] as const) {
    await link()
    await window.run('signIn')
    t.strictSame(await window.run('apply'), [says], what)
    t.strictSame(await window.run('push'), [says], what)
    await window.run('signOut')
    t.equal(await readFile(target, 'utf8'), own, what)
    t.equal(await hasFile(join(outside, 'nothing.json')), false, what)
    await rm(join(opened.address, '.vscode'), { recursive: true })
  }
  t.equal((await caller.get(`/api/settings/${repo}`)).status, 404)

  await mkdir(join(opened.address, 'shared'))
  await writeFile(join(opened.address, 'shared/settings.json'), own)
  await symlink('shared', join(opened.address, '.vscode'))
  await window.run('signIn')
  await until(async () => (await readFile(file, 'utf8')).includes('dark'), 'a link inside the folder is fine')
  t.ok((await lstat(join(opened.address, '.vscode'))).isSymbolicLink(), 'and stays a link')
  await window.close()
})

t.test('for a repository without a workspace, a button creates one', async (t) => {
  const { editor, opened, caller } = await start(t, 'kate', { remote: 'git@github.com:kate-org/api.git' })
  await writeFile(join(opened.address, '.vscode/settings.json'), '{ "ext.theme": "mine" }')
  service.repohost.addPrivateRepo('kate-org/api', [caller.repohostId])
  const window = await editor.openWindow([opened])
  await window.run('signIn')
  await until(() => /none of your workspaces/.test(window.item.tooltip), 'it says so')
  t.strictSame(await window.run('push'), ['kate-org/api is in none of your workspaces.'])
  editor.person.presses = ['Create workspace for kate-org/*']
  t.strictSame((await window.run('push')).slice(1), ['The settings of kate-org/api are pushed.'])
  t.ok(window.item.tooltip.includes('Minutes in kate-org/api count in kate-org.'))
  t.hasStrict((await caller.get('/api/settings/kate-org/api')).body, { settings: { 'ext.theme': 'mine' } })
  await window.close()
})

t.test('it sends tokens only over https or to this machine, and only after sign-in there', async (t) => {
  const { editor, opened } = await start(t, 'lena')
  const window = await editor.openWindow([opened])
  await signIn(window)
  await window.run('apply')
  for (const address of [
    '',
    'team.example.com',
    'http://team.example.com',
    'http://localhost:3@example.com',
  ]) {
    editor.requests.length = 0
    editor.user['teamSettings.url'] = address
    await window.emit('configuration', {
      affectsConfiguration: (key: string) => key === 'teamSettings.url',
    })
    t.equal(window.item.command, 'teamSettings.signIn')
    t.strictSame(await window.run('signIn'), [
      'Set teamSettings.url to the https:// address of your service.',
    ])
    t.strictSame(editor.requests, [])
  }
  editor.user['teamSettings.url'] = 'http://127.0.0.1:1'
  t.strictSame(await window.run('signIn'), ['Not reachable. Your minutes wait.'])
  editor.user['teamSettings.url'] = service.url.replace('http:', 'https:')
  t.strictSame(await window.run('signIn'), [
    'Not reachable. Your minutes wait. This port answers in plain HTTP, not HTTPS. Check the port of the service’s address.',
  ])
  editor.user['teamSettings.url'] = service.url
  editor.user['teamSettings.signInWith'] = 'token'
  editor.person.types = editor.person.github
  await window.run('signIn')
  t.equal(editor.secrets.get('hostToken'), editor.person.github)
  await window.close()
})

t.test('a service serves the extension with its own URL in it', async (t) => {
  const found = await service.request('GET', '/api/extension.vsix')
  const address = `/api/extension-${serviceVersion}.vsix`
  t.strictSame(
    [found.status, found.headers.get('location'), found.headers.get('cache-control')],
    [302, address, 'no-cache'],
  )
  const response = await fetch(service.url + address)
  const { headers } = response
  t.strictSame(
    [headers.get('content-type'), headers.get('cache-control')],
    ['application/octet-stream', 'public, max-age=31536000, immutable'],
  )
  const etag = headers.get('etag') ?? ''
  t.equal((await service.request('GET', address, { headers: { 'If-None-Match': etag } })).status, 304)
  const other = await service.request('GET', '/api/extension-0.0.1.vsix')
  t.hasStrict(other, { status: 404, body: { code: 'route_not_found' } })

  const bytes = new Uint8Array(await response.arrayBuffer())
  const redirect = await fetch(`${service.url}/api/extension.vsix`, { redirect: 'manual' })
  t.strictSame(new Uint8Array(await redirect.arrayBuffer()), bytes, 'even for curl -O, which follows nothing')
  const files = unzipSync(bytes)
  t.strictSame(Object.keys(files).sort(), [
    '[Content_Types].xml',
    'extension.vsixmanifest',
    'extension/CHANGELOG.md',
    'extension/LICENSE',
    'extension/README.md',
    'extension/dist/browser.cjs',
    'extension/dist/extension.cjs',
    'extension/icon.png',
    'extension/package.json',
    'extension/walkthrough/minutes.md',
    'extension/walkthrough/settings.md',
    'extension/walkthrough/sign-in.md',
  ])
  const text = (name: string) => strFromU8(files[name] ?? new Uint8Array())
  const { version, contributes, imports, type } = JSON.parse(text('extension/package.json'))
  const { properties } = contributes.configuration
  const defaults = ['url', 'signInWith', 'host', 'gitlabHost'].map(
    (name) => properties[`teamSettings.${name}`].default,
  )
  t.strictSame([version, imports, type], [serviceVersion, undefined, undefined])
  t.strictSame(
    defaults,
    ['https://team.example.com', 'github-enterprise', service.repohost.url, ''],
    'the host of the tests is not github.com',
  )
  t.ok(text('extension.vsixmanifest').includes(` Version="${serviceVersion}"`))
  const required = (file: string) =>
    [...new Set(Array.from(text(file).matchAll(/\brequire\("([^"]+)"\)/g), ([, name]) => name))].sort()
  const desktop = ['./browser.cjs', 'node:fs/promises', 'node:path']
  t.strictSame(required('extension/dist/extension.cjs'), desktop, 'what both share is there once')
  t.strictSame(required('extension/dist/browser.cjs'), ['vscode'], 'a browser has no modules of Node.js')
})

t.test('a script without dependencies builds an extension that runs beside this one', async (t) => {
  const folder = await temporaryFolder(t)
  const file = (name: string) => join(projectRoot, name)
  const own = { ...JSON.parse(await readFile(file('examples/vscode/own.json'), 'utf8')), version: '3.0.0' }
  own.displayName = 'My & “Team” $& `x`'
  await writeFile(join(folder, 'own.json'), JSON.stringify(own))
  // Outside the checkout, there is nothing to import.
  await copyFile(file('examples/vscode/own.mjs'), join(folder, 'own.mjs'))
  const given = ['own.mjs', file('build/extension.vsix'), 'own.json']
  const { stdout } = await run(process.execPath, given, { cwd: folder })
  t.equal(stdout, 'my-team-3.0.0.vsix\n')
  const files = unzipSync(await readFile(join(folder, stdout.trim())))
  const before = unzipSync(await readFile(file('build/extension.vsix')))
  t.strictSame(Object.keys(files).sort(), Object.keys(before).sort())
  const text = (name: string) => strFromU8(files[name] ?? new Uint8Array())
  const { name, publisher, version, contributes } = JSON.parse(text('extension/package.json'))
  t.strictSame([name, publisher, version], ['my-team', 'my-company', '3.0.0'])
  const { properties } = contributes.configuration
  t.strictSame([properties['ext.theme'].scope, properties['myTeam.url'].scope], ['resource', 'application'])
  const manifest = text('extension.vsixmanifest')
  t.ok(manifest.includes('Id="my-team" Version="3.0.0" Publisher="my-company"'))
  t.ok(manifest.includes('<DisplayName>My &amp; “Team” $&amp; `x`</DisplayName>'))
  for (const name of Object.keys(files).filter((name) => /\.(json|cjs|md|vsixmanifest)$/.test(name)))
    t.notOk(/teamSettings|Team Settings/.test(text(name)), name)
  for (const { command, category } of contributes.commands)
    t.strictSame([command.split('.')[0], category], ['myTeam', own.displayName])
  const [{ title, steps }] = contributes.walkthroughs
  t.equal(title, `Get Started with ${own.displayName}`)
  t.equal(steps.length, 3)
  for (const { media } of steps) t.ok(files[`extension/${media.markdown}`], media.markdown)

  const editor = await installEditor({
    folder,
    url: service.url,
    packaged: { text: text('extension/dist/browser.cjs'), manifest: text('extension/package.json') },
  })
  const address = join(folder, 'api')
  const window = await editor.openWindow([{ address, remote: 'git@github.com:acme/api.git' }])
  const declared = contributes.commands.map(({ command }: { command: string }) => command)
  t.strictSame([...window.commands.keys()].sort(), declared.sort())
  t.equal(window.item.command, 'myTeam.signIn')
  await window.close()
})
