import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmod, chown, cp, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import postgres from 'postgres'
import t, { type Test } from 'tap'
import { readConfig } from '../src/config.js'
import { checkDatabase } from '../src/operator/doctor/database.js'
import { startEmbedded } from '../src/platform/database/embedded/index.js'
import { explainDatabaseErrors } from '../src/platform/database/external-database.js'
import { locks } from '../src/platform/database/locks.js'
import { applyMigrations, migrate } from '../src/platform/database/migrate.js'
import {
  baseline,
  FIRST_MIGRATION,
  migrations,
  newestMigration,
} from '../src/platform/database/migrations.js'
import { ConfigError } from '../src/platform/process/config-error.js'
import { waitForListening } from '../src/platform/process/listen.js'
import { OperatorError } from '../src/platform/process/operator-error.js'
import { projectRoot, serviceVersion } from '../src/platform/process/root.js'
import { createTestDatabase, reach, throughPooler } from './database.js'
import { receivedPassword, startImpostor } from './impostor.js'
import { databaseOf, emptyDatabase } from './migrated.js'
import {
  freePort,
  JWT_SECRET,
  launch,
  launchProgram,
  onDatabase,
  ready,
  type ServiceProcess,
  spawnProgram,
  temporaryFolder,
} from './process.js'
import { makeCertificate } from './proxy-examples.js'
import { startRelay } from './relay.js'
import { startService } from './service.js'
import { until } from './until.js'

/** The output of a program that did not start: one sentence, without a stack. */
const rejectionOf = async (t: Test, program: Omit<ServiceProcess, 'url'>): Promise<string> => {
  t.equal(await program.ended, 1)
  // The text after a logged line is for people.
  const said = program
    .output()
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('{'))
  t.notMatch(said.join('\n'), /^\s+at |\.js:\d|Error:/m, 'without a stack')
  t.ok(said.length <= 2, said.join('\n'))
  return said.join('\n')
}

/** Work on DATABASE_URL is rejected with this sentence alone, which every program prints without a stack. */
const rejects = async (t: Test, work: Promise<unknown>, said: string) => {
  const error = await explainDatabaseErrors(work).then(
    () => undefined,
    (error) => error,
  )
  t.strictSame(
    [error?.constructor, error?.message],
    [ConfigError, `The configuration isn’t valid:\n  - ${said}`],
  )
}

t.test('a service with an invalid configuration doesn’t start, and lists all problems', async (t) => {
  const service = launch(t, await freePort(), {
    DATABASE_URL: 'postgres://service:hun/ter2@127.0.0.1/service',
    LOG_LEVEL: 'loud',
    TRUST_PROXI: '127.0.0.1',
  })
  t.equal(await service.ended, 1)
  t.equal(
    service.output(),
    `The configuration isn’t valid:
  - DATABASE_URL contains a user or password with a character that has a meaning in URLs: write @ as %40, : as %3A, / as %2F, ? as %3F, # as %23 and % as %25
  - LOG_LEVEL must be one of fatal, error, warn, info, debug, trace, silent
  - JWT_SECRETS is required with DATABASE_URL: set the same secret for every instance, created with openssl rand -base64 48 (after a move from the embedded database, use the content of DATA_DIR/jwt-secret)
  - TRUST_PROXI isn’t a variable of the service. Did you mean TRUST_PROXY?
`,
  )
  t.notMatch(service.output(), /at .*\.js/, 'without a stack')
})

