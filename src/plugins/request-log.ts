/** One log line per request. */
import fp from 'fastify-plugin'

export default fp(async (app) => {
  app.addHook('onResponse', (request, reply, done) => {
    // The route and not the path: paths and queries can carry names and keys.
    request.log.info(
      {
        method: request.method,
        route: request.routeOptions.url,
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime),
      },
      'request',
    )
    done()
  })
})
