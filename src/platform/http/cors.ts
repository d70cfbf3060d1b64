/** Answers preflights; the CORS headers of all other answers are set in `headers.ts`. */
import cors from '@fastify/cors'
import fp from 'fastify-plugin'
import { isKnownOrigin } from './headers.js'

const preflight = {
  methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
  allowedHeaders: ['Authorization', 'Content-Type', 'X-Repohost-Token', 'Billing-Signature'],
  maxAge: 600,
  strictPreflight: false,
}

export default fp(async (app) => {
  const isKnown = isKnownOrigin(app.config)
  // In a separate scope, so that the library runs only here.
  await app.register(async (scope) => {
    await scope.register(cors, {
      delegator: ({ headers: { origin } }, callback) => {
        const allowed = isKnown(origin) ? origin : '*'
        callback(null, { ...preflight, origin: allowed, credentials: allowed !== '*' })
      },
    })
  })
})
