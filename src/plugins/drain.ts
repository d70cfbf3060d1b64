/** The end of the service as callers see it: what they have asked is answered, and no connection holds the end up. */
import fp from 'fastify-plugin'
import { whenOver } from '../http/when-over.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** Whether the service has begun to stop. */
    isClosing(): boolean
  }
}

/** Requests in flight get this long to end; the rest of the ten seconds is for the database. */
const DRAIN_MS = 7_300
/** With no request in flight, connections that may be about to bring one get this long. */
const QUIET_MS = 500

export default fp(async (app) => {
  let closing = false
  let inFlight = 0
  let quiet: NodeJS.Timeout | undefined
  let allAnswered = () => {}

  const noticeEnd = () => {
    if (!closing || inFlight > 0) return
    allAnswered()
    // Connections opened ahead of need, and those whose other side is gone, would otherwise stay open.
    quiet = setTimeout(() => app.server.closeAllConnections(), QUIET_MS)
  }

  app.decorate('isClosing', () => closing)
  // Before every other hook, so that no request goes uncounted while another hook waits.
  app.addHook('onRequest', (request, reply, done) => {
    inFlight++
    clearTimeout(quiet)
    whenOver(request, reply, () => {
      inFlight--
      noticeEnd()
    })
    done()
  })
  app.addHook('onSend', (_request, reply, payload, done) => {
    // A kept-alive connection would hold the stop back, and its next request would be lost.
    if (closing) reply.header('Connection', 'close')
    done(null, payload)
  })
  app.addHook('onListen', async () => {
    app.server.on('error', (error) => app.log.warn({ err: error }, 'a connection could not be accepted'))
  })

  let drained = Promise.resolve()
  let patience: NodeJS.Timeout | undefined
  app.addHook('preClose', async () => {
    closing = true
    drained = new Promise((resolve) => {
      allAnswered = resolve
      patience = setTimeout(() => {
        resolve()
        app.server.closeAllConnections()
      }, DRAIN_MS)
    })
    noticeEnd()
  })
  // The server has closed; where it listens at several addresses, the others may still be at work.
  app.addHook('onClose', async () => {
    await drained
    clearTimeout(patience)
    clearTimeout(quiet)
  })
})
