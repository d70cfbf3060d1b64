import { limits } from '../../schemas/limits.js'
import type { Db } from '../db/client.js'
import { ApiError } from '../errors.js'
import { isWithinRoom } from '../queries/room.js'

/**
 * Ends a transaction that has made settings of the workspace larger than it may: asked last, and of nothing that got
 * smaller, because that is how a full workspace is emptied.
 * @throws {ApiError} `workspace_full`
 */
export const requireRoom = async (tx: Db, workspaceId: string): Promise<void> => {
  const limit = limits.workspace_bytes
  if (!(await isWithinRoom(tx, workspaceId, limit))) {
    throw new ApiError('workspace_full', { limit_bytes: limit })
  }
}
