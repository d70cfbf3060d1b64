/** A service and a browser for a test file, and pages that record their errors. */
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { BrowserContext, Locator, Page } from 'playwright-core'
import { projectRoot } from '../../src/platform/process/root.js'
import { freePort } from '../process.js'
import { type Caller, type Service, type ServiceOptions, startService } from '../service.js'
import { startBrowser } from './browser.js'

const require = createRequire(import.meta.url)
/** The minified axe, because Chromium compiles it for every page. */
const { source: axe }: { source: string } = require('axe-core/axe.min.js')

interface Test {
  teardown(work: () => unknown): void
  beforeEach(work: () => unknown): void
  afterEach(work: () => unknown): void
  fail(message: string): unknown
  passing(): boolean
}

/** How many there are, once it is the expected number or 30 s have passed. */
export const countOf = async (elements: Locator, expected: number): Promise<number> => {
  const enough = expected > 0 && elements.nth(expected - 1).waitFor({ state: 'attached' })
  await Promise.allSettled([enough, elements.nth(expected).waitFor({ state: 'detached' })])
  return elements.count()
}

/** Errors and warnings of the pages of a context, each with its address. */
export type Complaints = string[]

/** A request that waits for an answer. */
export interface PausedRequest {
  method: string
  answer(status: number, headers: Record<string, string>, body: string): Promise<unknown>
  refuse(): Promise<unknown>
  pass(): Promise<unknown>
}

export class Visitor {
  constructor(
    readonly context: BrowserContext,
    readonly page: Page,
    readonly url: string,
    readonly complaints: Complaints,
  ) {}

  /** Opens an address and waits until everything has loaded. */
  async open(path: string) {
    await this.page.goto(this.url + path)
    await this.settled()
  }

  /** Goes to an address as a link does, without loading the page again. */
  async go(path: string) {
    await this.page.evaluate((path) => {
      const { history, dispatchEvent, PopStateEvent } = globalThis as unknown as {
        history: { pushState(state: null, title: string, path: string): void }
        dispatchEvent(event: object): void
        PopStateEvent: new (type: string) => object
      }
      history.pushState(null, '', path)
      dispatchEvent(new PopStateEvent('popstate'))
    }, path)
    await this.settled()
  }

  /**
   * Pauses requests to addresses like `pattern` (`*` is any text), and leaves the cache on for all others: Playwright's
   * `route` turns it off, and the browser then loads and compiles every script again for every page.
   *
   * @returns the call that lets requests pass again
   */
  async intercept(pattern: string, handle: (request: PausedRequest) => Promise<unknown>) {
    const session = await this.context.newCDPSession(this.page)
    session.on('Fetch.requestPaused', ({ requestId, request: { method } }) => {
      const request: PausedRequest = {
        method,
        answer: (responseCode, headers, body) =>
          session.send('Fetch.fulfillRequest', {
            requestId,
            responseCode,
            responseHeaders: Object.entries(headers).map(([name, value]) => ({ name, value })),
            body: Buffer.from(body).toString('base64'),
          }),
        refuse: () => session.send('Fetch.failRequest', { requestId, errorReason: 'ConnectionRefused' }),
        pass: () => session.send('Fetch.continueRequest', { requestId }),
      }
      // The page may have given up the request.
      handle(request).catch(() => {})
    })
    await session.send('Fetch.enable', { patterns: [{ urlPattern: pattern }] })
    return () => session.detach()
  }

  /** Waits until no skeleton and no stale content is left. */
  settled() {
    return this.page.locator('main:not(:has(.wait, [aria-busy="true"]))').waitFor()
  }

  /** Waits until no dialog is left. One that Escape closed is hidden at once, but the page learns of it a frame later. */
  closed = () => this.page.locator('dialog').waitFor({ state: 'detached' })

  // A string is the whole name or text.
  button = (name: string | RegExp) => this.page.getByRole('button', { name, exact: true })
  link = (name: string | RegExp) => this.page.getByRole('link', { name, exact: true })
  heading = (name: string | RegExp) => this.page.getByRole('heading', { name, exact: true })
  field = (label: string | RegExp) => this.page.getByLabel(label, { exact: true })
  tokenField = () => this.field(/^\S+ access token$/)
  /** Waits until a text is visible. */
  async sees(text: string | RegExp) {
    try {
      await this.page.getByText(text, { exact: true }).filter({ visible: true }).first().waitFor()
    } catch (error) {
      const seen = await this.page.locator('body').innerText()
      throw new Error(`${text} is not visible, but:\n${seen}\n${this.complaints.join('\n')}`, {
        cause: error,
      })
    }
  }

