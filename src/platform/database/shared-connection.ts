import type { Limiter } from './limiter.js'
import type { RenewablePool } from './renewable-pool.js'

/**
 * One connection that short reads share: reads that come at the same time are sent, answered and read together, which
 * takes a third less CPU time (`bench/README.md`). A slow statement delays all behind it, so a connection that
 * doesn't answer in time is replaced, and all that waits for it fails.
 */
export const sharedConnectionLimiter = (
  connection: RenewablePool,
  limit: Limiter,
  answerSeconds: number,
): Limiter => {
  return (work, deadline) =>
    limit(async () => {
      const used = connection.current()
      const replace = () => {
        if (used === connection.current()) connection.renew(0)
      }
      const timer = setTimeout(replace, answerSeconds * 1_000)
      try {
        return await work()
      } finally {
        clearTimeout(timer)
      }
    }, deadline)
}
