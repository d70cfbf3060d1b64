/** Whatever goes wrong on whichever screen: words that help, nothing typed is lost, and nobody is asked too often. */
import type { Locator, Route } from 'playwright-core'
import t from 'tap'
import { freePort, launch, onDatabase, ready } from '../process.js'
import { startScene, type Visitor } from './page.js'

const scene = await startScene(t, {
  env: { ADMIN_KEYS: 'the-key', REPOHOST_CLIENT_ID: '', REPOHOST_CLIENT_SECRET: '' },
})

type Answer = (route: Route) => Promise<void>

const problem =
  (status: number, code: string, headers = {}): Answer =>
  (route) =>
    route.fulfill({
      status,
      headers: { 'X-Request-Id': `request-${status}`, ...headers },
      contentType: 'application/problem+json',
      body: JSON.stringify({ status, code, detail: `What to do about ${code}.` }),
    })
const proxyPage =
  (status: number): Answer =>
  (route) =>
    route.fulfill({ status, contentType: 'text/html', body: '<h1>Something else</h1>' })
const refused: Answer = (route) => route.abort('connectionrefused')
const ended = problem(401, 'token_revoked')

/** What may come of any call, and what must be read then. */
const faults: [answer: Answer, ...said: string[]][] = [
  [problem(402, 'pro_required'), 'This needs a subscription', 'request-402'],
  [proxyPage(200), 'Something else answered in place of the service'],
  [problem(403, 'admin_required'), 'Only admins of this workspace may do that', 'request-403'],
  [problem(404, 'workspace_not_found'), 'There is no such workspace for you', 'request-404'],
  [
    problem(429, 'rate_limited', { 'Retry-After': '77' }),
    'That was too often',
    'The service asks for 77 seconds.',
    'request-429',
  ],
  [problem(500, 'internal_error'), 'The service could not do that', 'request-500'],
  [proxyPage(502), 'Something else answered in place of the service'],
  [problem(503, 'unavailable'), 'The service is busy or starting', 'request-503'],
]
const conflicts: typeof faults = [
  [problem(409, 'last_admin'), 'A workspace needs an admin', 'request-409'],
  [problem(412, 'if_match_failed'), 'What to do about if_match_failed.', 'request-412'],
]

let turn = 0
/** The next few, so that each has its screens; with EVERY_FAULT all of them on every screen, which takes a minute more. */
const nextOf = (all: typeof faults, count: number): typeof faults => {
  if (process.env.EVERY_FAULT) return all
  const from = turn % all.length
  turn += count
  return [...all, ...all].slice(from, from + count)
}

