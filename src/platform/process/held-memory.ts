/**
 * The memory that people hold through large bodies being received or read, and large responses waiting to be sent. It
 * counts the bytes held, not the announced length. Above the limit, the person who holds the most loses it, so no one
 * can take memory from people who need less.
 */
import { getHeapStatistics } from 'node:v8'
import { ApiError } from '../../errors.js'

const MEBIBYTE = 1_048_576
/** Memory that the process needs without large requests, measured with `bench/memory`. */
const BASE_MIB = 140
const MIN_MIB = 64
/** Part of a request lives in buffers outside the heap. */
const SHARE_OF_HEAP = 1.2

/** Outside a container, the reported limit is far above the machine's memory. */
const findMebibytes = (): number => {
  const ofHeap = SHARE_OF_HEAP * (getHeapStatistics().heap_size_limit / MEBIBYTE)
  const ofContainer = (process.constrainedMemory() || Number.POSITIVE_INFINITY) / MEBIBYTE - BASE_MIB
  return Math.max(MIN_MIB, Math.floor(Math.min(ofHeap, ofContainer)))
}

/** Half of the memory is for the bodies and responses that people hold, and half for the work on them. */
const budgetMebibytes = findMebibytes() / 2

/** How much work fits at once. @param mebibytes the most that each needs */
export const maxConcurrentFor = (mebibytes: number): number =>
  Math.max(1, Math.floor(budgetMebibytes / mebibytes))

/** The MiB for each task, if this many run at once. */
export const memoryShareOf = (maxConcurrent: number): number => Math.floor(budgetMebibytes / maxConcurrent)

interface Holding {
  person: string
  bytes: number
  lose: () => void
}

/** The memory of one owner, such as a body or a transaction's result. It's given back as a whole. */
export interface Held {
  /** @throws {ApiError} `unavailable` above the limit if this person holds the most, or if this memory was already lost */
  add(bytes: number): void
  /** Gives all of it back. Its owner may start over. */
  release(): void
}

/** The memory of one request. */
export interface HeldParts {
  part(): Held
  /** Gives all parts back. */
  release(): void
}

class HeldMemory {
  private total = 0
  private readonly people = new Map<string, number>()
  private readonly holdings = new Set<Holding>()

  constructor(private readonly maxBytes: number) {}

  /** @param lose ends the request, and is called at most once */
  hold(person: string, lose: () => void): HeldParts {
    const holding = { person, bytes: 0, lose }
    this.holdings.add(holding)
    return {
      part: () => {
        let bytes = 0
        const add = (more: number) => {
          bytes += more
          this.grow(holding, more)
        }
        const release = () => {
          this.shrink(holding, bytes)
          bytes = 0
        }
        return { add, release }
      },
      release: () => this.drop(holding),
    }
  }

  private grow(holding: Holding, bytes: number): void {
    if (!this.holdings.has(holding)) {
      if (bytes > 0) throw new ApiError('unavailable')
      return
    }
    holding.bytes += bytes
    this.count(holding.person, bytes)
    this.dropLargest(holding)
  }

  private shrink(holding: Holding, bytes: number): void {
    if (!this.holdings.has(holding)) return
    holding.bytes -= bytes
    this.count(holding.person, -bytes)
  }

  private dropLargest(growing: Holding): void {
    while (this.total > this.maxBytes) {
      let largest = growing
      for (const one of this.holdings) if (this.isBefore(one, largest)) largest = one
      this.drop(largest)
      if (largest === growing) throw new ApiError('unavailable')
      largest.lose()
    }
  }

  /** Whether one loses before the other. The person with more loses first, starting with their largest. */
  private isBefore(one: Holding, other: Holding): boolean {
    if (one.person === other.person) return one.bytes > other.bytes
    return (this.people.get(one.person) ?? 0) > (this.people.get(other.person) ?? 0)
  }

  private drop(holding: Holding): void {
    if (this.holdings.delete(holding)) this.count(holding.person, -holding.bytes)
  }

  private count(person: string, bytes: number): void {
    this.total += bytes
    const now = (this.people.get(person) ?? 0) + bytes
    if (now > 0) this.people.set(person, now)
    else this.people.delete(person)
  }
}

/** This process's held memory. */
export const heldMemory = new HeldMemory(budgetMebibytes * MEBIBYTE)
