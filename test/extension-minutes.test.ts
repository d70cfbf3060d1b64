/** The extension's minutes and their repositories, in a fake editor with the real service. */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { strFromU8, unzipSync } from 'fflate'
import t from 'tap'
import { matchesPattern } from '../client/src/pattern.js'
import { newsOf, statusOf } from '../extension/src/status.js'
import { pathAtHost, remoteAt, remoteHostAt } from '../schemas/remotes.js'
import { serviceVersion } from '../src/platform/process/root.js'
import { installEditor, type OpenFolder } from './fake-vscode.js'
import { temporaryFolder } from './process.js'
import { type Caller, startService } from './service.js'
import { until } from './until.js'

const service = await startService(t, { env: { EXTENSION_PREFIX: 'ext,editor' } })
type Test = Parameters<typeof temporaryFolder>[0]

/** A person with a workspace, and an editor in which no one is signed in. */
const start = async (t: Test, login: string, place: Partial<OpenFolder> = {}) => {
  const folder = await temporaryFolder(t)
  const remote = `git@github.com:${login}-team/api.git`
  const opened = { address: join(folder, 'api'), remote, ...place }
  await mkdir(join(opened.address, '.vscode'), { recursive: true })
  const caller = await service.signIn(login)
  const { id } = await service.workspace(caller, { name: 'Team', patterns: [`${login}-team/*`] })
  await caller.patch(`/api/team/workspaces/${id}/settings`, { settings: { 'ext.theme': 'dark' } })
  const editor = await installEditor({ folder, url: service.url })
  editor.person.github = service.repohost.addUser(login, { id: caller.repohostId }).token
  return { caller, id, editor, opened, folder }
}
type Editor = Awaited<ReturnType<typeof installEditor>>
type Window = Awaited<ReturnType<Editor['openWindow']>>

const work = async (window: Window, file?: string) => {
  await window.type(file)
  await window.minutePasses()
}
const signIn = async (window: Window) => {
  await window.run('signIn')
  await until(() => window.conditions.get('teamSettings.signedIn') === true, 'signed in')
}
const waitForTooltip = (window: Window, text: string) => until(() => window.item.tooltip.includes(text), text)
const minutesOf = async (caller: Caller): Promise<number> =>
  (await caller.get('/api/team/active-minutes')).body.workspaces.reduce(
    (sum: number, { minutes }: { minutes: number }) => sum + minutes,
    0,
  )
const flushes = ({ requests }: Editor) =>
  requests.filter(({ method, path }) => method === 'POST' && path === '/api/team/active-minutes').length

