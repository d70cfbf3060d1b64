import { execFile } from 'node:child_process'
import { readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { errorCatalogue } from '../schemas/errors.js'
import { openEditor } from './editor.js'
import { hasMembers } from './has-members.js'
import { temporaryFolder } from './process.js'
import { type Caller, startService } from './service.js'
import { until } from './until.js'

const service = await startService(t)

/** A person with a workspace, and an editor in which no one is signed in. */
const start = async (test: Parameters<typeof temporaryFolder>[0], login: string, opened?: string) => {
  const folder = await temporaryFolder(test)
  const place = {
    address: opened ?? join(folder, 'repository'),
    remote: `git@github.com:${login}-team/api.git`,
  }
  const caller = await service.signIn(login)
  const { id } = await service.workspace(caller, { patterns: [`${login}-team/*`] })
  const editor = await openEditor({
    configuration: { 'ext.cloudUrl': service.url },
    folder,
    folders: [place],
  })
  const { token } = service.repohost.addUser(login, { id: caller.repohostId })
  return { caller, id, editor, token, place, repo: `${login}-team/api` }
}

const minutesOf = async (caller: Caller): Promise<number> =>
  (await caller.get('/api/team/active-minutes')).body.workspaces[0]?.minutes ?? 0

t.test('it prompts no one unasked, and signs in with the account of the editor', async (t) => {
  const { editor, token } = await start(t, 'ada')
  const window = await editor.open()
  t.equal(editor.seen.asked, 0)
  t.match(editor.seen, { text: /not recorded/, tooltip: /not signed in/ })
  t.same(
    [...editor.commands.keys()].sort(),
    editor.packageJSON.contributes.commands.map(({ command }: { command: string }) => command).sort(),
  )
  editor.person.github = token
  t.same(await editor.run('ext.signIn'), [])
  t.equal(editor.seen.asked, 1)
  t.match(editor.seen, {
    text: /0 min/,
    tooltip: /number of active minutes in ada-team\/api by the hour, and nothing else/,
  })
  await window.deactivate()
})

t.test(
  'it asks GitHub for the identity, and for repositories only if the user has turned that on',
  async (t) => {
    const { editor, token, repo } = await start(t, 'ivy')
    editor.person.github = token
    const window = await editor.open()
    t.same(await editor.run('ext.signIn'), [])
    t.same(await editor.run('ext.push'), [`The settings of ${repo} are pushed.`])
    t.strictSame(editor.seen.scopes, [['read:user'], ['read:user'], ['read:user']])

    service.repohost.addPrivateRepo(repo, [])
    t.same(await editor.run('ext.push'), [
      `The repository host token belongs to another user, or has no access to this repository. Send a token of your own that has access. If ${repo} is private, turn on ext.pushPrivateRepositories.`,
    ])
    editor.configuration['ext.pushPrivateRepositories'] = true
    await editor.run('ext.push')
    t.strictSame(editor.seen.scopes.at(-1), ['read:user', 'repo'])
    await window.deactivate()
  },
)

t.test('it sends tokens only over https, or to this machine', async (t) => {
  const { editor, token } = await start(t, 'joan')
  editor.person.github = token
  await (await editor.open()).deactivate()
  t.strictSame([...editor.seen.origins], [service.url])
  editor.seen.origins.clear()
  const stored = JSON.parse(editor.secrets.get('session') ?? '{}')
  t.equal(editor.packageJSON.contributes.configuration.properties['ext.cloudUrl']?.default, '')
  for (const address of [
    '',
    'team.example.com',
    'http://team.example.com',
    'http://127.0.0.1.example.com',
    'http://localhost:3000@example.com',
    'ftp://localhost',
    'javascript:alert(1)',
  ]) {
    editor.configuration['ext.cloudUrl'] = address
    editor.secrets.set('session', JSON.stringify({ ...stored, baseUrl: address }))
    const window = await editor.open()
    for (const command of ['ext.signIn', 'ext.pull', 'ext.push'])
      t.same(
        await editor.run(command),
        ['Set ext.cloudUrl to the https:// address of your service.'],
        `${command} at ${address}`,
      )
    await window.deactivate()
  }
  t.strictSame([...editor.seen.origins], [], 'nothing was sent anywhere')
  editor.configuration['ext.cloudUrl'] = 'https://127.0.0.1:1'
  const window = await editor.open()
  t.equal((await editor.run('ext.signIn')).length, 1)
  t.strictSame([...editor.seen.origins], ['https://127.0.0.1:1'])
  await window.deactivate()
})

t.test('it applies the team’s settings, but only those that it declares', async (t) => {
  const { editor, token, caller, id } = await start(t, 'bea')
  const settings = {
    'ext.theme': 'dark',
    'ext.cloudUrl': 'https://evil.example.com',
    'ext.pushPrivateRepositories': true,
    'ext.unknown': 1,
  }
  t.equal((await caller.patch(`/api/team/workspaces/${id}/settings`, { settings })).status, 200)
  editor.person.github = token
  const window = await editor.open()
  t.same(editor.workspaceValues, { 'ext.theme': 'dark' })
  await caller.patch(`/api/team/workspaces/${id}/settings`, { settings: { 'ext.fontSize': 16 } })
  t.same(await editor.run('ext.pull'), [])
  t.same(editor.workspaceValues, { 'ext.theme': 'dark', 'ext.fontSize': 16 })
  await caller.patch(`/api/team/workspaces/${id}/settings`, { settings: { 'ext.theme': null } })
  t.same(await editor.run('ext.pull'), [])
  t.same(
    editor.workspaceValues,
    { 'ext.theme': undefined, 'ext.fontSize': 16 },
    'what the team has removed goes away',
  )
  await window.deactivate()
})

t.test('the settings that it writes do not make the repository dirty', async (t) => {
  const opened = await temporaryFolder(t)
  const git = async (...given: string[]) => (await promisify(execFile)('git', given, { cwd: opened })).stdout
  await git('init', '--quiet')
  const { editor, token, caller, id } = await start(t, 'nell', opened)
  const settings = { 'ext.theme': 'dark' }
  await caller.patch(`/api/team/workspaces/${id}/settings`, { settings })
  editor.person.github = token
  const window = await editor.open()
  const read = (name: string) => readFile(join(opened, '.vscode', name), 'utf8')
  t.strictSame(JSON.parse(await read('settings.json')), settings)
  t.equal(await git('status', '--porcelain'), '')
  await writeFile(join(opened, '.vscode/launch.json'), '{}')
  t.equal(await git('status', '--porcelain'), '?? .vscode/\n', 'other files are listed as before')

  await writeFile(join(opened, '.vscode/.gitignore'), 'launch.json\n')
  await caller.patch(`/api/team/workspaces/${id}/settings`, { settings: { 'ext.theme': 'light' } })
  await editor.run('ext.pull')
  t.equal(await read('.gitignore'), 'launch.json\n', 'a file that was there stays as it is')
  await window.deactivate()
})

t.test('it adds the file for Git only where a setting is written beside it', async (t) => {
  const opened = await temporaryFolder(t)
  const { editor, token, caller, id } = await start(t, 'pam', opened)
  const decide = (theme: string | null) =>
    caller.patch(`/api/team/workspaces/${id}/settings`, { settings: { 'ext.theme': theme } })
  const folder = join(opened, '.vscode')
  const ignored = join(folder, '.gitignore')
  await decide('dark')
  editor.person.github = token
  editor.person.workspaceFile = 'team.code-workspace'
  const window = await editor.open()
  t.equal(editor.workspaceValues['ext.theme'], 'dark')
  t.strictSame(await readdir(folder), ['settings.json'], 'the settings of a .code-workspace are in that file')

  editor.person.workspaceFile = undefined
  await decide(null)
  await editor.run('ext.pull')
  t.equal(editor.workspaceValues['ext.theme'], undefined)
  t.strictSame(await readdir(folder), ['settings.json'], 'nothing was set')

  for (const [target, theme] of [
    ['missing/file', 'blue'],
    ['.gitignore', 'green'],
  ] as const) {
    await symlink(target, ignored)
    await decide(theme)
    t.strictSame(await editor.run('ext.pull'), [])
    t.equal(editor.workspaceValues['ext.theme'], theme, `a link to ${target} can neither be read nor written`)
    await rm(ignored)
  }
  await window.deactivate()
})

t.test('the address of a folder at GitHub or GitLab names the repository, and no other does', async (t) => {
  for (const [login, address, repo] of [
    ['quin', 'vscode-vfs://github/quin-team/api', 'quin-team/api'],
    ['rosa', 'vscode-vfs://github%2B7b7d/rosa-team/api/src/deep/', 'rosa-team/api'],
    ['sue', 'vscode-vfs://gitlab/sue-team/a.b', 'sue-team/a.b'],
    ['suzy', 'vscode-vfs://gitlab/suzy-team/sub/repo', undefined],
    ['tess', 'vscode-vfs://azurerepos/tess-team/project/api', undefined],
    ['uma', 'vscode-vfs://github/uma-team', undefined],
  ] as const) {
    const { editor, token } = await start(t, login, address)
    editor.person.github = token
    const window = await editor.open()
    if (repo === undefined)
      t.equal(editor.seen.tooltip.includes('Open a folder of a repository with a remote.'), true, address)
    else t.equal(editor.seen.tooltip.includes(` minutes in ${repo} by `), true, address)
    await window.deactivate()
  }
})

t.test('it restores what the team has locked, and says who set it', async (t) => {
  const { editor, token, caller, id } = await start(t, 'gil')
  const path = `/api/team/workspaces/${id}/settings`
  await caller.patch(path, { settings: { 'ext.theme': 'dark', 'ext.fontSize': 16 }, locked: ['ext.theme'] })
  editor.person.github = token
  const window = await editor.open()
  t.same(editor.workspaceValues, { 'ext.theme': 'dark', 'ext.fontSize': 16 })
  t.same(await editor.edit('ext.theme', 'light'), ['ext.theme: Set by your team.'])
  t.same(await editor.edit('ext.fontSize', 20), [], 'what is not locked is for the person to choose')
  t.same(editor.workspaceValues, { 'ext.theme': 'dark', 'ext.fontSize': 20 })
  await caller.patch(path, { locked: [] })
  await editor.run('ext.pull')
  t.same(await editor.edit('ext.theme', 'light'), [])
  t.same(editor.workspaceValues, { 'ext.theme': 'light', 'ext.fontSize': 16 })
  await window.deactivate()
})

t.test('it shows the warnings of the service about pushed settings', async (t) => {
  const file = join(await temporaryFolder(t), 'schema.json')
  await writeFile(
    file,
    JSON.stringify({ properties: { 'ext.theme': { enum: ['dark'] }, 'ext.fontSize': {} } }),
  )
  const strict = await startService(t, { beside: service, env: { SETTINGS_SCHEMA: file } })
  const { editor, token } = await start(t, 'hal')
  editor.configuration['ext.cloudUrl'] = strict.url
  editor.person.github = token
  const window = await editor.open()
  t.same(await editor.run('ext.push'), ['Pushed, but: ext.theme must be one of "dark".'])
  await window.deactivate()
})

t.test('it counts a minute with activity, and shows that until it is paused', async (t) => {
  const { editor, token, caller } = await start(t, 'cleo')
  editor.person.github = token
  const first = await editor.open()
  await editor.minutePasses()
  t.equal(editor.seen.text, '$(record) 0 min', 'it is untouched')
  editor.type()
  await editor.minutePasses()
  editor.person.focused = false
  await editor.minutePasses()
  editor.person.focused = true
  await editor.run('ext.togglePause')
  t.match(editor.seen, { text: /not recorded/, tooltip: /You have paused it/ })
  await editor.minutePasses()
  await editor.run('ext.togglePause')
  t.equal(editor.seen.text, '$(record) 1 min')
  await first.deactivate()

  const next = await editor.open()
  await until(async () => (await minutesOf(caller)) > 0, 'the next window sends what the last one has kept')
  t.equal(await minutesOf(caller), 1)
  await next.deactivate()
})

t.test('the next window sends at once what a killed one has left', async (t) => {
  const { editor, token, caller } = await start(t, 'olga')
  editor.person.github = token
  const killed = await editor.open()
  editor.type()
  await editor.minutePasses()
  const next = await editor.open()
  await until(async () => (await minutesOf(caller)) > 0, 'the next window sends it')
  t.equal(await minutesOf(caller), 1)
  await next.deactivate()
  await killed.deactivate()
  t.equal(await minutesOf(caller), 1)
})

t.test('an extension host whose window is gone counts nothing beside the new one', async (t) => {
  const { editor, token, caller } = await start(t, 'ida')
  editor.person.github = token
  const window = await editor.open()
  editor.type()
  await editor.minutePasses()
  t.equal(editor.seen.text, '$(record) 1 min')
  editor.person.connected = false
  editor.type()
  void editor.minutePasses()
  await until(async () => (await caller.get('/api/me')).status === 200, 'some time passes')
  t.equal(editor.seen.text, '$(record) 1 min')
  editor.person.connected = true
  await window.deactivate()
})

t.test('it asks once who counts minutes where a WakaTime plugin sends heartbeats', async (t) => {
  const { editor, token, caller } = await start(t, 'hedy')
  const heartbeat = { time: Date.now() / 1_000, project: 'hedy-team/api' }
  await caller.post('/api/wakatime/v1/users/current/heartbeats', heartbeat)
  editor.person.github = token
  editor.person.presses = 'The WakaTime plugin'
  const first = await editor.open()
  const questions = () => editor.seen.messages.filter((message) => message.includes('WakaTime')).length
  t.equal(questions(), 1)
  t.match(editor.seen.tooltip, /You have paused it/)
  await first.deactivate()
  const next = await editor.open()
  t.equal(questions(), 1)
  await next.deactivate()
})

t.test('it pushes on command, and asks if another person was faster', async (t) => {
  const { editor, token, caller, repo } = await start(t, 'dora')
  editor.person.github = token
  const window = await editor.open()
  hasMembers(t, await editor.run('ext.push'), [/are pushed/])
  const pull = async () => (await caller.get(`/api/settings/${repo}`)).body.settings
  t.same(await pull(), { 'ext.theme': 'light', 'ext.fontSize': 12 })

  await caller.push(repo, { 'ext.theme': 'theirs' })
  editor.workspaceValues['ext.theme'] = 'mine'
  hasMembers(t, await editor.run('ext.push'), [/pushed meanwhile/])
  t.same(JSON.parse(editor.seen.details[0] ?? ''), { 'ext.theme': 'theirs' })
  t.same(await pull(), { 'ext.theme': 'theirs' }, 'no choice was made')
  editor.person.presses = 'Use Theirs'
  await editor.run('ext.push')
  t.equal(editor.workspaceValues['ext.theme'], 'theirs')

  await caller.push(repo, { 'ext.theme': 'theirs again' })
  editor.workspaceValues['ext.theme'] = 'mine'
  editor.person.presses = 'Push Mine'
  hasMembers(t, await editor.run('ext.push'), [/pushed meanwhile/, /are pushed/])
  t.hasStrict(await pull(), { 'ext.theme': 'mine' })
  await window.deactivate()
})

t.test('for a repository without a workspace, the answer suggests a pattern', async (t) => {
  const { editor, token, caller, id } = await start(t, 'eve')
  await caller.put(`/api/team/workspaces/${id}/patterns`, { patterns: ['elsewhere/*'] })
  editor.person.github = token
  const window = await editor.open()
  hasMembers(t, await editor.run('ext.push'), [/eve-team\/\*/])
  await window.deactivate()
})

t.test('it signs in with a token that was entered, keeps it secret, and forgets it', async (t) => {
  const { editor, token } = await start(t, 'fay')
  const window = await editor.open()
  editor.person.types = token
  t.same(await editor.run('ext.signInWithToken'), [])
  t.equal(editor.secrets.get('hostToken'), token)
  const { token: session } = JSON.parse(editor.secrets.get('session') ?? '{}')
  await editor.run('ext.signOut')
  t.equal(editor.secrets.size, 0)
  t.match(editor.seen.tooltip, /not signed in/)
  const reply = await service.request('GET', '/api/me', { headers: { Authorization: `Bearer ${session}` } })
  t.hasStrict(reply, { status: 401, body: { code: 'token_revoked' } })
  editor.person.types = 'unknown-to-the-host'
  t.same(await editor.run('ext.signInWithToken'), [errorCatalogue.repohost_token_invalid[1]])
  await window.deactivate()
})

t.test('an old session is replaced without a question', async (t) => {
  const { editor, token } = await start(t, 'gwen')
  editor.person.github = token
  await (await editor.open()).deactivate()
  const stored = JSON.parse(editor.secrets.get('session') ?? '{}')
  editor.secrets.set('session', JSON.stringify({ ...stored, token: 'old' }))
  const window = await editor.open()
  t.not(JSON.parse(editor.secrets.get('session') ?? '{}').token, 'old')
  t.equal(editor.seen.asked, 0)
  await window.deactivate()
})

t.test('it starts without a network', async (t) => {
  const { editor, token } = await start(t, 'hela')
  editor.person.github = token
  await (await editor.open()).deactivate()
  editor.configuration['ext.cloudUrl'] = 'http://127.0.0.1:1'
  const window = await editor.open()
  t.match(editor.seen.text, /not recorded/)
  await window.deactivate()
})

t.test('it finds a repository that Git discovers late, with remotes that come later still', async (t) => {
  const { editor, token, caller, id, repo, place } = await start(t, 'iris')
  await caller.patch(`/api/team/workspaces/${id}/settings`, { settings: { 'ext.theme': 'dark' } })
  editor.closeRepositories()
  editor.person.github = token
  const window = await editor.open()
  t.strictSame(
    [editor.seen.text, editor.seen.tooltip, editor.seen.command],
    [
      '$(debug-pause) not recorded',
      'Nothing is recorded. Open a folder of a repository with a remote.',
      undefined,
    ],
  )
  t.same(editor.workspaceValues, {})
  await editor.findRepository(place)
  t.equal(editor.seen.text, '$(record) 0 min')
  t.match(editor.seen.tooltip, new RegExp(repo))
  await until(() => editor.workspaceValues['ext.theme'] === 'dark', 'the settings are pulled')
  await window.deactivate()
})

t.test('a click on the status bar signs in, and pauses only once the user is signed in', async (t) => {
  const { editor, token } = await start(t, 'jade')
  const window = await editor.open()
  t.equal(editor.seen.command, 'ext.signIn')
  editor.person.github = token
  t.same(await editor.click(), [])
  t.strictSame([editor.seen.command, editor.seen.text], ['ext.togglePause', '$(record) 0 min'])
  t.match(editor.seen.tooltip, /Click to pause/)
  await editor.click()
  t.equal(editor.seen.command, 'ext.togglePause')
  t.match(editor.seen.tooltip, /You have paused it\. Click to resume/)
  await window.deactivate()
})

t.test('the status bar says where recording was turned off, and offers no click for that', async (t) => {
  const { editor, token, caller } = await start(t, 'vera')
  await caller.put('/api/me/recording', { paused: true, repos_off: [], hours: null })
  editor.person.github = token
  const window = await editor.open()
  await until(() => editor.seen.text === '$(debug-pause) not recorded', 'the queue has asked')
  t.strictSame(
    [editor.seen.tooltip, editor.seen.command],
    ['Nothing is recorded. You have turned recording off under Privacy in the dashboard.', undefined],
  )
  await window.deactivate()
})

t.test('the status bar says when minutes wait: for the service, or for a sign-in', async (t) => {
  const { editor, token } = await start(t, 'kate')
  editor.person.github = token
  await (await editor.open()).deactivate()
  const session = JSON.parse(editor.secrets.get('session') ?? '{}')

  editor.secrets.set('session', JSON.stringify({ ...session, token: 'old' }))
  editor.person.agrees = false
  const signedOut = await editor.open()
  await until(() => editor.seen.text === '$(record) 0 min, signed out', 'the queue needs another token')
  t.equal(editor.seen.command, 'ext.signIn')
  editor.person.agrees = true
  await editor.click()
  await until(() => editor.seen.text === '$(record) 0 min', 'the queue has one')
  await signedOut.deactivate()

  editor.configuration['ext.cloudUrl'] = 'http://127.0.0.1:1'
  editor.secrets.set('session', JSON.stringify({ ...session, baseUrl: 'http://127.0.0.1:1' }))
  const offline = editor.open()
  await until(() => editor.seen.text === '$(record) 0 min, waiting for the service', 'nothing answers')
  await (await offline).deactivate()
})

t.test('a changed address ends the session there, and sends it no token before a sign-in', async (t) => {
  const { editor, token } = await start(t, 'lena')
  editor.person.github = token
  const window = await editor.open()
  t.equal(editor.seen.text, '$(record) 0 min')
  const other = await startService(t, { beside: service })
  editor.seen.origins.clear()
  await editor.configure('ext.cloudUrl', other.url)
  t.equal(editor.seen.command, 'ext.signIn')
  t.match(editor.seen, { text: /not recorded/, tooltip: /not signed in/ })
  t.strictSame([...editor.seen.origins], [])
  t.same(await editor.run('ext.signIn'), [])
  t.strictSame([...editor.seen.origins], [other.url])
  t.equal(editor.seen.text, '$(record) 0 min')
  await window.deactivate()
})

t.test('it says that the service is not reachable, and not how', async (t) => {
  const { editor, token } = await start(t, 'mona')
  editor.person.github = token
  editor.configuration['ext.cloudUrl'] = 'http://127.0.0.1:1'
  const window = await editor.open()
  t.same(await editor.run('ext.signIn'), ['Not reachable. Your minutes wait.'])
  await window.deactivate()
})

t.test('with several folders, each has the settings and minutes of its own repository', async (t) => {
  const caller = await service.signIn('wilma')
  const folder = await temporaryFolder(t)
  const places = ['api', 'web'].map((name) => ({
    address: join(folder, name),
    remote: `https://github.com/wilma-${name}/${name}.git`,
  }))
  const themes = { api: 'dark', web: 'blue' }
  for (const [name, theme] of Object.entries(themes)) {
    const { id } = await service.workspace(caller, { name, patterns: [`wilma-${name}/*`] })
    await caller.patch(`/api/team/workspaces/${id}/settings`, {
      settings: { 'ext.theme': theme },
      locked: ['ext.theme'],
    })
  }
  const editor = await openEditor({ configuration: { 'ext.cloudUrl': service.url }, folder, folders: places })
  editor.person.github = service.repohost.addUser('wilma', { id: caller.repohostId }).token
  const window = await editor.open()
  const [api = '', web = ''] = places.map(({ address }) => address)
  const expected = { [api]: { 'ext.theme': 'dark' }, [web]: { 'ext.theme': 'blue' } }
  t.strictSame(editor.folderValues, expected)
  t.strictSame(await editor.edit('ext.theme', 'light', web), ['ext.theme: Set by your team.'])
  t.strictSame(editor.folderValues, expected)
  t.match(editor.seen.tooltip, /in wilma-api\/api and wilma-web\/web by the hour/)

  editor.type(join(web, 'src/index.ts'))
  await editor.minutePasses()
  t.same(await editor.run('ext.push'), [], 'it asks which repository, and nothing was chosen')
  editor.person.picks = 'wilma-web/web'
  t.same(await editor.run('ext.push'), ['The settings of wilma-web/web are pushed.'])
  t.hasStrict((await caller.get('/api/settings/wilma-web/web')).body.settings, { 'ext.theme': 'blue' })
  await window.deactivate()
  const next = await editor.open()
  const minutes = async (): Promise<[string, number][]> =>
    (await caller.get('/api/team/active-minutes')).body.workspaces.map(
      ({ name, minutes }: { name: string; minutes: number }) => [name, minutes],
    )
  await until(async () => (await minutes()).some(([, count]) => count > 0), 'the minute arrives')
  t.strictSame((await minutes()).sort(), [
    ['api', 0],
    ['web', 1],
  ])
  await next.deactivate()
})

t.test('at a host without accounts in the editor, signing in asks for a token', async (t) => {
  const { editor, token } = await start(t, 'xena')
  editor.configuration['ext.signInWith'] = 'token'
  editor.person.github = token
  const window = await editor.open()
  t.same(await editor.run('ext.signIn'), [])
  t.match(editor.seen.tooltip, /not signed in/, 'nothing was entered')
  editor.person.types = token
  t.same(await editor.run('ext.signIn'), [])
  t.match(editor.seen.tooltip, /in xena-team\/api/)
  t.strictSame(editor.seen.scopes, [], 'GitHub is never asked')
  await window.deactivate()
})
