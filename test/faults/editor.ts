/**
 * A real VS Code server with the extension that a running service serves: from an empty editor to settings that are obeyed
 * and minutes that count, and back. It needs `code-server` and `git` in PATH.
 */
import { execFile } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { startRepohost } from '../../demo/repohost.js'
import { createTestDatabase } from '../database.js'
import { freePort, launch, onDatabase, ready, spawnProgram, temporaryFolder } from '../process.js'
import { until } from '../until.js'
import { startBrowser } from '../web/browser.js'
import type { Fault } from './fault.js'

const run = promisify(execFile)
const TEAM = { 'editor.tabSize': 3, 'editor.wordWrap': 'on', 'files.trimTrailingWhitespace': true }
const LOCKED = 'editor.wordWrap'
/** Neither a welcome page nor an assistant takes the focus. */
const OWN_SETTINGS = { 'chat.disableAIFeatures': true, 'workbench.startupEditor': 'none' }

export const editor: Fault = {
  name: 'editor',
  needs: ['code-server', 'git'],
  play: async (scope) => {
    const since = performance.now()
    const details: string[] = []
    const broken: string[] = []
    const tell = (what: string) =>
      details.push(`${((performance.now() - since) / 1_000).toFixed(0)} s: ${what}`)
    const database = await createTestDatabase()
    scope.teardown(database.drop)
    const repohost = await startRepohost()
    scope.teardown(repohost.close)
    const port = await freePort()
    const url = `http://127.0.0.1:${port}`
    const env = { REPOHOST_URL: repohost.url, REPOHOST_API_URL: repohost.apiUrl, BASE_URL: url }
    await ready(
      launch(scope, port, { ...onDatabase(database.url), ...env, EXTENSION_PREFIX: 'ext,editor,files' }),
    )

    const hostToken = repohost.addUser('ada').token
    const headers: Record<string, string> = { 'Content-Type': 'application/json' }
    const call = async <T>(method: string, path: string, body?: object): Promise<T> => {
      const reply = await fetch(`${url}/api${path}`, { method, headers, body: body && JSON.stringify(body) })
      if (!reply.ok) throw new Error(await reply.text())
      return reply.json() as Promise<T>
    }
    const { token } = await call<{ token: string }>('POST', '/auth/verify', { repohost_token: hostToken })
    headers.Authorization = `Bearer ${token}`
    const { workspace } = await call<{ workspace: { id: string } }>('POST', '/team/workspaces/create', {
      name: 'Acme',
      patterns: ['acme/*'],
    })
    await call('PATCH', `/team/workspaces/${workspace.id}/settings`, { settings: TEAM, locked: [LOCKED] })

    const home = await temporaryFolder(scope)
    const project = join(home, 'project')
    await mkdir(join(home, 'data/User'), { recursive: true })
    await mkdir(project)
    await writeFile(join(home, 'data/User/settings.json'), JSON.stringify(OWN_SETTINGS))
    await writeFile(join(project, 'notes.txt'), 'hello\n')
    await run('git', ['init', '--quiet'], { cwd: project })
    await run('git', ['remote', 'add', 'origin', `git@${new URL(repohost.url).hostname}:acme/search.git`], {
      cwd: project,
    })
    tell('the service and an empty editor')

    await run('curl', ['-fO', `${url}/api/extension.vsix`], { cwd: home })
    const folders = ['--user-data-dir', join(home, 'data'), '--extensions-dir', join(home, 'extensions')]
    await run('code-server', [...folders, '--install-extension', join(home, 'extension.vsix')])
    tell('the extension is installed')
    const editorPort = await freePort()
    const address = `127.0.0.1:${editorPort}`
    const options = ['--auth', 'none', '--bind-addr', address, '--disable-workspace-trust']
    spawnProgram(scope, 'code-server', [...folders, ...options], { HOME: home }, home)
    await until(
      () =>
        fetch(`http://${address}/healthz`).then(
          ({ ok }) => ok,
          () => false,
        ),
      'the editor responds',
    )

    const browser = await startBrowser()
    if (typeof browser === 'string') throw new Error(browser)
    scope.teardown(() => browser.close())
    const page = await browser.newPage()
    page.setDefaultTimeout(120_000)
    await page.goto(`http://${address}/?folder=${project}`)
    const input = page.locator('.quick-input-widget input').first()
    const choose = async (key: string, text: string) => {
      await page.keyboard.press(key)
      await input.fill(text)
      await page.locator('.quick-input-list .monaco-list-row.focused').first().waitFor()
      await page.keyboard.press('Enter')
    }
    const file = join(project, '.vscode/settings.json')
    const settings = async () => JSON.parse((await readFile(file, 'utf8').catch(() => '')) || '{}')
    const becomes = async (expected: object, what: string) => {
      const sorted = (values: object) => JSON.stringify(Object.entries(values).sort())
      const isSame = async () => sorted(await settings()) === sorted(expected)
      await until(isSame, what).then(
        () => tell(what),
        async () => broken.push(`${what}: ${JSON.stringify(await settings())}`),
      )
    }
    await page.locator('.statusbar-item', { hasText: 'not recorded' }).waitFor()
    tell('the editor is open')
    const signIn = async () => {
      await choose('F1', '>Team Settings: Sign In with a Token')
      await page.getByText('A personal access token of the repository host').first().waitFor()
      await input.fill(hostToken)
      await input.press('Enter')
    }
    await signIn()
    await page.locator('.notification-list-item .monaco-button', { hasText: 'Apply' }).first().click()
    tell('asked before the first write')
    await becomes(TEAM, 'signed in, and the folder has the settings of the team')

    await choose('Control+KeyP', 'notes.txt')
    await page.locator('.monaco-editor').first().waitFor()
    const shown = page.locator('.statusbar-item', { hasText: /[1-9]\d* min/ })
    await until(async () => {
      await page.keyboard.type('x')
      return (await shown.count()) > 0
    }, 'the status bar shows a minute')
    tell('the status bar shows a typed minute')

    await writeFile(file, JSON.stringify({ ...TEAM, [LOCKED]: 'off' }))
    await becomes(TEAM, 'a locked setting that was changed by hand is back')
    await choose('F1', '>Team Settings: Sign Out')
    await becomes({ [LOCKED]: 'off' }, 'signed out, and the folder has only the value that the person set')
    await signIn()
    await becomes(TEAM, 'signed in again, and the settings of the team are back')
    const counted = async () => {
      const { workspaces } = await call<{ workspaces: { minutes: number }[] }>('GET', '/team/active-minutes')
      return workspaces.some(({ minutes }) => minutes > 0)
    }
    await until(counted, 'the minute counts').then(
      () => tell('the minute counts'),
      ({ message }) => broken.push(message),
    )
    return { did: 'one person in one editor', details, broken }
  },
}