t.test('a remote counts only at the team’s host, by its scheme and port, with any user', async (t) => {
  const isAt = (host: string, address: string) => {
    const [remote, found] = [remoteAt(address), remoteHostAt(host)]
    return remote && found && pathAtHost(remote, found)
  }
  for (const [host, at, elsewhere] of [
    [
      'github.com',
      [
        'https://github.com/acme/web.git',
        'HTTPS://user:secret@GitHub.com:443/acme/web.git',
        'https://www.github.com/acme/web.git',
        'ssh://git@github.com/acme/web.git',
        'ssh://git@github.com:22/acme/web.git',
        'git+ssh://git@github.com/acme/web.git',
        'ssh+git://git@github.com/acme/web.git',
        'ssh://git@ssh.github.com:443/acme/web.git',
        'git@ssh.github.com:acme/web.git',
        'git@github.com:acme/web.git',
        'git@github.com:/acme/web.git',
        'github.com:acme/web.git',
        'git://github.com/acme/web.git',
        '//github.com/acme/web.git',
      ],
      [
        'http://github.com/acme/web.git',
        'https://github.com:8443/acme/web.git',
        'ssh://git@github.com:2222/acme/web.git',
        'git://github.com:9419/acme/web.git',
        '//github.com:8443/acme/web.git',
        'file://github.com/acme/web.git',
        'ext://github.com/acme/web.git',
        'ftp://github.com/acme/web.git',
        'ext::ssh://github.com/acme/web.git',
        'https://api.github.com/acme/web.git',
        'https://altssh.gitlab.com/acme/web.git',
        'https://github.com@evil.example/acme/web.git',
        'github.com@evil.example:acme/web.git',
        'https://evil.example#@github.com/acme/web.git',
        'https://evil.example?@github.com/acme/web.git',
        'https://evil.example\\@github.com/acme/web.git',
        'https://github.com%2eevil.example/acme/web.git',
        'https://github.com:x@evil.example/acme/web.git',
        '/srv/git/acme/web.git',
        'C:\\acme\\web.git',
        `git@${'@'.repeat(1_000_000)}`,
      ],
    ],
    [
      'gitlab.com',
      ['ssh://git@altssh.gitlab.com:443/acme/web.git'],
      ['ssh://git@gitlab.com:444/acme/web.git'],
    ],
    [
      'https://git.example.com:8443/gitlab/',
      [
        'https://git.example.com:8443/gitlab/acme/web.git',
        'git@git.example.com:acme/web.git',
        'ssh://git@git.example.com:2222/acme/web.git',
        '//git.example.com:2222/acme/web.git',
        '//git.example.com:8443/gitlab/acme/web.git',
      ],
      [
        'https://git.example.com/gitlab/acme/web.git',
        'https://git.example.com:8443/acme/web.git',
        '//git.example.com:8443/acme/web.git',
        'https://git.example.com:8443/gitlabs/acme/web.git',
        'http://git.example.com:8443/gitlab/acme/web.git',
      ],
    ],
    [
      'http://[::1]:3000',
      ['http://[::1]:3000/acme/web.git', 'git@[::1]:acme/web.git'],
      ['https://[::1]:3000/acme/web.git', 'http://[::1]/acme/web.git'],
    ],
  ] as const) {
    for (const address of at) t.equal(isAt(host, address), 'acme/web.git', `${host} ${address}`)
    for (const address of elsewhere)
      t.equal(isAt(host, address), undefined, `${host} ${address.slice(0, 80)}`)
  }
  for (const text of ['', 'a b', 'ftp://git.example.com', 'git@host', '__proto__/x y'])
    t.equal(isAt(text, 'https://github.com/acme/web.git'), undefined, text)

  const { editor, opened } = await start(t, 'ada', { remote: 'https://evil.example/ada-team/api.git' })
  const window = await editor.openWindow([opened])
  await signIn(window)
  await waitForTooltip(window, 'No open folder is of a repository with a remote at github.com.')
  await work(window)
  await window.run('apply')
  t.strictSame(window.values(), {})
  t.strictSame(await window.run('push'), ['Sign in, and open a repository with a remote at github.com.'])
  t.equal(window.item.text, '$(debug-pause) not recorded')
  t.equal(flushes(editor), 0)
  t.notOk(editor.requests.some(({ path }) => /effective-config|settings/.test(path)))

  const changed = { affectsConfiguration: (key: string) => key === 'teamSettings.hostAliases' }
  editor.user['teamSettings.hostAliases'] = ['EVIL.example']
  await window.emit('configuration', changed)
  await waitForTooltip(window, 'Minutes in ada-team/api count in Team.')
  await until(() => window.values()['ext.theme'] === 'dark', 'an alias counts as the host')
  editor.user['teamSettings.hostAliases'] = []
  await window.emit('configuration', changed)
  await until(() => window.values()['ext.theme'] === undefined, 'without it, the settings are taken out')
  await window.close()
})

t.test('a folder opened at the host counts as a repository on that host', async (t) => {
  const { editor } = await start(t, 'ann')
  const window = await editor.openWindow([{ address: 'vscode-vfs://github/ann-team/api', remote: '' }])
  await signIn(window)
  await waitForTooltip(window, 'Minutes in ann-team/api count in Team.')
  editor.user['teamSettings.host'] = 'git.example.com'
  await window.emit('configuration', { affectsConfiguration: (key: string) => key === 'teamSettings.host' })
  await waitForTooltip(window, 'No open folder is of a repository with a remote at git.example.com.')
  await window.close()
})

