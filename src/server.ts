/** Starts the service: configuration, database, migrations and HTTP. Also stops it without dropping a request. */
import './platform/process/require-node.js'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { buildApp } from './app.js'
import { type Config, readConfig } from './config.js'
import { checkHost } from './features/accounts/index.js'
import { connect } from './platform/database/client.js'
import { startEmbedded } from './platform/database/embedded/index.js'
import { explainDatabaseErrors, findPooler } from './platform/database/external-database.js'
import { hostKinds } from './platform/hosts/index.js'
import { answerWhileMigrating } from './platform/http/start-answers.js'
import { createMeter, type Meter } from './platform/metrics/meter.js'
import { readArguments } from './platform/process/arguments.js'
import { readOrCreateSecret } from './platform/process/data-dir.js'
import { addressesOf, listenAt, waitForListening } from './platform/process/listen.js'
import { createLogger, openLogOutput } from './platform/process/logger.js'
import { giveMemory, memoryInMib, tooLittleMemory } from './platform/process/memory.js'
import { unsupportedNode, upgradeNode } from './platform/process/node-support.js'
import { extendStop, onExit, run } from './platform/process/program.js'
import { upgrade } from './upgrade.js'

const USAGE = `npm start

  Builds what has changed, migrates the database, and serves until you stop it (Ctrl-C).
  Everything is set by environment variables, or in a file .env: see docs/configuration.md.
`

const main = async (stopped: AbortSignal) => {
  if (!readArguments('start', USAGE, {})) return
  const config = readConfig(process.env)
  const logger = await openLogger(config)
  for (const { message, remedy } of config.warnings) logger.warn(`${message} ${remedy}`)
  const unsupported = unsupportedNode(process.versions.node)
  if (unsupported) logger.warn(`${unsupported} ${upgradeNode}`)
  const tooLittle = tooLittleMemory(memoryInMib())
  if (tooLittle) logger.warn(`${tooLittle} ${giveMemory}`)
  const databaseUrl = await prepareDatabase(config, logger, stopped)
  if (config.jwtSecrets.length === 0)
    config.jwtSecrets = [await readOrCreateSecret(config.dataDir, 'jwt-secret')]
  if (config.webhookKeys.length === 0 && config.databaseUrl === undefined)
    config.webhookKeys = [await readOrCreateSecret(config.dataDir, 'webhook-key')]
  const meter = createMeter(config.metricsPort !== undefined)
  const database = connect({
    url: databaseUrl,
    poolSize: config.databasePoolSize,
    prepare: config.databasePrepare,
    meter,
  })
  onExit(() => database.close())
  const unusedMove = await withExplanation(config, checkHost(database, config.repohost))
  if (unusedMove !== undefined) logger.warn(unusedMove)
  const app = await buildApp(config, database, logger, { meter, databaseUrl })
  onExit(() => app.close())
  stopped.throwIfAborted()
  logRejections(logger, meter)
  const { host, port, metricsPort } = config
  const opening = addressesOf(host).then((addresses) => listenAt(app, addresses, port))
  await waitForListening(opening, { host, port, variable: 'PORT' })
  if (metricsPort !== undefined) await serveMetrics(metricsPort, app)
  onExit((forceSignal) => announceStop(app, forceSignal))
  extendStop(config.shutdownDelayMs)
  announce(config, logger)
}

/**
 * Node ends a process when a promise is rejected and no code handles it. One request with such a fault could end
 * instance after instance, so the service reports it and continues. Whatever awaited the promise fails on its own.
 * An uncaught exception still stops the service (`program.ts`), as Node recommends: it left a callback halfway,
 * perhaps a database connection's.
 */
const logRejections = (logger: Logger, meter: Meter) => {
  process.on('unhandledRejection', (err) => {
    logger.error({ err }, 'no code has handled this failure, which is a bug in the service')
    meter.count('team_settings_unhandled_rejections_total', {})
  })
}

