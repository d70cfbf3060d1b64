/**
 * The tasks that people use the dashboard for, by mouse, by keyboard, and with failures. They share one team, and run
 * in order, because a separate scene for each would need a service, sign-ins and first loads. Some depend on earlier
 * ones.
 */
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import t from 'tap'
import { seedTeam } from '../../demo/team.js'
import { rebuildRollups } from '../../src/features/rollups/roll-up.js'
import { addDays, mondayOf, weekdayOf } from '../../src/platform/time/days.js'
import { hasProperties } from '../has-properties.js'
import type { Caller } from '../service.js'
import { until } from '../until.js'
import { commitOf, Webhook } from '../webhooks.js'
import { countOf, startScene, type Visitor } from './page.js'

const THURSDAY = 4
const execute = promisify(execFile)

const EXTENSION = 'https://example.com/extension'
const scene = await startScene(t, { env: { EXTENSION_URL: EXTENSION, EXTENSION_PREFIX: 'ext' } })
const today = new Date().toISOString().slice(0, 10)

const work = (caller: Caller, repo: string, day: string, minutes: number) =>
  caller.post('/api/team/active-minutes', { entries: [{ repo, day, minutes }] })

if (typeof scene === 'string')
  t.test('people complete their tasks on the page', { skip: scene }, async () => {})
