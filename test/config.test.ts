import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { variables } from '../schemas/environment.js'
import { readConfig } from '../src/config.js'
import { envExample, withVariables } from '../src/operator/config-docs.js'
import { projectRoot } from '../src/platform/process/root.js'
import { problemsOf } from './config-problems.js'
import { hasProperties } from './has-properties.js'
import { temporaryFolder } from './process.js'

const secret = 'a-secret-of-at-least-thirty-two-bytes'

t.test('an empty environment is a valid configuration', async (t) => {
  t.hasStrict(readConfig({}), {
    host: '127.0.0.1',
    port: 3000,
    databaseUrl: undefined,
    dataDir: '.data',
    baseUrl: 'http://127.0.0.1:3000',
    extensionPrefix: 'ext',
    billing: { dormant: true },
    rateLimits: true,
    activityDetailDays: 400,
  })
  t.strictSame(
    readConfig({ PORT: '', HOST: ' ', DATABASE_URL: '' }),
    readConfig({}),
    'an empty variable counts as unset',
  )
})

t.test('all invalid variables are listed together, without their values', async (t) => {
  const wrong = {
    HOST: 'not a host!',
    PORT: '99999',
    DATABASE_URL: 'mysql://root:hunter2@db',
    DATABASE_POOL_SIZE: '0',
    DATABASE_PREPARE: 'yes',
    JWT_SECRETS: `${secret},hunter2`,
    SITE_URL: 'https://example.com/path',
    BASE_URL: 'example.com',
    DASHBOARD_ORIGINS: 'https://ok.example.com,hunter2',
    EXTENSION_PREFIX: 'a.b',
    EXTENSION_URL: 'javascript:alert(1)',
    REPOHOST_URL: 'ftp://host',
    REPOHOST_API_URL: 'https://user:hunter2@host',
    REPOHOST_CLIENT_ID: 'id-without-secret',
    BILLING_API_URL: 'x',
    BILLING_DORMANT: '1',
    ASSISTANT_A_URL: 'x',
    ASSISTANT_B_URL: 'javascript:alert(1)',
    FUNNEL_STEPS: 'a,a',
    ACTIVITY_DETAIL_DAYS: '-1',
    RATE_LIMITS: 'true',
    REDIS_URL: 'redis://:hunter2@host/name',
    TRUST_PROXY: 'everyone',
    METRICS_PORT: 'x',
    SHUTDOWN_DELAY_MS: '-1',
    LOG_LEVEL: 'loud',
  }
  const problems = problemsOf(wrong)
  for (const name of Object.keys(wrong)) {
    t.equal(problems.filter((problem) => problem.split(' ').includes(name)).length, 1, name)
  }
  t.notMatch(problems.join('\n'), /hunter2/)
})

t.test('WORKERS no longer has an effect, and any value but 1 logs a warning', async (t) => {
  const warnings = [
    {
      message: 'WORKERS is no longer used: the service runs as one process.',
      remedy:
        'Remove WORKERS. To use more processors, run more instances (docs/run.md, “Several instances on one machine”).',
    },
  ]
  for (const WORKERS of ['auto', '2', '0', 'x']) t.strictSame(readConfig({ WORKERS }).warnings, warnings)
  for (const env of [{}, { WORKERS: '' }, { WORKERS: ' 1 ' }]) t.strictSame(readConfig(env).warnings, [])
})

t.test('a misspelled variable logs a warning, and unrelated ones don’t', async (t) => {
  const meant = (name: string) => readConfig({ [name]: 'x' }).warnings.map(({ remedy }) => remedy)
  t.strictSame(meant('JWT_SECRET'), ['Did you mean JWT_SECRETS?'])
  t.strictSame(meant('JWT_SECRET_FILE'), ['Did you mean JWT_SECRETS_FILE?'])
  t.strictSame(meant('DATABSE_POOL'), ['Did you mean DATABASE_POOL_SIZE?'])
  t.strictSame(meant('DATABSE_URL'), ['Did you mean DATABASE_URL?'])
  t.strictSame(meant('ASSISTANT_C_URL'), ['Did you mean ASSISTANT_A_URL?'])
  t.strictSame(meant('trust_proxy'), ['Did you mean TRUST_PROXY?'])
  for (const other of 'HOME HOSTNAME PATH SUPPORT LOGNAME NODE_ENV PGHOST DATABASE_NAME'.split(' '))
    t.strictSame(meant(other), [], other)
})

