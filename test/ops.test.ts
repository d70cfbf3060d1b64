/** Checks the files of `ops/` with the programs that read them, where they are installed. */
import { execFile, spawn } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import postgres from 'postgres'
import t, { type Test } from 'tap'
import { startRepohost } from '../demo/repohost.js'
import { limits } from '../schemas/limits.js'
import { readConfig } from '../src/config.js'
import { checkDatabase } from '../src/operator/doctor/database.js'
import { explainDatabaseErrors } from '../src/platform/database/external-database.js'
import { locks } from '../src/platform/database/locks.js'
import { migrate } from '../src/platform/database/migrate.js'
import { newestMigration } from '../src/platform/database/migrations.js'
import { projectRoot } from '../src/platform/process/root.js'
import { readToday } from '../src/platform/time/clock.js'
import { withAdHocSql } from './ad-hoc.js'
import { startBalancer } from './balancer.js'
import { createTestDatabase, openDatabase, reach } from './database.js'
import { hasProperties } from './has-properties.js'
import { startPooler } from './pooler.js'
import { freePort, JWT_SECRET, launch, launchProgram, ready, temporaryFolder } from './process.js'
import { examples, isInstalled, makeCertificate } from './proxy-examples.js'
import { WEBHOOK_KEY } from './service.js'
import { until } from './until.js'

const run = promisify(execFile)
const ops = (name: string) => join(projectRoot, 'ops', name)
const without = async (...programs: string[]) => {
  for (const program of programs) if (!(await isInstalled(program))) return `${program} is not installed`
  return false
}

for (const [name, prepare] of Object.entries(examples)) {
  t.test(`the configuration of ${name} is valid`, { skip: await without(name, 'openssl') }, async (t) => {
    const folder = await temporaryFolder(t)
    const place = { folder, front: 8443, plain: 8081, ports: [3001, 3002] }
    const { program, check } = await prepare(place, await makeCertificate(folder))
    await t.resolves(run(program, check, { env: { PATH: process.env.PATH, HOME: folder } }))
  })
}

/** The version from which systemd has everything that the units use. */
const SYSTEMD = 250
const withoutSystemd = async () => {
  const missing = await without('systemd-analyze')
  if (missing) return missing
  const { stdout } = await run('systemd-analyze', ['--version'])
  const version = Number(stdout.match(/^systemd ([0-9]+)/)?.[1])
  return version < SYSTEMD && `systemd is ${version}, and the units need ${SYSTEMD}`
}

