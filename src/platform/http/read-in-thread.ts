/** Parses and checks large bodies in threads, which block no request. */
import { availableParallelism } from 'node:os'
import { Tinypool } from 'tinypool'
import { ApiError } from '../../errors.js'
import { codeOf } from '../process/code-of.js'
import { maxConcurrentFor, memoryShareOf } from '../process/held-memory.js'
import { Semaphore } from '../process/semaphore.js'
import type { BodyReader } from './body-reader.js'
import { type BodyFailure, errorOf } from './json-body.js'
import type { RequestMemory } from './request-memory.js'

/** A thread needs 112 MiB in addition to a full configuration with non-Latin-1 text in each override. */
const THREAD_MIB = 115
const MAX_THREADS = 2
/** Several times what any body needs. */
const MAX_HEAP_MIB = 512
/** How many complete bodies may wait for a thread. They all count as held memory. */
const MAX_WAITING = 256
const WAIT_MS = 30_000
/** The largest body takes about a second, or ten on a busy machine. */
const READ_MS = 30_000
/** Starting a thread and loading its modules takes 200 ms, so it stays for the next body. */
const IDLE_MS = 10_000

/** One core stays for everyone else's requests. */
const maxThreads = Math.max(
  1,
  Math.min(MAX_THREADS, availableParallelism() - 1, maxConcurrentFor(THREAD_MIB)),
)
/**
 * A thread's part of the memory, so that a body that needs more ends its thread, and not the process in its container. A
 * million different names need 190 MiB, and what hosts and clients send far less.
 */
const heapMebibytes = Math.min(MAX_HEAP_MIB, Math.max(THREAD_MIB, memoryShareOf(maxThreads)))
const permits = new Semaphore(maxThreads, MAX_WAITING, WAIT_MS, () => new ApiError('unavailable'))
const threads = new Tinypool({
  filename: new URL('./large-body-thread.js', import.meta.url).href,
  minThreads: 0,
  maxThreads,
  idleTimeout: IDLE_MS,
  // A thread that blocks while it's idle would keep its last body.
  useAtomics: false,
  // The young generation's limit keeps 20 MiB less garbage from body to body.
  resourceLimits: { maxOldGenerationSizeMb: heapMebibytes, maxYoungGenerationSizeMb: 8 },
})
// A thread couldn't start. The body that waits for it runs out of time.
threads.on('error', () => {})

export interface ThreadTask {
  module: string
  context: object
  bytes: Uint8Array<ArrayBuffer>
}

export type ThreadResult<Read> = { read: Read } | { failure: BodyFailure }

/**
 * Waits for a thread and reads the body there. Its bytes are transferred from this thread.
 * @param memory when its request ends early, waiting and reading end at once
 * @throws {ApiError} `unavailable`, and others when the request ends early
 * @throws {StrictJsonError} {InvalidBody}
 */
export const readInThread = async <Read extends object, Context extends object>(
  { module }: BodyReader<Read, Context>,
  bytes: Buffer<ArrayBuffer>,
  context: Context,
  memory: RequestMemory,
): Promise<Read> => {
  await permits.acquire(undefined, memory.signal)
  const giveUp = () =>
    memory.end(new ApiError('unavailable', { detail: 'The body couldn’t be read in time.' }))
  const timer = setTimeout(giveUp, READ_MS)
  try {
    const task: ThreadTask = { module, context, bytes }
    const { signal } = memory
    const result: ThreadResult<Read> = await threads.run(task, { transferList: [bytes.buffer], signal })
    if ('failure' in result) throw errorOf(result.failure)
    return result.read
  } catch (error) {
    // The thread's own error would only say that its task was aborted.
    memory.throwIfLost()
    if (codeOf(error) !== 'ERR_WORKER_OUT_OF_MEMORY') throw error
    throw new ApiError('unavailable', { detail: 'Reading this body needs more memory than the service has.' })
  } finally {
    clearTimeout(timer)
    permits.release()
  }
}
