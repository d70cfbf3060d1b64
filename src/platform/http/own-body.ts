/**
 * Bodies that handlers read themselves, because they're large or have no media type to rely on. Nothing has been read or
 * parsed before the handler runs, so access and everything else in the request is checked first.
 */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { payersOf } from '../rate-limits/payers.js'
import { timeoutFault } from './connections.js'

export type Scope = Parameters<FastifyPluginAsyncTypebox>[0]

/** Leaves bodies of these media types to the scope's handlers, which read `request.raw`. Others are rejected. */
export const disableBodyParsing = (scope: Scope, types: string[]): void => {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser(types, (_request, _payload, done) => done(null))
  scope.addHook('onRoute', ({ method, url, schema }) => {
    if (schema?.body)
      throw new Error(`${method} ${url} has a schema for its body, which its scope doesn’t parse`)
  })
}

/** The same for all bodies: tools send any media type, a malformed one, or none. Handlers see none. */
export const disableAllBodyParsing = (scope: Scope): void => {
  disableBodyParsing(scope, ['*'])
  // Fastify answers 415 to a malformed media type before it looks for a parser, even one for all types. The
  // only way to make it ignore the header is to remove it.
  scope.addHook('onRequest', (request, _reply, done) => {
    delete request.headers['content-type']
    done()
  })
}

/** Call it once the body has arrived. A request that was rejected as too slow has no effect. @throws {ApiError} `request_timeout` */
export const requireTimelyBody = (request: FastifyRequest): void => {
  const fault = timeoutFault(request)
  if (fault) throw fault
}

/**
 * Begins a known caller's work on a route with `readsBody`, once the body has been read, so that slow connections neither
 * count nor block others.
 * @throws {ApiError} `rate_limited`, `request_timeout`
 */
export const beginWork = async (request: FastifyRequest): Promise<void> => {
  requireTimelyBody(request)
  request.work = await request.server.rateLimits.beginWork(await payersOf(request))
}
