/**
 * Reads the body with heartbeats as JSON, or as a JSON string that contains JSON, whatever the media type. It's
 * read as it arrives, so that large bodies take no memory.
 */
import type { Readable } from 'node:stream'
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { Token } from 'stream-json/core/parser.js'
import { limits } from '../../../../schemas/limits.js'
import { ApiError, validationError } from '../../../errors.js'
import { InvalidJsonError, JsonTokens } from '../../../platform/http/json-tokens.js'
import type { SentHeartbeat } from '../project-names.js'
import { HeartbeatFinder } from './json.js'

/** How many bytes are read before other requests run. */
const PIECE_BYTES = 65_536
const SPACE = 0x20
const QUOTE = 0x22
const BYTE_ORDER_MARK: readonly number[] = [0xef, 0xbb, 0xbf]

export interface HeartbeatsBody {
  /** Whether the body is one heartbeat rather than an array. */
  isOne: boolean
  /** Null: the element of the array isn't an object. */
  heartbeats: (SentHeartbeat | null)[]
}

/** The content of strings. */
const textIn = (tokens: Token[]): string =>
  tokens.map((token) => (token.name === 'stringChunk' ? token.value : '')).join('')

/**
 * @throws {ApiError} `payload_too_large`, `invalid_json`, `validation_failed` for anything but an object or an array,
 * and `bad_request` when the connection is lost
 */
export const readHeartbeats = async (stream: Readable): Promise<HeartbeatsBody> => {
  const heartbeats: HeartbeatsBody['heartbeats'] = []
  let isOne = false
  let places = 0
  try {
    const finder = new HeartbeatFinder()
    for await (const tokens of readPieces(stream))
      for (const token of tokens) {
        const found = finder.take(token)
        if (!found) continue
        const { depth } = found
        if (found.kind === 'end') {
          if (depth === (isOne ? 0 : 1)) heartbeats.push(found.heartbeat)
        } else if (depth === 0) {
          if (found.type === 'other')
            throw validationError('/body', 'must be a heartbeat or an array of heartbeats')
          isOne = found.type === 'object'
        } else if (!isOne) {
          if (++places > limits.heartbeats)
            throw validationError('/body', `must have at most ${limits.heartbeats} heartbeats`)
          if (found.type !== 'object') heartbeats.push(null)
        }
      }
  } catch (error) {
    if (error instanceof InvalidJsonError)
      throw new ApiError('invalid_json', { detail: 'The body isn’t JSON that the service accepts.' })
    if (error instanceof ApiError) throw error
    throw new ApiError('bad_request', { detail: 'The body was cut off.', cause: error })
  }
  return { isOne, heartbeats }
}

/** The tokens of each piece of the body. Other requests run between pieces. */
const readPieces = async function* (stream: Readable): AsyncGenerator<Token[]> {
  const skipping = { skipsMark: true }
  const json = new JsonTokens(skipping)
  let quoted: JsonTokens | undefined
  let hasBegun = false
  let received = 0
  // The rest of a rejected body is discarded, so that the connection stays open.
  for await (const chunk of stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    received += chunk.length
    if (received > limits.heartbeats_body_bytes) throw new ApiError('payload_too_large')
    const first: number | undefined = hasBegun
      ? undefined
      : chunk.find((byte) => byte > SPACE && !BYTE_ORDER_MARK.includes(byte))
    hasBegun ||= first !== undefined
    if (first === QUOTE) quoted = new JsonTokens(skipping)
    for (let at = 0; at < chunk.length; at += PIECE_BYTES) {
      const piece = chunk.subarray(at, at + PIECE_BYTES)
      yield quoted ? json.readText(textIn(quoted.read(piece))) : json.read(piece)
      await yieldToEventLoop()
    }
  }
  quoted?.end()
  yield json.end()
}
