/** Headers that every answer carries. */
import fp from 'fastify-plugin'

export default fp(async (app) => {
  // Callbacks here and in the other hooks of every request: a promise each would cost more than their work.
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('X-Request-Id', request.id)
    reply.header('X-Content-Type-Options', 'nosniff')
    done()
  })
  app.addHook('onSend', (_request, reply, payload, done) => {
    // What has an ETag may be kept by the caller alone, and is asked for again each time; nothing else is kept.
    if (!reply.hasHeader('Cache-Control')) {
      reply.header('Cache-Control', reply.hasHeader('ETag') ? 'private, no-cache' : 'no-store')
    }
    done(null, payload)
  })
})
