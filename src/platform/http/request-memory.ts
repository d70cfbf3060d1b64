import type { FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from '../../errors.js'
import { type Held, heldMemory } from '../process/held-memory.js'
import { onResponseEnd } from '../process/response-end.js'

/** The memory of one large request, counted from its body's first byte until its response has been read. */
export class RequestMemory {
  /** Counts the body's bytes from their arrival until `LargeBody` is closed. */
  readonly arriving: Held
  /** Counts what was read from them, until the handler no longer needs it. */
  readonly sent: Held
  /** Counts what the response is made of. Work that starts over releases it first. */
  readonly response: Held
  private readonly ending = new AbortController()

  /**
   * The end of the response releases all of it. A person who loses the memory to others loses the request.
   * @param person the person or address that pays for it
   */
  constructor(
    request: FastifyRequest,
    reply: FastifyReply,
    readonly person: string,
  ) {
    const parts = heldMemory.hold(person, () => {
      this.end(new ApiError('unavailable'))
      if (reply.raw.headersSent) request.raw.socket.destroy()
    })
    this.arriving = parts.part()
    this.sent = parts.part()
    this.response = parts.part()
    onResponseEnd(request, reply, parts.release)
  }

  /** Aborts when the request ends early, mostly because others need the memory. */
  get signal(): AbortSignal {
    return this.ending.signal
  }

  /** Ends the request early. */
  end(reason: ApiError): void {
    this.ending.abort(reason)
  }

  /** Long work calls it between its steps. @throws {ApiError} `unavailable` if others have needed the memory */
  throwIfLost(): void {
    this.ending.signal.throwIfAborted()
  }
}
