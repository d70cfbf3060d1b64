import { DatabaseBusy } from './failures.js'

/** Lets at most `limit` run at once; the others wait in a bounded line, and each for a bounded time. */
export class Gate {
  private running = 0
  private readonly waiting = new Set<() => void>()

  constructor(
    private readonly limit: number,
    private readonly queueLimit: number,
    private readonly waitMs: number,
  ) {}

  /** @throws {DatabaseBusy} when no turn comes in time; `work` has then not begun. */
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

  /** Resolves when a finished run hands its place over. */
  private turn(): Promise<void> {
    if (this.waiting.size >= this.queueLimit) throw new DatabaseBusy('Too many are waiting for a connection')
    return new Promise((resolve, reject) => {
      const proceed = () => {
        clearTimeout(timer)
        this.waiting.delete(proceed)
        resolve()
      }
      const timer = setTimeout(() => {
        this.waiting.delete(proceed)
        reject(new DatabaseBusy('No connection became free in time'))
      }, this.waitMs)
      this.waiting.add(proceed)
    })
  }
}
