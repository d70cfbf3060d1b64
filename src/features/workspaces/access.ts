/** Access to the workspace in a request, for its members or only for its admins. */
import type { FastifyRequest } from 'fastify'
import type { Role } from '../../../schemas/common.js'
import type { Scope } from '../../../schemas/keys.js'
import { ApiError } from '../../errors.js'
import {
  type Access,
  anyCallerWith,
  anyPersonWith,
  type RequestPart,
  type SchemaOf,
} from '../../platform/access/access.js'
import { isUuid } from '../../platform/http/formats.js'
import type { WorkspaceCall } from './change-workspace.js'
import { canAccessWorkspace, requireRole } from './policies/rights.js'
import { readRole, readRoles } from './queries/members.js'

/** The part of a request that names the workspace. */
type WorkspaceSource = 'params.id' | 'query.workspace'

/** @param scopes those that admit an access key; without one, no key is admitted */
export const memberOf = (source: WorkspaceSource, ...scopes: Scope[]): Access<WorkspaceCall> => ({
  ...anyCallerWith(...scopes),
  callers: 'a member of the workspace',
  errors: ['workspace_not_found'],
  find: (request) => findMember(request, workspaceIn(request, source)),
  faultOf: (schemaOf) => faultOfSource(schemaOf, source),
})

/** @param scopes those that admit an access key; without one, no key is admitted */
export const adminOf = (source: WorkspaceSource, ...scopes: Scope[]): Access<WorkspaceCall> => ({
  ...anyCallerWith(...scopes),
  callers: 'an admin of the workspace',
  errors: ['workspace_not_found', 'admin_required'],
  find: (request) => findAdmin(request, workspaceIn(request, source)),
  faultOf: (schemaOf) => faultOfSource(schemaOf, source),
})

/**
 * Like `adminOf`, for a route that changes nothing with `dry_run=true`. @param dryRun a scope that admits an access key
 * only to a dry run
 */
export const adminOrDryRunOf = (
  source: WorkspaceSource,
  scope: Scope,
  dryRun: Scope,
): Access<WorkspaceCall> => ({ ...adminOf(source, scope), dryRunScopes: [dryRun] })

/** Access to a person's own data, on a route whose query may name one of their workspaces. */
export const memberIfWorkspaceGiven = (...scopes: Scope[]): Access<WorkspaceCall | undefined> => ({
  ...anyPersonWith(...scopes),
  callers: 'any signed-in caller; for a workspace, a member of it',
  errors: ['workspace_not_found'],
  find: async (request) => {
    const { workspace } = request.query as { workspace?: string }
    return workspace === undefined ? undefined : findMember(request, workspace)
  },
})

const partsOf = (source: string) => source.split('.') as [RequestPart, string]

const workspaceIn = (request: FastifyRequest, source: WorkspaceSource): string => {
  const [part, name] = partsOf(source)
  return (request[part] as Record<string, string>)[name] ?? ''
}

/** @throws {ApiError} `workspace_not_found` */
const findMembership = async (
  { server, key, memberId: userId }: FastifyRequest,
  workspace: string,
): Promise<{ role: Role; call: WorkspaceCall }> => {
  // In lower case like the database, so that locks and ETags use one spelling.
  const workspaceId = workspace.toLowerCase()
  if (key && !canAccessWorkspace(key, workspaceId)) throw new ApiError('workspace_not_found')
  const role = await readRole(server.db, workspaceId, userId)
  if (role === undefined) throw new ApiError('workspace_not_found')
  return { role, call: { workspaceId, userId, key } }
}

/** @throws {ApiError} `workspace_not_found` */
const findMember = async (request: FastifyRequest, workspace: string): Promise<WorkspaceCall> =>
  (await findMembership(request, workspace)).call

/** @throws {ApiError} `workspace_not_found`, `admin_required` */
const findAdmin = async (request: FastifyRequest, workspace: string): Promise<WorkspaceCall> => {
  const { role, call } = await findMembership(request, workspace)
  requireRole({ role }, 'admin')
  return call
}

const faultOfSource = (schemaOf: SchemaOf, source: string): string | undefined => {
  const [part, name] = partsOf(source)
  const schema = schemaOf(part, name)
  if (!schema) return `takes its workspace from ${part}.${name}, which it doesn’t require`
  if (schema.format !== 'uuid') return `takes its workspace from ${part}.${name}, which isn’t a UUID`
  return undefined
}

/** A caller's roles in all workspaces that the call reaches. */
export interface Roles extends Pick<WorkspaceCall, 'userId' | 'key'> {
  roles: ReadonlyMap<string, Role>
}

/**
 * Access to a workspace that the query or only the body names, as `workspace`. Callers who don't administer the query's, or
 * any, are rejected before the body is read, and others by `requireAdminIn` once the name is known.
 * @param scopes those that admit an access key
 */
export const adminOfNamedWorkspace = (...scopes: Scope[]): Access<Roles> => ({
  ...anyCallerWith(...scopes),
  callers: 'an admin of the workspace',
  errors: ['workspace_not_found', 'admin_required'],
  find: async ({ server, key, memberId: userId, query }) => {
    const all = await readRoles(server.db, userId)
    const reached = all.filter(({ workspaceId }) => !key || canAccessWorkspace(key, workspaceId))
    requireRole(reached.find(({ role }) => role === 'admin') ?? reached[0], 'admin')
    const roles = new Map(reached.map(({ workspaceId, role }) => [workspaceId, role]))
    const { workspace } = query as { workspace?: unknown }
    // The schema rejects any other one.
    if (typeof workspace === 'string' && isUuid(workspace.toLowerCase()))
      requireAdminIn({ userId, key, roles }, workspace)
    return { userId, key, roles }
  },
})

/** @throws {ApiError} `workspace_not_found`, `admin_required` */
export const requireAdminIn = ({ userId, key, roles }: Roles, workspace: string): WorkspaceCall => {
  const workspaceId = workspace.toLowerCase()
  const role = roles.get(workspaceId)
  requireRole(role && { role }, 'admin')
  return { workspaceId, userId, key }
}