  /** The WCAG 2.2 AA violations on the page, or only in a part of it. */
  async violations(part = 'html'): Promise<string[]> {
    // Loaded on demand, because axe is larger than the page.
    if (!(await this.page.evaluate('"axe" in globalThis'))) await this.page.evaluate(axe)
    return this.page.locator(part).evaluate(async (element) => {
      type Violation = { id: string; nodes: { html: string }[] }
      const { axe: there } = globalThis as unknown as {
        axe: { run(part: object, options: object): Promise<{ violations: Violation[] }> }
      }
      const { violations } = await there.run(element, {
        runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'],
        resultTypes: ['violations'],
        // No rule among them reads style sheets, which axe would load again.
        preload: false,
      })
      return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
    })
  }

  /** The width of the page. It exceeds the window if something overflows. */
  width(): Promise<number> {
    return this.page.locator('html').evaluate((html) => html.scrollWidth)
  }
}

export interface Scene {
  service: Service
  /** A page for a caller, or without a session. `own` gives it a browser context that no test before has changed. */
  visit(caller?: Caller, options?: { locale?: string; timezoneId?: string; own?: boolean }): Promise<Visitor>
}

/** Files that run in one process share a browser. */
let browser: ReturnType<typeof startBrowser> | undefined
const shareBrowser = async (test: Test) => {
  browser ??= startBrowser().then((started) => {
    if (typeof started !== 'string') test.teardown(() => started.close())
    return started
  })
  return browser
}

/** @returns the scene, or the reason why no browser can run here */
export const startScene = async (test: Test, options?: ServiceOptions): Promise<Scene | string> => {
  if (!existsSync(join(projectRoot, 'build/web/index.html'))) {
    throw new Error('The dashboard is not built: npm run build')
  }
  const browser = await shareBrowser(test)
  if (typeof browser === 'string') {
    process.stderr.write(`THE DASHBOARD IS NOT TESTED: ${browser}\n`)
    return browser
  }
  const port = await freePort()
  // Browsers sign in at the service's own origin and return to it.
  const env = { SITE_URL: '', BASE_URL: `http://127.0.0.1:${port}`, ...options?.env }
  const service = await startService(test, { ...options, port, env })
  type Lent = { context: BrowserContext; isReusable: boolean }
  const lent: Lent[] = []
  /** Contexts of tests that have ended. They have loaded and compiled the scripts. */
  const idle: BrowserContext[] = []
  let shared = 0
  test.beforeEach(() => {
    shared = lent.length
  })
  const returnContext = async ({ context, isReusable }: Lent) => {
    // The pages of a finished test may still be at work, and no one looks at the result.
    if (!isReusable) return context.close()
    await Promise.all(context.pages().map((page) => page.close()))
    await Promise.all([context.clearCookies(), context.clearPermissions(), context.setOffline(false)])
    idle.push(context)
  }
  test.afterEach(() => Promise.all(lent.splice(shared).map(returnContext)))
  // Before the service stops.
  test.teardown(() => Promise.all([...idle, ...lent.map(({ context }) => context)].map((one) => one.close())))
  const visit: Scene['visit'] = async (caller, { locale, timezoneId, own = locale !== undefined } = {}) => {
    const used = own ? undefined : idle.pop()
    const context =
      used ??
      (await browser.newContext({
        locale: locale ?? 'en-GB',
        ...(timezoneId && { timezoneId }),
        reducedMotion: 'reduce',
      }))
    lent.push({ context, isReusable: !own })
    context.setDefaultTimeout(120_000)
    if (caller) {
      await context.addCookies([{ name: 'svc_token', value: caller.token, url: service.url, httpOnly: true }])
    }
    const page = await context.newPage()
    if (used) {
      const session = await context.newCDPSession(page)
      const stored = { origin: service.url, storageTypes: 'local_storage' }
      await session.send('Storage.clearDataForOrigin', stored)
      await session.detach()
    }
    const complaints: Complaints = []
    page.on('pageerror', (error) => complaints.push(`${page.url()}: ${error.message}`))
    // Violations of the content security policy appear here as well.
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) complaints.push(`${page.url()}: ${message.text()}`)
    })
    return new Visitor(context, page, service.url, complaints)
  }
  return { service, visit }
}
