/** Lets at most `limit` run at once; the others wait in a bounded line, and each for a bounded time. */
export class Gate {
  private running = 0
  private readonly waiting = new Set<() => void>()

  constructor(
    private readonly limit: number,
    private readonly queueLimit: number,
    private readonly waitMs: number,
    /** What those are told who get no turn. */
    private readonly refuse: () => Error,
  ) {}

  /** @throws what `refuse` makes when no turn comes in time; `work` has then not begun. */
  async run<T>(work: () => PromiseLike<T>): Promise<T> {
    if (this.running >= this.limit) await this.turn()
    else this.running++
    try {
      return await work()
    } finally {
      const next = this.waiting.values().next().value
      if (next) next()
      else this.running--
    }
  }

  /** Whether nothing runs and nothing waits. */
  get idle(): boolean {
    return this.running === 0 && this.waiting.size === 0
  }

  /** Resolves when a finished run hands its place over. */
  private turn(): Promise<void> {
    if (this.waiting.size >= this.queueLimit) throw this.refuse()
    return new Promise((resolve, reject) => {
      const proceed = () => {
        clearTimeout(timer)
        this.waiting.delete(proceed)
        resolve()
      }
      const timer = setTimeout(() => {
        this.waiting.delete(proceed)
        reject(this.refuse())
      }, this.waitMs)
      this.waiting.add(proceed)
    })
  }
}
