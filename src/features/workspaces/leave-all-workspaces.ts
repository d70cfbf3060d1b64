import { ApiError } from '../../errors.js'
import type { Db } from '../../platform/database/client.js'
import { DELETED_LOGIN, DELETED_USER, type PersonKey, type User } from '../accounts/index.js'
import { revokeAllKeysOf } from '../keys/index.js'
import { type Actor, insertAuditEntries, insertAuditEntry } from './queries/audit.js'
import { revokeInvitesOf } from './queries/invites.js'
import { deleteMemberships, lockMemberships } from './queries/memberships.js'
import { preserveRemovals } from './queries/removals.js'
import { markWorkspaceDeleted } from './queries/workspaces.js'

const deletedUser = { id: DELETED_USER, login: DELETED_LOGIN }

/**
 * Ends the memberships and keys of a locked person whose account is being deleted. Deletes workspaces that they're alone in.
 * @param key recognizes the person in removals that outlive the account
 * @param actor the deleted user, or the operator
 * @throws {ApiError} `last_admin` for workspaces of others
 */
export const leaveAllWorkspaces = async (
  tx: Db,
  user: User,
  key: PersonKey | undefined,
  actor: Actor,
): Promise<void> => {
  const memberships = await lockMemberships(tx, user.id)
  const left = memberships.filter(({ isAlone }) => !isAlone)
  const headless = left.filter(({ role, hasOtherAdmin }) => role === 'admin' && !hasOtherAdmin)
  if (headless.length > 0)
    throw new ApiError('last_admin', { workspaces: headless.map(({ id, name }) => ({ id, name })) })
  await Promise.all(
    memberships.filter(({ isAlone }) => isAlone).map(({ id }) => markWorkspaceDeleted(tx, id)),
  )
  // Before the memberships, for the reason that `withdraw` has.
  await revokeInvitesOf(tx, user.id)
  const keys = await revokeAllKeysOf(tx, user.id)
  await insertAuditEntries(
    tx,
    keys.flatMap(({ id, name, workspaceId }) =>
      workspaceId === null
        ? []
        : { workspaceId, actor, action: 'key.revoked', target: name, details: { id } },
    ),
  )
  await Promise.all(
    left.map(({ id, role }) =>
      insertAuditEntry(tx, {
        workspaceId: id,
        actor,
        action: actor.id === DELETED_USER ? 'member.left' : 'member.removed',
        target: deletedUser,
        details: { role },
      }),
    ),
  )
  // The roles are locked, so that a removal in progress is included.
  await preserveRemovals(tx, user, key)
  await deleteMemberships(tx, user.id)
}
