import type { Role } from '../../../schemas/common.js'
import { ApiError } from '../../errors.js'
import type { Database, Db } from '../../platform/database/client.js'
import { requireRole } from './policies/roles.js'
import { insertAuditEntry, type Person } from './queries/audit.js'
import { readOwnMembership } from './queries/members.js'
import { lockWorkspace } from './queries/workspaces.js'

/** Which workspace, and who changes it. */
export interface WorkspaceCall {
  workspaceId: string
  userId: string
}

export interface Change {
  tx: Db
  caller: { id: string; login: string; role: Role }
  workspace: { name: string; personal: boolean }
  /** Writes an entry of the audit trail in the caller's name. */
  record(action: string, target?: string | Person, details?: Record<string, unknown>): Promise<void>
}

/**
 * Runs `work` on a workspace that no other such change touches meanwhile, for a caller who has the role now.
 * @throws {ApiError} `workspace_not_found`, `admin_required`
 */
export const changeWorkspace = <T>(
  database: Database,
  { workspaceId, userId }: WorkspaceCall,
  wanted: Role,
  work: (change: Change) => Promise<T>,
): Promise<T> =>
  database.transaction(async (tx) => {
    const workspace = await lockWorkspace(tx, workspaceId)
    if (!workspace) throw new ApiError('workspace_not_found')
    const member = requireRole(await readOwnMembership(tx, workspaceId, userId), wanted)
    const caller = { id: userId, ...member }
    const record: Change['record'] = (action, target, details) =>
      insertAuditEntry(tx, {
        workspaceId,
        actor: caller,
        action,
        target,
        ...(details && { details }),
      })
    return work({ tx, caller, workspace, record })
  })
