/** Bodies of counts as they arrive: what no valid body can be is refused before anybody parses it. */
import type { Readable } from 'node:stream'
import { limits } from '../../../../schemas/limits.js'
import { ApiError, invalid } from '../../../errors.js'

/**
 * Every value of a JSON text but the first comes behind one of these, so that their number bounds what parsing costs in
 * time and memory. Few bytes can cost much: 24 MiB of `{},` become a gigabyte.
 */
const OPENERS = new Uint8Array(256)
for (const character of ',:[{') OPENERS[character.charCodeAt(0)] = 1

/** What the largest body has of them: `{"workspace":…,"day":…,"members":[…]}`, and so on; logins may consist of them. */
const PER_REPO = 5
const PER_MEMBER = 6 + limits.login_length + limits.counts_repos_per_member * PER_REPO
const MOST_OPENERS = 7 + limits.counts_members * PER_MEMBER

/** By index and in a variable: any other way takes 5 to 20 times as long. */
const countOpeners = (chunk: Buffer): number => {
  let total = 0
  for (let at = 0; at < chunk.length; at++) total += OPENERS[chunk[at] as number] as number
  return total
}

const tooManyValues = () =>
  invalid(
    '/body',
    `has more values than ${limits.counts_members} members with ${limits.counts_repos_per_member} repositories each`,
  )

export class IncomingBody {
  private readonly chunks: AsyncIterator<Buffer>
  /** With room for more; a small chunk is never kept, because it may hold on to a large one. */
  private room: Buffer<ArrayBuffer>
  private length = 0
  private openers = 0

  /** @param declaredBytes what `Content-Length` says, if anything @throws {ApiError} `payload_too_large` */
  constructor(stream: Readable, declaredBytes: string | undefined) {
    const declared = Number(declaredBytes ?? 0)
    if (declared > limits.counts_body_bytes) throw new ApiError('payload_too_large')
    this.room = Buffer.allocUnsafeSlow(Math.min(declared, 65_536))
    // The rest of a body that is refused is taken as of others, and not destroyed with its connection.
    this.chunks = stream.iterator({ destroyOnReturn: false })
  }

  /** What has arrived. */
  get bytes(): Buffer<ArrayBuffer> {
    return this.room.subarray(0, this.length)
  }

  /**
   * Receives until the body has ended, or has more than `most` bytes.
   * @returns whether it has ended
   * @throws {ApiError} `validation_failed` for what no valid body can be, `payload_too_large`, and `bad_request` when the
   * connection is lost
   */
  async receive(most = Number.POSITIVE_INFINITY): Promise<boolean> {
    while (this.length <= most) {
      const { done, value } = await this.chunks.next().catch((cause) => {
        throw new ApiError('bad_request', { detail: 'The body did not arrive whole.', cause })
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
    if (length > limits.counts_body_bytes) throw new ApiError('payload_too_large')
    this.openers += countOpeners(chunk)
    if (this.openers > MOST_OPENERS) throw tooManyValues()
    if (length > this.room.length) {
      const larger = Buffer.allocUnsafeSlow(Math.min(2 * length, limits.counts_body_bytes))
      this.bytes.copy(larger)
      this.room = larger
    }
    chunk.copy(this.room, this.length)
    this.length = length
  }
}
