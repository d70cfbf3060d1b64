/**
 * Bodies of up to 24 MiB. One of at most 1 MiB is received like any other. A larger one needs a place while it arrives and
 * until its response has been read, and a turn while the service works on it.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { limits } from '../../../schemas/limits.js'
import { ApiError } from '../../errors.js'
import { onResponseEnd } from '../process/response-end.js'
import { Semaphore } from '../process/semaphore.js'
import { yieldIfDue } from '../process/yield-if-due.js'

const LARGE_BYTES = limits.body_bytes
/** The size of a body's first buffer, whatever length the body declares. */
const FIRST_BYTES = 65_536
const MAX_WAITING = 256
/** Less than a connection may be silent. */
const WAIT_MS = 55_000
/** How often a place is checked for being held too long. */
const CHECK_MS = 500

const unavailable = () =>
  new ApiError('unavailable', { detail: 'Too many large bodies are being sent. Send yours again later.' })
const placesFor = (count: number) => new Semaphore(count, MAX_WAITING, WAIT_MS, unavailable)

/** All places together take up to 120 MiB. People who aren't known yet don't take those of others. */
export const places = { ofCallers: placesFor(3), ofDeliveries: placesFor(2) }
/** The values of one body need up to 100 MiB, and the change of a full configuration up to 150 MiB. */
const turns = new Semaphore(1, MAX_WAITING, WAIT_MS, unavailable)

interface Expected {
  maxBytes: number
  /** Who may have one large body at a time. Undefined: no one has to wait for their own. */
  payer: string | undefined
  places: Semaphore
}

/** The body of one request, for a handler that reads it itself. Close it, or end its work, in any case. */
export class LargeBody {
  private readonly declaredBytes: number
  private readonly stream: AsyncIterator<Buffer>
  /** It has spare capacity. Small chunks are copied, because they may keep a large one in memory. */
  private buffer: Buffer
  private length = 0
  private isLarge = false
  private hasTurn = false
  private readonly ending = new AbortController()
  private check: NodeJS.Timeout | undefined
  private releasePlace = () => {}

  /** @throws {ApiError} `payload_too_large` */
  constructor(
    private readonly request: FastifyRequest,
    private readonly reply: FastifyReply,
    private readonly expected: Expected,
  ) {
    this.declaredBytes = Number(request.headers['content-length'] ?? 0)
    if (this.declaredBytes > expected.maxBytes) throw this.tooLarge()
    if (this.declaredBytes > LARGE_BYTES) request.server.bodyTimeouts.extendForLargeBody(request.raw)
    this.buffer = Buffer.allocUnsafeSlow(Math.min(this.declaredBytes, FIRST_BYTES))
    // The rest of a rejected body is read like other bodies, so that its connection stays open for the response.
    this.stream = request.raw.iterator({ destroyOnReturn: false })
  }

  /**
   * @param see sees each chunk as it arrives
   * @throws {ApiError} `payload_too_large`, `rate_limited`, `unavailable`, `request_timeout`, and `bad_request` when the
   * connection is lost
   */
  async receive(see?: (chunk: Buffer) => void): Promise<Buffer> {
    for (;;) {
      const chunk = await this.nextChunk()
      if (!chunk) return this.buffer.subarray(0, this.length)
      const length = this.length + chunk.length
      if (length > this.expected.maxBytes) throw this.tooLarge()
      if (!this.isLarge && length > LARGE_BYTES) await this.becomeLarge()
      see?.(chunk)
      this.keep(chunk)
      // A fast sender would otherwise block the event loop.
      await yieldIfDue()
    }
  }

  /** Waits for a turn, if the body is large. */
  async takeTurnIfLarge(): Promise<void> {
    this.stopWatching()
    if (this.isLarge) await this.takeTurn()
  }

  /** For work that needs much memory, whatever the body's size. A body takes one turn at most. */
  async takeTurn(): Promise<void> {
    if (this.hasTurn) return
    const { work } = this.request
    work?.pause()
    await turns.acquire(undefined, this.ending.signal)
    work?.resume()
    this.hasTurn = true
  }

