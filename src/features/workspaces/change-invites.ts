import type { CreateInviteBody, Invite } from '../../../schemas/invites.js'
import { limits } from '../../../schemas/limits.js'
import { ApiError } from '../../errors.js'
import type { Database } from '../../platform/database/client.js'
import { changeWorkspace, type WorkspaceCall } from './change-workspace.js'
import { insertInvite, revokeInvite as markRevoked } from './queries/invites.js'

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
