/** Records what people send. Writes that arrive while others are running are sent together in one transaction. */

import { inTime } from '../process/async.js'
import { requireValue } from '../process/maps.js'
import type { Database, Tx } from './client.js'
import { DatabaseBusy, hasWaitedLong, UnknownOutcome } from './failures.js'
import { waitBriefly } from './locks.js'

/** Someone's write that can be sent together with others. */
export interface QueuedWrite {
  userId: string
  /** How much of a set it uses. */
  size: number
  /** Whether to write it again if the outcome of the first attempt is unknown. */
  isRepeatable: boolean
}

/** A write that was recorded in a transaction. */
export interface Written<Result> {
  kind: 'recorded'
  result: Result
}

/** The outcome of a write that was sent together with others. */
export type Outcome<Result> =
  | Written<Result>
  /** Nothing was written. It's too large for a set, or would make the others wait, so it's recorded alone. */
  | { kind: 'left out' }

/** Records one write, and waits for others' locks. */
type RecordOne<I, Result> = (tx: Tx, item: I) => Promise<Written<Result>>

/**
 * Records several people's writes in one transaction, and waits for no one.
 * @returns an outcome for each item, by user
 */
type RecordMany<I, Result> = (tx: Tx, items: readonly I[]) => Promise<ReadonlyMap<string, Outcome<Result>>>

interface Waiting<I, Result> {
  item: I
  /** Ends the wait. */
  timer: NodeJS.Timeout
  resolve(result: Result | Promise<Result>): void
  reject(error: unknown): void
}

/** The next step for a write that was tried together with others. */
type SetOutcome<I, Result> =
  | { kind: 'recorded'; waiting: Waiting<I, Result>; result: Result }
  /** Nothing was written, or the same write may be recorded again. */
  | { kind: 'alone'; waiting: Waiting<I, Result> }
  | { kind: 'rejected'; waiting: Waiting<I, Result>; error: unknown }

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
 * Sends waiting writes in sets. It doesn't wait for a set to fill up, so a single write is sent at once. A
 * set never includes a person whose earlier write is still running, because it would wait for that write's
 * lock.
 */
class Queue<I extends QueuedWrite, Result> {
  private waiting: Waiting<I, Result>[] = []
  /** The people of the sets that are running. */
  private readonly people = new Set<string>()
  private running = 0

  constructor(
    private readonly database: Database,
    private readonly recordOne: RecordOne<I, Result>,
    private readonly recordMany: RecordMany<I, Result>,
  ) {}

  /** @throws {DatabaseBusy} if too many are waiting, or this one waited too long. Nothing was written then. */
  add(item: I): Promise<Result> {
    return new Promise((resolve, reject) => {
      if (this.waiting.length >= MAX_WAITING) throw new DatabaseBusy('Too many wait for a transaction')
      const giveUp = () => {
        this.waiting.splice(this.waiting.indexOf(waiting), 1)
        reject(new DatabaseBusy('No transaction began in time'))
      }
      const timer = setTimeout(giveUp, WAIT_MS * this.database.timeoutFactor)
      const waiting = { item, timer, resolve, reject }
      this.waiting.push(waiting)
      this.start()
    })
  }

  /** Writes one item in its own transaction. */
  async writeSingle(item: I): Promise<Result> {
    const written = await this.database.transaction((tx) => this.recordOne(tx, item), {
      readsFirst: true,
      // The same write may be running twice, and a workspace may be deleted in the meantime.
      rowsCanConflict: true,
    })
    return written.result
  }

  private start(): void {
    while (this.running < MAX_SETS) {
      const set = this.takeSet()
      if (set.length === 0) return
      void this.run(set)
    }
  }

  private async run(set: Waiting<I, Result>[]): Promise<void> {
    this.running++
    const [lone] = set
    try {
      await (lone && set.length === 1 ? this.writeOne(lone) : this.writeMany(set))
    } finally {
      this.running--
      for (const { item } of set) this.people.delete(item.userId)
      this.start()
    }
  }

  /** The writes that have waited longest, at most one per person. */
  private takeSet(): Waiting<I, Result>[] {
    const set: Waiting<I, Result>[] = []
    const others: Waiting<I, Result>[] = []
    const before = new Set(this.people)
    let size = 0
    for (const waiting of this.waiting) {
      const { item } = waiting
      const fits = set.length === 0 || (set.length < MAX_PEOPLE && size + item.size <= MAX_SIZE)
      if (fits && !before.has(item.userId)) {
        clearTimeout(waiting.timer)
        set.push(waiting)
        size += item.size
        this.people.add(item.userId)
      } else others.push(waiting)
      before.add(item.userId)
    }
    this.waiting = others
    return set
  }

  /** Needs fewer statements than a set of one. */
  private async writeOne({ item, resolve }: Waiting<I, Result>): Promise<void> {
    const writing = this.writeSingle(item)
    resolve(writing)
    await inTime(Promise.allSettled([writing]), MAX_SINGLE_MS, () => {})
  }

  /** Returns when the next set may begin. A failed write or set doesn't affect the others. */
  private async writeMany(set: Waiting<I, Result>[]): Promise<void> {
    const setOutcomes = await this.tryMany(set)
    for (const setOutcome of setOutcomes) this.settle(setOutcome)
  }

  private async tryMany(set: Waiting<I, Result>[]): Promise<SetOutcome<I, Result>[]> {
    const items = set.map(({ item }) => item)
    const work = async (tx: Tx): Promise<SetOutcome<I, Result>[]> => {
      const [outcomes] = await Promise.all([this.recordMany(tx, items), waitBriefly(tx)])
      return set.map((waiting) => outcomeOf(waiting, requireValue(outcomes, waiting.item.userId)))
    }
    try {
      return await this.database.transaction(work, { readsFirst: true, rowsCanConflict: false })
    } catch (error) {
      return set.map((waiting) => outcomeAfterError(error, waiting))
    }
  }

  private settle(setOutcome: SetOutcome<I, Result>): void {
    const { item, resolve, reject } = setOutcome.waiting
    switch (setOutcome.kind) {
      case 'recorded':
        resolve(setOutcome.result)
        break
      case 'rejected':
        reject(setOutcome.error)
        break
      case 'alone': {
        const writing = this.writeSingle(item)
        resolve(writing)
      }
    }
  }
}

/** The next step for a write once its set is committed. */
const outcomeOf = <I, Result>(
  waiting: Waiting<I, Result>,
  outcome: Outcome<Result>,
): SetOutcome<I, Result> =>
  outcome.kind === 'recorded'
    ? { kind: 'recorded', waiting, result: outcome.result }
    : { kind: 'alone', waiting }

/** The next step for a write once its set has failed. */
const outcomeAfterError = <I extends QueuedWrite, Result>(
  error: unknown,
  waiting: Waiting<I, Result>,
): SetOutcome<I, Result> => {
  if (hasWaitedLong(error)) return { kind: 'rejected', waiting, error }
  const isPossiblyWritten = error instanceof UnknownOutcome
  if (isPossiblyWritten && !waiting.item.isRepeatable) return { kind: 'rejected', waiting, error }
  return { kind: 'alone', waiting }
}

/** Records writes of one kind. */
export const createRecorder = <I extends QueuedWrite, Result>(
  database: Database,
  recordOne: RecordOne<I, Result>,
  recordMany: RecordMany<I, Result>,
) => {
  const queue = new Queue(database, recordOne, recordMany)
  /** @param isAlone whether it's too large to be recorded together with others */
  return (item: I, isAlone: boolean): Promise<Result> => (isAlone ? queue.writeSingle(item) : queue.add(item))
}
