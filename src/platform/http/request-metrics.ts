/** Prometheus metrics, labeled by route template: values of paths, queries and headers never become labels. */
import { statfs } from 'node:fs/promises'
import { join } from 'node:path'
import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { isSchemaCurrent, newestMigration } from '../database/migrations.js'
import { cached, forScrape } from '../metrics/meter.js'
import { tasks } from '../metrics/metrics.js'
import { serviceVersion } from '../process/root.js'

export const countResponse = (request: FastifyRequest, reply: FastifyReply): void => {
  const { meter } = request.server
  // Preflights aren't counted.
  if (!meter.isOn || request.method === 'OPTIONS') return
  const { method, failure } = request
  const route = request.routeOptions.url ?? 'unknown'
  const status = String(reply.statusCode)
  meter.count('http_requests_total', { method, route, status, code: failure?.code ?? '' })
  meter.observe('http_request_duration_seconds', { method, route, status }, reply.elapsedTime / 1_000)
  if (failure?.limitName) meter.count('team_settings_refusals_total', { limit: failure.limitName })
}

export default fp(async (app) => {
  const { meter, config, rateLimits, database } = app
  if (!meter.isOn) return
  meter.read('http_requests_under_way', {}, () => app.lifecycle.requestsUnderWay())

  const since = Date.now() / 1_000
  for (const task of tasks)
    meter.set('team_settings_background_last_success_timestamp_seconds', { task }, since)
  const build = { version: serviceVersion, node: process.version, schema: newestMigration.tag }
  meter.set('team_settings_build_info', build, 1)

  const { areShared } = rateLimits
  if (areShared) meter.read('team_settings_rate_limits_shared', {}, () => Number(areShared()))

  meter.read('team_settings_ready', {}, async () => Number((await forScrape(app.isReady())) ?? false))
  const askDatabase = cached(() => isSchemaCurrent(database.reserved))
  meter.read('team_settings_database_up', {}, async () => Number((await askDatabase()) !== undefined))

  // The database's folder can be a link to another disk.
  const disk = cached(() => statfs(join(config.dataDir, 'postgresql')).catch(() => statfs(config.dataDir)))
  meter.read('team_settings_data_dir_free_bytes', {}, async () => {
    const found = await disk()
    return found && found.bavail * found.bsize
  })
  meter.read('team_settings_data_dir_size_bytes', {}, async () => {
    const found = await disk()
    return found && found.blocks * found.bsize
  })
})
