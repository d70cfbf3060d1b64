/** Prometheus metrics, labelled by route template: values of paths, queries and headers never become labels. */
import { statfs } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { Registry } from 'prom-client'
import { newestMigration } from '../database/migrate.js'
import { isSchemaCurrent } from '../database/schema-state.js'
import { serviceVersion } from '../process/root.js'
import { cached } from './cached.js'
import { tasks } from './metrics.js'

declare module 'fastify' {
  interface FastifyInstance {
    metrics: Registry
  }
}

/** How long a scrape waits for the database before it leaves the value out. */
const DATABASE_TIMEOUT_MS = 1_000

export const countAnswer = (request: FastifyRequest, reply: FastifyReply): void => {
  const { meter } = request.server
  if (!meter.isOn) return
  const { method, failure } = request
  const route = request.routeOptions.url ?? 'unknown'
  const status = String(reply.statusCode)
  meter.count('http_requests_total', { method, route, status, code: failure?.code ?? '' })
  meter.observe('http_request_duration_seconds', { method, route, status }, reply.elapsedTime / 1_000)
  if (failure?.limitName) meter.count('team_settings_refusals_total', { limit: failure.limitName })
}

export default fp(async (app) => {
  const { meter, config, areLimitsShared, database } = app
  app.decorate('metrics', meter.registry)
  if (!meter.isOn) return
  app.addHook('onResponse', (request, reply, done) => {
    countAnswer(request, reply)
    done()
  })
  meter.read('http_requests_under_way', {}, () => app.requestsUnderWay())

  const since = Date.now() / 1_000
  for (const task of tasks)
    meter.set('team_settings_background_last_success_timestamp_seconds', { task }, since)
  const build = { version: serviceVersion, node: process.version, schema: newestMigration.tag }
  meter.set('team_settings_build_info', build, 1)

  if (areLimitsShared) meter.read('team_settings_rate_limits_shared', {}, () => Number(areLimitsShared()))
  const { replica } = database
  if (replica) meter.read('team_settings_database_replica_used', {}, () => Number(replica.isUsed()))

  const isReady = () => app.isReady().catch(() => false)
  const tooLate = () => sleep(DATABASE_TIMEOUT_MS, false, { ref: false })
  meter.read('team_settings_ready', {}, async () => Number(await Promise.race([isReady(), tooLate()])))
  const askDatabase = () =>
    isSchemaCurrent(database.reserved).then(
      () => 1,
      () => 0,
    )
  const isUp = cached(() => Promise.race([askDatabase(), sleep(DATABASE_TIMEOUT_MS, 0, { ref: false })]))
  meter.read('team_settings_database_up', {}, isUp)

  const disk = cached(() => statfs(config.dataDir).catch(() => undefined))
  meter.read('team_settings_data_dir_free_bytes', {}, async () => {
    const found = await disk()
    return found && found.bavail * found.bsize
  })
  meter.read('team_settings_data_dir_size_bytes', {}, async () => {
    const found = await disk()
    return found && found.blocks * found.bsize
  })
})
