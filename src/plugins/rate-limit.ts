/** Requests per minute and instance: per caller (per address without a session), and tighter ones where guessing pays. */
import rateLimit from '@fastify/rate-limit'
import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { limits } from '../../schemas/limits.js'
import { ApiError } from '../errors.js'

const callerKey = (request: FastifyRequest) =>
  request.session instanceof ApiError ? `address ${request.ip}` : `user ${request.session.userId}`

export default fp(
  async (app) => {
    if (!app.config.rateLimits) return
    await app.register(rateLimit, { global: false, cache: 50_000 })
    const limiter = (max: number, keyGenerator: (request: FastifyRequest) => string) =>
      app.createRateLimit({ max, timeWindow: 60_000, keyGenerator })
    const general = limiter(limits.rate_per_caller, callerKey)
    const special = {
      verify: limiter(limits.rate_verify_per_address, (request) => `verify ${request.ip}`),
      join: limiter(limits.rate_join_per_caller, (request) => `join ${callerKey(request)}`),
    }

    const count = async (limit: typeof general, request: FastifyRequest, reply: FastifyReply) => {
      const state = await limit(request)
      if (state.isAllowed) return
      reply.header('RateLimit-Limit', state.max)
      reply.header('RateLimit-Remaining', state.remaining)
      reply.header('RateLimit-Reset', state.ttlInSeconds)
      if (state.isExceeded)
        throw new ApiError('rate_limited', { retryAfter: Math.max(1, state.ttlInSeconds) })
    }

    app.addHook('onRequest', async (request, reply) => {
      const kind = request.routeOptions.config?.limit
      if (kind === 'none') return
      await count(general, request, reply)
      if (kind) await count(special[kind], request, reply)
    })
  },
  { name: 'rate-limit', dependencies: ['session'] },
)
