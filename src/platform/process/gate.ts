/** Lets at most `limit` run at once. The others wait, for a bounded time, in a queue of bounded length. */
export class Gate {
  private running = 0
  private readonly waiting = new Set<Waiting>()

  constructor(
    private readonly limit: number,
    private readonly queueLimit: number,
    private readonly waitMs: number,
    /** The error for those who get no turn. */
    private readonly refuse: () => Error,
    /** Told of every wait: its milliseconds, and whether there was a place in the end. */
    private readonly onWait?: (ms: number, hasPlace: boolean) => void,
  ) {}

  /**
   * @param deadline when waiting ends, in milliseconds since the epoch, if some of the time was spent elsewhere
   * @throws what `refuse` makes when no turn comes in time; `work` has then not begun.
   */
  async run<T>(work: () => PromiseLike<T>, deadline?: number): Promise<T> {
    await this.enter(deadline)
    try {
      return await work()
    } finally {
      this.leave()
    }
  }

  /** Resolves when a place is free, which is then held until `leave`. */
  enter(deadline = Date.now() + this.waitMs): Promise<void> | void {
    if (this.running < this.limit) {
      this.running++
      return
    }
    if (this.waiting.size >= this.queueLimit) {
      this.onWait?.(0, false)
      throw this.refuse()
    }
    const since = performance.now()
    return new Promise((resolve, reject) => {
      const waiting = {
        proceed: () => {
          this.onWait?.(performance.now() - since, true)
          resolve()
        },
        giveUp: (error: Error) => {
          this.onWait?.(performance.now() - since, false)
          reject(error)
        },
        timer: setTimeout(() => this.end(waiting).giveUp(this.refuse()), Math.max(0, deadline - Date.now())),
      }
      this.waiting.add(waiting)
    })
  }

  /** Hands the place to whoever has waited longest. */
  leave(): void {
    const next = this.waiting.values().next().value
    if (next) this.end(next).proceed()
    else this.running--
  }

  /** Refuses all who wait, with this error. */
  turnAway(error: Error): void {
    for (const waiting of this.waiting) this.end(waiting).giveUp(error)
  }

  /** How many run. */
  get taken(): number {
    return this.running
  }

  /** How many wait. */
  get queue(): number {
    return this.waiting.size
  }

  /** Whether nothing runs and nothing waits. */
  get idle(): boolean {
    return this.running === 0 && this.waiting.size === 0
  }

  private end(waiting: Waiting): Waiting {
    clearTimeout(waiting.timer)
    this.waiting.delete(waiting)
    return waiting
  }
}

interface Waiting {
  proceed: () => void
  giveUp: (error: Error) => void
  timer: NodeJS.Timeout
}

/** A gate per key, so that nobody waits for anybody else's work. Gates that are idle are dropped. */
export class Gates {
  private readonly gates = new Map<string, Gate>()

  constructor(private readonly make: () => Gate) {}

  /** @returns what gives the place back; calling it again changes nothing. */
  async enter(key: string, deadline?: number): Promise<() => void> {
    const gate = this.gates.get(key) ?? this.make()
    this.gates.set(key, gate)
    await gate.enter(deadline)
    let inside = true
    return () => {
      if (!inside) return
      inside = false
      gate.leave()
      if (gate.idle) this.gates.delete(key)
    }
  }

  async run<T>(key: string, work: () => PromiseLike<T>): Promise<T> {
    const leave = await this.enter(key)
    try {
      return await work()
    } finally {
      leave()
    }
  }
}
