import { randomBytes } from 'node:crypto'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import postgres from 'postgres'
import t, { type Test } from 'tap'
import { startRepohost } from '../demo/repohost.js'
import { backUp } from '../src/operator/backup/back-up.js'
import { checkMemory, checkNode } from '../src/operator/doctor/environment.js'
import { runChecks } from '../src/operator/doctor/examine.js'
import { baseline, newestMigration } from '../src/platform/database/migrations.js'
import { createTestDatabase } from './database.js'
import { hasProperties } from './has-properties.js'
import { databaseOf } from './migrated.js'
import { launchProgram, onDatabase, temporaryFolder } from './process.js'
import { until } from './until.js'

type Environment = Record<string, string>

const repohost = await startRepohost()
t.teardown(() => repohost.close())
/** All services that the doctor calls respond. */
const reachable = {
  REPOHOST_URL: repohost.url,
  REPOHOST_API_URL: repohost.url,
  ASSISTANT_A_URL: repohost.url,
  ASSISTANT_B_URL: repohost.url,
}

const { url, drop } = await createTestDatabase()
t.teardown(drop)
const sound: Environment = { ...reachable, ...onDatabase(url), TRUST_PROXY: '127.0.0.1' }

/** Repeats the examination if the machine was too slow for the doctor. */
const examined = (env: Environment) =>
  until(async () => {
    const found = await runChecks(env, new AbortController().signal)
    return (
      !found.some(({ message }) => /TimeoutError|CONNECT_TIMEOUT|No response within/.test(message)) && found
    )
  }, 'everything answers in time')

/** The problems that the doctor finds, one line each. */
const findingsOf = async (env: Environment): Promise<string[]> =>
  (await examined(env))
    // The Node that runs the tests says nothing about a deployment.
    .filter(({ level, about }) => level !== 'ok' && about !== 'node')
    .map(({ level, about, message, remedy }) => `${level} ${about}: ${message} ${remedy}`)

/** Another user of the server, with as many rights as it is given. */
const createUser = async (t: Test) => {
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  const name = `user_${randomBytes(6).toString('hex')}`
  await sql.unsafe(`create role ${name} login password 'secret'`)
  t.teardown(async () => {
    await sql.unsafe(`drop owned by ${name}`)
    await sql.unsafe(`drop role ${name}`)
    await sql.end()
  })
  const changed = new URL(url)
  changed.username = name
  changed.password = 'secret'
  return { name, sql, url: changed.href }
}

t.test('a healthy deployment has no problems', async (t) => {
  t.strictSame(await findingsOf(sound), [])
  t.strictSame(
    await findingsOf({ ...reachable, DATA_DIR: '/nowhere/yet' }),
    [],
    'nor has one before its first start',
  )
})

