/**
 * Enforces `config.access`, and puts what it found on the request: the only way for a handler to get at it.
 * Authentication and the cookie's origin come before the body is read; membership and role after validation, from the
 * database on every request.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { Role } from '../../../schemas/common.js'
import { repoKeysOf } from '../../../schemas/repo-keys.js'
import { ApiError } from '../../errors.js'
import { requireRole } from '../../features/workspaces/policies/roles.js'
import { readRole } from '../../features/workspaces/queries/members.js'
import { type Access, mayUseSession, needsSession, type RepoAccess, type RepoRequest } from './kinds.js'
import { isFromTrustedOrigin } from './trusted-origin.js'

/** Who calls, and in which role in which workspace. */
export interface Membership {
  workspaceId: string
  userId: string
  role: Role
}

declare module 'fastify' {
  interface FastifyRequest {
    /** What the access of a route has found. */
    grant: { access: Access; found: unknown } | null
    /** Of a route whose access names a workspace. */
    readonly membership: Membership
    /** What the decision about a repository has found. */
    granted<Found>(access: RepoAccess<Found>): Found
  }
}

const unsafeMethods = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])

export default fp(
  async (app) => {
    const adminKeys = app.config.adminKeys.map(digest)

    const refusalOf = (request: FastifyRequest): ApiError | undefined => {
      const { access } = request.routeOptions.config
      if (!access) return undefined
      const { session } = request
      if (session instanceof ApiError) {
        if (needsSession(access)) return session
      } else if (
        request.sessionFromCookie &&
        mayUseSession(access) &&
        unsafeMethods.has(request.method) &&
        !isFromTrustedOrigin(request)
      ) {
        return new ApiError('csrf_rejected')
      }
      const keyed = access.kind !== 'adminKey' || isAdminKey(request, adminKeys)
      return keyed ? undefined : new ApiError('admin_key_invalid')
    }
    app.addHook('onRequest', (request, _reply, done) => done(refusalOf(request)))

    app.decorateRequest('grant', null)
    app.decorateRequest('membership', {
      getter() {
        if (this.grant?.access.kind !== 'workspace') throw new Error('The route has no access to a workspace')
        return this.grant.found as Membership
      },
    })
    app.decorateRequest('granted', function <Found>(this: FastifyRequest, access: RepoAccess<Found>) {
      if (this.grant?.access !== access) throw new Error('The route has another access')
      return this.grant.found as Found
    })

    // Nobody's short reads wait behind those of a caller whose requests take long.
    const apart = { ...app.database, hot: app.database.read }
    const find = async (request: FastifyRequest, access: Access): Promise<unknown> => {
      if (access.kind === 'repo') {
        const database = request.work?.isLight === false ? apart : app.database
        return access.decide(database, repoRequestOf(request, access))
      }
      if (access.kind !== 'workspace') return undefined
      const workspaceId = access.workspaceOf(request)
      const { userId } = request.caller
      const role = await readRole(app.db, workspaceId, userId)
      return { workspaceId, userId, ...requireRole(role && { role }, access.role) } satisfies Membership
    }
    const authorise = async (request: FastifyRequest) => {
      const { access, validate } = request.routeOptions.config
      await validate?.(request)
      if (access) request.grant = { access, found: await find(request, access) }
    }
    app.addHook('preHandler', (request, _reply, done) => {
      const { access, validate } = request.routeOptions.config
      if (!validate && access?.kind !== 'workspace' && access?.kind !== 'repo') return done()
      authorise(request).then(() => done(), done)
    })
  },
  { name: 'access', dependencies: ['session'] },
)

const repoRequestOf = (request: FastifyRequest, { source }: RepoAccess): RepoRequest => {
  const query = request.query as { repo: string; workspace?: string }
  const [owner = '', repo = ''] =
    source === 'params'
      ? [(request.params as RepoRequest).owner, (request.params as RepoRequest).repo]
      : query.repo.split('/')
  return {
    owner,
    repo,
    question: {
      userId: request.caller.userId,
      ...repoKeysOf({ owner, repo }),
      workspaceId: query.workspace,
    },
    ifNoneMatch: request.headers['if-none-match'],
  }
}

const digest = (text: string) => createHash('sha256').update(text).digest()

/** Compares digests, so that the time says nothing about a key, nor about its length. */
const isAdminKey = (request: FastifyRequest, keys: Buffer[]): boolean => {
  const given = request.headers['x-service-admin-key'] ?? (request.query as { key?: unknown }).key
  if (typeof given !== 'string' || given === '') return false
  const candidate = digest(given)
  return keys.filter((key) => timingSafeEqual(key, candidate)).length > 0
}
