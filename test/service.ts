/** The whole service for a test: real HTTP, a real database of its own, stand-ins only at the network's edge. */
import { Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { type AssistantStandIn, startAssistantA, startAssistantB } from '../demo/assistants.js'
import { BILLING, type BillingProviderStandIn, startBillingProvider } from '../demo/billing-provider.js'
import { OAUTH_APP, type RepohostStandIn, startRepohost } from '../demo/repohost.js'
import type { Fault } from '../demo/stand-in.js'
import type { RepohostKind } from '../schemas/common.js'
import { buildApp, type Clients, createClients } from '../src/app.js'
import { type Config, readConfig } from '../src/config.js'
import { createBillingProvider } from '../src/features/billing/billing-provider.js'
import { createAssistants } from '../src/features/models/assistants.js'
import { ROLL_UP_MS } from '../src/features/rollups/jobs.js'
import { type ConnectionTimeouts, connectionTimeouts } from '../src/platform/http/connections.js'
import { createMeter, type Meter } from '../src/platform/metrics/meter.js'
import { listenAt } from '../src/platform/process/listen.js'
import { createLogger } from '../src/platform/process/logger.js'
import { type AdHocDatabase, withAdHocSql } from './ad-hoc.js'
import { problemOf } from './conformance.js'
import { createTestDatabase, openDatabase, reach } from './database.js'
import { JWT_SECRET } from './process.js'
import { canReuse, reuse } from './reuse.js'
import { send } from './send.js'
import { until } from './until.js'

/** The members of tap that tests need. */
export interface Test {
  parent?: unknown
  teardown(work: () => unknown): void
  fail(message: string): unknown
  passing(): boolean
}

export interface Reply {
  status: number
  headers: Headers
  text: string
  /** The parsed body; `any`, because tests look at what came and not at what a type promises. */
  // biome-ignore lint/suspicious/noExplicitAny: see above
  body: any
}

export interface Call {
  body?: unknown
  headers?: Record<string, string>
}

export const DASHBOARD = 'https://dashboard.example.com'
export const WEBHOOK_KEY = 'a-webhook-key-for-tests-of-more-than-32-bytes'

/** A signed-in person. */
export class Caller {
  constructor(
    private readonly service: Service,
    readonly login: string,
    readonly repohostId: number,
    readonly repohostToken: string,
    readonly token: string,
  ) {}

  request(method: string, path: string, { body, headers }: Call = {}): Promise<Reply> {
    const authorization = { Authorization: `Bearer ${this.token}` }
    return this.service.request(method, path, { body, headers: { ...authorization, ...headers } })
  }

  get = (path: string, headers: Record<string, string> = {}) => this.request('GET', path, { headers })
  post = (path: string, body?: unknown) => this.request('POST', path, { body })
  put = (path: string, body?: unknown) => this.request('PUT', path, { body })
  patch = (path: string, body?: unknown) => this.request('PATCH', path, { body })
  delete = (path: string) => this.request('DELETE', path)

  /** Pushes settings of `owner/repo` with the caller's own host token. */
  push(repo: string, settings: object, headers: Record<string, string> = {}, query = ''): Promise<Reply> {
    // In a GitLab group, only the last slash divides the path.
    const path = repo.replace(/\/(?=[^/]*\/)/g, '%2F')
    return this.request('PUT', `/api/settings/${path}${query}`, {
      body: { settings },
      headers: { 'X-Repohost-Token': this.repohostToken, ...headers },
    })
  }
}

export class Service {
  constructor(
    private readonly test: Test,
    readonly app: FastifyInstance,
    readonly url: string,
    readonly config: Config,
    readonly database: AdHocDatabase,
    readonly databaseUrl: string,
    readonly repohost: RepohostStandIn,
    /** Every line that was logged. */
    readonly logs: string[],
  ) {}

  /** This service for a subtest: its faults fail that test. */
  for(test: Test): Service {
    const { app, url, config, database, databaseUrl, repohost, logs } = this
    return new Service(test, app, url, config, database, databaseUrl, repohost, logs)
  }

  /** Sends a real HTTP request. A response that the committed OpenAPI document doesn't allow fails the test. */
  async request(method: string, path: string, { body, headers = {} }: Call = {}): Promise<Reply> {
    const isText = typeof body === 'string' || body instanceof Uint8Array
    const json = body !== undefined && !isText
    const {
      status,
      headers: received,
      text,
    } = await send(this.url + path, {
      method,
      headers: { ...(json && { 'Content-Type': 'application/json' }), ...headers },
      body: body === undefined || isText ? body : JSON.stringify(body),
    })
    const contentType = received.get('content-type') ?? undefined
    const response = { method, path: path.split('?')[0] ?? '', status, headers: received, text }
    const problem = problemOf(response, this.config.repohost.kind)
    if (problem) this.test.fail(problem)
    return {
      status,
      headers: received,
      text,
      body: text !== '' && contentType?.includes('json') ? JSON.parse(text) : undefined,
    }
  }

  /** Signs a user in with a token of the repository host, making the user there if need be. */
  async signIn(
    login: string,
    options?: { id?: number; clientId?: string; mayAskOrganizations?: boolean },
  ): Promise<Caller> {
    const user = this.repohost.addUser(login, options)
    const reply = await this.request('POST', '/api/auth/verify', { body: { repohost_token: user.token } })
    if (reply.status !== 200) throw new Error(`The sign-in of ${login} was answered with ${reply.text}`)
    return new Caller(this, login, user.id, user.token, reply.body.token)
  }

  async signInAll<Logins extends string[]>(...logins: Logins): Promise<{ [Index in keyof Logins]: Caller }> {
    const callers: Caller[] = []
    for (const login of logins) callers.push(await this.signIn(login))
    return callers as { [Index in keyof Logins]: Caller }
  }

  /** A workspace of `admin` with these patterns, which these members have joined. */
  async workspace(admin: Caller, { name = 'Acme', patterns = ['acme/*'], members = [] as Caller[] } = {}) {
    const created = await admin.post('/api/team/workspaces/create', { name, patterns })
    if (created.status !== 201) throw new Error(`The workspace was rejected: ${created.text}`)
    for (const member of members) {
      const joined = await member.post('/api/team/workspaces/join', { code: created.body.invite.code })
      if (joined.status !== 200) throw new Error(`The join was rejected: ${joined.text}`)
    }
    return { id: created.body.workspace.id as string, code: created.body.invite.code as string }
  }
}

/** Does as a correct client does: what was answered 503, and so not done, is sent again. */
export const retryWhileUnavailable = async (call: () => Promise<Reply>): Promise<Reply> => {
  let reply = await call()
  await until(async () => {
    if (reply.status !== 503) return true
    await sleep(100)
    reply = await call()
  }, 'the service is available')
  return reply
}

export interface ServiceOptions {
  /** Environment variables beyond those of every test. */
  env?: Record<string, string>
  /** The repository host's stand-in. */
  kind?: RepohostKind | undefined
  /** The path of the repository host's address, such as `/gitlab`. */
  below?: string
  /** Where to listen, for who has to know before; otherwise any free port. */
  port?: number
  /** Its addresses, of which `url` names the first. */
  hosts?: string[]
  /** Another instance of the same installation: its database and stand-ins are used. */
  beside?: Service
  /** Other clients than production has. */
  clients?: (config: Config, meter: Meter) => Clients
  /** Less of it than production has. */
  timeouts?: Partial<ConnectionTimeouts>
  /** Multiplies how long a request waits for the database: by default so long that a busy machine makes none fail. */
  timeoutFactor?: number
}

const ownDatabase = async (test: Test) => {
  const { url, drop } = await createTestDatabase()
  test.teardown(drop)
  return url
}

const ownRepohost = async (test: Test, kind: RepohostKind | undefined, below: string | undefined) => {
  const repohost = await startRepohost(kind, below)
  test.teardown(() => repohost.close())
  return repohost
}

/** The responses to callers when a stand-in misbehaves. */
export const faultStatuses: Record<Fault, number> = {
  hang: 504,
  drip: 504,
  reset: 502,
  'status-500': 502,
  html: 502,
  redirect: 502,
  huge: 502,
  'rate-limited': 502,
}

/** Faults with the time that a call may take. A busy machine must not turn an error into a time-out. */
export const faultsByBudget = (
  [
    [1_500, 504],
    [60_000, 502],
  ] as const
).map(([budgetMs, status]) => ({
  budgetMs,
  status,
  faults: (Object.keys(faultStatuses) as Fault[]).filter((fault) => faultStatuses[fault] === status),
}))

/** Waits until the rollups' next turn is a minute away, for tests that look at what waits for one. */
export const betweenRollups = () =>
  until(() => {
    const since = Date.now() % ROLL_UP_MS
    return since > 5_000 && since < ROLL_UP_MS - 60_000
  }, 'no rollup is due')

/** Clients with long timeouts, because signing in may take long on a busy machine. */
const patientClients = (config: Config, meter: Meter): Clients => {
  const clients = createClients(config, meter)
  return { ...clients, repohost: { ...clients.repohost, budgetMs: 30_000 } }
}

/** Stand-ins for the billing and the model providers. */
export interface Providers {
  billing: BillingProviderStandIn
  a: AssistantStandIn
  b: AssistantStandIn
}

/** The options of `startService` that reach them. @param budgetMs for a call; by default as in production */
export const startProviders = async (test: Test, { budgetMs }: { budgetMs?: number } = {}) => {
  const [billing, a, b] = await Promise.all([startBillingProvider(), startAssistantA(), startAssistantB()])
  const providers: Providers = { billing, a, b }
  for (const provider of Object.values(providers)) test.teardown(() => provider.close())
  const env = {
    BILLING_SECRET_KEY: BILLING.secretKey,
    BILLING_WEBHOOK_SECRET: BILLING.webhookSecret,
    BILLING_API_URL: billing.url,
    BILLING_PRICE_MONTH: BILLING.priceMonth,
    BILLING_PRICE_YEAR: BILLING.priceYear,
    ASSISTANT_A_URL: a.url,
    ASSISTANT_B_URL: b.url,
  }
  const clients = (config: Config, meter: Meter): Clients => ({
    ...patientClients(config, meter),
    ...(budgetMs !== undefined && {
      billing: createBillingProvider(
        { secretKey: BILLING.secretKey, apiUrl: billing.url },
        { budgetMs, meter },
      ),
      assistants: createAssistants(config.assistants, { budgetMs, meter }),
    }),
  })
  return { providers, env, clients }
}

/** Shows the service's own warnings and errors if a test has failed. */
const showTroubles = (logs: string[]) => {
  for (const line of logs) if (JSON.parse(line).level >= 40) process.stderr.write(line)
}

/**
 * A service that earlier tests have used, with empty tables. Don't change what isn't restored by emptying them, and don't
 * reuse one that counts requests.
 */
export const reuseService = async (
  test: Test,
  kind: RepohostKind = 'github',
  env: Record<string, string> = {},
): Promise<Service> =>
  (await canReuse(test))
    ? reuse(test, JSON.stringify([kind, env]), (allTests) => startService(allTests, { kind, env }))
    : startService(test, { kind, env })

/** A reused service with a workspace of ada, which people with these logins have joined. */
export const startTeam = async <Login extends string = never>(test: Test, ...logins: Login[]) => {
  const service = await reuseService(test)
  const ada = await service.signIn('ada')
  const members = await service.signInAll(...logins)
  const named = Object.fromEntries(members.map((member) => [member.login, member])) as Record<Login, Caller>
  return { service, ada, ...named, ...(await service.workspace(ada, { members })) }
}

export const startService = async (
  test: Test,
  {
    env = {},
    kind,
    below,
    port = 0,
    hosts = ['127.0.0.1'],
    beside,
    clients = patientClients,
    timeouts,
    timeoutFactor,
  }: ServiceOptions = {},
): Promise<Service> => {
  const databaseUrl = beside?.databaseUrl ?? (await ownDatabase(test))
  const repohost = beside?.repohost ?? (await ownRepohost(test, kind, below))
  const config = readConfig({
    ...reach(databaseUrl),
    DATABASE_POOL_SIZE: '8',
    JWT_SECRETS: JWT_SECRET,
    SITE_URL: DASHBOARD,
    REPOHOST_KIND: repohost.kind,
    REPOHOST_URL: repohost.url,
    REPOHOST_API_URL: repohost.apiUrl,
    REPOHOST_CLIENT_ID: OAUTH_APP.id,
    REPOHOST_CLIENT_SECRET: OAUTH_APP.secret,
    WEBHOOK_KEYS: WEBHOOK_KEY,
    RATE_LIMITS: 'off',
    LOG_LEVEL: 'trace',
    ...env,
    // Tests reuse a few people.
    LIMITS: ['workspaces_created=200', ...(env.LIMITS ? [env.LIMITS] : [])].join(),
  })
  const logs: string[] = []
  const sink = new Writable({
    write: (chunk, _encoding, done) => {
      logs.push(String(chunk))
      done()
    },
  })
  const logger = createLogger(config.logLevel, sink)
  const meter = createMeter(config.metricsPort !== undefined)
  const database = openDatabase(config.databaseUrl ?? databaseUrl, {
    poolSize: config.databasePoolSize,
    prepare: config.databasePrepare,
    meter,
    ...(timeoutFactor !== undefined && { timeoutFactor }),
  })
  const app = await buildApp(config, database, logger, {
    meter,
    clients: clients(config, meter),
    timeouts: { ...connectionTimeouts, ...timeouts },
    databaseUrl: config.databaseUrl ?? databaseUrl,
  })
  const url = await listenAt(app, hosts, port)
  test.teardown(async () => {
    await app.close()
    await database.close()
    if (!test.passing()) showTroubles(logs)
  })
  return new Service(test, app, url, config, withAdHocSql(database), databaseUrl, repohost, logs)
}
