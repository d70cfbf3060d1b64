import { inTime } from '../process/in-time.js'

/** How long a value is cached, however often metrics are scraped. */
const CACHE_MS = 5_000
/** How long a scrape waits before it leaves the value out. */
const WAIT_MS = 1_000

/** Undefined if the work fails, or takes too long for a scrape. */
export const forScrape = <T>(work: Promise<T>): Promise<T | undefined> =>
  inTime(work, WAIT_MS, () => undefined).catch(() => undefined)

/** Caches the result of `ask`, or that there was none in time. */
export const cached = <T>(ask: () => Promise<T>): (() => Promise<T | undefined>) => {
  let last: { at: number; answer: Promise<T | undefined> } | undefined
  return () => {
    if (!last || Date.now() - last.at > CACHE_MS) last = { at: Date.now(), answer: forScrape(ask()) }
    return last.answer
  }
}
