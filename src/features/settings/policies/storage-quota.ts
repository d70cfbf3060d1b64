import { limits } from '../../../../schemas/limits.js'
import { ApiError } from '../../../errors.js'
import type { Db } from '../../../platform/database/client.js'
import { isWithinQuota } from '../queries/storage-quota.js'

/**
 * Fails a transaction that exceeds a workspace's storage quota. Call it after everything that adds to the workspace,
 * and not after a change that only frees space, so that a full workspace can be emptied.
 * @param more how many bytes a change that wasn't made would add
 * @throws {ApiError} `workspace_full`
 */
export const requireStorageQuota = async (tx: Db, workspaceId: string, more = 0): Promise<void> => {
  const limit = limits.workspace_bytes
  if (!(await isWithinQuota(tx, workspaceId, limit - more)))
    throw new ApiError('workspace_full', { limit_bytes: limit })
}
