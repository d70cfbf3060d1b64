import { setTimeout as sleep } from 'node:timers/promises'
import { tooMany } from '../../errors.js'
import type { LimitName } from '../metrics/metrics.js'
import type { Counts } from './counts.js'

const WINDOW_MS = 60_000
/** How long a call waits for the outcome of others. */
const WAIT_MS = 5_000
/** The longest time between two looks. Those who wait count each other while they look, so they must not look at once. */
const PAUSE_MS = 100

/**
 * Limits how often in a minute a caller's work may be refused by somebody else. What is under way might still be refused,
 * here or by another instance, so it is counted as well, but apart: that others are at work makes a call wait first.
 */
export class Refusals {
  constructor(
    private readonly counts: Counts,
    private readonly limit: LimitName,
    private readonly max: number,
    private readonly isRefusal: (error: unknown) => boolean,
  ) {}

  /** @throws {ApiError} `rate_limited` after too many refusals */
  async check(key: string): Promise<void> {
    const { count, leftMs } = await this.refused(key, 0)
    if (count >= this.max) throw tooMany(this.limit, this.max, leftMs / 1_000)
  }

  /**
   * Does `work`. Calls that could exceed the limit wait for the outcome of those before them.
   * @throws {ApiError} `rate_limited`; `work` has then not begun
   */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const deadline = Date.now() + WAIT_MS
    while (!(await this.mayBegin(key))) {
      if (Date.now() > deadline) throw tooMany(this.limit, this.max, 1)
      await sleep(Math.random() * PAUSE_MS)
    }
    try {
      return await work()
    } catch (error) {
      if (this.isRefusal(error)) await this.refused(key, 1)
      throw error
    } finally {
      await this.underWay(key, -1)
    }
  }

  /** Counts the call as under way, unless it has to wait. */
  private async mayBegin(key: string): Promise<boolean> {
    // In this order: a call that ends in between is then in one of the two counts, or in both.
    const [underWay, refused] = await Promise.all([this.underWay(key, 1), this.refused(key, 0)])
    if (refused.count + underWay.count <= this.max) return true
    await this.underWay(key, -1)
    if (refused.count >= this.max) throw tooMany(this.limit, this.max, refused.leftMs / 1_000)
    return false
  }

  private refused(key: string, amount: 1 | 0) {
    return this.counts.add(this.limit, key, WINDOW_MS, amount)
  }

  private underWay(key: string, amount: 1 | -1) {
    return this.counts.add(`${this.limit}_under_way`, key, WINDOW_MS, amount)
  }
}