t.test(
  'instances starting concurrently migrate once, and tolerate a newer schema that a new start rejects',
  async (t) => {
    const { url, sql } = await emptyDatabase(t)
    await sql`select pg_advisory_lock(${locks.migration})`
    const port = await freePort()
    const service = launch(t, port, { ...onDatabase(url), WORKERS: '2', database_pool_siz: '5' })
    const beside = launch(t, await freePort(), onDatabase(url))
    const waitForOutput = (text: string, by = service) => until(() => by.output().includes(text), text)
    const waits = 'Another instance is migrating the database. This instance is waiting.'
    await Promise.all([waitForOutput(waits), waitForOutput(waits, beside)])
    const health = await until(() => fetch(`${service.url}/api/health`).catch(() => undefined), 'it answers')
    t.strictSame([health.status, await health.json()], [200, { ok: true, version: serviceVersion }])
    const other = await fetch(`${service.url}/api/ready`, { headers: { 'X-Request-Id': 'mine' } })
    t.equal(other.headers.get('Retry-After'), '1')
    t.strictSame(
      [other.status, await other.json()],
      [
        503,
        {
          type: '/api/docs/errors#unavailable',
          status: 503,
          title: 'Service Unavailable',
          code: 'unavailable',
          detail: 'The service is starting. Try again in a moment.',
          request_id: 'mine',
        },
      ],
    )
    await sql`select pg_advisory_unlock(${locks.migration})`
    await Promise.all([ready(service), ready(beside)])
    await waitForOutput('Open http')
    const lines = service
      .output()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    t.equal(lines.at(-1).msg, `Open http://127.0.0.1:${port} in a browser and sign in with a GitHub token.`)
    t.strictSame(
      lines.filter(({ msg }) => /WORKERS|siz/.test(msg)).map(({ level, msg }) => [level, msg]),
      [
        [
          40,
          'WORKERS is no longer used: the service runs as one process. Remove WORKERS. To use more processors, run more instances (docs/run.md, “Several instances on one machine”).',
        ],
        [40, 'database_pool_siz isn’t a variable of the service. Did you mean DATABASE_POOL_SIZE?'],
      ],
    )
    const applied = await sql`select created_at::float8 as when from drizzle.__drizzle_migrations order by id`
    t.same(
      applied.map(({ when }) => when),
      [FIRST_MIGRATION, ...migrations.map(({ when }) => when)],
    )

    const newer = Date.UTC(2040, 0, 1)
    await sql`insert into drizzle.__drizzle_migrations (hash, created_at) values ('newer', ${newer})`
    t.equal((await fetch(`${service.url}/api/ready`)).status, 200)
    t.match(
      await rejectionOf(t, launch(t, await freePort(), onDatabase(url))),
      /newer schema, of 2040-01-01T00:00:00.000Z, .* newest migration is \d{4}_\w+ of .*: start the version that/,
    )
  },
)

t.test('an unusable database is rejected with one sentence', async (t) => {
  const create = async (options = '') => {
    const { url, drop } = await createTestDatabase(`template0 ${options}`)
    t.teardown(drop)
    const sql = postgres(url, { max: 1, onnotice: () => {} })
    t.teardown(() => sql.end())
    return { url, sql }
  }
  const latin = await create("encoding 'LATIN1'")
  const shared = await create()
  for (const name of ['carts', 'items', 'orders', 'prices'])
    await shared.sql.unsafe(`create table ${name} (id int)`)
  const migrated = await create()
  await migrated.sql.unsafe(`
    create table orders (id int); create schema drizzle;
    create table drizzle.__drizzle_migrations (id serial primary key, hash text, created_at bigint);
    insert into drizzle.__drizzle_migrations (hash, created_at) values ('of another', 1700000000000)`)
  const early = await databaseOf(t)
  await early.sql`delete from drizzle.__drizzle_migrations where created_at > ${FIRST_MIGRATION}`
  const old = await create()
  await old.sql.unsafe(`
    create function current_setting(text) returns text language sql as $$
      select case $1 when 'server_version' then '14.11' when 'server_version_num' then '140011'
        else pg_catalog.current_setting($1) end $$`)
  await old.sql.unsafe(
    `alter database ${new URL(old.url).pathname.slice(1)} set search_path = public, pg_catalog`,
  )
  const cases: [string, string][] = [
    [
      latin.url,
      "a database with the encoding LATIN1, which can’t store every character. Create one with encoding 'UTF8' and template template0.",
    ],
    [
      shared.url,
      'a database with tables of another application (carts, items, orders, …). Create a separate database for the service.',
    ],
    [
      migrated.url,
      'a database with tables of another application (orders). Create a separate database for the service.',
    ],
    [
      early.url,
      'a database that a version before 1.0.0 made. Start version 1.0.0 with it first, which upgrades it. Then start this version.',
    ],
    [
      old.url,
      'a server with PostgreSQL 14.11, and the service needs 15 or newer. Upgrade it, or name a newer server.',
    ],
  ]
  for (const [url, said] of cases) {
    await rejects(t, migrate(reach(url).DATABASE_URL ?? url), `DATABASE_URL names ${said}`)
    const findings = await checkDatabase(url, readConfig(onDatabase(url)))
    const [problem] = findings.filter(({ level }) => level === 'problem')
    t.equal(`${problem?.message} ${problem?.remedy}`, `DATABASE_URL names ${said}`)
  }
})

