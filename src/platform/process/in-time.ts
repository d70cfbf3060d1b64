import { setTimeout as sleep } from 'node:timers/promises'

/** The result of the work or, if it takes longer, of `late`. The work is not ended. */
export const inTime = async <T, Late>(work: Promise<T>, ms: number, late: () => Late): Promise<T | Late> => {
  const waiting = new AbortController()
  try {
    return await Promise.race([work, sleep(ms, undefined, { signal: waiting.signal }).then(late)])
  } finally {
    waiting.abort()
  }
}
