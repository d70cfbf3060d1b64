/** Every screen as an admin sees it: light, dark, and on a phone. */
import { readFile } from 'node:fs/promises'
import t, { type Test } from 'tap'
import { addDays } from '../../src/platform/time/days.js'
import { hasProperties } from '../has-properties.js'
import { until } from '../until.js'
import { countOf, type Scene, startScene, type Visitor } from './page.js'

const scene = await startScene(t, {
  env: { ADMIN_KEYS: 'the-key', REPOHOST_CLIENT_ID: '', REPOHOST_CLIENT_SECRET: '' },
})

/** The cumulative layout shift, as Chromium measures it. */
const MAX_LAYOUT_SHIFT = 0.02

interface Size {
  width: number
  height: number
  colorScheme: 'light' | 'dark'
}
const desktop: Size = { width: 1280, height: 900, colorScheme: 'light' }
const phone: Size = { width: 390, height: 844, colorScheme: 'dark' }
const smallest: Size = { width: 320, height: 640, colorScheme: 'light' }

/** A name that must appear as text, without any effect. */
const HOSTILE = `<img src=x onerror="alert(1)"> \u202Eabc🦊 ${'long'.repeat(15)}`

const prepare = async ({ service }: Scene) => {
  const [ada, bob] = await service.signInAll('ada', 'bob')
  const { id, code } = await service.workspace(ada, { name: HOSTILE, members: [bob] })
  const today = new Date().toISOString().slice(0, 10)
  for (const [caller, repo] of [
    [ada, 'acme/web'],
    [bob, 'acme/api'],
  ] as const) {
    const entries = [0, 1, 3].map((back) => ({
      repo,
      day: addDays(today, -back),
      minutes: 90,
      hours: { '9': 50, '10': 40 },
    }))
    await caller.post('/api/team/active-minutes', { entries, timezone: 'Europe/Berlin' })
  }
  await ada.push('acme/web', { 'ext.theme': 'light' })
  await ada.push('acme/web', { 'ext.theme': 'dark', 'ext.tabSize': 2 })
  await ada.patch(`/api/team/workspaces/${id}/settings`, {
    settings: { 'ext.theme': 'dark', 'ext.lint': true },
  })
  await ada.put(`/api/team/workspaces/${id}/project-settings/acme/web`, {
    settings: { 'ext.theme': 'light', 'ext.lint': null },
  })
  await ada.post(`/api/team/workspaces/${id}/keys`, { name: 'nightly', scopes: ['counts:write'] })
  await ada.post('/api/wakatime/v1/users/current/heartbeats', { time: Date.now() / 1_000, project: 'notes' })
  return { ada, bob, id, code }
}

