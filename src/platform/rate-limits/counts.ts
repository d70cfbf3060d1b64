/** Counts what callers and addresses do, in windows that begin with the first of it. */

export interface Counted {
  /** In the current window, with what was just added. */
  count: number
  /** Milliseconds until the window is over. */
  leftMs: number
}

export interface Counts {
  /** @param amount 1 to count, 0 to look, -1 to take back */
  add(limit: string, key: string, windowMs: number, amount: 1 | 0 | -1): Promise<Counted> | Counted
}

/** How many callers or addresses each limit remembers: the most recent ones. */
const REMEMBERED = 50_000

const nothing: Counted = { count: 0, leftMs: 0 }

/** In the memory of this instance. */
export class LocalCounts implements Counts {
  private readonly limits = new Map<string, Map<string, { count: number; until: number }>>()

  add(limit: string, key: string, windowMs: number, amount: 1 | 0 | -1): Counted {
    const known = this.limits.get(limit) ?? new Map()
    this.limits.set(limit, known)
    const now = Date.now()
    let window = known.get(key)
    known.delete(key)
    if (!window || window.until <= now) {
      if (amount <= 0) return nothing
      window = { count: 0, until: now + windowMs }
    }
    window.count = Math.max(0, window.count + amount)
    // The last of the map is the most recent one.
    known.set(key, window)
    if (known.size > REMEMBERED) known.delete(known.keys().next().value)
    return { count: window.count, leftMs: window.until - now }
  }
}
