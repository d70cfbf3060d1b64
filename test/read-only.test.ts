/** A database that answers and takes no writes: balancers, the operator and the metrics are told. */
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import t, { type Test } from 'tap'
import { startRepohost } from '../demo/repohost.js'
import { runChecks } from '../src/operator/doctor/examine.js'
import { migrate } from '../src/platform/database/migrate.js'
import { isCluster, throughPooler } from './database.js'
import { freePort, launch, onDatabase } from './process.js'
import { type Service, type ServiceOptions, startService } from './service.js'
import { startPair } from './streaming-pair.js'
import { until } from './until.js'

const READ_ONLY =
  'The database is read-only: default_transaction_read_only is on. Turn it off where it is set: for the server, the database or the role. Until then, the service rejects every write with 503.'
const STANDBY =
  'The database is read-only: it is a standby of another server. Name the primary in DATABASE_URL, or promote this server. Until then, the service rejects every write with 503.'
const AGAIN = 'The database accepts writes again.'

const saidBy = ({ logs }: Service) =>
  logs.map((line) => JSON.parse(line).msg as string).filter((msg) => /^The database /.test(msg))

const gaugeOf = async ({ app }: Service) =>
  (await app.meter.registry.getSingleMetric('team_settings_ready')?.get())?.values.map(({ value }) => value)

const statusOf = async (service: Service, path = '/api/ready') => (await service.request('GET', path)).status

/** The problems of the database that the doctor finds, one line each. */
const findingsOf = async (url: string) =>
  (await runChecks(onDatabase(url), new AbortController().signal))
    .filter(({ level, about }) => level === 'problem' && about === 'database')
    .map(({ message, remedy }) => `${message} ${remedy}`)

/** A service, and a way to say whether new sessions of its database may write. */
const start = async (t: Test, options: ServiceOptions = {}) => {
  const service = await startService(t, { env: { METRICS_PORT: '9467' }, ...options })
  const sql = postgres(service.databaseUrl, {
    max: 1,
    onnotice: () => {},
    connection: { default_transaction_read_only: false },
  })
  t.teardown(() => sql.end())
  const name = new URL(service.databaseUrl).pathname.slice(1)
  const forbidWrites = (isForbidden: boolean) =>
    sql.unsafe(
      `alter database ${name} ${isForbidden ? 'set' : 'reset'} default_transaction_read_only ${isForbidden ? '= on' : ''}`,
    )
  const endSessions = () =>
    sql`select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = ${name} and pid <> pg_backend_pid()`
  return { service, forbidWrites, endSessions }
}

const keepsSettings = throughPooler() && 'the sessions of a pooler keep the settings that they began with'

t.test(
  'a service that starts on a read-only database reports it, isn’t ready, and still serves reads',
  { skip: keepsSettings },
  async (t) => {
    const { service, forbidWrites } = await start(t)
    const ada = await service.signIn('ada')
    t.equal((await ada.push('ada/dotfiles', { 'ext.a': 1 })).status, 200)
    await forbidWrites(true)
    const other = await startService(t, { beside: service, env: { METRICS_PORT: '9468' } })
    t.strictSame(saidBy(other), [READ_ONLY])
    t.equal(await statusOf(other), 503)
    t.equal(await statusOf(other, '/api/health'), 200)
    t.strictSame(await gaugeOf(other), [0])
    const bearer = { Authorization: `Bearer ${ada.token}` }
    const pulled = await other.request('GET', '/api/settings/ada/dotfiles', { headers: bearer })
    t.match(pulled, { status: 200, body: { settings: { 'ext.a': 1 } } })
    const signIn = await other.request('POST', '/api/auth/verify', {
      body: { repohost_token: ada.repohostToken },
    })
    t.hasStrict(signIn, { status: 503, body: { code: 'unavailable' } })
    t.strictSame(await findingsOf(service.databaseUrl), [
      'It is read-only: default_transaction_read_only is on. Turn it off where it is set: for the server, the database or the role.',
    ])

    await forbidWrites(false)
    await until(async () => (await statusOf(other)) === 200, 'it is ready by itself')
    t.strictSame(saidBy(other), [READ_ONLY, AGAIN])
    t.strictSame(await gaugeOf(other), [1])
    for (let n = 0; n < 20; n++) await other.signIn(`caller-${n}`)
    t.strictSame(await findingsOf(service.databaseUrl), [])
  },
)

