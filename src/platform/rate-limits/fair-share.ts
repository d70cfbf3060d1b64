/**
 * Limits how many of a caller's requests run at once. Further ones wait. This way, no caller can use up all database
 * connections or all memory for responses. Anonymous callers share a limit per address.
 */
import { Readable } from 'node:stream'
import fp from 'fastify-plugin'
import { limits } from '../../../schemas/limits.js'
import { ApiError, tooMany } from '../../errors.js'
import { onResponseEnd } from '../process/response-end.js'
import { type Payers, payersOf } from './payers.js'
import { type Work, WorkBudget } from './working-time.js'

declare module 'fastify' {
  interface FastifyInstance {
    /**
     * Work that's charged to someone other than the request's caller. Resolves once it may begin. Null without limits.
     */
    beginWork(payers: Payers): Promise<Work | null>
  }
  interface FastifyRequest {
    /** Call it once the response is produced. Null if the request holds no permit. */
    answerProduced: (() => void) | null
    /** Tracks this request's working time. Null without a session. */
    work: Work | null
  }
}

/** Callers above their share get one in this many connections between them. */
const CONNECTIONS_PER_LANE = 8

export default fp(
  async (app) => {
    app.decorateRequest('answerProduced', null)
    app.decorateRequest('work', null)
    if (!app.config.rateLimits) {
      app.decorate('beginWork', async () => null)
      return
    }
    // Before the body is read, so that waiting requests take no memory.
    app.addHook('onRequest', async (request, reply) => {
      const { session, routeOptions } = request
      const { isProbe, asksDatabase } = routeOptions.config
      const isAnonymous = session instanceof ApiError
      if (isProbe || (asksDatabase === false && !isAnonymous)) return
      const release = await app.takeTurn(request, isAnonymous ? 'turns_of_address' : 'turns_of_caller')
      if (request.raw.socket.destroyed) {
        release()
        throw new ApiError('bad_request')
      }
      // The permit is held until the response is produced (even if the client disconnects) and delivered (even if
      // slowly).
      let isProduced = false
      let isDelivered = false
      const releaseWhenBoth = () => {
        if (isProduced && isDelivered) release()
      }
      request.answerProduced = () => {
        isProduced = true
        releaseWhenBoth()
      }
      onResponseEnd(request, reply, () => {
        isDelivered = true
        releaseWhenBoth()
      })
    })
    // Starts after the body is read, so that slow connections neither count nor block others.
    const budget = new WorkBudget(Math.max(1, Math.floor(app.config.databasePoolSize / CONNECTIONS_PER_LANE)))
    const begin = (payers: Payers, done: (error: ApiError | undefined, work?: Work) => void) =>
      budget.begin(payers, (error, work) =>
        done(error && tooMany('working_time', limits.busy_seconds_per_caller, error.seconds), work),
      )
    app.decorate(
      'beginWork',
      (payers: Payers) =>
        new Promise<Work>((resolve, reject) =>
          begin(payers, (error, work) => (work ? resolve(work) : reject(error))),
        ),
    )
    app.addHook('preValidation', (request, _reply, done) => {
      const { session, routeOptions } = request
      if (!request.answerProduced || session instanceof ApiError) return done()
      // The handler begins it.
      if (routeOptions.config.readsBody) return done()
      const start = (payers: Payers) =>
        begin(payers, (error, work) => {
          request.work = work ?? null
          done(error)
        })
      const payers = payersOf(request)
      if (payers instanceof Promise) payers.then(start, done)
      else start(payers)
    })
    app.addHook('onSend', (request, _reply, payload, done) => {
      request.work?.end()
      // A stream is produced while it is sent, and may still produce a piece after the client has disconnected.
      if (payload instanceof Readable) payload.once('close', () => request.answerProduced?.())
      else request.answerProduced?.()
      done(null, payload)
    })
  },
  { name: 'fair-share', dependencies: ['session', 'admit'] },
)
