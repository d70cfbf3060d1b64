/**
 * How much memory large requests may use together, so that many of them never end the process: each one asks before it is
 * received, waits for those before it, and gets 503 when that takes too long.
 */
import { getHeapStatistics } from 'node:v8'
import { ApiError } from '../../errors.js'
import { Semaphore } from './semaphore.js'

const MEBIBYTE = 1_048_576
/** What the process needs without large requests, measured with `bench/memory`. */
const OWN_MIB = 140
const LEAST_MIB = 32
/** Some of a request is in buffers outside of the heap. */
const SHARE_OF_HEAP = 1.2
const WAITING = 64
const WAIT_MS = 10_000

/** The memory limit of the container is far above all memory where there is none. */
const findMebibytes = (): number => {
  const ofHeap = SHARE_OF_HEAP * (getHeapStatistics().heap_size_limit / MEBIBYTE)
  const ofContainer = (process.constrainedMemory() || Number.POSITIVE_INFINITY) / MEBIBYTE - OWN_MIB
  return Math.max(LEAST_MIB, Math.floor(Math.min(ofHeap, ofContainer)))
}

const total = findMebibytes()
const tooLittle = (bytes: number) => {
  const size = Math.ceil(bytes / MEBIBYTE)
  return new ApiError('unavailable', {
    detail: `This service has too little memory for a request of ${size} MiB. Send less at once, or give it more memory.`,
  })
}
const memory = new Semaphore(total, WAITING, WAIT_MS, () => new ApiError('unavailable'))

/**
 * @param bytes of the body
 * @param factor how many times as much memory its work needs
 * @param deadline when waiting ends, in milliseconds since the epoch
 * @returns what releases it; further calls do nothing
 * @throws {ApiError} `unavailable`
 */
export const holdMemory = async (bytes: number, factor: number, deadline?: number): Promise<() => void> => {
  const needed = Math.ceil((factor * bytes) / MEBIBYTE)
  if (needed > total) throw tooLittle(bytes)
  await memory.acquire(deadline, needed)
  let isHeld = true
  return () => {
    if (isHeld) memory.release(needed)
    isHeld = false
  }
}

/** Holds it during the work. @throws {ApiError} `unavailable`; the work has then not begun */
export const withMemory = async <T>(
  bytes: number,
  factor: number,
  work: () => Promise<T>,
  deadline?: number,
): Promise<T> => {
  const release = await holdMemory(bytes, factor, deadline)
  try {
    return await work()
  } finally {
    release()
  }
}
