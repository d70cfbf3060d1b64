/** Access to uploads, whose body may be the first to name the workspace. */
import type { Role } from '../../../schemas/common.js'
import type { Scope } from '../../../schemas/keys.js'
import { type Access, anyCallerWith } from '../../platform/access/access.js'
import { requireRole } from '../../platform/access/role.js'
import { isUuid } from '../../platform/http/formats.js'
import { canAccessWorkspace } from '../keys/index.js'
import type { WorkspaceCall } from '../workspaces/index.js'
import { readRoles } from './queries/roles.js'

/** A caller's roles in all workspaces that the call reaches. */
interface Roles extends Pick<WorkspaceCall, 'userId' | 'key'> {
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