t.test('limits that differ from their defaults are listed in one variable', async (t) => {
  const { limits, warnings } = readConfig({ LIMITS: ' rate_per_caller=40, removals=1 ' })
  t.strictSame([limits.rate_per_caller, limits.removals, limits.exports_per_hour], [40, 1, 10])
  t.strictSame(warnings, [])
  for (const wrong of ['rate_per_caller', 'removals=0', 'constructor=1', 'session_days=1', 'removals=1e3'])
    hasProperties(t, problemsOf({ LIMITS: `removals=2,${wrong}` }), [
      /^LIMITS must be a comma-separated list of/,
    ])
  const misspelt = (LIMITS: string) => problemsOf({ LIMITS }).map((message) => message.split('; ')[1])
  t.strictSame(misspelt('removals=2,rate_per_calller=40'), [
    'rate_per_calller is no limit, did you mean rate_per_caller?',
  ])
  t.strictSame(misspelt('Removals=2'), ['Removals is no limit, did you mean removals?'])
  t.strictSame(misspelt('constructor=1'), ['constructor is no limit'])
  t.strictSame(misspelt('removals=none'), [undefined], 'the name is right')
  t.strictSame(readConfig({ LIMIT_RATE_PER_CALLER: '1' }).warnings, [
    { message: 'LIMIT_RATE_PER_CALLER is no longer used.', remedy: 'Set LIMITS=rate_per_caller=… instead.' },
  ])
})

t.test('a variable that no longer has an effect logs a warning, whatever its value', async (t) => {
  for (const env of [{ DATABASE_REPLICA_URL: 'x' }, { DATABASE_REPLICA_URL_FILE: '/nowhere' }])
    t.strictSame(readConfig(env).warnings, [
      {
        message: 'DATABASE_REPLICA_URL is no longer used: all reads go to DATABASE_URL.',
        remedy: 'Remove DATABASE_REPLICA_URL.',
      },
    ])
  t.strictSame(readConfig({ DATABASE_REPLICA_URL: ' ' }).warnings, [])
})

t.test('metrics need their own port', async (t) => {
  hasProperties(t, problemsOf({ PORT: '8080', METRICS_PORT: '8080' }), [
    /^METRICS_PORT must differ from PORT/,
  ])
  hasProperties(
    t,
    problemsOf({ METRICS_PORT: '3000' }),
    [/^METRICS_PORT/],
    'the one that is not set counts as well',
  )
  t.strictSame(problemsOf({ METRICS_PORT: '9464' }), [])
})