t.test('the doctor reports a deployment’s problems, and nothing else', async (t) => {
  const wrongPassword = new URL(url)
  wrongPassword.password = 'wrong'
  const nowhere = new URL(url)
  nowhere.pathname = '/nowhere'
  const secret = 'a-secret-that-is-used-in-two-places-at-once'
  const broken: [what: string, env: Environment, said: RegExp[]][] = [
    [
      'many at once',
      {
        WORKERS: 'auto',
        DATABASE_POOL_SIZE: '999',
        TRUST_PROXY: '127.0.0.1,0.0.0.0/0',
        ADMIN_KEYS: 'letmein',
        JWT_SECRETS: 'a'.repeat(46),
        RATE_LIMITS: 'off',
        LIMIT_EXEMPT: '127.0.0.1,0.0.0.0/0',
        MAINTENANCE: 'back soon',
        BILLING_DORMANT: 'false',
        ASSISTANT_A_URL: 'http://127.0.0.1:1',
      },
      [
        /^warning configuration: WORKERS is no longer used.* run more instances/,
        /^problem addresses: TRUST_PROXY contains every address/,
        /^problem secrets: An admin key is shorter/,
        /^problem secrets: A value of JWT_SECRETS has fewer than 8 different characters/,
        /^problem billing: .*no one can subscribe/,
        /^warning limits: RATE_LIMITS is off/,
        /^problem limits: LIMIT_EXEMPT contains every address/,
        /^warning maintenance: MAINTENANCE is set/,
        /^problem database: DATABASE_POOL_SIZE is 999/,
        /^warning network: The first model provider/,
      ],
    ],
    [
      'every address in halves, and two secrets on two lines',
      {
        TRUST_PROXY: '0.0.0.0/1,128.0.0.0/1',
        LIMIT_EXEMPT: '2000::/3',
        ADMIN_KEYS: 'first-admin-key-of-24-bytes\nother-admin-key-of-24-bytes',
        SHUTDOWN_DELAY_MS: '25000',
      },
      [
        /^problem addresses: TRUST_PROXY contains every address, or a large part of all/,
        /^problem secrets: A value of ADMIN_KEYS has more than one line/,
        /^problem limits: LIMIT_EXEMPT contains every address, or a large part of all/,
        /^warning stop: With SHUTDOWN_DELAY_MS=25000, a stop takes up to 35 s.* allow 35 s: TimeoutStopSec/,
      ],
    ],
    [
      'a Redis that is not there',
      { REDIS_URL: 'redis://:hunter2@127.0.0.1:1' },
      [/^warning redis: It can’t be used, so each instance counts separately: .*ECONNREFUSED/],
    ],
    [
      'wrong variables',
      { PORT: 'x', LOG_LEVEL: 'loud' },
      [/^problem configuration: PORT must/, /LOG_LEVEL must/],
    ],
    [
      'no database there',
      { DATABASE_URL: 'postgres://127.0.0.1:1/x' },
      [/^problem database: .*ECONNREFUSED.* Start it/],
    ],
    ['a wrong password', { DATABASE_URL: wrongPassword.href }, [/^problem database: .*user or password/]],
    ['a wrong database', { DATABASE_URL: nowhere.href }, [/^problem database: .*doesn’t exist: create it/]],
    [
      'no timeouts where the service cannot set them',
      { DATABASE_URL: url, DATABASE_PREPARE: 'false' },
      [
        /^problem timeouts: .*can’t set idle_in_transaction_session_timeout, lock_timeout, statement_timeout.* ALTER ROLE/,
      ],
    ],
    [
      'no TLS',
      { BASE_URL: 'http://api.example.com' },
      [/^problem addresses: .*isn’t https/, /^warning addresses: Nothing answers at BASE_URL/],
    ],
    [
      'a proxy that is not named',
      { BASE_URL: 'https://api.example.com', TRUST_PROXY: '' },
      [/^problem addresses: .*TRUST_PROXY/, /^warning addresses: Nothing answers at BASE_URL/],
    ],
    [
      'something else at the addresses that people use',
      { BASE_URL: repohost.url, SITE_URL: repohost.url.replace('127.0.0.1', 'localhost') },
      [
        /^problem addresses: Something else answers at BASE_URL: .*\/api\/health returns 401 .* Correct BASE_URL/,
        /^problem addresses: Something else answers at SITE_URL: .*\/api\/health returns 401 .* pass \/api\/ on/,
      ],
    ],
    [
      'no folder for backups',
      { BACKUP_DIR: '/nowhere/at/all' },
      [/^problem backup: BACKUP_DIR \(\/nowhere\/at\/all\) can’t be used \(ENOENT\).* Create the folder/],
    ],
    [
      'a file for backups',
      { BACKUP_DIR: '/dev/null' },
      [/^problem backup: BACKUP_DIR \(\/dev\/null\) isn’t a folder/],
    ],
    [
      'half of another repository host',
      { REPOHOST_URL: 'https://github.com' },
      [/^problem sign-in: .*belong to different hosts.*remove REPOHOST_API_URL.*https:\/\/api\.github\.com/],
    ],
    [
      'no way to the login page',
      {
        REPOHOST_URL: 'http://127.0.0.1:1',
        REPOHOST_CLIENT_ID: 'id',
        REPOHOST_CLIENT_SECRET: 'an-oauth-secret',
      },
      [/^problem network: The login page .* REPOHOST_URL/],
    ],
    [
      'one name for all machines',
      { HOST: '0.0.0.0' },
      [/^warning addresses: .*BASE_URL is http:\/\/localhost:3000.* BASE_URL/],
    ],
    [
      'a dashboard that gets no cookie',
      { BASE_URL: 'https://api.example.com', SITE_URL: 'http://app.example.com' },
      [
        /^problem addresses: SITE_URL .* aren’t both https/,
        /^warning addresses: Nothing answers at BASE_URL/,
        /^warning addresses: Nothing answers at SITE_URL/,
      ],
    ],
    [
      'one secret for two things',
      { JWT_SECRETS: secret, ADMIN_KEYS: secret },
      [/^problem secrets: A value of ADMIN_KEYS is used twice/],
    ],
    [
      'the secret of the OAuth app for another thing',
      { ...sound, REPOHOST_CLIENT_ID: 'id', REPOHOST_CLIENT_SECRET: secret, ADMIN_KEYS: secret },
      [/^problem secrets: A value of REPOHOST_CLIENT_SECRET is used twice/],
    ],
    [
      'half of billing',
      { BILLING_SECRET_KEY: 'sk_test_0123456789', BILLING_API_URL: repohost.url },
      [/^warning billing: .*not BILLING_WEBHOOK_SECRET, BILLING_PRICE_MONTH, BILLING_PRICE_YEAR/],
    ],
    [
      'no way to the host',
      { REPOHOST_API_URL: 'http://127.0.0.1:1' },
      [/^problem network: The repository host can’t/],
    ],
  ]
  for (const [what, env, said] of broken) {
    const found = await findingsOf({ ...sound, ...env })
    hasProperties(t, found, said, what)
    t.equal(found.length, said.length, `${what}: ${found.join('\n')}`)
    t.notMatch(found.join('\n'), new RegExp(`${secret}|hunter2|letmein|sk_test`), 'without a secret')
  }
})

