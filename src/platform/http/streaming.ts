/** Sends responses while they're produced, so that they don't have to fit in memory. */
import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { onResponseEnd } from '../process/response-end.js'

/** Shorter pieces are joined. */
export const PIECE_LENGTH = 65_536

type Pages = Iterable<string[]> | AsyncIterable<string[]>

/**
 * A JSON object with lists that may not fit in memory.
 * @param head the beginning of the object, with at least one property
 * @param lists by their names: pages of items in JSON
 */
export async function* jsonPieces(
  head: string,
  lists: Iterable<readonly [name: string, pages: Pages]>,
): AsyncGenerator<string> {
  let text = head
  for (const [name, pages] of lists) {
    text += `,"${name}":[`
    let separator = ''
    for await (const items of pages) {
      for (const item of items) {
        text += separator + item
        separator = ','
        if (text.length < PIECE_LENGTH) continue
        yield text
        text = ''
      }
    }
    text += ']'
  }
  yield `${text}}`
}

/**
 * Waits for the first piece, so that an early failure gets a normal error response. A later failure closes the
 * connection, so that clients don't mistake half a response for a complete one. When the client disconnects, no further
 * pieces are produced.
 */
export const sendPieces = async (
  reply: FastifyReply,
  type: string,
  pieces: AsyncGenerator<string | Buffer>,
) => {
  // For HEAD, the framework would produce all pieces and discard them.
  if (reply.request.method === 'HEAD') return reply.type(type).send('')
  // Also covers clients that have already disconnected: without a reader, the generator would never release its
  // resources.
  onResponseEnd(reply.request, reply, () => void pieces.return(undefined).catch(() => {}))
  const first = await pieces.next()
  const all = async function* () {
    if (first.done) return
    yield first.value
    const { work } = reply.request
    const next = () => pieces.next()
    for (;;) {
      const piece = await (work ? work.continueLater(next) : next())
      if (piece.done) return
      yield piece.value
    }
  }
  return reply.type(type).send(Readable.from(all()))
}
