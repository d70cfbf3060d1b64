/** Answers that are sent while they are made, so that none is too large for memory. */
import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'

/** Texts that are shorter are sent together. */
export const PIECE_LENGTH = 65_536

/**
 * Waits for the first piece, so that a failure before it is answered like any other; a later one cuts the connection,
 * as nobody should take half an answer for a whole one. A client that hangs up ends the making of further pieces.
 */
export const sendPieces = async (reply: FastifyReply, type: string, pieces: AsyncGenerator<string>) => {
  // Nobody wants the pieces of an answer to HEAD; the framework would have them all made.
  if (reply.request.method === 'HEAD') return reply.type(type).send('' as never)
  const first = await pieces.next()
  const all = async function* () {
    if (first.done) return
    yield first.value
    yield* pieces
  }
  return reply.type(type).send(Readable.from(all()) as never)
}
