/** The dashboard for who has no mouse, does not see it, or sees it large. */
import t, { type Test } from 'tap'
import { addDays } from '../../src/platform/time/days.js'
import { hasMembers } from '../has-members.js'
import { startScene, type Visitor } from './page.js'

const scene = await startScene(t)
const today = new Date().toISOString().slice(0, 10)

/** So many times somebody presses the same key to get somewhere; after that they give up. */
const PATIENCE = 40

/** A person with a keyboard and nothing else. */
class Typist {
  keys = 0
  constructor(readonly visitor: Visitor) {}

  async press(...keys: string[]) {
    for (const key of keys) await this.visitor.page.keyboard.press(key)
    this.keys += keys.length
    await this.visitor.settled()
  }

  async type(text: string) {
    await this.visitor.page.keyboard.type(text)
    this.keys += text.length
  }

  /** What has the focus, as it is read out: `button "Save"`. */
  async at(): Promise<string> {
    const [focused] = await this.visitor.page.locator(':focus').all()
    return (await focused?.ariaSnapshot())?.split('\n')[0]?.replace(/^- '?/, '') ?? 'nothing'
  }

  /** Goes on until something has the focus. */
  async to(wanted: string | RegExp, key: 'Tab' | 'Shift+Tab' = 'Tab') {
    const passed: string[] = []
    while (passed.length < PATIENCE) {
      const at = await this.at()
      if (typeof wanted === 'string' ? at.startsWith(wanted) : wanted.test(at)) return
      passed.push(at)
      await this.visitor.page.keyboard.press(key)
      this.keys++
    }
    throw new Error(`${wanted} is too far away: ${passed.join(', ')}`)
  }

  /** Something has the focus, sooner or later. */
  async comesTo(role: 'button' | 'combobox' | 'heading' | 'link' | 'textbox', name: string | RegExp) {
    const { page } = this.visitor
    const wanted = page.locator(':focus').and(page.getByRole(role, { name, exact: true }))
    await wanted.waitFor().catch(async (cause) => {
      throw new Error(`${role} ${name} should have the focus, but ${await this.at()} has it`, { cause })
    })
  }

  hears(text: string | RegExp) {
    return this.visitor.page
      .getByRole('status')
      .filter({ hasText: text })
      .first()
      .waitFor({ state: 'attached' })
  }
}

if (typeof scene === 'string') t.test('by keyboard', { skip: scene }, async () => {})
else {
  const { service, visit } = scene
  const ada = await service.signIn('ada')
  const logins = ['bob', 'cyd', 'dan', 'eve', 'fay', 'gus', 'hal', 'ida', 'jim', 'kay']
  const members = await Promise.all(logins.map((login) => service.signIn(login)))
  const { id } = await service.workspace(ada, { members })
  const bob = members[0] ?? ada
  await service.workspace(bob, { name: 'Globex', patterns: ['globex/*'], members: [ada] })
  // Last month, in enough repositories for a search.
  const names = ['api', 'cli', 'docs', 'infra', 'lint', 'mobile', 'site', 'tools', 'web']
  await ada.post('/api/team/commits', {
    workspace: id,
    day: addDays(`${today.slice(0, 7)}-01`, -1),
    members: logins.map((login, index) => ({
      login,
      repos: names.map((name) => ({ repo: `acme/${name}`, count: login === 'gus' ? 90 : index })),
    })),
  })
  await ada.post('/api/team/active-minutes', {
    entries: [{ repo: 'acme/web', day: addDays(today, -1), minutes: 90, hours: { '9': 50 } }],
  })
  await ada.push('acme/web', { 'ext.theme': 'dark' })
  await ada.push('acme/web', { 'ext.theme': 'light' })
  await ada.patch(`/api/team/workspaces/${id}/settings`, { settings: { 'ext.theme': 'dark' } })
  await ada.put(`/api/team/workspaces/${id}/project-settings/acme/web`, {
    settings: { 'ext.theme': 'light' },
  })
  const visitor = await visit(ada)
  const { page } = visitor

  /** From the beginning of a page, in at most so many keys. */
  const task = (name: string, path: string, most: number, work: (typist: Typist, t: Test) => Promise<void>) =>
    t.test(name, async (t) => {
      await visitor.open(path)
      const typist = new Typist(visitor)
      await work(typist, t)
      t.ok(typist.keys <= most, `${typist.keys} keys`)
      t.strictSame(visitor.complaints, [])
    })

  await task(
    'who worked most on a repository last month is found by keyboard',
    '/',
    60,
    async (typist, t) => {
      await typist.to('button "Workspace: My activity"')
      await typist.press('Enter', 'ArrowDown', 'a', 'Enter')
      await typist.comesTo('heading', /^Acme/)
      await typist.to('button "Other days"')
      await typist.press('Enter', 'ArrowDown', 'l')
      await typist.comesTo('button', 'Last month')
      await typist.press('Enter')
      await typist.comesTo('button', 'Last month')
      await typist.to('link "To the repositories"')
      await typist.press('Enter')
      await typist.comesTo('heading', 'Repositories')
      await typist.to('searchbox')
      await typist.type('mob')
      await typist.hears('1 of 9')
      await typist.press('ArrowDown', 'Enter')
      await typist.hears(/^Acme in acme\/mobile, .*: 0 min of active time$/)
      await typist.to('link "To the beginning"')
      await typist.press('Enter')
      await typist.to('link "To the people"')
      await typist.press('Enter')
      await typist.comesTo('heading', 'People')
      await typist.to('button "Commits"')
      await typist.press('Enter')
      await typist.hears('Sorted by Commits, downwards')
      const table = page.getByRole('table', { name: 'People' })
      t.equal(
        await table.getByRole('columnheader', { name: 'Commits' }).getAttribute('aria-sort'),
        'descending',
      )
      t.match(await table.getByRole('rowheader').first().innerText(), /^gus$/m)
      await typist.to('button "Remove the filter acme/mobile"', 'Shift+Tab')
      await typist.press('Enter')
      await typist.comesTo('button', /^Active time/)
    },
  )

  await task('a quarter is compared with the one before by keyboard', `/w/${id}`, 40, async (typist, t) => {
    await typist.to('link "To the content"')
    await typist.press('Tab', 'Shift+Tab', 'Enter')
    await typist.to('button "Other days"')
    await typist.press('Enter', 'Escape')
    await typist.comesTo('button', 'Other days')
    await typist.press('Enter', 'ArrowDown', 'End', 'ArrowUp', 'Enter')
    await typist.comesTo('button', 'This quarter')
    await typist.to('slider')
    const chart = page.locator(':focus')
    const last = await chart.getAttribute('aria-valuetext')
    await typist.press('Home')
    t.not(await chart.getAttribute('aria-valuetext'), last)
    await typist.press('End')
    t.equal(await chart.getAttribute('aria-valuetext'), last)
  })

  await task('somebody is invited for a week by keyboard', `/w/${id}/people`, 50, async (typist, t) => {
    await typist.to('button "Invite somebody"')
    await typist.press('Enter')
    await typist.comesTo('combobox', 'They become')
    await typist.to('button "Make the invite"')
    await typist.press('Enter')
    await typist.comesTo('textbox', 'Link of the invite')
    await typist.to('button "Done"')
    await typist.press('Enter')
    await typist.comesTo('button', 'Invite somebody')
    const { body } = await ada.get(`/api/team/workspaces/${id}/invites`)
    t.equal(body.invites.length, 2)
    await typist.to('button "Revoke')
    await typist.press('Enter')
    await typist.hears('The invite was revoked')
    await typist.comesTo('button', /^Copy link of/)
  })

  await task('somebody is made admin by keyboard', `/w/${id}/people`, 40, async (typist) => {
    await typist.to('searchbox "Search members"')
    await typist.type('kay')
    await typist.press('ArrowDown', 'Enter')
    await typist.hears('kay is an admin now')
    await typist.comesTo('button', 'Make member of kay')
    await typist.press('ArrowRight')
    await typist.comesTo('button', 'Remove kay')
    await typist.press('Enter')
    await typist.comesTo('button', 'Cancel')
    await typist.press('Escape')
    await typist.comesTo('button', 'Remove kay')
    await typist.press('ArrowUp')
    await typist.press('Control+a', 'Delete')
    await page.getByRole('rowheader', { name: 'bob' }).waitFor()
    await typist.press('ArrowDown', 'ArrowDown', 'ArrowRight')
    await typist.comesTo('button', 'Remove bob')
    await typist.press('Enter')
    await typist.comesTo('button', 'Cancel')
    await typist.press('Tab', 'Enter')
    await typist.hears('bob was removed')
    await typist.comesTo('button', 'Make admin of cyd')
  })

  await task('why a theme is light is found by keyboard', `/w/${id}`, 40, async (typist) => {
    await typist.to('link "Repositories"')
    await typist.press('Enter')
    await typist.comesTo('heading', 'Repositories of Acme')
    await typist.to('button "What, and why in acme/web"')
    await typist.press('Enter')
    await typist.comesTo('heading', 'What holds in acme/web')
    await page
      .getByRole('cell', { name: 'the override of this repository; the workspace says "dark"' })
      .waitFor()
    await typist.to('button "Remove the filter acme/web"', 'Shift+Tab')
    await typist.press('Enter')
    await typist.comesTo('heading', 'Known repositories')
  })

  await task('older settings are restored by keyboard', `/w/${id}/repos`, 40, async (typist) => {
    await typist.to('link "version 2 and older"')
    await typist.press('Enter')
    await typist.comesTo('heading', 'Settings pushed for acme/web')
    await typist.to('button "Restore version 1"')
    await typist.press('Enter')
    await typist.hears('Version 1 was restored')
    await visitor.sees('Version 3 by')
    await typist.comesTo('button', 'Restore version 1')
  })

  await task('what is recorded is found and taken along by keyboard', `/w/${id}`, 40, async (typist, t) => {
    await typist.to('button "ada"')
    await typist.press('Enter', 'ArrowDown', 'w')
    await typist.comesTo('link', 'What is recorded about me')
    await typist.press('Enter')
    await typist.comesTo('heading', 'What is recorded about me')
    await typist.to('link "Export everything"')
    const download = page.waitForEvent('download')
    await typist.press('Enter')
    t.equal((await download).suggestedFilename(), 'ada.json')
  })

  await task('a workspace is left by keyboard', '/', 40, async (typist) => {
    await typist.to('button "Workspace: My activity"')
    await typist.press('Enter', 'ArrowDown', 'g', 'Enter')
    await typist.comesTo('heading', 'People of Globex')
    await typist.to('button "Leave Globex"')
    await typist.press('Enter')
    await typist.comesTo('button', 'Cancel')
    await typist.press('Tab', 'Enter')
    await visitor.heading('My activity').waitFor()
    await visitor.open('/')
    await visitor.link('Acme').first().waitFor({ state: 'attached' })
  })

  /** What somebody who listens is told of a screen. */
  const screens: [path: string, heading: string | RegExp, regions: string[], tables: string[]][] = [
    [
      '/',
      'My activity',
      [
        'In short',
        'Active time by day',
        'When I work',
        'My repositories',
        'My workspaces',
        'What is recorded about me',
      ],
      ['My repositories', 'My workspaces'],
    ],
    [
      `/w/${id}`,
      /^Acme/,
      ['Active time by day', 'When they work', 'People', 'Repositories'],
      ['People', 'Repositories'],
    ],
    [`/w/${id}/people`, 'People of Acme', ['Members', 'Open invites'], ['Members']],
    [
      `/w/${id}/repos`,
      'Repositories of Acme',
      ['Known repositories', 'What this workspace covers', 'Overrides'],
      ['Known repositories'],
    ],
    [
      `/w/${id}/repos?repo=acme/web`,
      'Repositories of Acme',
      ['What holds in acme/web', 'Overrides'],
      ['Settings in force'],
    ],
    [
      `/w/${id}/settings`,
      'Settings of Acme',
      ['Settings of the editor extension', 'Activity', 'What will change', 'Name', 'Delete'],
      [],
    ],
    [
      `/w/${id}/audit?action=settings.restored`,
      'What was changed in Acme',
      ['Entries'],
      ['Changes, newest first'],
    ],
    [
      `/s/acme/web?workspace=${id}`,
      'Settings pushed for acme/web',
      ['Versions', 'From version 2 to 3', 'Differences'],
      ['Versions, newest first'],
    ],
    ['/account', 'Account', ['Plan: pro', 'Time zone', 'Sessions'], []],
    ['/funnel', 'How far people come', [], []],
    ['/nothing-like-that', 'There is nothing here for you', [], []],
  ]

  /** At 200 %, and with the distances of WCAG 1.4.12. */
  const widen = async () => {
    await page.setViewportSize({ width: 640, height: 450 })
    await page.locator('html').evaluate(({ ownerDocument }) => {
      const sheet = new ownerDocument.defaultView.CSSStyleSheet()
      sheet.replaceSync(`* { line-height: 1.5 !important; letter-spacing: 0.12em !important; word-spacing: 0.16em !important }
        p { margin-bottom: 2em !important }`)
      ownerDocument.adoptedStyleSheets = [sheet]
    })
  }

  t.test('every screen makes sense to who hears it, and fits who sees it large', async (t) => {
    for (const [path, heading, regions, tables] of screens) {
      await visitor.open(path)
      for (const region of regions)
        await page.getByRole('region', { name: region, exact: true }).first().waitFor()
      await visitor.settled()
      const tree = await page.locator('body').ariaSnapshot()
      const headings = [...tree.matchAll(/heading "(.*)" \[level=1\]/g)].map(([, name]) => name)
      hasMembers(t, headings, [heading], `${path} has its heading`)
      t.equal(headings.length, 1, `${path} has one`)
      t.match(tree, /^- banner:/m, path)
      t.match(tree, /^- main:/m, path)
      for (const table of tables) {
        t.ok(tree.includes(`table "${table}"`), `${path} has the table ${table}`)
      }
      t.notMatch(
        tree,
        /- (cell|columnheader|rowheader|button|link|textbox|combobox|slider|checkbox|radio|img)$/m,
        `${path} has nothing without a name`,
      )
      await widen()
      t.equal(await visitor.width(), 640, `${path} fits`)
      await page.setViewportSize({ width: 1280, height: 720 })
    }
    hasMembers(
      t,
      visitor.complaints.filter((one) => !one.includes('404')),
      [],
    )
  })

  t.test('what goes wrong in a field is tied to it', async (t) => {
    await visitor.open(`/w/${id}/settings`)
    const editor = page.getByLabel(/as JSON/)
    await editor.fill('{')
    await page.getByText('This is not JSON').waitFor()
    t.match(
      await page.locator('body').ariaSnapshot(),
      /textbox "What every member’s editor takes, as JSON" \[invalid\]/,
    )
  })

  t.test('what has the focus is never below the head of the page', async (t) => {
    await page.setViewportSize({ width: 640, height: 450 })
    await visitor.open(`/w/${id}`)
    await visitor.sees('When they work')
    const seen = new Set<string>()
    // From the end, because it is there that the head would hide what comes next.
    for (let step = 0; step < 60; step++) {
      await page.keyboard.press('Shift+Tab')
      const { name, hidden } = await page.locator('body').evaluate(({ ownerDocument }) => {
        const { activeElement } = ownerDocument
        const { x, y, width, height } = activeElement.getBoundingClientRect()
        const above = ownerDocument.elementFromPoint(x + width / 2, y + Math.min(height, 24) / 2)
        const hidden = !above || !(activeElement.contains(above) || above.contains(activeElement))
        return { name: activeElement.outerHTML.slice(0, 200), hidden }
      })
      seen.add(name)
      if (hidden) t.fail(`${name} is hidden`)
    }
    t.ok(seen.size > 50)
  })
}
