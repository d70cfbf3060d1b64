/**
 * Guards an external dependency that the service can do without. While it is away, calls fail at once, and a probe runs in
 * the background.
 */
import { inTime } from './in-time.js'

export interface CircuitBreakerOptions {
  /** Checks whether the dependency works. Called every second in the background. */
  probe: () => Promise<unknown>
  /** `onLost` is called once when the breaker opens, `onRestored` once when it closes. */
  onLost: (reason: unknown) => void
  onRestored: () => void
  /** Whether a failure means that the dependency is away. By default, every failure does. */
  isFault?: (error: unknown) => boolean
}

const PERIOD_MS = 1_000
const PROBE_MS = 2_000
/** A flapping dependency needs more successful probes each time, up to this many. */
const MAX_PROBES_NEEDED = 30
/** After this long it counts as stable again. */
const STEADY_MS = 60_000

export class CircuitBreaker {
  private openReason: Error | undefined
  /** Rejects calls that wait for an answer. */
  private readonly underWay = new Set<(reason: Error) => void>()
  private timer: NodeJS.Timeout | undefined
  private isClosed = false
  private probesNeeded = 1
  private probesLeft = 0
  private restoredAt = 0

  constructor(private readonly options: CircuitBreakerOptions) {}

  get isOpen(): boolean {
    return this.openReason !== undefined
  }

  /** Resolves after the first probe, within two seconds. */
  async start(): Promise<void> {
    await this.runProbe()
  }

  close(): void {
    this.isClosed = true
    clearTimeout(this.timer)
  }

  /**
   * @param timeoutMs how long the answer may take; no limit by default
   * @throws the error of `work`, or at once the reason why the breaker is open
   */
  run<T>(work: () => PromiseLike<T>, timeoutMs?: number): Promise<T> {
    if (this.openReason) return Promise.reject(this.openReason)
    return new Promise((resolve, reject) => {
      const done = () => {
        clearTimeout(timer)
        this.underWay.delete(giveUp)
      }
      const giveUp = (reason: Error) => {
        done()
        reject(reason)
      }
      const timer =
        timeoutMs === undefined
          ? undefined
          : setTimeout(() => this.trip(new Error(`No response within ${timeoutMs} ms`)), timeoutMs)
      this.underWay.add(giveUp)
      work().then(
        (value) => {
          done()
          resolve(value)
        },
        (error) => {
          // The result of an abandoned call does not matter.
          if (this.underWay.has(giveUp) && (this.options.isFault?.(error) ?? true)) this.trip(error)
          giveUp(error)
        },
      )
    })
  }

  private async runProbe(): Promise<void> {
    try {
      await inTime(this.options.probe(), PROBE_MS, () => {
        throw new Error(`No response within ${PROBE_MS} ms`)
      })
      this.probeSucceeded()
    } catch (error) {
      this.trip(error)
    }
    if (!this.isClosed) this.timer = setTimeout(() => this.runProbe(), PERIOD_MS).unref()
  }

  private probeSucceeded(): void {
    if (!this.openReason || --this.probesLeft > 0) return
    this.openReason = undefined
    this.restoredAt = Date.now()
    this.options.onRestored()
  }

  private trip(reason: unknown): void {
    if (this.isClosed) return
    const wasClosed = this.openReason === undefined
    if (wasClosed) {
      const isSteady = Date.now() - this.restoredAt > STEADY_MS
      this.probesNeeded = isSteady ? 1 : Math.min(2 * this.probesNeeded, MAX_PROBES_NEEDED)
    }
    this.openReason = reason instanceof Error ? reason : new Error(String(reason))
    this.probesLeft = this.probesNeeded
    if (wasClosed) this.options.onLost(reason)
    for (const giveUp of this.underWay) giveUp(this.openReason)
  }
}