t.test(
  'a running service isn’t ready while its database is read-only',
  { skip: keepsSettings },
  async (t) => {
    const { service, forbidWrites, endSessions } = await start(t)
    const ada = await service.signIn('ada')
    const { id } = await service.workspace(ada)
    t.equal(await statusOf(service), 200)
    t.strictSame(saidBy(service), [])
    await forbidWrites(true)
    await endSessions()
    await until(async () => (await statusOf(service)) === 503, 'it is not ready')
    await until(() => saidBy(service).length > 0, 'it says so')
    t.strictSame(await gaugeOf(service), [0])

    // Connections are replaced every two seconds now, which no read notices.
    const statuses = new Set<number>()
    let isOver = false
    const reading = Array.from({ length: 4 }, async () => {
      for (; !isOver; await sleep(20)) {
        statuses.add((await ada.get('/api/me')).status)
        statuses.add((await ada.get('/api/team/me')).status)
        statuses.add((await ada.get(`/api/team/workspaces/${id}/audit`)).status)
      }
    })
    await sleep(5_000)
    isOver = true
    await Promise.all(reading)
    t.strictSame([...statuses], [200])

    await forbidWrites(false)
    await until(async () => (await statusOf(service)) === 200, 'it is ready by itself')
    for (let n = 0; n < 20; n++) await service.signIn(`caller-${n}`)
    t.strictSame(saidBy(service), [READ_ONLY, AGAIN])
  },
)

t.test('a service whose role can’t write isn’t ready', { skip: await isCluster() }, async (t) => {
  const { service } = await start(t)
  const role = `reader_${randomBytes(6).toString('hex')}`
  const sql = postgres(service.databaseUrl, { max: 1, onnotice: () => {} })
  await sql.unsafe(`
    create role ${role} login password 'secret';
    grant usage on schema drizzle to ${role};
    grant select on all tables in schema public, drizzle to ${role};
    grant insert, update, delete on all tables in schema public to ${role};
    revoke update on users from ${role};
    revoke insert on revocations from ${role}`)
  t.teardown(async () => {
    await sql.unsafe(`drop owned by ${role}; drop role ${role}`)
    await sql.end()
  })
  const url = Object.assign(new URL(service.databaseUrl), { username: role, password: 'secret' })
  const reader = await startService(t, { beside: service, env: { DATABASE_URL: url.href } })
  t.equal(await statusOf(reader), 503)
  t.strictSame(saidBy(reader), [
    `The database is read-only: the role ${role} has no right to change revocations, users. Let ${role} own the tables, or grant it the rights. Until then, the service rejects every write with 503.`,
  ])
  const { token } = reader.repohost.addUser('ada')
  const signIn = await reader.request('POST', '/api/auth/verify', { body: { repohost_token: token } })
  t.hasStrict(signIn, { status: 503, body: { code: 'unavailable' } })
  await sql.unsafe(`grant insert, update, delete on all tables in schema public to ${role}`)
  t.equal(await statusOf(reader), 200)
  await reader.signIn('ada')
})

t.test('a service connected to a standby isn’t ready until the standby is promoted', async (t) => {
  const { first, second } = await startPair(t)
  const port = await freePort()
  const repohost = await startRepohost()
  t.teardown(() => repohost.close())
  const env = {
    ...onDatabase(second.url),
    REPOHOST_URL: repohost.url,
    REPOHOST_API_URL: repohost.url,
  }
  const early = launch(t, port, env)
  t.equal(await early.ended, 1)
  // A logged line may say that this version of Node is old.
  const rejection = early.output().replace(/^\{.*\n/gm, '')
  t.equal(
    rejection,
    'The configuration isn’t valid:\n  - DATABASE_URL names a database that accepts no writes: name the primary, or turn default_transaction_read_only off\n',
    'a standby without the schema cannot be migrated',
  )

  await migrate(first.url)
  const migrated = () => second.sql`select to_regclass('drizzle.__drizzle_migrations') as name`
  await until(async () => (await migrated())[0]?.name != null, 'the standby has the schema')
  const service = launch(t, port, env)
  const ask = async (path: string, init?: RequestInit) =>
    (await fetch(`${service.url}/api${path}`, init).catch(() => undefined))?.status
  await until(async () => (await ask('/health')) === 200, 'it runs')
  t.equal(await ask('/ready'), 503)
  const said = () =>
    service
      .output()
      .split('\n')
      .filter((line) => /"The database /.test(line))
      .map((line) => JSON.parse(line).msg)
  await until(() => said().length > 0, 'it says so')
  t.strictSame(said(), [STANDBY])
  t.strictSame(await findingsOf(second.url), [
    'It is read-only: it is a standby of another server. Name the primary in DATABASE_URL, or promote this server.',
  ])

  await second.sql`select pg_promote()`
  await until(async () => (await ask('/ready')) === 200, 'it is ready by itself')
  const body = JSON.stringify({ repohost_token: repohost.addUser('ada').token })
  const headers = { 'Content-Type': 'application/json' }
  t.equal(await ask('/auth/verify', { method: 'POST', headers, body }), 200)
  await until(() => said().length > 1, 'it says so')
  t.strictSame(said(), [STANDBY, AGAIN])
})
