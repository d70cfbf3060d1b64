/** Starts the service: configuration, database, migrations, HTTP; and stops it without dropping a request. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { type Logger, pino } from 'pino'
import { buildApp } from './app.js'
import { type Config, ConfigError, readConfig } from './config.js'
import { connect } from './db/client.js'
import { startEmbedded } from './db/embedded.js'
import { isDatabaseUnavailable } from './db/failures.js'
import { migrate } from './db/migrate.js'
import { createLogger } from './logger.js'
import { atEnd, run } from './program.js'
import { readOrCreateSecret } from './secret.js'

/** In-flight requests get this long to end. */
const DRAIN_MS = 8_000

const main = async () => {
  const config = readConfig(process.env)
  // Written in batches: a system call per line costs more than the line.
  const logFile = pino.destination({ dest: 1, sync: false, minLength: 8_192 })
  const logger = createLogger(config.logLevel, logFile)
  setInterval(() => logFile.flush(), 500).unref()
  atEnd(() => logFile.flushSync())

  const url = config.databaseUrl ?? (await startOwnDatabase(config, logger))
  if (config.jwtSecrets.length === 0) config.jwtSecrets = [await readOrCreateSecret(config.dataDir)]
  await migrate(url).catch((error) => {
    throw config.databaseUrl !== undefined && isDatabaseUnavailable(error)
      ? new ConfigError([`DATABASE_URL names a database that cannot be used now: ${error.message}`])
      : error
  })
  const database = connect({ url, poolSize: config.databasePoolSize, prepare: config.databasePrepare })
  atEnd(() => database.close())

  const app = await buildApp(config, database, logger)
  if (config.metricsPort !== undefined) await serveMetrics(config, app.metrics)
  atEnd(async () => {
    const impatience = setTimeout(() => app.server.closeAllConnections(), DRAIN_MS)
    await app.close()
    clearTimeout(impatience)
  })
  await app.listen({ host: config.host, port: config.port })
  announce(config)
}

const startOwnDatabase = async ({ dataDir, databasePoolSize }: Config, log: Logger): Promise<string> => {
  const embedded = await startEmbedded({ dataDir, maxConnections: databasePoolSize + 20, log })
  atEnd(() => embedded.stop())
  return embedded.url
}

const serveMetrics = async (config: Config, registry: FastifyInstance['metrics']): Promise<void> => {
  const server = createServer(async (_request, response) => {
    response.setHeader('Content-Type', registry.contentType)
    response.end(await registry.metrics())
  })
  server.listen(config.metricsPort, config.host)
  await once(server, 'listening')
  atEnd(() => server.close())
}

const announce = ({ baseUrl }: Config) => {
  process.stdout.write(`
  The service is at   ${baseUrl}
  The reference is at ${baseUrl}/api/docs

  Sign in with a token of the repository host:
    curl -X POST ${baseUrl}/api/auth/verify -H 'Content-Type: application/json' -d '{"repohost_token":"<token>"}'
  and send what it answers as "Authorization: Bearer <token>".

`)
}

run(main)
