/** What limits are counted by: the memory of this process, that of all workers together, or Redis, which all instances share. */
import fp from 'fastify-plugin'
import { type Counts, LocalCounts } from '../limits/counts.js'
import { createLocalPlaces, type Places } from '../limits/places.js'
import { connectRedis, redisFault } from '../limits/redis.js'

declare module 'fastify' {
  interface FastifyInstance {
    counts: Counts
    places: Places
    /** Whether limits are counted over all instances now; undefined where that is not configured. */
    areLimitsShared: (() => boolean) | undefined
  }
}

export default fp(
  async (app) => {
    const { config, clients, log } = app
    const ofInstance = clients.primary?.counts ?? new LocalCounts()
    app.decorate('places', clients.primary?.places ?? createLocalPlaces())
    if (config.redisUrl === undefined || !config.rateLimits) {
      app.decorate('counts', ofInstance)
      app.decorate('areLimitsShared', undefined)
      return
    }
    const redis = await connectRedis({
      url: config.redisUrl,
      secret: config.jwtSecrets[0] ?? '',
      fallback: ofInstance,
      lost: (reason) =>
        log.warn({ reason: redisFault(reason) }, 'Redis is away: limits are counted by this instance alone'),
      found: () => log.info('Redis is back: limits are shared with the other instances'),
    })
    app.addHook('onClose', async () => redis.close())
    app.decorate('counts', redis)
    app.decorate('areLimitsShared', redis.isShared)
  },
  { name: 'counts' },
)
