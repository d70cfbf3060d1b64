/** What a role in a workspace allows; the one place where roles are compared. */
import type { Role } from '../../schemas/common.js'
import type { Db } from '../db/client.js'
import { ApiError } from '../errors.js'
import { lockRole } from '../queries/members.js'
import { readUser, type User } from '../queries/users.js'

/** Undefined is the role of who is not in the workspace: to them it does not exist. @throws {ApiError} */
export const requireRole = (role: Role | undefined, wanted: Role): void => {
  if (role === undefined) throw new ApiError('workspace_not_found')
  if (wanted === 'admin' && role !== 'admin') throw new ApiError('admin_required')
}

/** Decides again within a transaction, and for good: until it ends, the caller keeps the role. @throws {ApiError} */
export const holdRole = async (tx: Db, workspaceId: string, userId: string, wanted: Role): Promise<User> => {
  const role = await lockRole(tx, workspaceId, userId)
  const caller = await readUser(tx, userId)
  if (!caller) throw new ApiError('token_invalid')
  requireRole(role, wanted)
  return caller
}