t.test(
  'a database that the service has used before is accepted with any encoding and extra tables',
  { skip: throughPooler() && 'the doctor asks the server, whose role of the tests has no timeouts' },
  async (t) => {
    const { url, drop } = await createTestDatabase("template0 encoding 'SQL_ASCII'")
    t.teardown(drop)
    const sql = postgres(url, { max: 1, onnotice: () => {} })
    t.teardown(() => sql.end())
    await sql.begin((tx) => applyMigrations(tx, { upTo: baseline.when }))
    await sql`create table carts (id int)`
    const migration = launchProgram(t, 'src/bin/migrate', onDatabase(url))
    await migration.ended
    // On a busy machine, it also names the step at which it is.
    t.equal(migration.output().split('\n').at(-2), `The database is current: ${newestMigration.tag}.`)
    const findings = await checkDatabase(url, readConfig(onDatabase(url)))
    t.strictSame(
      findings.filter(({ level }) => level === 'problem'),
      [],
    )
  },
)

t.test('a server with unexpected TLS or certificates is rejected with one sentence', async (t) => {
  const files = await makeCertificate(await temporaryFolder(t))
  const certificate = {
    key: await readFile(files.key, 'utf8'),
    cert: await readFile(files.certificate, 'utf8'),
  }
  const secure = await startImpostor(t, 'no password', { certificate })
  const encrypted = `postgres://ada:secret@127.0.0.1:${secure.port}/x?sslmode=verify-full`
  // A server without TLS closes the connection once a client begins it all the same.
  const closing = createServer((socket) => {
    socket
      .on('error', () => {})
      .once('data', () => {
        socket.write('N')
        socket.once('data', () => socket.destroy())
      })
  })
  closing.listen(0, '127.0.0.1')
  t.teardown(() => closing.close())
  await once(closing, 'listening')
  const plain = `postgres://ada:secret@127.0.0.1:${(closing.address() as AddressInfo).port}/x`
  const withoutTls =
    'asks for TLS with sslmode, and the server doesn’t offer it: turn it on there, or, on a network that you trust, remove sslmode'
  const cases: [url: string, said: string][] = [
    [
      encrypted,
      'names a server whose TLS certificate is from an unknown authority: set NODE_EXTRA_CA_CERTS to the file of its certificate, in the environment and not in .env',
    ],
    [`${plain}?sslmode=require`, withoutTls],
    [`${plain}?sslmode=verify-full`, withoutTls],
  ]
  for (const [url, said] of cases) await rejects(t, migrate(url), `DATABASE_URL ${said}`)
  const env = { ...onDatabase(encrypted), NODE_EXTRA_CA_CERTS: files.certificate }
  t.equal(
    await rejectionOf(t, launchProgram(t, 'src/bin/migrate', env)),
    'The configuration isn’t valid:\n  - DATABASE_URL names a server whose TLS certificate is for another host: write the host as the certificate has it',
  )
})

