/** One log line per request, and the trace that all lines of a request carry. */
import type { FastifyReply, FastifyRequest, RawServerDefault } from 'fastify'
import type { FastifyChildLoggerFactory } from 'fastify/types/logger.js'
import fp from 'fastify-plugin'
import { ApiError } from '../../errors.js'
import { type Trace, traceOf } from './trace.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** Passed on to other services. */
    readonly trace: Trace
  }
  interface FastifyInstance {
    /** The paths of all routes and their parents, up to the first parameter. */
    knownPaths: ReadonlySet<string>
  }
}

declare module 'node:http' {
  interface IncomingMessage {
    /** Kept here, because a request's logger is created before the request. */
    trace?: Trace
  }
}

/** Makes a request's logger, whose lines all name its trace. */
export const withTrace: FastifyChildLoggerFactory<RawServerDefault> = (logger, bindings, options, raw) => {
  const trace = traceOf(raw.headers.traceparent)
  raw.trace = trace
  return logger.child(
    { request_id: bindings.request_id, trace_id: trace.traceId, span_id: trace.spanId },
    options,
  )
}

/**
 * The part to log of a path that no route matches: the segments that it shares with a route, up to the first parameter.
 * The rest comes from the caller and may contain people, repositories or secrets.
 */
const knownPartOf = (url: string, known: ReadonlySet<string>): string => {
  const path = /^[^?#]*/.exec(url)?.[0] ?? ''
  let part = ''
  for (const segment of path.split('/').slice(1)) {
    const longer = `${part}/${segment}`
    if (!known.has(longer)) break
    part = longer
  }
  return part === path ? part : `${part}/…`
}

export const logResponse = (request: FastifyRequest, reply: FastifyReply): void => {
  const { method, routeOptions, session, key, failure, raw, server } = request
  // Logs the route, not the path, because paths and queries can contain names and keys.
  const { url: route, config } = routeOptions
  const isLost = route === undefined || failure?.code === 'route_not_found'
  // A request whose path can't be read has no `trace`.
  const { traceId, spanId } = raw.trace ?? traceOf(undefined)
  // One literal: with `...` for its first properties, the object takes four times the memory.
  const line = {
    request_id: request.id,
    trace_id: traceId,
    span_id: spanId,
    method,
    route,
    path: isLost ? knownPartOf(raw.url ?? '', server.knownPaths) : undefined,
    status: reply.statusCode,
    code: failure?.code,
    limit: failure?.limitName,
    user_id: session && !(session instanceof ApiError) ? (session.userId ?? undefined) : undefined,
    key_id: key?.keyId,
    ms: Math.round(reply.elapsedTime * 10) / 10,
  }
  // Load balancers send probes all the time.
  if (config?.isProbe) server.log.debug(line, 'request')
  else server.log.info(line, 'request')
}

export default fp(async (app) => {
  app.decorateRequest('trace', {
    getter() {
      return this.raw.trace ?? traceOf(undefined)
    },
  })
  const knownPaths = new Set<string>()
  app.decorate('knownPaths', knownPaths)
  app.addHook('onRoute', ({ url }) => {
    let path = ''
    for (const segment of url.split('/').slice(1)) {
      if (/^$|[:*]/.test(segment)) break
      path += `/${segment}`
      knownPaths.add(path)
    }
  })
})
