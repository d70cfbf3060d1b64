/** Requests per minute, per instance and caller (or address, without a session); fewer where guessing would pay. */
import rateLimit, { normalizeIP } from '@fastify/rate-limit'
import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { limits } from '../../schemas/limits.js'
import type { LimitName } from '../domain/metrics.js'
import { ApiError, tooMany } from '../errors.js'
import { Refusals } from '../http/refusals.js'

declare module 'fastify' {
  interface FastifyInstance {
    rateLimits: RateLimits
  }
}

/** For what can only be counted when the outcome of a request is known. */
export interface RateLimits {
  /**
   * Shows a caller's token to the repository host, unless the host has refused too many of theirs.
   * @throws {ApiError} `rate_limited`
   */
  showHostToken<T>(request: FastifyRequest, work: () => Promise<T>): Promise<T>
  /** @throws {ApiError} `rate_limited` for an address that has sent too many wrong signatures */
  countWrongSignature(request: FastifyRequest): Promise<void>
}

const WINDOW_MS = 60_000
/**
 * How many callers or addresses each limit remembers, the most recent ones. The library accepts the option only here,
 * although its types do not list it; its default is 5,000.
 */
const remembered: object = { cache: 50_000 }

/** The /64 network of an IPv6 address, all of which one client can use. `ip` is undefined for a client that has gone. */
export const addressOf = ({ ip }: { ip: string | undefined }) => normalizeIP(ip ?? '', 64)

const callerKey = (request: FastifyRequest) =>
  request.session instanceof ApiError ? addressOf(request) : request.session.userId

const refusesToken = (error: unknown) =>
  error instanceof ApiError && ['repohost_token_invalid', 'repo_access_denied'].includes(error.code)

export default fp(
  async (app) => {
    if (!app.config.rateLimits) {
      const unlimited: RateLimits = {
        showHostToken: (_request, work) => work(),
        countWrongSignature: async () => {},
      }
      app.decorate('rateLimits', unlimited)
      return
    }
    await app.register(rateLimit, { global: false })
    const limiter = (
      name: LimitName,
      max: number,
      keyGenerator: (request: FastifyRequest) => string,
      timeWindow = WINDOW_MS,
    ) => ({ name, count: app.createRateLimit({ max, timeWindow, keyGenerator, ...remembered }) })
    type Limiter = ReturnType<typeof limiter>
    const general = limiter('caller', limits.rate_per_caller, callerKey)
    const special = {
      signIn: limiter('sign_in', limits.rate_verify_per_address, addressOf),
      export: limiter('export', limits.exports_per_hour, callerKey, 60 * WINDOW_MS),
      invite: limiter('invite', limits.rate_join_per_caller, callerKey),
    }
    const wrongSignatures = limiter('wrong_signatures', limits.rate_wrong_signatures_per_address, addressOf)
    const refusedTokens = new Refusals(
      'refused_host_tokens',
      limits.rate_refused_tokens_per_caller,
      refusesToken,
    )

    const count = async (limit: Limiter, request: FastifyRequest, reply?: FastifyReply) => {
      const state = await limit.count(request)
      if (state.isAllowed) return
      if (state.isExceeded) throw tooMany(limit.name, state.max, state.ttlInSeconds)
      reply?.header('RateLimit-Limit', state.max)
      reply?.header('RateLimit-Remaining', state.remaining)
      reply?.header('RateLimit-Reset', state.ttlInSeconds)
    }

    app.addHook('onRequest', async (request, reply) => {
      const kind = request.routeOptions.config?.limit
      if (kind === 'none') return
      await count(general, request, reply)
      if (kind === 'hostToken') {
        if (!(request.session instanceof ApiError)) refusedTokens.check(request.session.userId)
      } else if (kind) await count(special[kind], request, reply)
    })

    const limited: RateLimits = {
      showHostToken: (request, work) => refusedTokens.run(request.caller.userId, work),
      countWrongSignature: (request) => count(wrongSignatures, request),
    }
    app.decorate('rateLimits', limited)
  },
  { name: 'rate-limit', dependencies: ['session'] },
)