/** Reports that the service isn't ready, and waits until load balancers stop sending requests. */
const announceStop = async (app: FastifyInstance, forceSignal: AbortSignal) => {
  const delayMs = app.config.shutdownDelayMs
  const underWay = app.lifecycle.requestsUnderWay()
  const waiting = [
    delayMs > 0 && `it keeps serving for ${delayMs / 1_000} s, until load balancers have noticed`,
    underWay > 0 && `${countText(underWay, 'request')} in progress`,
    process.stdout.isTTY && 'a second Ctrl-C ends at once',
  ].filter((part) => typeof part === 'string')
  app.log.info(['the service is stopping', ...waiting].join('; '))
  app.lifecycle.reportUnready()
  await wait(delayMs, undefined, { signal: forceSignal }).catch(() => {})
}

const openLogger = async ({ logLevel }: Config): Promise<Logger> => {
  const output = await openLogOutput()
  onExit(() => output.end())
  return createLogger(logLevel, output)
}

/** The URL of an existing database with this version's schema. */
const prepareDatabase = async (config: Config, log: Logger, stopped: AbortSignal): Promise<string> => {
  const url = config.databaseUrl ?? (await startOwnDatabase(config, log, stopped))
  const prepare = async () => {
    let standIn: ReturnType<typeof answerWhileMigrating> | undefined
    const writeLine = (line: string) => {
      log.info(line)
      standIn ??= answerWhileMigrating(config)
    }
    await upgrade({ url, prepare: config.databasePrepare }, stopped, writeLine).finally(async () =>
      (await standIn)?.close(),
    )
    const pooler = config.databaseUrl && config.databasePrepare ? await findPooler(url) : undefined
    if (pooler !== undefined) log.warn(`${pooler}.`)
  }
  await withExplanation(config, prepare())
  return url
}

const withExplanation = <T>({ databaseUrl }: Config, work: Promise<T>): Promise<T> =>
  databaseUrl === undefined ? work : explainDatabaseErrors(work)

const startOwnDatabase = async (
  { dataDir, databasePoolSize }: Config,
  log: Logger,
  stopped: AbortSignal,
): Promise<string> => {
  log.info(`starting the embedded PostgreSQL in ${dataDir}`)
  const embedded = await startEmbedded({ dataDir, maxConnections: databasePoolSize + 20, log, stopped })
  onExit((forceSignal) => embedded.stop(forceSignal))
  return embedded.url
}

const serveMetrics = async (port: number, { config, meter, log }: FastifyInstance) => {
  const { host } = config
  const server = createServer((_request, response) => {
    meter.registry.metrics().then(
      (text) => response.setHeader('Content-Type', meter.registry.contentType).end(text),
      (error) => {
        log.error({ err: error }, 'the metrics couldn’t be gathered')
        response.writeHead(500).end()
      },
    )
  })
  server.listen(port, host)
  await waitForListening(once(server, 'listening'), { host, port, variable: 'METRICS_PORT' })
  log.info(`The metrics are at http://${host}:${port}/metrics`)
  server.on('error', (error) => log.warn({ err: error }, 'a connection for metrics couldn’t be accepted'))
  onExit(() => server.close())
}

const countText = (count: number, noun: string) => (count === 1 ? `1 ${noun} is` : `${count} ${noun}s are`)

/** The last line says how to sign in, because that is the next step. */
const announce = (config: Config, log: Logger) => {
  const { baseUrl } = config
  if (!process.stdout.isTTY) {
    log.info(`The service is at ${baseUrl}`)
    log.info(`The reference is at ${baseUrl}/api/docs`)
    log.info(signInHint(config))
    return
  }
  process.stdout.write(`
  The service is at   ${baseUrl}
  The reference is at ${baseUrl}/api/docs

  ${signInHint(config)}
`)
}

const signInHint = ({ baseUrl, homeUrl, siteUrl, dashboard, repohost }: Config): string => {
  const { name } = hostKinds[repohost.kind]
  const means = repohost.clientId === undefined ? `a ${name} token` : name
  return dashboard || siteUrl !== undefined
    ? `Open ${homeUrl} in a browser and sign in with ${means}.`
    : `Sign in with a ${name} token: curl ${baseUrl}/api/auth/verify -H 'Content-Type: application/json' -d '{"repohost_token":"<token>"}'`
}

run(main)
