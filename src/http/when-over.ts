import type { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'

/**
 * Calls back once, when an answer has been sent or never will be. A response that waits behind another one on its
 * connection is not told of the connection's end.
 */
export const whenOver = (request: FastifyRequest, reply: FastifyReply, work: () => void): void => {
  const underWay = underWayOn(request.raw.socket)
  const end = () => {
    if (underWay.delete(end)) work()
  }
  underWay.add(end)
  reply.raw.once('close', end)
}

const answersOf = new WeakMap<Socket, Set<() => void>>()

/** What the end of a connection ends. One listener for all: as many requests as one likes may wait on a connection. */
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
