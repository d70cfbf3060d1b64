/** Sends answers while they are made, so that none has to fit into memory. */
import { finished, Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'

/** Shorter texts are sent together. */
export const PIECE_LENGTH = 65_536

/**
 * Waits for the first piece, so that an early failure is answered like any other. A later one closes the connection, so
 * that nobody takes half an answer for a whole one. When the client hangs up, no further pieces are made.
 */
export const sendPieces = async (reply: FastifyReply, type: string, pieces: AsyncGenerator<string>) => {
  // For HEAD the framework would have all pieces made, and discard them.
  if (reply.request.method === 'HEAD') return reply.type(type).send('' as never)
  // Also of who has hung up before: nobody then reads the stream, and what makes the pieces would hold what it has for ever.
  finished(reply.raw, () => pieces.return(undefined).catch(() => {}))
  const first = await pieces.next()
  const all = async function* () {
    if (first.done) return
    yield first.value
    const { work } = reply.request
    const next = () => pieces.next()
    for (;;) {
      const piece = await (work ? work.later(next) : next())
      if (piece.done) return
      yield piece.value
    }
  }
  return reply.type(type).send(Readable.from(all()) as never)
}
