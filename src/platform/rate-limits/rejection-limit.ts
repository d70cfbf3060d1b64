import { setTimeout as sleep } from 'node:timers/promises'
import { tooMany } from '../../errors.js'
import type { LimitName } from '../metrics/metrics.js'
import type { Counts } from './counts.js'

const WINDOW_MS = 60_000
/** How long a call waits for the outcome of other calls. */
const WAIT_MS = 5_000
/** The longest pause between two checks. Pauses are random, because concurrent checks count each other. */
const PAUSE_MS = 100

/**
 * Limits how often per minute an external service may reject a caller's work. Work under way may still be rejected,
 * here or on another instance, so it is counted as well, but separately: it only makes a further call wait.
 */
export class RejectionLimit {
  constructor(
    private readonly counts: Counts,
    private readonly limit: LimitName,
    private readonly max: number,
    private readonly isRejection: (error: unknown) => boolean,
  ) {}

  /** @throws {ApiError} `rate_limited` after too many rejections */
  async check(key: string): Promise<void> {
    const { count, leftMs } = await this.rejected(key, 0)
    if (count >= this.max) throw tooMany(this.limit, this.max, leftMs / 1_000)
  }

  /**
   * Does `work`. Calls that could exceed the limit wait for the outcome of those before them.
   * @throws {ApiError} `rate_limited`; `work` was then not started
   */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const deadline = Date.now() + WAIT_MS
    while (!(await this.mayStart(key))) {
      if (Date.now() > deadline) throw tooMany(this.limit, this.max, 1)
      await sleep(Math.random() * PAUSE_MS)
    }
    try {
      return await work()
    } catch (error) {
      if (this.isRejection(error)) await this.rejected(key, 1)
      throw error
    } finally {
      await this.underWay(key, -1)
    }
  }

  /** Counts the call as under way, unless it has to wait. */
  private async mayStart(key: string): Promise<boolean> {
    // The order matters: a call that ends in between is in at least one of the two counts.
    const [underWay, rejected] = await Promise.all([this.underWay(key, 1), this.rejected(key, 0)])
    if (rejected.count + underWay.count <= this.max) return true
    await this.underWay(key, -1)
    if (rejected.count >= this.max) throw tooMany(this.limit, this.max, rejected.leftMs / 1_000)
    return false
  }

  private rejected(key: string, amount: 1 | 0) {
    return this.counts.add(this.limit, key, WINDOW_MS, amount)
  }

  private underWay(key: string, amount: 1 | -1) {
    return this.counts.add(`${this.limit}_under_way`, key, WINDOW_MS, amount)
  }
}
