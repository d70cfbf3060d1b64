/** Records what people send. Writes that arrive while others are running are sent together in one transaction. */

import { withTimeout } from '../process/async.js'
import type { Database, Tx } from './client.js'
import { DatabaseBusy, isTimeout, UnknownOutcome } from './failures.js'
import { waitBriefly } from './locks.js'

/** What someone sent, and what the queue has to know about it. */
interface QueuedWrite<Item> {
  userId: string
  item: Item
  /** How much of a set it uses. */
  size: number
  /** Whether to write it once more if nothing says whether the first attempt has written it. */
  isRepeatable: boolean
}

/** What became of one write in a transaction. */
export type Outcome<Result> =
  | { kind: 'recorded'; result: Result }
  /** Nothing was written: it's too large for a set, or would make the others wait. It's recorded alone. */
  | { kind: 'left out' }
  /** Nothing was written, and nothing will be. */
  | { kind: 'rejected'; error: Error }

export const leaveOut = { kind: 'left out' } as const

export const reject = (error: Error): Outcome<never> => ({ kind: 'rejected', error })

/**
 * Records several people's writes in one transaction. A single one waits for others' locks; a set waits for no one.
 * @returns an outcome for each item, in order; a single one isn't left out
 */
type RecordSet<Item, Result> = (tx: Tx, items: readonly Item[]) => Promise<Outcome<Result>[]>

interface Waiting<Item, Result> {
  write: QueuedWrite<Item>
  /** Ends the wait. */
  timer: NodeJS.Timeout
  resolve(result: Result | Promise<Result>): void
  reject(error: unknown): void
}

/** Larger writes are recorded alone. */
const MAX_WRITE_SIZE = 50
/** The maximum number of people, and amount of work, in a set. */
const MAX_PEOPLE = 16
const MAX_SIZE = 200
const MAX_WAITING = 2_000
/** How long a write waits for a set, the same as for a statement. */
const WAIT_MS = 5_000
/** How many sets run at once: more than one, so that a slow one doesn't block all others. */
const MAX_SETS = 2
/** How long others wait for a write that's done alone and may be waiting for a lock. */
const MAX_SINGLE_MS = 100

/**
 * Sends waiting writes in sets. It doesn't wait for a set to fill up, so a single write is sent at once. A set has no
 * one who is in another set, or for whom the queue has just begun a single write, because it would find their lock held.
 * It may find it held by a longer write, or by one that was left out: then it leaves them out too.
 */
export class WriteQueue<Item, Result> {
  private waiting: Waiting<Item, Result>[] = []
  /** The people of the sets that are running. */
  private readonly people = new Set<string>()
  private running = 0

  constructor(
    private readonly database: Database,
    private readonly recordSet: RecordSet<Item, Result>,
  ) {}

  /** @throws {DatabaseBusy} if too many are waiting, or this one waited too long, before it was sent */
  record(write: QueuedWrite<Item>): Promise<Result> {
    return write.size > MAX_WRITE_SIZE ? this.recordAlone(write) : this.add(write)
  }

  /** Writes one item in its own transaction, without waiting for a set. */
  async recordAlone(write: QueuedWrite<Item>): Promise<Result> {
    try {
      return await this.attempt(write.item)
    } catch (error) {
      return this.repeat(write, error)
    }
  }

  /** Writes once more what may have been written. @throws the failure, if it's another one, or can't be repeated */
  private async repeat({ item, isRepeatable }: QueuedWrite<Item>, failure: unknown): Promise<Result> {
    // No one waits for a response twice.
    if (!(failure instanceof UnknownOutcome) || !isRepeatable || isTimeout(failure)) throw failure
    return this.attempt(item)
  }

