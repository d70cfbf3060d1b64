/** Failures on every screen: the message helps, input is kept, and the service gets few requests. */
import type { Locator } from 'playwright-core'
import t from 'tap'
import { freePort } from '../process.js'
import { startService } from '../service.js'
import { countOf, type PausedRequest, startScene, type Visitor } from './page.js'

/** Clicks a button that the page itself may just have removed, because it tries again after a while. */
const clickIfThere = (button: Locator) =>
  button.click({ timeout: 3_000 }).catch((error) => {
    if (error.name !== 'TimeoutError') throw error
  })

const scene = await startScene(t, {
  env: { EXTENSION_PREFIX: 'ext', ADMIN_KEYS: 'the-key', REPOHOST_CLIENT_ID: '', REPOHOST_CLIENT_SECRET: '' },
})

type Respond = (request: PausedRequest) => Promise<unknown>

const problem =
  (status: number, code: string, headers = {}): Respond =>
  (request) =>
    request.answer(
      status,
      { 'X-Request-Id': `request-${status}`, 'Content-Type': 'application/problem+json', ...headers },
      JSON.stringify({ status, code, detail: `What to do about ${code}.` }),
    )
const proxyPage =
  (status: number): Respond =>
  (request) =>
    request.answer(status, { 'Content-Type': 'text/html' }, '<h1>Something else</h1>')
const refused: Respond = (request) => request.refuse()
const ended = problem(401, 'token_revoked')

const NOT_THE_SERVICE =
  'The response didn’t come from the service. It may come from a proxy or a network sign-in page. Try again in a moment, then reload the page.'

/** The responses that any call may get, and the texts that must appear. */
const faults: [answer: Respond, ...texts: string[]][] = [
  [problem(402, 'pro_required'), 'This requires a subscription. Subscribe under Account.', 'request-402'],
  [proxyPage(200), NOT_THE_SERVICE],
  [
    problem(403, 'admin_required'),
    'Only workspace admins can do this. Ask an admin. Admins are listed under People.',
    'request-403',
  ],
  [
    problem(404, 'workspace_not_found'),
    'Workspace not found. The workspace was deleted, or you aren’t a member. Ask an admin for an invite.',
    'request-404',
  ],
  [
    problem(429, 'rate_limited', { 'Retry-After': '77' }),
    'Too many requests. Wait a moment, then try again. Your input is kept. Wait at least 77 s.',
    'request-429',
  ],
  [
    problem(500, 'internal_error'),
    'The service ran into an error. Try again later. If it happens again, send the request ID to the operator.',
    'request-500',
  ],
  [proxyPage(502), NOT_THE_SERVICE],
  [
    problem(503, 'unavailable'),
    'The service is busy or starting. Try again in a moment. Your input is kept.',
    'request-503',
  ],
]
const conflicts: typeof faults = [
  [
    problem(409, 'last_admin'),
    'A workspace needs at least one admin. Make another member an admin first.',
    'request-409',
  ],
  [
    problem(412, 'if_match_failed'),
    'The request failed. The page may be out of date. Reload it.',
    'request-412',
  ],
]

let turn = 0
/** The next fault in turn, so that each meets some screens. EVERY_FAULT tries all on every screen. */
const nextOf = (all: typeof faults): typeof faults => {
  if (process.env.EVERY_FAULT) return all
  const from = turn++ % all.length
  return all.slice(from, from + 1)
}

