import { and, eq, ne } from 'drizzle-orm'
import { NIL } from 'uuid'
import type { Role } from '../../../../schemas/common.js'
import type { Member } from '../../../../schemas/members.js'
import type { Db } from '../../../platform/database/client.js'
import {
  lockOfUser,
  lockOfWorkspace,
  locksOfUsers,
  locksOfWorkspaces,
} from '../../../platform/database/locks.js'
import {
  integer,
  moment,
  singleRow,
  statement,
  text,
  textOf,
  uuid,
} from '../../../platform/database/statement.js'
import { toTimestamp } from '../../../platform/time/clock.js'
import { members } from '../tables.js'

const membership = (workspaceId: string, userId: string) =>
  and(eq(members.workspaceId, workspaceId), eq(members.userId, userId))

/** A person's role. Undefined for people outside the workspace, and for a workspace that doesn't exist. */
export const readRole = async (db: Db, workspaceId: string, userId: string): Promise<Role | undefined> => {
  const [member] = await db
    .select({ role: members.role })
    .from(members)
    .where(membership(workspaceId, userId))
  return member?.role
}

const READ_MEMBER = statement(
  'read member',
  { role: textOf<Role>(), login: text },
  `
  select m.role, u.login from members m join users u on u.id = m.user_id
  where m.workspace_id = $1::uuid and m.user_id = $2::uuid`,
)

/** A member by id, with the login for records. */
export const readMember = async (
  db: Db,
  workspaceId: string,
  userId: string,
): Promise<{ role: Role; login: string } | undefined> => {
  const [member] = await db.rows(READ_MEMBER, [workspaceId, userId])
  return member
}

/**
 * Advisory locks instead of row locks: on a cluster, where every node has a copy of the members, locking a row locks
 * the whole table.
 */
const SHARE_LOCK_ROLES = lockOfWorkspace(
  'share-lock workspace roles',
  locksOfWorkspaces.roles,
  'pg_advisory_xact_lock_shared',
)
const LOCK_ROLES = lockOfWorkspace('lock workspace roles', locksOfWorkspaces.roles)

/** Until the transaction ends, no one can demote or remove a member, or delete the workspace. */
export const shareLockRoles = async (tx: Db, workspaceId: string): Promise<void> => {
  await tx.rows(SHARE_LOCK_ROLES, [workspaceId])
}

/**
 * The role, locked until the transaction ends. Until then, no one can demote or remove members, or delete the
 * workspace.
 */
export const lockRole = async (tx: Db, workspaceId: string, userId: string): Promise<Role | undefined> => {
  // Sent together. The role is read once the lock is held.
  const [, role] = await Promise.all([shareLockRoles(tx, workspaceId), readRole(tx, workspaceId, userId)])
  return role
}

/** Waits for transactions that rely on a role in the workspace, and blocks others until this one ends. */
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

const LOCK_PATTERNS = lockOfUser('lock user patterns', locksOfUsers.patterns)

/** Serializes pattern-limit checks for this person until the transaction ends. */
export const lockPatternsOf = async (tx: Db, userId: string): Promise<void> => {
  await tx.rows(LOCK_PATTERNS, [userId])
}

/** $1: the user. */
const COUNT_WORKSPACES = statement(
  'count own workspaces',
  { created: integer, joined: integer, patterns: integer },
  `
  with joined as (
    select m.workspace_id from members m
    left join organization_members o on o.workspace_id = m.workspace_id and o.user_id = m.user_id
    where m.user_id = $1::uuid and o.confirmed_at is null
  )
  select (select count(*)::int from workspaces where created_by = $1::uuid and deleted_at is null) as created,
    (select count(*)::int from joined) as joined,
    (select count(*)::int from joined j join patterns p on p.workspace_id = j.workspace_id) as patterns`,
)

/**
 * How many existing workspaces a person created, how many the person is in without having joined through an
 * organization, and how many patterns these have.
 */
export const countWorkspacesOf = async (
  db: Db,
  userId: string,
): Promise<{ created: number; joined: number; patterns: number }> =>
  singleRow(await db.rows(COUNT_WORKSPACES, [userId]))

const columns = { userId: uuid, login: text, avatar_url: text, role: textOf<Role>(), joined_at: moment }
const SELECT_MEMBERS = `
  select m.user_id as "userId", u.login, u.avatar_url, m.role, m.joined_at
  from members m join users u on u.id = m.user_id
  where m.workspace_id = $1::uuid`

/** $2, $3: the time and user id of the previous page's last member, or nulls; $4: how many rows. */
const LIST_MEMBERS = statement(
  'list members',
  columns,
  `${SELECT_MEMBERS}
    and (m.joined_at, m.user_id) > (coalesce($2::timestamptz, '-infinity'), coalesce($3::uuid, '${NIL}'))
  order by m.joined_at, m.user_id
  limit $4::int`,
)

/** $2: the login in lower case. */
const FIND_MEMBER = statement('find member', columns, `${SELECT_MEMBERS} and u.login_key = $2::text`)

/** A member with the user id, for cursors and the writes that follow. */
export interface ListedMember {
  userId: string
  member: Omit<Member, 'last_active_day'>
}

const toListed = ({ userId, ...member }: ListedMember['member'] & { userId: string }): ListedMember => ({
  userId,
  member: { ...member, joined_at: toTimestamp(member.joined_at) },
})

/** Members, in joining order. `after` is where the previous page ended: the time and the user id. */
export const listMembers = async (
  db: Db,
  workspaceId: string,
  after: string[] | undefined,
  rows: number,
): Promise<ListedMember[]> => {
  const [lastJoined = null, lastUser = null] = after ?? []
  const found = await db.rows(LIST_MEMBERS, [workspaceId, lastJoined, lastUser, rows])
  return found.map(toListed)
}

/** The member with this login, compared without case. */
export const findMember = async (
  db: Db,
  workspaceId: string,
  login: string,
): Promise<ListedMember | undefined> => {
  const [found] = await db.rows(FIND_MEMBER, [workspaceId, login.toLowerCase()])
  return found && toListed(found)
}

/** Whether another member is also an admin. Reliable only while the workspace is locked. */
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