  private attempt(item: Item): Promise<Result> {
    return this.database.transaction(
      async (tx) => {
        const [outcome] = await this.recordSet(tx, [item])
        if (outcome?.kind === 'recorded') return outcome.result
        throw outcome?.kind === 'rejected' ? outcome.error : new Error('A single write was left out')
      },
      // The same write may be running twice, and a workspace may be deleted in the meantime.
      { readsFirst: true, rowsCanConflict: true },
    )
  }

  private add(write: QueuedWrite<Item>): Promise<Result> {
    return new Promise((resolve, reject) => {
      if (this.waiting.length >= MAX_WAITING) throw new DatabaseBusy('Too many wait for a transaction')
      const giveUp = () => {
        this.waiting.splice(this.waiting.indexOf(waiting), 1)
        reject(new DatabaseBusy('No transaction began in time'))
      }
      const timer = setTimeout(giveUp, WAIT_MS * this.database.timeoutFactor)
      const waiting = { write, timer, resolve, reject }
      this.waiting.push(waiting)
      this.start()
    })
  }

  private start(): void {
    while (this.running < MAX_SETS) {
      const set = this.takeSet()
      if (set.length === 0) return
      void this.run(set)
    }
  }

  private async run(set: Waiting<Item, Result>[]): Promise<void> {
    // Before the next set is taken.
    this.running++
    for (const { write } of set) this.people.add(write.userId)
    const [lone] = set
    try {
      await (lone && set.length === 1 ? this.writeOne(lone) : this.writeSet(set))
    } finally {
      this.running--
      for (const { write } of set) this.people.delete(write.userId)
      this.start()
    }
  }

  /** The writes that have waited longest, at most one per person. */
  private takeSet(): Waiting<Item, Result>[] {
    const set: Waiting<Item, Result>[] = []
    const others: Waiting<Item, Result>[] = []
    const unavailable = new Set(this.people)
    let size = 0
    for (const waiting of this.waiting) {
      const { write } = waiting
      const fits = set.length === 0 || (set.length < MAX_PEOPLE && size + write.size <= MAX_SIZE)
      if (fits && !unavailable.has(write.userId)) {
        clearTimeout(waiting.timer)
        set.push(waiting)
        size += write.size
      } else others.push(waiting)
      unavailable.add(write.userId)
    }
    this.waiting = others
    return set
  }

  /** A single write may wait for a lock, and others don't wait for it long. */
  private async writeOne({ write, resolve }: Waiting<Item, Result>): Promise<void> {
    const writing = this.recordAlone(write)
    resolve(writing)
    await withTimeout(Promise.allSettled([writing]), MAX_SINGLE_MS, () => {})
  }

  /** Returns when the next set may begin. A failed write or set doesn't affect the others. */
  private async writeSet(set: Waiting<Item, Result>[]): Promise<void> {
    const items = set.map(({ write }) => write.item)
    const work = async (tx: Tx) => {
      // In this order, so that it holds for all statements of the set.
      const [, outcomes] = await Promise.all([waitBriefly(tx), this.recordSet(tx, items)])
      return outcomes
    }
    try {
      const outcomes = await this.database.transaction(work, { readsFirst: true, rowsCanConflict: false })
      set.forEach((waiting, index) => {
        this.settle(waiting, outcomes[index] ?? leaveOut)
      })
    } catch (error) {
      this.settleFailed(set, error)
    }
  }

  /** Once the set is committed. */
  private settle({ write, resolve, reject }: Waiting<Item, Result>, outcome: Outcome<Result>): void {
    if (outcome.kind === 'recorded') resolve(outcome.result)
    else if (outcome.kind === 'rejected') reject(outcome.error)
    else resolve(this.recordAlone(write))
  }

  /** If nothing was written, everyone is written alone, except after a timeout. */
  private settleFailed(set: Waiting<Item, Result>[], error: unknown): void {
    for (const { write, resolve, reject } of set) {
      if (isTimeout(error)) reject(error)
      else if (error instanceof UnknownOutcome) resolve(this.repeat(write, error))
      else resolve(this.recordAlone(write))
    }
  }
}
