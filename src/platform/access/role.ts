import type { Role } from '../../../schemas/common.js'
import { ApiError } from '../../errors.js'

/**
 * Without a membership (undefined), the workspace isn't found.
 * @throws {ApiError} `workspace_not_found`, `admin_required`
 */
export const requireRole = <M extends { role: Role }>(member: M | undefined, wanted: Role): M => {
  if (member === undefined) throw new ApiError('workspace_not_found')
  if (wanted === 'admin' && member.role !== 'admin') throw new ApiError('admin_required')
  return member
}
