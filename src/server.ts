/**
 * Starts the service: configuration, database, migrations, HTTP; and stops it without dropping a request. With WORKERS one
 * process starts all that is there once, and the workers serve.
 */
import cluster from 'node:cluster'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import type { Logger } from 'pino'
import { AggregatorRegistry, type Registry } from 'prom-client'
import { buildApp, createClients } from './app.js'
import { type Config, readConfig } from './config.js'
import { startEmbedded } from './db/embedded/index.js'
import { onGivenDatabase } from './db/given.js'
import { migrate } from './db/migrate.js'
import { openDatabase } from './db/open.js'
import { createMeter } from './metrics/meter.js'
import { readArguments } from './runtime/arguments.js'
import { addressesOf, listenAt, listening } from './runtime/listen.js'
import { createLogger, openLogOutput } from './runtime/logger.js'
import { atEnd, delayEnd, run, runBelow } from './runtime/program.js'
import { readOrCreateSecret } from './runtime/secret.js'
import { type Link, linkToPrimary } from './workers/link.js'
import { startWorkers } from './workers/primary.js'

const USAGE = `npm start

  Builds what has changed, migrates the database, and serves until it is told to stop (Ctrl-C).
  Everything is set by environment variables, or in a file .env: see docs/configuration.md.
`

const main = async (stopped: AbortSignal) => {
  if (!readArguments('start', USAGE, {})) return
  const config = readConfig(process.env)
  const logger = await openLogger(config)
  const databaseUrl = await prepareDatabase(config, logger, stopped)
  const serving =
    config.workers === 1
      ? await serve(config, databaseUrl, logger, stopped)
      : await serveByWorkers(config, databaseUrl, logger, stopped)
  if (config.metricsPort !== undefined)
    await serveMetrics(config.metricsPort, config, serving.metrics, logger)
  atEnd((hurry) => leave(serving, config.shutdownDelayMs, hurry, logger))
  delayEnd(config.shutdownDelayMs)
  announce(config, logger)
}

/** What is there once, however many processes serve. */
interface Serving {
  /** Makes the service say that it is not ready. */
  leave(): void
  /** Requests that are being answered; workers count their own. */
  underWay(): number
  metrics: { contentType: string; text(): Promise<string> }
}

/** Balancers see that the service is not ready and turn away from it, before any connection is closed. */
const leave = async (serving: Serving, delayMs: number, hurry: AbortSignal, log: Logger) => {
  const waiting = [
    delayMs > 0 && `it serves on for ${delayMs / 1_000} s, so that balancers turn away`,
    serving.underWay() > 0 && `${counted(serving.underWay(), 'request')} being answered`,
    process.stdout.isTTY && 'a second Ctrl-C ends at once',
  ].filter((part) => typeof part === 'string')
  log.info(['the service stops', ...waiting].join('; '))
  serving.leave()
  await wait(delayMs, undefined, { signal: hurry }).catch(() => {})
}

const openLogger = async ({ logLevel }: Config): Promise<Logger> => {
  const output = await openLogOutput()
  atEnd(() => output.end())
  return createLogger(logLevel, output)
}

/** The URL of a database that is there and has the schema of this version. */
const prepareDatabase = async (config: Config, log: Logger, stopped: AbortSignal): Promise<string> => {
  const url = config.databaseUrl ?? (await startOwnDatabase(config, log, stopped))
  const migrated = migrate(url, stopped)
  await (config.databaseUrl === undefined ? migrated : onGivenDatabase(migrated))
  return url
}

const startOwnDatabase = async (
  { dataDir, databasePoolSize, workers }: Config,
  log: Logger,
  stopped: AbortSignal,
): Promise<string> => {
  log.info(`the embedded PostgreSQL in ${dataDir} starts`)
  const maxConnections = workers * databasePoolSize + 20
  const embedded = await startEmbedded({ dataDir, maxConnections, log, stopped })
  atEnd((hurry) => embedded.stop(hurry))
  return embedded.url
}

