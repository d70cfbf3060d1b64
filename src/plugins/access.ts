/**
 * Enforces what `policies/access.ts` declares. Authentication and the cookie's origin come before the body is read;
 * membership and role after validation, read from the database on every request.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyRequest, RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import type { ErrorCode } from '../../schemas/errors.js'
import { ApiError } from '../errors.js'
import type { HeaderName } from '../openapi/headers.js'
import { type Access, needsSession, type WorkspacePart } from '../policies/access.js'
import { requireRole } from '../policies/roles.js'
import { readRole } from '../queries/members.js'
import { callerOf } from './session.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: Access
    /** Throws for what no schema can state; a request is valid before anybody asks who may make it. */
    validate?: (request: FastifyRequest) => unknown
    /** Codes that this route can answer beyond those that follow from its access and schema. */
    errors?: readonly ErrorCode[]
    /** Headers of its successful answers, beyond those that follow from its schema. */
    headers?: readonly HeaderName[]
    /** Behind the Pro gate (set by the scope that has the gate). */
    pro?: boolean
    /** Part of the small document that the reference shows first. */
    core?: boolean
    /** A limit of its own (`plugins/rate-limit.ts`). */
    limit?: 'signIn' | 'invite' | 'hostToken' | 'none'
    /** False: it never waits for the database, so it takes none of a caller's share (`plugins/fair-share.ts`) and is always available. */
    asksDatabase?: boolean
    /** Asked by balancers, and answered whatever callers do. */
    isProbe?: boolean
  }
}

const unsafeMethods = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])

export default fp(
  async (app) => {
    const adminKeys = app.config.adminKeys.map(digest)

    const routes: RouteOptions[] = []
    app.addHook('onRoute', (route) => {
      routes.push(route)
    })
    // Not before: the scope of the reference declares the access of its files in a hook of its own.
    app.addHook('onReady', async () => {
      for (const route of routes) {
        const fault = faultOf(route)
        if (fault) throw new Error(`${route.method} ${route.url} ${fault}`)
      }
    })

    const refusalOf = (request: FastifyRequest): ApiError | undefined => {
      const { access } = request.routeOptions.config
      if (!access) return undefined
      const { session } = request
      if (session instanceof ApiError) {
        if (needsSession(access)) return session
      } else if (
        request.sessionFromCookie &&
        access.kind !== 'billingSignature' &&
        unsafeMethods.has(request.method) &&
        !isFromTrustedOrigin(request)
      ) {
        return new ApiError('csrf_rejected')
      }
      const keyed = access.kind !== 'adminKey' || isAdminKey(request, adminKeys)
      return keyed ? undefined : new ApiError('admin_key_invalid')
    }
    app.addHook('onRequest', (request, _reply, done) => done(refusalOf(request)))

    const authorise = async (request: FastifyRequest) => {
      const { access, validate } = request.routeOptions.config
      await validate?.(request)
      if (access?.kind !== 'workspace') return
      const role = await readRole(app.db, access.workspaceOf(request), callerOf(request).userId)
      requireRole(role && { role }, access.role)
    }
    app.addHook('preHandler', (request, _reply, done) => {
      const { access, validate } = request.routeOptions.config
      if (!validate && access?.kind !== 'workspace') return done()
      authorise(request).then(() => done(), done)
    })
  },
  { name: 'access', dependencies: ['session'] },
)

/** Why a route must not be served, if it must not. */
const faultOf = ({ config, schema }: RouteOptions): string | undefined => {
  const access = config?.access
  if (!access) return 'declares no access'
  if (access.kind !== 'workspace') return undefined
  const [part, name] = access.source.split('.') as [WorkspacePart, string]
  const schemas = { params: schema?.params, query: schema?.querystring, body: schema?.body }
  const { required = [] } = (schemas[part] ?? {}) as { required?: string[] }
  return required.includes(name)
    ? undefined
    : `takes its workspace from ${access.source}, which it does not require`
}

/** Whether a page of a dashboard, or of the service itself, makes this call: what a browser says and no page can change. */
export const isFromTrustedOrigin = ({ headers, server }: FastifyRequest): boolean =>
  headers.origin === undefined
    ? headers['sec-fetch-site'] === 'same-origin'
    : server.config.trustedOrigins.includes(headers.origin)

const digest = (text: string) => createHash('sha256').update(text).digest()

/** Compares digests, so that the time says nothing about a key, nor about its length. */
const isAdminKey = (request: FastifyRequest, keys: Buffer[]): boolean => {
  const given = request.headers['x-service-admin-key'] ?? (request.query as { key?: unknown }).key
  if (typeof given !== 'string' || given === '') return false
  const candidate = digest(given)
  return keys.filter((key) => timingSafeEqual(key, candidate)).length > 0
}
