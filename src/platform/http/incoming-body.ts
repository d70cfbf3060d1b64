/** Collects large bodies as they arrive, and rejects impossible ones before they are parsed. */
import type { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { ApiError } from '../../errors.js'

/** Bytes of one body between two turns of other requests. */
const PAUSE_BYTES = 524_288
/** The first buffer of a body, whatever length it declares. */
const FIRST_BYTES = 65_536
/** A larger body gets a buffer of its whole length at once. The system provides memory only for the part that is written. */
const WHOLE_BYTES = 131_072

export class IncomingBody {
  private readonly chunks: AsyncIterator<Buffer>
  private readonly declaredBytes: number | undefined
  /** The buffer has spare capacity. Small chunks are copied, because they may keep a large one in memory. */
  private room: Buffer<ArrayBuffer>
  private length = 0

  /**
   * @param declaredBytes the `Content-Length`, if any
   * @param mostBytes the limit of the body
   * @param inspect gets each chunk before it is kept, and throws to reject the body
   * @throws {ApiError} `payload_too_large`
   */
  constructor(
    stream: Readable,
    declaredBytes: string | undefined,
    private readonly mostBytes: number,
    private readonly inspect: (chunk: Buffer) => void = () => {},
  ) {
    this.declaredBytes = declaredBytes === undefined ? undefined : Number(declaredBytes)
    if ((this.declaredBytes ?? 0) > mostBytes) throw new ApiError('payload_too_large')
    this.room = Buffer.allocUnsafeSlow(Math.min(this.declaredBytes ?? 0, FIRST_BYTES))
    // The rest of a rejected body is read like other bodies, so that its connection stays open for the answer.
    this.chunks = stream.iterator({ destroyOnReturn: false })
  }

  /** The bytes that it has, or can have. */
  get expectedBytes(): number {
    return this.declaredBytes ?? this.mostBytes
  }

  /** The bytes so far. */
  get bytes(): Buffer<ArrayBuffer> {
    return this.room.subarray(0, this.length)
  }

  /**
   * Receives until the body has ended, or has more than `most` bytes.
   * @returns whether it has ended
   * @throws {ApiError} `payload_too_large`, what `inspect` throws, and `bad_request` when the connection is lost
   */
  async receive(most = Number.POSITIVE_INFINITY): Promise<boolean> {
    for (let pauseAt = this.length + PAUSE_BYTES; this.length <= most; ) {
      // A fast sender would otherwise keep the event loop.
      if (this.length >= pauseAt) {
        await nextTurn()
        pauseAt = this.length + PAUSE_BYTES
      }
      const { done, value } = await this.chunks.next().catch((cause) => {
        throw new ApiError('bad_request', { detail: 'The body did not arrive completely.', cause })
      })
      if (done) return true
      this.add(value)
    }
    return false
  }

  /** Ends the receiving; does nothing to the connection. */
  async leave(): Promise<void> {
    await this.chunks.return?.()
  }

  private add(chunk: Buffer): void {
    const length = this.length + chunk.length
    if (length > this.mostBytes) throw new ApiError('payload_too_large')
    this.inspect(chunk)
    if (length > this.room.length) {
      const whole = Math.max(length, this.declaredBytes ?? this.mostBytes)
      const larger = Buffer.allocUnsafeSlow(length > WHOLE_BYTES ? whole : Math.min(2 * length, whole))
      this.bytes.copy(larger)
      this.room = larger
    }
    chunk.copy(this.room, this.length)
    this.length = length
  }
}