t.test('without install scripts, startup fails with one sentence that says what to do', async (t) => {
  const { url, drop } = await createTestDatabase()
  t.teardown(drop)
  const folder = await temporaryFolder(t)
  const modules = join(folder, 'node_modules')
  await mkdir(modules)
  const installed = join(projectRoot, 'node_modules')
  for (const name of await readdir(installed))
    if (name !== 'postgres') await symlink(join(installed, name), join(modules, name))
  await cp(join(installed, 'postgres'), join(modules, 'postgres'), { recursive: true })
  for (const name of ['build/src', 'build/schemas', 'drizzle', 'package.json'])
    await cp(join(projectRoot, name), join(folder, name), { recursive: true })
  const driver = join(modules, 'postgres/src/index.js')
  const text = await readFile(driver, 'utf8')
  t.match(text, /^ *patched: \d+,$/m)
  await writeFile(driver, text.replace(/^ *patched: \d+,$/m, ''))
  const program = spawnProgram(t, process.execPath, ['build/src/server.js'], onDatabase(url), folder)
  t.equal(
    await rejectionOf(t, program),
    'The database driver in node_modules lacks a patch that this version needs, because npm ran no install scripts. Run: npx patch-package',
  )
})

t.test('a deadlock during a migration isn’t reported as a wrong configuration', async (t) => {
  const { url, drop } = await createTestDatabase()
  t.teardown(drop)
  const sql = postgres(url, { max: 2, connection: { deadlock_timeout: 50 } })
  t.teardown(() => sql.end())
  await sql`create table a (id int)`
  await sql`create table b (id int)`
  let arrived = 0
  const lock = (first: string, second: string) =>
    sql.begin(async (tx) => {
      await tx`lock table ${tx(first)}`
      arrived++
      await until(() => arrived === 2, 'both have a lock')
      await tx`lock table ${tx(second)}`
    })
  const outcomes = await Promise.allSettled([lock('a', 'b'), lock('b', 'a')].map(explainDatabaseErrors))
  const [failure] = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))
  t.notOk(failure instanceof ConfigError)
  t.equal(
    failure?.message,
    'The database didn’t grant a lock in time (deadlock detected). Nothing is wrong with the configuration: start again.',
  )
})

t.test('a pooler that doesn’t support session settings is rejected with one sentence', async (t) => {
  const { url, drop } = await createTestDatabase()
  t.teardown(drop)
  // PgBouncer answers so to each parameter that ignore_startup_parameters does not list.
  const fields = ['SFATAL', 'C08P01', 'Munsupported startup parameter: statement_timeout', '']
  const text = Buffer.from(fields.map((field) => `${field}\0`).join(''))
  const length = Buffer.alloc(4)
  length.writeInt32BE(length.length + text.length)
  const rejection = Buffer.concat([Buffer.from('E'), length, text])
  const pooled = await startRelay(t, url, (client, reach) => {
    client.once('data', (startup) => {
      if (startup.includes('statement_timeout')) return void client.end(rejection)
      const server = reach()
      server.write(startup)
      client.pipe(server).pipe(client)
    })
  })
  const env = { DATABASE_URL: pooled, JWT_SECRETS: JWT_SECRET }
  t.match(
    await rejectionOf(t, launch(t, await freePort(), env)),
    /^ {2}- DATABASE_URL names a transaction pooler such as PgBouncer: set DATABASE_PREPARE=false$/m,
  )
  const service = await startService(t, { env: { ...env, DATABASE_PREPARE: 'false' } })
  t.equal((await service.request('GET', '/api/ready')).status, 200)
})