t.test('roles that can’t create tables, or don’t own them, are reported', async (t) => {
  const user = await createUser(t)
  hasProperties(t, await findingsOf({ ...sound, DATABASE_URL: user.url }), [
    /^problem database: .*isn’t allowed to create tables.*grant it CREATE/,
  ])
  await user.sql.unsafe(`grant create on schema public to ${user.name}`)
  await user.sql.unsafe(`grant create on database ${new URL(url).pathname.slice(1)} to ${user.name}`)
  hasProperties(t, await findingsOf({ ...sound, DATABASE_URL: user.url }), [
    /^problem database: Some tables don’t belong to/,
  ])
})

t.test('a schema from another version is reported', async (t) => {
  const older = await databaseOf(t, baseline.when)
  if (newestMigration !== baseline)
    hasProperties(t, await findingsOf({ ...sound, ...onDatabase(older.url) }), [
      /^warning schema: It is older.*Back up first/,
    ])
  await older.sql`insert into drizzle.__drizzle_migrations (hash, created_at) values ('x', 9999999999999)`
  hasProperties(t, await findingsOf({ ...sound, ...onDatabase(older.url) }), [
    /^problem schema: A newer version has migrated/,
  ])
})

t.test('a mistyped DATA_DIR beside one with a database is reported', async (t) => {
  const parent = await temporaryFolder(t)
  await mkdir(join(parent, 'data/postgresql'), { recursive: true })
  await writeFile(join(parent, 'data/postgresql/PG_VERSION'), '17\n')
  hasProperties(t, await findingsOf({ ...reachable, DATA_DIR: join(parent, 'daat') }), [
    /^warning database: There is none in DATA_DIR \(\S+daat\), but in \S+data\. Correct DATA_DIR/,
  ])
})

t.test('an old or missing backup is reported', async (t) => {
  const { url, sql } = await databaseOf(t)
  const env = { ...sound, ...onDatabase(url) }
  t.strictSame(await findingsOf(env), [], 'an unused database needs none')
  await sql`
    insert into users (id, repohost_id, login, login_key, avatar_url, created_at)
    values (gen_random_uuid(), 1, 'ada', 'ada', '', now() - interval '9 days')`
  hasProperties(t, await findingsOf(env), [
    /^warning backup: There is no known backup.* for 9 days.*npm run backup/,
  ])
  await sql`insert into backups (made_at, bytes) values (now() - interval '8 days', 1)`
  hasProperties(t, await findingsOf(env), [/^warning backup: The last known backup is 8 days old/])
  const file = join(await temporaryFolder(t), 'backup.gz')
  await backUp(url, file, () => {}, new AbortController().signal)
  t.strictSame(await findingsOf(env), [], 'the database records its backups')
  await sql`insert into backups (made_at, bytes) values (now() + interval '1 year', 1)`
  hasProperties(t, await findingsOf(env), [
    /^problem backup: The database lists a backup of .* UTC, which is in the future\. The last other one is of .* UTC\. Check the clocks/,
  ])
  const said: string[] = []
  await backUp(url, `${file}.2`, (line) => said.push(line), new AbortController().signal)
  t.match(said.at(-1), /^The database listed a backup of \S+, which was in the future\. It no longer does\./)
  t.strictSame(await findingsOf(env), [], 'the next backup removes it')
})

