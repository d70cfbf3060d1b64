import type { PrivacyLevel } from '../../../schemas/common.js'
import type { WorkspaceQuota } from '../../../schemas/limits.js'
import { parsePattern } from '../../../schemas/repo-pattern.js'
import { ApiError } from '../../errors.js'
import type { Db } from '../../platform/database/client.js'
import type { User } from '../accounts/index.js'
import { requirePersonalQuota } from './policies/personal-workspace.js'
import { insertAuditEntry } from './queries/audit.js'
import { insertMember, lockPatternsOf } from './queries/members.js'
import {
  countPatterns,
  insertPatterns,
  insertWorkspace,
  lockWorkspace,
  readPersonalWorkspace,
} from './queries/workspaces.js'

/** The rules for a personal workspace that a push creates. */
interface PersonalRules {
  privacy: PrivacyLevel
  quota: WorkspaceQuota
}

/**
 * With the caller locked: creates the personal workspace, or adds the caller's login to its patterns.
 * @param owner as the caller spelled it
 * @throws {ApiError} `workspace_required`, `workspace_limit`, `admin_required` if it was deleted in the meantime
 */
export const openPersonalWorkspace = async (
  tx: Db,
  caller: User,
  owner: string,
  { privacy, quota }: PersonalRules,
): Promise<{ workspaceId: string; workspaceCreated: boolean }> => {
  // The workspace before the person's patterns, as in every change of a workspace.
  const existing = await readPersonalWorkspace(tx, caller.id)
  const present = existing === undefined ? undefined : await lockWorkspace(tx, existing)
  await lockPatternsOf(tx, caller.id)
  await requirePersonalQuota(tx, caller, owner, quota)
  const pattern = parsePattern(`${caller.login}/*`)
  if (!pattern) throw new Error('A login makes a valid pattern')
  if (existing === undefined) {
    const created = await insertWorkspace(tx, {
      name: caller.login,
      privacy,
      createdBy: caller.id,
      personalOf: caller.id,
    })
    await insertMember(tx, created, caller.id, 'admin')
    await insertPatterns(tx, created, [pattern])
    await insertAuditEntry(tx, { workspaceId: created, actor: caller, action: 'workspace.created' })
    return { workspaceId: created, workspaceCreated: true }
  }
  if (!present) throw new ApiError('admin_required')
  await insertPatterns(tx, existing, [pattern], await countPatterns(tx, existing))
  await insertAuditEntry(tx, {
    workspaceId: existing,
    actor: caller,
    action: 'patterns.added',
    details: { patterns: [pattern.pattern] },
  })
  return { workspaceId: existing, workspaceCreated: false }
}
