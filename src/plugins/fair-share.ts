/**
 * A caller's share of the service: few requests of one caller are under way at once, the others wait for their turn. So
 * whatever one caller asks for, connections to the database and memory for answers are left for everybody else. Who is not
 * signed in shares with others of the same address.
 */
import { Readable } from 'node:stream'
import fp from 'fastify-plugin'
import { limits } from '../../schemas/limits.js'
import { ApiError, tooMany } from '../errors.js'
import { whenOver } from '../http/when-over.js'
import { Gate, Gates } from '../runtime/gate.js'
import { addressOf } from './rate-limit.js'

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
    const turnsOf = (atOnce: number) =>
      new Gates(() => new Gate(atOnce, limits.rate_per_caller, WAIT_MS, () => tooMany(atOnce, 1)))
    const callers = turnsOf(limits.requests_at_once_per_caller)
    const addresses = turnsOf(limits.requests_at_once_per_address)

    // Before the body is read, so that what waits takes no memory.
    app.addHook('onRequest', async (request, reply) => {
      const { session, routeOptions } = request
      const { isProbe, asksDatabase } = routeOptions.config
      const isAnonymous = session instanceof ApiError
      if (isProbe || (asksDatabase === false && !isAnonymous)) return
      const leave = await (isAnonymous ? addresses.enter(addressOf(request)) : callers.enter(session.userId))
      if (request.raw.socket.destroyed) {
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
      whenOver(request, reply, () => {
        isTaken = true
        leaveWhenBoth()
      })
    })
    app.addHook('onSend', (request, _reply, payload, done) => {
      // A stream is made while it is sent, and may be at work on its next piece for a while after its reader has gone.
      if (payload instanceof Readable) payload.once('close', () => request.answered?.())
      else request.answered?.()
      done(null, payload)
    })
  },
  { name: 'fair-share', dependencies: ['session'] },
)
