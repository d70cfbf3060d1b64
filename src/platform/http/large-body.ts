/**
 * Reads bodies of up to 24 MiB. Small ones are parsed at once. A large one counts toward its sender's memory as it
 * arrives. Once complete, it's parsed and checked in a thread, which blocks no request.
 */
import { availableParallelism } from 'node:os'
import type { Readable } from 'node:stream'
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { FastifyRequest } from 'fastify'
import { Tinypool } from 'tinypool'
import { ApiError } from '../../errors.js'
import { codeOf } from '../process/code-of.js'
import { type Held, maxConcurrentFor, memoryShareOf } from '../process/held-memory.js'
import { Semaphore } from '../process/semaphore.js'
import type { BodyReader } from './body-reader.js'
import { type BodyFailure, errorOf } from './json-body.js'
import type { RequestMemory } from './request-memory.js'

/** Smaller bodies cost less than a thread. */
const LARGE_BYTES = 131_072
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

export interface LargeBody<Read extends object, Context extends object> {
  reader: BodyReader<Read, Context>
  context: Context
  maxBytes: number
  /** Counts the bytes as they arrive, and the reader's buffers (`buffersOf`) once the body has been read. */
  memory: RequestMemory
  /** The owner that may have one large body at a time, if it isn't the person. */
  place?: string
  /** Gets each chunk before it is kept, and throws to reject the body. */
  inspect?: ((chunk: Buffer) => void) | undefined
  /** Runs when the body is complete, before anything is parsed. */
  admit?: () => Promise<void>
}

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

/**
 * For a handler that reads the body itself.
 * @throws {ApiError} `payload_too_large`, `rate_limited`, `unavailable`, `bad_request`, and what `inspect` and `admit` throw
 * @throws {StrictJsonError} {InvalidBody}
 */
export const readLargeBody = async <Read extends object, Context extends object>(
  request: FastifyRequest,
  { reader, context, maxBytes, memory, place = memory.person, inspect, admit }: LargeBody<Read, Context>,
): Promise<Read> => {
  const { server: app, socket } = request
  const { person, sent, ending } = memory
  const incoming = new IncomingBody(request.raw, request.headers['content-length'], maxBytes, inspect)
  if (incoming.declaredBytes > LARGE_BYTES) app.bodyTimeouts.extendForLargeBody(request.raw)
  try {
    if (await incoming.receive(undefined, LARGE_BYTES)) {
      await admit?.()
      return keepCounted(sent, reader, reader.read(incoming.bytes, context))
    }
    app.bodyTimeouts.extendForLargeBody(request.raw)
    const releasePermit =
      app.config.rateLimits || place !== person
        ? await app.rateLimits.acquirePermit(request, 'large_uploads', [place])
        : () => {}
    const hangUp = () => ending.abort(new ApiError('bad_request', { detail: 'The connection was closed.' }))
    socket.once('close', hangUp)
    if (socket.destroyed) hangUp()
    try {
      await untilAborted(incoming.receive(sent), ending.signal)
      await admit?.()
      // A body that's waiting for a thread can be lost, too.
      const reading = permits.run(() => readInThread(reader, incoming.bytes, context, ending))
      return keepCounted(sent, reader, await untilAborted(reading, ending.signal))
    } finally {
      socket.removeListener('close', hangUp)
      releasePermit()
    }
  } catch (error) {
    sent.release()
    throw error
  } finally {
    incoming.stop()
  }
}

/** Once the received bytes are read, they're freed, and the parsed result counts instead. */
const keepCounted = <Read extends object, Context extends object>(
  sent: Held,
  { buffersOf }: BodyReader<Read, Context>,
  body: Read,
): Read => {
  sent.release()
  for (const { byteLength } of buffersOf?.(body) ?? []) sent.add(byteLength)
  return body
}

