/**
 * Connections: their timeouts, the order of their requests, and the response before one is closed. Node has one timeout
 * for the bodies of all requests, and closes without a response in the service's format.
 */
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { own } from '../../../schemas/own.js'
import { ApiError, toProblem } from '../../errors.js'
import { canHaveBody, PROBLEM_TYPE } from './errors.js'
import type { BuildResponseHeaders } from './headers.js'

/** Milliseconds. */
export interface ConnectionTimeouts {
  /** How long a request's headers may take to arrive, and the whole request. */
  headers: number
  request: number
  /** How long an upload or a large body may take to arrive, if its sender may send one (`bodyTimeouts`). */
  upload: number
  /** The minimum average speed of such a body, in bytes per second. */
  uploadRate: number
  /** How long a large body may take before the minimum speed applies. For uploads, that's `request`. */
  slow: number
  /** How long a large body may take to arrive, and its response to be read, while others wait to send one. */
  patience: number
  /** How often the service looks for bodies that are too slow. */
  check: number
  /** How long a request may go without a byte in either direction. */
  inactivity: number
  /** How long a connection stays open between two requests. */
  idle: number
  /** How long a client has to read the last response. */
  linger: number
}

export const connectionTimeouts: ConnectionTimeouts = {
  headers: 15_000,
  request: 60_000,
  // 100 MB at 1 Mbit/s.
  upload: 900_000,
  uploadRate: 65_536,
  slow: 10_000,
  patience: 20_000,
  check: 5_000,
  inactivity: 60_000,
  // Longer than the minute that load balancers keep a connection.
  idle: 72_000,
  linger: 2_000,
}

const errorsOf: Record<string, () => ApiError> = {
  ERR_HTTP_REQUEST_TIMEOUT: () => new ApiError('request_timeout'),
  HPE_HEADER_OVERFLOW: () => new ApiError('headers_too_large'),
}

/** The response to a request that the HTTP parser rejects, for which there is no route, reply or log line. */
const responseTo = (error: NodeJS.ErrnoException, headersOf: BuildResponseHeaders): string => {
  const failure = own(errorsOf, error.code ?? '')?.() ?? new ApiError('bad_request')
  const requestId = randomUUID()
  const problem = toProblem(failure, requestId)
  const body = JSON.stringify(problem)
  const headers = {
    ...headersOf(requestId, undefined),
    'Content-Type': PROBLEM_TYPE,
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'no-store',
    Connection: 'close',
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return [`HTTP/1.1 ${failure.status} ${problem.title}`, ...lines, '', body].join('\r\n')
}

/**
 * Answers a request that the HTTP parser rejects, and closes the connection. Remaining bytes are read, because closing
 * with unread bytes resets the connection and loses the response.
 */
export const rejectConnections = (headersOf: BuildResponseHeaders, { linger }: ConnectionTimeouts) => {
  const closing = new WeakSet<Socket>()
  return (error: NodeJS.ErrnoException, socket: Socket): void => {
    if (closing.has(socket)) return
    // Node's own record of the response being sent, which a second response must not interrupt.
    const { _httpMessage: underWay } = socket as Socket & { _httpMessage?: ServerResponse | null }
    if (!socket.writable || underWay?.headersSent) {
      socket.destroy()
      return
    }
    closing.add(socket)
    socket.end(responseTo(error, headersOf))
    socket.resume()
    const deadline = setTimeout(() => socket.destroy(), linger).unref()
    socket.once('close', () => clearTimeout(deadline))
  }
}

declare module 'fastify' {
  interface FastifyInstance {
    bodyTimeouts: BodyTimeouts
  }
}

interface BodyTimeouts {
  /** Gives a request's body as much time as a large file. Only for known callers, and only a few at a time. */
  extendForUpload(request: IncomingMessage): void
  /** The same for a large body, which holds memory and must soon arrive as fast as a file. Its time starts now. */
  extendForLargeBody(request: IncomingMessage): void
  patienceMs: number
}

interface Arriving {
  since: number
  deadline: number
  /** When the minimum speed begins to apply. */
  slowUntil: number
  /** The bytes that the connection had read by then. */
  before: number
}

/** Node has a single timeout for all requests, which is set for uploads. Here, other requests get a shorter one. */
const boundBodies = (
  app: FastifyInstance,
  { request: ordinary, upload, uploadRate, slow, patience, check }: ConnectionTimeouts,
) => {
  /** Requests whose body has yet to arrive. */
  const arriving = new Map<IncomingMessage, Arriving>()
  const isTooSlow = (
    { socket }: IncomingMessage,
    { since, deadline, slowUntil, before }: Arriving,
    now: number,
  ) =>
    now >= deadline || (now >= slowUntil && socket.bytesRead - before < ((now - since) / 1_000) * uploadRate)
  // Runs before the router, which answers unreadable paths without calling hooks.
  app.server.prependListener('request', (request: IncomingMessage) => {
    if (!canHaveBody(request)) return
    const since = performance.now()
    const slowUntil = since + ordinary
    arriving.set(request, { since, deadline: slowUntil, slowUntil, before: request.socket.bytesRead })
    request.once('close', () => arriving.delete(request))
  })
  const extend = (request: IncomingMessage, since: number | undefined, slowMs: number) => {
    const one = arriving.get(request)
    if (!one) return
    if (since !== undefined) Object.assign(one, { since, before: request.socket.bytesRead })
    Object.assign(one, { deadline: one.since + upload, slowUntil: one.since + slowMs })
  }
  app.decorate('bodyTimeouts', {
    extendForUpload: (request) => extend(request, undefined, ordinary),
    extendForLargeBody: (request) => extend(request, performance.now(), slow),
    patienceMs: patience,
  })
  const timer = setInterval(() => {
    const now = performance.now()
    for (const [request, one] of arriving) {
      if (!request.complete && !isTooSlow(request, one, now)) continue
      arriving.delete(request)
      if (request.complete) continue
      const error = Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })
      app.server.emit('clientError', error, request.socket)
    }
  }, check).unref()
  app.addHook('onClose', async () => clearInterval(timer))
}