if (typeof scene === 'string') t.test('failures', { skip: scene }, async () => {})
else {
  const { service, visit } = scene
  const [ada, bob] = [await service.signIn('ada'), await service.signIn('bob')]
  const { id, code } = await service.workspace(ada, { members: [bob] })
  const globex = await service.workspace(bob, { name: 'Globex', patterns: ['globex/*'] })
  await ada.push('acme/web', { 'ext.theme': 'light' })
  await ada.push('acme/web', { 'ext.theme': 'dark' })
  const today = new Date().toISOString().slice(0, 10)
  await ada.post('/api/team/active-minutes', { entries: [{ repo: 'acme/web', day: today, minutes: 30 }] })

  const visitor = await visit(ada)
  const { page } = visitor

  /** What the page complained of, beside what the browser itself writes about every call that fails. */
  const complaints = (of = visitor) =>
    of.complaints.filter((line) => !line.includes('Failed to load resource'))

  /** Answers one call with what can be changed, until it is released. */
  const between = async (call: string, method: string, of = visitor) => {
    const fake = { answer: ended, asked: 0, release: () => of.page.unroute(address, handler) }
    const address = `**/api/${call}`
    const handler = (route: Route) => {
      if (route.request().method() !== method) return route.fallback()
      fake.asked++
      return fake.answer(route)
    }
    await of.page.route(address, handler)
    return fake
  }

  /** The session ends in the middle, and one signs in again on top of what is there. */
  const signInAgain = async () => {
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' })
    await dialog.getByLabel(/^Token of/).fill(ada.repohostToken)
    await dialog.getByRole('button', { name: 'Sign in with the token' }).click()
    await dialog.waitFor({ state: 'detached' })
  }

  const reads: [path: string, calls: string[], seen: string][] = [
    ['/', ['team/me', 'team/dashboard/mine?*', 'me/views?*', 'me/recording'], 'What shall be recorded'],
    [`/w/${id}`, ['team/dashboard?*'], 'When they work'],
    [`/w/${id}/people`, [`team/workspaces/${id}/members`, `team/workspaces/${id}/invites`], 'Make member'],
    [`/w/${id}/repos`, ['projects?*', `team/workspaces/${id}/project-settings`], 'version 2 and older'],
    [
      `/w/${id}/repos?repo=acme%2Fweb`,
      ['team/effective-config?*', `team/workspaces/${id}/settings`],
      'By the pattern',
    ],
    [`/w/${id}/settings`, [`team/workspaces/${id}/settings`], 'Idle window in minutes'],
    [`/w/${id}/audit`, [`team/workspaces/${id}/audit`], 'workspace created'],
    [
      '/s/acme/web',
      ['settings/acme/web', 'settings/acme/web/versions', 'settings/acme/web/versions/1'],
      '- ext.theme: "light"',
    ],
    [`/join/${code}`, [`team/invites/${code}`], 'It counts your active minutes in'],
    ['/account', ['me'], 'Plan: pro'],
  ]
  const screenOf = (path: string) => path.replaceAll(id, ':id').replace(code, ':code')

  for (const [path, calls, seen] of reads) {
    t.test(`when what ${screenOf(path)} shows cannot be read, it says so and goes on`, async (t) => {
      for (const [place, call] of calls.entries()) {
        const fake = await between(call, 'GET')
        const chosen = place === 0 ? nextOf(faults, 2) : faults.slice(-1)
        for (const [index, [answer, ...said]] of chosen.entries()) {
          fake.answer = answer
          if (index === 0) await page.goto(service.url + path)
          else await visitor.button('Try again').first().click()
          for (const words of said) await visitor.sees(words)
        }
        fake.answer = refused
        await visitor.button('Try again').first().click()
        await visitor.sees('The service cannot be reached.')
        t.equal(await visitor.button(/^Try/).count(), 1, `${call}: one way to try again`)
        t.equal(await page.locator('.wait').count(), 0, `${call}: nothing waits for ever`)
        fake.answer = ended
        await visitor.button('Try again').click()
        await visitor.heading('Your session has ended').waitFor()
        await fake.release()
        await signInAgain()
        await visitor.sees(seen)
        await visitor.settled()
        t.equal(await page.getByRole('alert').count(), 0, `${call}: all is well again`)
        t.equal(page.url(), service.url + path)
      }
      t.strictSame(complaints(), [])
    })
  }

  interface Writing {
    path: string
    /** What opens the form, if it is not there. */
    opener?: string
    /** What is typed into which fields. */
    typed?: Record<string, string>
    submit: string
    method: string
    call: string
    /** What is seen when it was done; without it, it is better not done. */
    done?: string
    of?: (visitor: Visitor) => Locator
  }
  const inForm = (text: string) => () => page.locator('form', { hasText: text })
  const inDialog = () => page.locator('dialog[open]').first()
  const writes: Record<string, Writing> = {
    'what shall be recorded': {
      path: '/',
      typed: { 'Never in these repositories': 'acme/secret-*' },
      submit: 'Save',
      method: 'PUT',
      call: 'me/recording',
      done: 'Saved.',
      of: inForm('Pause'),
    },
    'a new workspace': {
      path: '/',
      opener: 'New workspace',
      typed: { Name: 'Initech', 'Repositories that it covers': 'initech/*' },
      submit: 'Make it',
      method: 'POST',
      call: 'team/workspaces/create',
      done: 'People of Initech',
      of: inDialog,
    },
    'the end of an account': {
      path: '/',
      opener: 'Delete my account',
      typed: { 'Type ada to go on': 'ada' },
      submit: 'Delete for good',
      method: 'DELETE',
      call: 'me',
      of: inDialog,
    },
    'an invite': {
      path: `/w/${id}/people`,
      opener: 'Invite somebody',
      typed: { 'How many may join with it (empty: any number)': '3' },
      submit: 'Make the invite',
      method: 'POST',
      call: `team/workspaces/${id}/invites`,
      done: 'Give this link to whom you invite.',
      of: inDialog,
    },
    'a role': {
      path: `/w/${id}/people`,
      submit: 'Make admin of bob',
      method: 'PATCH',
      call: `team/workspaces/${id}/members`,
      done: 'Make member of bob',
    },
    'who is removed': {
      path: `/w/${id}/people`,
      opener: 'Remove bob',
      submit: 'Remove',
      method: 'DELETE',
      call: `team/workspaces/${id}/members?*`,
      of: inDialog,
    },
    'what a workspace covers': {
      path: `/w/${id}/repos`,
      typed: { 'Patterns, one on a line': 'acme/*\nada/*\nglobex/*' },
      submit: 'Save',
      method: 'PUT',
      call: `team/workspaces/${id}/patterns`,
    },
    'an override': {
      path: `/w/${id}/repos`,
      opener: 'New override',
      typed: { Repository: 'acme/api', 'What holds there instead': '{ "ext.theme": "blue" }' },
      submit: 'Save',
      method: 'PUT',
      call: `team/workspaces/${id}/project-settings/acme/api`,
      done: 'Remove acme/api',
      of: inDialog,
    },
    'the settings': {
      path: `/w/${id}/settings`,
      typed: { 'What every member’s editor takes, as JSON': '{ "ext.kept": true }' },
      submit: 'Save',
      method: 'PATCH',
      call: `team/workspaces/${id}/settings`,
      done: 'Saved.',
    },
    'a name': {
      path: `/w/${id}/settings`,
      typed: { 'Name of the workspace': 'Acme Corporation' },
      submit: 'Rename',
      method: 'PATCH',
      call: `team/workspaces/${id}`,
      done: 'Settings of Acme Corporation',
    },
    'the end of a workspace': {
      path: `/w/${id}/settings`,
      opener: 'Delete the workspace',
      typed: { 'Type Acme Corporation to go on': 'Acme Corporation' },
      submit: 'Delete for good',
      method: 'DELETE',
      call: `team/workspaces/${id}`,
      of: inDialog,
    },
    'what is restored': {
      path: '/s/acme/web',
      submit: 'Restore version 1',
      method: 'POST',
      call: 'settings/acme/web/restore',
      done: 'Version 3 by',
    },
    'a time zone': {
      path: '/account',
      submit: 'Set',
      method: 'POST',
      call: 'team/active-minutes',
      done: 'Saved.',
    },
    'the end of all sessions': {
      path: '/account',
      submit: 'Sign out everywhere',
      method: 'POST',
      call: 'auth/logout',
    },
    'a joining': {
      path: `/join/${globex.code}`,
      submit: 'Join as ada',
      method: 'POST',
      call: 'team/workspaces/join',
      done: 'People of Globex',
    },
  }

  for (const [what, row] of Object.entries(writes)) {
    t.test(`when ${what} cannot be sent, nothing typed is lost, and it can be sent again`, async (t) => {
      const { path, opener, typed = {}, submit, method, call, done, of = () => page.locator('main') } = row
      await visitor.open(path)
      if (opener) await page.getByRole('button', { name: opener, exact: true }).click()
      const form = of(visitor)
      const field = (label: string) => form.getByLabel(label, { exact: true })
      for (const [label, text] of Object.entries(typed)) await field(label).fill(text)
      const send = () => form.getByRole('button', { name: submit, exact: true }).click()
      const fake = await between(call, method)
      const chosen = nextOf([...conflicts, ...faults], 3)
      for (const [answer, ...said] of chosen) {
        fake.answer = answer
        await send()
        for (const words of said) await visitor.sees(words)
      }
      fake.answer = refused
      await send()
      await page.getByRole('alert').getByText('The service cannot be reached.').waitFor()
      fake.answer = ended
      await send()
      await visitor.heading('Your session has ended').waitFor()
      t.equal(fake.asked, chosen.length + 2, 'nothing is sent that nobody asked for')
      await fake.release()
      await signInAgain()
      for (const [label, text] of Object.entries(typed)) t.equal(await field(label).inputValue(), text)
      t.equal(await page.getByRole('alert').count(), 0)
      t.equal(page.url(), service.url + path)
      if (done) {
        await send()
        await visitor.page.getByText(done).or(visitor.button(done)).first().waitFor()
      }
      t.strictSame(complaints(), [])
    })
  }

  t.test('the keys of operators and of people are asked for again when they are wrong', async (t) => {
    const nobody = await visit()
    for (const [path, label, button, call, method] of [
      ['/funnel', 'Admin key', 'Show', 'admin/funnel', 'GET'],
      [`/join/${code}`, /^Token of/, 'Sign in with the token', 'auth/verify', 'POST'],
    ] as const) {
      await nobody.page.goto(service.url + path)
      const field = nobody.page.getByLabel(label)
      await field.fill('typed')
      const fake = await between(call, method, nobody)
      for (const [answer, ...said] of nextOf(faults, 3)) {
        fake.answer = answer
        await nobody.button(button).click()
        for (const words of said) await nobody.sees(words)
      }
      fake.answer = refused
      await nobody.button(button).click()
      await nobody.sees('The service cannot be reached.')
      await fake.release()
      await nobody.button(button).click()
      await nobody.sees(path === '/funnel' ? 'does not know this key' : 'does not know this token')
      t.equal(await field.inputValue(), 'typed')
    }
    t.strictSame(complaints(nobody), [])
  })

  t.test('what looks like an answer and is none leaves the frame to go on from', async (t) => {
    const fake = await between('team/dashboard?*', 'GET')
    fake.answer = (route) => route.fulfill({ json: { totals: null } })
    await page.goto(`${service.url}/w/${id}`)
    await visitor.sees('This cannot be shown.')
    await visitor.link('People').click()
    await visitor.heading(/^People of/).waitFor()
    await fake.release()
    await visitor.link(/^Team$/).click()
    await visitor.sees('When they work')
    t.strictSame(complaints(), [])
  })

  t.test('addresses that make no sense are answered in words', async (t) => {
    for (const [query, said] of [
      ['from=2026-13-45&to=nonsense', 'When they work'],
      ['from=2026-03-05&to=2026-03-01', 'These days cannot be shown'],
      ['from=2020-01-01&to=2026-03-01', 'A range has at most 366 days'],
      ['from=2026-02-31&to=2026-03-05', 'must be a day of the cal'],
    ]) {
      await page.goto(`${service.url}/w/${id}?${query}`)
      await visitor.sees(said ?? '')
    }
    t.strictSame(complaints(), [])
  })

  t.test(
    'what never comes ends in words, and whoever sent something is told that it may be done',
    async () => {
      const patient = await visit(ada)
      await patient.page.clock.install()
      const reading = await between('team/dashboard?*', 'GET', patient)
      reading.answer = async () => {}
      await patient.page.goto(`${service.url}/w/${id}`)
      await patient.heading(/^Acme/).waitFor()
      await patient.page.clock.runFor(15_100)
      await patient.sees('No answer came.')
      await reading.release()
      await patient.button('Try again').click()
      await patient.sees('When they work')
      await patient.link('Settings').click()
      await patient.page.getByLabel(/as JSON/).fill('{ "ext.late": 1 }')
      const writing = await between(`team/workspaces/${id}/settings`, 'PATCH', patient)
      writing.answer = async () => {}
      await patient.button('Save').click()
      await patient.page.clock.runFor(15_100)
      await patient.sees('It may have been done all the same')
      await writing.release()
      await patient.button('Save').click()
      await patient.sees('Saved.')
    },
  )

  t.test('a service in trouble is asked ever more rarely, and as late as it asks for', async (t) => {
    const tireless = await visit(ada)
    const { clock } = tireless.page
    await clock.install()
    await tireless.open(`/w/${id}`)
    /** What is asked for in ten minutes, in steps that let answers come. */
    const tenMinutes = async (fake: { asked: number }) => {
      const before = fake.asked
      for (let second = 0; second < 600; second += 10) await clock.runFor(10_000)
      return fake.asked - before
    }
    const numbers = await between('team/dashboard?*', 'GET', tireless)
    for (const [name, answer] of [
      ['busy', problem(503, 'unavailable')],
      // As an extension of the browser does that takes the address for an advertisement.
      ['kept away', refused],
    ] as const) {
      numbers.answer = answer
      await tireless.button(name === 'busy' ? '7 days' : '90 days').click()
      const asked = await tenMinutes(numbers)
      // The days, and those before.
      t.ok(asked >= 8 && asked <= 32, `${name}: ${asked} times in ten minutes`)
    }
    const health = await between('health', 'GET', tireless)
    health.answer = refused
    await tireless.button('Year').click()
    await tireless.button('Try now').waitFor()
    const before = numbers.asked
    const asked = await tenMinutes(health)
    t.ok(asked >= 4 && asked <= 20, `away: ${asked} times in ten minutes`)
    // Two may have been on their way.
    t.ok(numbers.asked - before <= 2, 'and nothing else is asked for meanwhile')
    await health.release()
    numbers.answer = problem(429, 'rate_limited', { 'Retry-After': '300' })
    // It may have found the service by itself just now.
    await tireless
      .button('Try now')
      .click({ timeout: 2_000 })
      .catch(() => {})
    await tireless.sees('The service asks for 300 seconds.')
    const limited = numbers.asked
    for (let second = 0; second < 290; second += 10) await clock.runFor(10_000)
    t.equal(numbers.asked, limited, 'not before it may')
    await numbers.release()
    await clock.runFor(100_000)
    await tireless.sees('When they work')
    // A call that was under way when its fake answer was taken away ends by the real clock alone: that is not waited for.
  })

  t.test('a service that was killed is found again by itself, with all that was typed', async (t) => {
    const port = await freePort()
    const first = await ready(launch(t, port, onDatabase(service.databaseUrl)))
    const guest = await visit()
    await guest.context.addCookies([{ name: 'svc_token', value: bob.token, url: first.url, httpOnly: true }])
    await guest.page.goto(`${first.url}/w/${globex.id}/settings`)
    const editor = guest.page.getByLabel(/as JSON/)
    await editor.fill('{ "ext.kept": 1 }')
    first.child.kill('SIGKILL')
    await first.ended
    await guest.button('Save').click()
    await guest.page.getByRole('alert').getByText('The service cannot be reached.').waitFor()
    await ready(launch(t, port, onDatabase(service.databaseUrl)))
    const trouble = guest.page.getByRole('status').getByText('The service cannot be reached.')
    await trouble.waitFor({ state: 'detached' })
    await guest.context.setOffline(true)
    await trouble.waitFor()
    await guest.context.setOffline(false)
    await trouble.waitFor({ state: 'detached' })
    t.equal(await editor.inputValue(), '{ "ext.kept": 1 }')
    await guest.button('Save').click()
    await guest.sees('Saved.')
    t.strictSame(complaints(guest), [])
  })

  t.test('a screen that is opened while there is no network comes with the network', async (t) => {
    const guest = await visit(ada)
    await guest.open('/')
    await guest.context.setOffline(true)
    await guest.button('ada').click()
    await guest.link('Account').click()
    await guest.sees('The service cannot be reached.')
    await guest.context.setOffline(false)
    await guest.sees('Plan: pro')
    t.strictSame(complaints(guest), [])
  })
}