t.test('a .env file is read, and environment variables override it', async (t) => {
  const folder = await temporaryFolder(t)
  for (const mark of ['', '\uFEFF']) {
    await writeFile(join(folder, '.env'), `${mark}LOG_LEVEL=loud\nSHUTDOWN_DELAY_MS="-1"\n# PORT=x\n`)
    const program = launchProgram(t, 'src/bin/migrate', { SHUTDOWN_DELAY_MS: '0' }, [], folder)
    t.equal(
      await rejectionOf(t, program),
      'The configuration isn’t valid:\n  - LOG_LEVEL must be one of fatal, error, warn, info, debug, trace, silent',
      mark === '' ? 'plain' : 'with a byte order mark before the first name',
    )
  }
})

t.test('an unusable value is reported in one sentence that names its variable', async (t) => {
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  t.teardown(() => taken.close())
  const { port: busy } = taken.address() as AddressInfo
  const { url, drop } = await createTestDatabase()
  t.teardown(drop)
  const here = onDatabase(url)
  const folder = await temporaryFolder(t)
  const ofAnother = join(folder, 'of-another')
  await mkdir(join(ofAnother, 'postgresql'), { recursive: true })
  await writeFile(join(ofAnother, 'postgresql', 'PG_VERSION'), '18\n')
  // Root may use all folders, but runs no database that belongs to another user.
  const isRoot = process.getuid?.() === 0
  if (isRoot) await chown(join(ofAnother, 'postgresql'), 1, 1)
  else await chmod(ofAnother, 0)
  t.teardown(() => chmod(ofAnother, 0o700))

  t.match(
    await rejectionOf(t, launch(t, busy, here)),
    /^PORT \d+ is in use by another program: .* set PORT to a free port\.$/,
  )
  t.match(
    await rejectionOf(t, launch(t, await freePort(), { ...here, METRICS_PORT: String(busy) })),
    /^METRICS_PORT \d+ is in use by another program: /,
  )
  const absent = { host: '192.0.2.1', port: 0, variable: 'PORT' } as const
  const listening = once(createServer().listen(absent), 'listening')
  await t.rejects(waitForListening(listening, absent), {
    constructor: OperatorError,
    message: /^HOST 192\.0\.2\.1 isn’t an address of this machine: set it to/,
  })
  const log = { info: () => {}, warn: () => {}, error: () => {} }
  const folders: [dataDir: string, kind: unknown, message: RegExp][] = [
    [join(projectRoot, 'package.json'), ConfigError, /DATA_DIR isn’t a folder/],
    ['/proc/nowhere', ConfigError, /DATA_DIR isn’t a folder/],
    [
      ofAnother,
      isRoot ? OperatorError : ConfigError,
      isRoot
        ? /DATA_DIR .*belongs to .*, but this start would run it as .*: start the service as /
        : /DATA_DIR is a folder of this user, .*: run chmod u\+rwx on it/s,
    ],
  ]
  for (const [dataDir, kind, message] of folders)
    await t.rejects(startEmbedded({ dataDir, maxConnections: 10, log }), {
      constructor: kind,
      message,
    })
  const resetting = createServer((socket) => socket.on('error', () => {}).resetAndDestroy())
  resetting.listen(0, '127.0.0.1')
  t.teardown(() => resetting.close())
  await once(resetting, 'listening')
  const { port: reset } = resetting.address() as AddressInfo
  await t.rejects(explainDatabaseErrors(migrate(`postgres://ada:secret@127.0.0.1:${reset}/x`)), {
    constructor: OperatorError,
    message:
      /^The database of DATABASE_URL broke off the connection, or accepts none now: .*ECONNRESET.*start again\.$/,
  })
  const unreachable = explainDatabaseErrors(migrate('postgres://nobody:hunter2@127.0.0.1:1/nothing'))
  await t.rejects(unreachable, {
    constructor: ConfigError,
    message:
      /DATABASE_URL names a database that can’t be used now: .*ECONNREFUSED.*\. Start it, or correct the host and port\.$/m,
  })
})

