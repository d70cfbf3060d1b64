/** Counts actions by caller or address, in windows that start at the first action. */
export interface Counted {
  /** The count of the current window, including what was just added. */
  count: number
  /** Milliseconds until the window is over. */
  leftMs: number
}

export interface Counts {
  /** @param amount how many to count, 0 to read, or less to undo */
  add(limit: string, key: string, windowMs: number, amount: number): Promise<Counted> | Counted
}

/** How many callers or addresses each limit remembers. The oldest are dropped. */
const MAX_KEYS = 50_000

const UNCOUNTED: Counted = { count: 0, leftMs: 0 }

/** Counts in this instance's memory. */
export class LocalCounts implements Counts {
  private readonly limits = new Map<string, Map<string, { count: number; until: number }>>()

  add(limit: string, key: string, windowMs: number, amount: number): Counted {
    const known = this.limits.get(limit) ?? new Map()
    this.limits.set(limit, known)
    const now = Date.now()
    let window = known.get(key)
    if (!window || window.until <= now) {
      if (amount <= 0) return UNCOUNTED
      window = { count: 0, until: now + windowMs }
    }
    window.count = Math.max(0, window.count + amount)
    // A cache from a package would reserve a mebibyte for each limit.
    known.delete(key)
    known.set(key, window)
    if (known.size > MAX_KEYS) known.delete(known.keys().next().value as string)
    return { count: window.count, leftMs: window.until - now }
  }
}
