import { and, count, eq } from 'drizzle-orm'
import type { Role } from '../../schemas/common.js'
import type { Db } from '../db/client.js'
import { members } from '../db/tables.js'

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

/** The role, held until the transaction ends: no one can demote or remove the member, or delete the workspace, meanwhile. */
export const lockRole = async (tx: Db, workspaceId: string, userId: string): Promise<Role | undefined> => {
  const [member] = await tx
    .select({ role: members.role })
    .from(members)
    .where(membership(workspaceId, userId))
    .for('share')
  return member?.role
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