  /** Ends the turn. Its place stays taken until the response has been read. */
  endWork(): void {
    this.endTurn()
    this.stopReceiving()
    const { request, reply } = this
    if (this.isLarge) this.watch(() => request.socket.destroy())
    onResponseEnd(request, reply, () => this.close())
  }

  /** Ends the turn, and gives back the place. The connection stays untouched. */
  close(): void {
    this.endTurn()
    this.stopReceiving()
    this.request.socket.removeListener('close', this.hangUp)
    this.releasePlace()
    this.releasePlace = () => {}
  }

  private endTurn(): void {
    if (this.hasTurn) turns.release()
    this.hasTurn = false
  }

  private stopReceiving(): void {
    this.stopWatching()
    this.forget()
    // The awaited chunk may never come.
    void this.stream.return?.()
  }

  private readonly hangUp = () =>
    this.ending.abort(new ApiError('bad_request', { detail: 'The connection was closed.' }))

  /** The bytes aren't needed any more. */
  forget(): void {
    this.buffer = Buffer.alloc(0)
    this.length = 0
  }

  private async becomeLarge(): Promise<void> {
    const { request, expected, ending } = this
    const { bodyTimeouts, rateLimits } = request.server
    const { socket } = request
    this.isLarge = true
    if (socket.destroyed) this.hangUp()
    socket.once('close', this.hangUp)
    // Nothing is read while it waits.
    bodyTimeouts.extendForUpload(request.raw)
    const payers = expected.payer === undefined ? [] : [expected.payer]
    const releasePayer = await rateLimits.acquirePermit(request, 'large_uploads', payers)
    this.releasePlace = releasePayer
    await expected.places.acquire(undefined, ending.signal)
    this.releasePlace = () => {
      expected.places.release()
      releasePayer()
    }
    bodyTimeouts.extendForLargeBody(request.raw)
    this.watch(() =>
      ending.abort(
        new ApiError('request_timeout', {
          detail:
            'The body arrived too slowly while others waited. Send it again later, or from a faster connection.',
        }),
      ),
    )
  }

  /** Ends it if it holds its place for too long while others wait for one. */
  private watch(end: () => void): void {
    const { patienceMs } = this.request.server.bodyTimeouts
    const since = performance.now()
    const check = () => {
      if (performance.now() - since > patienceMs && this.expected.places.queueLength > 0) end()
    }
    this.check = setInterval(check, Math.min(CHECK_MS, patienceMs))
  }

  private stopWatching(): void {
    clearInterval(this.check)
  }

  /** Undefined: the body has ended. */
  private async nextChunk(): Promise<Buffer | undefined> {
    const { signal } = this.ending
    let abort = () => {}
    const aborted = new Promise<never>((_, reject) => {
      abort = () => reject(signal.reason)
      if (signal.aborted) abort()
      signal.addEventListener('abort', abort)
    })
    const next = this.stream.next().catch((cause) => {
      throw new ApiError('bad_request', { detail: 'The body was cut off.', cause })
    })
    try {
      const { done, value } = await Promise.race([next, aborted])
      return done ? undefined : value
    } finally {
      signal.removeEventListener('abort', abort)
    }
  }

  private tooLarge(): ApiError {
    return new ApiError('payload_too_large', {
      detail: `The body is larger than the ${this.expected.maxBytes} bytes that this route accepts. Send less in one request.`,
    })
  }

  private keep(chunk: Buffer): void {
    const length = this.length + chunk.length
    if (length > this.buffer.length) {
      // A large body gets a buffer of its full length at once. The system allocates memory only for the part that's
      // written.
      const whole = Math.max(length, this.declaredBytes || this.expected.maxBytes)
      const larger = Buffer.allocUnsafeSlow(length > LARGE_BYTES ? whole : Math.min(2 * length, whole))
      this.buffer.copy(larger, 0, 0, this.length)
      this.buffer = larger
    }
    chunk.copy(this.buffer, this.length)
    this.length = length
  }
}