t.test('instances that share a database need a common secret', async (t) => {
  const DATABASE_URL = 'postgres://localhost/db'
  hasProperties(t, problemsOf({ DATABASE_URL }), [/^JWT_SECRETS is required/])
  t.strictSame(problemsOf({ DATABASE_URL, JWT_SECRETS: secret }), [])
  for (const several of [
    'postgres://one:5432,two:5433/db',
    'postgres://u:a,b@one,two,three?sslmode=require',
  ]) {
    t.strictSame(problemsOf({ DATABASE_URL: several, JWT_SECRETS: secret }), [], 'several hosts')
  }
  for (const listed of ['md5', 'md5,password', 'scram-sha-256,%20none'])
    t.strictSame(
      problemsOf({ DATABASE_URL: `${DATABASE_URL}?require_auth=${listed}`, JWT_SECRETS: secret }),
      [],
    )
  for (const wrong of [
    'postgres://one/db?require_auth=md5,gss',
    'postgres://one:x,two/db',
    'mysql://one,two/db',
    'one,two',
  ]) {
    hasProperties(t, problemsOf({ DATABASE_URL: wrong, JWT_SECRETS: secret }), [/^DATABASE_URL must be/])
  }
  const saidOf = (DATABASE_URL: string) => problemsOf({ DATABASE_URL, JWT_SECRETS: secret })
  t.strictSame(saidOf('mysql://root@db/x'), ['DATABASE_URL must be a postgres:// URL'])
  for (const quoted of [`"${DATABASE_URL}"`, `'${DATABASE_URL}'`])
    t.strictSame(saidOf(quoted), [
      'DATABASE_URL must have no quotes around it: they are part of the value here',
    ])
  for (const mode of ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'])
    t.strictSame(
      problemsOf({ DATABASE_URL: `${DATABASE_URL}?sslmode=${mode}`, JWT_SECRETS: secret }),
      [],
      mode,
    )
  for (const misspelt of [
    'sslmode=verify_full',
    'sslmode=Require',
    'sslmode=',
    'sslmode=require&sslmode=verifyfull',
    'ssl_mode=require',
    'sslMode=require',
  ])
    t.strictSame(
      problemsOf({ DATABASE_URL: `${DATABASE_URL}?${misspelt}`, JWT_SECRETS: secret }),
      [
        'DATABASE_URL has a parameter for TLS that isn’t known: write sslmode=disable, allow, prefer, require, verify-ca or verify-full',
      ],
      misspelt,
    )
  for (const unescaped of ['a%b', 'a/b', 'a?b', 'a#b', '12#34', 'a/@b', 'a?b@c', 'a@b/c'])
    t.strictSame(
      problemsOf({ DATABASE_URL: `postgres://u:${unescaped}@one/db`, JWT_SECRETS: secret }),
      [
        'DATABASE_URL contains a user or password with a character that has a meaning in URLs: write @ as %40, : as %3A, / as %2F, ? as %3F, # as %23 and % as %25',
      ],
      unescaped,
    )
  for (const fine of [
    'u:a%2Fb@one/db',
    'u:a@b@one/db',
    'u:a@one/my@db',
    'u:a@b@one,two/my@db?sslmode=require',
    'one/db?application_name=a@b',
    'u:a@%2Frun%2Fpg/db',
  ])
    t.strictSame(problemsOf({ DATABASE_URL: `postgres://${fine}`, JWT_SECRETS: secret }), [], fine)
  hasProperties(t, problemsOf({ JWT_SECRETS: 'short' }), [/^JWT_SECRETS/])
  hasProperties(t, problemsOf({ JWT_SECRETS: 'ü'.repeat(15) }), [/^JWT_SECRETS/], 'bytes count')
  t.strictSame(problemsOf({ JWT_SECRETS: 'ü'.repeat(16) }), [])
})

t.test('a secret can be read from a file', async (t) => {
  const folder = await temporaryFolder(t)
  const path = (name: string) => join(folder, name)
  await writeFile(path('jwt'), `${secret},another-secret-of-at-least-32-bytes\n`)
  await writeFile(path('empty'), ' \n')
  await writeFile(path('short'), 'hunter2')
  const { jwtSecrets } = readConfig({ JWT_SECRETS_FILE: path('jwt'), ADMIN_KEYS_FILE: '' })
  t.strictSame(jwtSecrets, [secret, 'another-secret-of-at-least-32-bytes'])

  t.strictSame(
    problemsOf({
      JWT_SECRETS_FILE: path('short'),
      ADMIN_KEYS_FILE: path('empty'),
      BILLING_SECRET_KEY_FILE: path('none'),
      BILLING_WEBHOOK_SECRET_FILE: path('jwt'),
      BILLING_WEBHOOK_SECRET: 'hunter2',
      PORT_FILE: path('none'),
    }),
    [
      'ADMIN_KEYS_FILE must name a file that isn’t empty',
      'BILLING_SECRET_KEY_FILE must name a file that can be read (ENOENT)',
      'BILLING_WEBHOOK_SECRET and BILLING_WEBHOOK_SECRET_FILE must not both be set',
      'JWT_SECRETS must be comma-separated secrets of at least 32 bytes each',
    ],
  )
})

t.test('the service’s own origin follows from where it listens', async (t) => {
  t.equal(readConfig({ HOST: '0.0.0.0', PORT: '8080' }).baseUrl, 'http://localhost:8080')
  t.equal(readConfig({ HOST: '::', PORT: '8080' }).baseUrl, 'http://localhost:8080')
  t.equal(readConfig({ HOST: '::1' }).baseUrl, 'http://[::1]:3000')
  t.equal(readConfig({ BASE_URL: 'https://api.example.com/' }).baseUrl, 'https://api.example.com')
  const { dashboardOrigins, trustedOrigins } = readConfig({
    SITE_URL: 'https://a.example.com',
    DASHBOARD_ORIGINS: 'https://b.example.com:8443 , https://a.example.com',
  })
  t.strictSame(dashboardOrigins, ['https://a.example.com', 'https://b.example.com:8443'])
  t.ok(trustedOrigins.includes('http://127.0.0.1:3000'))
})

t.test('.env.example and docs/configuration.md match how every variable is read', async (t) => {
  const read = (name: string) => readFile(join(projectRoot, name), 'utf8')
  const example = await read('.env.example')
  t.equal(example, envExample(), 'run `npm run openapi`')
  const page = await read('docs/configuration.md')
  t.equal(page, withVariables(page), 'run `npm run openapi`')

  const shown = Object.fromEntries(
    [...example.matchAll(/^([A-Z_]+)=(.*)$/gm)].map(([, name, value]) => [name, value]),
  )
  t.strictSame(Object.keys(shown), Object.keys(variables))
  t.strictSame(readConfig(shown), readConfig({}), 'what it shows are the defaults')
})

t.test('every example value is accepted', async (t) => {
  for (const [name, { examples }] of Object.entries(variables)) {
    // The service reads this file at startup, and not every machine has it.
    if (name === 'SETTINGS_SCHEMA') continue
    const secret = ['JWT_SECRETS', 'WEBHOOK_KEYS'].includes(name)
      ? 'an-example-of-at-least-thirty-two-bytes'
      : String(examples[0])
    const problems = problemsOf({ [name]: secret }).filter((problem) => !problem.includes('together'))
    hasProperties(t, problems, name === 'DATABASE_URL' ? [/^JWT_SECRETS is required/] : [], name)
    t.equal(problems.length, name === 'DATABASE_URL' ? 1 : 0, name)
  }
})

t.test(
  'an app allow-list is rejected if the host doesn’t report which app a token was issued for',
  async (t) => {
    const address = 'https://code.example.com'
    const of = (kind: string) =>
      problemsOf({
        REPOHOST_KIND: kind,
        REPOHOST_URL: address,
        REPOHOST_API_URL: `${address}/api`,
        REPOHOST_ALLOWED_CLIENT_IDS: 'ours',
      })
    t.same(of('github'), [])
    t.same(of('gitlab'), [])
    t.same(of('forgejo'), [
      'REPOHOST_ALLOWED_CLIENT_IDS can’t be used with REPOHOST_KIND=forgejo: Forgejo doesn’t say which OAuth app a token was made for',
    ])
  },
)
