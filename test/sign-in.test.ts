import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import postgres from 'postgres'
import t from 'tap'
import { repohostKinds } from '../schemas/common.js'
import { createClients } from '../src/app.js'
import { disableAccount, findAccount } from '../src/operator/accounts.js'
import { DASHBOARD, reuseService, type Service, startService } from './service.js'
import { until } from './until.js'

const verify = (service: Service, body: unknown) => service.request('POST', '/api/auth/verify', { body })

t.test('a repository host token is exchanged for a session', async (t) => {
  for (const kind of repohostKinds)
    await t.test(kind, async (t) => {
      const service = await reuseService(t, kind)
      const user = service.repohost.addUser('Ada')
      const reply = await verify(service, { repohost_token: user.token })
      t.equal(reply.status, 200)
      t.strictSame(Object.keys(reply.body).sort(), ['avatar_url', 'login', 'token'])
      t.hasStrict(reply.body, { login: 'Ada', avatar_url: user.avatar_url })
      t.equal(reply.headers.get('cache-control'), 'no-store')
      t.hasStrict(await verify(service, { repohost_token: 'ghp_unknown' }), {
        status: 401,
        body: { code: 'repohost_token_invalid' },
      })
    })
})

t.test('a malformed token is rejected before the host is asked', async (t) => {
  const service = await reuseService(t)
  for (const token of ['', 'a b', 'a\nb', 'ü', 'x'.repeat(256), 7, null, ['x']]) {
    t.hasStrict(await verify(service, { repohost_token: token }), {
      status: 400,
      body: { code: 'validation_failed' },
    })
  }
  t.equal((await verify(service, {})).status, 400)
  t.equal((await verify(service, undefined)).status, 400)
  t.strictSame(service.repohost.requests, [])
})

t.test('a failing host and a wrong token get different errors', async (t) => {
  const service = await reuseService(t)
  const { token } = service.repohost.addUser('ada')
  for (const [index, fault] of (['status-500', 'html', 'redirect', 'reset', 'huge'] as const).entries()) {
    service.repohost.fault = fault
    const reply = await verify(service, { repohost_token: token })
    t.hasStrict(reply, { status: 502, body: { code: 'upstream_failed', upstream: 'repohost' } }, fault)
    t.equal(service.repohost.requests.length, index + 1, 'the host was really asked')
  }
  service.repohost.fault = 'rate-limited'
  const limited = await verify(service, { repohost_token: token })
  t.equal(limited.status, 502)
  t.equal(limited.headers.get('retry-after'), '17')
})

t.test('tokens from other OAuth apps can be rejected', async (t) => {
  for (const kind of ['github', 'gitlab'] as const) {
    const service = await startService(t, { kind, env: { REPOHOST_ALLOWED_CLIENT_IDS: 'ours, also-ours' } })
    const stranger = service.repohost.addUser('eve', { clientId: 'theirs' })
    t.hasStrict(await verify(service, { repohost_token: stranger.token }), {
      status: 401,
      body: { code: 'repohost_token_invalid' },
    })
    await service.signIn('ada', { clientId: 'also-ours' })
    await service.signIn('bob')
  }
})

t.test('a renamed person keeps the account, and the login’s next owner can’t access it', async (t) => {
  for (const kind of repohostKinds)
    await t.test(kind, async (t) => {
      const service = await reuseService(t, kind)
      const ada = await service.signIn('ada')
      const profile = (await ada.get('/api/me')).body
      await ada.push('ada/dotfiles', { 'ext.secret': 'mine' })

      service.repohost.renameUser(ada.repohostId, 'lovelace')
      const newcomer = await service.signIn('ADA', { id: 77 })
      const freed = (await ada.get('/api/me')).body
      t.hasStrict(freed, { id: profile.id, login: `ada.${ada.repohostId}` })
      t.hasStrict((await newcomer.get('/api/me')).body, { login: 'ADA' })
      t.not((await newcomer.get('/api/me')).body.id, profile.id)
      t.hasStrict(await newcomer.get('/api/settings/ada/dotfiles'), {
        status: 404,
        body: { code: 'never_synced' },
      })
      t.strictSame((await newcomer.get('/api/projects')).body.projects, [])
      t.strictSame((await newcomer.get('/api/team/me')).body.workspaces, [])

      const renamed = await service.signIn('lovelace')
      t.hasStrict((await renamed.get('/api/me')).body, { id: profile.id, login: 'lovelace' })
      t.hasStrict((await renamed.get('/api/settings/ada/dotfiles')).body, {
        settings: { 'ext.secret': 'mine' },
      })

      const own = await newcomer.push('ada/dotfiles', { 'ext.secret': 'new' })
      t.match(own, { status: 200, body: { version: 1, workspace_created: true } })
      t.hasStrict((await renamed.get('/api/settings/ada/dotfiles')).body, {
        settings: { 'ext.secret': 'mine' },
      })
    })
})

