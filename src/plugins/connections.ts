/** What clients may do to their connections: how long they have, and what they are told before one is ended. */
import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { ApiError, toProblem } from '../errors.js'
import { PROBLEM_TYPE } from './errors.js'
import type { AnswerHeaders } from './headers.js'

/** Milliseconds. */
export interface Patience {
  /** For the headers of a request to arrive, and for the whole of it. */
  headers: number
  request: number
  /** How often these two are looked at. */
  check: number
  /** Without a byte in either direction while a request is under way. */
  silence: number
  /** Between two requests. */
  idle: number
  /** For the client to read why its connection ends. */
  farewell: number
}

export const patience: Patience = {
  headers: 15_000,
  request: 60_000,
  check: 5_000,
  silence: 60_000,
  // Longer than the minute that balancers keep a connection for.
  idle: 72_000,
  farewell: 2_000,
}

const refusals: Record<string, () => ApiError> = {
  ERR_HTTP_REQUEST_TIMEOUT: () => new ApiError('request_timeout'),
  HPE_HEADER_OVERFLOW: () => new ApiError('headers_too_large'),
}

/** The answer to a request that the HTTP parser refuses: there is no route, reply or log line for it. */
const refusalOf = (error: NodeJS.ErrnoException, headersOf: AnswerHeaders): string => {
  const failure = refusals[error.code ?? '']?.() ?? new ApiError('bad_request')
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
 * Answers what the HTTP parser refuses, and ends the connection, whether or not the client agrees. Until then what it
 * still sends is read: a connection that is closed over unread bytes is reset, and its answer lost.
 */
export const refuseConnections = (headersOf: AnswerHeaders, { farewell }: Patience) => {
  const ending = new WeakSet<Socket>()
  return (error: NodeJS.ErrnoException, socket: Socket): void => {
    if (ending.has(socket)) return
    // Node keeps the answer under way here; a second one must not get into the middle of it.
    const { _httpMessage: underWay } = socket as Socket & { _httpMessage?: ServerResponse | null }
    if (!socket.writable || underWay?.headersSent) {
      socket.destroy()
      return
    }
    ending.add(socket)
    socket.end(refusalOf(error, headersOf))
    socket.resume()
    const deadline = setTimeout(() => socket.destroy(), farewell).unref()
    socket.once('close', () => clearTimeout(deadline))
  }
}

export default fp(async (app: FastifyInstance) => {
  // Node would answer these by itself, without a word: an expectation that it does not know, and a missing Host.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  app.addHook('onRequest', ({ headers, raw }, _reply, done) => {
    const { expect, host } = headers
    if (expect !== undefined && expect.toLowerCase() !== '100-continue')
      return done(new ApiError('bad_request', { detail: 'Expect can only be 100-continue.' }))
    if (host === undefined && raw.httpVersion === '1.1')
      return done(new ApiError('bad_request', { detail: 'The header Host is missing.' }))
    done()
  })
  // The rest of a request may come after its connection was given up, when the client knows that nothing was done.
  app.addHook('preValidation', ({ raw }, _reply, done) =>
    done(raw.socket.writableEnded ? new ApiError('request_timeout') : undefined),
  )
})
