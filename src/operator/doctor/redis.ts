import type { Config } from '../../config.js'
import { redisFault, tryRedis } from '../../platform/rate-limits/redis.js'
import { type Finding, ok, warning } from './finding.js'

export const checkRedis = async ({ redisUrl, rateLimits }: Config): Promise<Finding[]> => {
  const about = 'redis'
  if (redisUrl === undefined) return []
  if (!rateLimits)
    return [warning(about, 'It isn’t used, because RATE_LIMITS is off.', 'Set RATE_LIMITS=on.')]
  try {
    await tryRedis(redisUrl)
    return [ok(about, 'All instances share their rate limits through it.')]
  } catch (error) {
    return [
      warning(
        about,
        `It can’t be used, so each instance counts separately: ${redisFault(error)}.`,
        'Start it, or correct REDIS_URL.',
      ),
    ]
  }
}
