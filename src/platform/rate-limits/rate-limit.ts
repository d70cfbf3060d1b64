/**
 * Requests per minute and caller (or address, without a session); fewer where guessing would pay off. They are counted
 * per instance, or over all of them where there is a Redis.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { ApiError, tooMany } from '../../errors.js'
import type { LimitName } from '../metrics/metrics.js'
import { matcherOf } from './exempt.js'
import { addressOf, type Payers, payerOf, payersOf } from './payers.js'
import { RejectionLimit } from './rejection-limit.js'

declare module 'fastify' {
  interface FastifyInstance {
    rateLimits: RateLimits
  }
}

/** Limits beyond those that a route declares. */
export interface RateLimits {
  /**
   * Takes the whole size of a delivery from a limit of its payers before the work starts, or nothing. The size 0 only asks
   * whether there is room.
   * @throws {ApiError} `rate_limited`
   */
  take(request: FastifyRequest, payers: Payers, limit: DeliveryLimit, size: number): Promise<void>
  /**
   * Shows a caller's token to the repository host, unless the host has rejected too many of theirs.
   * @throws {ApiError} `rate_limited`
   */
  showHostToken<T>(request: FastifyRequest, work: () => Promise<T>): Promise<T>
  /** @throws {ApiError} `rate_limited` for an address that has sent too many wrong signatures */
  countWrongSignature(request: FastifyRequest): Promise<void>
}

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

type DeliveryLimit = 'deliveries' | 'delivered_rows'

interface Limit {
  /** The name under which counts are stored. */
  name: LimitName
  max: number
  payersOf: (request: FastifyRequest) => Payers | Promise<Payers>
  windowMs?: number
}

const addressPays = (request: FastifyRequest): Payers => [addressOf(request)]

const rejectsToken = (error: unknown) =>
  error instanceof ApiError && ['repohost_token_invalid', 'repo_access_denied'].includes(error.code)

export default fp(
  async (app) => {
    if (!app.config.rateLimits) {
      const unlimited: RateLimits = {
        take: async () => {},
        showHostToken: (_request, work) => work(),
        countWrongSignature: async () => {},
      }
      app.decorate('rateLimits', unlimited)
      return
    }
    const { counts } = app
    const { limits } = app.config
    const isExempt = matcherOf(app.config.exemptAddresses)
    const general: Limit = { name: 'caller', max: limits.rate_per_caller, payersOf }
    const pages: Limit = { name: 'pages', max: limits.rate_pages_per_address, payersOf: addressPays }
    const special: Record<'signIn' | 'export' | 'invite', Limit> = {
      signIn: { name: 'sign_in', max: limits.rate_verify_per_address, payersOf: addressPays },
      export: {
        name: 'export',
        max: limits.exports_per_hour,
        payersOf,
        windowMs: 60 * MINUTE_MS,
      },
      invite: { name: 'invite', max: limits.rate_join_per_caller, payersOf },
    }
    const wrongSignatures: Limit = {
      name: 'wrong_signatures',
      max: limits.rate_wrong_signatures_per_address,
      payersOf: addressPays,
    }
    const rejectedTokens = new RejectionLimit(
      counts,
      'refused_host_tokens',
      limits.rate_refused_tokens_per_caller,
      rejectsToken,
    )

    const count = async (limit: Limit, request: FastifyRequest, reply?: FastifyReply) => {
      if (isExempt(request.ip)) return
      const { name, max, payersOf, windowMs = MINUTE_MS } = limit
      const payers = payersOf(request)
      for (const payer of payers instanceof Promise ? await payers : payers) {
        const counted = await counts.add(name, payer, windowMs, 1)
        const left = Math.ceil(counted.leftMs / 1_000)
        if (counted.count > max) throw tooMany(name, max, left)
        // The last of several payers is the person.
        reply?.header('RateLimit-Limit', max)
        reply?.header('RateLimit-Remaining', max - counted.count)
        reply?.header('RateLimit-Reset', left)
      }
    }

    app.addHook('onRequest', async (request, reply) => {
      const kind = request.routeOptions.config?.limit
      if (kind === 'none') return
      // Sent without RateLimit headers, because browsers cache these responses.
      if (kind === 'pages') return count(pages, request)
      await count(general, request, reply)
      if (kind === 'hostToken') {
        if (!isExempt(request.ip) && !(request.session instanceof ApiError))
          await rejectedTokens.check(await payerOf(request))
      } else if (kind) await count(special[kind], request, reply)
    })

    const { rate_deliveries_per_workspace, delivered_rows_per_workspace } = limits
    const { rate_deliveries_per_person, delivered_rows_per_person } = limits
    const deliveryLimits: Record<DeliveryLimit, { ofWorkspace: number; ofPerson: number; windowMs: number }> =
      {
        deliveries: {
          ofWorkspace: rate_deliveries_per_workspace,
          ofPerson: rate_deliveries_per_person,
          windowMs: MINUTE_MS,
        },
        delivered_rows: {
          ofWorkspace: delivered_rows_per_workspace,
          ofPerson: delivered_rows_per_person,
          windowMs: DAY_MS,
        },
      }
    const take: RateLimits['take'] = async (request, payers, name, size) => {
      if (isExempt(request.ip)) return
      const { ofWorkspace, ofPerson, windowMs } = deliveryLimits[name]
      for (const [index, payer] of payers.entries()) {
        const max = index === payers.length - 1 ? ofPerson : ofWorkspace
        const { count, leftMs } = await counts.add(name, payer, windowMs, size)
        if (count + (size === 0 ? 1 : 0) <= max) continue
        for (const taken of payers.slice(0, index + 1)) await counts.add(name, taken, windowMs, -size)
        throw tooMany(name, max, leftMs / 1_000)
      }
    }

    const limited: RateLimits = {
      take,
      showHostToken: async (request, work) =>
        isExempt(request.ip) ? work() : rejectedTokens.run(await payerOf(request), work),
      countWrongSignature: (request) => count(wrongSignatures, request),
    }
    app.decorate('rateLimits', limited)
  },
  { name: 'rate-limit', dependencies: ['session', 'counts'] },
)
