import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { BILLING, signatureOf } from '../demo/billing-provider.js'
import { withMetrics } from '../src/operator/config-docs.js'
import { projectRoot } from '../src/platform/process/root.js'
import { addDays } from '../src/platform/time/days.js'
import { createTestDatabase } from './database.js'
import { startRelay } from './relay.js'
import { betweenRollups, type Caller, type Service, startProviders, startService } from './service.js'
import { until } from './until.js'

const day = new Date().toISOString().slice(0, 10)

/** The samples that Prometheus would read, by name and labels. */
const scrape = async (service: Service): Promise<Map<string, number>> => {
  const text = await service.app.meter.registry.metrics()
  const samples = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(
    samples.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]),
  )
}

/** The increase of these samples through `work`. */
const addedBy = async (service: Service, names: string[], work: () => Promise<unknown>) => {
  const before = await scrape(service)
  await work()
  const changes = async () => {
    const after = await scrape(service)
    return Object.fromEntries(names.map((name) => [name, (after.get(name) ?? 0) - (before.get(name) ?? 0)]))
  }
  // Some counts follow a moment after the response.
  await until(
    async () => Object.values(await changes()).every((change) => change > 0),
    names.join(' and '),
  ).catch(() => {})
  return changes()
}

const setup = await startProviders(t, { budgetMs: 5_000 })
const service = await startService(t, {
  ...setup,
  env: { ...setup.env, METRICS_PORT: '9464', RATE_LIMITS: 'on', TRUST_PROXY: '127.0.0.1' },
})
const [ada, bob] = await service.signInAll('ada', 'bob')
await service.workspace(ada, { members: [bob] })

const flush = (caller: Caller, flush_id: string) =>
  caller.post('/api/team/active-minutes', {
    flush_id,
    entries: [
      { repo: 'acme/api', day, minutes: 5 },
      { repo: 'acme/api', day, minutes: 1440 },
      { repo: 'elsewhere/api', day, minutes: 5 },
    ],
  })

const notify = (type: string, eventId: string, secret = BILLING.webhookSecret) => {
  const payload = JSON.stringify({
    id: eventId,
    type,
    created: Math.floor(Date.now() / 1_000),
    data: { object: { id: 'sub_1', customer: 'cus_1', status: 'active' } },
  })
  return service.request('POST', '/api/billing-provider/webhook', {
    body: payload,
    headers: { 'Content-Type': 'application/json', 'Billing-Signature': signatureOf(payload, { secret }) },
  })
}

