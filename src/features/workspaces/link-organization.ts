import type { Organization, OrganizationBody } from '../../../schemas/organizations.js'
import { ApiError } from '../../errors.js'
import type { Database, Db } from '../../platform/database/client.js'
import type { HostOrganization } from '../../platform/hosts/kind.js'
import { changeWorkspace, type WorkspaceCall } from './change-workspace.js'
import { requireInsideOrganization } from './policies/rights.js'
import { lockRoles } from './queries/members.js'
import {
  deleteOrganization,
  deleteOrganizationMembers,
  readOrganization,
  writeOrganization,
} from './queries/organizations.js'
import { listPatterns } from './queries/workspaces.js'

/** A link's details in the audit trail. */
const describeLink = ({ organization, organization_id, join, leave }: Organization) => ({
  organization,
  organization_id,
  join,
  leave,
})

/** The link, which must exist. @throws {ApiError} `organization_not_found` */
export const requireOrganization = async (db: Db, workspaceId: string): Promise<Organization> => {
  const link = await readOrganization(db, workspaceId)
  if (!link) throw new ApiError('organization_not_found')
  return link
}

/** @throws {ApiError} `pattern_outside_organization` */
export const requireLinkable = async (
  db: Db,
  workspaceId: string,
  { organization, join }: OrganizationBody,
): Promise<void> => {
  if (join === 'member') requireInsideOrganization(organization, await listPatterns(db, workspaceId))
}

/**
 * @param found the organization that the body names, which the caller owns or administers
 * @throws {ApiError} `personal_workspace`, `pattern_outside_organization`
 */
export const linkOrganization = (
  database: Database,
  call: WorkspaceCall,
  body: OrganizationBody,
  { id, name }: HostOrganization,
): Promise<Organization> => {
  const { join = 'nobody', leave = 'keep' } = body
  return changeWorkspace(database, call, 'admin', async ({ tx, caller, workspace, record }) => {
    // No one else can be in it, and pushes add the login of its owner to its patterns.
    if (workspace.personal) throw new ApiError('personal_workspace')
    // People who join in the meantime lock the roles and rely on the link.
    await lockRoles(tx, call.workspaceId)
    await requireLinkable(tx, call.workspaceId, body)
    const before = await readOrganization(tx, call.workspaceId)
    if (before?.organization_id !== id) await deleteOrganizationMembers(tx, call.workspaceId)
    await writeOrganization(tx, {
      workspaceId: call.workspaceId,
      hostId: id,
      name,
      joins: join,
      leaves: leave,
      linkedBy: caller.id,
    })
    const after = await readOrganization(tx, call.workspaceId)
    if (!after) throw new Error('The link that was just written isn’t there')
    await record('organization.linked', name, {
      before: before ? describeLink(before) : null,
      after: describeLink(after),
    })
    return after
  })
}

/** @throws {ApiError} `organization_not_found` */
export const unlinkOrganization = (database: Database, call: WorkspaceCall): Promise<void> =>
  changeWorkspace(database, call, 'admin', async ({ tx, record }) => {
    await lockRoles(tx, call.workspaceId)
    const before = await requireOrganization(tx, call.workspaceId)
    await deleteOrganization(tx, call.workspaceId)
    await deleteOrganizationMembers(tx, call.workspaceId)
    await record('organization.unlinked', before.organization, { before: describeLink(before) })
  })
