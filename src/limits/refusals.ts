import { setTimeout as sleep } from 'node:timers/promises'
import type { LimitName } from '../domain/metrics.js'
import { tooMany } from '../errors.js'
import type { Counts } from './counts.js'

const WINDOW_MS = 60_000
/** How long a call waits for the outcome of others. */
const WAIT_MS = 5_000

/**
 * Limits how often in a minute a caller's work may be refused by somebody else. Work counts when it begins, and no more
 * once it has not been refused.
 */
export class Refusals {
  /** What each caller has under way in this process. */
  private readonly underWay = new Map<string, Set<Promise<void>>>()

  constructor(
    private readonly counts: Counts,
    private readonly limit: LimitName,
    private readonly max: number,
    private readonly isRefusal: (error: unknown) => boolean,
  ) {}

  /** @throws {ApiError} `rate_limited` after too many refusals */
  async check(key: string): Promise<void> {
    const { count, leftMs } = await this.add(key, 0)
    if (count - this.countUnderWay(key) >= this.max) throw tooMany(this.limit, this.max, leftMs / 1_000)
  }

  /**
   * Does `work`. What is under way might still be refused, so calls that could exceed the limit wait for outcomes.
   * @throws {ApiError} `rate_limited`; `work` has then not begun
   */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const deadline = Date.now() + WAIT_MS
    for (;;) {
      const end = this.begin(key)
      const { count, leftMs } = await this.add(key, 1)
      if (count <= this.max) return this.finish(key, work, end)
      await this.add(key, -1)
      end()
      const others = this.underWay.get(key) ?? []
      if (count - 1 - this.countUnderWay(key) >= this.max) throw tooMany(this.limit, this.max, leftMs / 1_000)
      const left = deadline - Date.now()
      if (left <= 0) throw tooMany(this.limit, this.max, 1)
      await Promise.race([...others, sleep(left, undefined, { ref: false })])
    }
  }

  private async finish<T>(key: string, work: () => Promise<T>, end: () => void): Promise<T> {
    let isRefused = false
    try {
      return await work()
    } catch (error) {
      isRefused = this.isRefusal(error)
      throw error
    } finally {
      if (!isRefused) await this.add(key, -1)
      end()
    }
  }

  private add(key: string, amount: 1 | 0 | -1) {
    return this.counts.add(this.limit, key, WINDOW_MS, amount)
  }

  private countUnderWay(key: string): number {
    return this.underWay.get(key)?.size ?? 0
  }

  private begin(key: string): () => void {
    const all = this.underWay.get(key) ?? new Set()
    this.underWay.set(key, all)
    let settle = () => {}
    const over = new Promise<void>((resolve) => {
      settle = resolve
    })
    all.add(over)
    return () => {
      all.delete(over)
      if (all.size === 0) this.underWay.delete(key)
      settle()
    }
  }
}
