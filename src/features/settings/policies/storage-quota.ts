import { limits } from '../../../../schemas/limits.js'
import { ApiError } from '../../../errors.js'
import type { Db } from '../../../platform/database/client.js'
import { isWithinQuota, lockStorageQuota } from '../queries/storage-quota.js'

/**
 * Fails a transaction that exceeds a workspace's storage quota. Call it after everything that adds to the workspace,
 * and not after a change that only frees space, so that a full workspace can be emptied.
 * @throws {ApiError} `workspace_full`
 */
export const requireStorageQuota = async (tx: Db, workspaceId: string): Promise<void> => {
  // Sent together. The sum is read once the lock is held.
  const [, isWithin] = await Promise.all([
    lockStorageQuota(tx, workspaceId),
    isWithinQuota(tx, workspaceId, limits.workspace_bytes),
  ])
  if (!isWithin) throw workspaceFull()
}

/** The storage quota, for a change of one text that may have become shorter. @throws {ApiError} `workspace_full` */
export const requireQuotaIfGrown = async (
  tx: Db,
  workspaceId: string,
  before: { sizeBytes: number } | undefined,
  after: { sizeBytes: number },
): Promise<void> => {
  if (after.sizeBytes > (before?.sizeBytes ?? 0)) await requireStorageQuota(tx, workspaceId)
}

/**
 * Checks the storage quota for a change that isn't made. Locks nothing.
 * @param more how many bytes it would add
 * @throws {ApiError} `workspace_full`
 */
export const requireStorageFor = async (db: Db, workspaceId: string, more: number): Promise<void> => {
  if (!(await isWithinQuota(db, workspaceId, limits.workspace_bytes - more))) throw workspaceFull()
}

const workspaceFull = () => new ApiError('workspace_full', { limit_bytes: limits.workspace_bytes })
