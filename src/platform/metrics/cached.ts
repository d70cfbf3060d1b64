/** How long a value is cached, however often metrics are scraped. */
const CACHE_MS = 5_000

/** Caches the result of `ask`. */
export const cached = <T>(ask: () => Promise<T>): (() => Promise<T>) => {
  let last: { at: number; answer: Promise<T> } | undefined
  return () => {
    if (!last || Date.now() - last.at > CACHE_MS) last = { at: Date.now(), answer: ask() }
    return last.answer
  }
}