if (typeof scene === 'string') t.test('every screen is accessible', { skip: scene }, async () => {})
else {
  const { ada, id, code } = await prepare(scene)
  const visitor = await scene.visit(ada)
  const { page } = visitor
  /** The screens: a text that must be visible, and the heading, regions and tables that a screen reader finds. */
  const screens: [
    path: string,
    seen: string | RegExp,
    heading: string | RegExp,
    regions?: string,
    tables?: string,
  ][] = [
    [
      `/w/${id}/me`,
      'My working hours',
      'My activity',
      'Summary, My active time by day, My working hours, My repositories',
      'My repositories',
    ],
    [
      `/w/${id}`,
      'Active time by day',
      /long/,
      'What changed, Active time by day, People, Repositories',
      'People, Repositories',
    ],
    [`/w/${id}?from=2025-01-01&to=2025-12-31&show=commits`, 'Commits by week', /long/],
    [`/w/${id}/people`, 'invite', / people$/, 'Members and invites', 'People'],
    [`/w/${id}/repos`, 'Another repository', / repositories$/, 'Repositories', 'Repositories'],
    [`/w/${id}/repos/acme/web`, 'Active time by day', /^acme\/web/, 'Active time by day', 'People'],
    [
      `/w/${id}/repos/acme/web/settings`,
      'First version',
      /^acme\/web/,
      'Effective settings, Override, Override versions, Pushed settings, Pushed versions, Changes from version 1 to 2',
      'Effective settings, Override versions, Pushed versions, Differences',
    ],
    [
      `/w/${id}/settings`,
      'Idle window in minutes',
      / editor settings$/,
      'Editor settings, Activity, Pending changes',
      'Versions',
    ],
    [`/w/${id}/settings/privacy`, 'Private to each person', / privacy$/, 'Who sees each person’s numbers'],
    [
      `/w/${id}/settings/integrations`,
      'nightly',
      / integrations$/,
      'Webhook, Sync members from GitHub, Access keys',
    ],
    [
      `/w/${id}/settings/general`,
      'Rename workspace',
      / general settings$/,
      'Name, Repository patterns, Deletion',
    ],
    [`/w/${id}/settings/audit`, /^pushed the settings of /, / audit trail$/, 'Entries', 'Entries'],
    [`/join/${code}`, 'Recorded repositories', 'Workspace invite'],
    ['/account', 'Sign out everywhere', 'Profile', 'Time zone, Theme, Sessions'],
    [
      '/account/privacy',
      'Recording preferences',
      'Privacy and data',
      'Recorded data, Recording preferences, Who sees my numbers, Views of my numbers, Export, Deletion',
    ],
    [
      '/account/editors',
      'Any other editor',
      'Editors and keys',
      'VS Code, Any other editor, Import, My access keys',
      'Project names',
    ],
    ['/funnel', 'Funnel', 'Funnel'],
    ['/w/00000000-0000-0000-0000-000000000000', 'Page not found', 'Page not found'],
  ]

  /** The tables that are wider than their place. */
  const clipped = ({ page }: Visitor) =>
    page
      .locator('main .scroll:not(.compare)')
      .evaluateAll((all) =>
        all.filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.innerText.slice(0, 40)),
      )

  /** The buttons and fields that are less than 36 pixels high. Links within text may be. */
  const smallTargets = ({ page }: Visitor) =>
    page
      .locator('main :is(button, select, input:not([type="checkbox"], [type="radio"]), summary)')
      .evaluateAll((all) =>
        all
          .filter((one) => one.checkVisibility() && one.getBoundingClientRect().height < 36)
          .map((one) => one.outerHTML.slice(0, 120)),
      )

  const resize = async ({ page }: Visitor, { width, height, colorScheme }: Size) => {
    await page.setViewportSize({ width, height })
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
  }

  /** Checks the screen that is open: on a phone in dark, on a desktop in light, and for a screen reader. */
  const check = async (
    t: Test,
    visitor: Visitor,
    name: string,
    heading: string | RegExp,
    regions = '',
    tables = '',
  ) => {
    const { page } = visitor
    const fits = (width: number) =>
      until(async () => (await visitor.width()) === width, `${name} fits in ${width} pixels`)
    await resize(visitor, phone)
    await fits(phone.width)
    t.strictSame(await visitor.violations(), [], `${name} in dark on a phone`)
    t.strictSame(await clipped(visitor), [], `${name} shows whole tables on a phone`)
    t.strictSame(await smallTargets(visitor), [], `${name} has targets for fingers`)
    await resize(visitor, smallest)
    await fits(smallest.width)
    await resize(visitor, desktop)
    await fits(desktop.width)
    t.strictSame(await visitor.violations(), [], name)
    for (const name of regions.split(', ').filter(Boolean))
      await page.getByRole('region', { name, exact: true }).first().waitFor()
    const tree = await page.locator('body').ariaSnapshot()
    const headings = [...tree.matchAll(/heading "(.*)" \[level=1\]/g)].map(([, name]) => name)
    hasProperties(t, headings, [heading], `${name} has its heading`)
    t.match(tree, /^- main:/m, name)
    for (const table of tables.split(', ').filter(Boolean))
      t.match(tree, new RegExp(`table "${table}(, newest first)?"`), `${name} has the table ${table}`)
    t.notMatch(
      tree,
      /- (cell|columnheader|rowheader|button|link|textbox|combobox|slider|checkbox|radio|img)$/m,
      `${name} has a name for every control`,
    )
    // Zoomed to 200 %, with the text spacing of WCAG 1.4.12.
    await resize(visitor, { ...desktop, width: 640, height: 450 })
    await page.locator('html').evaluate(({ ownerDocument }) => {
      const sheet = new ownerDocument.defaultView.CSSStyleSheet()
      sheet.replaceSync(`* { line-height: 1.5 !important; letter-spacing: 0.12em !important; word-spacing: 0.16em !important }
        p { margin-bottom: 2em !important }`)
      ownerDocument.adoptedStyleSheets = [sheet]
    })
    await fits(640)
  }

  /** A visitor whose responses arrive late, and what has moved in the page since it was opened. */
  const visitSlowly = async () => {
    const visitor = await scene.visit(ada)
    await visitor.page.addInitScript(() => {
      const seen = globalThis as unknown as { jumps: string[]; moved: number }
      Object.assign(seen, { jumps: [], moved: 0 })
      type Shift = { value: number; sources: { node: { outerHTML?: string } | null }[] }
      new PerformanceObserver((list) => {
        for (const { value, sources } of list.getEntries() as unknown as Shift[]) {
          seen.moved += value
          seen.jumps.push(`${value}: ${sources[0]?.node?.outerHTML?.slice(0, 80)}`)
        }
      }).observe({ type: 'layout-shift' as never, buffered: true })
    })
    let late = 0
    await visitor.intercept('*/api/*', async (request) => {
      await new Promise((resolve) => setTimeout(resolve, 50 + 40 * (late++ % 4)))
      await request.pass()
    })
    const shifts = () =>
      visitor.page.evaluate(() => {
        const { moved, jumps } = globalThis as unknown as { jumps: string[]; moved: number }
        return { moved, jumps }
      })
    return { visitor, shifts }
  }

  t.test(
    'every screen fits, is accessible, logs no errors and doesn’t shift while responses load, on phones and desktops',
    async (t) => {
      const { visitor, shifts } = await visitSlowly()
      for (const [index, [path, seen, heading, regions, tables]] of screens.entries()) {
        // Both for screens with tables, which move most; the others take turns.
        for (const size of tables ? [desktop, phone] : [index % 2 ? desktop : phone]) {
          await resize(visitor, size)
          await visitor.open(path)
          await visitor.sees(seen)
          await visitor.page.waitForLoadState('networkidle')
          await visitor.settled()
          const { moved, jumps } = await shifts()
          t.ok(moved <= MAX_LAYOUT_SHIFT, `${path} moves while it loads: ${jumps.join('\n')}`)
        }
        await check(t, visitor, path, heading, regions, tables)
        t.equal(await countOf(visitor.page.getByRole('banner'), 1), 1, `${path} has a banner`)
      }
      await visitor.open('/s/acme/web')
      await visitor.sees('First version')
      await check(t, visitor, 'the pushed settings', 'acme/web', 'Pushed versions')
      t.strictSame(visitor.complaints, [])
      const guest = await scene.visit()
      await guest.open('/?auth_error=access_denied')
      await guest.sees(/^You declined access on \S+\. Nothing has changed\.$/)
      await check(t, guest, 'the sign-in', 'Sign in to Team Settings & Activity')
      t.strictSame(guest.complaints, [])
    },
  )

  t.test('forced colors distinguish the current tab from the others', async (t) => {
    await page.emulateMedia({ forcedColors: 'active' })
    await visitor.open(`/w/${id}/people`)
    const borderOf = (name: string) =>
      visitor.link(name).evaluate((tab) => {
        const { defaultView, body } = tab.ownerDocument
        const { borderBottomColor } = defaultView.getComputedStyle(tab)
        return borderBottomColor === defaultView.getComputedStyle(body.parentElement).backgroundColor
          ? 'none'
          : 'line'
      })
    t.strictSame([await borderOf('People'), await borderOf('Settings')], ['line', 'none'])
    await page.emulateMedia({ forcedColors: null })
  })

  t.test('the printed settings have their values and no controls', async (t) => {
    await visitor.go(`/w/${id}/settings`)
    await visitor.sees('Idle window in minutes')
    await page.emulateMedia({ media: 'print' })
    const left = await page
      .locator('main :is(button, .choices, input[type="search"])')
      .evaluateAll((all) => all.filter((one) => one.checkVisibility()).map((one) => one.outerHTML))
    t.strictSame(left, [])
    await visitor.sees('ext.theme')
    await page.emulateMedia({ media: null })
  })

  t.test('a name is shown as text, whatever it contains', async (t) => {
    await visitor.go(`/w/${id}`)
    t.equal(await page.locator('h1 bdi').textContent(), HOSTILE)
    t.equal(await countOf(page.locator('main img'), 0), 0)
  })

  t.test(
    'a chart is saved as a picture in the page’s colors, and tooltips scroll with the page',
    async (t) => {
      const visitor = await scene.visit(ada)
      const { page, complaints } = visitor
      await page.emulateMedia({ colorScheme: 'dark' })
      await visitor.open(`/w/${id}?member=ada`)
      const download = page.waitForEvent('download')
      await visitor.button(/^Download SVG of Active time, /).click()
      const file = await download
      t.match(file.suggestedFilename(), /^Active time, .*\.svg$/)
      const picture = await readFile(await file.path(), 'utf8')
      // The surface of the dark theme, and the blue of its bars.
      t.ok(picture.includes('<rect width="100%" height="100%" fill="rgb(21, 28, 37)"/>'), picture)
      t.ok(picture.includes('fill="rgb(108, 178, 255)"'), picture)
      const another = page.waitForEvent('download')
      await visitor.button(/^Download PNG of Active time, /).click()
      const png = await readFile(await (await another).path())
      t.equal(png.subarray(1, 4).toString(), 'PNG')
      t.equal(png.readUInt32BE(16), Math.floor(2 * Number(/width="([\d.]+)"/.exec(picture)?.[1])))
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
      await visitor.button(/^Copy picture of Active time, /).click()
      await visitor.sees('Picture copied')

      const about = visitor.button('About active time')
      // In the middle, the tip has room below before and after.
      await about.evaluate((button) => button.scrollIntoView({ block: 'center' }))
      await about.click()
      const tip = page.locator('[popover]:popover-open')
      const distance = async () => {
        const [from, to] = [await about.boundingBox(), await tip.boundingBox()]
        return Math.round((to?.y ?? 0) - (from?.y ?? 0))
      }
      const [before, scrolled] = [await distance(), await page.evaluate<number>('scrollY')]
      await page.mouse.wheel(0, 60)
      await page.waitForFunction(
        (from) => (globalThis as unknown as { scrollY: number }).scrollY > from + 50,
        scrolled,
      )
      t.equal(await distance(), before)
      t.strictSame(complaints, [])
    },
  )

  t.test('the browser is told the header’s color in the chosen theme', async (t) => {
    const themed = await scene.visit(ada)
    await themed.open(`/w/${id}/people`)
    const colors = () =>
      themed.page.locator('meta[name="theme-color"]').evaluateAll((all) => all.map(({ content }) => content))
    t.strictSame(await colors(), ['#ffffff', '#151c25'])
    await themed.button('Change theme (system)').click()
    await themed.button('Change theme (light)').click()
    t.strictSame(await colors(), ['#151c25', '#151c25'])
  })

  t.test('menus, tooltips and dialogs are accessible', async (t) => {
    await page.setViewportSize({ width: 390, height: 844 })
    await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' })
    for (const [path, ...openers] of [
      [`/w/${id}`, 'Custom range', 'About active time', 'ada', /^Workspace: /],
      [`/w/${id}/people`, 'Invite people', 'Actions for bob'],
      [`/w/${id}/repos/acme/web/settings`, 'Remove override'],
      [`/w/${id}/settings/general`, 'Delete workspace'],
      [`/w/${id}/settings/integrations`, 'Revoke nightly'],
      ['/account/privacy', 'Delete my account'],
      ['/account/editors', 'Create access key', 'Assign notes'],
    ] as const) {
      await visitor.go(path)
      for (const opener of openers) {
        await visitor.button(opener).first().click()
        const opened = page.locator('dialog[open], [popover]:popover-open')
        await opened.waitFor()
        t.strictSame(await visitor.violations('dialog[open], [popover]:popover-open'), [], String(opener))
        // An element on top doesn't widen the page, so its own sides are compared.
        const { x, width } = (await opened.boundingBox()) ?? { x: -1, width: 0 }
        t.ok(x >= 0 && x + width <= 390, `${opener} fits in 390 pixels`)
        t.equal(await visitor.width(), 390, String(opener))
        await page.keyboard.press('Escape')
        await opened.waitFor({ state: 'detached' })
        await visitor.closed()
      }
    }
  })

  t.test('the first numbers take few requests', async (t) => {
    const fresh = await scene.visit(ada)
    const asked: string[] = []
    fresh.page.on('request', (request) => asked.push(request.url()))
    await fresh.page.goto(`${fresh.url}/w/${id}`)
    await fresh.page.locator('.figure .value').first().waitFor()
    const numbers = asked.findIndex((url) => url.includes('/dashboard?')) + 1
    t.ok(numbers > 0 && numbers <= 6, asked.join('\n'))
    t.notOk(
      asked.some((url) => !url.startsWith(fresh.url) && !url.startsWith('data:')),
      'no request goes to another host',
    )
  })
}
