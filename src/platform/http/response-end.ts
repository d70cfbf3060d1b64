import type { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'

/**
 * Calls back once, when an answer has been sent or never will be. The response's own events are not enough: a response that
 * waits behind another one on its connection gets no event when the connection ends.
 */
export const onResponseEnd = (request: FastifyRequest, reply: FastifyReply, work: () => void): void => {
  const underWay = underWayOn(request.raw.socket)
  const end = () => {
    if (underWay.delete(end)) work()
  }
  underWay.add(end)
  reply.raw.once('close', end)
}

const answersOf = new WeakMap<Socket, Set<() => void>>()

/** The callbacks for the end of a connection. One listener serves all of them, because many requests can wait on a connection. */
const underWayOn = (socket: Socket): Set<() => void> => {
  const known = answersOf.get(socket)
  if (known) return known
  const underWay = new Set<() => void>()
  answersOf.set(socket, underWay)
  socket.once('close', () => {
    for (const end of underWay) end()
  })
  return underWay
}
