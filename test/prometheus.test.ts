/** The board and the alerts of `ops/`, on a real Prometheus that scrapes the service under a small load. */
import { spawn, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import t from 'tap'
import { BILLING, signatureOf } from '../demo/billing-provider.js'
import { startRepohost } from '../demo/repohost.js'
import { projectRoot } from '../src/platform/process/root.js'
import { createTestDatabase } from './database.js'
import { freePort, launch, onDatabase, ready, temporaryFolder } from './process.js'
import { type Service, startProviders, startService } from './service.js'
import { startTcpProxy } from './tcp-proxy.js'
import { until } from './until.js'

const isThere = (program: string) => spawnSync(program, ['--version']).status === 0
const skip = ['prometheus', 'promtool'].every(isThere) ? false : 'Prometheus is not installed here'
const skipTool = isThere('promtool') ? false : 'promtool is not installed here'

const read = (name: string) => readFile(join(projectRoot, name), 'utf8')

interface Board {
  panels: { type: string; title: string; targets?: { expr: string }[] }[]
}

/** The shortest window in which a rise shows, with a counter that is read every second. */
const WINDOW = '5s'

const queriesOfBoard = async (): Promise<{ title: string; expr: string }[]> => {
  const { panels } = JSON.parse(await read('ops/grafana.json')) as Board
  return panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => ({
      title,
      expr: expr.replaceAll('$__rate_interval', WINDOW).replaceAll('$instance', '.*'),
    })),
  )
}

