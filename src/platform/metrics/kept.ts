/** How long an answer serves, however often metrics are scraped. */
const KEPT_MS = 5_000

/** Asks again only after a while. */
export const kept = <T>(ask: () => Promise<T>): (() => Promise<T>) => {
  let last: { at: number; answer: Promise<T> } | undefined
  return () => {
    if (!last || Date.now() - last.at > KEPT_MS) last = { at: Date.now(), answer: ask() }
    return last.answer
  }
}
