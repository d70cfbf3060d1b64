/** The dashboard by keyboard. */
import t, { type Test } from 'tap'
import { addDays } from '../../src/platform/time/days.js'
import { countOf, startScene, type Visitor } from './page.js'

const scene = await startScene(t, { env: { EXTENSION_PREFIX: 'ext' } })
const today = new Date().toISOString().slice(0, 10)

/** How often a person presses the same key before giving up. */
const MAX_PRESSES = 40

/** A person who uses only a keyboard. */
class KeyboardUser {
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

  /** The focused element, as a screen reader announces it: `button "Save settings"`. */
  async at(): Promise<string> {
    const [focused] = await this.visitor.page.locator(':focus').all()
    return (await focused?.ariaSnapshot())?.split('\n')[0]?.replace(/^- '?/, '') ?? 'nothing'
  }

  /** Presses a key until an element has the focus. */
  async to(wanted: string | RegExp, key: 'Tab' | 'Shift+Tab' = 'Tab') {
    const passed: string[] = []
    while (passed.length < MAX_PRESSES) {
      const at = await this.at()
      if (typeof wanted === 'string' ? at.startsWith(wanted) : wanted.test(at)) return
      passed.push(at)
      await this.visitor.page.keyboard.press(key)
      this.keys++
    }
    throw new Error(`${wanted} was not reached: ${passed.join(', ')}`)
  }

  /** Waits until an element has the focus. */
  async comesTo(
    role: 'button' | 'checkbox' | 'combobox' | 'heading' | 'link' | 'searchbox' | 'textbox',
    name: string | RegExp,
  ) {
    const { page } = this.visitor
    const wanted = page.locator(':focus').and(page.getByRole(role, { name, exact: true }))
    await wanted.waitFor().catch(async (cause) => {
      throw new Error(
        `${role} ${name} should have the focus, but ${await this.at()} has it on ${page.url()}`,
        {
          cause,
        },
      )
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

if (typeof scene === 'string') t.test('the page works by keyboard', { skip: scene }, async () => {})
else {
  const { service, visit } = scene
  const ada = await service.signIn('ada')
  const logins = ['bob', 'cyd', 'dan', 'eve', 'fay', 'gus', 'hal', 'ida', 'jim', 'kay']
  const members = await Promise.all(logins.map((login) => service.signIn(login)))
  const { id } = await service.workspace(ada, { members })
  const bob = members[0] ?? ada
  await service.workspace(bob, { name: 'Globex', patterns: ['globex/*'], members: [ada] })
  // Commits of last month, in enough repositories for a search field.
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
  await ada.post('/api/wakatime/v1/users/current/heartbeats', { time: Date.now() / 1_000, project: 'notes' })
  await ada.patch(`/api/team/workspaces/${id}/settings`, { settings: { 'ext.theme': 'dark' } })
  await ada.put(`/api/team/workspaces/${id}/project-settings/acme/web`, {
    settings: { 'ext.theme': 'light' },
  })
  const visitor = await visit(ada)
  const { page } = visitor

  /** Starts at the top of a page and may press at most `most` keys. */
  const task = (
    name: string,
    path: string,
    most: number,
    work: (user: KeyboardUser, t: Test) => Promise<void>,
  ) =>
    t.test(`the keyboard is enough to ${name}`, async (t) => {
      await visitor.open(path)
      const user = new KeyboardUser(visitor)
      await work(user, t)
      t.ok(user.keys <= most, `${user.keys} keys`)
      t.strictSame(visitor.complaints, [])
    })

  await task('find who worked most on a repository last month', '/account', 67, async (user, t) => {
    await user.to('button "Workspace: ')
    await user.press('Enter', 'ArrowDown', 'a')
    await user.comesTo('link', /^Acme/)
    await user.press('Enter')
    await user.comesTo('heading', 'My activity')
    await user.to('link "Repositories"', 'Shift+Tab')
    await user.press('Enter')
    await user.comesTo('heading', 'Acme repositories')
    await user.to('button "Custom range"')
    await user.press('Enter', 'ArrowDown', 'l', 'ArrowDown', 'ArrowDown')
    await user.comesTo('button', 'Last month')
    await user.press('Enter')
    await user.comesTo('button', 'Last month')
    await user.to('searchbox')
    await user.type('mob')
    await user.hears('1 of 9')
    await user.press('ArrowDown', 'Enter')
    await user.comesTo('heading', /^acme\/mobile/)
    await user.to('link "Skip to people"')
    await user.press('Enter')
    await user.comesTo('heading', 'People')
    await user.to('button "Commits"')
    await user.press('Enter')
    await user.hears('Sorted by Commits, descending')
    const table = page.getByRole('table', { name: 'People' })
    t.equal(
      await table.getByRole('columnheader', { name: 'Commits', exact: true }).getAttribute('aria-sort'),
      'descending',
    )
    t.equal(await table.getByRole('rowheader').first().innerText(), 'GU\ngus')
  })

  await task('compare a quarter with the previous one', `/w/${id}`, 40, async (user, t) => {
    await user.to('link "Skip to content"')
    await user.press('Tab', 'Shift+Tab', 'Enter')
    await user.to('button "Custom range"')
    await user.press('Enter', 'Escape')
    await user.comesTo('button', 'Custom range')
    await user.press('Enter', 'ArrowDown', 'End', 'ArrowUp', 'Enter')
    await user.comesTo('button', 'This quarter')
    await user.to('slider')
    const chart = page.locator(':focus')
    const last = await chart.getAttribute('aria-valuetext')
    await user.press('Home')
    t.not(await chart.getAttribute('aria-valuetext'), last)
    await user.press('End')
    t.equal(await chart.getAttribute('aria-valuetext'), last)
  })

  await task('invite a member for a week', `/w/${id}/people`, 56, async (user, t) => {
    await user.to('button "Invite people"')
    await user.press('Enter')
    await user.comesTo('combobox', 'Role')
    await user.to('button "Create invite"')
    await user.press('Enter')
    await user.comesTo('textbox', 'Invite link')
    await user.to('button "Done"')
    await user.press('Enter')
    await user.comesTo('button', 'Invite people')
    const { body } = await ada.get(`/api/team/workspaces/${id}/invites`)
    t.equal(body.invites.length, 2)
    await user.to('button "Actions for')
    await user.press('Enter', 'ArrowDown')
    await user.comesTo('button', 'Revoke invite')
    await user.press('Enter')
    await user.comesTo('button', 'Cancel')
    await user.press('Tab', 'Enter')
    await user.hears('Invite revoked')
    await user.comesTo('button', /^Copy link for/)
  })

  await task('make a member an admin', `/w/${id}/people`, 40, async (user) => {
    await user.to('searchbox "Search People"')
    await user.type('kay')
    await user.press('ArrowDown')
    await user.comesTo('button', 'Actions for kay')
    await user.press('Shift+Tab', 'a')
    await user.comesTo('button', 'Cancel')
    await user.press('Tab', 'Enter')
    await user.hears('kay is now an admin')
    await user.comesTo('combobox', 'Role of kay')
    await user.press('Tab', 'Enter', 'ArrowDown', 'ArrowDown')
    await user.comesTo('button', 'Remove from workspace')
    await user.press('Enter')
    await user.comesTo('button', 'Cancel')
    await user.press('Escape')
    await user.comesTo('button', 'Actions for kay')
    await user.press('ArrowUp')
    await user.press('Control+a', 'Delete')
    await page.getByRole('rowheader', { name: 'bob' }).waitFor()
    // An open invite comes first.
    await user.press('ArrowDown', 'ArrowDown', 'ArrowDown')
    await user.comesTo('button', 'Actions for bob')
    await user.press('Enter', 'ArrowDown', 'r', 'Enter')
    await user.comesTo('button', 'Cancel')
    await user.press('Tab', 'Enter')
    await user.hears('bob removed')
    await user.comesTo('combobox', 'Role of cyd')
  })

  await task(
    'find a person, a repository and a page by searching',
    `/w/${id}/settings`,
    60,
    async (user, t) => {
      const wanted = [
        ['gus', 'option "gus Person"', `/w/${id}?member=gus`],
        ['web', 'option "acme/web Repository"', `/w/${id}/repos/acme/web`],
        ['views', 'option "Privacy and data Page"', '/account/privacy'],
        ['globex', 'option "Globex Workspace"', undefined],
      ] as const
      for (const [text, option, path] of wanted) {
        await user.press('Control+k')
        await user.comesTo('combobox', 'Search or run a command')
        await user.type(text)
        await page.getByRole('option', { name: option.slice('option "'.length, -1), exact: true }).waitFor()
        await user.press('Enter')
        await visitor.closed()
        if (path) t.equal(page.url(), service.url + path)
      }
      await user.comesTo('heading', 'My activity')
    },
  )

  await task(
    'act from the search: invite, create a key, choose a range and a theme',
    `/w/${id}/settings`,
    120,
    async (user, t) => {
      const chooses = async (text: string, option: string) => {
        await user.press('Control+k')
        await user.comesTo('combobox', 'Search or run a command')
        await user.type(text)
        const best = page.getByRole('option', { name: option, exact: true, selected: true })
        await best.waitFor()
        t.equal(
          await page.locator(':focus').getAttribute('aria-activedescendant'),
          await best.getAttribute('id'),
          'a screen reader announces the option that Enter chooses',
        )
        await user.press('Enter')
      }
      await chooses('invite', 'Invite people Action')
      await page.getByRole('dialog', { name: 'New invite', exact: true }).waitFor()
      t.equal(page.url(), `${service.url}/w/${id}/people`, 'a reload does not open the dialog again')
      await user.press('Escape')
      await chooses('create key', 'Create workspace key Action')
      await page.getByRole('dialog', { name: 'New access key', exact: true }).waitFor()
      t.equal(page.url(), `${service.url}/w/${id}/settings/integrations`)
      await user.press('Escape')
      await chooses('dark', 'Use the dark theme Action')
      await user.hears('Theme: Dark')
      t.equal(await page.locator('html').getAttribute('data-theme'), 'dark')
      await chooses('theme sys', 'Use the system theme Action')
      await chooses('last month', 'Show last month Range')
      await page.getByRole('button', { name: 'Last month', exact: true, pressed: true }).waitFor()
      await visitor.open(`/w/${id}/me?repo=acme/web`)
      await chooses('7 days', 'Show 7 days Range')
      await page.getByRole('button', { name: '7 days', exact: true, pressed: true }).waitFor()
      const { pathname, searchParams } = new URL(page.url())
      t.equal(pathname, `/w/${id}/me`, 'the screen stays')
      t.equal(searchParams.get('repo'), 'acme/web', 'and so does its filter')
      await user.press('Control+k')
      await user.comesTo('combobox', 'Search or run a command')
      await user.type('documentation')
      await page.getByRole('option', { name: 'API reference Guide', exact: true }).waitFor()
      const guides = page.getByRole('option', { name: / Guide$/ })
      const addresses = await guides.evaluateAll((all) => all.map((one) => one.getAttribute('href') ?? ''))
      t.ok(addresses.length > 5)
      for (const address of addresses) t.equal((await fetch(service.url + address)).status, 200, address)
      t.strictSame(await visitor.violations('dialog[open]'), [])
      await user.press('Escape')
    },
  )

  t.test('closing the search restores scroll position and focus', async (t) => {
    const user = new KeyboardUser(visitor)
    const place = () =>
      page.evaluate<[number, string, string]>(
        '[scrollY, document.activeElement.tagName, document.activeElement.textContent.slice(0, 40)]',
      )
    const search = async () => {
      await user.press('Control+k')
      await user.comesTo('combobox', 'Search or run a command')
    }
    for (const size of [
      { width: 1280, height: 720 },
      { width: 360, height: 640 },
    ]) {
      await page.setViewportSize(size)
      await visitor.open(`/w/${id}`)
      await page
        .getByRole('table', { name: 'People', exact: true })
        .getByRole('button', { name: 'Active', exact: true })
        .focus()
      const before = await place()
      t.ok(before[0] > 0, 'far down')
      await search()
      await user.press('Escape')
      await visitor.closed()
      t.strictSame(await place(), before, 'after Esc')
      for (const theme of ['dark theme', 'system theme']) {
        await search()
        await user.type(`use the ${theme}`)
        await user.press('Enter')
        await visitor.closed()
        t.strictSame(await place(), before, 'after a choice')
      }
      await page.evaluate('document.activeElement.blur(), scrollTo(0, 200)')
      const unfocused = await place()
      await search()
      await user.press('Escape')
      await visitor.closed()
      t.strictSame(await place(), unfocused, 'without a focus')
    }
    await page.setViewportSize({ width: 1280, height: 720 })
  })

  t.test('text typed before the search has loaded is kept', async (t) => {
    const visitor = await visit(ada)
    const user = new KeyboardUser(visitor)
    let release = () => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    await visitor.open(`/w/${id}/me`)
    await visitor.page.route('**/assets/*.js', async (route) => {
      await released
      await route.continue()
    })
    await visitor.page.keyboard.press('Control+k')
    await user.type('pri')
    t.strictSame(await visitor.violations(), [])
    release()
    await user.comesTo('combobox', 'Search or run a command')
    await user.type('vacy and')
    await visitor.page
      .getByRole('option', { name: 'Privacy and data Page', exact: true, selected: true })
      .waitFor()
    t.equal(await visitor.field('Search or run a command').inputValue(), 'privacy and')
    await user.press('Escape')
    await visitor.closed()
    await visitor.page.keyboard.press('Control+k')
    await user.comesTo('combobox', 'Search or run a command')
    t.equal(await visitor.field('Search or run a command').inputValue(), '', 'the next search is a new one')
    t.strictSame(visitor.complaints, [])
  })

  t.test('single keys open search and help, and can be turned off', async (t) => {
    await visitor.open(`/w/${id}/people`)
    const user = new KeyboardUser(visitor)
    await page.getByRole('searchbox', { name: 'Search People', exact: true }).waitFor()
    await user.press('/')
    await user.comesTo('searchbox', 'Search People')
    await user.type('/?')
    t.equal(await countOf(page.getByRole('dialog'), 0), 0, 'a field receives the keys itself')
    await visitor.go('/account')
    await visitor.heading('Profile').waitFor()
    await user.press('/')
    await user.comesTo('combobox', 'Search or run a command')
    await user.press('Escape')
    await visitor.closed()
    await user.press('?')
    await user.comesTo('checkbox', 'Use single-key shortcuts')
    t.strictSame(await visitor.violations('dialog[open]'), [])
    await user.press('Escape')
    await visitor.closed()
    await visitor.go(`/w/${id}`)
    // On a Sunday, this week is also the last 7 days, and a month of 30 days ends as the last 30 days.
    const sameAs: Record<string, string> = { 'This week': '7 days', 'This month': '30 days' }
    const pressed = (name: string) =>
      page
        .getByRole('button', { name: new RegExp(`^(${name}|${sameAs[name] ?? name})$`), pressed: true })
        .waitFor()
    for (const [key, name] of [
      ['m', 'This month'],
      [',', 'Last month'],
      ['.', 'This month'],
      ['p', 'Last month'],
      ['q', 'This quarter'],
      ['w', 'This week'],
    ] as const) {
      await user.press(key)
      await pressed(name)
    }
    const weekly = page.url()
    await user.press('?')
    await user.comesTo('checkbox', 'Use single-key shortcuts')
    await user.press('Space', 'Escape')
    await visitor.closed()
    await user.press('?', '/', 'm')
    t.equal(await countOf(page.getByRole('dialog'), 0), 0)
    t.equal(page.url(), weekly)
    await user.press('Control+k')
    await user.comesTo('combobox', 'Search or run a command')
    await user.press('Escape')
    await page
      .locator('html')
      .evaluate(({ ownerDocument }) => ownerDocument.defaultView.localStorage.removeItem('single-keys'))
  })

  await task('find the source of a setting', `/w/${id}`, 40, async (user) => {
    await user.to('link "Repositories"')
    await user.press('Enter')
    await user.comesTo('heading', 'Acme repositories')
    await user.to('link "acme/web"')
    await user.press('Enter')
    await user.comesTo('heading', /^acme\/web/)
    await user.to('link "Settings"')
    await user.press('Enter')
    await page
      .getByRole('row', { name: 'ext.theme "light" Override Workspace: "dark"', exact: true })
      .waitFor()
  })

  const restoreFirstVersion = async (user: KeyboardUser, change?: string) => {
    await visitor.settled()
    await user.to('button "Restore version 1"')
    await user.press('Enter')
    await user.comesTo('textbox', 'Reason (optional)')
    if (change) await page.getByRole('dialog').getByRole('row', { name: change, exact: true }).waitFor()
    await user.to('button "Restore version 1"')
    await user.press('Enter')
    await user.hears('Version 1 restored')
  }

  await task('restore older settings', `/w/${id}/repos`, 49, async (user, t) => {
    await user.to('link "pushed settings, v2"')
    await user.press('Enter')
    await user.comesTo('heading', 'acme/web')
    await restoreFirstVersion(user, 'ext.theme "light" "dark"')
    await visitor.sees(/^Version 3 by ada, /)
    await user.comesTo('button', 'Restore version 1')
    t.hasStrict(await ada.get('/api/settings/acme/web'), { body: { settings: { 'ext.theme': 'dark' } } })
  })

  await task('roll back the settings of a workspace', `/w/${id}/settings`, 13, async (user) => {
    await user.to('link "Skip to content"')
    await user.press('Enter')
    await user.to('link "Skip to versions"')
    await user.press('Enter')
    await user.comesTo('heading', 'Versions')
    await restoreFirstVersion(user)
    await ada.patch(`/api/team/workspaces/${id}/settings`, { settings: { 'ext.theme': 'dark' } })
  })

  await task('export recorded data', `/w/${id}`, 40, async (user, t) => {
    await user.to('button "ada"')
    await user.press('Enter', 'ArrowDown', 'p')
    await user.comesTo('link', 'Privacy and data')
    await user.press('Enter')
    await user.comesTo('heading', 'Privacy and data')
    await user.to('link "Export my data"')
    const download = page.waitForEvent('download')
    await user.press('Enter')
    t.match((await download).suggestedFilename(), /^ada_\d{4}-\d{2}-\d{2}\.json$/)
  })

  await task('leave a workspace', '/account', 50, async (user, t) => {
    await user.to('button "Workspace: ')
    await user.press('Enter', 'ArrowDown', 'g', 'Enter')
    await user.comesTo('heading', 'My activity')
    await user.to('link "People"', 'Shift+Tab')
    await user.press('Enter')
    await user.comesTo('heading', 'Globex people')
    await user.to('button "Leave Globex"')
    await user.press('Enter')
    await user.comesTo('button', 'Cancel')
    await user.press('Tab', 'Enter')
    await visitor.button('Workspace: Acme').waitFor()
    t.equal(await countOf(visitor.link(/^Globex/), 0), 0)
  })

  t.test('an error in a field is linked to the field', async (t) => {
    await visitor.open(`/w/${id}/settings`)
    const editor = visitor.field('Editor settings (JSON)')
    await editor.fill('{')
    await page.getByText(/^Invalid JSON: /).waitFor()
    t.match(await page.locator('body').ariaSnapshot(), /textbox "Editor settings \(JSON\)" \[invalid\]/)
  })
}
