/** A real VS Code server with a browser, and a person at its keys. It needs `code-server` in PATH. */
import { execFile } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort, spawnProgram } from '../process.js'
import { until } from '../until.js'
import { startBrowser } from '../web/browser.js'
import type { Scope } from './fault.js'

const run = promisify(execFile)

/** Neither a welcome page nor an assistant takes the focus, and the editor asks about trust each time. */
const OWN_SETTINGS = {
  'chat.disableAIFeatures': true,
  'workbench.startupEditor': 'none',
  'security.workspace.trust.startupPrompt': 'always',
}

/** An extension that doesn't say what is safe, and writes down what the editor tells extensions. */
const TOOL = {
  name: 'tool',
  publisher: 'acme',
  version: '1.0.0',
  engines: { vscode: '^1.90.0' },
  main: 'main.js',
  activationEvents: ['onStartupFinished'],
  contributes: {
    configuration: { properties: { 'tool.level': { type: 'number', default: 0, scope: 'resource' } } },
  },
}
const toolCode = (file: string) => `
const vscode = require('vscode')
const tell = (event) => (detail) => require('fs').appendFileSync(${JSON.stringify(file)}, event + ' ' + JSON.stringify(detail) + '\\n')
exports.activate = () => {
  const { window, workspace } = vscode
  window.onDidChangeActiveTerminal((terminal) => tell('terminal')({ any: terminal !== undefined }))
  window.onDidChangeTerminalState(({ state }) => tell('terminal state')(state))
  window.onDidStartTerminalShellExecution(({ execution }) => tell('shell')(execution.commandLine.value))
  window.onDidChangeWindowState(tell('window'))
  workspace.onDidChangeConfiguration((event) => event.affectsConfiguration('editor') && tell('configuration')({}))
  workspace.onDidGrantWorkspaceTrust(() => tell('trust')({}))
  for (const { uri } of workspace.workspaceFolders ?? []) {
    const { inspect } = workspace.getConfiguration(undefined, uri)
    tell('inspect')(inspect('workbench.sideBar.location'))
  }
}
`

/** @param home the person's home folder */
export const startEditor = async (scope: Scope, home: string) => {
  const events = join(home, 'events.txt')
  const pictures = process.env.PICTURES ?? join(home, 'pictures')
  await mkdir(pictures, { recursive: true })
  await mkdir(join(home, 'data/User'), { recursive: true })
  await writeFile(join(home, 'data/User/settings.json'), JSON.stringify(OWN_SETTINGS))
  const tool = join(home, 'extensions/acme.tool-1.0.0')
  await mkdir(tool, { recursive: true })
  await writeFile(join(tool, 'package.json'), JSON.stringify(TOOL))
  await writeFile(join(tool, 'main.js'), toolCode(events))
  await writeFile(events, '')
  const folders = ['--user-data-dir', join(home, 'data'), '--extensions-dir', join(home, 'extensions')]
  const install = (vsix: string) => run('code-server', [...folders, '--install-extension', vsix])

  const open = async () => {
    const address = `127.0.0.1:${await freePort()}`
    const options = ['--auth', 'none', '--bind-addr', address]
    spawnProgram(scope, 'code-server', [...folders, ...options], { HOME: home, SHELL: '/bin/bash' }, home)
    const isUp = () =>
      fetch(`http://${address}/healthz`).then(
        ({ ok }) => ok,
        () => false,
      )
    await until(isUp, 'the editor responds')
    const browser = await startBrowser()
    if (typeof browser === 'string') throw new Error(browser)
    scope.teardown(() => browser.close())
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
    page.setDefaultTimeout(60_000)
    const input = page.locator('.quick-input-widget input').first()
    const statusBar = (text: string | RegExp) => page.locator('.statusbar-item', { hasText: text }).first()
    const notification = (text: string | RegExp) =>
      page.locator('.notification-list-item', { hasText: text }).first()
    const choose = async (key: string, text: string, entry = text) => {
      await page.keyboard.press(key)
      await input.fill(text)
      const chosen = page.locator('.quick-input-list .monaco-list-row.focused', { hasText: entry })
      await chosen.first().waitFor()
      await page.keyboard.press('Enter')
    }
    return {
      page,
      input,
      statusBar,
      notification,
      choose,
      /** Opens a folder or workspace, and says whether its authors are trusted. */
      visit: async (query: string, answer?: 'Yes' | 'No') => {
        // In a browser, the editor stores what extensions remember a moment after they were told that it is stored.
        await page.waitForTimeout(3_000)
        await page.goto(`http://${address}/?${query}`)
        if (answer)
          await page.locator('.monaco-dialog-box .monaco-button', { hasText: answer }).first().click()
        await page.locator('.statusbar-item').first().waitFor()
      },
      command: (title: string) => choose('F1', `>${title}`, title),
      press: (text: string | RegExp, button: string) =>
        notification(text).locator('.monaco-button', { hasText: button }).first().click(),
      /** Once nothing moves any more. */
      picture: async (name: string) => {
        await page.waitForTimeout(1_000)
        await page.screenshot({ path: join(pictures, `${name}.png`) })
      },
      /** The window loses or gets the focus: in a browser without a screen, it always has it. */
      focus: (has: boolean) =>
        page.evaluate(
          `document.hasFocus = () => ${has}; window.dispatchEvent(new Event('${has ? 'focus' : 'blur'}'))`,
        ),
    }
  }
  /** The events of one kind that extensions got so far. */
  const told = async (event: string) => {
    const lines = (await readFile(events, 'utf8')).split('\n')
    return lines.filter((line) => line.startsWith(`${event} {`) || line.startsWith(`${event} "`))
  }
  return { install, open, told }
}