t.test('a fork belongs to the original’s team', async (t) => {
  const { editor, opened, caller } = await start(t, 'bea', {
    remote: 'git@github.com:bea/web.git',
    remotes: { colleague: 'git@github.com:carl/web.git', upstream: 'git@github.com:bea-team/web.git' },
  })
  const window = await editor.openWindow([opened])
  await signIn(window)
  await waitForTooltip(window, 'Minutes in bea-team/web count in Team.')
  await until(() => window.values()['ext.theme'] === 'dark', 'it gets the settings of the team')
  await work(window)
  await until(async () => (await minutesOf(caller)) === 1, 'the minute counts for the original')
  t.notOk(editor.requests.some(({ query }) => /carl|bea(%2F|\/)web/i.test(query)))
  await window.close()
})

t.test('no other repository is sent to the service until the person pushes it', async (t) => {
  const { editor, opened, folder } = await start(t, 'cleo')
  const own = { address: join(folder, 'secret'), remote: 'git@github.com:cleo/secret-project.git' }
  await mkdir(join(own.address, '.vscode'), { recursive: true })
  const isNamed = () =>
    editor.requests.some(({ path, query, body }) => `${path}${query}${body}`.includes('secret-project'))
  const window = await editor.openWindow([own, opened])
  await signIn(window)
  await until(
    () => window.values(opened.address)['ext.theme'] === 'dark',
    'the other folder has its settings',
  )
  await work(window, join(own.address, 'a.ts'))
  await waitForTooltip(window, 'cleo/secret-project is in none of your workspaces.')
  await work(window, join(own.address, 'a.ts'))
  await window.run('apply')
  editor.person.picks = 'cleo/secret-project'
  t.strictSame(await window.run('pull'), ['cleo/secret-project is in none of your workspaces.'])
  await window.close()

  // Without a response from the service, nothing changes.
  editor.network.silent = true
  const next = await editor.openWindow([own, opened])
  await waitForTooltip(next, 'The service hasn’t said yet')
  await work(next, join(own.address, 'a.ts'))
  await work(next, join(opened.address, 'a.ts'))
  await waitForTooltip(next, '1 active minutes today')
  await next.close()
  editor.network.silent = false
  const last = await editor.openWindow([own, opened])
  await until(() => flushes(editor) > 0, 'the minute is sent')
  t.notOk(isNamed())
  await last.edit('ext.theme', 'mine', own.address)
  await last.run('push')
  t.ok(isNamed(), 'a push names it')
  await last.close()
})

t.test('patterns are matched in one pass', (t) => {
  const name = 'a'.repeat(100_000)
  t.equal(matchesPattern(`acme/${'a*'.repeat(30_000)}b`, `acme/${name}`), false)
  t.equal(matchesPattern(`acme/${'a*'.repeat(30_000)}`, `acme/${name}`), true)
  t.end()
})

t.test(
  'with several repositories in a folder, each file’s repository gets its minutes, and no settings apply',
  async (t) => {
    const { editor, opened, caller } = await start(t, 'dora', {
      within: { api: 'git@github.com:dora-team/api.git', mine: 'git@github.com:dora/mine.git' },
    })
    const window = await editor.openWindow([opened])
    await signIn(window)
    await window.run('apply')
    await work(window, join(opened.address, 'notes.txt'))
    t.equal(window.item.text, '$(debug-pause) not recorded', 'a file beside them belongs to none')
    await work(window, join(opened.address, 'api/a.ts'))
    await waitForTooltip(window, 'Minutes in dora-team/api count in Team.')
    await work(window, join(opened.address, 'api/a.ts'))
    await work(window, join(opened.address, 'mine/a.ts'))
    await waitForTooltip(window, 'dora/mine is in none of your workspaces.')
    await window.run('signOut')
    t.equal(await minutesOf(caller), 2)
    t.strictSame(window.values(), {})
    await window.close()
  },
)

t.test('the first minute is sent immediately, and the rest when the window closes', async (t) => {
  const { editor, opened, caller } = await start(t, 'eve')
  const window = await editor.openWindow([opened])
  await signIn(window)
  await waitForTooltip(window, 'count in Team')
  await work(window)
  await until(async () => (await minutesOf(caller)) === 1, 'the first minute is on the page')
  for (let minute = 0; minute < 8; minute++) await work(window)
  await window.close()
  t.equal(await minutesOf(caller), 9)
  t.ok(flushes(editor) <= 3, 'later ones are sent together')
  t.strictSame(window.listeners(), [])
})

