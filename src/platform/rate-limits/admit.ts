/**
 * The only place that checks limits, which `limits.ts` declares. Requests are counted per instance, or across all
 * instances with Redis. Permits are always per instance.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { tooMany } from '../../errors.js'
import { type ConcurrencyLimitName, concurrencyLimits, type WindowName, windows } from '../limits.js'
import { KeyedSemaphore } from '../process/semaphore.js'
import { LocalRateCounter, type RateCounter } from './counts.js'
import { matcherOf } from './exempt.js'
import { addressOf, normalizeAddress, type Payers, People, payersOf } from './payers.js'
import { connectRedis, redisFault } from './redis.js'
import { type Work, WorkBudget } from './working-time.js'

declare module 'fastify' {
  interface FastifyInstance {
    rateLimits: RateLimits
  }
}

interface RateLimits {
  /**
   * Charges everyone who pays, or no one.
   * @throws {ApiError} `rate_limited`
   */
  admit(request: FastifyRequest, limit: WindowName, options?: ChargeOptions): Promise<Charge>
  /**
   * Waits for a permit.
   * @param payers by default, the request's payers
   * @returns what ends it; further calls do nothing
   * @throws {ApiError} `rate_limited` when no permit is free in time
   */
  acquirePermit(request: FastifyRequest, limit: ConcurrencyLimitName, payers?: Payers): Promise<() => void>
  /** Resolves once work that's charged to these payers may begin. Null without limits. */
  beginWork(payers: Payers): Promise<Work | null>
  people: People
  /** Whether limits are currently counted across all instances; undefined if that isn't configured. */
  areShared: (() => boolean) | undefined
}

/** Made in advance where a request may be a guess, so that concurrent guesses can't exceed the limit. */
interface Charge {
  /** Call it if the request turned out not to be a guess. */
  refund(): Promise<void>
}

interface ChargeOptions {
  /** 0 charges nothing, and only checks whether one more is allowed. */
  amount?: number
  /** Default: the request's payers. */
  payers?: Payers
  /** The reply that gets the `RateLimit` headers. */
  reply?: FastifyReply
}

interface Options {
  /** A user's id at the repository host; null for a deleted account. */
  findPerson(userId: string): Promise<string | null>
}

const payersIn = (request: FastifyRequest, per: 'all' | 'person' | 'address'): Payers | Promise<Payers> => {
  if (per === 'address') return [addressOf(request)]
  const payers = payersOf(request)
  if (per === 'all') return payers
  return payers instanceof Promise ? payers.then((all) => all.slice(-1)) : payers.slice(-1)
}

const free: Charge = { refund: async () => {} }

export default fp(
  async (app, { findPerson }: Options) => {
    const { config, log } = app
    app.decorateRequest('responseProduced', null)
    app.decorateRequest('work', null)
    app.decorateRequest('shortReads', {
      getter() {
        const { hot, read } = this.server.database
        return this.work?.isLight === false ? read : hot
      },
    })
    const people = new People(findPerson)
    const semaphores = Object.fromEntries(
      Object.entries(concurrencyLimits).map(
        ([name, { maxConcurrent, waiting, waitMs, retryAfter, ...limit }]) => [
          name,
          new KeyedSemaphore(maxConcurrent, waiting, waitMs, () =>
            tooMany(
              name as ConcurrencyLimitName,
              maxConcurrent,
              retryAfter,
              'detail' in limit ? limit.detail : undefined,
            ),
          ),
        ],
      ),
    ) as Record<ConcurrencyLimitName, KeyedSemaphore>
    const acquirePermit = async (request: FastifyRequest, name: ConcurrencyLimitName, payers?: Payers) =>
      semaphores[name].acquire(payers ?? (await payersIn(request, concurrencyLimits[name].per)))

    if (!config.rateLimits) {
      app.decorate('rateLimits', {
        admit: async () => free,
        acquirePermit,
        beginWork: async () => null,
        people,
        areShared: undefined,
      })
      return
    }
    let counts: RateCounter = new LocalRateCounter()
    let areShared: RateLimits['areShared']
    if (config.redisUrl !== undefined) {
      const redis = await connectRedis({
        url: config.redisUrl,
        secret: config.jwtSecrets[0] ?? '',
        fallback: counts,
        onLost: (reason) =>
          log.warn(
            { reason: redisFault(reason) },
            'Redis is unavailable: this instance counts limits separately',
          ),
        onRestored: () => log.info('Redis is available again: all instances share limits'),
      })
      app.addHook('onClose', async () => redis.close())
      areShared = redis.isShared
      counts = redis
    }

    const isExempt = matcherOf(config.exemptAddresses)
    const admit = async (
      request: FastifyRequest,
      name: WindowName,
      { amount = 1, payers: given, reply }: ChargeOptions = {},
    ): Promise<Charge> => {
      if (isExempt(normalizeAddress(request.ip ?? ''))) return free
      const { per, windowMs, max: maxOfPerson, ...row } = windows[name]
      const maxPerWorkspace = 'maxPerWorkspace' in row ? row.maxPerWorkspace : maxOfPerson
      const found = given ?? payersIn(request, per)
      const payers = found instanceof Promise ? await found : found
      const refund = async (charged = payers.length) => {
        for (const payer of payers.slice(0, charged)) await counts.add(name, payer, windowMs, -amount)
      }
      for (const [index, payer] of payers.entries()) {
        // The last of several payers is the person.
        const max = config.limits[index === payers.length - 1 ? maxOfPerson : maxPerWorkspace]
        const { count, remainingMs } = await counts.add(name, payer, windowMs, amount)
        if (count + (amount === 0 ? 1 : 0) > max) {
          await refund(index + 1)
          throw tooMany(name, max, remainingMs / 1_000)
        }
        reply?.header('RateLimit-Limit', max)
        reply?.header('RateLimit-Remaining', max - count)
        reply?.header('RateLimit-Reset', Math.ceil(remainingMs / 1_000))
      }
      return { refund: () => refund() }
    }
    const budget = new WorkBudget(config.databasePoolSize)
    const beginWork = (payers: Payers) => budget.begin(payers)
    app.decorate('rateLimits', { admit, acquirePermit, beginWork, people, areShared })
  },
  { name: 'admit' },
)
