import type { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'

/**
 * Calls back once, when an answer has been sent or never will be. The response's own events are not enough: one that
 * waits behind another on its connection does not hear of the connection's end.
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

/** What to call when a connection ends. One listener serves all, because any number of requests can wait on it. */
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
