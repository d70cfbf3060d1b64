/**
 * A caller's share of the service: few requests of one caller are under way at once, the others wait for their turn. So
 * whatever one caller asks for, connections to the database and memory for answers are left for everybody else.
 */
import fp from 'fastify-plugin'
import { limits } from '../../schemas/limits.js'
import { ApiError, tooMany } from '../errors.js'
import { Gate, Gates } from '../gate.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** Tells the share, if the request holds one, that the answer is made. */
    answered: (() => void) | null
  }
}

const WAIT_MS = 5_000

export default fp(
  async (app) => {
    app.decorateRequest('answered', null)
    if (!app.config.rateLimits) return
    const turns = new Gates(
      () =>
        new Gate(limits.requests_at_once_per_caller, limits.rate_per_caller, WAIT_MS, () =>
          tooMany(limits.requests_at_once_per_caller, 1),
        ),
    )

    // Before the body is read, so that what waits takes no memory.
    app.addHook('onRequest', async (request, reply) => {
      const { session, routeOptions } = request
      const { limit, asksDatabase } = routeOptions.config
      if (session instanceof ApiError || limit === 'none' || asksDatabase === false) return
      const leave = await turns.enter(session.userId)
      if (reply.raw.destroyed) {
        leave()
        throw new ApiError('bad_request')
      }
      // Until the answer is made, also for who hangs up meanwhile; and until it is taken, also where that takes long.
      let isMade = false
      let isTaken = false
      const leaveWhenBoth = () => {
        if (isMade && isTaken) leave()
      }
      request.answered = () => {
        isMade = true
        leaveWhenBoth()
      }
      reply.raw.once('close', () => {
        isTaken = true
        leaveWhenBoth()
      })
    })
    app.addHook('onSend', (request, _reply, payload, done) => {
      request.answered?.()
      done(null, payload)
    })
  },
  { name: 'fair-share', dependencies: ['session'] },
)
