import { and, desc, eq, isNull, sql } from 'drizzle-orm'
import { v7 as uuidv7 } from 'uuid'
import type { Role } from '../../../../schemas/common.js'
import type { Invite } from '../../../../schemas/invites.js'
import type { Db } from '../../../platform/database/client.js'
import { theRow } from '../../../platform/database/the-row.js'
import { toTimestamp } from '../../../platform/time/timestamps.js'
import { users } from '../../accounts/index.js'
import { createInviteCode, inviteCodeKey } from '../invite-code.js'
import { ACTIVE_INVITE, invites } from '../tables.js'

/** In the order in which a join checks. */
const status = sql<Invite['status']>`case
  when ${invites.revokedAt} is not null then 'revoked'
  when ${invites.expiresAt} <= now() then 'expired'
  when ${invites.usedCount} >= ${invites.maxUses} then 'exhausted'
  else 'active' end`

const isActive = sql.raw(ACTIVE_INVITE)

/** Its moment, like that of a removal, is of the statement and not of the transaction's begin, which may have waited for the other. */
export const insertInvite = async (
  tx: Db,
  workspaceId: string,
  createdBy: { id: string; login: string },
  { role, expiresInHours, maxUses }: { role: Role; expiresInHours: number; maxUses: number | null },
): Promise<Invite> => {
  const code = createInviteCode()
  const rows = await tx
    .insert(invites)
    .values({
      id: uuidv7(),
      workspaceId,
      code,
      codeKey: inviteCodeKey(code),
      role,
      maxUses,
      expiresAt: sql`statement_timestamp() + make_interval(hours => ${expiresInHours}::int)`,
      createdBy: createdBy.id,
      createdAt: sql`statement_timestamp()`,
    })
    .returning({ id: invites.id, expiresAt: invites.expiresAt, createdAt: invites.createdAt })
  const row = theRow(rows)
  return {
    id: row.id,
    code,
    role,
    max_uses: maxUses,
    used_count: 0,
    expires_at: toTimestamp(row.expiresAt),
    status: 'active',
    created_by: createdBy.login,
    created_at: toTimestamp(row.createdAt),
  }
}

/** The invite with this code. */
export const findInvite = async (db: Db, code: string) => {
  const [row] = await db
    .select({
      id: invites.id,
      workspaceId: invites.workspaceId,
      role: invites.role,
      expiresAt: invites.expiresAt,
      createdAt: invites.createdAt,
      status,
    })
    .from(invites)
    .where(eq(invites.codeKey, inviteCodeKey(code)))
  return row
}

/** @returns whether the invite can be redeemed; it is then held until the transaction ends, and one use less is left. */
export const useInvite = async (tx: Db, id: string): Promise<boolean> => {
  const used = await tx
    .update(invites)
    .set({ usedCount: sql`${invites.usedCount} + 1` })
    .where(and(eq(invites.id, id), isActive))
    .returning({ id: invites.id })
  return used.length > 0
}

/** Those that can still be redeemed, newest first. `after` is where the previous page ended: the moment and the id. */
export const listActiveInvites = async (
  db: Db,
  workspaceId: string,
  after: string[] | undefined,
  rows: number,
): Promise<Invite[]> => {
  const [lastCreated, lastId] = after ?? []
  const found = await db
    .select({
      id: invites.id,
      code: invites.code,
      role: invites.role,
      max_uses: invites.maxUses,
      used_count: invites.usedCount,
      expires_at: invites.expiresAt,
      status,
      created_by: users.login,
      created_at: invites.createdAt,
    })
    .from(invites)
    .innerJoin(users, eq(users.id, invites.createdBy))
    .where(
      and(
        eq(invites.workspaceId, workspaceId),
        isActive,
        after && sql`(${invites.createdAt}, ${invites.id}) < (${lastCreated}::timestamptz, ${lastId}::uuid)`,
      ),
    )
    .orderBy(desc(invites.createdAt), desc(invites.id))
    .limit(rows)
  return found.map((row) => ({
    ...row,
    expires_at: toTimestamp(row.expires_at),
    created_at: toTimestamp(row.created_at),
  }))
}

/** @returns whether the invite was there, and whether this call revoked it. */
export const revokeInvite = async (
  tx: Db,
  workspaceId: string,
  id: string,
): Promise<{ found: boolean; revoked: boolean }> => {
  const here = and(eq(invites.workspaceId, workspaceId), eq(invites.id, id))
  const revoked = await tx
    .update(invites)
    .set({ revokedAt: sql`now()` })
    .where(and(here, isNull(invites.revokedAt)))
    .returning({ id: invites.id })
  if (revoked.length > 0) return { found: true, revoked: true }
  const known = await tx.select({ id: invites.id }).from(invites).where(here)
  return { found: known.length > 0, revoked: false }
}

/** Revokes what somebody made and could still be redeemed. @returns how many */
export const revokeInvitesOf = async (tx: Db, workspaceId: string, userId: string): Promise<number> => {
  const revoked = await tx
    .update(invites)
    .set({ revokedAt: sql`now()` })
    .where(and(eq(invites.workspaceId, workspaceId), eq(invites.createdBy, userId), isActive))
    .returning({ id: invites.id })
  return revoked.length
}

/** The same in all workspaces. */
export const revokeAllInvitesOf = async (tx: Db, userId: string): Promise<void> => {
  await tx
    .update(invites)
    .set({ revokedAt: sql`now()` })
    .where(and(eq(invites.createdBy, userId), isActive))
}