t.test(
  'a program that can’t use its database stops with one sentence that says what to correct',
  { skip: throughPooler() && 'a pooler has a list of users of its own' },
  async (t) => {
    const { url, drop } = await createTestDatabase('template0')
    const admin = postgres(url, { max: 1, onnotice: () => {} })
    const name = `stranger_${randomBytes(4).toString('hex')}`
    await admin.unsafe(`create role ${name} login password 'hunter2'`)
    t.teardown(async () => {
      await admin.unsafe(`drop role ${name}`)
      await admin.end()
      await drop()
    })
    const as = (user: string, password: string, database?: string) => {
      const other = new URL(url)
      Object.assign(other, { username: user, password, ...(database && { pathname: `/${database}` }) })
      return other.href
    }
    for (const [wrong, said] of [
      [
        as(name, 'hunter2'),
        'names a user without the right to create the tables: make it the owner of the database, or grant it CREATE on the database and on its schema "public"',
      ],
      [as(name, 'hunter2', 'nowhere'), 'names a database that doesn’t exist: create it, or correct the name'],
    ] as const)
      await rejects(t, migrate(wrong), `DATABASE_URL ${said}`)
    for (const program of ['src/bin/migrate', 'src/bin/rebuild-rollups']) {
      const command = launchProgram(t, program, { DATABASE_URL: as(name, 'hunter3') })
      const rejected = await rejectionOf(t, command)
      t.match(rejected, /DATABASE_URL has a user or password that the server rejects: correct them/, program)
      t.notMatch(rejected, /hunter/)
    }
    t.match(await rejectionOf(t, launchProgram(t, 'src/bin/migrate', {})), /DATABASE_URL is required/)
  },
)

t.test(
  'programs reject a server that asks for a clear-text password, and say so in one sentence',
  async (t) => {
    const impostor = await startImpostor(t, 'clear text')
    const url = `postgres://service:hunter2@127.0.0.1:${impostor.port}/service`
    const env = onDatabase(url)
    const saidOf = (method: string) =>
      new RegExp(`DATABASE_URL names a server that asks for .*the password.* require_auth=${method}$`)
    t.match(await rejectionOf(t, launch(t, await freePort(), env)), saidOf('password'))
    const users = launchProgram(t, 'src/bin/users', env, ['find', 'ada'])
    t.match(await rejectionOf(t, users), saidOf('password'))
    const doctor = launchProgram(t, 'src/bin/doctor', env)
    t.equal(await doctor.ended, 1)
    t.match(doctor.output(), /DATABASE_URL names a server that asks for .*require_auth=password/)
    impostor.demand = 'MD5'
    await t.rejects(explainDatabaseErrors(migrate(url)), { message: saidOf('md5') })
    t.equal(receivedPassword(impostor, 'hunter2'), false)
    t.equal(impostor.heard, '')
  },
)

t.test('a command prints its usage', async (t) => {
  const help = launchProgram(t, 'demo/seed-activity', {}, ['--help'])
  t.equal(await help.ended, 0)
  t.match(help.output(), /^npm run seed -- \[--teams N\][\s\S]*DATABASE_URL says where/)
  const usages = [
    ['src/server', /^npm start\n/],
    ['demo/demo', /^npm run demo -- \[--days N\]\n/],
    ['demo/dev', /^npm run dev\n/],
    ['src/bin/migrate', /^npm run migrate -- \[--plan\]\n/],
    ['src/bin/distribute', /^npm run distribute\n/],
  ] as const
  for (const [program, usage] of usages) {
    const command = launchProgram(t, program, {}, ['--help'])
    t.equal(await command.ended, 0, program)
    t.match(command.output(), usage, program)
  }
  const option = launchProgram(t, 'src/server', {}, ['--port', '4000'])
  t.match(await rejectionOf(t, option), /^Unknown option '--port'\. See `npm run start -- --help`\.$/)
  const none = launchProgram(t, 'demo/seed-activity', {}, ['--teams', '0'])
  t.match(await rejectionOf(t, none), /^--teams must be a whole number from 1 to 10000\.$/)
})