t.test('a login is freed even if its holder’s fallback name is taken', async (t) => {
  const service = await reuseService(t)
  const ada = await service.signIn('ada', { id: 5 })
  const twin = await service.signIn('Ada.5', { id: 6 })
  service.repohost.renameUser(5, 'lovelace')
  const second = await service.signIn('ada', { id: 7 })
  t.hasStrict((await ada.get('/api/me')).body, { login: 'ada.5.5' })
  t.hasStrict((await twin.get('/api/me')).body, { login: 'Ada.5' })

  service.repohost.renameUser(6, 'someone')
  const third = await service.signIn('ada.5', { id: 8 })
  t.hasStrict((await twin.get('/api/me')).body, { login: 'Ada.5.6' })
  t.hasStrict((await third.get('/api/me')).body, { login: 'ada.5' })

  service.repohost.renameUser(7, 'other')
  await service.signIn('ADA', { id: 9 })
  t.hasStrict((await second.get('/api/me')).body, { login: 'ada.7' })
  service.repohost.renameUser(8, 'eve')
  const real = await service.signIn('ada.7', { id: 10 })
  t.hasStrict(
    (await real.get('/api/me')).body,
    { login: 'ada.7' },
    'a temporary login is replaced by the real one',
  )
  t.hasStrict((await second.get('/api/me')).body, { login: 'ada.7.7' })
  const back = await service.signIn('lovelace')
  t.hasStrict((await back.get('/api/me')).body, { login: 'lovelace' })
})

t.test('the dashboard’s cookie comes with the token, and other pages get none', async (t) => {
  const service = await reuseService(t)
  const { token } = service.repohost.addUser('ada')
  const signIn = (headers: Record<string, string>, cookie: unknown = true) =>
    service.request('POST', '/api/auth/verify', { body: { repohost_token: token, cookie }, headers })
  const rejected: Record<string, string>[] = [
    {},
    { Origin: 'https://evil.example.com' },
    { Origin: 'null' },
    { 'Sec-Fetch-Site': 'cross-site' },
    { Origin: 'https://evil.example.com', 'Sec-Fetch-Site': 'same-origin' },
  ]
  for (const headers of rejected) {
    t.hasStrict(
      await signIn(headers),
      { status: 403, body: { code: 'csrf_rejected' } },
      JSON.stringify(headers),
    )
  }
  t.strictSame(service.repohost.requests, [], 'the host is not asked for a page that may not')
  t.match(await signIn({ Origin: DASHBOARD }, 'true'), { status: 400 })

  for (const headers of [{ Origin: DASHBOARD }, { 'Sec-Fetch-Site': 'same-origin' }]) {
    const reply = await signIn(headers as never)
    t.equal(reply.status, 200)
    t.strictSame(Object.keys(reply.body).sort(), ['avatar_url', 'login', 'token'])
    const cookie = `${reply.body.token}; Max-Age=2592000; Path=/; HttpOnly; Secure; SameSite=Lax`
    t.strictSame(reply.headers.getSetCookie(), [`svc_token=${cookie}`, `__Host-svc_token=${cookie}`])
  }
  const without = await signIn({ Origin: 'https://evil.example.com' }, false)
  t.equal(without.status, 200)
  t.strictSame(without.headers.getSetCookie(), [])
  const wrong = await service.request('POST', '/api/auth/verify', {
    body: { repohost_token: 'wrong', cookie: true },
    headers: { Origin: DASHBOARD },
  })
  t.equal(wrong.status, 401)
  t.strictSame(wrong.headers.getSetCookie(), [])
})

