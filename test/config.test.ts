import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { variables } from '../schemas/environment.js'
import { type ConfigError, readConfig } from '../src/config.js'
import { envExample, withVariables } from '../src/runtime/config-docs.js'
import { projectRoot } from '../src/runtime/root.js'

const secret = 'a-secret-of-at-least-thirty-two-bytes'

const problemsOf = (env: Record<string, string>): string[] => {
  try {
    readConfig(env)
    return []
  } catch (error) {
    return (error as ConfigError).problems
  }
}

t.test('with nothing set there is a working configuration', async (t) => {
  t.match(readConfig({}), {
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

t.test('every wrong variable is named at once, and no value is shown', async (t) => {
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
    TRUST_PROXY: 'everybody',
    METRICS_PORT: 'x',
    LOG_LEVEL: 'loud',
  }
  const problems = problemsOf(wrong)
  for (const name of Object.keys(wrong)) {
    t.equal(problems.filter((problem) => problem.split(' ').includes(name)).length, 1, name)
  }
  t.notMatch(problems.join('\n'), /hunter2/)
})

t.test('a database of many instances needs a common secret', async (t) => {
  const DATABASE_URL = 'postgres://localhost/db'
  t.match(problemsOf({ DATABASE_URL }), [/^JWT_SECRETS is required/])
  t.strictSame(problemsOf({ DATABASE_URL, JWT_SECRETS: secret }), [])
  t.match(problemsOf({ JWT_SECRETS: 'short' }), [/^JWT_SECRETS/])
  t.match(problemsOf({ JWT_SECRETS: 'ü'.repeat(15) }), [/^JWT_SECRETS/], 'bytes count')
  t.strictSame(problemsOf({ JWT_SECRETS: 'ü'.repeat(16) }), [])
})

t.test('the own origin follows from where the service listens', async (t) => {
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

t.test('.env.example and the table of the README show every variable as it is read', async (t) => {
  const read = (name: string) => readFile(join(projectRoot, name), 'utf8')
  const example = await read('.env.example')
  t.equal(example, envExample(), 'run `npm run config-docs`')
  const readme = await read('README.md')
  t.equal(readme, withVariables(readme), 'run `npm run config-docs`')

  const shown = Object.fromEntries(
    [...example.matchAll(/^([A-Z_]+)=(.*)$/gm)].map(([, name, value]) => [name, value]),
  )
  t.strictSame(Object.keys(shown), Object.keys(variables))
  t.strictSame(readConfig(shown), readConfig({}), 'what it shows are the defaults')
})

t.test('every example is a value that is accepted', async (t) => {
  for (const [name, { examples }] of Object.entries(variables)) {
    const secret = name === 'JWT_SECRETS' ? 'an-example-of-at-least-thirty-two-bytes' : String(examples[0])
    const problems = problemsOf({ [name]: secret }).filter((problem) => !problem.includes('together'))
    t.match(problems, name === 'DATABASE_URL' ? [/^JWT_SECRETS is required/] : [], name)
    t.equal(problems.length, name === 'DATABASE_URL' ? 1 : 0, name)
  }
})