const serve = async (
  config: Config,
  url: string,
  logger: Logger,
  stopped: AbortSignal,
  primary?: Link,
): Promise<Serving> => {
  if (config.jwtSecrets.length === 0) config.jwtSecrets = [await readOrCreateSecret(config.dataDir)]
  const meter = createMeter(config.metricsPort !== undefined)
  const database = await openDatabase(config, url, logger, meter)
  atEnd(() => database.close())
  const app = await buildApp(config, database, logger, {
    meter,
    clients: { ...createClients(config, meter), primary },
  })
  atEnd(() => app.close())
  if (primary) shareMetrics(app.metrics)
  stopped.throwIfAborted()
  const { host, port } = config
  const opening = addressesOf(host).then((addresses) => listenAt(app, addresses, port))
  await listening(opening, { host, port, variable: 'PORT' })
  const { contentType } = app.metrics
  return {
    leave: () => app.leave(),
    underWay: () => app.requestsUnderWay(),
    metrics: { contentType, text: () => app.metrics.metrics() },
  }
}

/** Answers the primary when that gathers the metrics of all workers. */
const shareMetrics = (metrics: Registry) => {
  AggregatorRegistry.setRegistries([metrics])
  new AggregatorRegistry()
}

const serveByWorkers = async (
  { workers: count }: Config,
  databaseUrl: string,
  log: Logger,
  stopped: AbortSignal,
): Promise<Serving> => {
  const workers = startWorkers({ count, databaseUrl, log, stopped })
  atEnd((hurry) => workers.stop(hurry))
  await workers.started
  const metrics = new AggregatorRegistry()
  return {
    leave: () => workers.order('leave'),
    underWay: () => 0,
    metrics: { contentType: metrics.contentType, text: () => metrics.clusterMetrics() },
  }
}

/** One of several processes, whose primary has done what is done once. */
const worker = (link: Link) => async (stopped: AbortSignal) => {
  const config = readConfig(process.env)
  const logger = await openLogger(config)
  await link.watch({
    lost: () => logger.warn('the primary process does not answer: each worker counts limits for itself'),
    found: () => logger.info('the primary process answers: workers count limits together'),
  })
  atEnd(() => link.close())
  const serving = await serve(config, await link.databaseUrl(), logger, stopped, link)
  link.onOrder((order) => order === 'leave' && serving.leave())
  link.ready()
}

const serveMetrics = async (port: number, { host }: Config, metrics: Serving['metrics'], log: Logger) => {
  const server = createServer((_request, response) => {
    metrics.text().then(
      (text) => response.setHeader('Content-Type', metrics.contentType).end(text),
      (error) => {
        log.error({ err: error }, 'the metrics could not be gathered')
        response.writeHead(500).end()
      },
    )
  })
  server.listen(port, host)
  await listening(once(server, 'listening'), { host, port, variable: 'METRICS_PORT' })
  log.info(`The metrics are at http://${host}:${port}/metrics`)
  server.on('error', (error) => log.warn({ err: error }, 'a connection for metrics could not be accepted'))
  atEnd(() => server.close())
}

const counted = (count: number, noun: string) => (count === 1 ? `1 ${noun} is` : `${count} ${noun}s are`)

const announce = ({ baseUrl, dashboard }: Config, log: Logger) => {
  if (!process.stdout.isTTY) {
    log.info(`The service is at ${baseUrl}`)
    log.info(`The reference is at ${baseUrl}/api/docs`)
    return
  }
  process.stdout.write(`
  The service is at   ${baseUrl}${dashboard ? ' (open it in a browser)' : ''}
  The reference is at ${baseUrl}/api/docs

  Sign in with a token of the repository host:
    curl -X POST ${baseUrl}/api/auth/verify -H 'Content-Type: application/json' -d '{"repohost_token":"<token>"}'
  and send what it answers as "Authorization: Bearer <token>".

`)
}

if (cluster.isPrimary) run(main)
else {
  const link = linkToPrimary()
  runBelow((stop) => link.onOrder((order) => order === 'stop' && stop()), worker(link))
}
