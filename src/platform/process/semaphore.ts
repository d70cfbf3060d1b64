/** Limits concurrent work to `permits`. Other work waits for a limited time in a queue of limited length. */
export class Semaphore {
  private held = 0
  private readonly waiting = new Set<Waiting>()

  constructor(
    private readonly permits: number,
    private readonly queueLimit: number,
    private readonly waitMs: number,
    /** The error for work that gets no permit. */
    private readonly timeoutError: () => Error,
    /** Called after every wait, with its milliseconds and whether it got a permit. */
    private readonly onWait?: (ms: number, acquired: boolean) => void,
  ) {}

  /**
   * @param deadline when waiting ends, in milliseconds since the epoch, if some of the time was spent elsewhere
   * @throws the result of `timeoutError` if no permit becomes free in time. `work` hasn't started then.
   */
  async run<T>(work: () => PromiseLike<T>, deadline?: number): Promise<T> {
    await this.acquire(deadline)
    try {
      return await work()
    } finally {
      this.release()
    }
  }

  /**
   * Resolves once it holds a permit, which `release` returns.
   * @param signal ends waiting early. The rejection is its reason
   */
  acquire(deadline = Date.now() + this.waitMs, signal?: AbortSignal): Promise<void> | void {
    signal?.throwIfAborted()
    if (this.waiting.size === 0 && this.held < this.permits) {
      this.held++
      return
    }
    if (this.waiting.size >= this.queueLimit) {
      this.onWait?.(0, false)
      throw this.timeoutError()
    }
    const since = performance.now()
    return new Promise((resolve, reject) => {
      const abandon = () => this.end(waiting).giveUp(signal?.reason)
      signal?.addEventListener('abort', abandon)
      const waiting: Waiting = {
        proceed: () => {
          this.onWait?.(performance.now() - since, true)
          resolve()
        },
        giveUp: (error) => {
          this.onWait?.(performance.now() - since, false)
          reject(error)
        },
        forgetSignal: () => signal?.removeEventListener('abort', abandon),
        timer: setTimeout(
          () => this.end(waiting).giveUp(this.timeoutError()),
          Math.max(0, deadline - Date.now()),
        ),
      }
      this.waiting.add(waiting)
    })
  }

  /** Passes the permit to the caller that has waited longest. */
  release(): void {
    this.held--
    this.admit()
  }

  /** Rejects all waiting work with this error. */
  rejectWaiting(error: Error): void {
    for (const waiting of this.waiting) this.end(waiting).giveUp(error)
  }

  /** How many permits are held. */
  get inUse(): number {
    return this.held
  }

  /** How many are waiting. */
  get queueLength(): number {
    return this.waiting.size
  }

  /** Whether nothing is running or waiting. */
  get isIdle(): boolean {
    return this.held === 0 && this.waiting.size === 0
  }

  private admit(): void {
    for (const next of this.waiting) {
      if (this.held >= this.permits) return
      this.held++
      this.end(next).proceed()
    }
  }

  private end(waiting: Waiting): Waiting {
    clearTimeout(waiting.timer)
    waiting.forgetSignal()
    this.waiting.delete(waiting)
    return waiting
  }
}

interface Waiting {
  proceed: () => void
  giveUp: (error: Error) => void
  forgetSignal: () => void
  timer: NodeJS.Timeout
}

/** A semaphore per key, all created with the same arguments. Idle ones are dropped. */
export class KeyedSemaphore {
  private readonly semaphores = new Map<string, Semaphore>()
  private readonly each: ConstructorParameters<typeof Semaphore>

  constructor(...each: ConstructorParameters<typeof Semaphore>) {
    this.each = each
  }

  /** Acquires one permit of each key, in order. @returns what releases them; further calls do nothing. */
  async acquire(keys: readonly string[], deadline?: number, signal?: AbortSignal): Promise<() => void> {
    const held: string[] = []
    const release = () => {
      for (const key of held.splice(0).reverse()) {
        const semaphore = this.semaphores.get(key)
        semaphore?.release()
        if (semaphore?.isIdle) this.semaphores.delete(key)
      }
    }
    try {
      for (const key of keys) {
        const semaphore = this.semaphores.get(key) ?? new Semaphore(...this.each)
        const acquired = semaphore.acquire(deadline, signal)
        // A new one is kept only now that it's in use. `acquire` throws at once if the signal has already aborted.
        this.semaphores.set(key, semaphore)
        await acquired
        held.push(key)
      }
    } catch (error) {
      release()
      throw error
    }
    return release
  }
}
