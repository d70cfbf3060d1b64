/**
 * Limits how many requests of one connection are in progress. Node parses all requests that arrive in one piece (about
 * 3,000 in 64 KiB) and starts them at once, so that one client could block all others.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { limits } from '../../../schemas/limits.js'
import { tooMany } from '../../errors.js'

const LIMIT = limits.requests_at_once_per_connection

interface Connection {
  requests: number
  /** Requests whose responses haven't been sent. */
  inProgress: number
  /** The first request beyond the limit. It's rejected, later ones are ignored, and the connection closes. */
  excess: IncomingMessage | undefined
}

const connections = new WeakMap<Socket, Connection>()

/** Whether a connection is about to close, so that further requests on it are ignored. */
export const isOverLimit = (socket: Socket): boolean => connections.get(socket)?.excess !== undefined

/** A part of Node that isn't public. The test of this plugin fails with a version of Node that no longer has it. */
interface HttpSocket extends Socket {
  parser: {
    /** Called with each request, as soon as its headers are parsed. */
    onIncoming(request: IncomingMessage & { upgrade?: boolean }, keepAlive: boolean): number
  }
}

/** A result of `onIncoming` with which the parser skips the rest of the bytes that it has. */
const SKIP_REST = 2

const limitRequests = (socket: HttpSocket, { inactivity }: { inactivity: number }): void => {
  const connection: Connection = { requests: 0, inProgress: 0, excess: undefined }
  connections.set(socket, connection)
  const { parser } = socket
  const accept = parser.onIncoming
  parser.onIncoming = (request, keepAlive) => {
    if (connection.excess || connection.requests >= limits.requests_per_connection) {
      request.upgrade = false
      return SKIP_REST
    }
    connection.requests++
    connection.inProgress++
    if (connection.inProgress <= LIMIT) {
      // Node's own `maxRequestsPerSocket` answers later requests with an empty 503 and closes nothing.
      const isLast = connection.requests === limits.requests_per_connection
      return accept(request, keepAlive && !isLast)
    }
    connection.excess = request
    // The timeout of the socket starts again with every byte that the client sends.
    const deadline = setTimeout(() => socket.destroy(), inactivity).unref()
    socket.once('close', () => clearTimeout(deadline))
    accept(request, false)
    return SKIP_REST
  }
}

/** The most milliseconds per iteration of the event loop that are spent on starting queued requests. */
const TURN_MS = 5

/** Starts queued requests a few at a time, so that requests of other connections aren't delayed. */
const createQueue = () => {
  const queued = new Set<() => void>()
  const startSome = () => {
    const end = performance.now() + TURN_MS
    for (const start of queued) {
      queued.delete(start)
      start()
      if (performance.now() > end) break
    }
    if (queued.size > 0) setImmediate(startSome)
  }
  return (start: () => void) => {
    queued.add(start)
    if (queued.size === 1) setImmediate(startSome)
  }
}

/** Queues requests that arrive while their connection has others in progress. */
const queueRequests = ({ server }: FastifyInstance): void => {
  const enqueue = createQueue()
  const [handle] = server.listeners('request') as [RequestListener]
  server.removeAllListeners('request')
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request
    const connection = connections.get(socket)
    if (!connection) return handle(request, response)
    response.once('close', () => connection.inProgress--)
    if (connection.inProgress === 1) return handle(request, response)
    enqueue(() => {
      if (!socket.destroyed) handle(request, response)
    })
  })
}

export default fp(async (app: FastifyInstance, { timeouts }: { timeouts: { inactivity: number } }) => {
  app.server.on('connection', (socket: HttpSocket) => limitRequests(socket, timeouts))
  queueRequests(app)
  app.addHook('onRequest', ({ raw }, _reply, done) => {
    const isExcess = connections.get(raw.socket)?.excess === raw
    done(isExcess ? tooMany('requests_of_connection', LIMIT, 1) : undefined)
  })
})