t.test('the systemd units are valid', { skip: await withoutSystemd() }, async (t) => {
  const folder = await temporaryFolder(t)
  const names = ['team-settings@.service', 'team-settings-backup.service', 'team-settings-backup.timer']
  for (const name of names) {
    const unit = await readFile(ops(name), 'utf8')
    // It complains of programs that aren't there.
    await writeFile(join(folder, name), unit.replaceAll('/usr/bin/node', process.execPath))
  }
  const verify = (of: string[]) => run('systemd-analyze', ['verify', ...of.map((name) => join(folder, name))])
  t.equal((await verify(names)).stderr, '', 'without a complaint')

  const pages = ['docs/install.md', 'docs/run.md'].map((page) => readFile(join(projectRoot, page), 'utf8'))
  const handbook = (await Promise.all(pages)).join('\n')
  const dropIns = Array.from(handbook.matchAll(/^ *# systemctl edit (\S+?@)(\d*)\n([\s\S]*?)^ *```$/gm))
  t.equal(dropIns.length, 2)
  for (const [, unit, port, text = ''] of dropIns) {
    const name = `${unit}${port || 3001}.service`
    await mkdir(join(folder, `${name}.d`))
    await writeFile(join(folder, `${name}.d`, 'override.conf'), text.replace(/^ +/gm, ''))
    t.equal((await verify([name])).stderr, '', `${name} with its drop-in`)
  }
})

t.test(
  'several instances on one machine, set up as documented, act as one service',
  { skip: await without('haproxy', 'redis-server') },
  async (t) => {
    const { url: databaseUrl, drop } = await createTestDatabase()
    t.teardown(drop)
    const repohost = await startRepohost()
    t.teardown(() => repohost.close())
    const folder = await temporaryFolder(t)
    const { DATABASE_URL = '', ...pooled } = reach(databaseUrl)
    await writeFile(join(folder, 'database-url'), DATABASE_URL)
    await writeFile(join(folder, 'jwt-secrets'), JWT_SECRET)
    await writeFile(join(folder, 'webhook-keys'), WEBHOOK_KEY)
    const redisPort = await freePort()
    const redis = spawn('redis-server', ['--port', `${redisPort}`, '--save', ''], { cwd: folder })
    t.teardown(() => redis.kill())

    // The variables of the unit and of the handbook, with other folders.
    const unit = await readFile(ops('team-settings@.service'), 'utf8')
    const settings = Array.from(unit.matchAll(/^Environment=(.*)$/gm), ([, line = '']) => line).join(' ')
    const launchAt = async (port: number, metricsPort: number) => {
      const settingsGiven = settings.replaceAll('%i', `${port}`).replaceAll('%d', folder).split(' ')
      return ready({
        url: `http://127.0.0.1:${port}`,
        ...launchProgram(t, 'src/server', {
          ...Object.fromEntries(settingsGiven.map((setting) => setting.split('='))),
          ...pooled,
          METRICS_PORT: `${metricsPort}`,
          REDIS_URL: `redis://127.0.0.1:${redisPort}/0`,
          TRUST_PROXY: '127.0.0.1',
          SHUTDOWN_DELAY_MS: '2500',
          REPOHOST_URL: repohost.url,
          REPOHOST_API_URL: repohost.url,
        }),
      })
    }
    const [one = 0, two = 0, ...metricsPorts] = await Promise.all(Array.from({ length: 4 }, freePort))
    const [first] = await Promise.all([one, two].map((port, n) => launchAt(port, metricsPorts[n] ?? 0)))
    const url = await startBalancer(t, [one, two])

    const ask = async (path: string, token: string) => {
      const headers = { Authorization: `Bearer ${token}` }
      return (await fetch(`${url}/api${path}`, { headers })).status
    }
    const signIn = async (login: string) => {
      const reply = await fetch(`${url}/api/auth/verify`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ repohost_token: repohost.addUser(login).token }),
      })
      return ((await reply.json()) as { token: string }).token
    }
    const ada = await signIn('ada')
    const max = limits.rate_join_per_caller
    const statuses: number[] = []
    for (let n = 0; n <= max; n++) statuses.push(await ask('/team/invites/WRONG', ada))
    t.strictSame(statuses, [...Array(max).fill(404), 429], 'limits are counted over both')
    const lookedUp = /^http_requests_total\{.*route="\/api\/team\/invites\/:code".*status="404".*\} (\d+)$/m
    const served = metricsPorts.map(async (port) => {
      const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
      return Number(lookedUp.exec(metrics)?.[1])
    })
    t.strictSame(await Promise.all(served), [max / 2, max / 2], 'and they took turns')

    first?.child.kill('SIGTERM')
    const gone = first?.ended.then((code) => ({ code }))
    const responses = new Set<number>()
    let end: { code: number | NodeJS.Signals } | undefined
    while (!end) {
      responses.add(await ask('/me', ada))
      end = await Promise.race([gone, sleep(50, undefined)])
    }
    t.strictSame([end, ...responses], [{ code: 0 }, 200], 'one stops, and callers do not notice')
    t.equal(await ask('/me', ada), 200)
  },
)

t.test('the pooler’s role gets all timeouts that the doctor requires', async (t) => {
  const { url, drop } = await createTestDatabase('template0')
  t.teardown(drop)
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  t.teardown(() => sql.end())
  const changes = await readFile(ops('pgbouncer.sql'), 'utf8')
  const found = await sql
    .begin(async (tx) => {
      const [known] = await tx`select from pg_roles where rolname = 'service'`
      if (!known) await tx`create role service`
      await tx.unsafe(changes)
      const [row] = await tx<{ set: string[] }[]>`
      select setconfig as set from pg_db_role_setting where setrole = 'service'::regrole and setdatabase = 0`
      // Roles are the server's, and not of this test alone.
      throw Object.assign(new Error('undone'), { row })
    })
    .catch(({ row }) => row)
  hasProperties(t, found?.set.sort(), [
    'idle_in_transaction_session_timeout=10s',
    'lock_timeout=2s',
    'statement_timeout=5s',
  ])
})

