/**
 * Stands before something outside that the service can do without. While that is away, nothing waits for it: who asks is
 * told at once, and it is looked for in the background.
 */

export interface CircuitOptions {
  /** Looks whether it is there and fit to be used; called every second, in the background. */
  probe: () => Promise<unknown>
  /** Called once when it is lost, and once when it is found again. */
  lost: (reason: unknown) => void
  found: () => void
  /** Whether a failure says that it is away. Without this all do. */
  isFault?: (error: unknown) => boolean
}

const PERIOD_MS = 1_000
const PROBE_MS = 2_000
/** What comes and goes has to be there for longer each time, up to so many looks. */
const MOST_LOOKS = 30
/** After so long it counts as steady again. */
const STEADY_MS = 60_000

export class Circuit {
  private away: Error | undefined
  /** What ends those who wait for an answer. */
  private readonly underWay = new Set<(reason: Error) => void>()
  private timer: NodeJS.Timeout | undefined
  private isClosed = false
  private looksNeeded = 1
  private looksLeft = 0
  private foundAt = 0

  constructor(private readonly options: CircuitOptions) {}

  get isAway(): boolean {
    return this.away !== undefined
  }

  /** Resolves after the first look, within two seconds. */
  async start(): Promise<void> {
    await this.look()
  }

  close(): void {
    this.isClosed = true
    clearTimeout(this.timer)
  }

  /**
   * @param timeoutMs how long the answer may take; without it, as long as `work` likes and it is not known to be away
   * @throws what `work` throws, or at once why it is away
   */
  run<T>(work: () => PromiseLike<T>, timeoutMs?: number): Promise<T> {
    if (this.away) return Promise.reject(this.away)
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
          : setTimeout(() => this.lose(new Error(`No answer within ${timeoutMs} ms`)), timeoutMs)
      this.underWay.add(giveUp)
      work().then(
        (value) => {
          done()
          resolve(value)
        },
        (error) => {
          // What was given up says nothing new.
          if (this.underWay.has(giveUp) && (this.options.isFault?.(error) ?? true)) this.lose(error)
          giveUp(error)
        },
      )
    })
  }

  private async look(): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    const tooLate = new Promise((_, reject) => {
      timer = setTimeout(() => reject(new Error(`No answer within ${PROBE_MS} ms`)), PROBE_MS)
    })
    try {
      await Promise.race([this.options.probe(), tooLate])
      this.find()
    } catch (error) {
      this.lose(error)
    }
    clearTimeout(timer)
    if (!this.isClosed) this.timer = setTimeout(() => this.look(), PERIOD_MS).unref()
  }

  private find(): void {
    if (!this.away || --this.looksLeft > 0) return
    this.away = undefined
    this.foundAt = Date.now()
    this.options.found()
  }

  private lose(reason: unknown): void {
    if (this.isClosed) return
    const isNews = this.away === undefined
    if (isNews) {
      const isSteady = Date.now() - this.foundAt > STEADY_MS
      this.looksNeeded = isSteady ? 1 : Math.min(2 * this.looksNeeded, MOST_LOOKS)
    }
    this.away = reason instanceof Error ? reason : new Error(String(reason))
    this.looksLeft = this.looksNeeded
    if (isNews) this.options.lost(reason)
    for (const giveUp of this.underWay) giveUp(this.away)
  }
}
