/** The memory of one large request, counted from its body's arrival until its response has been read. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from '../../errors.js'
import { type Held, heldMemory } from '../process/held-memory.js'
import { onResponseEnd } from '../process/response-end.js'

export interface RequestMemory {
  /** The person or address that pays for it. */
  person: string
  /** Memory that its owner releases. Otherwise, the end of the response does. */
  hold(): Held
  /** Stops reading the body, for example when others need the memory. Longer work checks its signal. */
  ending: AbortController
}

/** Released when the response has ended. A person who loses the memory to others loses the request. */
export const holdMemory = (request: FastifyRequest, reply: FastifyReply, person: string): RequestMemory => {
  const ending = new AbortController()
  const parts = heldMemory.hold(person, () => {
    ending.abort(new ApiError('unavailable'))
    if (reply.raw.headersSent) request.raw.socket.destroy()
  })
  onResponseEnd(request, reply, parts.release)
  return { person, hold: parts.part, ending }
}
