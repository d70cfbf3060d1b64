/**
 * Enforces `config.access`, and puts the result on the request. Handlers have no other way to get it. Authentication
 * and the cookie's origin are checked before the body is read. Membership and role are read from the database after
 * validation, on every request.
 */
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { Scope } from '../../../schemas/keys.js'
import { ApiError } from '../../errors.js'
import type { Access } from './access.js'
import { isFromTrustedOrigin } from './caller.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** The result of the route's access check. */
    grant: { access: Access; found: unknown } | null
    /** @throws when the route has another access */
    granted<Found>(access: Access<Found>): Found
  }
}

const unsafeMethods = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])

/** Why an access key is rejected: the route admits no keys, or the key lacks the scope. */
const keyRejectionOf = (
  { scopes = [], personalKeysOnly = false }: Access,
  key: { scopes: readonly Scope[]; userId: string | null },
): ApiError | undefined => {
  const admitting = personalKeysOnly && key.userId === null ? [] : scopes
  if (admitting.some((scope) => key.scopes.includes(scope))) return undefined
  return new ApiError('scope_missing', { scope: admitting[0] ?? null })
}

export default fp(
  async (app) => {
    const rejectionOf = (request: FastifyRequest): ApiError | undefined => {
      const { access } = request.routeOptions.config
      if (!access) return undefined
      const { session, key } = request
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
      return (key && keyRejectionOf(access, key)) ?? access.admit?.(request)
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
