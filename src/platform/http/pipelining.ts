/**
 * Answers a connection's requests one after the other. Node parses all requests that arrive in one piece (about 2,000
 * in 64 KiB) and starts them at once, so that one client could hold up all others.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

/** How many requests may wait on a connection. One more closes the connection, because they take memory. */
const WAITING = 100

type Exchange = [request: IncomingMessage, response: ServerResponse]

/** Exchanges waiting on connections with a request in progress. */
const waiting = new WeakMap<Socket, Exchange[]>()

export default fp(async ({ server }: FastifyInstance) => {
  const listeners = server.listeners('request') as RequestListener[]
  const start = (...[request, response]: Exchange) => {
    response.once('close', () => setImmediate(startNext, request.socket))
    for (const listener of listeners) listener(request, response)
  }
  const startNext = (socket: Socket) => {
    const next = socket.destroyed ? undefined : waiting.get(socket)?.shift()
    if (next) start(...next)
    else waiting.delete(socket)
  }
  server.removeAllListeners('request')
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request
    const queue = waiting.get(socket)
    if (!queue) {
      waiting.set(socket, [])
      start(request, response)
    } else if (queue.length < WAITING) queue.push([request, response])
    else socket.destroy()
  })
})
