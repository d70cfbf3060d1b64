/** The table of contents: every plugin and route, in the order in which a request meets them. */
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify'
import { limits } from '../schemas/limits.js'
import type { Config } from './config.js'
import { admission, requestHooks } from './every-request.js'
import { readRepohostId } from './features/accounts/queries/users.js'
import { timezoneRoutes } from './features/accounts/routes/timezone.js'
import { type BillingProvider, createBillingProvider } from './features/billing/billing-provider.js'
import { billingRoutes, billingWebhookRoutes } from './features/billing/routes.js'
import { deliveryRoutes } from './features/counts/routes/deliveries.js'
import { startImports } from './features/editors/jobs.js'
import { heartbeatRoutes } from './features/editors/routes/heartbeats.js'
import { importRoutes } from './features/editors/routes/import.js'
import { packageRoutes } from './features/editors/routes/packages.js'
import { editorProjectRoutes } from './features/editors/routes/projects.js'
import { dashboardLinks, readingRoutes } from './features/editors/routes/reading.js'
import milestones from './features/funnel/milestones.js'
import { funnelRoutes } from './features/funnel/routes.js'
import { type Assistants, createAssistants } from './features/models/assistants.js'
import { modelRoutes } from './features/models/routes.js'
import { startErasures } from './features/personal-data/jobs.js'
import { purge, retention } from './features/personal-data/queries/purge.js'
import { accountRoutes } from './features/personal-data/routes/account.js'
import { privacyRoutes } from './features/personal-data/routes/privacy.js'
import { profileRoutes } from './features/personal-data/routes/profile.js'
import { startCopies } from './features/previous/jobs.js'
import { recordingRoutes } from './features/recording/routes.js'
import { projectRoutes } from './features/repositories/routes/projects.js'
import { type RollupJobs, startRollups } from './features/rollups/jobs.js'
import session from './features/sessions/session.js'
import { startComparingSecrets } from './features/sessions/signing-keys.js'
import { settingsSchemaRoutes } from './features/settings/routes/settings-schema.js'
import { settingsRoutes } from './features/settings/routes/snapshots.js'
import { authRoutes } from './features/sign-in/routes.js'
import { raiseToFloor } from './features/workspaces/raise-privacy.js'
import { greetingRoute } from './features/workspaces/routes/invites.js'
import { personKeyRoutes } from './features/workspaces/routes/person-keys.js'
import { startBackups } from './operator/backup/scheduled.js'
import access from './platform/access/plugin.js'
import type { Database, Db } from './platform/database/client.js'
import housekeeping from './platform/database/housekeeping.js'
import readiness from './platform/database/readiness.js'
import { hostKinds } from './platform/hosts/index.js'
import { BUDGET_MS, type Repohost } from './platform/hosts/repohost.js'
import compression from './platform/http/compression.js'
import connections, {
  type ConnectionTimeouts,
  connectionTimeouts,
  rejectConnections,
} from './platform/http/connections.js'
import cors from './platform/http/cors.js'
import dashboard from './platform/http/dashboard-page.js'
import drain from './platform/http/drain.js'
import { servedAddress } from './platform/http/editor-addresses.js'
import errors, { answerUnroutable } from './platform/http/errors.js'
import { responseHeaders } from './platform/http/headers.js'
import maintenance from './platform/http/maintenance.js'
import { probeRoutes } from './platform/http/probes.js'
import requestLog, { withTrace } from './platform/http/request-log.js'
import metrics from './platform/http/request-metrics.js'
import { requestIdOf } from './platform/http/trace.js'
import { installValidation } from './platform/http/validation.js'
import { installSerialization } from './platform/http/validators.js'
import { type Meter, noopMeter } from './platform/metrics/meter.js'
import { registerDocuments } from './platform/openapi/index.js'
import reference from './platform/openapi/reference.js'
import routeChecks from './platform/openapi/route-checks.js'
import type { Job } from './platform/process/async.js'
import admit from './platform/rate-limits/admit.js'
import { limitRoutes } from './platform/rate-limits/routes.js'
import { teamRoutes } from './team.js'

/** The external services that the app calls. */
export interface Clients {
  repohost: Repohost
  /** Undefined: billing isn't configured. */
  billing: BillingProvider | undefined
  assistants: Assistants
}

declare module 'fastify' {
  interface FastifyInstance {
    config: Config
    database: Database
    /** `database.read`, for queries of one statement. */
    db: Db
    clients: Clients
    meter: Meter
    /** For tests, and for work that can't wait for its schedule. */
    jobs: RollupJobs & Record<'imports' | 'erasures' | 'comparedSecrets', Job> & { backup: Job | undefined }
  }
}

export const createClients = (config: Config, meter: Meter = noopMeter): Clients => {
  const { secretKey, apiUrl } = config.billing
  const { kind, url, apiUrl: hostApiUrl, allowedClientIds } = config.repohost
  return {
    repohost: { kind, url, apiUrl: hostApiUrl, allowedClientIds, budgetMs: BUDGET_MS, meter },
    billing: secretKey === undefined ? undefined : createBillingProvider({ secretKey, apiUrl }, { meter }),
    assistants: createAssistants(config.assistants, { meter }),
  }
}

