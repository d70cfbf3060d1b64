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
import { requireRole } from '../../platform/access/role.js'
import { canAccessWorkspace } from '../keys/index.js'
import type { WorkspaceCall } from './change-workspace.js'
import { readRole } from './queries/members.js'

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
