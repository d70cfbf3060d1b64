/**
 * Bodies of up to 24 MiB. Small ones are parsed at once. A large one counts toward its sender's memory as it arrives, and is
 * read in a thread.
 */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { FastifyRequest } from 'fastify'
import { ApiError } from '../../errors.js'
import type { BodyReader } from './body-reader.js'
import { readInThread } from './read-in-thread.js'
import type { RequestMemory } from './request-memory.js'

/** Smaller bodies cost less than a thread. */
const LARGE_BYTES = 131_072
/** How many bytes of one body to receive before other requests get a turn. */
const PAUSE_BYTES = 524_288
/** The size of a body's first buffer, whatever length the body declares. */
const FIRST_BYTES = 65_536

interface Expected {
  maxBytes: number
  /** Counts the bytes of a large body until it's closed. */
  memory: RequestMemory
  /** The owner that may have one large body at a time, if it isn't the person. */
  place?: string
}

/** The body of one request, for a handler that reads it itself: receive it, read it, and close it in any case. */
export class LargeBody {
  readonly memory: RequestMemory
  private readonly maxBytes: number
  private readonly place: string
  private readonly declaredBytes: number
  private readonly stream: AsyncIterator<Buffer>
  /** It has spare capacity. Small chunks are copied, because they may keep a large one in memory. */
  private buffer: Buffer<ArrayBuffer>
  private length = 0
  private isLarge = false
  private releasePermit = () => {}

  /** @throws {ApiError} `payload_too_large` */
  constructor(
    private readonly request: FastifyRequest,
    { maxBytes, memory, place = memory.person }: Expected,
  ) {
    this.maxBytes = maxBytes
    this.memory = memory
    this.place = place
    this.declaredBytes = Number(request.headers['content-length'] ?? 0)
    if (this.declaredBytes > maxBytes) throw this.tooLarge()
    this.buffer = Buffer.allocUnsafeSlow(Math.min(this.declaredBytes, FIRST_BYTES))
    // The rest of a rejected body is read like other bodies, so that its connection stays open for the response.
    this.stream = request.raw.iterator({ destroyOnReturn: false })
  }

  /** The bytes so far. */
  get bytes(): Buffer<ArrayBuffer> {
    return this.buffer.subarray(0, this.length)
  }

  /** Receives the whole body. @throws as `chunks` */
  async receive(): Promise<void> {
    const chunks = this.chunks()
    while (!(await chunks.next()).done);
  }

  /**
   * Receives the body. Each chunk is kept after its turn in the loop, which can throw to reject the body.
   * @throws {ApiError} `payload_too_large`, `rate_limited`, `unavailable`, and `bad_request` when the connection is lost
   */
  async *chunks(): AsyncGenerator<Buffer, void> {
    const hasEnded = yield* this.receiveSmallPart()
    if (hasEnded) return
    await this.becomeLarge()
    yield* this.receiveLargePart()
  }

  /** @returns whether the whole body is small */
  private async *receiveSmallPart(): AsyncGenerator<Buffer, boolean> {
    const { bodyTimeouts } = this.request.server
    if (this.declaredBytes > LARGE_BYTES) bodyTimeouts.extendForLargeBody(this.request.raw)
    while (this.length <= LARGE_BYTES) {
      const chunk = await this.nextChunk()
      if (!chunk) return true
      this.requireSpace(chunk)
      yield chunk
      this.keep(chunk)
    }
    return false
  }

  /** It takes its owner's only place, and ends with its connection. */
  private async becomeLarge(): Promise<void> {
    const { request, memory, place } = this
    const { bodyTimeouts, config, rateLimits } = request.server
    this.isLarge = true
    bodyTimeouts.extendForLargeBody(request.raw)
    if (config.rateLimits || place !== memory.person)
      this.releasePermit = await rateLimits.acquirePermit(request, 'large_uploads', [place])
    request.socket.once('close', this.hangUp)
    if (request.socket.destroyed) this.hangUp()
  }

  private async *receiveLargePart(): AsyncGenerator<Buffer, void> {
    const { signal, arriving } = this.memory
    arriving.add(this.length)
    let pauseAt = this.length + PAUSE_BYTES
    for (;;) {
      // A fast sender would otherwise block the event loop.
      if (this.length >= pauseAt) {
        await yieldToEventLoop()
        pauseAt = this.length + PAUSE_BYTES
      }
      const chunk = await untilAborted(this.nextChunk(), signal)
      if (!chunk) return
      arriving.add(chunk.length)
      this.requireSpace(chunk)
      yield chunk
      this.keep(chunk)
    }
  }

  /** Reads a received body. @throws {StrictJsonError} {InvalidBody} @throws {ApiError} `unavailable`, `bad_request` */
  async read<Read extends object, Context extends object>(
    reader: BodyReader<Read, Context>,
    context: Context,
  ): Promise<Read> {
    const { memory } = this
    return this.isLarge ? readInThread(reader, this.bytes, context, memory) : reader.read(this.bytes, context)
  }

  /** Stops receiving, and gives back the memory and the place. The connection stays untouched. */
  close(): void {
    this.request.socket.removeListener('close', this.hangUp)
    this.releasePermit()
    this.memory.arriving.release()
    this.buffer = Buffer.alloc(0)
    // The awaited chunk may never come.
    void this.stream.return?.()
  }

  private readonly hangUp = () =>
    this.memory.end(new ApiError('bad_request', { detail: 'The connection was closed.' }))

  /** Undefined: the body has ended. */
  private async nextChunk(): Promise<Buffer | undefined> {
    try {
      const { done, value } = await this.stream.next()
      return done ? undefined : value
    } catch (cause) {
      throw new ApiError('bad_request', { detail: 'The body was cut off.', cause })
    }
  }

  private tooLarge(): ApiError {
    return new ApiError('payload_too_large', {
      detail: `The body is larger than the ${this.maxBytes} bytes that this route accepts. Send less in one request.`,
    })
  }

  private requireSpace(chunk: Buffer): void {
    if (this.length + chunk.length > this.maxBytes) throw this.tooLarge()
  }

  private keep(chunk: Buffer): void {
    const length = this.length + chunk.length
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

/** @throws the signal's reason */
export const untilAborted = async <T>(work: Promise<T>, signal: AbortSignal): Promise<T> => {
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
