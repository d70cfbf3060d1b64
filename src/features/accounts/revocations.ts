/**
 * Which tokens were revoked before they expired, and which accounts are disabled: kept in memory, so that no request has
 * to query for them.
 */
import { limits } from '../../../schemas/limits.js'
import type { Session } from '../../platform/access/caller.js'

const LIFETIME_MS = limits.session_days * 86_400_000

/** Revokes one token, or all tokens of a user that are older than a generation. */
interface Revoked {
  jti: string | null
  userId: string | null
  generation: number | null
}

export class Revocations {
  /** By token id: the latest time at which the token expires, in milliseconds since the epoch. */
  private readonly tokens = new Map<string, number>()
  /** By user: the oldest valid generation of tokens, and the time at which all older ones have expired. */
  private readonly generations = new Map<string, { generation: number; until: number }>()
  private disabled: ReadonlySet<string> = new Set()

  includes({ jti, userId, generation }: Session): boolean {
    return this.tokens.has(jti) || generation < (this.generations.get(userId)?.generation ?? 0)
  }

  /** Whether the operator has disabled the account, as of the last refresh. */
  isDisabled(userId: string): boolean {
    return this.disabled.has(userId)
  }

  /** @param userIds all disabled accounts */
  setDisabled(userIds: string[]) {
    this.disabled = new Set(userIds)
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

  /** Drops revocations whose tokens have all expired. */
  forgetExpired() {
    const now = Date.now()
    for (const [jti, until] of this.tokens) if (until < now) this.tokens.delete(jti)
    for (const [userId, { until }] of this.generations) if (until < now) this.generations.delete(userId)
  }
}
