/** Which tokens were revoked before they expired: held in memory, so that no request has to ask. */
import { limits } from '../../../schemas/limits.js'
import type { Session } from './tokens.js'

const LIFETIME_MS = limits.session_days * 86_400_000

/** A token, or all those of a user that are older than a generation. */
interface Revoked {
  jti: string | null
  userId: string | null
  generation: number | null
}

export class Revocations {
  /** By the id of a token: when it has expired at the latest, in milliseconds since the epoch. */
  private readonly tokens = new Map<string, number>()
  /** By user: the oldest generation of tokens that is still good, and when all older ones have expired. */
  private readonly generations = new Map<string, { generation: number; until: number }>()

  includes({ jti, userId, generation }: Session): boolean {
    return this.tokens.has(jti) || generation < (this.generations.get(userId)?.generation ?? 0)
  }

  addToken(jti: string) {
    this.take([{ jti, userId: null, generation: null }])
  }

  addOlderThan(userId: string, generation: number) {
    this.take([{ jti: null, userId, generation }])
  }

  /** Adds revocations that this instance or another one has made. */
  take(revoked: Revoked[]) {
    const until = Date.now() + LIFETIME_MS
    for (const { jti, userId, generation } of revoked) {
      if (jti !== null) this.tokens.set(jti, until)
      if (userId === null || generation === null) continue
      const known = this.generations.get(userId)?.generation ?? 0
      this.generations.set(userId, { generation: Math.max(generation, known), until })
    }
  }

  /** Drops what concerns only tokens that have expired by now. */
  forgetExpired() {
    const now = Date.now()
    for (const [jti, until] of this.tokens) if (until < now) this.tokens.delete(jti)
    for (const [userId, { until }] of this.generations) if (until < now) this.generations.delete(userId)
  }
}
