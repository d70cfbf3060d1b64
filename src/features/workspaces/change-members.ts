import type { Role } from '../../../schemas/common.js'
import type { WorkspaceQuota } from '../../../schemas/limits.js'
import { ApiError } from '../../errors.js'
import type { Database, Db } from '../../platform/database/client.js'
import { lockCaller } from '../accounts/index.js'
import { revokeKeysCreatedBy } from '../keys/index.js'
import { recordRevokedKey } from './change-keys.js'
import { type Change, changeWorkspace, type WorkspaceCall } from './change-workspace.js'
import { requireJoinQuota } from './policies/rights.js'
import { type Actor, insertAuditEntry, OPERATOR_ACTOR } from './queries/audit.js'
import { revokeInvitesOf } from './queries/invites.js'
import {
  deleteMember,
  findMember,
  hasOtherAdmin,
  insertMember,
  type ListedMember,
  lockPatternsOf,
  lockRoles,
  readRole,
  updateRole,
} from './queries/members.js'
import { clearLeaveReports, hasLeft } from './queries/organizations.js'
import { recordDeparture, recordRemoval } from './queries/removals.js'
import { countPatterns, lockWorkspace } from './queries/workspaces.js'

const memberNamed = async (tx: Db, workspaceId: string, login: string) => {
  const found = await findMember(tx, workspaceId, login)
  if (!found) throw new ApiError('member_not_found')
  return found
}

/** Whether this person can leave or be demoted without removing a locked workspace's last admin. */
export const canLeave = async (
  { tx }: Pick<Change, 'tx'>,
  id: string,
  { userId, role }: { userId: string; role: Role },
): Promise<boolean> => role !== 'admin' || hasOtherAdmin(tx, id, userId)

const requireOtherAdmin = async (
  { tx, workspace }: Change,
  id: string,
  person: { userId: string; role: Role },
) => {
  if (await canLeave({ tx }, id, person)) return
  throw new ApiError('last_admin', { workspaces: [{ id, name: workspace.name }] })
}

/**
 * Invites and workspace keys end with the right to create them. Call it before the membership changes. A join
 * locks the invite and then adds the member, so the opposite order could deadlock.
 */
export const withdraw = async (change: Change, workspaceId: string, person: Actor) => {
  const { tx, record } = change
  const revoked = await revokeInvitesOf(tx, person.id, workspaceId)
  if (revoked > 0) await record('invites.revoked', person, { count: revoked })
  for (const key of await revokeKeysCreatedBy(tx, workspaceId, person.id)) await recordRevokedKey(change, key)
}

/** @throws {ApiError} `member_not_found`, `last_admin` */
export const changeRole = (
  database: Database,
  call: WorkspaceCall,
  { login, role }: { login: string; role: Role },
): Promise<ListedMember> =>
  changeWorkspace(database, call, 'admin', async (change) => {
    const { tx, record } = change
    await lockRoles(tx, call.workspaceId)
    const { userId, member } = await memberNamed(tx, call.workspaceId, login)
    if (member.role === role) return { userId, member }
    await requireOtherAdmin(change, call.workspaceId, { userId, role: member.role })
    const person = { id: userId, login: member.login }
    if (role === 'member') {
      await withdraw(change, call.workspaceId, person)
      // Otherwise a demoted admin could leave and rejoin as admin with another person's older invite.
      await recordRemoval(tx, call.workspaceId, userId)
    }
    await updateRole(tx, call.workspaceId, userId, role)
    await record('member.role_changed', person, { before: member.role, after: role })
    return { userId, member: { ...member, role } }
  })

/**
 * A removed person can rejoin only with an invite from after the removal.
 * @throws {ApiError} `member_not_found`, `last_admin`
 */
export const removeMember = (database: Database, call: WorkspaceCall, login: string): Promise<void> =>
  changeWorkspace(database, call, 'admin', async (change) => {
    const { tx, caller, record } = change
    await lockRoles(tx, call.workspaceId)
    const { userId, member } = await memberNamed(tx, call.workspaceId, login)
    await requireOtherAdmin(change, call.workspaceId, { userId, role: member.role })
    const person = { id: userId, login: member.login }
    // An admin confirms the host's report, so that the person can come back through the organization.
    const returns = await hasLeft(tx, call.workspaceId, userId)
    await withdraw(change, call.workspaceId, person)
    await deleteMember(tx, call.workspaceId, userId)
    // Removing yourself counts as leaving, so older invites stay valid.
    if (userId === caller.id) await recordDeparture(tx, call.workspaceId, userId)
    else await recordRemoval(tx, call.workspaceId, userId, { returns })
    await record('member.removed', person, { role: member.role })
  })

/**
 * Keeps a member whom the organization has reported as gone. Nothing changes for others.
 * @throws {ApiError} `member_not_found`
 */
export const keepMember = (database: Database, call: WorkspaceCall, login: string): Promise<void> =>
  changeWorkspace(database, call, 'admin', async ({ tx, record }) => {
    await lockRoles(tx, call.workspaceId)
    const { userId, member } = await memberNamed(tx, call.workspaceId, login)
    if (!(await hasLeft(tx, call.workspaceId, userId))) return
    await clearLeaveReports(tx, call.workspaceId, userId)
    await record('member.kept', { id: userId, login: member.login })
  })

/** @throws {ApiError} `personal_workspace`, `last_admin` */
export const leaveWorkspace = (database: Database, call: WorkspaceCall): Promise<void> =>
  changeWorkspace(database, call, 'member', async (change) => {
    const { tx, caller, workspace, record } = change
    if (workspace.personal) throw new ApiError('personal_workspace')
    await lockRoles(tx, call.workspaceId)
    await requireOtherAdmin(change, call.workspaceId, { userId: caller.id, role: caller.role })
    await withdraw(change, call.workspaceId, caller)
    await deleteMember(tx, call.workspaceId, caller.id)
    await recordDeparture(tx, call.workspaceId, caller.id)
    await record('member.left', caller, { role: caller.role })
  })

/**
 * For the operator: makes an account an admin of the workspace, even if it isn't a member yet.
 * @throws {ApiError} `workspace_limit`
 */
export const makeAdmin = (
  database: Database,
  workspaceId: string,
  userId: string,
  quota: WorkspaceQuota,
): Promise<'made admin' | 'was admin' | 'no workspace' | 'personal workspace' | 'account disabled'> =>
  database.transaction(async (tx) => {
    // In the same order as all other code that takes these locks.
    const user = await lockCaller(tx, userId)
    const workspace = await lockWorkspace(tx, workspaceId)
    if (!workspace) return 'no workspace'
    if (workspace.personal) return 'personal workspace'
    if (user.disabledAt !== null) return 'account disabled'
    await lockRoles(tx, workspaceId)
    const before = await readRole(tx, workspaceId, userId)
    if (before === 'admin') return 'was admin'
    if (before === 'member') await updateRole(tx, workspaceId, userId, 'admin')
    else {
      await lockPatternsOf(tx, userId)
      await requireJoinQuota(tx, userId, await countPatterns(tx, workspaceId), quota)
      await insertMember(tx, workspaceId, userId, 'admin')
    }
    await insertAuditEntry(tx, {
      workspaceId,
      actor: OPERATOR_ACTOR,
      target: user,
      ...(before === 'member'
        ? { action: 'member.role_changed', details: { before, after: 'admin' } }
        : { action: 'member.added', details: { role: 'admin' } }),
    })
    return 'made admin'
  })
