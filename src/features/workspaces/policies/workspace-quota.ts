/** How many workspaces a person may create, and be in. People who have more keep them. */
import type { AdjustedLimits } from '../../../../schemas/limits.js'
import { ApiError } from '../../../errors.js'
import type { Db } from '../../../platform/database/client.js'
import { countWorkspacesOf } from '../queries/members.js'

export type WorkspaceQuota = Pick<AdjustedLimits, 'workspaces_created' | 'workspaces_joined'>

/** Certain only while the person is locked. @throws {ApiError} `workspace_limit` */
export const requireRoomToJoin = async (db: Db, userId: string, quota: WorkspaceQuota): Promise<void> => {
  const { joined } = await countWorkspacesOf(db, userId)
  if (joined >= quota.workspaces_joined)
    throw new ApiError('workspace_limit', {
      detail: `You can be in at most ${quota.workspaces_joined} workspaces. Leave or delete one first.`,
    })
}

/** Certain only while the person is locked. @throws {ApiError} `workspace_limit` */
export const requireRoomToCreate = async (db: Db, userId: string, quota: WorkspaceQuota): Promise<void> => {
  const { created } = await countWorkspacesOf(db, userId)
  if (created >= quota.workspaces_created)
    throw new ApiError('workspace_limit', {
      detail: `You can create at most ${quota.workspaces_created} workspaces, and those that you have left count as well. Delete one first.`,
    })
  await requireRoomToJoin(db, userId, quota)
}
