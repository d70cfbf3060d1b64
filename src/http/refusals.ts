import { setTimeout as sleep } from 'node:timers/promises'
import type { LimitName } from '../domain/metrics.js'
import { tooMany } from '../errors.js'

const WINDOW_MS = 60_000
/** How long a call waits for the outcome of others. */
const WAIT_MS = 5_000

interface Recent {
  refused: number
  /** When the count starts again, in milliseconds since the epoch. */
  until: number
  underWay: Set<Promise<void>>
}

/** Limits how often in a minute a caller's work may be refused by somebody else. Successes are not counted. */
export class Refusals {
  private readonly recent = new Map<string, Recent>()

  constructor(
    private readonly name: LimitName,
    private readonly max: number,
    private readonly isRefusal: (error: unknown) => boolean,
  ) {}

  /** @throws {ApiError} `rate_limited` after too many refusals */
  check(key: string): void {
    const recent = this.recent.get(key)
    if (recent && recent.refused >= this.max)
      throw tooMany(this.name, this.max, (recent.until - Date.now()) / 1_000)
  }

  /**
   * Does `work`. Whatever is under way might still be refused, so calls that could exceed the limit wait for outcomes.
   * @throws {ApiError} `rate_limited`; `work` has then not begun
   */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const deadline = Date.now() + WAIT_MS
    let recent = this.of(key)
    while (recent.refused + recent.underWay.size >= this.max) {
      this.check(key)
      const left = deadline - Date.now()
      if (left <= 0) throw tooMany(this.name, this.max, 1)
      await Promise.race([...recent.underWay, sleep(left, undefined, { ref: false })])
      recent = this.of(key)
    }
    const working = work()
    const outcome = working.then(
      () => {},
      (error) => {
        if (this.isRefusal(error)) this.count(key, recent)
      },
    )
    recent.underWay.add(outcome)
    try {
      return await working
    } finally {
      await outcome
      recent.underWay.delete(outcome)
      this.forget(key, recent)
    }
  }

  private of(key: string): Recent {
    const recent = this.recent.get(key) ?? { refused: 0, until: 0, underWay: new Set() }
    this.recent.set(key, recent)
    return recent
  }

  private count(key: string, recent: Recent) {
    if (recent.refused++ > 0) return
    recent.until = Date.now() + WINDOW_MS
    const end = () => {
      recent.refused = 0
      this.forget(key, recent)
    }
    setTimeout(end, WINDOW_MS).unref()
  }

  private forget(key: string, recent: Recent) {
    if (recent.refused === 0 && recent.underWay.size === 0) this.recent.delete(key)
  }
}
