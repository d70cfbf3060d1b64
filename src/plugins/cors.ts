/** Known dashboards may call with credentials; every other origin gets `*`, which browsers never combine with cookies. */
import cors from '@fastify/cors'
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'

const exposedHeaders = [
  'ETag',
  'X-Request-Id',
  'Retry-After',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
].join(', ')

const preflight = {
  methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
  allowedHeaders: ['Authorization', 'Content-Type', 'X-Repohost-Token', 'Billing-Signature'],
  maxAge: 600,
  strictPreflight: false,
}

export default fp(async (app) => {
  const known = new Set(app.config.dashboardOrigins)
  const isKnown = ({ headers }: FastifyRequest) => headers.origin !== undefined && known.has(headers.origin)

  app.addHook('onRequest', (request, reply, done) => {
    reply.header('Vary', 'Origin')
    reply.header('Access-Control-Expose-Headers', exposedHeaders)
    if (isKnown(request)) {
      reply.header('Access-Control-Allow-Origin', request.headers.origin)
      reply.header('Access-Control-Allow-Credentials', 'true')
    } else {
      reply.header('Access-Control-Allow-Origin', '*')
    }
    done()
  })

  // The library answers preflights. In a scope of its own, because it would decide anew on every request elsewhere.
  await app.register(async (scope) => {
    await scope.register(cors, {
      delegator: (request, callback) => {
        const origin = isKnown(request) ? (request.headers.origin ?? '*') : '*'
        callback(null, { ...preflight, origin, credentials: origin !== '*' })
      },
    })
  })
})
