/** The rights of roles, access keys and organizations, and each person's quotas. */
import type { Role } from '../../../../schemas/common.js'
import type { AdjustedLimits } from '../../../../schemas/limits.js'
import { parsePatterns } from '../../../../schemas/repo-pattern.js'
import { ApiError } from '../../../errors.js'
import type { KeyInUse } from '../../../platform/access/caller.js'
import type { Db } from '../../../platform/database/client.js'
import { countWorkspacesOf } from '../queries/members.js'

/** A workspace key reaches only that workspace. A personal key reaches all of the person's workspaces. */
export const reaches = ({ workspaceId }: KeyInUse, wanted: string): boolean =>
  workspaceId === null || workspaceId === wanted

/** How records name a workspace key, which doesn't act for a person. */
export const nameOfKey = ({ name }: { name: string }): string => `key ${name}`

/**
 * An organization may add members only to a workspace that records its own repositories or those of its subgroups.
 * @throws {ApiError} `pattern_outside_organization`
 */
export const requireInsideOrganization = (organization: string, patterns: string[]): void => {
  const key = organization.toLowerCase()
  const isInside = ({ ownerKey }: { ownerKey: string }) => `${ownerKey}/`.startsWith(`${key}/`)
  if (!parsePatterns(patterns).every(isInside)) throw new ApiError('pattern_outside_organization')
}

/** How many workspaces a person may create, and be in. People who have more keep them. */
export type WorkspaceQuota = Pick<AdjustedLimits, 'workspaces_created' | 'workspaces_joined'>

/** Reliable only while the person is locked. @throws {ApiError} `workspace_limit` */
export const requireJoinQuota = async (db: Db, userId: string, quota: WorkspaceQuota): Promise<void> => {
  const { joined } = await countWorkspacesOf(db, userId)
  if (joined >= quota.workspaces_joined)
    throw new ApiError('workspace_limit', {
      detail: `You can be in at most ${quota.workspaces_joined} workspaces. Leave or delete one first.`,
    })
}

/** Reliable only while the person is locked. @throws {ApiError} `workspace_limit` */
export const requireCreateQuota = async (db: Db, userId: string, quota: WorkspaceQuota): Promise<void> => {
  const { created } = await countWorkspacesOf(db, userId)
  if (created >= quota.workspaces_created)
    throw new ApiError('workspace_limit', {
      detail: `You can create at most ${quota.workspaces_created} workspaces, including those that you have left. Delete one first.`,
    })
  await requireJoinQuota(db, userId, quota)
}

/** Without a membership (undefined), the workspace isn't found. @throws {ApiError} */
export const requireRole = <M extends { role: Role }>(member: M | undefined, wanted: Role): M => {
  if (member === undefined) throw new ApiError('workspace_not_found')
  if (wanted === 'admin' && member.role !== 'admin') throw new ApiError('admin_required')
  return member
}
