/** Known dashboards may call with credentials; every other origin gets `*`, which browsers never combine with cookies. */
import cors from '@fastify/cors'
import fp from 'fastify-plugin'

const shared = {
  methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
  allowedHeaders: ['Authorization', 'Content-Type', 'X-Repohost-Token', 'Billing-Signature'],
  exposedHeaders: [
    'ETag',
    'X-Request-Id',
    'Retry-After',
    'RateLimit-Limit',
    'RateLimit-Remaining',
    'RateLimit-Reset',
  ],
  maxAge: 600,
  strictPreflight: false,
}

export default fp(async (app) => {
  const known = new Set(app.config.dashboardOrigins)
  app.addHook('onRequest', (_request, reply, done) => {
    reply.header('Vary', 'Origin')
    done()
  })
  await app.register(cors, {
    delegator: (request, callback) => {
      const { origin } = request.headers
      const isKnown = origin !== undefined && known.has(origin)
      callback(null, { ...shared, origin: isKnown ? origin : '*', credentials: isKnown })
    },
  })
})
