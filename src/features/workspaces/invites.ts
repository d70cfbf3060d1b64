import type { CreateInviteBody, Invite, InviteLookup } from '../../../schemas/invites.js'
import { limits, type WorkspaceQuota } from '../../../schemas/limits.js'
import type { Workspace } from '../../../schemas/workspaces.js'
import { ApiError } from '../../errors.js'
import type { Database, Db } from '../../platform/database/client.js'
import { toTimestamp } from '../../platform/time/clock.js'
import { lockCaller, type PersonKey, readCaller } from '../accounts/index.js'
import { changeWorkspace, type WorkspaceCall } from './change-workspace.js'
import { requireJoinQuota } from './policies/rights.js'
import { insertAuditEntry } from './queries/audit.js'
import { findInvite, insertInvite, markRevoked, redeemInvite } from './queries/invites.js'
import { insertMember, lockPatternsOf, lockRole } from './queries/members.js'
import { wasRemoved } from './queries/removals.js'
import { countPatterns, listWorkspacesOf, readInvitedWorkspace } from './queries/workspaces.js'

/** @throws {ApiError} `personal_workspace` */
export const createInvite = (
  database: Database,
  call: WorkspaceCall,
  { role = 'member', expires_in_hours = limits.invite_hours_default, max_uses = null }: CreateInviteBody,
): Promise<Invite> =>
  changeWorkspace(database, call, 'admin', async ({ tx, caller, workspace, record }) => {
    if (workspace.personal) throw new ApiError('personal_workspace')
    const options = { role, expiresInHours: expires_in_hours, maxUses: max_uses }
    const invite = await insertInvite(tx, call.workspaceId, caller, options)
    await record('invite.created', invite.id, { role, max_uses, expires_at: invite.expires_at })
    return invite
  })

/** Revoking again changes nothing. @throws {ApiError} `invite_not_found` */
export const revokeInvite = (database: Database, call: WorkspaceCall, id: string): Promise<void> =>
  changeWorkspace(database, call, 'admin', async ({ tx, record }) => {
    const { found, revoked } = await markRevoked(tx, call.workspaceId, id)
    if (!found) throw new ApiError('invite_not_found')
    if (revoked) await record('invite.revoked', id)
  })

/**
 * The workspace behind a code. People who were removed see invites from before their removal as revoked.
 * @throws {ApiError} `token_invalid` if there's no such account, `invite_not_found`
 */
export const lookUpInvite = async (
  db: Db,
  personKeys: PersonKey[],
  userId: string,
  code: string,
): Promise<InviteLookup> => {
  const [caller, invite] = await Promise.all([readCaller(db, userId), findInvite(db, code)])
  if (!invite) throw new ApiError('invite_not_found')
  const [workspace, isRemoved] = await Promise.all([
    readInvitedWorkspace(db, invite.workspaceId),
    wasRemoved(db, invite, caller, personKeys),
  ])
  // The workspace was deleted in the meantime.
  if (!workspace) throw new ApiError('invite_not_found')
  return {
    workspace,
    role: invite.role,
    status: isRemoved ? 'revoked' : invite.status,
    expires_at: toTimestamp(invite.expiresAt),
  }
}

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
      if (!(await redeemInvite(tx, invite.id))) throw await errorOfCode(tx, code)
      await lockPatternsOf(tx, userId)
      await requireJoinQuota(tx, userId, await countPatterns(tx, workspaceId), quota)
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
