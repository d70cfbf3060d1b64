import t from 'tap'
import { DASHBOARD, type Service, startService } from './service.js'

const verify = (service: Service, body: unknown) => service.request('POST', '/api/auth/verify', { body })

t.test('a token of the repository host is exchanged for a session', async (t) => {
  const service = await startService(t)
  const user = service.repohost.addUser('Ada')
  const reply = await verify(service, { repohost_token: user.token })
  t.equal(reply.status, 200)
  t.strictSame(Object.keys(reply.body).sort(), ['avatar_url', 'login', 'token'])
  t.match(reply.body, { login: 'Ada', avatar_url: user.avatar_url })
  t.equal(reply.headers.get('cache-control'), 'no-store')
  t.match(await verify(service, { repohost_token: 'ghp_unknown' }), {
    status: 401,
    body: { code: 'repohost_token_invalid' },
  })
})

t.test('what is not a token is refused before the host is asked', async (t) => {
  const service = await startService(t)
  for (const token of ['', 'a b', 'a\nb', 'ü', 'x'.repeat(256), 7, null, ['x']]) {
    t.match(await verify(service, { repohost_token: token }), {
      status: 400,
      body: { code: 'validation_failed' },
    })
  }
  t.equal((await verify(service, {})).status, 400)
  t.equal((await verify(service, undefined)).status, 400)
  t.strictSame(service.repohost.requests, [])
})

t.test('a host that fails is told apart from a token that is wrong', async (t) => {
  const service = await startService(t)
  const { token } = service.repohost.addUser('ada')
  for (const fault of ['status-500', 'html', 'redirect', 'reset', 'huge'] as const) {
    service.repohost.fault = fault
    const reply = await verify(service, { repohost_token: token })
    t.match(reply, { status: 502, body: { code: 'upstream_failed', upstream: 'repohost' } }, fault)
  }
  service.repohost.fault = 'rate-limited'
  const limited = await verify(service, { repohost_token: token })
  t.equal(limited.status, 502)
  t.equal(limited.headers.get('retry-after'), '17')

  const slow = Promise.all(
    (['hang', 'drip'] as const).map(async (fault) => {
      service.repohost.fault = fault
      const started = Date.now()
      const reply = await verify(service, { repohost_token: token })
      t.match(reply, { status: 504, body: { code: 'upstream_timeout', upstream: 'repohost' } }, fault)
      t.ok(Date.now() - started < 7_000, 'it is given up after 5 s')
    }),
  )
  const health = await service.request('GET', '/api/health')
  t.equal(health.status, 200, 'other routes go on meanwhile')
  await slow
})

t.test('tokens of other OAuth apps can be kept out', async (t) => {
  const service = await startService(t, { env: { REPOHOST_ALLOWED_CLIENT_IDS: 'ours, also-ours' } })
  const stranger = service.repohost.addUser('eve', { clientId: 'theirs' })
  t.match(await verify(service, { repohost_token: stranger.token }), {
    status: 401,
    body: { code: 'repohost_token_invalid' },
  })
  await service.signIn('ada', { clientId: 'also-ours' })
  await service.signIn('bob')
})

t.test('a rename follows the person, and a freed login brings the newcomer nothing', async (t) => {
  const service = await startService(t)
  const ada = await service.signIn('ada')
  const profile = (await ada.get('/api/me')).body
  await ada.push('ada/dotfiles', { 'ext.secret': 'mine' })

  service.repohost.renameUser(ada.repohostId, 'lovelace')
  const newcomer = await service.signIn('ADA', { id: 77 })
  const freed = (await ada.get('/api/me')).body
  t.match(freed, { id: profile.id, login: `ada.${ada.repohostId}` })
  t.match((await newcomer.get('/api/me')).body, { login: 'ADA' })
  t.not((await newcomer.get('/api/me')).body.id, profile.id)
  t.match(await newcomer.get('/api/settings/ada/dotfiles'), { status: 404, body: { code: 'never_synced' } })
  t.strictSame((await newcomer.get('/api/projects')).body.projects, [])
  t.strictSame((await newcomer.get('/api/team/me')).body.workspaces, [])

  const renamed = await service.signIn('lovelace')
  t.match((await renamed.get('/api/me')).body, { id: profile.id, login: 'lovelace' })
  t.match((await renamed.get('/api/settings/ada/dotfiles')).body, { settings: { 'ext.secret': 'mine' } })

  const own = await newcomer.push('ada/dotfiles', { 'ext.secret': 'new' })
  t.match(own, { status: 200, body: { version: 1, workspace_created: true } })
  t.match((await renamed.get('/api/settings/ada/dotfiles')).body, { settings: { 'ext.secret': 'mine' } })
})

t.test('people who exchange their logins at the same moment all get in', async (t) => {
  const service = await startService(t)
  const callers = await Promise.all(['a', 'b', 'c', 'd'].map((login) => service.signIn(login)))
  const users = callers.map(({ repohostId, repohostToken }) => ({ repohostId, repohostToken }))
  for (let round = 1; round <= 5; round++) {
    for (const [index, { repohostId }] of users.entries()) {
      service.repohost.renameUser(repohostId, 'abcd'[(index + round) % 4] ?? '')
    }
    const replies = await Promise.all(
      users.map(({ repohostToken }) => verify(service, { repohost_token: repohostToken })),
    )
    t.strictSame(
      replies.map(({ status }) => status),
      [200, 200, 200, 200],
    )
  }
})

