import { limits } from '../../../../schemas/limits.js'
import { ApiError } from '../../../errors.js'
import type { Db } from '../../../platform/database/client.js'
import { isWithinQuota } from '../queries/storage-quota.js'

/**
 * Fails a transaction that exceeds the storage quota of a workspace. Call it last, and not after a change that made
 * something smaller, or a full workspace couldn't be emptied.
 * @throws {ApiError} `workspace_full`
 */
export const requireStorageQuota = (tx: Db, workspaceId: string): Promise<void> =>
  requireStorageQuotaWith(tx, workspaceId, 0)

/** The same before a change. @param bytes that the change would add */
export const requireStorageQuotaWith = async (tx: Db, workspaceId: string, bytes: number): Promise<void> => {
  const limit = limits.workspace_bytes
  if (!(await isWithinQuota(tx, workspaceId, limit - bytes))) {
    throw new ApiError('workspace_full', { limit_bytes: limit })
  }
}
