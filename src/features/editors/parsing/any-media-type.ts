/** Bodies that tools send with any media type, a malformed one, or none. */
import type { Readable } from 'node:stream'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'

/** Makes all routes of a scope read their bodies with one function, whatever their media type. */
export const readBodiesWith = (
  scope: Parameters<FastifyPluginAsyncTypebox>[0],
  read: (payload: Readable) => unknown,
): void => {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', async (_request: unknown, payload: Readable) => read(payload))
  // The framework would reject a malformed media type, and not call the function for an empty body.
  scope.addHook('onRequest', (request, _reply, done) => {
    if (request.method === 'POST') request.headers['content-type'] = 'application/octet-stream'
    done()
  })
}
