/** Prometheus metrics, labelled by route template: values of paths, queries and headers never become labels. */
import fp from 'fastify-plugin'
import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

declare module 'fastify' {
  interface FastifyInstance {
    metrics: Registry
  }
}

export default fp(async (app) => {
  const registry = new Registry()
  app.decorate('metrics', registry)
  if (app.config.metricsPort === undefined) return
  collectDefaultMetrics({ register: registry })
  const durations = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time to answer, by route, method and status.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  })
  const shows = (name: string, help: string, value: (() => number) | undefined) =>
    value &&
    new Gauge({
      name,
      help,
      aggregator: 'min',
      registers: [registry],
      collect() {
        this.set(value())
      },
    })
  const { areLimitsShared, database } = app
  shows(
    'rate_limits_shared',
    'Whether limits are counted over all instances (1), or Redis is away (0).',
    areLimitsShared && (() => Number(areLimitsShared())),
  )
  const { replica } = database
  shows(
    'database_replica_used',
    'Whether reads that may go to the replica go there (1), or to the primary (0).',
    replica && (() => Number(replica.isUsed())),
  )
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'unknown'
    durations.observe({ method: request.method, route, status: reply.statusCode }, reply.elapsedTime / 1_000)
    done()
  })
})
