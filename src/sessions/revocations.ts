/** Which tokens were revoked before they expired: held in memory, so that no request has to ask. */
import { limits } from '../../schemas/limits.js'
import type { Session } from './tokens.js'

const LIFETIME_MS = limits.session_days * 86_400_000

export class Revocations {
  /** By the id of a token: when it has expired at the latest, in milliseconds since the epoch. */
  private readonly tokens = new Map<string, number>()
  /** By user: the oldest generation of tokens that is still good, and when all older ones have expired. */
  private readonly generations = new Map<string, { generation: number; until: number }>()

  /** @param added is called back whenever something is new */
  constructor(private readonly added: () => void = () => {}) {}

  includes({ jti, userId, generation }: Session): boolean {
    return this.tokens.has(jti) || generation < (this.generations.get(userId)?.generation ?? 0)
  }

  addToken(jti: string) {
    const isNew = !this.tokens.has(jti)
    this.tokens.set(jti, Date.now() + LIFETIME_MS)
    if (isNew) this.added()
  }

  addOlderThan(userId: string, generation: number) {
    const known = this.generations.get(userId)?.generation ?? 0
    this.generations.set(userId, { generation: Math.max(generation, known), until: Date.now() + LIFETIME_MS })
    if (generation > known) this.added()
  }

  /** Drops what concerns only tokens that have expired by now. */
  forgetExpired() {
    const now = Date.now()
    for (const [jti, until] of this.tokens) if (until < now) this.tokens.delete(jti)
    for (const [userId, { until }] of this.generations) if (until < now) this.generations.delete(userId)
  }
}
