/** Starts the service: configuration, database, migrations, HTTP; and stops it without dropping a request. */
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import { buildApp } from './app.js'
import { type Config, ConfigError, readConfig } from './config.js'
import { connect } from './db/client.js'
import { EmbeddedDatabaseError, startEmbedded } from './db/embedded.js'
import { migrate } from './db/migrate.js'
import { readOrCreateSecret } from './secret.js'

/** In-flight requests get this long to end. */
const DRAIN_MS = 8_000

const main = async () => {
  const config = readConfig(process.env)
  // Written in batches: a system call per line costs more than the line.
  const logFile = pino.destination({ dest: 1, sync: false, minLength: 8_192 })
  const logger = pino({ level: config.logLevel }, logFile)
  setInterval(() => logFile.flush(), 500).unref()
  const embedded = config.databaseUrl
    ? undefined
    : await startEmbedded({
        dataDir: config.dataDir,
        maxConnections: config.databasePoolSize + 20,
        log: logger,
      })
  const url = config.databaseUrl ?? embedded?.url ?? ''
  if (config.jwtSecrets.length === 0) config.jwtSecrets = [await readOrCreateSecret(config.dataDir)]

  await migrate(url)
  const database = connect({ url, poolSize: config.databasePoolSize, prepare: config.databasePrepare })
  const app = await buildApp(config, database, logger)
  const metrics = config.metricsPort === undefined ? undefined : await serveMetrics(config, app.metrics)
  await app.listen({ host: config.host, port: config.port })
  announce(config)

  let stopping = false
  const stop = async (signal: NodeJS.Signals) => {
    if (stopping) return
    stopping = true
    logger.info({ signal }, 'stopping')
    const impatience = setTimeout(() => app.server.closeAllConnections(), DRAIN_MS)
    await app.close()
    clearTimeout(impatience)
    metrics?.close()
    await database.close()
    await embedded?.stop()
    logger.info('stopped')
    logFile.flushSync()
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      stop(signal).then(
        () => process.exit(0),
        (error) => {
          process.stderr.write(`The stop failed: ${error}\n`)
          process.exit(1)
        },
      )
    })
  }
}

const serveMetrics = async (config: Config, registry: FastifyInstance['metrics']): Promise<Server> => {
  const server = createServer(async (_request, response) => {
    response.setHeader('Content-Type', registry.contentType)
    response.end(await registry.metrics())
  })
  server.listen(config.metricsPort, config.host)
  await once(server, 'listening')
  return server
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

main().catch((error) => {
  const expected = error instanceof ConfigError || error instanceof EmbeddedDatabaseError
  process.stderr.write(`${expected ? error.message : error.stack}\n`)
  process.exit(1)
})
