/** Checks of Redis and the replica. */
import type { Config } from '../../config.js'
import { connect } from '../../platform/database/client.js'
import { redisFault, tryRedis } from '../../platform/rate-limits/redis.js'
import { type Finding, ok, warning } from './finding.js'

export const checkRedis = async ({ redisUrl, rateLimits }: Config): Promise<Finding[]> => {
  const about = 'redis'
  if (redisUrl === undefined) return []
  if (!rateLimits)
    return [warning(about, 'It is not used, because RATE_LIMITS is off.', 'Set RATE_LIMITS=on.')]
  try {
    await tryRedis(redisUrl)
    return [ok(about, 'All instances share their rate limits through it.')]
  } catch (error) {
    return [
      warning(
        about,
        `It cannot be used, so each instance counts separately: ${redisFault(error)}.`,
        'Start it, or correct REDIS_URL.',
      ),
    ]
  }
}

/** @param url of the primary */
export const checkReplica = async (
  url: string,
  { databaseReplicaUrl, databasePrepare }: Config,
): Promise<Finding[]> => {
  const about = 'replica'
  if (databaseReplicaUrl === undefined) return []
  let reason: unknown
  const onLost = (why: unknown) => {
    reason = why
  }
  const database = connect({
    url,
    poolSize: 1,
    prepare: databasePrepare,
    replica: { url: databaseReplicaUrl, events: { onLost, onRestored: () => {} } },
  })
  await database.replica?.start()
  await database.close()
  if (reason === undefined) return [ok(about, 'It is up to date, and the service reads from it.')]
  const { message, code } = reason as { message?: string; code?: string }
  return [
    warning(
      about,
      `The service does not read from it: ${message || code}.`,
      'Make it a streaming replica of the server of DATABASE_URL, or correct DATABASE_REPLICA_URL.',
    ),
  ]
}