/** An action, and by how much each sample rises. */
const events: Record<string, { work: () => Promise<unknown>; adds: Record<string, number> }> = {
  'a request that succeeds': {
    work: () => ada.get('/api/me'),
    adds: {
      'http_requests_total{method="GET",route="/api/me",status="200",code=""}': 1,
      'http_request_duration_seconds_count{method="GET",route="/api/me",status="200"}': 1,
    },
  },
  'a request that fails': {
    work: () => ada.get('/api/settings/ada/none'),
    adds: {
      'http_requests_total{method="GET",route="/api/settings/:owner/:repo",status="404",code="never_synced"}': 1,
    },
  },
  'a path that cannot be read': {
    work: () => fetch(`${service.url}/api/settings/%zz`),
    adds: { 'http_requests_total{method="GET",route="unknown",status="400",code="validation_failed"}': 1 },
  },
  'a sign-in': {
    work: () => service.signIn('carl'),
    adds: {
      'team_settings_sign_ins_total{way="token",outcome="issued"}': 1,
      'team_settings_upstream_duration_seconds_count{upstream="repohost",outcome="answered"}': 1,
      'team_settings_database_transactions_total{outcome="committed"}': 1,
      'team_settings_database_statement_duration_seconds_count{statement="insert users"}': 1,
    },
  },
  'a sign-in with a wrong token': {
    work: () => service.request('POST', '/api/auth/verify', { body: { repohost_token: 'wrong' } }),
    adds: {
      'team_settings_sign_ins_total{way="token",outcome="refused"}': 1,
      'team_settings_upstream_duration_seconds_count{upstream="repohost",outcome="refused"}': 1,
    },
  },
  'a login that was never started': {
    work: () => service.request('GET', '/api/auth/callback?code=a&state=b'),
    adds: { 'team_settings_sign_ins_total{way="browser",outcome="refused"}': 1 },
  },
  'a sign-out': {
    work: async () => (await service.signIn('dora')).post('/api/auth/logout', {}),
    adds: { 'team_settings_sessions_revoked_total{scope="one"}': 1 },
  },
  'a sign-out everywhere': {
    work: async () => (await service.signIn('dora')).post('/api/auth/logout', { everywhere: true }),
    adds: { 'team_settings_sessions_revoked_total{scope="all_of_user"}': 1 },
  },
  'keys that are created and revoked': {
    work: async () => {
      const key = { name: 'x', scopes: ['settings:read'] }
      const { body: workspace } = await ada.post('/api/team/workspaces/create', { name: 'Keys' })
      for (const path of ['/api/me/keys', `/api/team/workspaces/${workspace.workspace.id}/keys`]) {
        const { body } = await ada.post(path, key)
        for (let n = 0; n < 2; n++) t.equal((await ada.delete(`${path}/${body.id}`)).status, 200)
      }
    },
    adds: {
      'team_settings_access_keys_total{owner="person",change="created"}': 1,
      'team_settings_access_keys_total{owner="person",change="revoked"}': 1,
      'team_settings_access_keys_total{owner="workspace",change="created"}': 1,
      'team_settings_access_keys_total{owner="workspace",change="revoked"}': 1,
    },
  },
  'a flush, and the same again': {
    work: async () => {
      const flushId = '0198c0de-0000-7000-8000-000000000001'
      for (let n = 0; n < 2; n++) t.equal((await flush(bob, flushId)).status, 200)
    },
    adds: {
      'team_settings_flushes_total{outcome="counted"}': 1,
      'team_settings_flushes_total{outcome="duplicate"}': 1,
      'team_settings_flush_entries_total{outcome="accepted"}': 1,
      'team_settings_flush_entries_total{outcome="capped"}': 1,
      'team_settings_flush_entries_total{outcome="ignored"}': 1,
    },
  },
  'notifications of the billing provider': {
    work: async () => {
      for (let n = 0; n < 2; n++)
        t.equal((await notify('customer.subscription.updated', 'evt_1')).status, 200)
      t.equal((await notify('invoice.paid', 'evt_2')).status, 200)
      t.equal((await notify('invoice.paid', 'evt_3', 'wrong')).status, 400)
    },
    adds: {
      'team_settings_webhooks_total{outcome="applied"}': 1,
      'team_settings_webhooks_total{outcome="duplicate"}': 1,
      'team_settings_webhooks_total{outcome="without_effect"}': 1,
      'team_settings_webhooks_total{outcome="refused"}': 1,
    },
  },
  'model providers in every mood': {
    work: async () => {
      const { a, b } = setup.providers
      await ada.get(`/api/assistant-a-models?apiKey=${a.key}`)
      a.fault = 'html'
      b.fault = 'hang'
      await ada.get(`/api/assistant-a-models?apiKey=${a.key}`)
      await ada.get(`/api/assistant-b-models?apiKey=${b.key}`)
      b.fault = 'rate-limited'
      await ada.get(`/api/assistant-b-models?apiKey=${b.key}`)
      a.fault = b.fault = undefined
    },
    adds: {
      'team_settings_upstream_duration_seconds_count{upstream="assistant-a",outcome="answered"}': 1,
      'team_settings_upstream_duration_seconds_count{upstream="assistant-a",outcome="failed"}': 1,
      'team_settings_upstream_duration_seconds_count{upstream="assistant-b",outcome="timeout"}': 1,
      'team_settings_upstream_duration_seconds_count{upstream="assistant-b",outcome="limited"}': 1,
    },
  },
  'a checkout': {
    work: () => ada.post('/api/billing/checkout', {}),
    adds: {
      'team_settings_upstream_duration_seconds_count{upstream="billing-provider",outcome="answered"}': 2,
    },
  },
  'settings that are too large': {
    work: () => ada.push('ada/large', { 'ext.a': 'x'.repeat(300_000) }),
    adds: { 'team_settings_refusals_total{limit="settings_too_large"}': 1 },
  },
  'guesses beyond a limit': {
    work: async () => {
      const eve = await service.signIn('eve')
      let status = 0
      for (let n = 0; n < 100 && status !== 429; n++)
        status = (await eve.post('/api/team/workspaces/join', { code: 'AAAAAAAAAA' })).status
    },
    adds: { 'team_settings_refusals_total{limit="invite"}': 1 },
  },
  'rollups and housekeeping': {
    work: () => service.app.housekeeping.run(),
    adds: {
      'team_settings_background_runs_total{task="old views",outcome="done"}': 1,
      'team_settings_background_duration_seconds_count{task="old views"}': 1,
    },
  },
}

for (const [what, { work, adds }] of Object.entries(events))
  t.test(`${what} is counted`, async (t) =>
    t.strictSame(await addedBy(service, Object.keys(adds), work), adds),
  )

