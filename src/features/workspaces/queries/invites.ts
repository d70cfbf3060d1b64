import { randomInt } from 'node:crypto'
import { and, eq, isNull, sql } from 'drizzle-orm'
import { MAX as LAST_UUID, v7 as uuidv7 } from 'uuid'
import type { Role } from '../../../../schemas/common.js'
import type { Invite, InviteGreeting } from '../../../../schemas/invites.js'
import type { Db } from '../../../platform/database/client.js'
import {
  integer,
  moment,
  orNull,
  singleRow,
  statement,
  text,
  textOf,
  uuid,
} from '../../../platform/database/statement.js'
import { toTimestamp } from '../../../platform/time/clock.js'
import { ACTIVE_INVITE, invites } from '../tables.js'

/** An invite's status. A join checks the conditions in this order. */
const status = sql<Invite['status']>`case
  when ${invites.revokedAt} is not null then 'revoked'
  when ${invites.expiresAt} <= now() then 'expired'
  when ${invites.usedCount} >= ${invites.maxUses} then 'exhausted'
  else 'active' end`

const isActive = sql.raw(ACTIVE_INVITE)

/** Uses the statement's time, like removals do, because the transaction may have waited for a removal since it began. */
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
  const row = singleRow(rows)
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

const READ_GREETING = statement(
  'read invite greeting',
  { workspace_name: text, invited_by: text },
  `select w.name workspace_name, u.login invited_by
  from invites i join workspaces w on w.id = i.workspace_id join users u on u.id = i.created_by
  where i.code_key = $1::text and ${ACTIVE_INVITE}`,
)

/** Undefined if there's no such invite, or if it no longer works. */
export const readGreeting = async (db: Db, code: string): Promise<InviteGreeting | undefined> =>
  (await db.rows(READ_GREETING, [inviteCodeKey(code)]))[0]

/**
 * @returns whether the invite can be redeemed. If so, it's locked until the transaction ends and has one use fewer.
 */
export const redeemInvite = async (tx: Db, id: string): Promise<boolean> => {
  const used = await tx
    .update(invites)
    .set({ usedCount: sql`${invites.usedCount} + 1` })
    .where(and(eq(invites.id, id), isActive))
    .returning({ id: invites.id })
  return used.length > 0
}

/** $2, $3: the time and id of the previous page's last invite, or nulls; $4: how many rows. */
const LIST_ACTIVE = statement(
  'list active invites',
  {
    id: uuid,
    code: text,
    role: textOf<Role>(),
    max_uses: orNull(integer),
    used_count: integer,
    expires_at: moment,
    created_by: text,
    created_at: moment,
  },
  `
  select i.id, i.code, i.role, i.max_uses, i.used_count, i.expires_at, u.login as created_by, i.created_at
  from (select * from invites where ${ACTIVE_INVITE}) i join users u on u.id = i.created_by
  where i.workspace_id = $1::uuid
    and (i.created_at, i.id) < (coalesce($2::timestamptz, 'infinity'), coalesce($3::uuid, '${LAST_UUID}'))
  order by i.created_at desc, i.id desc
  limit $4::int`,
)

/** The invites that can still be redeemed, newest first. `after` is the time and id where the previous page ended. */
export const listActiveInvites = async (
  db: Db,
  workspaceId: string,
  after: string[] | undefined,
  rows: number,
): Promise<Invite[]> => {
  const [lastCreated = null, lastId = null] = after ?? []
  const found = await db.rows(LIST_ACTIVE, [workspaceId, lastCreated, lastId, rows])
  return found.map((row) => ({
    ...row,
    status: 'active',
    expires_at: toTimestamp(row.expires_at),
    created_at: toTimestamp(row.created_at),
  }))
}

/** @returns whether the invite exists, and whether this call revoked it. */
export const markRevoked = async (
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

/** Revokes a person's active invites, in one workspace or in all. @returns how many */
export const revokeInvitesOf = async (tx: Db, userId: string, workspaceId?: string): Promise<number> => {
  const here = workspaceId === undefined ? undefined : eq(invites.workspaceId, workspaceId)
  const revoked = await tx
    .update(invites)
    .set({ revokedAt: sql`now()` })
    .where(and(here, eq(invites.createdBy, userId), isActive))
    .returning({ id: invites.id })
  return revoked.length
}

/** Has no 0, 1, I, L or O, which are easily confused when read aloud or typed. */
const alphabet = '23456789ABCDEFGHJKMNPQRSTUVWXYZ'
const GROUPS = 4
const GROUP_LENGTH = 5

/** 20 characters out of 31, which is 99 random bits, in groups for readability. */
export const createInviteCode = (): string =>
  Array.from({ length: GROUPS }, () =>
    Array.from({ length: GROUP_LENGTH }, () => alphabet[randomInt(alphabet.length)]).join(''),
  ).join('-')

/** Case, dashes and spaces don't matter. */
export const inviteCodeKey = (code: string): string => code.replace(/[\s-]/g, '').toUpperCase()
