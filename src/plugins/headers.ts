/** Headers that every answer carries. */
import fp from 'fastify-plugin'

export default fp(async (app) => {
  app.addHook('onRequest', async (request, reply) => {
    reply.header('X-Request-Id', request.id)
    reply.header('X-Content-Type-Options', 'nosniff')
  })
  app.addHook('onSend', async (_request, reply, payload) => {
    // What has an ETag may be kept by the caller alone, and is asked for again each time; nothing else is kept.
    if (!reply.hasHeader('Cache-Control')) {
      reply.header('Cache-Control', reply.hasHeader('ETag') ? 'private, no-cache' : 'no-store')
    }
    return payload
  })
})
