/**
 * Asks clients for the body that they announced with `Expect: 100-continue`. Node itself would ask for it before anyone has
 * looked at the headers, so that a client sends what is then rejected.
 */
import fp from 'fastify-plugin'

export default fp(
  async (app) => {
    app.server.on('checkContinue', (request, response) => app.server.emit('request', request, response))
    app.addHook('preParsing', ({ headers, raw }, reply, payload, done) => {
      if (headers.expect !== undefined) {
        // HTTP/1.0 knows no interim responses.
        if (raw.httpVersion !== '1.0') reply.raw.writeContinue()
        delete headers.expect
      }
      done(null, payload)
    })
  },
  // After access, which decides before a large body is read.
  { name: 'continue', dependencies: ['access'] },
)