t.test('what a person does while signed out or paused makes no later minute count', async (t) => {
  const { editor, opened, caller } = await start(t, 'fern')
  const window = await editor.openWindow([opened])
  const countsAfter = async (what: () => unknown, minutes: number, message: string) => {
    await what()
    await window.minutePasses()
    t.ok(window.item.text.startsWith(`$(record) ${minutes} min`), `${message}: ${window.item.text}`)
  }
  await window.type()
  await signIn(window)
  await waitForTooltip(window, 'count in Team')
  await countsAfter(() => {}, 0, 'before the sign-in')
  await countsAfter(() => window.type(), 1, 'after it')
  await window.type()
  await window.run('togglePause')
  await window.type()
  await window.run('togglePause')
  await countsAfter(() => {}, 1, 'before and during a pause')
  await window.type()
  await window.run('signOut')
  await signIn(window)
  await waitForTooltip(window, 'count in Team')
  await countsAfter(() => {}, 1, 'before a sign-out')
  await countsAfter(() => window.type(), 2, 'after a new sign-in')
  await window.close()
  t.equal(await minutesOf(caller), 2)
})

t.test('signing out sends the minutes before the session ends', async (t) => {
  const { editor, opened, caller } = await start(t, 'fay')
  const [window, other] = [await editor.openWindow([opened]), await editor.openWindow([opened])]
  await signIn(window)
  for (const one of [window, other]) await waitForTooltip(one, 'count in Team')
  await until(() => window.values()['ext.theme'] === 'dark', 'the settings are there')
  for (const one of [window, window, other]) await work(one)
  editor.requests.length = 0
  await window.run('signOut')
  const posts = editor.requests.filter(({ method }) => method === 'POST').map(({ path }) => path)
  t.strictSame([...new Set(posts)], ['/api/team/active-minutes', '/api/auth/logout'])
  t.equal(posts.at(-1), '/api/auth/logout')
  t.equal(await minutesOf(caller), 3, 'including those of the other window')
  await until(() => other.conditions.get('teamSettings.signedIn') === false, 'the other window follows')
  t.equal(editor.secrets.size, 0, 'no one has signed in again')
  await until(() => window.values()['ext.theme'] === undefined, 'the settings are taken out')
  await window.close()
  await other.close()
})

t.test('minutes that can’t be sent before a sign-out wait for the same person', async (t) => {
  const { editor, opened, caller } = await start(t, 'gil')
  const window = await editor.openWindow([opened])
  await signIn(window)
  await waitForTooltip(window, 'count in Team')
  await work(window)
  await until(async () => (await minutesOf(caller)) === 1, 'the first minute is sent')
  editor.network.silent = true
  await work(window)
  await work(window)
  await window.run('signOut')
  t.equal(window.item.command, 'teamSettings.signIn', 'a silent service keeps no one signed in')
  editor.network.silent = false

  const account = editor.person.github
  const colleague = await service.signIn('gil-colleague')
  const token = service.repohost.addUser('gil-colleague', { id: colleague.repohostId }).token
  editor.person.github = token
  await signIn(window)
  await window.run('signOut')
  editor.person.github = account
  t.equal(await minutesOf(colleague), 0)
  t.equal(await minutesOf(caller), 1, 'another person sends none of them')
  await signIn(window)
  await until(async () => (await minutesOf(caller)) === 3, 'the same person sends them')
  await window.close()
})

