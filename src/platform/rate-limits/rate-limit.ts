/**
 * Requests per minute and caller (or address, without a session); fewer where guessing would pay. They are counted per
 * instance, or over all of them where there is a Redis.
 */
import { normalizeIP } from '@fastify/rate-limit'
import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { ApiError, tooMany } from '../../errors.js'
import type { LimitName } from '../metrics/metrics.js'
import { matcherOf } from './exempt.js'
import { RejectionLimit } from './rejection-limit.js'

declare module 'fastify' {
  interface FastifyInstance {
    rateLimits: RateLimits
  }
}

/** Limits that count only when the outcome of a request is known. */
export interface RateLimits {
  /**
   * Shows a caller's token to the repository host, unless the host has rejected too many of theirs.
   * @throws {ApiError} `rate_limited`
   */
  showHostToken<T>(request: FastifyRequest, work: () => Promise<T>): Promise<T>
  /** @throws {ApiError} `rate_limited` for an address that has sent too many wrong signatures */
  countWrongSignature(request: FastifyRequest): Promise<void>
}

const MINUTE_MS = 60_000

interface Limit {
  /** The name under which counts are stored. */
  name: LimitName
  max: number
  keyOf: (request: FastifyRequest) => string | Promise<string>
  windowMs?: number
}

/** The /64 network of an IPv6 address, all of which one client can use. `ip` is undefined for a client that has gone. */
export const addressOf = ({ ip }: { ip: string | undefined }) => normalizeIP(ip ?? '', 64)

/** The key of the calling person or workspace, or of the address without either. A promise only the first time. */
export const callerKey = (request: FastifyRequest): string | Promise<string> => {
  const { session, server } = request
  if (session instanceof ApiError) return addressOf(request)
  if (session.userId !== null) return server.people.keyOf(session.userId)
  return `workspace ${request.key?.workspaceId}`
}

const rejectsToken = (error: unknown) =>
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
    const { counts } = app
    const { limits } = app.config
    const isExempt = matcherOf(app.config.exemptAddresses)
    const general: Limit = { name: 'caller', max: limits.rate_per_caller, keyOf: callerKey }
    const pages: Limit = { name: 'pages', max: limits.rate_pages_per_address, keyOf: addressOf }
    const special: Record<'signIn' | 'export' | 'invite', Limit> = {
      signIn: { name: 'sign_in', max: limits.rate_verify_per_address, keyOf: addressOf },
      export: {
        name: 'export',
        max: limits.exports_per_hour,
        keyOf: callerKey,
        windowMs: 60 * MINUTE_MS,
      },
      invite: { name: 'invite', max: limits.rate_join_per_caller, keyOf: callerKey },
    }
    const wrongSignatures: Limit = {
      name: 'wrong_signatures',
      max: limits.rate_wrong_signatures_per_address,
      keyOf: addressOf,
    }
    const rejectedTokens = new RejectionLimit(
      counts,
      'refused_host_tokens',
      limits.rate_refused_tokens_per_caller,
      rejectsToken,
    )

    const count = async (limit: Limit, request: FastifyRequest, reply?: FastifyReply) => {
      if (isExempt(request.ip)) return
      const { name, max, keyOf, windowMs = MINUTE_MS } = limit
      const key = keyOf(request)
      const counted = await counts.add(name, typeof key === 'string' ? key : await key, windowMs, 1)
      const left = Math.ceil(counted.leftMs / 1_000)
      if (counted.count > max) throw tooMany(name, max, left)
      reply?.header('RateLimit-Limit', max)
      reply?.header('RateLimit-Remaining', max - counted.count)
      reply?.header('RateLimit-Reset', left)
    }

    app.addHook('onRequest', async (request, reply) => {
      const kind = request.routeOptions.config?.limit
      if (kind === 'none') return
      // Sent without RateLimit headers, because browsers cache these answers.
      if (kind === 'pages') return count(pages, request)
      await count(general, request, reply)
      if (kind === 'hostToken') {
        if (!isExempt(request.ip) && !(request.session instanceof ApiError))
          await rejectedTokens.check(await callerKey(request))
      } else if (kind) await count(special[kind], request, reply)
    })

    const limited: RateLimits = {
      showHostToken: async (request, work) =>
        isExempt(request.ip) ? work() : rejectedTokens.run(await callerKey(request), work),
      countWrongSignature: (request) => count(wrongSignatures, request),
    }
    app.decorate('rateLimits', limited)
  },
  { name: 'rate-limit', dependencies: ['session', 'counts'] },
)