if (typeof scene === 'string') t.test('the page recovers from failures', { skip: scene }, async () => {})
else {
  const { service, visit } = scene
  const [ada, bob] = await service.signInAll('ada', 'bob')
  const { id, code } = await service.workspace(ada, { members: [bob] })
  const globex = await service.workspace(bob, { name: 'Globex', patterns: ['globex/*'] })
  await ada.push('acme/web', { 'ext.theme': 'light' })
  await ada.push('acme/web', { 'ext.theme': 'dark' })
  const today = new Date().toISOString().slice(0, 10)
  await ada.post('/api/team/active-minutes', { entries: [{ repo: 'acme/web', day: today, minutes: 30 }] })

  const visitor = await visit(ada)
  const { page } = visitor

  /** The errors of the page, except those that the browser writes about every failed call. */
  const complaints = (of = visitor) =>
    of.complaints.filter((line) => !line.includes('Failed to load resource'))

  /** Answers one call with `answer`, which tests can change, until it is released. */
  const intercept = async (call: string, method: string, of = visitor) => {
    const fake = { answer: ended, asked: 0 }
    const release = await of.intercept(`*/api/${call}`, (request) => {
      if (request.method !== method) return request.pass()
      fake.asked++
      return fake.answer(request)
    })
    return Object.assign(fake, { release })
  }

  /** The session has ended. Signs in again in the dialog on top of the page. */
  const signInAgain = async () => {
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' })
    await visitor.tokenField().fill(ada.repohostToken)
    await dialog.getByRole('button', { name: 'Sign in with token' }).click()
    await dialog.waitFor({ state: 'detached' })
  }

  const reads: [path: string, calls: string[], seen: string | RegExp][] = [
    [`/w/${id}/me`, ['team/me', 'team/dashboard/mine?*'], 'My active time by day'],
    ['/account/privacy', ['me/views?*', 'me/recording'], 'Recording preferences'],
    [`/w/${id}`, ['team/dashboard?*'], 'Active time by day'],
    [`/w/${id}/people`, [`team/workspaces/${id}/members?*`, `team/workspaces/${id}/invites`], 'you'],
    [`/w/${id}/repos`, ['projects?*', 'team/dashboard?*'], 'pushed settings, v2'],
    [`/w/${id}/repos/acme/web`, ['team/dashboard?*'], 'Active time by day'],
    [
      `/w/${id}/repos/acme/web/settings`,
      [
        'team/effective-config?*',
        `team/workspaces/${id}/settings`,
        'projects?*',
        'settings/acme/web?*',
        'settings/acme/web/versions?*',
        'settings/acme/web/versions/1?*',
      ],
      'Matched pattern: acme/*. Idle window: 5 minutes.',
    ],
    [
      `/w/${id}/settings`,
      [`team/workspaces/${id}/settings`, `team/workspaces/${id}/settings/versions`],
      'Idle window in minutes',
    ],
    [`/w/${id}/settings/privacy`, [`team/workspaces/${id}/settings`], 'Visible to admins'],
    [
      `/w/${id}/settings/integrations`,
      [`team/workspaces/${id}/keys`],
      'No access keys. To create one, select “Create access key”.',
    ],
    [`/w/${id}/settings/audit`, [`team/workspaces/${id}/audit?*`], /^created the workspace/],
    [`/join/${code}`, [`team/invites/${code}`], 'Recorded repositories'],
    ['/account', ['me'], 'Signed in with GitHub.'],
    [
      '/account/editors',
      ['me', 'me/editor-projects', 'me/keys'],
      'No heartbeat has arrived yet. It appears here by itself.',
    ],
  ]
  const screenOf = (path: string) => path.replaceAll(id, ':id').replace(code, ':code')

  for (const [path, calls, seen] of reads) {
    t.test(`${screenOf(path)} reports a failed read and recovers`, async (t) => {
      for (const [place, call] of calls.entries()) {
        const fake = await intercept(call, 'GET')
        const chosen = place === 0 ? nextOf(faults) : faults.slice(-1)
        for (const [index, [response, ...texts]] of chosen.entries()) {
          fake.answer = response
          if (index === 0) await page.goto(service.url + path)
          else await visitor.button('Try again').first().click()
          for (const text of texts) await visitor.sees(text)
        }
        fake.answer = refused
        await visitor.button('Try again').first().click()
        await visitor.sees('Can’t reach the service.')
        t.equal(await countOf(visitor.button(/^Try/), 1), 1, `${call}: one button to retry`)
        t.equal(await countOf(page.locator('.wait'), 0), 0, `${call}: nothing keeps loading`)
        // Every failed read learns of the ended session in the same way.
        if (place === 0) {
          fake.answer = ended
          await clickIfThere(visitor.button('Try again'))
          await visitor.heading('Your session has ended').waitFor()
        }
        await fake.release()
        await (place === 0 ? signInAgain() : clickIfThere(visitor.button('Try again')))
        await visitor.sees(seen)
        await visitor.settled()
        t.equal(await countOf(page.getByRole('alert'), 0), 0, `${call}: no failure is left`)
        t.equal(page.url(), service.url + path)
      }
      t.strictSame(complaints(), [])
    })
  }

  interface Writing {
    path: string
    /** The buttons that open the form, if it isn't open. */
    opener?: string | string[]
    /** A field and an option that open the form. */
    picked?: [label: string, option: string]
    checked?: string
    /** The input for each field. */
    typed?: Record<string, string>
    submit: string
    method: string
    call: string
    /** Appears after success. Without it, the request is never sent for real. */
    done?: string | RegExp
    of?: (visitor: Visitor) => Locator
  }
  const inForm = (text: string) => () => page.locator('form', { hasText: text })
  const inDialog = () => page.locator('dialog[open]').first()
  /** The text of a field or of the JSON editor. */
  const contentOf = async (field: Locator) =>
    (await field.getAttribute('contenteditable')) === null ? field.inputValue() : field.innerText()
  const writes: Record<string, Writing> = {
    'recording preferences': {
      path: '/account/privacy',
      typed: { 'Never record in these repositories': 'acme/secret-*' },
      submit: 'Save preferences',
      method: 'PUT',
      call: 'me/recording',
      done: 'Preferences saved',
      of: inForm('Pause recording'),
    },
    'a new workspace': {
      path: '/account',
      opener: ['Workspace: Acme', 'Create or join a workspace'],
      typed: { Name: 'Initech', Repositories: 'initech/*' },
      checked: 'Visible to admins',
      submit: 'Create workspace',
      method: 'POST',
      call: 'team/workspaces/create',
      done: 'Initech',
      of: inForm('Create workspace'),
    },
    'the deletion of an account': {
      path: '/account/privacy',
      opener: 'Delete my account',
      typed: { 'Type ada to confirm': 'ada' },
      submit: 'Delete account',
      method: 'DELETE',
      call: 'me',
      of: inDialog,
    },
    'an invite': {
      path: `/w/${id}/people`,
      opener: 'Invite people',
      typed: { 'Maximum uses (leave empty for no limit)': '3' },
      submit: 'Create invite',
      method: 'POST',
      call: `team/workspaces/${id}/invites`,
      done: 'Done',
      of: inDialog,
    },
    'a change of role': {
      path: `/w/${id}/people`,
      picked: ['Role of bob', 'admin'],
      submit: 'Make admin',
      method: 'PATCH',
      call: `team/workspaces/${id}/members`,
      done: 'bob is now an admin',
      of: inDialog,
    },
    'a removal': {
      path: `/w/${id}/people`,
      opener: ['Actions for bob', 'Remove from workspace'],
      submit: 'Remove member',
      method: 'DELETE',
      call: `team/workspaces/${id}/members?*`,
      of: inDialog,
    },
    'repository patterns': {
      path: `/w/${id}/settings/general`,
      typed: { 'Patterns, one per line': 'acme/*\nada/*\nglobex/*' },
      submit: 'Save patterns',
      method: 'PUT',
      call: `team/workspaces/${id}/patterns`,
    },
    'an override': {
      path: `/w/${id}/repos/acme/api/settings`,
      opener: 'Create override',
      typed: { 'Override (JSON)': '{ "ext.theme": "blue" }' },
      submit: 'Save override',
      method: 'PUT',
      call: `team/workspaces/${id}/project-settings/acme/api`,
      done: 'Remove override',
    },
    'a change of settings': {
      path: `/w/${id}/settings`,
      typed: { 'Editor settings (JSON)': '{ "ext.kept": true }' },
      submit: 'Save settings',
      method: 'PATCH',
      call: `team/workspaces/${id}/settings`,
      done: 'Settings saved',
    },
    'a new name': {
      path: `/w/${id}/settings/general`,
      typed: { 'Workspace name': 'Acme Corporation' },
      submit: 'Rename workspace',
      method: 'PATCH',
      call: `team/workspaces/${id}`,
      done: 'Acme Corporation general settings',
    },
    'the deletion of a workspace': {
      path: `/w/${id}/settings/general`,
      opener: 'Delete workspace',
      typed: { 'Type Acme Corporation to confirm': 'Acme Corporation' },
      submit: 'Delete workspace',
      method: 'DELETE',
      call: `team/workspaces/${id}`,
      of: inDialog,
    },
    'a restored version': {
      path: `/w/${id}/repos/acme/web/settings`,
      opener: 'Restore version 1',
      submit: 'Restore version 1',
      method: 'POST',
      call: 'settings/acme/web/restore?*',
      done: /^Version 3 by ada, /,
      of: inDialog,
    },
    'a time zone': {
      path: '/account',
      picked: ['Time zone', 'UTC'],
      submit: 'Save time zone',
      method: 'PUT',
      call: 'me/timezone',
      done: 'Time zone saved',
    },
    'an editor key': {
      path: '/account/editors',
      submit: 'Create editor key',
      method: 'POST',
      call: 'me/keys',
      done: '.wakatime.cfg',
    },
    'a sign-out everywhere': {
      path: '/account',
      submit: 'Sign out everywhere',
      method: 'POST',
      call: 'auth/logout',
    },
    'joining a workspace': {
      path: `/join/${globex.code}`,
      submit: 'Join as ada',
      method: 'POST',
      call: 'team/workspaces/join',
      done: 'My activity',
    },
  }

  for (const [what, row] of Object.entries(writes)) {
    t.test(`input is kept when ${what} can’t be sent, and can be sent again`, async (t) => {
      const {
        path,
        opener,
        picked,
        checked,
        typed = {},
        submit,
        method,
        call,
        done,
        of = () => page.locator('main'),
      } = row
      await visitor.open(path)
      for (const name of [opener ?? []].flat()) await visitor.button(name).click()
      if (picked)
        await visitor.page.getByRole('combobox', { name: picked[0], exact: true }).selectOption(picked[1])
      if (checked) await visitor.field(checked).check()
      const form = of(visitor)
      const field = (label: string) => form.getByLabel(label, { exact: true })
      for (const [label, text] of Object.entries(typed)) await field(label).fill(text)
      const send = () => form.getByRole('button', { name: submit, exact: true }).click()
      const fake = await intercept(call, method)
      const chosen = nextOf([...conflicts, ...faults])
      for (const [response, ...texts] of chosen) {
        fake.answer = response
        await send()
        for (const text of texts) await visitor.sees(text)
      }
      fake.answer = refused
      await send()
      await page.getByRole('alert').getByText('Can’t reach the service.', { exact: true }).waitFor()
      fake.answer = ended
      await send()
      await visitor.heading('Your session has ended').waitFor()
      t.equal(fake.asked, chosen.length + 2, 'nothing is sent without a click')
      await fake.release()
      await signInAgain()
      for (const [label, text] of Object.entries(typed)) t.equal(await contentOf(field(label)), text)
      t.equal(await countOf(page.getByRole('alert'), 0), 0)
      t.equal(page.url(), service.url + path)
      if (done) {
        await send()
        await visitor.page.getByText(done, { exact: true }).or(visitor.button(done)).first().waitFor()
      }
      t.strictSame(complaints(), [])
    })
  }

  t.test('a wrong admin key or token can be corrected', async (t) => {
    const guest = await visit()
    for (const [path, label, button, call, method] of [
      ['/funnel', 'Admin key', 'Show funnel', 'admin/funnel', 'GET'],
      [`/join/${code}`, /^\S+ access token$/, 'Sign in with token', 'auth/verify', 'POST'],
    ] as const) {
      await guest.page.goto(service.url + path)
      const field = guest.field(label)
      await field.fill('typed')
      const fake = await intercept(call, method, guest)
      for (const [response, ...texts] of nextOf(faults)) {
        fake.answer = response
        await guest.button(button).click()
        for (const text of texts) await guest.sees(text)
      }
      fake.answer = refused
      await guest.button(button).click()
      await guest.sees('Can’t reach the service.')
      await fake.release()
      await guest.button(button).click()
      await guest.sees(
        path === '/funnel'
          ? 'Invalid admin key. Use a key from ADMIN_KEYS.'
          : 'GitHub rejected this token. Copy the token again, or create a new one.',
      )
      t.equal(await field.inputValue(), 'typed')
    }
    t.strictSame(complaints(guest), [])
  })

  t.test('a malformed response breaks one screen but not the navigation', async (t) => {
    const fake = await intercept('team/dashboard?*', 'GET')
    fake.answer = (request) =>
      request.answer(200, { 'Content-Type': 'application/json' }, JSON.stringify({ totals: null }))
    await page.goto(`${service.url}/w/${id}`)
    await visitor.sees('Can’t show this page. The service may have been updated.')
    await visitor.link('People').click()
    await visitor.heading('Acme Corporation people').waitFor()
    await fake.release()
    await visitor.link('Team').click()
    await visitor.sees('Active time by day')
    t.strictSame(complaints(), [])
  })

  t.test('a request times out with a message, which warns if a change may have been made', async () => {
    const guest = await visit(ada, { own: true })
    await guest.page.clock.install()
    const reading = await intercept('team/dashboard?*', 'GET', guest)
    reading.answer = async () => {}
    await guest.page.goto(`${service.url}/w/${id}`)
    await guest.heading(/^Acme/).waitFor()
    await guest.page.clock.runFor(15_100)
    await guest.sees('The request timed out. The service or your connection may be slow. Try again.')
    await reading.release()
    await clickIfThere(guest.button('Try again'))
    await guest.sees('Active time by day')
    await guest.link('Settings').click()
    await guest.field('Editor settings (JSON)').fill('{ "ext.late": 1 }')
    const writing = await intercept(`team/workspaces/${id}/settings`, 'PATCH', guest)
    writing.answer = async () => {}
    await guest.button('Save settings').click()
    await guest.page.clock.runFor(15_100)
    await guest.sees(
      'The request timed out. The service may have made the change. Check before you try again.',
    )
    await writing.release()
    await guest.button('Save settings').click()
    await guest.sees('Settings saved')
  })

  t.test('retries back off and respect Retry-After', async (t) => {
    const guest = await visit(ada, { own: true })
    const { clock } = guest.page
    await clock.install()
    await guest.open(`/w/${id}`)
    /** The requests in ten minutes, in steps that let responses arrive. */
    const tenMinutes = async (fake: { asked: number }) => {
      const before = fake.asked
      for (let second = 0; second < 600; second += 10) await clock.runFor(10_000)
      return fake.asked - before
    }
    const numbers = await intercept('team/dashboard?*', 'GET', guest)
    for (const [name, response] of [
      ['busy', problem(503, 'unavailable')],
      // A browser extension may take the address for an advertisement.
      ['blocked', refused],
    ] as const) {
      numbers.answer = response
      await guest.button(name === 'busy' ? '7 days' : '90 days').click()
      const asked = await tenMinutes(numbers)
      // The selected range and the previous one.
      t.ok(asked >= 8 && asked <= 32, `${name}: ${asked} requests in ten minutes`)
    }
    const health = await intercept('health', 'GET', guest)
    health.answer = refused
    await guest.button('Year').click()
    await guest.button('Reconnect now').waitFor()
    const before = numbers.asked
    const asked = await tenMinutes(health)
    t.ok(asked >= 4 && asked <= 20, `unreachable: ${asked} requests in ten minutes`)
    // Two requests may have been in flight.
    t.ok(numbers.asked - before <= 2, 'only the health check is repeated')
    await health.release()
    numbers.answer = problem(429, 'rate_limited', { 'Retry-After': '300' })
    await clickIfThere(guest.button('Reconnect now'))
    await guest.sees(
      'Too many requests. Wait a moment, then try again. Your input is kept. Wait at least 300 s.',
    )
    const limited = numbers.asked
    // The clock runs on by itself as well.
    for (let second = 0; second < 200; second += 10) await clock.runFor(10_000)
    t.equal(numbers.asked, limited, 'no request before Retry-After')
    await numbers.release()
    await clock.runFor(200_000)
    await guest.sees('Active time by day')
    // A call that was in flight when its fake response was released ends by the real clock. The test doesn't wait for it.
  })

  t.test('the page reconnects after an outage and keeps the input', async (t) => {
    const port = await freePort()
    const start = () => {
      const env = { SITE_URL: '', BASE_URL: `http://127.0.0.1:${port}`, EXTENSION_PREFIX: 'ext' }
      return startService(t, { beside: service, port, env })
    }
    const first = await start()
    const guest = await visit()
    await guest.context.addCookies([{ name: 'svc_token', value: bob.token, url: first.url, httpOnly: true }])
    await guest.page.goto(`${first.url}/w/${globex.id}/settings`)
    const editor = guest.field('Editor settings (JSON)')
    await editor.fill('{ "ext.kept": 1 }')
    await first.app.close()
    await guest.button('Save settings').click()
    await guest.page.getByRole('alert').getByText('Can’t reach the service.', { exact: true }).waitFor()
    await start()
    const banner = guest.page.getByRole('status').getByText('Can’t reach the service.', { exact: true })
    await banner.waitFor({ state: 'detached' })
    await guest.context.setOffline(true)
    await banner.waitFor()
    await guest.context.setOffline(false)
    await banner.waitFor({ state: 'detached' })
    t.equal(await contentOf(editor), '{ "ext.kept": 1 }')
    await guest.button('Save settings').click()
    await guest.sees('Settings saved')
    t.strictSame(complaints(guest), [])
  })

  t.test('a screen opened offline loads once the network is back', async (t) => {
    const guest = await visit(ada)
    await guest.open('/')
    await guest.context.setOffline(true)
    await guest.page.getByRole('banner').getByRole('button', { name: 'ada', exact: true }).click()
    await guest.link('Profile').click()
    await guest.sees('Can’t reach the service.')
    await guest.context.setOffline(false)
    await guest.sees('Signed in with GitHub.')
    t.strictSame(complaints(guest), [])
  })
}