/** Builds the whole service. Tests and production differ only in these arguments. */
export const buildApp = async (
  config: Config,
  database: Database,
  logger: FastifyBaseLogger,
  {
    meter = noopMeter,
    clients = createClients(config, meter),
    timeouts = connectionTimeouts,
    databaseUrl = config.databaseUrl,
  }: {
    meter?: Meter
    clients?: Clients
    timeouts?: ConnectionTimeouts
    /** The embedded database's URL, which isn't in the configuration. */
    databaseUrl?: string | undefined
  } = {},
): Promise<FastifyInstance> => {
  const headersOf = responseHeaders(config)
  const app = Fastify({
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request_id' }),
    childLoggerFactory: withTrace,
    genReqId: requestIdOf,
    rewriteUrl: ({ url = '/' }) => servedAddress(url),
    bodyLimit: limits.body_bytes,
    routerOptions: { maxParamLength: 2_000 },
    // The timeout of uploads. The timeout of other requests is in platform/http/connections.ts.
    requestTimeout: timeouts.upload,
    connectionTimeout: timeouts.inactivity,
    keepAliveTimeout: timeouts.idle,
    // Startup takes a while on a busy machine, and a timeout would only make it start over.
    pluginTimeout: 0,
    http: {
      headersTimeout: timeouts.headers,
      connectionsCheckingInterval: timeouts.check,
      // platform/http/connections.ts responds instead.
      requireHostHeader: false,
    },
    trustProxy: config.trustProxy ?? false,
    // Requests that arrive during shutdown are still answered (platform/http/drain.ts).
    return503OnClosing: false,
    frameworkErrors: answerUnroutable(headersOf),
    clientErrorHandler: rejectConnections(headersOf, timeouts),
  })

  app.decorate('config', config)
  app.decorate('database', database)
  app.decorate('db', database.read)
  app.decorate('clients', clients)
  app.decorate('meter', meter)
  installValidation(app, config)
  installSerialization(app)

  await app.register(drain)
  await app.register(errors)
  await app.register(requestLog)
  await app.register(connections, { timeouts })
  await app.register(requestHooks, { headersOf })
  await app.register(cors)
  await app.register(compression)
  await app.register(readiness)
  await app.register(admit, { findPerson: (userId) => readRepohostId(database.reserved, userId) })
  await app.register(session)
  await app.register(maintenance)
  await app.register(access)
  await app.register(admission)
  await app.register(metrics)
  await app.register(routeChecks)
  await registerDocuments(app)
  await app.register(reference)
  await app.register(housekeeping, {
    jobs: [...retention, purge],
  })
  await app.register(dashboard, { host: hostKinds[config.repohost.kind] })
  await app.register(milestones)
  app.addHook('onReady', () => raiseToFloor(app.database, app.config.privacy))
  app.decorate('jobs', {
    ...startRollups(app),
    imports: startImports(app),
    copies: startCopies(app),
    erasures: startErasures(app),
    backup: await startBackups(app, databaseUrl),
    comparedSecrets: await startComparingSecrets(app),
  })

  await app.register(probeRoutes, { prefix: '/api' })
  await app.register(authRoutes, { prefix: '/api/auth' })
  await app.register(profileRoutes, { prefix: '/api' })
  await app.register(projectRoutes, { prefix: '/api' })
  await app.register(recordingRoutes, { prefix: '/api' })
  await app.register(timezoneRoutes, { prefix: '/api' })
  await app.register(accountRoutes, { prefix: '/api/me' })
  await app.register(editorProjectRoutes, { prefix: '/api/me' })
  await app.register(heartbeatRoutes, { prefix: '/api/wakatime/v1' })
  await app.register(readingRoutes, { prefix: '/api/wakatime/v1' })
  await app.register(dashboardLinks)
  await app.register(importRoutes, { prefix: '/api/wakatime/v1', imports: app.jobs.imports })
  await app.register(personKeyRoutes, { prefix: '/api/me/keys' })
  await app.register(settingsRoutes, { prefix: '/api/settings' })
  await app.register(settingsSchemaRoutes, { prefix: '/api' })
  await app.register(teamRoutes, { prefix: '/api/team' })
  await app.register(greetingRoute, { prefix: '/api' })
  await app.register(billingRoutes, { prefix: '/api/billing' })
  await app.register(billingWebhookRoutes, { prefix: '/api/billing-provider' })
  await app.register(deliveryRoutes, { prefix: '/api/repohost' })
  await app.register(modelRoutes, { prefix: '/api' })
  await app.register(funnelRoutes, { prefix: '/api' })
  await app.register(limitRoutes, { prefix: '/api' })
  await app.register(packageRoutes, { prefix: '/api' })
  await app.register(privacyRoutes, { prefix: '/api' })
  return app
}
