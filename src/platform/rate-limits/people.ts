import { LRUCache } from 'lru-cache'
import { inTime } from '../process/async.js'

const REMEMBERED = 50_000
/** How long a request waits for the database. */
const ANSWER_MS = 2_000
/** How long requests skip the wait once the database has failed to answer. */
const PAUSE_MS = 1_000

/**
 * Finds the person behind an account, because rate limits continue when people delete their account and sign in again. An
 * account never changes hands, so results are cached without expiry.
 */
export class People {
  private readonly known = new LRUCache<string, string | Promise<string>>({ max: REMEMBERED })
  private askAgainAt = 0

  /** @param find the person's id at the repository host; null for an account that was deleted */
  constructor(private readonly find: (userId: string) => Promise<string | null>) {}

  /**
   * The person's key for rate limits. A promise only the first time. The account's id if the database doesn't
   * answer.
   */
  keyOf(userId: string): string | Promise<string> {
    const known = this.known.get(userId)
    if (known !== undefined) return known
    if (Date.now() < this.askAgainAt) return userId
    const asked = this.ask(userId)
    this.known.set(userId, asked)
    return asked
  }

  private ask(userId: string): Promise<string> {
    const pause = () => {
      this.askAgainAt = Date.now() + PAUSE_MS
      return userId
    }
    const found = this.find(userId).then(
      (repohostId) => {
        // Remaining sessions of deleted accounts share one limit.
        const key = repohostId === null ? 'deleted accounts' : `person ${repohostId}`
        this.known.set(userId, key)
        return key
      },
      () => {
        this.known.delete(userId)
        return pause()
      },
    )
    return inTime(found, ANSWER_MS, pause)
  }
}