t.test('webhooks without keys are reported', async (t) => {
  const { url, sql } = await databaseOf(t)
  const env = { ...sound, ...onDatabase(url) }
  await sql`insert into workspaces (id, name, idle_window_minutes) values (gen_random_uuid(), 'Team', 5)`
  await sql`insert into webhooks (workspace_id, id) select id, gen_random_uuid() from workspaces`
  hasProperties(t, await findingsOf(env), [
    /^problem webhooks: There is 1 webhook, but WEBHOOK_KEYS isn’t set.* Set WEBHOOK_KEYS/,
  ])
  t.strictSame(await findingsOf({ ...env, WEBHOOK_KEYS: 'a-key-for-webhooks-of-at-least-32-bytes' }), [])
})

t.test('a missing organization scope is reported if a workspace follows an organization', async (t) => {
  const { url, sql } = await databaseOf(t)
  const app = { REPOHOST_CLIENT_ID: 'app', REPOHOST_CLIENT_SECRET: 'the-secret-of-the-app' }
  const env = { ...sound, ...onDatabase(url), ...app }
  t.strictSame(await findingsOf(env), [], 'no one follows an organization')
  await sql`insert into workspaces (id, name, idle_window_minutes) values (gen_random_uuid(), 'Team', 5)`
  await sql`insert into organizations (workspace_id, host_id, name, joins, leaves, linked_by, linked_at)
    select w.id, 9919, 'acme', 'member', 'keep', u.id, now() from workspaces w, users u limit 1`
  hasProperties(t, await findingsOf(env), [
    /^warning organizations: 1 workspace follows an organization, but .*read:org.* Add read:org to REPOHOST_SCOPES/,
  ])
  t.strictSame(await findingsOf({ ...env, REPOHOST_SCOPES: 'read:org' }), [])
  t.strictSame(await findingsOf({ ...env, REPOHOST_SCOPES: 'repo,admin:org' }), [])
})

t.test('an instance with different secrets is reported', async (t) => {
  const { url, sql } = await databaseOf(t)
  const env = { ...sound, ...onDatabase(url) }
  await sql`insert into signing_keys (key_id) values ('0123456789abcdef')`
  hasProperties(t, await findingsOf(env), [
    /^problem secrets: In the last 5 minutes, another instance signed .* Set the same JWT_SECRETS/,
  ])
  await sql`update signing_keys set used_at = now() - interval '6 minutes'`
  t.strictSame(await findingsOf(env), [], 'one that has stopped is no fault')
})

t.test('a world-readable file with a secret is reported', async (t) => {
  const file = join(await temporaryFolder(t), 'admin-keys')
  await writeFile(file, 'an-admin-key-of-one-operator')
  const env = { ...sound, ADMIN_KEYS_FILE: file }
  await chmod(file, 0o644)
  t.strictSame(await findingsOf(env), [
    `warning secrets: Everyone on this machine can read ${file}, which ADMIN_KEYS_FILE names. Run \`chmod o-rwx\` on it. If others may have read it, change the secret.`,
  ])
  await chmod(file, 0o640)
  t.strictSame(await findingsOf(env), [], 'a group with the user’s name is usual')
  await chmod(file, 0o444)
  await chmod(dirname(file), 0o700)
  t.strictSame(await findingsOf(env), [], 'no one else passes the folder above it')
})

