/**
 * A real VS Code server with the extension that a running service serves: from an empty editor to settings that are obeyed
 * and minutes that count, and back, with whatever a faked editor can't show. It needs `code-server` and `git` in PATH.
 * PICTURES is a folder for pictures of what the person sees.
 */
import { execFile } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { startRepohost } from '../../demo/repohost.js'
import { projectRoot } from '../../src/platform/process/root.js'
import { createTestDatabase } from '../database.js'
import { freePort, launch, onDatabase, ready, temporaryFolder } from '../process.js'
import { until } from '../until.js'
import type { Fault } from './fault.js'
import { startEditor } from './real-editor.js'

const run = promisify(execFile)
const LOCKED = 'editor.wordWrap'
/** The last of them is of the window: with several folders, the editor doesn't ask a folder for it. */
const TEAM = {
  'editor.tabSize': 3,
  [LOCKED]: 'on',
  'files.trimTrailingWhitespace': true,
  'tool.level': 7,
  'workbench.sideBar.location': 'right',
}

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
    const prefixes = { EXTENSION_PREFIX: 'ext,editor,files,tool,workbench' }
    await ready(launch(scope, port, { ...onDatabase(database.url), ...env, ...prefixes }))

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
    const project = join(home, 'trusted/search')
    const fork = join(home, 'other/api')
    const git = (folder: string, ...args: string[]) =>
      run('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', ...args], { cwd: folder })
    const host = new URL(repohost.url).hostname
    const addProject = async (folder: string, remotes: Record<string, string>) => {
      await mkdir(folder, { recursive: true })
      await writeFile(join(folder, 'notes.txt'), 'hello\n')
      await git(folder, 'init', '--quiet', '--initial-branch=main')
      for (const [name, repo] of Object.entries(remotes))
        await git(folder, 'remote', 'add', name, `git@${host}:${repo}.git`)
    }
    await addProject(project, { origin: 'acme/search' })
    await addProject(fork, { origin: 'ada/api', upstream: 'acme/api' })
    const both = join(home, 'both.code-workspace')
    await writeFile(both, JSON.stringify({ folders: [{ path: project }, { path: fork }] }))
    tell('the service and an empty editor')

    const { install, open, told } = await startEditor(scope, home)
    await run('curl', ['-fO', `${url}/api/extension.vsix`], { cwd: home })
    await install(join(home, 'extension.vsix'))
    tell('the extension is installed')
    const { page, input, statusBar, notification, choose, visit, command, press, picture, focus } =
      await open()

    /** Tells what came of a step. A broken one doesn't keep the others from being played. */
    const step = async (what: string, work: () => Promise<unknown>) => {
      try {
        await work()
        tell(what)
      } catch (error) {
        broken.push(`${what}: ${(error as Error).message.slice(0, 500)}`)
        await picture(`broken-${broken.length}`)
      }
    }
    const fileIn = (folder: string) => join(folder, '.vscode/settings.json')
    const settings = async (folder: string) =>
      JSON.parse((await readFile(fileIn(folder), 'utf8').catch(() => '')) || '{}')
    const sorted = (values: object) => JSON.stringify(Object.entries(values).sort())
    const becomes = (folder: string, expected: object) =>
      until(async () => sorted(await settings(folder)) === sorted(expected), JSON.stringify(expected)).catch(
        async ({ message }) => {
          throw new Error(`${message}, but ${JSON.stringify(await settings(folder))}`)
        },
      )
    const signIn = async () => {
      await command('Team Settings: Sign In with a Token')
      await page.getByText('A personal access token of the repository host').first().waitFor()
      await input.fill(hostToken)
      await input.press('Enter')
    }
    const counted = async () => {
      const { workspaces } = await call<{ workspaces: { minutes: number }[] }>('GET', '/team/active-minutes')
      return workspaces.reduce((sum, { minutes }) => sum + minutes, 0)
    }

    await step('the editor is open, and its person trusts the folder', async () => {
      await visit(`folder=${project}`, 'Yes')
      await statusBar('not recorded').waitFor()
    })
    await step('the first write is asked about: the rule, and the number of settings', async () => {
      await signIn()
      await notification('Your team has 5 settings').waitFor()
      await picture('first-write')
      await press('Your team has 5 settings', 'Apply')
    })
    await step(
      'a setting of an extension that doesn’t say what is safe is asked about in a dialog',
      async () => {
        const dialog = page.locator('.monaco-dialog-box', { hasText: 'tool.level: 7' })
        await dialog.waitFor()
        await picture('dialog')
        await dialog.locator('.monaco-button', { hasText: 'Apply' }).first().click()
      },
    )
    await step('the folder has the settings of the team', () => becomes(project, TEAM))
    await step('a setting of window scope has an effect: the side bar is on the right', async () => {
      await page.locator('.part.sidebar.right').waitFor()
      await choose('Control+KeyP', 'notes.txt')
      await page.locator('.monaco-editor').first().waitFor()
      await picture('applied')
    })
    await step('the status bar shows a typed minute', () =>
      until(async () => {
        await page.locator('.monaco-editor textarea, .monaco-editor .native-edit-context').first().focus()
        await page.keyboard.type('x')
        return (await statusBar(/[1-9]\d* min/).count()) > 0
      }, 'a minute'),
    )
    await step('the service has it at once', () => until(counted, 'the minute counts'))
    await step('a locked setting that was changed by hand is back, with one notification', async () => {
      await writeFile(fileIn(project), JSON.stringify({ ...TEAM, [LOCKED]: 'off' }))
      await becomes(project, TEAM)
      await notification('Set by your team').waitFor()
      await picture('locked')
    })

    await step('in a folder that isn’t trusted, the extension doesn’t even run', async () => {
      await visit(`folder=${fork}`, 'No')
      await statusBar('Restricted Mode').waitFor()
      await page.waitForTimeout(10_000)
      await picture('restricted')
      if ((await statusBar(/min|not recorded/).count()) > 0) throw new Error('it runs')
      await becomes(fork, {})
    })
    await step('once it is trusted, a fork has the settings of its original’s team', async () => {
      await visit(`folder=${fork}`, 'Yes')
      await becomes(fork, TEAM)
      await page.locator('.part.sidebar.right').waitFor()
      await picture('fork')
    })
    await step('in a window with two folders, a sign-out takes out all of both', async () => {
      await visit(`workspace=${both}`, 'Yes')
      await statusBar(/\d+ min/).waitFor()
      await page.waitForTimeout(5_000)
      await picture('several-folders')
      await command('Team Settings: Sign Out')
      await becomes(project, { [LOCKED]: 'off' })
      await becomes(fork, {})
    })
    await step('signed in there, both have the settings again', async () => {
      await signIn()
      await becomes(project, TEAM)
      await becomes(fork, TEAM)
    })
    await step('signed out with one folder open, nothing of the team’s stays in either', async () => {
      await visit(`folder=${project}`)
      await statusBar(/\d+ min/).waitFor()
      await command('Team Settings: Sign Out')
      await becomes(project, { [LOCKED]: 'off' })
      await becomes(fork, {})
      await visit(`workspace=${both}`)
      await statusBar('not recorded').waitFor()
      await page.waitForTimeout(5_000)
      await becomes(project, { [LOCKED]: 'off' })
      await page.locator('.part.sidebar.left').waitFor()
      await picture('signed-out')
    })

    await step('in a terminal, the editor tells of the first key, and of each command', async () => {
      await visit(`folder=${project}`)
      await statusBar('not recorded').waitFor()
      await command('Terminal: Create New Terminal')
      await page.locator('.terminal-wrapper.active .xterm').first().waitFor()
      await page.waitForTimeout(8_000)
      const before = [await told('terminal state'), await told('shell')]
      await page.keyboard.type('echo one\n')
      await until(async () => (await told('shell')).length > (before[1]?.length ?? 0), 'a command')
      await page.keyboard.type('echo two\n')
      await until(async () => (await told('shell')).length > (before[1]?.length ?? 0) + 1, 'another')
      tell(
        `the editor told: ${[await told('terminal'), await told('terminal state'), await told('shell')].flat().join(', ')}`,
      )
      await picture('terminal')
    })
    await step('with nothing but a terminal, minutes count', async () => {
      await signIn()
      await becomes(project, TEAM)
      await visit(`folder=${project}`)
      const shown = statusBar(/\d+ min/)
      await shown.waitFor()
      const before = await shown.textContent()
      await until(async () => {
        await page.locator('.terminal-wrapper.active textarea').first().focus()
        await page.keyboard.type('echo three\n')
        await page.waitForTimeout(2_000)
        return (await shown.textContent()) !== before
      }, 'a minute')
    })

    await step('in a tracked file, the question names the settings', async () => {
      await command('Team Settings: Sign Out')
      await becomes(project, { [LOCKED]: 'off' })
      await git(project, 'add', '.')
      await git(project, 'commit', '--quiet', '--message=One')
      await git(project, 'checkout', '--quiet', '-b', 'other')
      await writeFile(fileIn(project), JSON.stringify({ [LOCKED]: 'bounded' }))
      await git(project, 'commit', '--quiet', '--all', '--message=Two')
      await signIn()
      await notification('Git tracks this file').waitFor()
      await picture('tracked')
      await press('Git tracks this file', 'Write')
      await becomes(project, TEAM)
    })
    await step('what Git checks out stays until the next focus', async () => {
      await focus(false)
      await git(project, 'checkout', '--quiet', '--force', 'main')
      await page.waitForTimeout(10_000)
      await becomes(project, { [LOCKED]: 'off' })
      await picture('checked-out')
    })
    await step('at the next focus, only the locked setting is back, with one notification', async () => {
      await focus(true)
      await becomes(project, { [LOCKED]: 'on' })
      await notification('Set by your team').waitFor()
      await picture('after-checkout')
      const shown = await page.locator('.notification-list-item', { hasText: 'Set by your team' }).count()
      if (shown !== 1) throw new Error(`${shown} notifications`)
    })

    await step('the extension of another company runs beside it', async () => {
      const own = { name: 'zenit', publisher: 'zenit', displayName: 'Zenit' }
      await writeFile(join(home, 'own.json'), JSON.stringify(own))
      const script = join(projectRoot, 'examples/vscode/own.mjs')
      const made = await run(process.execPath, [script, 'extension.vsix', 'own.json'], { cwd: home })
      await install(join(home, made.stdout.trim()))
      await visit(`folder=${project}`)
      await statusBar(/\d+ min/).waitFor()
      await statusBar('not recorded').waitFor()
      await page.keyboard.press('F1')
      await input.fill('>Zenit: Sign In')
      await page
        .locator('.quick-input-list .monaco-list-row', { hasText: 'Zenit: Sign In' })
        .first()
        .waitFor()
      await picture('two-companies')
    })
    for (const event of ['inspect', 'window']) tell(`${event}: ${[...new Set(await told(event))].join(', ')}`)
    return { did: 'one person in one editor', details, broken }
  },
}
