import type { InviteLookup } from '../../../schemas/invites.js'
import { ApiError } from '../../errors.js'
import type { Db } from '../../platform/database/client.js'
import { toTimestamp } from '../../platform/time/timestamps.js'
import { type PersonKey, readCaller } from '../accounts/index.js'
import { findInvite } from './queries/invites.js'
import { wasRemovedSince } from './queries/removals.js'
import { readInvitedWorkspace } from './queries/workspaces.js'

/**
 * The workspace behind a code. For people who were removed, an invite from before the removal is revoked.
 * @throws {ApiError} `token_invalid` when there is no such account, `invite_not_found`
 */
export const lookUpInvite = async (
  db: Db,
  personKeys: PersonKey[],
  userId: string,
  code: string,
): Promise<InviteLookup> => {
  const [caller, invite] = await Promise.all([readCaller(db, userId), findInvite(db, code)])
  if (!invite) throw new ApiError('invite_not_found')
  const [workspace, wasRemoved] = await Promise.all([
    readInvitedWorkspace(db, invite.workspaceId),
    wasRemovedSince(db, invite, caller, personKeys),
  ])
  // The workspace was deleted in the meantime.
  if (!workspace) throw new ApiError('invite_not_found')
  return {
    workspace,
    role: invite.role,
    status: wasRemoved ? 'revoked' : invite.status,
    expires_at: toTimestamp(invite.expiresAt),
  }
}