/** How many requests may wait on a connection. One more closes the connection, because they take memory. */
const MAX_WAITING = 100

type Exchange = [request: IncomingMessage, response: ServerResponse]

/** Exchanges waiting on connections with a request in progress. */
const waiting = new WeakMap<Socket, Exchange[]>()

/**
 * Answers a connection's requests one after the other. Node parses all requests that arrive in one piece (about 2,000
 * in 64 KiB) and starts them at once, so that one client could hold up all others.
 */
const answerInOrder = (server: Server) => {
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
    } else if (queue.length < MAX_WAITING) queue.push([request, response])
    else socket.destroy()
  })
}

export default fp(async (app: FastifyInstance, { timeouts }: { timeouts: ConnectionTimeouts }) => {
  boundBodies(app, timeouts)
  // Otherwise Node itself would answer an unknown expectation or a missing Host, with an empty body.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  // Node would also ask for the body before the headers are checked, and the client would send a body that is then
  // rejected.
  app.server.on('checkContinue', (request, response) => app.server.emit('request', request, response))
  answerInOrder(app.server)
})

/** What's wrong with the headers that HTTP itself defines. */
export const headerFault = ({ headers, raw }: FastifyRequest): ApiError | undefined => {
  const { expect, host } = headers
  if (expect !== undefined && expect.toLowerCase() !== '100-continue')
    return new ApiError('bad_request', { detail: 'The header Expect can only be 100-continue.' })
  if (host === undefined && raw.httpVersion === '1.1')
    return new ApiError('bad_request', { detail: 'The header Host is missing.' })
  return undefined
}

/** Asks for the body of a client that waits for it with `Expect: 100-continue`. */
export const sendContinue = ({ headers, raw }: FastifyRequest, reply: FastifyReply): void => {
  if (headers.expect === undefined) return
  // HTTP/1.0 knows no interim responses.
  if (raw.httpVersion !== '1.0') reply.raw.writeContinue()
  delete headers.expect
}

/** A request that was rejected as too slow must have no effect, even if the rest of it still arrives. */
export const timeoutFault = ({ raw }: FastifyRequest): ApiError | undefined =>
  raw.socket.writableEnded ? new ApiError('request_timeout') : undefined
