/** The rights of roles, access keys and organizations, and each person's quotas. */
import type { WorkspaceQuota } from '../../../../schemas/limits.js'
import { parsePatterns } from '../../../../schemas/repo-pattern.js'
import { ApiError } from '../../../errors.js'
import { requireRole } from '../../../platform/access/role.js'
import type { Db } from '../../../platform/database/client.js'
import { countWorkspacesOf, lockRole } from '../queries/members.js'

/**
 * An organization may add members only to a workspace that records its own repositories or those of its subgroups.
 * @throws {ApiError} `pattern_outside_organization`
 */
export const requireInsideOrganization = (organization: string, patterns: string[]): void => {
  const key = organization.toLowerCase()
  const isInside = ({ ownerKey }: { ownerKey: string }) => `${ownerKey}/`.startsWith(`${key}/`)
  if (!parsePatterns(patterns).every(isInside)) throw new ApiError('pattern_outside_organization')
}

/**
 * Only the caller's own actions are limited, so that an admin learns nothing about the members. Others may still add
 * patterns to the caller's workspaces. Reliable only after `lockPatternsOf`.
 * @throws {ApiError} `workspace_limit`
 */
export const requirePatternQuota = async (
  db: Db,
  userId: string,
  added: number,
  quota: WorkspaceQuota,
): Promise<void> => {
  const { patterns } = await countWorkspacesOf(db, userId)
  if (patterns + added > quota.patterns_per_person)
    throw new ApiError('workspace_limit', {
      detail: `The workspaces that you have created or joined can have at most ${quota.patterns_per_person} patterns together. Remove some, or leave or delete a workspace first.`,
    })
}

/**
 * Reliable only while the person is locked, and after `lockPatternsOf`.
 * @param patterns of the workspace that the person joins
 * @throws {ApiError} `workspace_limit`
 */
export const requireJoinQuota = async (
  db: Db,
  userId: string,
  patterns: number,
  quota: WorkspaceQuota,
): Promise<void> => {
  const { joined } = await countWorkspacesOf(db, userId)
  if (joined >= quota.workspaces_joined)
    throw new ApiError('workspace_limit', {
      detail: `You can be in at most ${quota.workspaces_joined} workspaces. Leave or delete one first.`,
    })
  await requirePatternQuota(db, userId, patterns, quota)
}

/** Requires quota for another workspace with this many patterns. @throws {ApiError} `workspace_limit` */
export const requireCreateQuota = async (
  db: Db,
  userId: string,
  patterns: number,
  quota: WorkspaceQuota,
): Promise<void> => {
  const { created } = await countWorkspacesOf(db, userId)
  if (created >= quota.workspaces_created)
    throw new ApiError('workspace_limit', {
      detail: `You can create at most ${quota.workspaces_created} workspaces, including those that you have left. Delete one first.`,
    })
  await requireJoinQuota(db, userId, patterns, quota)
}

/**
 * Requires an admin. Until the transaction ends, no one can demote or remove them, or delete the workspace.
 * @throws {ApiError} `workspace_not_found`, `admin_required`
 */
export const lockAdmin = async (tx: Db, workspaceId: string, userId: string): Promise<void> => {
  const role = await lockRole(tx, workspaceId, userId)
  requireRole(role && { role }, 'admin')
}