t.test('keys that were stored under other prefixes are counted', async (t) => {
  const { url, sql } = await databaseOf(t)
  const env = { ...sound, ...onDatabase(url) }
  const settings = {
    'ext.theme': 1,
    'eslint.run': 2,
    'eslint.rules': { 'files.eol': 1 },
    'files.eol': 1,
    '[go]': { 'ext.a': 1, 'gopls.ui': 2 },
    cSpell: {},
  }
  await sql`insert into workspaces (id, name, idle_window_minutes, settings)
    values (gen_random_uuid(), 'Team', 5, ${JSON.stringify(settings)})`
  t.strictSame(await findingsOf(env), [
    'warning settings: 4 stored keys have a prefix that EXTENSION_PREFIX doesn’t list: eslint (2), cSpell (1), gopls (1). Add the prefixes that you use to EXTENSION_PREFIX. Other keys stay and can be removed, but not changed.',
  ])
  t.strictSame(await findingsOf({ ...env, EXTENSION_PREFIX: 'ext,eslint,files,gopls,cSpell' }), [])
  t.strictSame(await findingsOf({ ...env, EXTENSION_PREFIX: 'ext,cSpell,*' }), [])
  t.strictSame(await findingsOf({ ...env, EXTENSION_PREFIX: 'ext,*' }), [
    'warning settings: 1 stored key has a prefix that EXTENSION_PREFIX doesn’t list: cSpell (1). Add the prefixes that you use to EXTENSION_PREFIX. Other keys stay and can be removed, but not changed.',
  ])
})

t.test('a world-readable signing secret is reported', async (t) => {
  const folder = join(await temporaryFolder(t), 'data')
  await mkdir(folder)
  const file = join(folder, 'jwt-secret')
  await writeFile(file, 'x'.repeat(40))
  await chmod(file, 0o644)
  hasProperties(t, await findingsOf({ ...reachable, DATA_DIR: folder }), [
    /^problem secrets: Others on this machine can read/,
  ])
})

t.test('an old Node version is reported', async (t) => {
  hasProperties(t, checkNode('20.18.9'), { level: 'problem', message: /20\.18\.9/ })
  const [lastDay, dayAfter] = [new Date('2026-04-30T23:59:59Z'), new Date('2026-05-01')]
  t.strictSame(checkNode('20.19.0', lastDay), { level: 'ok', about: 'node', message: 'Node 20.19.0.' })
  t.strictSame(checkNode('20.19.0', dayAfter), {
    level: 'warning',
    about: 'node',
    message: 'Node 20 has had no security fixes since 2026-04-30.',
    remedy: 'Upgrade to Node 24.',
  })
  hasProperties(t, checkNode('25.1.0'), { level: 'warning', message: 'Node 25 gets no security fixes.' })
  hasProperties(t, checkNode('28.0.0'), { level: 'ok' })
})

t.test('a container with too little memory is reported', async (t) => {
  t.strictSame(checkMemory(511), {
    level: 'warning',
    about: 'memory',
    message:
      'The service may use 511 MiB of memory. Several large uploads or configurations at once can end it.',
    remedy: 'Give each instance 512 MiB.',
  })
  t.strictSame(checkMemory(512), { level: 'ok', about: 'memory', message: 'The service may use 512 MiB.' })
})

t.test('the doctor shows the callback URL to enter at the repository host', async (t) => {
  const findings = await runChecks(
    {
      ...sound,
      BASE_URL: 'https://api.example.com',
      REPOHOST_CLIENT_ID: 'id',
      REPOHOST_CLIENT_SECRET: 'a-secret',
    },
    new AbortController().signal,
  )
  t.match(
    findings.find(({ about }) => about === 'sign-in')?.message,
    /https:\/\/api\.example\.com\/api\/auth\/callback/,
  )
  const before = await runChecks(
    { ...reachable, DATA_DIR: '/nowhere/yet', BASE_URL: 'https://api.example.com' },
    new AbortController().signal,
  )
  t.match(
    before.find(({ about }) => about === 'sign-in')?.message,
    /^There is no OAuth app.* https:\/\/api\.example\.com\/api\/auth\/callback/,
    'even before the app that needs it exists',
  )
})

t.test('the exit code shows whether there are problems', async (t) => {
  const well = launchProgram(t, 'src/bin/doctor', sound)
  const ill = launchProgram(t, 'src/bin/doctor', { ...sound, ADMIN_KEYS: 'x' })
  t.equal(await well.ended, 0, well.output())
  t.match(well.output(), /The service can run\.\n$/)
  t.equal(await ill.ended, 1)
  t.match(ill.output(), /^PROBLEM {2}secrets: An admin key[\s\S]*Problems to fix: 1\.\n$/m)
})
