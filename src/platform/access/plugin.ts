/**
 * Enforces `config.access`, and puts what it found on the request: the only way for a handler to get at it.
 * Authentication and the cookie's origin come before the body is read; membership and role after validation, from the
 * database on every request.
 */
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { ApiError } from '../../errors.js'
import type { Access } from './access.js'
import { isFromTrustedOrigin } from './trusted-origin.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** What the access of a route has found. */
    grant: { access: Access; found: unknown } | null
    /** @throws when the route has another access */
    granted<Found>(access: Access<Found>): Found
  }
}

const unsafeMethods = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])

export default fp(
  async (app) => {
    const rejectionOf = (request: FastifyRequest): ApiError | undefined => {
      const { access } = request.routeOptions.config
      if (!access) return undefined
      const { session } = request
      if (session instanceof ApiError) {
        if (access.credential === 'session') return session
      } else if (
        request.sessionFromCookie &&
        access.usesSession &&
        unsafeMethods.has(request.method) &&
        !isFromTrustedOrigin(request)
      ) {
        return new ApiError('csrf_rejected')
      }
      return access.admit?.(request)
    }
    app.addHook('onRequest', (request, _reply, done) => done(rejectionOf(request)))

    app.decorateRequest('grant', null)
    app.decorateRequest('granted', function <Found>(this: FastifyRequest, access: Access<Found>) {
      if (this.grant?.access !== access) throw new Error('The route has another access')
      return this.grant.found as Found
    })

    const authorise = async (request: FastifyRequest) => {
      const { access, validate } = request.routeOptions.config
      await validate?.(request)
      if (access) request.grant = { access, found: await access.find?.(request) }
    }
    app.addHook('preHandler', (request, _reply, done) => {
      const { access, validate } = request.routeOptions.config
      if (!validate && !access?.find) return done()
      authorise(request).then(() => done(), done)
    })
  },
  { name: 'access', dependencies: ['session'] },
)
