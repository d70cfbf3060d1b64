/** What people come for, done as they would do it: by mouse, by keyboard, and when things go wrong. */
import t from 'tap'
import { addDays } from '../../src/platform/time/days.js'
import { hasMembers } from '../has-members.js'
import type { Caller } from '../service.js'
import { startScene, type Visitor } from './page.js'

const scene = await startScene(t)
const today = new Date().toISOString().slice(0, 10)

const work = (caller: Caller, repo: string, day: string, minutes: number) =>
  caller.post('/api/team/active-minutes', { entries: [{ repo, day, minutes }] })

if (typeof scene === 'string') t.test('the tasks', { skip: scene }, async () => {})
else {
  const { service, visit } = scene
  const [ada, bob] = [await service.signIn('ada'), await service.signIn('bob')]
  const { id } = await service.workspace(ada, { members: [bob] })
  await work(ada, 'acme/web', addDays(today, -2), 100)
  await work(bob, 'acme/web', addDays(today, -2), 40)
  await work(bob, 'acme/api', addDays(today, -1), 200)
  const admin = await visit(ada)
  /** The cells of the rows of a table, without the first. */
  const rowsOf = ({ page }: Visitor, caption: string) =>
    page.getByRole('table', { name: caption }).locator('tbody tr th[scope="row"]').allInnerTexts()

  t.test('somebody signs in with a token and is where they wanted to be', async (t) => {
    const visitor = await visit()
    const { page } = visitor
    await visitor.open(`/w/${id}/people`)
    await page.getByLabel(/^Token of/).fill('wrong')
    await page.keyboard.press('Enter')
    await visitor.sees('The repository host does not know this token')
    await page.getByLabel(/^Token of/).fill(ada.repohostToken)
    await page.keyboard.press('Enter')
    await visitor.heading('People of Acme').waitFor()
    t.equal(new URL(page.url()).pathname, `/w/${id}/people`)
    await page.getByRole('button', { name: 'ada', exact: true }).click()
    await visitor.button('Sign out').click()
    await visitor.heading('See what your team is working on').waitFor()
  })

  t.test('somebody signs in at the repository host, and is where they wanted to be', async (t) => {
    const { repohost } = service
    const { page, ...visitor } = await visit()
    const enter = () => page.getByRole('link', { name: /^Sign in with/ }).click()
    repohost.browserUser = null
    await page.goto(`${service.url}/w/${id}/people?x=1`)
    await enter()
    await page.getByText('You said no at').waitFor()
    t.equal(page.url(), `${service.url}/w/${id}/people?x=1`, 'the address is the one that was wanted')
    repohost.browserUser = ada.repohostId
    await enter()
    await page.getByRole('heading', { name: 'People of Acme' }).waitFor()
    t.equal(page.url(), `${service.url}/w/${id}/people?x=1`)
    await page.context().clearCookies()
    await page.goto(`${service.url}/api/auth/callback?state=of-somebody-else&code=x`)
    await page.getByText('The login took too long, or was begun in another browser.').waitFor()
    await page.goto(`${service.url.replace('127.0.0.1', 'localhost')}/w/${id}/people`)
    await enter()
    await page.getByRole('heading', { name: 'People of Acme' }).waitFor()
    t.equal(page.url(), `${service.url}/w/${id}/people`, 'at the configured origin')
    await page.context().clearCookies()
    const { code } = (await ada.post(`/api/team/workspaces/${id}/invites`, {})).body
    repohost.browserUser = repohost.addUser('gus').id
    await page.goto(`${service.url}/join/${code}`)
    await page.getByRole('heading', { name: 'Sign in to see what you are invited to' }).waitFor()
    await enter()
    await page.getByRole('button', { name: 'Join as gus' }).waitFor()
    t.strictSame(visitor.complaints, [])
  })

  t.test('who worked most on a repository is two clicks away, and the address can be shared', async (t) => {
    await admin.open(`/w/${id}`)
    await admin.sees('When they work')
    t.strictSame(await rowsOf(admin, 'People'), ['BO\nbob', 'AD\nada'])
    await admin.button('acme/web').click()
    await admin.settled()
    t.strictSame(await rowsOf(admin, 'People'), ['AD\nada', 'BO\nbob'])
    await admin.button('90 days').click()
    await admin.settled()
    t.match(admin.page.url(), /repo=acme%2Fweb.*from=.*to=/)
    await admin.page.reload()
    await admin.sees('When they work')
    t.strictSame(await rowsOf(admin, 'People'), ['AD\nada', 'BO\nbob'])
    await admin.button('Remove the filter acme/web').click()
    await admin.settled()
    t.strictSame(await rowsOf(admin, 'People'), ['BO\nbob', 'AD\nada'])
    await admin.page.getByRole('table', { name: 'People' }).getByRole('button', { name: 'Person' }).click()
    t.strictSame(await rowsOf(admin, 'People'), ['AD\nada', 'BO\nbob'], 'sorted by name')
  })

  t.test('a quarter is compared with the quarter before, and it is said which days those are', async () => {
    await admin.open(`/w/${id}?from=2026-04-01&to=2026-06-30`)
    await admin.sees('Wed, 1 Apr 2026 to Tue, 30 Jun 2026; before: Thu, 1 Jan 2026 to Tue, 31 Mar 2026')
    await admin.open(`/w/${id}?from=2026-03-01&to=2026-03-10`)
    await admin.sees('before: Sun, 1 Feb 2026 to Tue, 10 Feb 2026')
    await admin.open(`/w/${id}?from=2026-03-02&to=2026-03-08`)
    await admin.sees('before: Mon, 23 Feb 2026 to Sun, 1 Mar 2026')
  })

  t.test('a chart is read by keyboard, and as a table', async (t) => {
    await admin.open(`/w/${id}`)
    const chart = admin.page.getByRole('slider', { name: /^Active time,/ })
    await chart.focus()
    await admin.page.keyboard.press('ArrowLeft')
    t.match(await chart.getAttribute('aria-valuetext'), /3 h 20 min/)
    await admin.page.keyboard.press('ArrowLeft')
    t.match(await chart.getAttribute('aria-valuetext'), /2 h 20 min/)
    await admin.page.getByText('As a table').first().click()
    const table = admin.page.getByRole('table', { name: /^Active time,/ })
    await table.waitFor()
    t.equal(await table.getByRole('row').count(), 31)
  })

  t.test('a moment is read in its own direction within an English sentence', async (t) => {
    const visitor = await visit(ada, 'ar')
    await visitor.open(`/w/${id}/settings`)
    const places = await visitor.page.getByText('In force since').evaluate((line) => {
      const [, text] = line.childNodes
      const at = (offset: number) => {
        const range = line.ownerDocument.createRange()
        range.setStart(text, offset)
        range.setEnd(text, offset + 1)
        return range.getBoundingClientRect().left
      }
      const { data } = text as { data: string }
      const numbers = [...data.matchAll(/\p{Nd}+/gu)].map(({ index }) => index)
      return numbers.map(at)
    })
    t.ok(places.length >= 4, 'day, month, year, hour')
    t.same(
      places.slice(0, 4),
      places.slice(0, 4).sort((a, b) => b - a),
      'from right to left',
    )
  })

  t.test('everything that can be pressed is reached by keyboard, and is seen then', async (t) => {
    await admin.open(`/w/${id}`)
    await admin.sees('When they work')
    const reached = new Set<string>()
    for (let step = 0; step < 60; step++) {
      await admin.page.keyboard.press('Tab')
      const { name, outline, isOver } = await admin.page.locator('body').evaluate(({ ownerDocument }) => {
        const { activeElement, defaultView } = ownerDocument
        return {
          isOver: activeElement === ownerDocument.body,
          name: activeElement.getAttribute('aria-label') ?? activeElement.innerText,
          outline: defaultView.getComputedStyle(activeElement).outlineStyle,
        }
      })
      if (isOver) break
      reached.add(name.replaceAll('\n', ' '))
      if (outline === 'none') t.fail(`${name} does not show that it is focused`)
    }
    for (const name of ['Acme', 'Team', 'Settings', '30 days', 'CSV', 'Commits', 'acme/api', 'bob']) {
      t.ok(
        [...reached].some((one) => one.includes(name)),
        `${name} is reached`,
      )
    }
  })

  t.test('an admin invites for a week, and whoever has the link sees what they join', async (t) => {
    await admin.open(`/w/${id}/people`)
    await admin.button('Invite somebody').click()
    await admin.button('Make the invite').click()
    const link = await admin.page.getByLabel('Link of the invite').inputValue()
    await admin.button('Done').click()
    const guest = await visit(await service.signIn('cyd'))
    await guest.open(new URL(link).pathname)
    await guest.heading('Acme').waitFor()
    await guest.sees('2 members; you would be a member')
    await guest.button('Join as cyd').click()
    await guest.heading('People of Acme').waitFor()
    await guest.button('Leave Acme').click()
    await guest.page.getByRole('dialog').getByRole('button', { name: 'Leave' }).click()
    await guest.heading('Welcome').waitFor()
    t.strictSame(guest.complaints, [])
  })

  t.test('an admin makes somebody admin; the last one cannot step down', async (t) => {
    await admin.open(`/w/${id}/people`)
    await admin.button('Make member of ada').click()
    await admin.button('Make me a member').click()
    await admin.sees('A workspace needs an admin')
    await admin.button('Cancel').click()
    await admin.button('Make admin of bob').click()
    await admin.button('Make member of bob').waitFor()
    await admin.button('Make member of bob').click()
    await admin.button('Make admin of bob').waitFor()
    const { body } = await ada.get(`/api/team/workspaces/${id}/members`)
    hasMembers(t, body.members, [{ role: 'admin' }, { role: 'member' }])
  })

  t.test('a member sees what is theirs, and no more', async (t) => {
    const member = await visit(bob)
    await member.open(`/w/${id}`)
    await member.heading('The team’s numbers are for admins').waitFor()
    t.equal(await member.link('Audit').count(), 0)
    await member.link('Show my activity').click()
    await member.settled()
    await member.sees('acme/api')
    await member.open(`/w/${id}/people`)
    t.equal(await member.button(/Remove|Invite/).count(), 0)
    t.strictSame(member.complaints, [])
    const stranger = await visit(await service.signIn('eve'))
    await stranger.open(`/w/${id}`)
    await stranger.heading('There is nothing here for you').waitFor()
  })

  t.test('why a value holds in a repository is said', async () => {
    await ada.patch(`/api/team/workspaces/${id}/settings`, { settings: { 'ext.theme': 'dark' } })
    await ada.put(`/api/team/workspaces/${id}/project-settings/acme/web`, {
      settings: { 'ext.theme': 'light' },
    })
    await admin.open(`/w/${id}/repos`)
    await admin.button('and why in acme/web').click()
    await admin.page.getByRole('row', { name: /ext.theme "light" the override of this repository/ }).waitFor()
  })

  t.test('settings that two change at once are solved key by key, and nothing typed is lost', async (t) => {
    await admin.open(`/w/${id}/settings`)
    const editor = admin.page.getByLabel(/as JSON/)
    await editor.fill('{ "ext.theme": ')
    await admin.sees('This is not JSON')
    t.ok(await admin.button('Save').isDisabled())
    await editor.fill('{ "ext.theme": "mine", "ext.more": 1 }')
    await admin.sees('+ ext.more: 1')
    await ada.patch(`/api/team/workspaces/${id}/settings`, {
      settings: { 'ext.theme': 'theirs', 'ext.other': true },
    })
    await admin.button('Save').click()
    await admin.heading('Somebody else saved in the meantime').waitFor()
    await admin.page.getByRole('radio', { name: '"theirs"' }).check()
    await admin.button('Put mine on top of theirs').click()
    await admin.button('Save').click()
    await admin.sees('Saved.')
    const { body } = await ada.get(`/api/team/workspaces/${id}/settings`)
    t.strictSame(body.settings, { 'ext.theme': 'theirs', 'ext.other': true, 'ext.more': 1 })
  })

  t.test('at the level team no person is shown, and it is said what is withheld', async (t) => {
    const dan = await service.signIn('dan')
    const { id } = await service.workspace(dan, { name: 'Initech', patterns: ['initech/*'] })
    await work(dan, 'initech/reports', addDays(today, -20), 60)
    const visitor = await visit(dan)
    await visitor.open(`/w/${id}/settings`)
    await visitor.page.getByRole('radio', { name: /^Nobody but the person/ }).check()
    await visitor.sees('From now on nobody sees a single person’s numbers')
    await visitor.button('Save').click()
    await visitor.sees('Saved.')
    await visitor.link(/^Team$/).click()
    await visitor.sees('Here nobody sees the numbers of a single person.')
    await visitor.settled()
    t.strictSame(await rowsOf(visitor, 'People'), [])
    t.equal(await visitor.page.locator('.figure .value').first().innerText(), '–')
    await visitor.link(/^People$/).click()
    await visitor.sees('Nobody here sees numbers of a single other person.')
    await visitor.open('/')
    await visitor.sees('In Initech nobody but you sees your numbers')
    t.strictSame(await visitor.violations(), [])
  })

  t.test('what lies far back in the audit trail is found, and it is said how far was looked', async (t) => {
    const { id } = await service.workspace(ada, { name: 'Old', patterns: ['old/*'] })
    for (let round = 0; round < 110; round++) {
      await ada.patch(`/api/team/workspaces/${id}`, { name: `Old ${round}` })
    }
    await admin.open(`/w/${id}/audit`)
    await admin.page.getByRole('table', { name: 'Changes, newest first' }).waitFor()
    t.equal((await rowsOf(admin, 'Changes, newest first')).length, 100)
    await admin.page.getByLabel('Show').selectOption('workspace created')
    await admin.sees(/^1 of all 111, back to .*\.$/)
    t.equal((await rowsOf(admin, 'Changes, newest first')).length, 1)
    await admin.page.getByLabel('Show').selectOption('member removed')
    await admin.sees(/^0 of all 111/)
  })

  t.test('who has nothing to pay is offered nothing', async (t) => {
    const { billing } = service.config
    const offers = () => admin.button(/Subscribe|Manage the subscription/).allInnerTexts()
    await admin.open('/account')
    await admin.sees('Everything is included here; there is nothing to pay.')
    t.strictSame(await offers(), [])
    billing.secretKey = 'a-key'
    await admin.open('/account')
    await admin.sees('Everything is included here; there is nothing to pay.')
    billing.dormant = false
    try {
      await admin.open('/account')
      await admin.button('Subscribe').waitFor()
    } finally {
      billing.dormant = true
      billing.secretKey = undefined
    }
  })

  t.test('an older version of settings is compared and restored', async (t) => {
    await ada.push('acme/web', { 'ext.theme': 'light' })
    await ada.push('acme/web', { 'ext.theme': 'dark' })
    await admin.open('/s/acme/web')
    await admin.sees('- ext.theme: "light"')
    await admin.button('Restore version 1').click()
    await admin.sees('Version 3 by')
    t.hasStrict(await ada.get('/api/settings/acme/web'), { body: { settings: { 'ext.theme': 'light' } } })
  })

  t.test('people see who looked at them, take everything along, and end their account', async (t) => {
    const fay = await service.signIn('fay')
    const { code } = (await ada.post(`/api/team/workspaces/${id}/invites`, {})).body
    await fay.post('/api/team/workspaces/join', { code })
    await work(fay, 'acme/web', addDays(today, -3), 30)
    await admin.open(`/w/${id}`)
    await admin.sees('When they work')
    const visitor = await visit(fay)
    await visitor.open('/')
    const about = visitor.page.getByRole('region', { name: 'What is recorded about me' })
    await about.getByText(/^ada$/).first().waitFor()
    const download = visitor.page.waitForEvent('download')
    await visitor.link('Export everything').click()
    t.equal((await download).suggestedFilename(), 'fay.json')
    await visitor.button('Delete my account').click()
    const dialog = visitor.page.getByRole('dialog')
    t.ok(await dialog.getByRole('button', { name: 'Delete for good' }).isDisabled())
    await dialog.getByRole('textbox').fill('fay')
    await dialog.getByRole('button', { name: 'Delete for good' }).click()
    await visitor.heading('See what your team is working on').waitFor()
    t.match(await fay.get('/api/me'), { status: 401 })
  })

  t.test('somebody pauses what is recorded of them', async (t) => {
    const member = await visit(bob)
    await member.open('/')
    await member.page.getByLabel(/^Pause/).check()
    await member.page.locator('form', { hasText: 'Pause' }).getByRole('button', { name: 'Save' }).click()
    await member.sees('Saved.')
    t.match(await bob.get('/api/me/recording'), { body: { paused: true } })
  })

  t.test('a session that ends leaves what was typed, and goes on after signing in', async (t) => {
    const eve = await service.signIn('eve')
    const { id } = await service.workspace(eve, { name: 'Globex', patterns: ['globex/*'] })
    const visitor = await visit(eve)
    await visitor.open(`/w/${id}/settings`)
    await visitor.page.getByLabel(/as JSON/).fill('{ "ext.kept": true }')
    await eve.post('/api/auth/logout', {})
    await visitor.button('Save').click()
    await visitor.heading('Your session has ended').waitFor()
    await visitor.page.getByLabel(/^Token of/).fill(eve.repohostToken)
    await visitor.button('Sign in with the token').click()
    await visitor.button('Save').click()
    await visitor.sees('Saved.')
    const again = await service.signIn('eve')
    const { body } = await again.get(`/api/team/workspaces/${id}/settings`)
    t.strictSame(body.settings, { 'ext.kept': true })
  })
}
