import { eq, sql } from 'drizzle-orm'
import { v7 as uuidv7 } from 'uuid'
import type { Role } from '../../schemas/common.js'
import type { Invite } from '../../schemas/workspaces.js'
import type { Db } from '../db/client.js'
import { invites } from '../db/tables.js'
import { createInviteCode, inviteCodeKey } from '../domain/invite-code.js'
import { toTimestamp } from '../domain/time.js'

/** In the order in which a join checks. */
const status = sql<Invite['status']>`case
  when ${invites.revokedAt} is not null then 'revoked'
  when ${invites.expiresAt} <= now() then 'expired'
  when ${invites.usedCount} >= ${invites.maxUses} then 'exhausted'
  else 'active' end`

export const insertInvite = async (
  tx: Db,
  workspaceId: string,
  createdBy: { id: string; login: string },
  { role, expiresInHours, maxUses }: { role: Role; expiresInHours: number; maxUses: number | null },
): Promise<Invite> => {
  const code = createInviteCode()
  const [row] = await tx
    .insert(invites)
    .values({
      id: uuidv7(),
      workspaceId,
      code,
      codeKey: inviteCodeKey(code),
      role,
      maxUses,
      expiresAt: sql`now() + make_interval(hours => ${expiresInHours}::int)`,
      createdBy: createdBy.id,
    })
    .returning({ id: invites.id, expiresAt: invites.expiresAt, createdAt: invites.createdAt })
  if (!row) throw new Error('The insert returned no invite')
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

/** The invite with this code, held until the transaction ends, so that its uses are counted one after the other. */
export const lockInvite = async (tx: Db, code: string) => {
  const [row] = await tx
    .select({ id: invites.id, workspaceId: invites.workspaceId, role: invites.role, status })
    .from(invites)
    .where(eq(invites.codeKey, inviteCodeKey(code)))
    .for('update')
  return row
}

export const countInviteUse = async (tx: Db, id: string): Promise<void> => {
  await tx
    .update(invites)
    .set({ usedCount: sql`${invites.usedCount} + 1` })
    .where(eq(invites.id, id))
}
