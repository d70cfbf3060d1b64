import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'

/**
 * Calls back once, when a response has been sent or never will be. The response's own events aren't enough: a response
 * that waits behind another one on its connection gets no event when the connection ends.
 */
export const onResponseEnd = (
  request: Pick<FastifyRequest, 'raw'>,
  { raw: response }: Pick<FastifyReply, 'raw'>,
  work: () => void,
): void => {
  const { socket } = request.raw
  if (response.closed || socket.destroyed) {
    work()
    return
  }
  const known = workAfter.get(response)
  if (known) {
    known.push(work)
    return
  }
  const all = [work]
  workAfter.set(response, all)
  const underWay = underWayOn(socket)
  const end = () => {
    if (underWay.delete(end)) for (const one of all) one()
  }
  underWay.add(end)
  response.once('close', end)
}

/** One listener serves all of a response, because Node warns of more than ten. */
const workAfter = new WeakMap<ServerResponse, (() => void)[]>()

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