t.test('in a terminal, the first key press and commands count', async (t) => {
  const { editor, opened } = await start(t, 'hal')
  const idle = 11 * 60_000
  const counted = async (window: Window) => {
    await window.minutePasses()
    const minutes = Number(window.item.text.match(/(\d+) min/)?.[1])
    editor.clock.ahead += idle
    await window.minutePasses()
    return minutes
  }
  const window = await editor.openWindow([opened])
  await signIn(window)
  await waitForTooltip(window, 'count in Team')
  await window.recognizeShell()
  t.equal(await counted(window), 0, 'the editor recognizes a shell')
  await window.typeInTerminal()
  t.equal(await counted(window), 1, 'the first key')
  await window.typeInTerminal()
  t.equal(await counted(window), 1, 'later keys are known to no extension')
  await window.emit('shell')
  t.equal(await counted(window), 2, 'a command starts')
  await window.emit('terminal')
  t.equal(await counted(window), 3, 'the person switches terminals')
  await window.close()
  const older = await editor.openWindow([opened], { hasShellIntegration: false })
  await waitForTooltip(older, 'count in Team')
  await older.typeInTerminal()
  t.equal(await counted(older), 4, 'an editor that doesn’t say when commands start')
  await older.close()
})

t.test('the tooltip is correct as soon as the service has responded', async (t) => {
  const { editor, opened } = await start(t, 'iris')
  const window = await editor.openWindow([opened])
  await signIn(window)
  await waitForTooltip(window, 'count in Team')
  await window.close()
  editor.network.silentAt = '/api/limits'
  const next = await editor.openWindow([opened])
  await waitForTooltip(next, 'Minutes in iris-team/api count in Team.')
  t.strictSame(next.written, [], 'before anything is written')
  editor.network.silentAt = undefined
  await next.close()
})

t.test('the tooltip says when the service has a newer extension, and how to install it', async (t) => {
  const { editor, opened } = await start(t, 'jade')
  const { packageJSON } = editor
  const window = await editor.openWindow([opened])
  await signIn(window)
  await waitForTooltip(window, 'count in Team')
  t.notOk(window.item.tooltip.includes('/api/extension.vsix'))
  await window.close()
  for (const [version, isOld] of [
    ['0.9.9', true],
    ['999.0.0', false],
  ] as const) {
    packageJSON.version = version
    const other = await editor.openWindow([opened])
    await waitForTooltip(other, 'count in Team')
    const news = `The service has version ${serviceVersion} of this extension: run curl -fLO ${service.url}/api/extension.vsix, then code --install-extension extension.vsix.`
    t.equal(other.item.tooltip.endsWith(news), isOld, version)
    await other.close()
  }
  t.equal(newsOf('1.0.0', 'https://a.example').includes('https://a.example/api/extension.vsix'), true)
  const facts = {
    waiting: undefined,
    problems: [],
    signedIn: false,
    revoked: false,
    paused: false,
    queue: 'ready',
    today: 0,
    isTeams: false,
  }
  const { tooltip } = statusOf({ ...facts, host: '', repo: undefined, workspace: undefined, news: 'News.' })
  t.equal(tooltip, 'Nothing is recorded. You aren’t signed in. Click to sign in. News.')
})

t.test('sign-in is offered only when signed out, and sign-out only when signed in', async (t) => {
  const { editor, opened } = await start(t, 'kate')
  const window = await editor.openWindow([opened])
  const offered = () => ['signIn', 'signInWithToken', 'signOut', 'apply'].filter(window.isInPalette)
  t.strictSame(offered(), ['signIn', 'signInWithToken', 'apply'])
  await signIn(window)
  t.strictSame(offered(), ['signOut', 'apply'])
  await until(() => window.values()['ext.theme'] === 'dark', 'the settings are there')
  await window.run('signOut')
  t.strictSame(offered(), ['signIn', 'signInWithToken', 'apply'])
  await window.run('openDashboard')
  t.strictSame(editor.seen.opened, [service.url])
  await window.close()
})

t.test('watchers on repositories opened later end with the window', async (t) => {
  const { editor, opened } = await start(t, 'lena')
  const window = await editor.openWindow([opened])
  await until(() => window.listeners().includes('repository opens'), 'it watches Git')
  const [one] = window.repositories
  const late = (root: string) => ({
    ...one,
    state: { remotes: [], onDidChange: window.on(`git ${root}`) },
  })
  const [first, second] = [late('first'), late('second')]
  for (const repository of [first, second]) await window.emit('repository opens', repository)
  t.ok(window.listeners().includes('git first'))
  await window.emit('repository closes', first)
  t.notOk(window.listeners().includes('git first'))
  await window.close()
  t.strictSame(window.listeners(), [])
})

