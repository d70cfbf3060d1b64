/** Runs the service on loopback with a temporary database, stand-ins for other services, and sample data. */
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { buildApp } from '../src/app.js'
import { readConfig } from '../src/config.js'
import { rebuildRollups } from '../src/features/rollups/roll-up.js'
import { connect, type Database } from '../src/platform/database/client.js'
import { migrate } from '../src/platform/database/migrate.js'
import { statement } from '../src/platform/database/statement.js'
import { readArguments } from '../src/platform/process/arguments.js'
import { waitForListening } from '../src/platform/process/listen.js'
import { createLogger, openLogOutput } from '../src/platform/process/logger.js'
import { OperatorError } from '../src/platform/process/operator-error.js'
import { onExit, run } from '../src/platform/process/program.js'
import { projectRoot } from '../src/platform/process/root.js'
import { readToday } from '../src/platform/time/clock.js'
import { addDays, mondayOf } from '../src/platform/time/days.js'
import { seedActivity } from './activity.js'
import { startAssistantA, startAssistantB } from './assistants.js'
import { BILLING, startBillingProvider } from './billing-provider.js'
import { startThrowAwayDatabase } from './database.js'
import { makeLifelike } from './lifelike.js'
import { OAUTH_APP, type RepohostStandIn, startRepohost } from './repohost.js'
import { type Demo, offeredPeople, seedDemo } from './seed.js'
import { addPeople } from './team.js'
import { describeDemo } from './tour.js'

const USAGE = `npm run demo -- [--days N]

  The service with stand-ins for everything outside, two workspaces and two years of made-up activity, on a throw-away
  database. It prints tokens and ready-made curl lines, and is gone when you press Ctrl-C. PORT says where.

  --days N  makes up activity of so many days (730)
  --help    shows this
`

/** @returns undefined if only help was requested @throws {OperatorError} */
const readDays = (): number | undefined => {
  const values = readArguments('demo', USAGE, { days: '730' })?.options
  if (!values) return undefined
  const days = Number(values.days)
  if (Number.isInteger(days) && days >= 30 && days <= 730) return days
  throw new OperatorError('--days must be a whole number from 30 to 730.')
}

const say = (text: string) => process.stdout.write(`${text}\n`)

const startStandIns = async () => {
  const standIns = {
    repohost: await startRepohost(),
    billing: await startBillingProvider(),
    a: await startAssistantA(),
    b: await startAssistantB(),
  }
  for (const standIn of Object.values(standIns)) onExit(() => standIn.close())
  return standIns
}

const startDatabase = async (stopped: AbortSignal) => {
  const log = { info: () => {}, warn: say, error: say }
  const server = await startThrowAwayDatabase({ maxConnections: 30, durable: false, log, stopped })
  onExit((forceSignal) => server.stop(forceSignal))
  await migrate(server.url, stopped)
  return server.url
}

const AGE_FIRST_VERSIONS = statement(
  'backdate first snapshots by a week',
  {},
  `
  with backdated as (
    update snapshot_versions set created_at = created_at - interval '6 days' where version = 1
  )
  update snapshots set updated_at = updated_at - interval '6 days' where version = 1`,
)

/** Together with ada, bob and zoe, 25 people work at Acme. */
const colleagues =
  'carol dave erin frank grace heidi ivan judy kim leo mallory nina oscar peggy quinn rupert sybil trent uma victor wendy xena'
    .split(' ')
    .map((login, index) => ({ login, role: index === 0 ? ('admin' as const) : ('member' as const) }))

/** Fills both workspaces with activity of all their people: by default of two years, so that a year has one to compare with. */
const seedDays = async (
  database: Database,
  repohost: RepohostStandIn,
  { acme, globex, ada, bob, eve, followers }: Demo,
  days: number,
  stopped: AbortSignal,
) => {
  const people = colleagues.map(({ login, role }) => ({ ...repohost.addUser(login), role }))
  const joined = await addPeople(database.write, acme, people)
  const to = await readToday(database)
  const from = addDays(to, 1 - days)
  for (const team of [
    { workspaceId: acme, userIds: [ada.userId, bob.userId, ...joined], owner: 'acme' },
    // The workspace's patterns match only these repositories.
    {
      workspaceId: globex,
      userIds: [eve, ada, bob, ...followers].map(({ userId }) => userId),
      owner: 'globex',
      names: ['web-shop', 'web-admin', 'api'],
    },
  ]) {
    stopped.throwIfAborted()
    await seedActivity(database, { ...team, from, to })
    await makeLifelike(database, {
      ...team,
      today: to,
      // A Thursday before last week.
      releaseDay: addDays(mondayOf(to), -11),
      hour: new Date().getUTCHours(),
    })
  }
  await database.write.rows(AGE_FIRST_VERSIONS, [])
  await rebuildRollups(database)
}

const main = async (stopped: AbortSignal) => {
  const days = readDays()
  if (days === undefined) return
  const { repohost, billing, a, b } = await startStandIns()
  const config = readConfig({
    LOG_LEVEL: 'warn',
    ...process.env,
    HOST: '127.0.0.1',
    DATABASE_PREPARE: undefined,
    METRICS_PORT: undefined,
    BASE_URL: undefined,
    SITE_URL: undefined,
    DATABASE_URL: await startDatabase(stopped),
    JWT_SECRETS: randomBytes(48).toString('base64url'),
    WEBHOOK_KEYS: randomBytes(48).toString('base64url'),
    ADMIN_KEYS: `admin-${randomBytes(12).toString('hex')}`,
    EXTENSION_PREFIX: 'mochaExplorer,editor,files,search,workbench,eslint,prettier',
    SETTINGS_SCHEMA: join(projectRoot, 'demo/extension/vscode-mocha-test-adapter.json'),
    SETTINGS_VALIDATION: 'warn',
    REPOHOST_KIND: repohost.kind,
    REPOHOST_URL: repohost.url,
    REPOHOST_API_URL: repohost.apiUrl,
    REPOHOST_CLIENT_ID: OAUTH_APP.id,
    REPOHOST_CLIENT_SECRET: OAUTH_APP.secret,
    REPOHOST_ALLOWED_CLIENT_IDS: undefined,
    BILLING_SECRET_KEY: BILLING.secretKey,
    BILLING_WEBHOOK_SECRET: BILLING.webhookSecret,
    BILLING_API_URL: billing.url,
    BILLING_PRICE_MONTH: BILLING.priceMonth,
    BILLING_PRICE_YEAR: BILLING.priceYear,
    BILLING_DORMANT: 'true',
    ASSISTANT_A_URL: a.url,
    ASSISTANT_B_URL: b.url,
  })
  const database = connect({
    url: config.databaseUrl ?? '',
    poolSize: config.databasePoolSize,
    prepare: true,
    // The machine has just built the service, and may be busy.
    timeoutFactor: 4,
  })
  onExit(() => database.close())
  const output = await openLogOutput()
  onExit(() => output.end())
  const app = await buildApp(config, database, createLogger(config.logLevel, output))
  onExit(() => app.close())
  stopped.throwIfAborted()
  await waitForListening(app.listen({ host: config.host, port: config.port }), {
    ...config,
    variable: 'PORT',
  })
  billing.webhookUrl = `${config.baseUrl}/api/billing-provider/webhook`

  const demo = await seedDemo(config.baseUrl, repohost)
  await seedDays(database, repohost, demo, days, stopped)
  repohost.browserUser = demo.ada.id
  app.dashboard.offeredPeople.push(...offeredPeople(demo))
  say(describeDemo({ config, demo, billing, modelKeys: { a: a.key, b: b.key } }))
}

run(main)
