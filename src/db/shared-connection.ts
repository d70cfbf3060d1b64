import type postgres from 'postgres'
import type { InTurn } from './turns.js'

/**
 * One connection that short reads share: what comes at the same time is sent, answered and read together, which takes a third
 * less of the processor (`bench/README.md`). What holds up one statement holds up all behind it, so a connection
 * that does not answer in time is replaced, and all that waits for it fails.
 */
export const createSharedConnection = (
  connect: () => postgres.Sql,
  inTurn: InTurn,
  answerSeconds: number,
): { now(): postgres.Sql; inTurn: InTurn } => {
  let current = connect()
  const replace = (slow: postgres.Sql) => {
    if (slow !== current) return
    current = connect()
    void slow.end({ timeout: 0 })
  }
  return {
    now: () => current,
    inTurn: (work, deadline) =>
      inTurn(async () => {
        const timer = setTimeout(replace, answerSeconds * 1_000, current)
        try {
          return await work()
        } finally {
          clearTimeout(timer)
        }
      }, deadline),
  }
}
