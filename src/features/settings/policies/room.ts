import { limits } from '../../../../schemas/limits.js'
import { ApiError } from '../../../errors.js'
import type { Db } from '../../../platform/database/client.js'
import { isWithinRoom } from '../queries/room.js'

/**
 * Fails a transaction that has taken a workspace beyond its room. To be called last, and not after a change that made
 * something smaller, or a full workspace could not be emptied.
 * @throws {ApiError} `workspace_full`
 */
export const requireRoom = async (tx: Db, workspaceId: string): Promise<void> => {
  const limit = limits.workspace_bytes
  if (!(await isWithinRoom(tx, workspaceId, limit))) {
    throw new ApiError('workspace_full', { limit_bytes: limit })
  }
}
