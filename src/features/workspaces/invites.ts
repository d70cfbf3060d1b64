import type { CreateInviteBody, Invite, InviteLookup } from '../../../schemas/invites.js'
import { limits } from '../../../schemas/limits.js'
import { ApiError } from '../../errors.js'
import type { Database, Db } from '../../platform/database/client.js'
import { toTimestamp } from '../../platform/time/timestamps.js'
import { type PersonKey, readCaller } from '../accounts/index.js'
import { changeWorkspace, type WorkspaceCall } from './change-workspace.js'
import { findInvite, insertInvite, revokeInvite as markRevoked } from './queries/invites.js'
import { wasRemoved } from './queries/removals.js'
import { readInvitedWorkspace } from './queries/workspaces.js'

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
 * The workspace behind a code. For people who were removed, invites from before the removal are revoked.
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