/** A browser: keeps cookies, follows nothing by itself. */
const browser = (service: Service) => {
  const cookies = new Map<string, string>()
  const remember = (header: string[]) => {
    for (const line of header) {
      const [name = '', value = ''] = (line.split(';')[0] ?? '').split('=')
      if (value === '') cookies.delete(name)
      else cookies.set(name, value)
    }
  }
  return {
    cookies,
    get: async (path: string, headers: Record<string, string> = {}) => {
      const Cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
      const reply = await service.request('GET', path, { headers: { ...(Cookie && { Cookie }), ...headers } })
      remember(reply.headers.getSetCookie())
      return reply
    },
  }
}

/** What the host's consent page answers: the path of the callback that the browser is sent to. */
const consent = async (location: string | null) => {
  const reply = await fetch(location ?? '', { redirect: 'manual' })
  return new URL(reply.headers.get('location') ?? '')
}

t.test('the browser login ends with a session cookie on the dashboard', async (t) => {
  const service = await startService(t)
  const ada = service.repohost.addUser('ada')
  service.repohost.browserUser = ada.id
  const chrome = browser(service)

  const start = await chrome.get('/api/auth/repohost?return_to=/team/%E2%82%AC?tab=a', {
    Host: 'evil.example.com',
  })
  t.equal(start.status, 302)
  const consentPage = new URL(start.headers.get('location') ?? '')
  t.equal(consentPage.origin, service.repohost.url)
  t.equal(consentPage.searchParams.get('scope'), 'read:user')
  t.equal(consentPage.searchParams.get('redirect_uri'), `${DASHBOARD}/api/auth/callback`)
  t.ok((consentPage.searchParams.get('state') ?? '').length >= 22, 'the state has 128 bits')
  for (const line of start.headers.getSetCookie()) {
    t.match(line, /Max-Age=600; Path=\/; HttpOnly; Secure; SameSite=Lax/)
  }

  const callback = await consent(start.headers.get('location'))
  const finish = await chrome.get(callback.pathname + callback.search)
  t.equal(finish.status, 302)
  t.equal(finish.headers.get('location'), `${DASHBOARD}/team/%E2%82%AC?tab=a`)
  const session = finish.headers.getSetCookie().find((line) => line.startsWith('svc_token='))
  t.match(session, /Max-Age=2592000; Path=\/; HttpOnly; Secure; SameSite=Lax/)
  t.match((await chrome.get('/api/me')).body, { login: 'ada' })

  const replay = await chrome.get(callback.pathname + callback.search)
  t.match(replay, { status: 400, body: { code: 'oauth_state_invalid' } })
})

t.test('a state that is missing, wrong, foreign or replayed starts no session', async (t) => {
  const service = await startService(t)
  service.repohost.browserUser = service.repohost.addUser('ada').id
  const attacker = browser(service)
  const start = await attacker.get('/api/auth/repohost')
  const callback = await consent(start.headers.get('location'))
  const path = callback.pathname + callback.search

  const victim = browser(service)
  const refusals = [
    await victim.get(path),
    await victim.get('/api/auth/callback'),
    await victim.get('/api/auth/callback?code=x'),
    await attacker.get('/api/auth/callback?code=x&state=wrong'),
  ]
  for (const reply of refusals) {
    t.match(reply, { status: 400, body: { code: 'oauth_state_invalid' } })
    t.notOk(reply.headers.getSetCookie().some((line) => /^svc_token=./.test(line)))
  }
  const kept = new Map(attacker.cookies)
  t.equal((await attacker.get(path)).status, 302)
  for (const [name, value] of kept) attacker.cookies.set(name, value)
  t.equal((await attacker.get(path)).status, 400, 'even with all the cookies a state works once')
})

t.test('a login that the user or the host refuses ends on the dashboard with the reason', async (t) => {
  const service = await startService(t)
  const chrome = browser(service)
  const attempt = async () => {
    const start = await chrome.get('/api/auth/repohost')
    return consent(start.headers.get('location'))
  }
  service.repohost.browserUser = null
  const refused = await attempt()
  const said = await chrome.get(refused.pathname + refused.search)
  t.equal(said.headers.get('location'), `${DASHBOARD}/?auth_error=access_denied`)

  service.repohost.browserUser = service.repohost.addUser('ada').id
  for (const fault of ['status-500', 'html', 'reset', 'redirect'] as const) {
    service.repohost.fault = undefined
    const callback = await attempt()
    service.repohost.fault = fault
    const failed = await chrome.get(callback.pathname + callback.search)
    t.equal(failed.headers.get('location'), `${DASHBOARD}/?auth_error=upstream_failed`, fault)
    t.notOk(chrome.cookies.has('svc_token'))
  }
  service.repohost.fault = undefined
  const spoiled = await attempt()
  const wrongCode = await chrome.get(
    `/api/auth/callback?code=wrong&state=${spoiled.searchParams.get('state')}`,
  )
  t.equal(wrongCode.headers.get('location'), `${DASHBOARD}/?auth_error=upstream_failed`)
})

t.test('the way back is a path of the dashboard and nothing else', async (t) => {
  const service = await startService(t)
  for (const path of [
    '//evil.example.com',
    '/\\evil.example.com',
    'https://evil.example.com',
    'evil',
    '/a%0d%0ab',
    '',
  ]) {
    const reply = await service.request(
      'GET',
      `/api/auth/repohost?return_to=${encodeURIComponent(decodeURIComponent(path))}`,
    )
    t.match(reply, { status: 400, body: { code: 'validation_failed' } }, path)
  }
})

t.test('without an OAuth app the browser login says so', async (t) => {
  const service = await startService(t, { env: { REPOHOST_CLIENT_ID: '', REPOHOST_CLIENT_SECRET: '' } })
  for (const path of ['/api/auth/repohost', '/api/auth/callback?code=x&state=y']) {
    t.match(await service.request('GET', path), { status: 503, body: { code: 'oauth_not_configured' } })
  }
})
