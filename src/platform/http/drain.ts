/** Stops the service gracefully: requests in progress are answered, and idle connections don't delay it. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { onResponseEnd } from '../process/response-end.js'

declare module 'fastify' {
  interface FastifyInstance {
    lifecycle: Lifecycle
  }
}

interface Lifecycle {
  /** Whether the service has begun to stop. */
  isClosing(): boolean
  /** Whether the service is about to stop or is stopping, so that requests should go elsewhere. */
  isStopping(): boolean
  /** How many requests are being answered. */
  requestsUnderWay(): number
  /** Makes the service report that it isn't ready, while it keeps serving. */
  reportUnready(): void
  /** Counts a request until its response has been sent. */
  count(request: FastifyRequest, reply: FastifyReply): void
}

/** How long requests in progress have to finish. The rest of the ten seconds is for the database. */
const DRAIN_MS = 7_300
/** How long idle connections stay open for a request that may be on its way. */
const QUIET_MS = 500

export default fp(async (app) => {
  let unready = false
  let closing = false
  let inFlight = 0
  let quiet: NodeJS.Timeout | undefined
  let allAnswered = () => {}

  const noticeEnd = () => {
    if (!closing || inFlight > 0) return
    allAnswered()
    // Connections that were opened in advance, or whose client is gone, would otherwise stay open.
    quiet = setTimeout(() => app.server.closeAllConnections(), QUIET_MS)
  }

  app.decorate('lifecycle', {
    isClosing: () => closing,
    isStopping: () => unready || closing,
    requestsUnderWay: () => inFlight,
    reportUnready: () => {
      unready = true
    },
    count: (request, reply) => {
      inFlight++
      clearTimeout(quiet)
      onResponseEnd(request, reply, () => {
        inFlight--
        noticeEnd()
      })
    },
  } satisfies Lifecycle)
  app.addHook('onListen', async () => {
    app.server.on('error', (error) => app.log.warn({ err: error }, 'a connection couldn’t be accepted'))
  })

  let drained = Promise.resolve()
  let timer: NodeJS.Timeout | undefined
  app.addHook('preClose', async () => {
    closing = true
    drained = new Promise((resolve) => {
      allAnswered = resolve
      timer = setTimeout(() => {
        resolve()
        app.server.closeAllConnections()
      }, DRAIN_MS)
    })
    noticeEnd()
  })
  // `localhost` can be several addresses, and only one of the servers is known to be closed by now.
  app.addHook('onClose', async () => {
    await drained
    clearTimeout(timer)
    clearTimeout(quiet)
  })
})
