import type { Role } from '../../schemas/common.js'
import type { Workspace } from '../../schemas/workspaces.js'
import type { Database, Db } from '../db/client.js'
import { theRow } from '../db/the-row.js'
import { parsePatterns } from '../domain/repo-pattern.js'
import { ApiError } from '../errors.js'
import { requireRole } from '../policies/roles.js'
import { insertAuditEntry } from '../queries/audit.js'
import { readOwnMembership } from '../queries/members.js'
import {
  deletePatterns,
  hideWorkspace,
  insertPatterns,
  listPatterns,
  listWorkspacesOf,
  lockWorkspace,
  renameWorkspace as updateName,
} from '../queries/workspaces.js'

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
  record(action: string, target?: string, details?: Record<string, unknown>): Promise<void>
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
        actor: caller.login,
        action,
        ...(target !== undefined && { target }),
        ...(details && { details }),
      })
    return work({ tx, caller, workspace, record })
  })

export const renameWorkspace = (
  database: Database,
  call: WorkspaceCall,
  newName: string,
): Promise<Workspace> =>
  changeWorkspace(database, call, 'admin', async ({ tx, workspace, record }) => {
    const name = newName.trim()
    if (name !== workspace.name) {
      await updateName(tx, call.workspaceId, name)
      await record('workspace.renamed', undefined, { before: workspace.name, after: name })
    }
    return theRow(await listWorkspacesOf(tx, call.userId, [call.workspaceId]))
  })

/** Nobody sees anything of it from then on; its rows are removed in the background. */
export const deleteWorkspace = (database: Database, call: WorkspaceCall): Promise<void> =>
  changeWorkspace(database, call, 'admin', ({ tx }) => hideWorkspace(tx, call.workspaceId))

/** The patterns are known to be valid and different from each other. */
export const replacePatterns = (
  database: Database,
  call: WorkspaceCall,
  patterns: string[],
): Promise<string[]> =>
  changeWorkspace(database, call, 'admin', async ({ tx, record }) => {
    const before = await listPatterns(tx, call.workspaceId)
    if (JSON.stringify(before) === JSON.stringify(patterns)) return before
    await deletePatterns(tx, call.workspaceId)
    await insertPatterns(tx, call.workspaceId, parsePatterns(patterns))
    await record('patterns.replaced', undefined, { before, after: patterns })
    return patterns
  })