/** The URLs of an empty database: direct, and through a pooler. */
const startPooledDatabase = async (t: Test): Promise<{ url: string; pooled: URL }> => {
  const { url, drop } = await createTestDatabase('template0')
  t.teardown(drop)
  const pooled = new URL(url)
  pooled.host = await startPooler(t, url)
  return { url, pooled }
}

t.test(
  'behind the pooler, statements that share a connection all get their responses',
  { skip: await without('pgbouncer') },
  async (t) => {
    const { pooled } = await startPooledDatabase(t)
    const database = withAdHocSql(openDatabase(pooled.href, { prepare: false }))
    t.teardown(() => database.close())
    const numbers = Array.from({ length: 200 }, (_, n) => n)
    const ask = async (n: number) => {
      await sleep(n % 7)
      if (n % 2) return readToday(database)
      const [row] = await database.hot.statement<{ n: number }>('select $1::int as n', [n])
      return row?.n
    }
    const today = await readToday(database)
    t.strictSame(
      await Promise.all(numbers.map(ask)),
      numbers.map((n) => (n % 2 ? today : n)),
    )
  },
)

t.test(
  'behind the pooler, an instance that waited for a migration sees it and doesn’t repeat it',
  { skip: await without('pgbouncer') },
  async (t) => {
    const { url, pooled } = await startPooledDatabase(t)
    const other = postgres(url, { max: 1, onnotice: () => {} })
    t.teardown(() => other.end())
    const said: string[] = []
    let waiting: Promise<void> | undefined
    await other.begin(async (tx) => {
      await tx`select pg_advisory_xact_lock(${locks.migration})`
      // It ends only after this transaction, which therefore can't await it.
      waiting = migrate(pooled.href, undefined, (line) => said.push(line))
      await Promise.race([waiting, until(() => said.length > 0, 'the instance waits')])
      // Few statements: a full queue of invalidations would make the waiting session reload its catalog cache.
      await tx`create schema drizzle`
      await tx`create table drizzle.__drizzle_migrations (created_at bigint)`
      await tx`insert into drizzle.__drizzle_migrations values (${newestMigration.when})`
    })
    await waiting
    t.strictSame([...(await other`select from pg_tables where schemaname = 'public'`)], [])
  },
)

t.test(
  'behind the pooler, instances that start concurrently migrate once, and the doctor sees it',
  { skip: await without('pgbouncer') },
  async (t) => {
    const { pooled } = await startPooledDatabase(t)
    await t.resolves(Promise.all(Array.from({ length: 6 }, () => migrate(pooled.href))))
    await t.resolves(migrate(pooled.href), 'and leave no lock to those that start later')

    const levelOf = async (DATABASE_PREPARE: string) => {
      const env = { DATABASE_URL: pooled.href, DATABASE_PREPARE, JWT_SECRETS: JWT_SECRET }
      const findings = await checkDatabase(pooled.href, readConfig(env))
      return findings.filter(({ about }) => /pooler|timeouts/.test(about)).map(({ level }) => level)
    }
    t.same(await levelOf('true'), ['problem'])
    const started = launch(t, await freePort(), { DATABASE_URL: pooled.href, JWT_SECRETS: JWT_SECRET })
    const warning =
      '"msg":"DATABASE_URL names a transaction pooler such as PgBouncer: set DATABASE_PREPARE=false."'
    await until(() => started.output().includes(warning), 'the start warns')
    t.same(await levelOf('false'), ['ok'], 'with all timeouts')

    const rejectionOf = (changes: Partial<URL>) =>
      explainDatabaseErrors(migrate(Object.assign(new URL(pooled), changes).href)).catch(
        ({ message }) => message,
      )
    t.match(await rejectionOf({ password: 'hunter2' }), /a user or password that the server rejects/)
    t.match(await rejectionOf({ pathname: '/nowhere' }), /a database that doesn’t exist/)
  },
)
