/** One of two instances has a clock that is ten minutes off: order and expiry follow the database's clock. */
import { join } from 'node:path'
import postgres from 'postgres'
import t, { type Test } from 'tap'
import { BILLING, signatureOf } from '../demo/billing-provider.js'
import { OAUTH_APP } from '../demo/repohost.js'
import { projectRoot } from '../src/platform/process/root.js'
import { createTestDatabase, isCluster } from './database.js'
import { freePort, launch, onDatabase, ready } from './process.js'
import { DASHBOARD, startService } from './service.js'
import { until } from './until.js'

const MINUTE_MS = 60_000
const WEBHOOK = '/api/billing-provider/webhook'

const play = async (t: Test, ahead: number) => {
  const service = await startService(t, { env: { BILLING_WEBHOOK_SECRET: BILLING.webhookSecret } })
  const { repohost } = service
  const odd = await ready(
    launch(t, await freePort(), {
      ...onDatabase(service.databaseUrl),
      SITE_URL: DASHBOARD,
      REPOHOST_URL: repohost.url,
      REPOHOST_API_URL: repohost.url,
      REPOHOST_CLIENT_ID: OAUTH_APP.id,
      REPOHOST_CLIENT_SECRET: OAUTH_APP.secret,
      BILLING_WEBHOOK_SECRET: BILLING.webhookSecret,
      RATE_LIMITS: 'on',
      LOG_LEVEL: 'error',
      NODE_OPTIONS: `--import ${join(projectRoot, 'build/test/shifted-clock.js')}`,
      CLOCK_AHEAD_MS: String(ahead),
    }),
  )
  const at = async (
    url: string,
    token: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ) => {
    const isText = typeof body === 'string'
    const reply = await fetch(url + path, {
      method: body === undefined ? 'GET' : 'POST',
      redirect: 'manual',
      headers: {
        ...(token && { Authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: isText ? body : JSON.stringify(body) }),
    })
    const text = await reply.text()
    return {
      status: reply.status,
      headers: reply.headers,
      body: text === '' ? undefined : JSON.parse(text),
    }
  }
  const isNow = (moment: string, what: string) =>
    t.ok(Math.abs(Date.parse(moment) - Date.now()) < 5 * MINUTE_MS, `${what}: ${moment}`)

  const { token: hostToken } = repohost.addUser('ada')
  const { token } = (await at(odd.url, '', '/api/auth/verify', { repohost_token: hostToken })).body
  const claims = JSON.parse(Buffer.from(token.split('.')[1], 'base64url').toString())
  t.ok(Math.abs(claims.iat * 1_000 - Date.now()) > 5 * MINUTE_MS, 'the clock is off')
  const bob = await service.signIn('bob')
  t.equal(
    (await at(service.url, token, '/api/me')).status,
    200,
    'a session from the other instance is valid here',
  )
  t.equal((await at(odd.url, bob.token, '/api/me')).status, 200, 'and the other way round')

  const bar = await at(odd.url, token, '/api/wakatime/v1/users/current/statusbar/today')
  isNow(bar.body.cached_at, 'the status bar is of now')

  const made: string[] = []
  let code = ''
  for (const url of [odd.url, service.url, odd.url]) {
    const created = await at(url, token, '/api/team/workspaces/create', { name: `Team ${made.length}` })
    const { workspace, invite } = created.body
    made.push(workspace.id)
    code = invite.code
    isNow(workspace.created_at, 'a workspace is made now')
    isNow(
      new Date(Date.parse(invite.expires_at) - 168 * 60 * MINUTE_MS).toISOString(),
      'an invite lives as long',
    )
  }
  const own = await at(service.url, token, '/api/team/me')
  t.same(
    own.body.workspaces.map(({ id }: { id: string }) => id),
    made,
    'the older workspace goes first',
  )
  t.equal((await at(service.url, bob.token, '/api/team/workspaces/join', { code })).status, 200)
  const trail = await at(odd.url, token, `/api/team/workspaces/${made[2]}/audit`)
  t.hasStrict(trail.body.entries[0], { action: 'member.joined' }, 'the newest entry goes first')
  for (const entry of trail.body.entries) isNow(entry.at, entry.action)

  const day = new Date().toISOString().slice(0, 10)
  const flush = { flush_id: 'one', entries: [{ repo: 'ada/repo', day, minutes: 5 }] }
  t.match((await at(odd.url, token, '/api/team/active-minutes', flush)).body, { duplicate: false })
  t.match((await at(service.url, token, '/api/team/active-minutes', flush)).body, { duplicate: true })

  repohost.browserUser = repohost.addUser('ada').id
  const begun = await at(odd.url, '', '/api/auth/repohost')
  const cookie = begun.headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ')
  const consent = await fetch(begun.headers.get('location') ?? '', { redirect: 'manual' })
  const { pathname, search } = new URL(consent.headers.get('location') ?? '')
  const ended = await at(service.url, '', pathname + search, undefined, { Cookie: cookie })
  t.equal(ended.headers.get('location'), `${DASHBOARD}/`, 'a login that starts there can end here')

  // Only this check uses the service's own clock. The provider retries with another instance.
  const payload = JSON.stringify({
    id: 'evt_1',
    type: 'customer.created',
    created: 1,
    data: { object: {} },
  })
  const signature = { 'Billing-Signature': signatureOf(payload) }
  t.hasStrict(await at(odd.url, '', WEBHOOK, payload, signature), {
    status: 400,
    body: { code: 'signature_invalid' },
  })
  t.equal((await at(service.url, '', WEBHOOK, payload, signature)).status, 200)

  t.equal((await at(odd.url, token, '/api/auth/logout', {})).status, 200)
  await until(
    async () => (await at(service.url, token, '/api/me')).status === 401,
    'a session that ended there ends here',
  )
  let limited = await at(odd.url, '', '/api/auth/repohost')
  while (limited.status === 302) limited = await at(odd.url, '', '/api/auth/repohost')
  t.equal(limited.status, 429)
  const wait = Number(limited.headers.get('retry-after'))
  t.ok(wait > 0 && wait <= 60, `a limit is over after ${wait} s`)
}

t.test('a clock that is ten minutes off changes no order and no expiry', async (t) => {
  await t.test('with a clock that is ahead', (t) => play(t, 10 * MINUTE_MS))
  await t.test('with a clock that is behind', (t) => play(t, -10 * MINUTE_MS))
})

/** Lets the clock of a test's database leap: `now()` is this one's in all sessions that begin later. */
const withLeapingClock = async (t: Test) => {
  const { url, drop } = await createTestDatabase()
  t.teardown(drop)
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  t.teardown(() => sql.end())
  await sql`create schema leap`
  await sql`create table leap.state (ahead interval not null)`
  await sql`insert into leap.state values ('0')`
  for (const name of ['now', 'clock_timestamp', 'statement_timestamp'])
    await sql.unsafe(
      `create function leap.${name}() returns timestamptz language sql stable
        as 'select pg_catalog.${name}() + (select ahead from leap.state)'`,
    )
  await sql.unsafe(
    `alter database "${new URL(url).pathname.slice(1)}" set search_path = leap, pg_catalog, public`,
  )
  const leapTo = (ahead: string) => sql`update leap.state set ahead = ${ahead}::interval`
  return { url, sql, leapTo }
}

const isOnCluster = await isCluster()
t.test(
  'a clock of the database that leaps deletes nothing, and forgets no sign-out',
  { skip: isOnCluster && 'a cluster’s nodes have several clocks' },
  async (t) => {
    const { url, sql, leapTo } = await withLeapingClock(t)
    const service = await startService(t, { env: onDatabase(url) })
    const ada = await service.signIn('ada')
    await service.workspace(ada)
    const day = new Date().toISOString().slice(0, 10)
    const flushed = await ada.post('/api/team/active-minutes', {
      flush_id: 'one',
      entries: [{ repo: 'ada/own', day, minutes: 1 }],
    })
    t.equal(flushed.status, 200, flushed.text)
    const count = async () => {
      const [row] = await sql`
        select (select count(*)::int from audit_entries) as entries, (select count(*)::int from flushes) as flushes`
      return { ...row }
    }
    const before = await count()
    t.not(before.entries, 0)
    const runAll = async () => {
      await service.app.housekeeping.run()
      await service.app.housekeeping.run()
      await service.app.jobs.rollups.retire()
    }
    await runAll()
    for (const [ahead, said] of [
      ['75 seconds', 'ahead'],
      ['1 hour', 'ahead'],
      ['1 year', 'ahead'],
      ['0', 'back'],
      ['-1 year', 'back'],
    ] as const) {
      await leapTo(ahead)
      await runAll()
      t.ok(
        service.logs.splice(0).some((line) => line.includes('clock leapt') && line.includes(said)),
        ahead,
      )
      t.strictSame(await count(), before, ahead)
    }

    const bob = await service.signIn('bob')
    t.equal((await bob.post('/api/auth/logout')).status, 200)
    await sql`update revocations set revoked_at = revoked_at - interval '1 hour'`
    await leapTo('1 year')
    const started = await startService(t, { env: onDatabase(url) })
    await leapTo('0')
    await until(
      async () =>
        (await started.request('GET', '/api/me', { headers: { Authorization: `Bearer ${bob.token}` } }))
          .status === 401,
      'an instance that started meanwhile learns of sign-outs',
    )
  },
)
