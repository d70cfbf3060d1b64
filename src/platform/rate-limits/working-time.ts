/** Callers above their share of working time get one request at a time, so that connections stay free for others. */
import { limits } from '../../../schemas/limits.js'
import { tooMany } from '../../errors.js'
import { createCache } from '../process/maps.js'
import { KeyedSemaphore, Semaphore } from '../process/semaphore.js'
import type { Payers } from './payers.js'

/** How much working time is forgiven per millisecond. */
const DECAY = limits.busy_seconds_per_caller / 60
/** The allowed burst of working time. */
const BURST_MS = 15_000
/** The maximum working time that counts, so that no caller has to wait longer than a minute. */
const REMEMBERED_MS = BURST_MS + DECAY * 60_000
/** Below this working time, a caller's requests count as light. */
const MAX_LIGHT_MS = 1_000
const WAIT_MS = 5_000
/** How long the next piece of a started response waits. */
const PIECE_WAIT_MS = 60_000
/** How many callers are tracked. The oldest are dropped. */
const MAX_CALLERS = 50_000

/** The total working time on one caller's requests, as a leaky bucket. */
class WorkingTime {
  private usedMs = 0
  private requests = 0
  private updatedAt = performance.now()

  begin(): void {
    this.update()
    this.requests++
  }

  end(): void {
    this.update()
    this.requests--
  }

  /** Whether exactly one request is in progress. */
  get isAlone(): boolean {
    return this.requests === 1
  }

  update(): number {
    const now = performance.now()
    const passed = now - this.updatedAt
    this.updatedAt = now
    const usedMs = this.usedMs + passed * (this.requests - DECAY)
    this.usedMs = Math.min(REMEMBERED_MS, Math.max(0, usedMs))
    return this.usedMs
  }
}

/** The working time of everyone who pays for a request. */
class WorkingTimes {
  constructor(private readonly times: readonly WorkingTime[]) {}

  begin(): void {
    for (const time of this.times) time.begin()
  }

  end(): void {
    for (const time of this.times) time.end()
  }

  get isAlone(): boolean {
    return this.times.every((time) => time.isAlone)
  }

  /** The longest of these times. */
  update(): number {
    return Math.max(...this.times.map((time) => time.update()))
  }
}

/** The work on one request. */
export interface Work {
  /** Whether others may wait behind this request, because it's the caller's only one and earlier ones were quick. */
  readonly isLight: boolean
  /** Stops counting time, for example while an external service works. */
  pause(): void
  /** Counts time again. */
  resume(): void
  /** Runs and counts work that continues after the request's own work has ended, such as the next piece of a stream. */
  continueLater<T>(work: () => Promise<T>): Promise<T>
  /** Ends the request's own work; a further call changes nothing. */
  end(): void
}

/** Callers above their share get one in this many connections between them. */
const CONNECTIONS_PER_LANE = 8
/** Replaced by an error that says how long to wait. */
const laneTimeout = () => new Error('No turn in the slow lane')

export class WorkBudget {
  private readonly times = createCache<string, WorkingTime>(MAX_CALLERS, () => new WorkingTime())
  private readonly callers = new KeyedSemaphore(1, limits.rate_per_caller, WAIT_MS, laneTimeout)
  private readonly slowLane: Semaphore

  constructor(connections: number) {
    const width = Math.max(1, Math.floor(connections / CONNECTIONS_PER_LANE))
    this.slowLane = new Semaphore(width, limits.rate_per_caller, WAIT_MS, laneTimeout)
  }

  /**
   * Resolves once the work may begin, which is immediately unless the caller is beyond the share.
   * @throws {ApiError} `rate_limited`
   */
  async begin(payers: Payers): Promise<Work> {
    const time = new WorkingTimes(payers.map((payer) => this.times.memo(payer)))
    const caller = payers.at(-1) as string
    if (time.update() <= BURST_MS) return this.workOf(caller, time)
    return this.workOf(caller, time, await this.enterSlowLane(caller, time, WAIT_MS))
  }

  private workOf(caller: string, time: WorkingTimes, release = () => {}): Work {
    let isPaused = false
    let isOver = false
    const pause = () => {
      if (isOver || isPaused) return
      isPaused = true
      time.end()
    }
    const resume = () => {
      if (isOver || !isPaused) return
      isPaused = false
      time.begin()
    }
    time.begin()
    return {
      get isLight() {
        return time.isAlone && time.update() <= MAX_LIGHT_MS
      },
      pause,
      resume,
      continueLater: async (work) => {
        const release =
          time.update() > BURST_MS ? await this.enterSlowLane(caller, time, PIECE_WAIT_MS) : () => {}
        time.begin()
        try {
          return await work()
        } finally {
          time.end()
          release()
        }
      },
      end: () => {
        if (isOver) return
        isOver = true
        if (!isPaused) time.end()
        release()
      },
    }
  }

  /** Admits one request per caller at a time, so that all callers in the slow lane get the same share. */
  private async enterSlowLane(caller: string, time: WorkingTimes, waitMs: number): Promise<() => void> {
    const deadline = Date.now() + waitMs
    try {
      const releaseCaller = await this.callers.acquire([caller], deadline)
      try {
        await this.slowLane.acquire(deadline)
      } catch (error) {
        releaseCaller()
        throw error
      }
      return () => {
        this.slowLane.release()
        releaseCaller()
      }
    } catch {
      const seconds = (time.update() - BURST_MS) / DECAY / 1_000
      throw tooMany('working_time', limits.busy_seconds_per_caller, seconds)
    }
  }
}