t.test('earlier days without up-to-date rollups are counted until they’re computed', async (t) => {
  await betweenRollups()
  /** An instance keeps what it has read for a while, so each look is through a new one. */
  const look = async () => {
    const samples = await scrape(await startService(t, { beside: service, env: { METRICS_PORT: '9465' } }))
    return ['stale_days', 'oldest_stale_day_age_seconds'].map((name) =>
      samples.get(`team_settings_rollup_${name}`),
    )
  }
  t.equal((await flush(ada, '0198c0de-0000-7000-8000-000000000002')).status, 200)
  t.strictSame(await look(), [0, 0], 'today is not late')
  const entries = [{ repo: 'acme/api', day: addDays(day, -1), minutes: 5 }]
  t.equal((await ada.post('/api/team/active-minutes', { entries })).status, 200)
  const waiting = async (since: string) => {
    await service.database.hot.statement(`update changed_days set at = ${since}`, [])
    const [days, seconds = -1] = await look()
    t.equal(days, 1)
    return seconds
  }
  const late = await waiting(`now() - interval '40 days'`)
  const [clock] = await service.database.hot.statement<{ seconds: number }>(
    `select extract(epoch from now() - date_trunc('day', now(), 'UTC'))::float8 as seconds`,
    [],
  )
  t.ok(late <= (clock?.seconds ?? 0), `${late}: not before the day has ended`)
  const changed = await waiting(
    `date_trunc('day', now(), 'UTC') + (now() - date_trunc('day', now(), 'UTC')) / 2`,
  )
  t.ok(changed > 0 && changed < late, `${changed}: not before it has changed`)
  await service.app.jobs.rollups.run()
  t.strictSame(await look(), [0, 0])
})

t.test('no caller can add a time series', async (t) => {
  const hostile = async (n: number) => {
    const text = `h${n}`
    const headers = {
      'X-Request-Id': text,
      'User-Agent': text,
      'X-Forwarded-For': `192.0.2.${n}`,
      traceparent: text,
      Host: `${text}.example.com`,
    }
    for (const path of [`/${text}`, `/api/${text}?${text}=${text}`, `/api/settings/${text}/${text}`])
      await fetch(service.url + path, { headers })
    await service.request('POST', '/api/auth/verify', { headers, body: { repohost_token: text } })
    await ada.get(`/api/assistant-a-models?apiKey=${text}`)
  }
  await hostile(0)
  await until(
    async () => [...(await scrape(service)).keys()].some((name) => name.includes('unknown')),
    'it counts',
  )
  // Background tasks send their statements once now, because their turn may come during the test.
  const { housekeeping, milestones, jobs } = service.app
  const { erasures, imports, publishedWeeks, rollups } = jobs
  for (const { run } of [erasures, housekeeping, imports, publishedWeeks, rollups]) await run()
  await rollups.retire()
  await milestones.flush()
  // Skips process gauges, which vary, and series of tasks, which don't depend on callers.
  const seriesOf = async () =>
    [...(await scrape(service)).keys()].filter((name) => !/^nodejs_|\{(.*,)?task="/.test(name))
  const names = await seriesOf()
  for (let n = 1; n <= 10; n++) await hostile(n)
  t.strictSame(await seriesOf(), names)
})

t.test('a scrape gets a response while the database doesn’t respond', async (t) => {
  const { url, drop } = await createTestDatabase()
  t.teardown(drop)
  let isSilent = false
  const DATABASE_URL = await startRelay(t, url, (client, reach) => {
    const server = reach()
    server.on('data', (bytes) => isSilent || client.write(bytes)).on('close', () => client.destroy())
    client.on('data', (bytes) => server.write(bytes)).on('close', () => server.destroy())
  })
  const service = await startService(t, { env: { DATABASE_URL, METRICS_PORT: '9467' } })
  isSilent = true
  const samples = await scrape(service)
  t.equal(samples.get('team_settings_database_up'), 0)
  t.notOk(samples.has('team_settings_rollup_stale_days'), 'and nothing is said of what cannot be known')
})

t.test('a disabled feature has no gauge, because 0 would fire an alert', async (t) => {
  const samples = await scrape(service)
  t.equal(samples.get('team_settings_ready'), 1)
  t.notOk(samples.has('team_settings_rate_limits_shared'), 'without REDIS_URL')
  t.notOk(samples.has('team_settings_backup_age_seconds'), 'without a backup')
})

t.test('without a port, no metrics are served', async (t) => {
  const silent = await startService(t, { beside: service })
  await silent.request('GET', '/api/limits')
  t.equal(await silent.app.meter.registry.metrics(), '\n')
})

t.test('docs/metrics.md lists every metric', async (t) => {
  const page = await readFile(join(projectRoot, 'docs/metrics.md'), 'utf8')
  t.equal(page, withMetrics(page), 'run `npm run openapi`')
})
