import type { Workspace } from '../../../schemas/workspaces.js'
import { ApiError } from '../../errors.js'
import type { Database, Db } from '../../platform/database/client.js'
import { lockCaller, type PersonKey } from '../accounts/index.js'
import { requireRoomToJoin, type WorkspaceQuota } from './policies/rights.js'
import { insertAuditEntry } from './queries/audit.js'
import { findInvite, useInvite } from './queries/invites.js'
import { insertMember, lockRole } from './queries/members.js'
import { wasRemoved } from './queries/removals.js'
import { listWorkspacesOf } from './queries/workspaces.js'

const errorOf = {
  // Doesn't happen, because an inactive invite never becomes active again.
  active: 'unavailable',
  revoked: 'invite_revoked',
  expired: 'invite_expired',
  exhausted: 'invite_exhausted',
} as const

/** Why an invite can't be redeemed. */
const errorOfCode = async (tx: Db, code: string): Promise<ApiError> => {
  const invite = await findInvite(tx, code)
  return new ApiError(invite ? errorOf[invite.status] : 'invite_not_found')
}

/**
 * Redeems an invite. For a member it succeeds without effect, even if the invite is no longer active.
 * @throws {ApiError} `invite_not_found`, `invite_revoked`, `invite_expired`, `invite_exhausted`, `workspace_limit`
 */
export const joinWorkspace = (
  database: Database,
  { personKeys, quota }: { personKeys: PersonKey[]; quota: WorkspaceQuota },
  userId: string,
  code: string,
): Promise<{ workspace: Workspace; already_member: boolean }> =>
  database.transaction(async (tx) => {
    const caller = await lockCaller(tx, userId)
    const invite = await findInvite(tx, code)
    if (!invite) throw new ApiError('invite_not_found')
    const { workspaceId } = invite
    // Locks the role, so that a member isn't removed before the response describes the workspace. Waits for a removal
    // in progress, so that the code below sees its record.
    const alreadyMember = (await lockRole(tx, workspaceId, userId)) !== undefined
    if (!alreadyMember) {
      if (await wasRemoved(tx, invite, caller, personKeys)) throw new ApiError('invite_revoked')
      if (!(await useInvite(tx, invite.id))) throw await errorOfCode(tx, code)
      await requireRoomToJoin(tx, userId, quota)
      await insertMember(tx, workspaceId, userId, invite.role)
      await insertAuditEntry(tx, {
        workspaceId,
        actor: caller,
        action: 'member.joined',
        target: caller,
        details: { role: invite.role, invite: invite.id },
      })
    }
    const [workspace] = await listWorkspacesOf(tx, userId, [workspaceId])
    if (!workspace) throw new Error('The workspace just joined isn’t there')
    return { workspace, already_member: alreadyMember }
  })
