import { and, asc, count, eq, ne, sql } from 'drizzle-orm'
import type { Role } from '../../../../schemas/common.js'
import type { Member } from '../../../../schemas/members.js'
import type { Db } from '../../../platform/database/client.js'
import { locksOfWorkspaces } from '../../../platform/database/locks.js'
import { statement } from '../../../platform/database/statement.js'
import { toTimestamp } from '../../../platform/time/timestamps.js'
import { users } from '../../accounts/index.js'
import { members } from '../tables.js'

const membership = (workspaceId: string, userId: string) =>
  and(eq(members.workspaceId, workspaceId), eq(members.userId, userId))

/** Undefined for who is not in the workspace, and for a workspace that does not exist. */
export const readRole = async (db: Db, workspaceId: string, userId: string): Promise<Role | undefined> => {
  const [member] = await db
    .select({ role: members.role })
    .from(members)
    .where(membership(workspaceId, userId))
  return member?.role
}

/** The caller as a member, with the login for the records. */
export const readOwnMembership = async (
  db: Db,
  workspaceId: string,
  userId: string,
): Promise<{ role: Role; login: string } | undefined> => {
  const [member] = await db
    .select({ role: members.role, login: users.login })
    .from(members)
    .innerJoin(users, eq(users.id, members.userId))
    .where(membership(workspaceId, userId))
  return member
}

/**
 * Advisory locks, and not locks of rows: on a cluster, where every node has a copy of the members, a lock of one row is
 * one of the whole table.
 */
const HOLD_ROLES = statement(
  'hold the roles of a workspace',
  {},
  `select pg_advisory_xact_lock_shared(${locksOfWorkspaces.roles}, hashtext($1::uuid::text))`,
)
const LOCK_ROLES = statement(
  'lock the roles of a workspace',
  {},
  `select pg_advisory_xact_lock(${locksOfWorkspaces.roles}, hashtext($1::uuid::text))`,
)

/** The role, held until the transaction ends: no one can demote or remove a member, or delete the workspace, meanwhile. */
export const lockRole = async (tx: Db, workspaceId: string, userId: string): Promise<Role | undefined> => {
  // Sent together; the role is read once the lock is there.
  const [, role] = await Promise.all([tx.rows(HOLD_ROLES, [workspaceId]), readRole(tx, workspaceId, userId)])
  return role
}

/** Waits for whoever holds a role in the workspace, and keeps others from it until the transaction ends. */
export const lockRoles = async (tx: Db, workspaceId: string): Promise<void> => {
  await tx.rows(LOCK_ROLES, [workspaceId])
}

export const insertMember = async (
  tx: Db,
  workspaceId: string,
  userId: string,
  role: Role,
): Promise<void> => {
  await tx.insert(members).values({ workspaceId, userId, role })
}

export const countWorkspacesOf = async (db: Db, userId: string): Promise<number> => {
  const [row] = await db.select({ total: count() }).from(members).where(eq(members.userId, userId))
  return row?.total ?? 0
}

const columns = {
  userId: members.userId,
  login: users.login,
  avatar_url: users.avatarUrl,
  role: members.role,
  joined_at: members.joinedAt,
}

/** A member with the id of the user, for cursors and for the writes that follow. */
export interface ListedMember {
  userId: string
  member: Omit<Member, 'last_active_day'>
}

const toListed = ({ userId, ...member }: ListedMember['member'] & { userId: string }): ListedMember => ({
  userId,
  member: { ...member, joined_at: toTimestamp(member.joined_at) },
})

/**
 * In the order in which they joined. `after` is where the previous page ended: the moment and the user's id.
 */
export const listMembers = async (
  db: Db,
  workspaceId: string,
  after: string[] | undefined,
  rows: number,
): Promise<ListedMember[]> => {
  const [lastJoined, lastUser] = after ?? []
  const found = await db
    .select(columns)
    .from(members)
    .innerJoin(users, eq(users.id, members.userId))
    .where(
      and(
        eq(members.workspaceId, workspaceId),
        after &&
          sql`(${members.joinedAt}, ${members.userId}) > (${lastJoined}::timestamptz, ${lastUser}::uuid)`,
      ),
    )
    .orderBy(asc(members.joinedAt), asc(members.userId))
    .limit(rows)
  return found.map(toListed)
}

/** The member with this login, compared without case. */
export const findMember = async (
  db: Db,
  workspaceId: string,
  login: string,
): Promise<ListedMember | undefined> => {
  const [found] = await db
    .select(columns)
    .from(members)
    .innerJoin(users, eq(users.id, members.userId))
    .where(and(eq(members.workspaceId, workspaceId), eq(users.loginKey, login.toLowerCase())))
  return found && toListed(found)
}

/** Whether somebody else is an admin, too. Certain only while the workspace is locked. */
export const hasOtherAdmin = async (tx: Db, workspaceId: string, userId: string): Promise<boolean> => {
  const [other] = await tx
    .select({ userId: members.userId })
    .from(members)
    .where(and(eq(members.workspaceId, workspaceId), eq(members.role, 'admin'), ne(members.userId, userId)))
    .limit(1)
  return other !== undefined
}

export const updateRole = async (tx: Db, workspaceId: string, userId: string, role: Role): Promise<void> => {
  await tx.update(members).set({ role }).where(membership(workspaceId, userId))
}

export const deleteMember = async (tx: Db, workspaceId: string, userId: string): Promise<void> => {
  await tx.delete(members).where(membership(workspaceId, userId))
}