t.test('people who swap logins concurrently can all sign in', async (t) => {
  const service = await reuseService(t)
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

/** A browser that keeps cookies and follows no redirects. */
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

/** Returns the path of the callback to which the host's consent page sends the browser. */
const consent = async (location: string | null) => {
  const reply = await fetch(location ?? '', { redirect: 'manual' })
  return new URL(reply.headers.get('location') ?? '')
}

t.test('the browser login ends on the dashboard with a session cookie', async (t) => {
  for (const kind of repohostKinds)
    await t.test(kind, async (t) => {
      const service = await reuseService(t, kind)
      const ada = service.repohost.addUser('ada')
      service.repohost.browserUser = ada.id
      const chrome = browser(service)

      const start = await chrome.get('/api/auth/repohost?return_to=/team/%E2%82%AC?tab=a', {
        Host: 'evil.example.com',
      })
      t.equal(start.status, 302)
      const consentPage = new URL(start.headers.get('location') ?? '')
      t.equal(consentPage.origin, service.repohost.url)
      t.equal(consentPage.searchParams.get('scope'), kind === 'gitlab' ? 'read_user' : 'read:user')
      t.equal(consentPage.searchParams.get('redirect_uri'), `${DASHBOARD}/api/auth/callback`)
      t.ok((consentPage.searchParams.get('state') ?? '').length >= 22, 'the state has 128 bits')
      const [cookie = '', ...others] = start.headers.getSetCookie()
      t.same(others, [])
      t.match(
        cookie,
        /^__Host-oauth2-state-[\w-]{22,}=[\w-]{43}; Max-Age=600; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
      )

      const callback = await consent(start.headers.get('location'))
      const finish = await chrome.get(callback.pathname + callback.search)
      t.equal(finish.status, 302)
      t.equal(finish.headers.get('location'), `${DASHBOARD}/team/%E2%82%AC?tab=a`)
      const token = chrome.cookies.get('svc_token')
      const session = `${token}; Max-Age=2592000; Path=/; HttpOnly; Secure; SameSite=Lax`
      const set = finish.headers.getSetCookie().filter((line) => /^(__Host-)?svc_token=/.test(line))
      t.strictSame(set, [`svc_token=${session}`, `__Host-svc_token=${session}`])
      t.hasStrict((await chrome.get('/api/me')).body, { login: 'ada' })
      t.strictSame(
        [...chrome.cookies.keys()],
        ['svc_token', '__Host-svc_token'],
        'nothing of the login stays behind',
      )

      const replay = await chrome.get(callback.pathname + callback.search)
      t.hasStrict(replay, { status: 400, body: { code: 'oauth_state_invalid' } })
    })
})

t.test('a missing, wrong, replayed or stolen state starts no session', async (t) => {
  const service = await reuseService(t)
  service.repohost.browserUser = service.repohost.addUser('ada').id
  const attacker = browser(service)
  const start = await attacker.get('/api/auth/repohost')
  const callback = await consent(start.headers.get('location'))
  const path = callback.pathname + callback.search

  const victim = browser(service)
  const rejections = [
    await victim.get(path),
    await victim.get('/api/auth/callback'),
    await victim.get('/api/auth/callback?code=x'),
    await attacker.get('/api/auth/callback?code=x&state=wrong'),
  ]
  for (const reply of rejections) {
    t.hasStrict(reply, { status: 400, body: { code: 'oauth_state_invalid' } })
    t.notOk(reply.headers.getSetCookie().some((line) => /^svc_token=./.test(line)))
  }
  const kept = new Map(attacker.cookies)
  t.equal((await attacker.get(path)).status, 302)
  for (const [name, value] of kept) attacker.cookies.set(name, value)
  t.equal((await attacker.get(path)).status, 400, 'even with all the cookies a state works once')
})

t.test('several tabs can sign in concurrently, in any order', async (t) => {
  const service = await reuseService(t)
  const chrome = browser(service)
  const begin = async (tab: string) =>
    consent((await chrome.get(`/api/auth/repohost?return_to=/${tab}`)).headers.get('location'))
  const logins = (names: string[]) => names.map((login) => service.repohost.addUser(login))
  const [ada, bob] = logins(['ada', 'bob'])
  const finish = ({ pathname, search }: URL) => chrome.get(pathname + search)
  const inProgress = () => [...chrome.cookies.keys()].filter((name) => name.includes('oauth2')).length

  service.repohost.browserUser = ada?.id ?? null
  const first = await begin('first')
  service.repohost.browserUser = bob?.id ?? null
  const second = await begin('second')
  const third = await begin('third')
  t.equal(inProgress(), 3)
  for (const [tab, url, login, left] of [
    ['second', second, 'bob', 2],
    ['first', first, 'ada', 1],
    ['third', third, 'bob', 0],
  ] as const) {
    t.equal((await finish(url)).headers.get('location'), `${DASHBOARD}/${tab}`)
    t.hasStrict((await chrome.get('/api/me')).body, { login })
    t.equal(inProgress(), left)
    t.equal((await finish(url)).status, 400, 'each works once')
  }

  const tabs: URL[] = []
  for (let tab = 0; tab < 7; tab++) tabs.push(await begin(`${tab}`))
  t.equal(inProgress(), 5, 'the oldest are forgotten')
  const ends: (string | number)[] = []
  for (const tab of tabs.reverse()) {
    const { status, headers } = await finish(tab)
    ends.push(headers.get('location')?.slice(DASHBOARD.length) ?? status)
  }
  t.same(ends, ['/6', '/5', '/4', '/3', '/2', 400, 400])

  await begin('left')
  for (const name of ['a b', 'é', 'x'.repeat(2_000), '('])
    chrome.cookies.set(`__Host-oauth2-state-${name}`, 'strange')
  chrome.cookies.set('__Host-oauth2-state-', 'strange')
  t.equal((await chrome.get('/api/auth/repohost')).status, 302, 'strange cookies do no harm')
  const out = await service.request('POST', '/api/auth/logout', {
    headers: {
      Origin: DASHBOARD,
      Cookie: [...chrome.cookies].map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('; '),
    },
  })
  t.equal(out.status, 200)
  t.equal(out.headers.getSetCookie().filter((line) => line.includes('oauth2-state')).length > 1, true)
})

t.test('a login that the user or the host rejects ends on the dashboard with the reason', async (t) => {
  for (const kind of repohostKinds)
    await t.test(kind, async (t) => {
      const service = await reuseService(t, kind)
      const chrome = browser(service)
      const attempt = async () => {
        const start = await chrome.get('/api/auth/repohost')
        return consent(start.headers.get('location'))
      }
      service.repohost.browserUser = null
      const rejected = await attempt()
      const said = await chrome.get(rejected.pathname + rejected.search)
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
})

/** A login that the user has agreed to: the browser, and the path that the host sends it to. */
const loginUnderWay = async (service: Service) => {
  service.repohost.fault = undefined
  const chrome = browser(service)
  const { pathname, search } = await consent((await chrome.get('/api/auth/repohost')).headers.get('location'))
  return { chrome, path: pathname + search }
}

const PAGE = 'text/html,application/xhtml+xml,*/*;q=0.8'

t.test('the browser sign-in for a disabled account shows the reason', async (t) => {
  const service = await reuseService(t)
  const ada = await service.signIn('ada')
  service.repohost.browserUser = ada.repohostId
  await disableAccount(service.database, await findAccount(service.database, 'ada'))
  const page = await loginUnderWay(service)
  const sent = await page.chrome.get(page.path, { Accept: PAGE })
  t.strictSame(
    [sent.status, sent.headers.get('location')],
    [302, `${DASHBOARD}/?auth_error=account_disabled`],
  )
  t.notOk(page.chrome.cookies.has('svc_token'))
  const program = await loginUnderWay(service)
  const told = await program.chrome.get(program.path, { Accept: 'application/json' })
  t.hasStrict(told, { status: 403, body: { code: 'account_disabled' } })
})

t.test(
  'a failed login ends on a page for browsers and in a problem document for other clients',
  async (t) => {
    const service = await reuseService(t)
    service.repohost.browserUser = service.repohost.addUser('ada').id
    const invalid = '/api/auth/callback?code=x&state=y'
    const page = async (path: string, accept = PAGE) => {
      const reply = await service.request('GET', path, { headers: { Accept: accept } })
      return [reply.status, reply.headers.get('location')]
    }
    t.strictSame(await page(invalid), [302, `${DASHBOARD}/?auth_error=oauth_state_invalid`])
    t.strictSame(await page(`/api/auth/callback?code=${'x'.repeat(1_001)}`, 'TEXT/HTML;q=0.5'), [
      302,
      `${DASHBOARD}/?auth_error=validation_failed`,
    ])
    for (const accept of ['*/*', 'application/json', 'text/*']) {
      const reply = await service.request('GET', invalid, { headers: { Accept: accept } })
      t.hasStrict(reply, { status: 400, body: { code: 'oauth_state_invalid' } }, accept)
    }

    const whenHostFails = async (accept: string) => {
      const { chrome, path } = await loginUnderWay(service)
      service.repohost.fault = 'status-500'
      return chrome.get(path, { Accept: accept })
    }
    for (const accept of [PAGE, '*/*', 'application/json, text/html']) {
      const reply = await whenHostFails(accept)
      t.equal(reply.headers.get('location'), `${DASHBOARD}/?auth_error=upstream_failed`, accept)
    }
    for (const accept of ['application/json', 'application/problem+json, */*;q=0.1']) {
      const problem = { code: 'upstream_failed', upstream: 'repohost' }
      t.hasStrict(await whenHostFails(accept), { status: 502, body: problem }, accept)
    }
    t.notMatch(service.logs.join(''), /not an Error/)
    t.match(service.logs.join(''), /Response Error: 500/, 'the log says what failed')

    service.repohost.fault = undefined
    service.repohost.browserUser = null
    const { chrome, path } = await loginUnderWay(service)
    const said = await chrome.get(path, { Accept: 'application/json' })
    t.equal(said.headers.get('location'), `${DASHBOARD}/?auth_error=access_denied`)
  },
)

t.test('a login at an unresponsive or slow host ends in time, and other routes still work', async (t) => {
  const service = await startService(t, { clients: createClients })
  const { id, token } = service.repohost.addUser('ada')
  service.repohost.browserUser = id
  const logins = [await loginUnderWay(service), await loginUnderWay(service)]
  const before = service.repohost.requests.length
  service.repohost.fault = 'hang'
  const late = Promise.all(
    logins.map(({ chrome, path }, index) =>
      chrome.get(path, index === 1 ? { Accept: 'application/json' } : {}),
    ),
  )
  await until(() => service.repohost.requests.length === before + 2, 'the host was asked')
  t.equal((await service.request('GET', '/api/health')).status, 200)
  service.repohost.fault = 'drip'
  const dripped = verify(service, { repohost_token: token })
  const [page, json] = await late
  t.equal(page?.headers.get('location'), `${DASHBOARD}/?auth_error=upstream_failed`)
  t.hasStrict(json, { status: 504, body: { code: 'upstream_timeout', upstream: 'repohost' } })
  t.hasStrict(await dripped, { status: 504, body: { code: 'upstream_timeout', upstream: 'repohost' } })
  t.equal(service.repohost.requests.length, before + 3, 'it was really asked each time')
})

t.test('an unavailable database isn’t reported as a host failure', async (t) => {
  const service = await reuseService(t)
  service.repohost.browserUser = service.repohost.addUser('ada').id
  const other = postgres(service.databaseUrl, { max: 1 })
  t.teardown(() => other.end())
  for (const table of ['oauth_states', 'users']) {
    const logins = [await loginUnderWay(service), await loginUnderWay(service)]
    await other.begin(async (sql) => {
      await sql.unsafe(`lock table ${table} in access exclusive mode`)
      const responses = await Promise.all(
        logins.map(({ chrome, path }, index) => chrome.get(path, index === 1 ? { Accept: PAGE } : {})),
      )
      for (const response of responses) {
        t.hasStrict(response, { status: 503, body: { code: 'unavailable' } }, table)
        t.ok(response.headers.has('retry-after'))
      }
    })
  }
  const { chrome, path } = await loginUnderWay(service)
  t.equal((await chrome.get(path)).headers.get('location'), `${DASHBOARD}/`)
})

t.test('a login started under another hostname continues under the configured one', async (t) => {
  const startWith = async (service: Service, host: string) => {
    const { hostname, port } = new URL(service.url)
    const path = '/api/auth/repohost?return_to=/team?tab=a%26b'
    const [response] = await once(
      httpRequest({ hostname, port, path, headers: { Host: host } }).end(),
      'response',
    )
    response.resume()
    return response.headers.location as string
  }
  const local = { SITE_URL: '', BASE_URL: 'http://127.0.0.1:4321' }
  const service = await startService(t, { env: local })
  const canonical = 'http://127.0.0.1:4321/api/auth/repohost?return_to=%2Fteam%3Ftab%3Da%26b'
  for (const alias of ['localhost:4321', 'LOCALHOST:4321', '[::1]:4321']) {
    t.equal(await startWith(service, alias), canonical, alias)
  }
  for (const host of [
    '127.0.0.1:4321',
    'localhost:9999',
    'localhost',
    'evil.example.com:4321',
    'localhost.evil.example.com:4321',
    'localhost:4321@evil.example.com',
    'x y',
  ]) {
    const location = await startWith(service, host)
    t.ok(location.startsWith(`${service.repohost.url}/login/oauth/authorize?`), host)
  }
  const proxied = await startService(t, { env: { SITE_URL: 'http://localhost:5173' } })
  for (const host of ['127.0.0.1:3000', 'localhost:5173', 'service.internal']) {
    const location = await startWith(proxied, host)
    t.ok(location.startsWith(proxied.repohost.url), `${host}: a dashboard's proxy names what host it likes`)
  }
  const plain = await service.request('GET', '/api/auth/repohost')
  t.match(plain.headers.getSetCookie()[0], /^oauth2-state-/, 'without https there is no prefix')
})

t.test('without a dashboard, a failed login still shows the reason', async (t) => {
  const service = await startService(t, { env: { SITE_URL: '', DASHBOARD: 'off' } })
  const callback = '/api/auth/callback?code=x&state=y'
  const failed = await service.request('GET', callback, { headers: { Accept: PAGE } })
  const { pathname, search, origin } = new URL(failed.headers.get('location') ?? '')
  t.equal(origin, service.config.baseUrl)
  const home = await service.request('GET', pathname + search)
  t.equal(home.headers.get('location'), '/api/docs?auth_error=oauth_state_invalid')
  t.equal((await service.request('GET', '/')).headers.get('location'), '/api/docs')
})

t.test('after sign-in, only dashboard paths can be reached', async (t) => {
  const service = await reuseService(t)
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
    t.hasStrict(reply, { status: 400, body: { code: 'validation_failed' } }, path)
  }
})

t.test('without an OAuth app, the browser login returns an error', async (t) => {
  const service = await startService(t, { env: { REPOHOST_CLIENT_ID: '', REPOHOST_CLIENT_SECRET: '' } })
  for (const path of ['/api/auth/repohost', '/api/auth/callback?code=x&state=y']) {
    const reply = await service.request('GET', path)
    t.hasStrict(reply, { status: 503, body: { code: 'oauth_not_configured' } })
    t.equal(reply.headers.get('retry-after'), null, 'waiting does not help')
    const accept = { Accept: 'text/html' }
    const page = await service.request('GET', path, { headers: accept })
    if (path.includes('callback')) {
      t.equal(page.headers.get('location'), `${DASHBOARD}/?auth_error=oauth_not_configured`)
    }
  }
  t.notOk(
    service.logs.some((line) => line.includes('"stack"')),
    'it’s no fault of the service',
  )
})
