import type { PrivacyLevel } from '../../../schemas/common.js'
import type { Invite } from '../../../schemas/invites.js'
import { limits, type WorkspaceQuota } from '../../../schemas/limits.js'
import { parsePatterns } from '../../../schemas/repo-pattern.js'
import type { CreateWorkspaceBody, Workspace } from '../../../schemas/workspaces.js'
import type { Database } from '../../platform/database/client.js'
import { singleRow } from '../../platform/database/statement.js'
import { lockCaller } from '../accounts/index.js'
import { changeWorkspace, type WorkspaceCall } from './change-workspace.js'
import { requireCreateQuota } from './policies/rights.js'
import { insertAuditEntry } from './queries/audit.js'
import { insertInvite } from './queries/invites.js'
import { insertMember, lockPatternsOf } from './queries/members.js'
import {
  insertPatterns,
  insertWorkspace,
  listWorkspacesOf,
  lockWorkspace,
  markWorkspaceDeleted,
  updateName,
} from './queries/workspaces.js'

/**
 * The caller becomes its admin, and gets a first invite. @param privacy the default level. @throws {ApiError}
 * `workspace_limit`
 */
export const createWorkspace = (
  database: Database,
  { privacy, quota }: { privacy: PrivacyLevel; quota: WorkspaceQuota },
  userId: string,
  { name, patterns = [], activity_privacy = privacy }: CreateWorkspaceBody,
): Promise<{ workspace: Workspace; invite: Invite }> =>
  database.transaction(async (tx) => {
    const caller = await lockCaller(tx, userId)
    await lockPatternsOf(tx, userId)
    await requireCreateQuota(tx, userId, patterns.length, quota)
    const id = await insertWorkspace(tx, { name: name.trim(), privacy: activity_privacy, createdBy: userId })
    await insertMember(tx, id, userId, 'admin')
    await insertPatterns(tx, id, parsePatterns(patterns))
    const invite = await insertInvite(tx, id, caller, {
      role: 'member',
      expiresInHours: limits.invite_hours_default,
      maxUses: null,
    })
    await insertAuditEntry(tx, {
      workspaceId: id,
      actor: caller,
      action: 'workspace.created',
      details: { name: name.trim(), patterns, invite: invite.id },
    })
    return { workspace: singleRow(await listWorkspacesOf(tx, userId, [id])), invite }
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
    return singleRow(await listWorkspacesOf(tx, call.userId, [call.workspaceId]))
  })

/** Hides the workspace at once. Its rows are deleted in the background. */
export const deleteWorkspace = (database: Database, call: WorkspaceCall): Promise<void> =>
  changeWorkspace(database, call, 'admin', ({ tx }) => markWorkspaceDeleted(tx, call.workspaceId))

/** Deletes a workspace for the operator, who isn't a member. @returns false if there's no such workspace */
export const deleteWorkspaceAsOperator = (database: Database, workspaceId: string): Promise<boolean> =>
  database.transaction(async (tx) => {
    if (!(await lockWorkspace(tx, workspaceId))) return false
    await markWorkspaceDeleted(tx, workspaceId)
    return true
  })
