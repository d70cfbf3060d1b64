/**
 * Limits how many requests of one caller are under way at once; further ones wait for their turn. So no caller can take
 * all database connections, or all memory for answers. Anonymous callers share a limit per address.
 */
import { Readable } from 'node:stream'
import fp from 'fastify-plugin'
import { limits } from '../../../schemas/limits.js'
import { ApiError, tooMany } from '../../errors.js'
import { whenOver } from '../http/when-over.js'
import type { LimitName } from '../metrics/metrics.js'
import { Gate, Gates } from '../process/gate.js'
import { callerKey } from './rate-limit.js'
import { type Work, WorkShares } from './working-time.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** Called once the answer is made, by a request that holds a place. */
    answered: (() => void) | null
    /** The work on a request of a caller who is limited. */
    work: Work | null
  }
}

/** How long a request waits for its turn. */
const WAIT_MS = 5_000

const createGates = (limitName: LimitName, atOnce: number) =>
  new Gates(() => new Gate(atOnce, limits.rate_per_caller, WAIT_MS, () => tooMany(limitName, atOnce, 1)))

/** Of so many connections, callers beyond their share have one between them. */
const CONNECTIONS_PER_LANE = 8

export default fp(
  async (app) => {
    app.decorateRequest('answered', null)
    app.decorateRequest('work', null)
    if (!app.config.rateLimits) return
    const callers = createGates('turns_of_caller', limits.requests_at_once_per_caller)
    const addresses = createGates('turns_of_address', limits.requests_at_once_per_address)

    // Before the body is read, so that waiting requests take no memory.
    app.addHook('onRequest', async (request, reply) => {
      const { session, routeOptions } = request
      const { isProbe, asksDatabase } = routeOptions.config
      const isAnonymous = session instanceof ApiError
      if (isProbe || (asksDatabase === false && !isAnonymous)) return
      const key = callerKey(request)
      const leave = await (isAnonymous ? addresses : callers).enter(typeof key === 'string' ? key : await key)
      if (request.raw.socket.destroyed) {
        leave()
        throw new ApiError('bad_request')
      }
      // The place is held until the answer is made (even if the client hangs up) and taken (even if that is slow).
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
    // After the body is read, so that nobody's slow connection counts or keeps others waiting.
    const shares = new WorkShares(Math.max(1, Math.floor(app.config.databasePoolSize / CONNECTIONS_PER_LANE)))
    app.addHook('preValidation', (request, _reply, done) => {
      const { session } = request
      if (!request.answered || session instanceof ApiError) return done()
      const begin = (caller: string) =>
        shares.begin(caller, (error, work) => {
          request.work = work ?? null
          done(error && tooMany('working_time', limits.busy_seconds_per_caller, error.seconds))
        })
      const key = callerKey(request)
      if (typeof key === 'string') begin(key)
      else key.then(begin, done)
    })
    app.addHook('onSend', (request, _reply, payload, done) => {
      request.work?.end()
      // A stream is made while it is sent, and may still be making its next piece after the reader has gone.
      if (payload instanceof Readable) payload.once('close', () => request.answered?.())
      else request.answered?.()
      done(null, payload)
    })
  },
  { name: 'fair-share', dependencies: ['session'] },
)
