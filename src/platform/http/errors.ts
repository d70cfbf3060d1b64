/** Answers every failure, ours or the framework's, with a problem document. */
import type { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { limits } from '../../../schemas/limits.js'
import { ApiError, toProblem, validationError } from '../../errors.js'
import { namesType } from './content.js'
import { EDITORS } from './editor-addresses.js'
import { translate } from './error-translation.js'
import type { BuildResponseHeaders } from './headers.js'
import { logResponse } from './request-log.js'
import { countResponse } from './request-metrics.js'

export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8'

declare module 'fastify' {
  interface FastifyRequest {
    /** The error that was sent instead of a response. */
    failure: ApiError | null
  }
}

export default fp(async (app) => {
  app.decorateRequest('failure', null)
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const failure = translate(error, request)
    // Probes of a stopping service, writes during maintenance, and calls that need what the operator hasn't set up, such as
    // a stray return from the repository host, are rejected on purpose, so they aren't logged as errors.
    const isMeant =
      failure.code === 'maintenance' ||
      failure.code.endsWith('_not_configured') ||
      (request.routeOptions.config.isProbe === true && app.lifecycle.isStopping())
    if (failure.status >= 500 && !isMeant)
      request.log.error({ err: failure.code === 'internal_error' ? error : failure }, failure.code)
    return send(failure, request, reply)
  })
  app.setNotFoundHandler(answerNotFound)
})

/** Answers a request that no route matches. */
export const answerNotFound = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
  // A malformed path can't be decoded.
  if (/%(2f|00)/i.test(request.raw.url?.split('?')[0] ?? '')) {
    const unreadable = validationError('/params', 'a path segment must not contain an encoded slash or NUL')
    return send(unreadable, request, reply)
  }
  // People who mistyped an address in a browser get a page with a link home.
  const isForPage = request.method === 'GET' && !/^\/api(\/|$|\?)/.test(request.url)
  const failure = new ApiError('route_not_found')
  const { sendPage } = request.server.dashboard
  if (isForPage && sendPage && namesType(request.headers.accept, 'text/html')) {
    request.failure = failure
    return sendPage(request, reply.code(404))
  }
  return send(failure, request, reply)
}

export const canHaveBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

const send = (failure: ApiError, request: FastifyRequest, reply: FastifyReply) => {
  request.failure = failure
  if (failure.retryAfter !== undefined) reply.header('Retry-After', failure.retryAfter)
  if (failure.limit !== undefined) {
    reply.header('RateLimit-Limit', failure.limit)
    reply.header('RateLimit-Remaining', 0)
    reply.header('RateLimit-Reset', failure.retryAfter)
  }
  reply.removeHeader('ETag')
  reply.removeHeader('Content-Disposition')
  if (canHaveBody(request.raw) && !request.raw.complete) discard(request.raw, reply, failure)
  const problem = toProblem(failure, request.id)
  const isForEditor = request.url.startsWith(EDITORS)
  return reply
    .code(failure.status)
    .type(PROBLEM_TYPE)
    .send(JSON.stringify(isForEditor ? { ...problem, error: problem.detail } : problem))
}

/** How much of a rejected body to read, and for how long. */
const DISCARD_BYTES = 64 * 2 ** 20
const DISCARD_MS = 10_000
/** The same for a sender without the right to send it: as much as anyone can send to any route. */
const UNAUTHORIZED_DISCARD_BYTES = limits.body_bytes
const UNAUTHORIZED_DISCARD_MS = 2_000
const UNAUTHORIZED_STATUSES = [401, 402, 403, 404]

/**
 * Reads what a client is still sending, so that the client can read the response. The framework would close the
 * connection, which most clients report as a broken pipe.
 */
const discard = (request: IncomingMessage, reply: FastifyReply, { status }: ApiError) => {
  // Nothing is on its way: the client is still waiting for 100 Continue.
  if (request.headers.expect !== undefined) {
    reply.header('Connection', 'close')
    return
  }
  reply.removeHeader('Connection')
  const isUnwanted = UNAUTHORIZED_STATUSES.includes(status)
  let left = isUnwanted ? UNAUTHORIZED_DISCARD_BYTES : DISCARD_BYTES
  const { socket } = request
  // Injected requests have no real one.
  const end = () => {
    if (socket instanceof Socket) socket.destroySoon()
  }
  const timer = setTimeout(end, isUnwanted ? UNAUTHORIZED_DISCARD_MS : DISCARD_MS).unref()
  request.on('close', () => clearTimeout(timer))
  request.on('data', (chunk: Buffer) => {
    left -= chunk.length
    // Closing at once would lose the response on its way to a client that hasn't read it.
    if (left < 0) request.pause()
  })
  request.resume()
}

/** Answers a request with an unreadable path, for which no hook runs. */
export const answerUnroutable =
  (headersOf: BuildResponseHeaders) =>
  (error: FastifyError, request: FastifyRequest, reply: FastifyReply) => {
    reply.headers({ ...headersOf(request.id, request.headers.origin), 'Cache-Control': 'no-store' })
    send(translate(error, request), request, reply)
    logResponse(request, reply)
    countResponse(request, reply)
  }