t.test(
  'the manifest has every field that an extension store needs, and every walkthrough step has a command',
  async (t) => {
    const { editor } = await start(t, 'nora')
    const { repository, bugs, keywords, contributes } = editor.packageJSON
    t.match(repository.url, /^git\+https:/)
    t.match(bugs.url, /^https:/)
    t.ok(keywords.length > 0)
    const declared = contributes.commands.map(({ command }: { command: string }) => command)
    const [{ steps }] = contributes.walkthroughs
    const offered = steps.map(
      ({ description }: { description: string }) => /\(command:(.+)\)/.exec(description)?.[1],
    )
    t.strictSame(offered, ['teamSettings.signIn', 'teamSettings.show', 'teamSettings.openDashboard'])
    t.strictSame(
      offered.filter((command: string) => !declared.includes(command)),
      [],
    )
  },
)

t.test('the service puts its host into the extension, for each kind of host', async (t) => {
  const url = 'https://git.example.com:8443'
  const tags = new Set<string | null>()
  for (const [kind, host, expected] of [
    ['github', 'https://github.com', ['github', 'github.com', '']],
    ['github', url, ['github-enterprise', 'git.example.com:8443', '']],
    ['gitlab', `${url}/gitlab/`, ['token', 'git.example.com:8443/gitlab', 'git.example.com:8443/gitlab']],
    ['forgejo', 'http://git.example.com', ['token', 'http://git.example.com', '']],
  ] as const) {
    const other = await startService(t, { kind, env: { REPOHOST_URL: host } })
    const response = await fetch(`${other.url}/api/extension-${serviceVersion}.vsix`)
    const files = unzipSync(new Uint8Array(await response.arrayBuffer()))
    const { contributes } = JSON.parse(strFromU8(files['extension/package.json'] ?? new Uint8Array()))
    const { properties } = contributes.configuration
    t.strictSame(
      ['signInWith', 'host', 'gitlabHost'].map((name) => properties[`teamSettings.${name}`].default),
      expected,
    )
    tags.add(response.headers.get('etag'))
  }
  t.equal(tags.size, 4, 'the ETag follows from what is in it')
})

t.test('settings that decide where tokens are sent can be set only for the application', async (t) => {
  const { editor } = await start(t, 'mia')
  const { properties } = editor.packageJSON.contributes.configuration
  t.strictSame(
    Object.entries<{ scope: string }>(properties).filter(([, { scope }]) => scope !== 'application'),
    [],
  )
})

t.test('a start with seventeen folders asks for each repository once', async (t) => {
  const { editor, opened, folder } = await start(t, 'olga')
  const first = await editor.openWindow([opened])
  await signIn(first)
  await until(() => first.written.length === 1, 'the team is known')
  await first.close()
  const folders = Array.from({ length: 17 }, (_, index) => ({
    address: join(folder, `${index}`),
    remote: `git@github.com:olga-team/repo-${index}.git`,
  }))
  for (const { address } of folders) await mkdir(address)
  editor.requests.length = 0
  Object.assign(editor.seen, { writes: 0, events: 0 })
  const window = await editor.openWindow(folders)
  // Git finds most of them later, and changes their state several times.
  const late = window.repositories.splice(5)
  await until(() => window.listeners().includes('repository opens'), 'it watches Git')
  for (const repository of late) {
    window.repositories.push(repository)
    await window.emit('repository opens', repository)
    for (let change = 0; change < 3; change++) await window.emit(`git ${repository.rootUri.fsPath}`)
  }
  const areWritten = () => folders.every(({ address }) => window.values(address)['ext.theme'] === 'dark')
  await until(areWritten, 'all have the settings')
  const asked = editor.requests.filter(({ path }) => path === '/api/team/effective-config')
  t.equal(asked.length, 17)
  t.equal(new Set(asked.map(({ query }) => query)).size, 17)
  t.equal(editor.requests.filter(({ path }) => path === '/api/team/me').length, 1)
  t.strictSame([editor.seen.writes, editor.seen.events], [17, 17])
  t.comment(`${editor.requests.length} requests`)
  await window.close()
})
