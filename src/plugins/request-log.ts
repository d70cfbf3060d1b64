/** One log line per request, and the trace that all lines of a request carry. */
import type { FastifyReply, FastifyRequest, RawServerDefault } from 'fastify'
import type { FastifyChildLoggerFactory } from 'fastify/types/logger.js'
import fp from 'fastify-plugin'
import { type Trace, traceOf } from '../domain/trace.js'
import { ApiError } from '../errors.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** To be handed on to other services. */
    readonly trace: Trace
  }
}

declare module 'node:http' {
  interface IncomingMessage {
    /** Kept here, because the logger of a request is made before the request. */
    trace?: Trace
  }
}

/** The logger of a request, whose lines all name its trace. */
export const withTrace: FastifyChildLoggerFactory<RawServerDefault> = (logger, bindings, options, raw) => {
  const trace = traceOf(raw.headers.traceparent)
  raw.trace = trace
  return logger.child({ ...bindings, trace_id: trace.traceId, span_id: trace.spanId }, options)
}

const PATH_LENGTH = 200
/** Longer than any segment that this service knows, and shorter than any secret: an invite code has 20 characters. */
const SEGMENT_LENGTH = 19
/** What is shown of a longer one: too little to guess the rest. */
const SHOWN_LENGTH = 8

/** What stands before the path where somebody takes the service for a proxy: a host, and perhaps a user and a password. */
const AUTHORITY = /^[a-z][a-z0-9+.-]*:\/\/(.*@)?[^/?#]*/i

/**
 * A path that leads nowhere: what was asked for, but no query, and no token that somebody has put there. The HTTP parser
 * lets nothing in but printable characters.
 */
const pathOf = (url: string): string =>
  (/^[^?#]*/.exec(url.replace(AUTHORITY, '').slice(0, PATH_LENGTH))?.[0] ?? '')
    .split('/')
    .map((segment) => (segment.length > SEGMENT_LENGTH ? `${segment.slice(0, SHOWN_LENGTH)}...` : segment))
    .join('/')

export const logAnswer = (request: FastifyRequest, reply: FastifyReply): void => {
  const { method, routeOptions, session, failure, log } = request
  // The route and not the path: paths and queries can carry names and keys.
  const { url: route, config } = routeOptions
  const isLost = route === undefined || failure?.code === 'route_not_found'
  const line = {
    method,
    route,
    path: isLost ? pathOf(request.raw.url ?? '') : undefined,
    status: reply.statusCode,
    code: failure?.code,
    limit: failure?.limitName,
    user_id: session && !(session instanceof ApiError) ? session.userId : undefined,
    ms: Math.round(reply.elapsedTime * 10) / 10,
  }
  // Balancers ask all the time.
  if (config?.isProbe) log.debug(line, 'request')
  else log.info(line, 'request')
}

export default fp(async (app) => {
  app.decorateRequest('trace', {
    getter() {
      return this.raw.trace ?? traceOf(undefined)
    },
  })
  app.addHook('onResponse', (request, reply, done) => {
    logAnswer(request, reply)
    done()
  })
})