/** Prometheus, which reads and judges every second. */
const startPrometheus = async (test: { teardown(work: () => unknown): void }, metricsPort: number) => {
  const folder = await temporaryFolder(test)
  const rules = (await read('ops/alerts.yaml'))
    .replace(/\[\d+m\]/g, `[${WINDOW}]`)
    .replace(/for: \d+m/g, 'for: 0s')
  await writeFile(join(folder, 'alerts.yaml'), rules)
  const config = (await read('ops/prometheus.yml'))
    .replaceAll('15s', '1s')
    .replace('127.0.0.1:9090', `127.0.0.1:${metricsPort}`)
  await writeFile(join(folder, 'prometheus.yml'), config)
  const port = await freePort()
  const args = {
    'config.file': join(folder, 'prometheus.yml'),
    'storage.tsdb.path': join(folder, 'data'),
    'web.listen-address': `127.0.0.1:${port}`,
  }
  const child = spawn(
    'prometheus',
    Object.entries(args).map(([name, value]) => `--${name}=${value}`),
    { stdio: 'ignore' },
  )
  test.teardown(async () => {
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  const ask = async (path: string) => {
    const reply = await fetch(`http://127.0.0.1:${port}/api/v1/${path}`).catch(() => undefined)
    return reply?.ok ? ((await reply.json()) as { data: unknown }).data : undefined
  }
  return {
    /** Whether an expression finds anything, and a number at that. */
    finds: async (expr: string): Promise<boolean> => {
      const found = (await ask(`query?query=${encodeURIComponent(expr)}`)) as
        | { result: { value: [number, string] }[] }
        | undefined
      return found?.result.some(({ value: [, text] }) => text !== 'NaN') ?? false
    },
    /** Those on metrics of the service. The others need exporters, which aren't here. */
    alerts: async (): Promise<{ name: string; query: string; state: string }[]> => {
      const found = (await ask('rules')) as { groups: { name: string; rules: never[] }[] } | undefined
      return found?.groups.find(({ name }) => name === 'team-settings')?.rules ?? []
    },
  }
}

/** Calls that touch whatever is counted. */
const createLoad = async (
  url: string,
  repohost: Awaited<ReturnType<typeof startRepohost>>,
  providers: Awaited<ReturnType<typeof startProviders>>['providers'],
) => {
  const send = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const reply = await fetch(`${url}/api${path}`, {
      method,
      headers: { ...(body !== undefined && { 'Content-Type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    // biome-ignore lint/suspicious/noExplicitAny: the few members that are used are there
    return (await reply.json()) as any
  }
  const ada = repohost.addUser('ada')
  const { token } = await send('POST', '/auth/verify', { repohost_token: ada.token })
  const bearer = { Authorization: `Bearer ${token}` }
  await send('POST', '/team/workspaces/create', { name: 'Acme', patterns: ['acme/*'] }, bearer)
  const { a, b } = providers
  a.fault = 'status-500'
  b.fault = 'rate-limited'
  const day = new Date().toISOString().slice(0, 10)

  return () => {
    const event = JSON.stringify({ id: randomUUID(), type: 'invoice.paid', created: 1, data: { object: {} } })
    const wrong = { 'Billing-Signature': signatureOf(event, { secret: 'wrong' }) }
    const minutes = { flush_id: randomUUID(), entries: [{ repo: 'acme/api', day, minutes: 1 }] }
    return Promise.all([
      send('GET', '/me', undefined, bearer),
      send('GET', '/nowhere'),
      send('PUT', '/settings/acme/api', { settings: {} }, { ...bearer, 'X-Repohost-Token': ada.token }),
      send('POST', '/team/active-minutes', minutes, bearer),
      send(
        'POST',
        '/wakatime/v1/users/current/heartbeats.bulk',
        [{ time: Date.now() / 1_000, project: 'api' }],
        bearer,
      ),
      send('POST', '/auth/verify', { repohost_token: 'wrong' }),
      send('POST', '/billing/checkout', {}, bearer),
      send('GET', `/assistant-a-models?apiKey=${a.key}`, undefined, bearer),
      ...Array.from({ length: 2 }, () =>
        send('GET', `/assistant-b-models?apiKey=${b.key}`, undefined, bearer),
      ),
      ...Array.from({ length: 2 }, () => send('POST', '/billing-provider/webhook', event, wrong)),
    ])
  }
}

t.test('the alerts are well formed and fire when they should', { skip: skipTool }, (t) => {
  for (const args of [
    ['check', 'rules', 'ops/alerts.yaml', 'ops/alerts-exporters.yaml'],
    ['check', 'config', 'ops/prometheus.yml'],
    ['test', 'rules', 'test/alerts.yaml', 'test/alerts-daily.yaml'],
  ]) {
    const { status, stdout, stderr } = spawnSync('promtool', args, { cwd: projectRoot, encoding: 'utf8' })
    t.equal(status, 0, `promtool ${args.join(' ')}\n${stdout}${stderr}`)
  }
  t.end()
})

t.test('every alert is tested', async (t) => {
  const alerts = (await read('ops/alerts.yaml')) + (await read('ops/alerts-exporters.yaml'))
  const tests = (await read('test/alerts.yaml')) + (await read('test/alerts-daily.yaml'))
  const names = Array.from(alerts.matchAll(/- alert: (\w+)/g), ([, name = '']) => name)
  t.ok(names.length > 10)
  for (const name of names) t.ok(tests.includes(name), name)
  for (const part of ['severity', 'summary', 'description', 'runbook'])
    t.equal(alerts.split(`${part}:`).length, names.length + 1, `each has its ${part}`)
})

t.test(
  'a disabled feature fires no alert, and an enabled one only its own',
  { skip: skipTool },
  async (t) => {
    const { env } = await startProviders(t)
    /** The alerts that fire while the service reports for three hours what it reports now. */
    const expectFiring = async (service: Service, names: string[]) => {
      const lines = (await service.app.meter.registry.metrics()).split('\n')
      // Those of the process say how busy this machine is.
      const samples = lines.filter((line) => /^(http|team_settings)_/.test(line))
      const series = samples.map((line) => {
        const [, name = '', labels = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
        const target = [labels, 'job="team-settings"', 'instance="a"'].filter(Boolean).join(',')
        return { series: `${name}{${target}}`, values: `${Number(value).toFixed(3)}x180` }
      })
      t.ok(series.length > 100)
      const up = { series: 'up{job="team-settings",instance="a"}', values: '1x180' }
      const expected = names.map((name) => ({ labels: `{alertname="TeamSettings${name}"}`, value: 1 }))
      const expr = 'count by (alertname) (ALERTS{alertstate="firing"})'
      const file = join(await temporaryFolder(t), 'real.yaml')
      await writeFile(
        file,
        JSON.stringify({
          rule_files: [join(projectRoot, 'ops/alerts.yaml')],
          evaluation_interval: '1m',
          tests: [
            {
              interval: '1m',
              input_series: [up, ...series],
              promql_expr_test: [{ expr, eval_time: '3h', exp_samples: expected }],
            },
          ],
        }),
      )
      const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', file], { encoding: 'utf8' })
      t.equal(status, 0, stdout + stderr)
    }
    const METRICS_PORT = '9464'
    const plain = await startService(t, { env: { METRICS_PORT } })
    await expectFiring(plain, [])
    await expectFiring(await startService(t, { env: { ...env, METRICS_PORT } }), [])
    // Nothing listens there.
    const REDIS_URL = 'redis://127.0.0.1:1'
    const redis = await startService(t, { env: { METRICS_PORT, REDIS_URL, RATE_LIMITS: 'on' } })
    await expectFiring(redis, ['RedisAway'])
    const sql = plain.database.hot
    await sql.statement("insert into backups (made_at, bytes) values (now() - interval '3 days', 1)", [])
    await expectFiring(await startService(t, { beside: plain, env: { METRICS_PORT } }), ['BackupOld'])
  },
)

t.test('no panel or alert queries a metric that doesn’t exist', { skip }, async (t) => {
  const [{ url, drop }, repohost, { providers, env }] = await Promise.all([
    createTestDatabase(),
    startRepohost(),
    startProviders(t),
  ])
  t.teardown(drop)
  t.teardown(() => repohost.close())
  const sql = postgres(url, { max: 1 })
  await sql`insert into backups (made_at, bytes) values (now() - interval '3 days', 1)`
  await sql.end()
  const database = await startTcpProxy(t, url)
  const metricsPort = await freePort()
  const service = launch(t, await freePort(), {
    ...env,
    ...onDatabase(database.url),
    DATA_DIR: await temporaryFolder(t),
    METRICS_PORT: String(metricsPort),
    REPOHOST_URL: repohost.url,
    REPOHOST_API_URL: repohost.url,
    RATE_LIMITS: 'on',
    BILLING_SECRET_KEY: BILLING.secretKey,
    // Nothing listens there.
    REDIS_URL: 'redis://127.0.0.1:1',
  })
  const [prometheus] = await Promise.all([startPrometheus(t, metricsPort), ready(service)])
  const load = await createLoad(service.url, repohost, providers)
  const alerts = await until(async () => {
    const found = await prometheus.alerts()
    return found.length > 0 && found
  }, 'Prometheus has read the rules')
  const queries = [
    ...(await queriesOfBoard()),
    ...alerts.map(({ name, query }) => ({ title: name, expr: query.replace(/ (==|<|>) [0-9.e+]+$/, '') })),
  ]
  t.ok(queries.length > 50)

  let isLoaded = true
  const loading = (async () => {
    for (; isLoaded; await sleep(600)) await load().catch(() => {})
  })()
  t.teardown(() => {
    isLoaded = false
    return loading
  })
  let empty = queries
  await until(async () => {
    // It reads and judges every second, so more frequent questions only cost.
    await sleep(1_000)
    const found = await Promise.all(empty.map(({ expr }) => prometheus.finds(expr)))
    empty = empty.filter((_, index) => !found[index])
    return empty.length === 0
  }, 'all of them find something').catch(() => t.strictSame(empty, []))

  const fire = (...names: string[]) =>
    until(
      async () => {
        await sleep(500)
        const firing = (await prometheus.alerts()).filter(({ state }) => state === 'firing')
        return names.every((name) => firing.some((alert) => alert.name === `TeamSettings${name}`))
      },
      `${names.join(', ')} fire`,
    )
  await fire('UpstreamFails', 'UpstreamLimits', 'WebhooksFail', 'BackupOld', 'RedisAway')
  database.cut = () => true
  database.reset()
  await fire('DatabaseDown', 'Errors')
  service.child.kill('SIGKILL')
  await fire('Down')
  t.ok(await prometheus.finds('ALERTS'), 'what fires is kept')
})
