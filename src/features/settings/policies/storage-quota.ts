import { limits } from '../../../../schemas/limits.js'
import { ApiError } from '../../../errors.js'
import type { Db } from '../../../platform/database/client.js'
import { isWithinQuota } from '../queries/storage-quota.js'

/**
 * Fails a transaction that exceeds a workspace's storage quota. Call it last, and not after a change that only frees
 * space, so that a full workspace can be emptied.
 * @throws {ApiError} `workspace_full`
 */
export const requireStorageQuota = (tx: Db, workspaceId: string): Promise<void> =>
  requireStorageQuotaWith(tx, workspaceId, 0)

/** The same before a change. @param bytes how many the change would add */
export const requireStorageQuotaWith = async (tx: Db, workspaceId: string, bytes: number): Promise<void> => {
  const limit = limits.workspace_bytes
  if (!(await isWithinQuota(tx, workspaceId, limit - bytes))) {
    throw new ApiError('workspace_full', { limit_bytes: limit })
  }
}
