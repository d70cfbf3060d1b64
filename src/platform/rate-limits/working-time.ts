/** Callers who keep the service busy beyond their share go one after the other, so that all others find connections. */
import { limits } from '../../../schemas/limits.js'
import { Gate, Gates } from '../process/gate.js'

/** Working time that no longer counts, per millisecond that passes. */
const DECAY = limits.busy_seconds_per_caller / 60
/** How much more than that may come at once: a burst of requests that find their turns in time is no reason to wait. */
const BURST_MS = 15_000
/** At most so much is remembered, so that nobody has to wait for longer than a minute. */
const REMEMBERED_MS = BURST_MS + DECAY * 60_000
/** A caller's short reads take less. */
const LIGHT_MS = 1_000
const WAIT_MS = 5_000
/** How long the next piece of an answer waits that has begun. */
const PIECE_WAIT_MS = 60_000
/** How many callers are remembered: the most recent ones. */
const REMEMBERED = 50_000

/** How long the requests of one caller have been worked on, added up: a leaky bucket. */
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

  /** Whether one request is worked on and no other. */
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

/** The caller went on beyond the share, and had no turn in time. */
export class OverShare extends Error {
  constructor(
    /** Until the caller is within the share. */
    readonly seconds: number,
  ) {
    super('The caller keeps the service too busy')
  }
}

/** The work on one request. */
export interface Work {
  /** Whether others may wait behind this one: it is the caller's only one, and those before took little time. */
  readonly isLight: boolean
  /** Does not count the time of `work`, which is somebody else's. */
  elsewhere<T>(work: () => Promise<T>): Promise<T>
  /** Counts the time of `work`, which goes on after the request's own work is done, and lets it wait as requests do. */
  later<T>(work: () => Promise<T>): Promise<T>
  /** Ends the request's own work; a further call changes nothing. */
  end(): void
}

export class WorkShares {
  private readonly times = new Map<string, WorkingTime>()
  private readonly turns = new Gates(
    () => new Gate(1, limits.rate_per_caller, WAIT_MS, () => new OverShare(0)),
  )
  private readonly lane: Gate

  /** @param width how many requests of callers beyond their share are worked on at once */
  constructor(width: number) {
    this.lane = new Gate(width, limits.rate_per_caller, WAIT_MS, () => new OverShare(0))
  }

  /** Calls back with the work once it may begin: at once, unless the caller is beyond the share. */
  begin(caller: string, done: (error: OverShare | undefined, work?: Work) => void): void {
    const time = this.timeOf(caller)
    if (time.update() <= BURST_MS) done(undefined, this.workOf(caller, time))
    else
      this.enterLane(caller, time, WAIT_MS).then(
        (leave) => done(undefined, this.workOf(caller, time, leave)),
        (error) => done(error),
      )
  }

  private workOf(caller: string, time: WorkingTime, leave = () => {}): Work {
    let isOver = false
    time.begin()
    return {
      get isLight() {
        return time.isAlone && time.update() <= LIGHT_MS
      },
      elsewhere: async (work) => {
        time.end()
        try {
          return await work()
        } finally {
          time.begin()
        }
      },
      later: async (work) => {
        const leaveAfter =
          time.update() > BURST_MS ? await this.enterLane(caller, time, PIECE_WAIT_MS) : () => {}
        time.begin()
        try {
          return await work()
        } finally {
          time.end()
          leaveAfter()
        }
      },
      end: () => {
        if (isOver) return
        isOver = true
        time.end()
        leave()
      },
    }
  }

  /** One request of a caller at a time, so that each of those in the lane has the same share of it. */
  private async enterLane(caller: string, time: WorkingTime, waitMs: number): Promise<() => void> {
    const deadline = Date.now() + waitMs
    try {
      const leaveTurn = await this.turns.enter(caller, deadline)
      try {
        await this.lane.enter(deadline)
      } catch (error) {
        leaveTurn()
        throw error
      }
      return () => {
        this.lane.leave()
        leaveTurn()
      }
    } catch {
      throw new OverShare((time.update() - BURST_MS) / DECAY / 1_000)
    }
  }

  private timeOf(caller: string): WorkingTime {
    const time = this.times.get(caller) ?? new WorkingTime()
    this.times.delete(caller)
    // The last of the map is the most recent one.
    this.times.set(caller, time)
    if (this.times.size > REMEMBERED) this.times.delete(this.times.keys().next().value as string)
    return time
  }
}
