/** Counts limits in the memory of this instance, or in Redis, which all instances share. */
import fp from 'fastify-plugin'
import { type Counts, LocalCounts } from './counts.js'
import { People } from './people.js'
import { connectRedis, redisFault } from './redis.js'

declare module 'fastify' {
  interface FastifyInstance {
    counts: Counts
    people: People
    /** Whether limits are counted over all instances now; undefined where that isn't configured. */
    areLimitsShared: (() => boolean) | undefined
  }
}

interface Options {
  /** The id of a user's person at the repository host; null for an account that was deleted. */
  findPerson(userId: string): Promise<string | null>
}

export default fp(
  async (app, { findPerson }: Options) => {
    const { config, log } = app
    const ofInstance = new LocalCounts()
    app.decorate('people', new People(findPerson))
    if (config.redisUrl === undefined || !config.rateLimits) {
      app.decorate('counts', ofInstance)
      app.decorate('areLimitsShared', undefined)
      return
    }
    const redis = await connectRedis({
      url: config.redisUrl,
      secret: config.jwtSecrets[0] ?? '',
      fallback: ofInstance,
      onLost: (reason) =>
        log.warn(
          { reason: redisFault(reason) },
          'Redis is unavailable: this instance counts limits separately',
        ),
      onRestored: () => log.info('Redis is available again: all instances share limits'),
    })
    app.addHook('onClose', async () => redis.close())
    app.decorate('counts', redis)
    app.decorate('areLimitsShared', redis.isShared)
  },
  { name: 'counts' },
)
