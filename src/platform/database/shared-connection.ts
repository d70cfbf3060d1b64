import type { Renewable } from './renewable.js'
import type { InTurn } from './turns.js'

/**
 * One connection that short reads share: what comes at the same time is sent, answered and read together, which takes a third
 * less of the processor (`bench/README.md`). What holds up one statement holds up all behind it, so a connection
 * that does not answer in time is replaced, and all that waits for it fails.
 */
export const inTurnOnShared = (connection: Renewable, inTurn: InTurn, answerSeconds: number): InTurn => {
  return (work, deadline) =>
    inTurn(async () => {
      const slow = connection.now()
      const replace = () => {
        if (slow === connection.now()) connection.renew(0)
      }
      const timer = setTimeout(replace, answerSeconds * 1_000)
      try {
        return await work()
      } finally {
        clearTimeout(timer)
      }
    }, deadline)
}
