import { gt, sql } from 'drizzle-orm'
import { limits } from '../../../../schemas/limits.js'
import type { Db } from '../../../platform/database/client.js'
import { bool, integer, singleRow, statement, text } from '../../../platform/database/statement.js'
import { revocations } from '../tables.js'

export const revokeToken = async (db: Db, jti: string, expiresAt: number): Promise<void> => {
  await db.insert(revocations).values({ jti, expiresAt: new Date(expiresAt * 1_000).toISOString() })
}

/** A single statement, so that a generation is never raised without a revocation for the other instances. */
const REVOKE_ALL = statement(
  'revoke user tokens',
  { generation: integer },
  `
  with raised as (
    update users set generation = generation + 1 where id = $1::uuid returning id, generation
  )
  insert into revocations (user_id, generation, expires_at)
  select id, generation, now() + make_interval(days => ${limits.session_days}) from raised
  returning generation`,
)

/**
 * Raises the user's generation and returns it: tokens of older generations are invalid. Undefined for a user that is
 * gone.
 */
export const revokeAllTokens = async (db: Db, userId: string): Promise<number | undefined> => {
  const [raised] = await db.rows(REVOKE_ALL, [userId])
  return raised?.generation
}

/** $1: an earlier time of the clock, or null. */
const READ_CLOCK = statement(
  'read database clock',
  { now: text, wentBack: bool },
  'select now()::text as now, coalesce(now() < $1::timestamptz, false) as "wentBack"',
)

/** Revokes one token, or all tokens of a user that are older than a generation. */
export interface Revoked {
  jti: string | null
  userId: string | null
  generation: number | null
}

/**
 * The revocations since a time on the database's clock, with an overlap for transactions that were still running.
 * Without a time, or after the clock was set back: all that still matter.
 */
export const readRevocations = async (
  db: Db,
  since: string | undefined,
): Promise<{ revocations: Revoked[]; asOf: string }> => {
  const rows = await db
    .select({ jti: revocations.jti, userId: revocations.userId, generation: revocations.generation })
    .from(revocations)
    .where(
      since === undefined
        ? gt(revocations.expiresAt, sql`now()`)
        : gt(revocations.revokedAt, sql`${since}::timestamptz - interval '15 seconds'`),
    )
  const { now, wentBack } = singleRow(await db.rows(READ_CLOCK, [since ?? null]))
  if (wentBack && since !== undefined) return readRevocations(db, undefined)
  return { revocations: rows, asOf: now }
}