const untilAborted = async <T>(work: Promise<T>, signal: AbortSignal): Promise<T> => {
  let abort = () => {}
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason)
    if (signal.aborted) abort()
  })
  signal.addEventListener('abort', abort)
  try {
    return await Promise.race([work, aborted])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

export interface ThreadTask {
  module: string
  context: object
  bytes: Uint8Array<ArrayBuffer>
}

export type ThreadResult<Read> = { read: Read } | { failure: BodyFailure }

/** Transfers the bytes from this thread. */
const readInThread = async <Read extends object, Context extends object>(
  { module }: BodyReader<Read, Context>,
  bytes: Buffer<ArrayBuffer>,
  context: Context,
  ending: AbortController,
): Promise<Read> => {
  const giveUp = () =>
    ending.abort(new ApiError('unavailable', { detail: 'The body couldn’t be read in time.' }))
  const timer = setTimeout(giveUp, READ_MS)
  try {
    const task: ThreadTask = { module, context, bytes }
    const { signal } = ending
    const result: ThreadResult<Read> = await threads.run(task, { transferList: [bytes.buffer], signal })
    if ('failure' in result) throw errorOf(result.failure)
    return result.read
  } catch (error) {
    if (codeOf(error) !== 'ERR_WORKER_OUT_OF_MEMORY') throw error
    throw new ApiError('unavailable', { detail: 'Reading this body needs more memory than the service has.' })
  } finally {
    clearTimeout(timer)
  }
}

/** How many bytes of one body to read before other requests get a turn. */
const PAUSE_BYTES = 524_288
/** The size of a body's first buffer, whatever length the body declares. */
const FIRST_BYTES = 65_536

const tooLarge = (maxBytes: number) =>
  new ApiError('payload_too_large', {
    detail: `The body is larger than the ${maxBytes} bytes that this route accepts. Send less in one request.`,
  })

/** Collects a body as it arrives. */
class IncomingBody {
  readonly declaredBytes: number
  private readonly chunks: AsyncIterator<Buffer>
  /** It has spare capacity. Small chunks are copied, because they may keep a large one in memory. */
  private buffer: Buffer<ArrayBuffer>
  private length = 0
  private isStopped = false

  /** @throws {ApiError} `payload_too_large` */
  constructor(
    stream: Readable,
    declaredBytes: string | undefined,
    private readonly maxBytes: number,
    private readonly inspect: (chunk: Buffer) => void = () => {},
  ) {
    this.declaredBytes = Number(declaredBytes ?? 0)
    if (this.declaredBytes > maxBytes) throw tooLarge(maxBytes)
    this.buffer = Buffer.allocUnsafeSlow(Math.min(this.declaredBytes, FIRST_BYTES))
    // The rest of a rejected body is read like other bodies, so that its connection stays open for the response.
    this.chunks = stream.iterator({ destroyOnReturn: false })
  }

  /** The bytes so far. */
  get bytes(): Buffer<ArrayBuffer> {
    return this.buffer.subarray(0, this.length)
  }

  /**
   * Receives until the body has ended, or has more than `most` bytes.
   * @returns whether it has ended
   * @throws {ApiError} `payload_too_large`, what `inspect` and `held` throw, and `bad_request` when the connection is lost
   */
  async receive(held?: Held, limit = Number.POSITIVE_INFINITY): Promise<boolean> {
    held?.add(this.length)
    for (let pauseAt = this.length + PAUSE_BYTES; this.length <= limit; ) {
      // A fast sender would otherwise block the event loop.
      if (this.length >= pauseAt) {
        await yieldToEventLoop()
        pauseAt = this.length + PAUSE_BYTES
      }
      const { done, value } = await this.chunks.next().catch((cause) => {
        throw new ApiError('bad_request', { detail: 'The body was cut off.', cause })
      })
      if (done || this.isStopped) return true
      held?.add(value.length)
      this.add(value)
    }
    return false
  }

  /** Stops receiving and frees the memory. The connection stays untouched. */
  stop(): void {
    this.isStopped = true
    this.buffer = Buffer.alloc(0)
    // The awaited chunk may never come.
    void this.chunks.return?.()
  }

  private add(chunk: Buffer): void {
    const length = this.length + chunk.length
    if (length > this.maxBytes) throw tooLarge(this.maxBytes)
    this.inspect(chunk)
    if (length > this.buffer.length) {
      // A larger body gets a buffer of its full length at once. The system allocates memory only for the part that's
      // written.
      const whole = Math.max(length, this.declaredBytes || this.maxBytes)
      const larger = Buffer.allocUnsafeSlow(length > LARGE_BYTES ? whole : Math.min(2 * length, whole))
      this.bytes.copy(larger)
      this.buffer = larger
    }
    chunk.copy(this.buffer, this.length)
    this.length = length
  }
}
