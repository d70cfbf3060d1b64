/** Queues writes that arrive while others are running, then sends them together in one transaction. */
import type { Database } from '../../platform/database/client.js'
import {
  codeOf,
  DatabaseBusy,
  isDatabaseUnavailable,
  isLockConflict,
} from '../../platform/database/failures.js'
import { inTime } from '../../platform/process/async.js'

/** Someone's write that can be sent together with others. */
export interface QueuedWrite {
  userId: string
  /** How much of a set it uses. */
  size: number
  /** Whether to write it again if the outcome of the first attempt is unknown. */
  isRepeatable: boolean
}

interface Writing<I, Result> {
  /**
   * One transaction. Never waits long for other writes.
   * @param sent called before the commit is sent
   * @returns the results, except for writes that have to be done alone
   */
  together(items: I[], sent: () => void): Promise<ReadonlyMap<I, Result>>
  alone(item: I): Promise<Result>
}

interface Waiting<I, Result> {
  item: I
  /** Ends the wait. Undefined for a write that comes alone. */
  timer: NodeJS.Timeout | undefined
  resolve(result: Result | Promise<Result>): void
  reject(error: unknown): void
}

/** The maximum number of people, and amount of work, in a set. */
const MOST_PEOPLE = 16
const MOST_SIZE = 200
const MOST_WAITING = 1_000
/** How long a write waits for a set, the same as for a statement. */
const WAIT_MS = 5_000
/** More than one, so that a waiting write doesn't block all others. */
const LANES = 2
/** How long others wait for a write that's done alone and may be waiting for a lock. */
const LONE_MS = 100

/** Writes sets one after another. Sets aren't held back to fill up. A write that comes alone is sent at once. */
class Lane<I extends QueuedWrite, Result> {
  private waiting: Waiting<I, Result>[] = []
  private isRunning = false

  constructor(private readonly writing: Writing<I, Result>) {}

  /** @throws {DatabaseBusy} if too many are waiting, or this one waited too long. Nothing was written then. */
  add(item: I): Promise<Result> {
    return new Promise((resolve, reject) => {
      if (this.waiting.length >= MOST_WAITING) throw new DatabaseBusy('Too many wait for a transaction')
      const giveUp = () => {
        this.waiting.splice(this.waiting.indexOf(waiting), 1)
        reject(new DatabaseBusy('No transaction began in time'))
      }
      const timer = this.isRunning ? setTimeout(giveUp, WAIT_MS) : undefined
      const waiting = { item, timer, resolve, reject }
      this.waiting.push(waiting)
      if (!this.isRunning) void this.drain()
    })
  }

  private async drain(): Promise<void> {
    this.isRunning = true
    while (this.waiting.length > 0) {
      const set = this.takeSet()
      const [lone] = set
      await (lone && set.length === 1 ? this.writeLone(lone) : this.write(set))
    }
    this.isRunning = false
  }

  /** The writes that have waited longest, one per person. */
  private takeSet(): Waiting<I, Result>[] {
    const people = new Set<string>()
    const set: Waiting<I, Result>[] = []
    const others: Waiting<I, Result>[] = []
    let size = 0
    for (const waiting of this.waiting) {
      const { item } = waiting
      const fits = set.length === 0 || (set.length < MOST_PEOPLE && size + item.size <= MOST_SIZE)
      if (fits && !people.has(item.userId)) {
        clearTimeout(waiting.timer)
        set.push(waiting)
        size += item.size
      } else others.push(waiting)
      people.add(item.userId)
    }
    this.waiting = others
    return set
  }

  /** Needs fewer statements than a set of one. */
  private async writeLone({ item, resolve }: Waiting<I, Result>): Promise<void> {
    const written = this.writing.alone(item)
    resolve(written)
    const ended = written.then(
      () => {},
      () => {},
    )
    await inTime(ended, LONE_MS, () => {})
  }

  /** Returns when the next set may begin. If one write or one set fails, others aren't affected. */
  private async write(set: Waiting<I, Result>[]): Promise<void> {
    let isSent = false
    try {
      const results = await this.writing.together(
        set.map(({ item }) => item),
        () => {
          isSent = true
        },
      )
      for (const { item, resolve } of set) resolve(results.get(item) ?? this.writing.alone(item))
    } catch (error) {
      const mayBeWritten = isSent && isDatabaseUnavailable(error) && !isLockConflict(error)
      for (const { item, resolve, reject } of set) {
        if (hasWaited(error) || (mayBeWritten && !item.isRepeatable)) reject(error)
        else resolve(this.writing.alone(item))
      }
    }
  }
}

/** @returns a person's lane, which is always the same */
export const lanesOf = <I extends QueuedWrite, Result>(
  writingOf: (database: Database) => Writing<I, Result>,
) => {
  const lanes = new WeakMap<Database, Lane<I, Result>[]>()
  return (database: Database, userId: string): Lane<I, Result> => {
    const all = lanes.get(database) ?? Array.from({ length: LANES }, () => new Lane(writingOf(database)))
    lanes.set(database, all)
    return all[Number.parseInt(userId.slice(-4), 16) % LANES] as Lane<I, Result>
  }
}

/** Each has waited as long as a request may for a connection or a response. */
const hasWaited = (error: unknown): boolean =>
  ['DATABASE_BUSY', 'CONNECT_TIMEOUT', 'ANSWER_TIMEOUT'].includes(codeOf(error) ?? '')
