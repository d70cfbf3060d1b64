/** Counts actions by caller or address, in windows that start at the first action. */
export interface WindowCount {
  /** The count of the current window, including what was just added. */
  count: number
  /** Milliseconds until the window is over. */
  remainingMs: number
}

export interface RateCounter {
  /** @param amount how many to count, 0 to read, or less to undo */
  add(limit: string, key: string, windowMs: number, amount: number): Promise<WindowCount> | WindowCount
}

/** How many callers or addresses each limit remembers. The oldest are dropped. */
const MAX_KEYS = 50_000

const UNCOUNTED: WindowCount = { count: 0, remainingMs: 0 }

/** Counts in this instance's memory. */
export class LocalRateCounter implements RateCounter {
  private readonly limits = new Map<string, Map<string, { count: number; until: number }>>()

  add(limit: string, key: string, windowMs: number, amount: number): WindowCount {
    const known = this.limits.get(limit) ?? new Map()
    this.limits.set(limit, known)
    const now = performance.now()
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
    return { count: window.count, remainingMs: window.until - now }
  }
}