else {
  const { service, visit } = scene
  const [ada, bob] = await service.signInAll('ada', 'bob')
  const { id } = await service.workspace(ada, { members: [bob] })
  await work(ada, 'acme/web', addDays(today, -2), 100)
  await work(bob, 'acme/web', addDays(today, -2), 40)
  await work(bob, 'acme/api', addDays(today, -1), 200)
  for (const day of ['2025-03-05', '2026-02-24']) {
    const members = [{ login: 'ada', repos: [{ repo: 'acme/web', count: 2 }] }]
    await ada.post('/api/team/commits', { workspace: id, day, members })
  }
  const admin = await visit(ada)
  /** The row headers of a table. */
  const rowsOf = ({ page }: Visitor, caption: string) =>
    page
      .getByRole('table', { name: caption, exact: true })
      .locator('tbody tr th[scope="row"]')
      .allInnerTexts()

  /** Sends heartbeats as an editor with the configuration on the page. */
  const beat = async (page: Visitor['page'], heartbeats: object[]) => {
    const config = await page.locator('pre', { hasText: 'api_key' }).innerText()
    const [url, key] = ['api_url', 'api_key'].map(
      (name) => config.match(new RegExp(`^${name} = (.*)$`, 'm'))?.[1],
    )
    await fetch(`${url}/users/current/heartbeats.bulk`, {
      method: 'POST',
      headers: { Authorization: `Basic ${btoa(`${key}`)}` },
      body: JSON.stringify(heartbeats),
    })
  }

  t.test('signing in with a token returns to the requested URL', async (t) => {
    const visitor = await visit()
    const { page } = visitor
    await visitor.open(`/w/${id}/people`)
    await visitor.tokenField().fill('wrong')
    await page.keyboard.press('Enter')
    await visitor.sees('GitHub rejected this token. Copy the token again, or create a new one.')
    await visitor.tokenField().fill(ada.repohostToken)
    await page.keyboard.press('Enter')
    await visitor.heading('Acme people').waitFor()
    t.equal(page.url(), `${service.url}/w/${id}/people`)
    await page.getByRole('banner').getByRole('button', { name: 'ada', exact: true }).click()
    await visitor.button('Sign out').click()
    await visitor.heading('Sign in to Team Settings & Activity').waitFor()
  })

  t.test('signing in at the repository host returns to the requested URL', async (t) => {
    const { repohost } = service
    const { page, ...visitor } = await visit()
    const enter = () => page.getByRole('link', { name: /^Sign in with/ }).click()
    repohost.browserUser = null
    await page.goto(`${service.url}/w/${id}/people?x=1`)
    await enter()
    await page.getByText(/^You declined access on \S+\. Nothing has changed\.$/).waitFor()
    t.equal(page.url(), `${service.url}/w/${id}/people?x=1`, 'the requested address')
    repohost.browserUser = ada.repohostId
    await enter()
    await page.getByRole('heading', { name: 'Acme people', exact: true }).waitFor()
    t.equal(page.url(), `${service.url}/w/${id}/people?x=1`)
    // Leaves the page, so that it sends no request without its cookie.
    await page.goto('about:blank')
    await page.context().clearCookies()
    await page.goto(`${service.url}/api/auth/callback?state=of-somebody-else&code=x`)
    await page
      .getByText('The sign-in took too long or started in another browser. Try again.', { exact: true })
      .waitFor()
    await page.goto(`${service.url.replace('127.0.0.1', 'localhost')}/w/${id}/people`)
    await enter()
    await page.getByRole('heading', { name: 'Acme people', exact: true }).waitFor()
    t.equal(page.url(), `${service.url}/w/${id}/people`, 'at the configured origin')
    await page.goto('about:blank')
    await page.context().clearCookies()
    const { code } = (await ada.post(`/api/team/workspaces/${id}/invites`, {})).body
    repohost.browserUser = repohost.addUser('gus').id
    await page.goto(`${service.url}/join/${code}`)
    await page.getByRole('heading', { name: 'Sign in to view your invite', exact: true }).waitFor()
    await page.getByText('ada invites you to Acme.', { exact: true }).waitFor()
    await enter()
    await page.getByRole('button', { name: 'Join as gus', exact: true }).waitFor()
    t.strictSame(visitor.complaints, [])
  })

  t.test('everyone starts with their own activity, and old URLs redirect to the new ones', async (t) => {
    const at = (path: string) => `${service.url}${path}`
    const visitor = await visit(ada)
    const { page } = visitor
    await page.goto(at('/'))
    await page.waitForURL(at(`/w/${id}/me`))
    await visitor.heading('My activity').waitFor()
    const member = await visit(bob)
    await member.page.goto(at('/'))
    await member.page.waitForURL(at(`/w/${id}/me`))
    await member.heading('My activity').waitFor()
    const other = await service.workspace(ada, {
      name: 'Umbrella',
      patterns: ['umbrella/*'],
      members: [bob],
    })
    await visitor.open(`/w/${id}/people`)
    await visitor.button('Workspace: Acme').click()
    await visitor.link('Umbrella admin').click()
    await visitor.heading('Umbrella people').waitFor()
    t.equal(await countOf(page.locator(':popover-open'), 0), 0, 'the menu closes')
    t.equal(page.url(), at(`/w/${other.id}/people`), 'the kind of screen stays')
    await page.goto(at('/'))
    await page.waitForURL(at(`/w/${other.id}/me`))
    await visitor.open(`/w/${id}`)
    await visitor.button('Workspace: Acme').click()
    await visitor.link('Umbrella admin').click()
    await page.waitForURL(at(`/w/${other.id}`))
    for (const [old, current] of [
      [`/?workspace=${id}&from=2026-03-02&to=2026-03-08`, `/w/${id}/me?from=2026-03-02&to=2026-03-08`],
      ['/#about-me', '/account/privacy'],
      [`/w/${id}/audit?action=member.joined`, `/w/${id}/settings/audit?action=member.joined`],
      [`/w/${id}/settings/keys`, `/w/${id}/settings/integrations`],
      [`/w/${id}/settings/webhook`, `/w/${id}/settings/integrations`],
      [`/w/${id}/settings/organization`, `/w/${id}/settings/integrations`],
      [`/w/${id}/repos?repo=acme%2Fweb`, `/w/${id}/repos/acme/web`],
      ['/account/keys', '/account/editors'],
      ['/account/usage', '/account'],
      ['/account/workspaces', '/account'],
    ] as const) {
      await (old.startsWith('/w') || old.startsWith('/account') ? visitor.go(old) : page.goto(at(old)))
      await page.waitForURL(at(current))
    }
    await page.getByRole('dialog', { name: 'Workspaces', exact: true }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('banner').getByRole('button', { name: 'ada', exact: true }).click()
    await page
      .locator('nav:popover-open')
      .getByRole('link', { name: 'Privacy and data', exact: true })
      .click()
    t.equal(await countOf(page.locator(':popover-open'), 0), 0, 'the menu closes, even on the same screen')
    await ada.delete(`/api/team/workspaces/${other.id}`)
    t.strictSame(visitor.complaints, [])
  })

  t.test('an unknown URL shows the page’s frame', async () => {
    await admin.open('/nope')
    await admin.heading('Page not found').waitFor()
    await admin.button('Workspaces').click()
    await admin.link('Acme admin').click()
    await admin.heading('My activity').waitFor()
    admin.complaints.length = 0
  })

  t.test('a workspace’s first steps check themselves off', async (t) => {
    const newcomer = await service.signIn('hal')
    const visitor = await visit(newcomer)
    const { page } = visitor
    const steps = () =>
      page
        .getByRole('region', { name: 'First steps', exact: true })
        .getByRole('heading', { level: 3 })
        .allTextContents()
    await visitor.open('/')
    await visitor.heading('Welcome').waitFor()
    t.strictSame(await visitor.violations(), [])
    await visitor.field('Name').fill('Stark')
    t.equal(await visitor.field('Repositories').inputValue(), 'hal/*', 'their own repositories')
    await visitor.field('Repositories').fill('')
    const levels = page.getByRole('radio', { name: /^(Private to each person|Visible to admins)$/ })
    t.strictSame(await levels.evaluateAll((all) => all.map(({ checked }) => checked)), [false, false])
    await visitor.field('Visible to admins').check()
    await visitor.button('Create workspace').click()
    await visitor.button('Workspace: Stark').waitFor()
    t.strictSame(await steps(), [
      'Create a workspace, done',
      'Choose repositories, to do',
      'Set one setting, to do',
      'Connect an editor, to do',
      'Invite people, to do',
    ])
    await visitor.settled()
    t.strictSame(await visitor.violations(), [])
    t.equal(await visitor.link('Install the extension').getAttribute('href'), EXTENSION)
    t.equal(await visitor.link('connect any other editor').getAttribute('href'), '/account/editors')
    await visitor.link('Add a pattern').click()
    await visitor.field('Patterns, one per line').fill('stark/*')
    await visitor.button('Save patterns').click()
    await visitor.sees('Patterns saved')
    const [, stark] = new URL(page.url()).pathname.split('/w/')
    const set = await newcomer.patch(`/api/team/workspaces/${stark?.split('/')[0]}/settings`, {
      settings: { 'ext.tabSize': 2 },
    })
    t.equal(set.status, 200)
    await work(newcomer, 'stark/suit', today, 5)
    await visitor.link('Team').click()
    await until(
      async () =>
        (await steps()).join() ===
        'Create a workspace, done,Choose repositories, done,Set one setting, done,Connect an editor, done,Invite people, to do',
      'four steps are done',
    )
    await visitor.button('Hide first steps').click()
    await visitor.page.reload()
    await visitor.heading(/^Stark/).waitFor()
    await visitor.settled()
    t.equal(await countOf(visitor.heading('First steps'), 0), 0, 'they stay hidden')
    t.strictSame(visitor.complaints, [])
  })

  t.test('a repository’s most active person is two clicks away, at a shareable URL', async (t) => {
    await admin.go(`/w/${id}`)
    await admin.sees('Active time by day')
    t.strictSame(await rowsOf(admin, 'People'), ['AD\nada', 'BO\nbob'])
    await admin.button('Show only acme/web').click()
    await admin.settled()
    t.strictSame(await rowsOf(admin, 'People'), ['AD\nada', 'BO\nbob'])
    await admin.button('90 days').click()
    await admin.settled()
    t.match(admin.page.url(), /repo=acme%2Fweb.*from=.*to=/)
    await admin.page.reload()
    await admin.sees('Active time by day')
    t.strictSame(await rowsOf(admin, 'People'), ['AD\nada', 'BO\nbob'])
    await admin.button('Remove filter acme/web').click()
    await admin.settled()
    t.strictSame(await rowsOf(admin, 'People'), ['AD\nada', 'BO\nbob'], 'sorted by name')
    await admin.page
      .getByRole('table', { name: 'People', exact: true })
      .getByRole('button', { name: 'Active', exact: true })
      .click()
    t.strictSame(await rowsOf(admin, 'People'), ['BO\nbob', 'AD\nada'], 'sorted by active time')
  })

  t.test('a range is compared with the previous one, and a day with the same weekday in it', async (t) => {
    await admin.go(`/w/${id}?show=commits&from=2026-03-02&to=2026-03-08`)
    await admin.sees('2–8 Mar vs 23 Feb – 1 Mar, the same weekdays')
    const chart = admin.page.getByRole('slider', { name: /^Commits,/ })
    await chart.focus()
    await admin.page.keyboard.press('Home')
    await admin.page.keyboard.press('ArrowRight')
    // The compared range may arrive later than the page.
    await admin.page.locator('[aria-valuetext*="24 Feb 2026"]').waitFor()
    t.equal(await chart.getAttribute('aria-valuetext'), 'Tue, 3 Mar 2026: 0, Tue, 24 Feb 2026: 2')
    await admin.go(`/w/${id}?show=commits&from=2026-02-23&to=2026-03-01`)
    await admin.sees('23 Feb – 1 Mar')
  })

  t.test('a chart can be read by keyboard, with the pointer and as a table', async (t) => {
    await admin.open(`/w/${id}`)
    const chart = admin.page.getByRole('slider', { name: /^Active time,/ })
    t.match(
      await chart.getAttribute('aria-label'),
      /: 5 h 40 min, peak \w{3}, \d+ \w+ \d{4} with 3 h 20 min$/,
    )
    const box = await chart.boundingBox()
    await chart.hover({ position: { x: (box?.width ?? 0) - 5, y: 60 } })
    const tooltip = admin.page.locator('.tooltip')
    t.match(await tooltip.innerText(), /\d{4}\n0 min so far$/)
    await admin.page.mouse.move(0, 0)
    await tooltip.waitFor({ state: 'detached' })
    await chart.focus()
    await admin.page.keyboard.press('ArrowLeft')
    t.match(
      await chart.getAttribute('aria-valuetext'),
      /^\w{3}, \d+ \w+ \d{4}: 3 h 20 min$/,
      'without another day, because nothing is compared',
    )
    await admin.page.keyboard.press('ArrowLeft')
    t.match(await chart.getAttribute('aria-valuetext'), /2 h 20 min/)
    await admin.page
      .getByText(/^View as table: Active time, /)
      .first()
      .click()
    const table = admin.page.getByRole('table', { name: /^Active time,/ })
    await table.waitFor()
    t.equal(await countOf(table.getByRole('row'), 31), 31)
  })

  t.test('a copied link keeps a named range instead of fixed days', async (t) => {
    const { page, context } = admin
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await admin.go(`/w/${id}?range=last-month&compare=none`)
    await admin.button('Last month').click()
    await admin.button('Copy link').click()
    await admin.button('Copied').waitFor()
    const copied = new URL(await page.evaluate<string>('navigator.clipboard.readText()'))
    t.equal(copied.origin + copied.pathname, `${service.url}/w/${id}`)
    t.strictSame(Object.fromEntries(copied.searchParams), { range: 'last-month', compare: 'none' })
    await admin.go(`/w/${id}?range=7d`)
    await page.getByRole('button', { name: '7 days', exact: true, pressed: true }).waitFor()
    await admin.button('Previous range').click()
    t.strictSame([...new URL(page.url()).searchParams.keys()], ['from', 'to'], 'days take its place')
  })

  t.test('a range can be moved, compared with another, and corrected', async (t) => {
    const { page } = admin
    const at = () => Object.fromEntries(new URL(page.url()).searchParams)
    await admin.go(`/w/${id}?from=2026-02-01&to=2026-02-28`)
    await admin.button('Next range').click()
    t.strictSame(at(), { from: '2026-03-01', to: '2026-03-31' }, 'a month is followed by a month')
    await admin.button('Previous range').click()
    await admin.button('Previous range').click()
    t.strictSame(at(), { from: '2026-01-01', to: '2026-01-31' })
    await admin.go(`/w/${id}?show=commits&from=2026-03-02&to=2026-03-08`)
    await admin.button(/^Custom range/).click()
    await admin.page
      .getByRole('combobox', { name: 'Compare with', exact: true })
      .selectOption('52 weeks earlier')
    await admin.sees('2–8 Mar vs 3–9 Mar 2025, the same weekdays')
    await admin.go(`/w/${id}?from=2026-03-02&to=2026-03-08&compare=none`)
    await admin.sees('2–8 Mar')
    await admin.button(/^Custom range/).click()
    await admin.button('Last week').click()
    const monday = mondayOf(today)
    t.strictSame(at(), { from: addDays(monday, -7), to: addDays(monday, -1), compare: 'none' })
    t.equal(await admin.button('Next range').getAttribute('aria-disabled'), 'false')
    await admin.go(`/w/${id}`)
    t.equal(await admin.button('Next range').getAttribute('aria-disabled'), 'true')

    await page.goto(`${service.url}/w/${id}?from=2026-02-31&to=2026-03-08`)
    await admin.sees('Invalid date range. One of the dates doesn’t exist.')
    await admin.button('Show Sat, 28 Feb 2026 to Sun, 8 Mar 2026').click()
    await admin.sees('Active time by day')
    await admin.settled()
    t.equal(await countOf(page.getByRole('alert'), 0), 0)
    await admin.go(`/w/${id}?from=${addDays(today, -3)}&to=${addDays(today, 30)}&compare=none`)
    await admin.page
      .getByText(/^View as table: Active time, /)
      .first()
      .click()
    const table = page.getByRole('table', { name: /^Active time,/ })
    await table.waitFor()
    t.equal(await countOf(table.getByRole('row'), 5), 5, 'the days until today')
    await page.goto(`${service.url}/w/${id}/me?from=2026-03-08&to=2026-03-02`)
    await admin.button('Show Mon, 2 Mar 2026 to Sun, 8 Mar 2026').click()
    await admin.sees('My year')
    t.strictSame(admin.complaints, [])
  })

  t.test('every text of a screen is English in a country with another alphabet', async (t) => {
    const visitor = await visit(ada, { locale: 'ar-EG', timezoneId: 'Pacific/Auckland' })
    const { page } = visitor
    await visitor.open(`/w/${id}/me?from=2026-03-02&to=2026-04-03`)
    t.match((await page.locator('.compared').innerText()).replace(/[\u2009\u202f]/g, ' '), /2 Mar – 3 Apr/)
    const read = [await page.locator('body').innerText(), await page.locator('body').ariaSnapshot()]
    await visitor.go(`/w/${id}/settings/privacy`)
    t.match(
      await page.getByText(/^In effect since /).innerText(),
      /^In effect since \d{1,2} \w{3,4} \d{4}, \d{1,2}:\d{2}\s[ap]m\./,
    )
    t.notMatch([...read, await page.locator('body').innerText()].join('\n'), /[^\p{ASCII}\p{P}\p{Zs}×↑↓−]/u)
    t.strictSame(visitor.complaints, [])
  })

  t.test(
    'every control is reachable by keyboard, shows its focus, and isn’t behind the header',
    async (t) => {
      // Zoomed, so that there is little room below the header.
      await admin.page.setViewportSize({ width: 640, height: 450 })
      await admin.open(`/w/${id}`)
      await admin.sees('Active time by day')
      const reached = new Set<string>()
      for (let step = 0; step < 100; step++) {
        // Backwards, because scrolling up could hide the next element behind the header.
        await admin.page.keyboard.press('Shift+Tab')
        const found = await admin.page.locator('body').evaluate(({ ownerDocument }) => {
          const { activeElement, defaultView } = ownerDocument
          const { x, y, width, height } = activeElement.getBoundingClientRect()
          const above = ownerDocument.elementFromPoint(x + width / 2, y + Math.min(height, 24) / 2)
          return {
            isOver: activeElement === ownerDocument.body,
            name: activeElement.getAttribute('aria-label') ?? activeElement.innerText,
            outline: defaultView.getComputedStyle(activeElement).outlineStyle,
            isHidden: !above || !(activeElement.contains(above) || above.contains(activeElement)),
          }
        })
        if (found.isOver) break
        reached.add(found.name.replaceAll('\n', ' '))
        if (found.outline === 'none') t.fail(`${found.name} does not show its focus`)
        if (found.isHidden) t.fail(`${found.name} is hidden`)
      }
      await admin.page.setViewportSize({ width: 1280, height: 720 })
      for (const name of [
        'Acme',
        'Team',
        'Settings',
        '30 days',
        'Download CSV',
        'Commits',
        'acme/api',
        'bob',
      ]) {
        t.ok(
          [...reached].some((one) => one.includes(name)),
          `${name} is reached`,
        )
      }
    },
  )

  t.test('an invite link shows the workspace before the person joins', async (t) => {
    const { code } = (await ada.post(`/api/team/workspaces/${id}/invites`, {})).body
    const guest = await visit(await service.signIn('cyd'))
    await guest.open(`/join/${code}`)
    await guest.heading('Acme').waitFor()
    await guest.sees('2 members. You will join as a member.')
    await guest.button('Join as cyd').click()
    await guest.heading('My activity').waitFor()
    await guest.link('People').click()
    await guest.button('Leave Acme').click()
    await guest.page.getByRole('dialog').getByRole('button', { name: 'Leave workspace', exact: true }).click()
    await guest.heading('Welcome').waitFor()
    t.strictSame(guest.complaints, [])
  })

  t.test('an admin makes a member an admin, and the last admin can’t give up the role', async (t) => {
    await admin.go(`/w/${id}/people`)
    await admin.field('Role of ada').selectOption('member')
    await admin.button('Give up role').click()
    await admin.sees('A workspace needs at least one admin. Make another member an admin first.')
    await admin.button('Cancel').click()
    t.equal(await admin.field('Role of ada').inputValue(), 'admin')
    await admin.field('Role of bob').selectOption('admin')
    await admin.sees(
      'bob will see each member’s daily numbers and manage people, repositories and settings. You can undo this.',
    )
    t.equal(
      await admin.field('Role of bob').inputValue(),
      'member',
      'nothing changes before the confirmation',
    )
    await admin.button('Make admin').click()
    await admin.sees('bob is now an admin')
    await until(
      async () => (await admin.field('Role of bob').inputValue()) === 'admin',
      'the role has changed',
    )
    await admin.button('Undo').click()
    await admin.page.getByText('bob is now an admin', { exact: true }).waitFor({ state: 'detached' })
    await until(async () => (await admin.field('Role of bob').inputValue()) === 'member', 'the role is back')
    const { body } = await ada.get(`/api/team/workspaces/${id}/members`)
    hasProperties(t, body.members, [{ role: 'admin' }, { role: 'member' }])
  })

  t.test('an undo doesn’t overwrite what someone changed in the meantime', async (t) => {
    const { id } = await service.workspace(ada, { name: 'Busy', patterns: ['busy/*'], members: [bob] })
    const path = `/api/team/workspaces/${id}`
    const visitor = await visit(ada)
    const { page } = visitor
    /** Undoes the change that the page confirms with this text. */
    const undo = async (text: string) => {
      const message = page.locator('.toast', { hasText: text })
      await message.getByRole('button', { name: 'Undo', exact: true }).click()
      const refusal = page.locator('.toast', { hasText: 'This was changed in the meantime.' })
      await refusal.getByText('Nothing was undone. Check the current value.').waitFor()
      t.strictSame(await visitor.violations('.toast >> nth=0'), [])
      await refusal.getByRole('button', { name: 'Dismiss', exact: true }).click()
    }
    await visitor.open(`/w/${id}/settings/general`)
    await visitor.field('Workspace name').fill('Busy 2')
    await visitor.button('Rename workspace').click()
    await visitor.sees('Workspace renamed')
    await ada.patch(path, { name: 'Busy 3' })
    await undo('Workspace renamed')
    await visitor.heading('Busy 3 general settings').waitFor()
    t.equal(await visitor.field('Workspace name').inputValue(), 'Busy 3')

    await visitor.field('Patterns, one per line').fill('busy/*\nbusy/web')
    await visitor.button('Save patterns').click()
    await visitor.sees('Patterns saved')
    await ada.put(`${path}/patterns`, { patterns: ['busy/api'] })
    await visitor.field('Patterns, one per line').fill('busy/typed')
    await undo('Patterns saved')
    t.equal(await visitor.field('Patterns, one per line').inputValue(), 'busy/typed', 'what was typed stays')
    t.strictSame((await ada.get(`${path}/patterns`)).body.patterns, ['busy/api'])

    await visitor.go(`/w/${id}/people`)
    await visitor.field('Role of bob').selectOption('admin')
    await visitor.button('Make admin').click()
    await visitor.sees('bob is now an admin')
    await ada.delete(`${path}/members?login=bob`)
    await undo('bob is now an admin')
    await visitor.field('Role of bob').waitFor({ state: 'detached' })

    await ada.put(`${path}/project-settings/busy/api`, { settings: { 'ext.theme': 'dark' } })
    await visitor.go(`/w/${id}/repos/busy/api/settings`)
    await visitor.button('Remove override').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove override', exact: true }).click()
    await visitor.sees('Override removed')
    await ada.put(`${path}/project-settings/busy/api`, { settings: { 'ext.theme': 'light' } })
    await undo('Override removed')
    t.strictSame((await ada.get(`${path}/project-settings/busy/api`)).body.settings, { 'ext.theme': 'light' })
    // The browser reports the missing override, and the response that stopped the undo.
    t.strictSame(
      visitor.complaints.filter((one) => !/status of 4(04|12) /.test(one)),
      [],
    )
    await ada.delete(path)
  })

  t.test('a large team is rendered in parts', async (t) => {
    const [owner, firstRepohostId, members] = ['large', 7_000_000, 120]
    const { workspaceId } = await seedTeam(service.database, {
      name: 'Large',
      owner,
      firstRepohostId,
      members,
      from: addDays(today, -6),
      to: today,
    })
    await rebuildRollups(service.database)
    const visitor = await visit(await service.signIn(`${owner}-1`, { id: firstRepohostId + 1 }))
    const { page } = visitor
    const rows = (table: string) =>
      page.getByRole('table', { name: table, exact: true }).locator('tbody tr').count()
    await visitor.open(`/w/${workspaceId}`)
    const people = page.getByRole('region', { name: 'People', exact: true })
    const total = Number((await people.getByText(/^\d+ people[.,]/).innerText()).split(' ')[0])
    t.ok(total > 60, 'there are more people than are shown at once')
    t.equal(await rows('People'), 10)
    await people.getByRole('button', { name: `Show more (10 of ${total})`, exact: true }).click()
    await until(async () => (await rows('People')) === 60, '50 more rows are shown')
    const requests: string[] = []
    page.on('request', (request) => requests.push(new URL(request.url()).pathname))
    await visitor.open(`/w/${workspaceId}/people`)
    await until(async () => (await rows('People')) === 50, '50 members are shown')
    await visitor.button(`Show more (50 of ${members})`).click()
    await until(async () => (await rows('People')) === 100, '50 more members are shown')
    t.equal(requests.filter((path) => path.endsWith(`${workspaceId}/members`)).length, 1)
  })

  t.test('members can be sorted, and a name change can be undone', async (t) => {
    await admin.go(`/w/${id}/people`)
    await admin.page.getByRole('table', { name: 'People', exact: true }).waitFor()
    const people = async () => (await rowsOf(admin, 'People')).filter((name) => !name.includes('invite'))
    t.strictSame(await people(), ['AD\nada\nyou', 'BO\nbob'])
    t.match((await rowsOf(admin, 'People'))[0], /^[\w-]+\ninvite\nUsed \d/, 'open invites come first')
    await admin.button('Person').click()
    t.strictSame(await people(), ['BO\nbob', 'AD\nada\nyou'])
    await admin.go(`/w/${id}/settings/general`)
    await admin.field('Workspace name').fill('Acme 2')
    await admin.button('Rename workspace').click()
    await admin.sees('Workspace renamed')
    await admin.heading('Acme 2 general settings').waitFor()
    await admin.button('Undo').click()
    await admin.heading('Acme general settings').waitFor()
    t.equal(await admin.field('Workspace name').inputValue(), 'Acme')
  })

  t.test('a member sees only their own numbers', async (t) => {
    const member = await visit(bob)
    await member.open(`/w/${id}`)
    await member.heading('Admins only').waitFor()
    t.equal(await countOf(member.link('Audit'), 0), 0)
    await member.link('Show my activity').click()
    await member.settled()
    await member.sees('acme/api')
    await member.open(`/w/${id}/people`)
    t.equal(await countOf(member.button(/^Actions|Invite/), 0), 0)
    t.equal(await countOf(member.field(/^Role of/), 0), 0)
    t.strictSame(member.complaints, [])
    const stranger = await visit(await service.signIn('eve'))
    await stranger.open(`/w/${id}`)
    await stranger.heading('Page not found').waitFor()
  })

  t.test('a new person’s usual time starts with their first active day', async (t) => {
    const nia = await service.signIn('nia')
    const { id } = await service.workspace(nia, { name: 'Nakatomi', patterns: ['nakatomi/*'] })
    const visitor = await visit(nia)
    const usual = async () => {
      await visitor.open(`/w/${id}/me`)
      await visitor.page.locator('.figure .value', { hasText: 'min' }).first().waitFor()
      const texts = await visitor.page.locator('.figure').allInnerTexts()
      return texts.slice(0, 2).map((text) => text.match(/usually (.*) (?:on a|by the end of) \w+day$/)?.[1])
    }
    await work(nia, 'nakatomi/tower', today, 10)
    t.strictSame(await usual(), [undefined, undefined], 'nothing is usual yet')
    await work(nia, 'nakatomi/tower', addDays(today, -7), 30)
    await work(nia, 'nakatomi/tower', addDays(today, -14), 60)
    t.strictSame(await usual(), ['45 min', '45 min'])
    // The same weekday of the week before comes before this first day.
    await work(nia, 'nakatomi/tower', addDays(today, -20), 5)
    t.equal((await usual())[0], '45 min')
    t.strictSame(visitor.complaints, [])
  })

  t.test('a repository page shows its numbers and people, with links both ways', async (t) => {
    const { page } = admin
    await admin.go(`/w/${id}`)
    await page.getByRole('link', { name: 'acme/api', exact: true }).click()
    await admin.heading(/^acme\/api/).waitFor()
    t.equal(page.url(), `${service.url}/w/${id}/repos/acme/api`)
    await admin.settled()
    const figures = () => page.locator('.figures .value').allInnerTexts()
    const { body } = await ada.get(`/api/team/dashboard?workspace=${id}&repo=acme/api`)
    t.equal(body.totals.active_minutes, 200)
    t.strictSame(await figures(), ['3 h 20 min', '0', '0', '1'])
    t.strictSame(await rowsOf(admin, 'People'), ['BO\nbob'])
    await admin.go(`/w/${id}`)
    await admin.button('Show only acme/api').click()
    await admin.button('Remove filter acme/api').waitFor()
    await admin.link('Open repository page').click()
    await admin.heading(/^acme\/api/).waitFor()

    const member = await visit(bob)
    await member.open(`/w/${id}/me`)
    await member.link('acme/api').click()
    await member.heading('Effective settings').waitFor()
    await member.link('Activity').click()
    await member.heading('My active time by day').waitFor()
    await member.settled()
    t.strictSame(await member.page.locator('.figures .value').allInnerTexts(), ['3 h 20 min', '0', '0'])
    await member.button('7 days').click()
    await member.settled()
    t.match(member.page.url(), /repos\/acme\/api\/activity\?from=/)
    t.strictSame(await member.violations(), [])

    await admin.go(`/w/${id}/repos/globex/api/settings`)
    await admin.sees(/^No pattern covers this repository/)
    // The browser reports that no workspace covers the repository.
    admin.complaints.length = 0
    t.strictSame(member.complaints, [])
  })

  t.test('a repository with only activity is in every list', async (t) => {
    const { page } = admin
    await admin.go(`/w/${id}/repos`)
    await page
      .getByRole('table', { name: 'Repositories', exact: true })
      .getByRole('row', { name: /^acme\/api /, exact: true })
      .waitFor()
    await page.keyboard.press('Control+k')
    await admin.field('Search or run a command').fill('acme/api')
    await page.getByRole('option', { name: 'acme/api Repository', exact: true }).waitFor()
    await page.keyboard.press('Escape')
    t.strictSame(admin.complaints, [])
  })

  t.test('conflicting settings changes are resolved key by key, and input is kept', async (t) => {
    await ada.patch(`/api/team/workspaces/${id}/settings`, { settings: { 'ext.theme': 'dark' } })
    await admin.go(`/w/${id}/settings`)
    const editor = admin.field('Editor settings (JSON)')
    await editor.fill('{ "ext.theme": ')
    await admin.sees(/^Invalid JSON: /)
    t.ok(await admin.button('Save settings').isDisabled())
    await editor.fill('{ "ext.theme": "mine", "ext.more": 1 }')
    await admin.sees('+ ext.more: 1')
    await ada.patch(`/api/team/workspaces/${id}/settings`, {
      settings: { 'ext.theme': 'theirs', 'ext.other': true },
    })
    await admin.button('Save settings').click()
    await admin.heading('Conflicting changes').waitFor()
    await admin.page.getByRole('radio', { name: '"theirs"', exact: true }).check()
    await admin.button('Apply my changes').click()
    await admin.button('Save settings').click()
    await admin.sees('Settings saved')
    const { body } = await ada.get(`/api/team/workspaces/${id}/settings`)
    t.strictSame(body.settings, { 'ext.theme': 'theirs', 'ext.other': true, 'ext.more': 1 })
  })

  t.test('at level “team”, no person is shown, and the page says what is hidden', async (t) => {
    const dan = await service.signIn('dan')
    const { id, code } = await service.workspace(dan, { name: 'Initech', patterns: ['initech/*'] })
    await work(dan, 'initech/reports', addDays(today, -20), 60)
    const visitor = await visit(dan)
    await visitor.open(`/w/${id}/settings/privacy`)
    await visitor.page.getByRole('radio', { name: /^Private to each person/ }).check()
    const consequence =
      'From now on, no one sees another person’s numbers, including those of past days. Admins see only the team’s weekly numbers. If you switch back later, all days until the end of that week stay hidden.'
    await visitor.sees(consequence)
    await visitor.button('Save privacy level').click()
    await visitor.button('Cancel').click()
    await visitor.button('Save privacy level').click()
    await visitor.sees('Every member can see this change and when it took effect.')
    await visitor.button('Hide numbers').click()
    await visitor.sees('Privacy level saved')
    await visitor.link('Team').click()
    await visitor.sees('Team numbers are off for teams under 5')
    await visitor.settled()
    t.equal(await visitor.page.locator('.figure, figure, table').count(), 0, 'nothing empty is shown')
    t.strictSame(await visitor.violations(), [])
    for (const name of ['bo', 'cy', 'di', 'ed']) {
      const member = await service.signIn(`initech-${name}`)
      await member.post('/api/team/workspaces/join', { code })
    }
    await service.app.jobs.publishedWeeks.run()
    const monday = mondayOf(addDays(today, -10))
    await visitor.open(`/w/${id}`)
    // All of the day on which a week is published, the page says that it's due then.
    const isDueToday = weekdayOf(today) === THURSDAY
    await visitor.sees(`${isDueToday ? '3 of' : 'All'} 4 weeks are hidden: fewer than 5 people were active.`)
    await visitor.sees(/^4 weeks$/)
    await visitor.open(`/w/${id}?from=${addDays(monday, 1)}&to=${today}`)
    await visitor.sees(/^You chose \d+ days\. This page shows only whole weeks: /)
    await visitor.sees(/ aren’t published yet\. The next one will be published on | will be published on /)
    await visitor.open(`/w/${id}`)
    await visitor.settled()
    t.equal(await visitor.page.locator('.figure, figure, table').count(), 0)
    await visitor.link('People').click()
    const consent =
      'No one sees another person’s numbers or hours. Admins see the team’s numbers only for whole weeks in which at least 5 people were active. People who share their numbers with each other, or an admin of two workspaces with the same people, could infer more.'
    await visitor.sees(`${consent} Admins manage people, repositories and settings.`)
    await visitor.open('/account/privacy')
    await visitor.sees(new RegExp(`^Initech: ${consent} In effect since `))
    t.strictSame(await visitor.violations(), [])
  })

  t.test(
    'the audit trail reads as sentences, can be filtered by person and date, and downloaded',
    async (t) => {
      const { id, code } = await service.workspace(ada, { name: 'Hooli', patterns: ['hooli/*'] })
      await bob.post('/api/team/workspaces/join', { code })
      await ada.patch(`/api/team/workspaces/${id}/members`, { login: 'bob', role: 'admin' })
      await ada.put(`/api/team/workspaces/${id}/patterns`, { patterns: ['hooli/*', 'hooli/web'] })
      await ada.patch(`/api/team/workspaces/${id}/settings`, {
        settings: { 'ext.theme': 'dark' },
        locked: ['ext.theme'],
      })
      await admin.open(`/w/${id}/settings/audit`)
      const { page } = admin
      const changes = () => page.locator('table.entries tbody td:first-of-type').allInnerTexts()
      await page.locator('table.entries').waitFor()
      const seen = (await changes()).map((text) => text.split('\n').filter((line) => line !== 'Values'))
      t.strictSame(seen, [
        ['changed the workspace settings', 'Added ext.theme', 'Locked ext.theme'],
        ['changed the repository patterns', 'Added hooli/web'],
        ['made bob an admin'],
        ['joined as a member'],
        ['created the workspace', 'Added hooli/*'],
      ])
      await page.getByRole('combobox', { name: 'Person', exact: true }).selectOption('bob')
      await until(async () => (await changes()).length === 1, 'one entry is by bob')
      const download = page.waitForEvent('download')
      await admin.button('Download CSV').click()
      const file = await readFile(await (await download).path(), 'utf8')
      const [head, row, ...rest] = file.split('\r\n')
      t.equal(head, '\ufefftime,person,action,target,description', 'a byte order mark for spreadsheets')
      t.match(row, /^\d{4}-[^,]+,bob,member\.joined,bob,joined as a member$/)
      t.strictSame(rest, [''])
      await admin.sees('1 entry downloaded')
      await admin.button('Clear filters').click()
      await until(async () => (await changes()).length === 5, 'all entries are back')
      await admin.field('To').fill('2020-01-01')
      await admin.sees('No entries match the filters.')
      await ada.delete(`/api/team/workspaces/${id}`)
    },
  )

  t.test('an audit trail download says which entries it leaves out', async (t) => {
    const { id } = await service.workspace(ada, { name: 'Vast', patterns: ['vast/*'] })
    const { entries } = (await ada.get(`/api/team/workspaces/${id}/audit`)).body
    const since = Date.parse(entries[0].at)
    const many = Array.from({ length: 20_000 }, (_, n) => ({
      ...entries[0],
      action: 'webhook.created',
      at: new Date(since + (20_000 - n) * 60_000).toISOString(),
    }))
    // Together with the workspace's creation, one entry more than a file holds.
    const pages = [many.slice(0, 10_000), many.slice(10_000), entries]
    await admin.open(`/w/${id}/settings/audit`)
    const release = await admin.intercept('*/audit?*', (request) => {
      const response = { entries: pages.shift(), next_cursor: pages.length > 0 ? 'more' : null }
      return request.answer(200, { 'Content-Type': 'application/json' }, JSON.stringify(response))
    })
    const download = admin.page.waitForEvent('download')
    await admin.button('Download CSV').click()
    const file = await readFile(await (await download).path(), 'utf8')
    const rows = file.split('\r\n').slice(1, -1)
    t.equal(rows.length, 20_001)
    const note =
      /^The file has only the newest 20,000 entries\. The oldest of them is from .+\. To download older entries, choose that date under “To”\.$/
    const [, text] = rows.at(-1)?.match(/^,,,,"(.+)"$/) ?? []
    t.match(text, note)
    const oldest = rows.at(-2)?.split(',')[0]
    t.equal(text?.includes(` is from ${oldest}. `), true, 'the time is as in the rows, in UTC')
    await admin.sees(note)
    t.equal(rows.filter((row) => row.includes('workspace.created')).length, 0, 'the oldest is left out')
    await release()
  })

  t.test('a filter on the audit trail searches older entries and says how far it searched', async (t) => {
    const { id } = await service.workspace(ada, { name: 'Old', patterns: ['old/*'] })
    await service.database.write.statement(
      `insert into audit_entries (workspace_id, id, at, actor, action, target, details)
      select $1::uuid, gen_random_uuid(), clock_timestamp() + n * interval '1 ms', 'ada', 'webhook.created', null, '{}'
      from generate_series(1, 110) as n`,
      [id],
    )
    await admin.open(`/w/${id}/settings/audit`)
    await admin.page.getByRole('table', { name: 'Entries, newest first' }).waitFor()
    t.equal((await rowsOf(admin, 'Entries, newest first')).length, 100)
    await admin.page.getByRole('combobox', { name: 'Action', exact: true }).selectOption('Workspace created')
    await admin.sees(/^1 of 111 entries, since .*\.$/)
    t.equal((await rowsOf(admin, 'Entries, newest first')).length, 1)
    await admin.page.getByRole('combobox', { name: 'Action', exact: true }).selectOption('Member removed')
    await admin.sees(/^0 of 111 entries, since .*\.$/)
  })

  t.test('people who have nothing to pay get no offers', async (t) => {
    const { billing } = service.config
    const offers = () => admin.page.getByText(/^Plan|Subscribe|Manage subscription/).allInnerTexts()
    await admin.open('/account')
    await admin.sees('Signed in with GitHub.')
    t.strictSame(await offers(), [])
    billing.secretKey = 'a-key'
    await admin.open('/account')
    await admin.sees('Signed in with GitHub.')
    t.strictSame(await offers(), [])
    billing.dormant = false
    try {
      await admin.open('/account')
      await admin.button('Subscribe').waitFor()
    } finally {
      billing.dormant = true
      billing.secretKey = undefined
    }
  })

  t.test('an access key is shown once, limited to its scopes, and useless once revoked', async (t) => {
    const visitor = await visit(ada)
    await visitor.open(`/w/${id}/settings/integrations`)
    await visitor.button('Create access key').click()
    await visitor.page.getByRole('textbox', { name: 'Name', exact: true }).fill('nightly')
    const scope = (name: string) => visitor.page.getByRole('checkbox', { name: new RegExp(`^${name}`) })
    t.equal(await countOf(scope('activity:'), 0), 0, 'activity belongs to people')
    await scope('counts:write').check()
    await visitor.button('Create key').click()
    const secret = await visitor.field('Secret').inputValue()
    const [curl = '', workflow = ''] = await visitor.page.locator('pre').allInnerTexts()
    t.notOk(workflow.includes(secret))
    const run = () =>
      execute('sh', ['-c', curl.trim()]).then(
        () => 'done',
        () => 'rejected',
      )
    t.equal(await run(), 'done')
    await visitor.open(`/w/${id}/settings/integrations`)
    await visitor.sees(/^Created .* by ada\. Expires .* Last used /)
    t.notOk((await visitor.page.content()).includes(secret))
    await visitor.button('Revoke nightly').click()
    await visitor.sees(
      'Everything that uses this key stops working within 5 seconds. You can’t undo this, but you can create a new key.',
    )
    await visitor.button('Revoke key').click()
    await visitor.sees('No access keys. To create one, select “Create access key”.')
    t.equal(await run(), 'rejected')

    await visitor.go('/account/editors')
    await visitor.button('Create access key').click()
    await scope('activity:write').check()
    t.ok(await scope('settings:read').isDisabled())
    t.ok(await scope('activity:read').isEnabled())
    t.strictSame(visitor.complaints, [])
  })

  t.test('a new member’s first minute is three clicks away from the invite link', async (t) => {
    const { code } = await service.workspace(await service.signIn('ivy'), {
      name: 'Wayne',
      patterns: ['wayne/*'],
    })
    const visitor = await visit()
    const { page } = visitor
    let clicks = 0
    const click = (name: string | RegExp) => {
      clicks++
      return visitor.button(name).click()
    }
    const jay = service.repohost.addUser('jay')
    await visitor.open(`/join/${code}`)
    await visitor.tokenField().fill(jay.token)
    await click('Sign in with token')
    await click('Join as jay')
    await visitor.heading('Record your first minute').waitFor()
    await visitor.settled()
    t.strictSame(await visitor.violations(), [])
    await click('Create editor key')
    const now = Math.floor(Date.now() / 1_000)
    await beat(
      page,
      [now - 60, now].map((time) => ({ time, project: 'wayne/cave' })),
    )
    await visitor.heading('Your first minute has arrived').waitFor()
    t.equal(clicks, 3)
    await visitor.link('wayne/cave').waitFor()
    t.strictSame(await visitor.violations(), [])
    await visitor.button('Close').click()
    t.equal(await countOf(visitor.heading('Your first minute has arrived'), 0), 0)
    t.strictSame(visitor.complaints, [])
  })

  t.test('the first steps stay until an editor has reported', async (t) => {
    const kim = await service.signIn('kim')
    const { id } = await service.workspace(kim, { name: 'Soylent', patterns: ['soylent/*'], members: [bob] })
    const visitor = await visit(kim)
    await visitor.open(`/w/${id}`)
    await visitor.heading('First steps').waitFor()
    await visitor.sees('3 of 5 done')
    t.strictSame(await visitor.violations(), [])
    await work(bob, 'soylent/green', today, 5)
    await visitor.open(`/w/${id}`)
    await visitor.sees('Active time by day')
    t.equal(await countOf(visitor.heading('First steps'), 0), 0)
  })

  t.test('a person can set up an editor, assign its project and import a file', async (t) => {
    const hal = await service.signIn('hal')
    await service.workspace(hal, { name: 'Hooli', patterns: ['hooli/*'] })
    const visitor = await visit(hal)
    const { page } = visitor
    await visitor.open('/account/editors')
    await visitor.sees('No heartbeat has arrived yet. It appears here by itself.')
    await visitor.button('Copy commands').waitFor()
    await visitor.button('Create editor key').click()
    await visitor.heading('.wakatime.cfg').waitFor()
    const now = Math.floor(Date.now() / 1_000)
    await beat(
      page,
      ['notes', 'dotfiles'].map((project) => ({ time: now, project })),
    )
    await visitor.sees(/^Last heartbeat: /)

    await visitor.open('/account/editors')
    await visitor.button('Ignore dotfiles').click()
    await visitor.sees('ignored')
    await visitor.button('Assign notes').click()
    await page.getByRole('combobox', { name: 'Repository', exact: true }).fill('hooli/notes')
    await visitor.button('Assign repository').click()
    await visitor.sees('assigned')
    const { projects } = (await hal.get('/api/me/editor-projects')).body
    t.strictSame(
      Object.fromEntries(
        projects.map(({ name, repo }: { name: string; repo: string | null }) => [name, repo]),
      ),
      { notes: 'hooli/notes', dotfiles: null },
    )

    const dump = JSON.stringify([now - 120, now - 60].map((time) => ({ time, project: 'hooli/web' })))
    const file = { name: 'dump.json', mimeType: 'application/json', buffer: Buffer.from(dump) }
    const keys = async () =>
      (await hal.get('/api/me/keys')).body.keys.map(({ name }: { name: string }) => name)
    await visitor.field('File with heartbeats').setInputFiles(file)
    await visitor.button('Upload file').click()
    await visitor.sees(/^Import complete\. Heartbeats: 2\. Days: [12]\. /)
    await until(async () => (await keys()).length === 1, 'the key of the import is revoked')
    t.strictSame(await keys(), ['Editor'])

    await page.route('**/import', () => {})
    await visitor.button('Upload file').click()
    await page.getByRole('progressbar').waitFor()
    t.strictSame(await keys(), ['Import in the dashboard', 'Editor'])
    await visitor.button('Cancel import').click()
    await page.getByRole('progressbar').waitFor({ state: 'detached' })
    await until(async () => (await keys()).length === 1, 'the key of a cancelled upload is revoked')
    t.strictSame(visitor.complaints, [])
  })

  t.test('a webhook can be created, shows its deliveries, and can be rotated and deleted', async (t) => {
    const visitor = await visit(ada)
    const { page } = visitor
    await visitor.open(`/w/${id}/settings/integrations`)
    await visitor.button('Set up webhook').click()
    await visitor.sees(
      'No deliveries yet. Deliveries with a wrong secret, and of events that never count, aren’t listed.',
    )
    await visitor.sees(
      'Paste the URL into “Payload URL”, and enter the secret. Choose the content type application/json.',
    )
    const secret = await visitor.field('Secret').inputValue()
    const { pathname } = new URL(await visitor.field('URL').inputValue())
    const webhook = new Webhook(service, 'github', ada, id, pathname, secret)
    await webhook.push('acme/web', [commitOf('ada', today), commitOf('stranger', today)])
    await visitor.sees('1 counted, 1 skipped (not a member)')
    await page.setViewportSize({ width: 320, height: 640 })
    t.strictSame(await visitor.violations(), [])
    t.equal(await visitor.width(), 320)
    const confirm = async (name: string) => {
      await visitor.button(name).click()
      await page.getByRole('dialog').getByRole('button', { name, exact: true }).click()
      await visitor.closed()
    }
    await confirm('Rotate secret')
    t.not(await visitor.field('Secret').inputValue(), secret)
    await confirm('Delete webhook')
    await visitor.button('Set up webhook').waitFor()
  })

  t.test('people see who viewed their numbers, and can delete their account', async (t) => {
    const fay = await service.signIn('fay')
    const { code } = (await ada.post(`/api/team/workspaces/${id}/invites`, {})).body
    await fay.post('/api/team/workspaces/join', { code })
    await work(fay, 'acme/web', addDays(today, -3), 30)
    await admin.open(`/w/${id}`)
    await admin.sees('Active time by day')
    const visitor = await visit(fay)
    await visitor.open('/account/privacy')
    await visitor.page.locator('main').getByText(/^ada$/).first().waitFor()
    await visitor.sees(/^Viewed on .+: Acme, /)
    t.equal(await visitor.page.locator('main').getByText('comparison', { exact: true }).count(), 0)
    await visitor.button('Delete my account').click()
    const dialog = visitor.page.getByRole('dialog')
    t.ok(await dialog.getByRole('button', { name: 'Delete account', exact: true }).isDisabled())
    await dialog.getByRole('textbox').fill('fay')
    await dialog.getByRole('button', { name: 'Delete account', exact: true }).click()
    await visitor.heading('Sign in to Team Settings & Activity').waitFor()
    t.match(await fay.get('/api/me'), { status: 401 })
  })

  t.test('the privacy page lists the stored data, and a limit shows when it is nearly reached', async () => {
    await admin.go('/account/privacy')
    await admin.page.getByText('Everything that is stored, why, and for how long', { exact: true }).click()
    await admin.sees(/^A person’s active minutes by UTC day and repository/)
    for (let key = 1; key <= 16; key++)
      await ada.post('/api/me/keys', { name: `key ${key}`, scopes: ['activity:read'] })
    await admin.go('/account/editors')
    await admin.sees('16 of 20 keys. Revoke keys that you no longer use.')
  })

  t.test('a member pauses recording, and other exclusions stay', async (t) => {
    const repos_off = ['acme/one', 'acme/secret-*']
    await bob.put('/api/me/recording', { paused: false, repos_off, hours: null })
    const member = await visit(bob)
    await member.open('/account/privacy')
    t.equal(await member.page.getByPlaceholder('acme/secret-*').inputValue(), 'acme/one acme/secret-*')
    await member.field('Pause recording until I turn it on again').check()
    await member.button('Save preferences').click()
    await member.sees('Preferences saved')
    t.hasStrict((await bob.get('/api/me/recording')).body, { paused: true, repos_off })
    const shown = async () =>
      (await bob.get('/api/wakatime/v1/users/current/statusbar/today')).body.data.grand_total.text
    t.match(await shown(), / \(paused\)$/, 'editors show it in their status bars')
    await member.open(`/w/${id}/me`)
    const paused = member.page.getByText('Paused. Your minutes aren’t recorded.')
    await paused.waitFor()
    t.strictSame(await member.violations('main'), [])
    await member.button('Resume').click()
    await paused.waitFor({ state: 'detached' })
    t.hasStrict((await bob.get('/api/me/recording')).body, { paused: false, repos_off })
    t.notMatch(await shown(), /paused/)
  })
}
