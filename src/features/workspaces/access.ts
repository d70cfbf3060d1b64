/** Access to a workspace that the request names, for its members or only for its admins. */
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { Role } from '../../../schemas/common.js'
import { type Access, anyCaller, type RequestPart } from '../../platform/access/access.js'
import { requireRole } from './policies/roles.js'
import { readRole } from './queries/members.js'

/** Who calls, and in which role in which workspace. */
export interface Membership {
  workspaceId: string
  userId: string
  role: Role
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Of a route whose access is `memberOf` or `adminOf`. */
    readonly membership: Membership
  }
}

/** Where a request names its workspace. */
type WorkspaceSource = 'params.id' | 'query.workspace' | 'body.workspace'

export const memberOf = (source: WorkspaceSource): Access<Membership> => workspaceAccess('member', source)
export const adminOf = (source: WorkspaceSource): Access<Membership> => workspaceAccess('admin', source)

const accesses = new WeakSet<Access>()

const workspaceAccess = (role: Role, source: WorkspaceSource): Access<Membership> => {
  const [part, name] = source.split('.') as [RequestPart, string]
  const access: Access<Membership> = {
    ...anyCaller,
    callers: role === 'admin' ? 'an admin of the workspace' : 'a member of the workspace',
    errors: role === 'admin' ? ['workspace_not_found', 'admin_required'] : ['workspace_not_found'],
    find: async (request: FastifyRequest) => {
      // As the database writes it, so that a workspace has one spelling in locks and ETags.
      const workspaceId = (request[part] as Record<string, string>)[name]?.toLowerCase() ?? ''
      const { userId } = request.caller
      const current = await readRole(request.server.db, workspaceId, userId)
      return { workspaceId, userId, ...requireRole(current && { role: current }, role) }
    },
    faultOf: (schemaOf) => {
      const schema = schemaOf(part, name)
      if (!schema) return `takes its workspace from ${source}, which it does not require`
      if (schema.format !== 'uuid') return `takes its workspace from ${source}, which is no uuid`
      return undefined
    },
  }
  accesses.add(access)
  return access
}

export default fp(
  async (app) => {
    app.decorateRequest('membership', {
      getter() {
        if (!this.grant || !accesses.has(this.grant.access))
          throw new Error('The route has no access to a workspace')
        return this.grant.found as Membership
      },
    })
  },
  { name: 'workspace-access', dependencies: ['access'] },
)
