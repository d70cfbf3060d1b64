/** Takes the README's screenshots of the demo: `npm run screenshots`. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { projectRoot } from '../../src/platform/process/root.js'
import { startBrowser } from './browser.js'

const PORT = '3999'
const folder = join(projectRoot, 'docs/pictures')

/** Starts the demo and waits until it listens. */
const startDemo = async () => {
  const child = spawn(process.execPath, ['build/demo/demo.js'], {
    cwd: projectRoot,
    env: { ...process.env, PORT },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  for await (const text of child.stdout.setEncoding('utf8')) if (text.includes('The service is at')) break
  return child
}

const browser = await startBrowser()
if (typeof browser === 'string') throw new Error(browser)
const demo = await startDemo()
try {
  await mkdir(folder, { recursive: true })
  const sizes = { width: 1280, height: 860 }
  const take = async (
    who: string,
    path: string,
    name: string,
    prepare?: (page: Page) => Promise<unknown>,
  ) => {
    const context = await browser.newContext({
      locale: 'en-GB',
      viewport: sizes,
      deviceScaleFactor: 1.5,
      reducedMotion: 'reduce',
    })
    const page = await context.newPage()
    const settled = () => page.locator('main:not(:has(.wait, [aria-busy="true"])) .card').first().waitFor()
    await page.goto(`http://127.0.0.1:${PORT}`)
    await page.locator('.people button').filter({ hasText: who }).first().click()
    // The person's start page has the workspace in its address.
    await page.waitForURL(/\/w\//)
    const [workspace] = /\/w\/[^/?]+/.exec(page.url()) ?? []
    await page.goto(`http://127.0.0.1:${PORT}${workspace}${path}`)
    await settled()
    await prepare?.(page)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await settled()
      // The chart adapts to the width one frame later.
      await page.waitForTimeout(300)
      await page.screenshot({ path: join(folder, `${name}-${colorScheme}.png`) })
    }
    await context.close()
  }
  // She is an admin.
  await take('ada', '', 'team')
  await take('ada', '/settings', 'settings', async (page) => {
    await page.getByLabel('Filter', { exact: true }).selectOption('modified')
    await page.getByRole('checkbox', { name: 'Lock mochaExplorer.ui', exact: true }).check()
  })
  await take('bob', '/me', 'own')
} finally {
  await browser.close()
  demo.kill()
  await once(demo, 'exit')
}
