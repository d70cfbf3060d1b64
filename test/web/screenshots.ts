/** Takes the README's screenshots of the demo: `npm run screenshots`. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
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
  const page = await browser.newPage({ locale: 'en-GB', deviceScaleFactor: 1.5, reducedMotion: 'reduce' })
  await page.goto(`http://127.0.0.1:${PORT}`)
  await page.locator('.people button').first().click()
  // She is an admin, so her team opens.
  await page.getByRole('button', { name: 'Year' }).click()
  for (const [name, width, height, colorScheme] of [
    ['team-light', 1280, 860, 'light'],
    ['team-dark', 1280, 860, 'dark'],
  ] as const) {
    await page.setViewportSize({ width, height })
    await page.emulateMedia({ colorScheme })
    await page.locator('main:not(:has(.wait, [aria-busy="true"])) .figure').first().waitFor()
    // The chart adapts to the width one frame later.
    await page.waitForTimeout(300)
    await page.screenshot({ path: join(folder, `${name}.png`) })
  }
} finally {
  await browser.close()
  demo.kill()
  await once(demo, 'exit')
}
