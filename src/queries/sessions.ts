import { eq, gt, sql } from 'drizzle-orm'
import { limits } from '../../schemas/limits.js'
import type { Db } from '../db/client.js'
import { oauthStates, revocations, users } from '../db/tables.js'
import { deleteSome } from './limited-delete.js'

const sessionLifetime = sql`make_interval(days => ${limits.session_days}::int)`

export const revokeToken = async (db: Db, jti: string, expiresAt: number): Promise<void> => {
  await db.insert(revocations).values({ jti, expiresAt: new Date(expiresAt * 1_000).toISOString() })
}

/** Raises the user's generation and returns it: every token of an older one is dead. */
export const revokeAllTokens = async (db: Db, userId: string): Promise<number> => {
  const [user] = await db
    .update(users)
    .set({ generation: sql`${users.generation} + 1` })
    .where(eq(users.id, userId))
    .returning({ generation: users.generation })
  const generation = user?.generation ?? 0
  await db.insert(revocations).values({ userId, generation, expiresAt: sql`now() + ${sessionLifetime}` })
  return generation
}

/**
 * The revocations since a moment of the database's clock, with an overlap for transactions that were still under way.
 * Without a moment: all that still matter.
 */
export const readRevocations = async (db: Db, since: string | undefined) => {
  const rows = await db
    .select({ jti: revocations.jti, userId: revocations.userId, generation: revocations.generation })
    .from(revocations)
    .where(
      since === undefined
        ? gt(revocations.expiresAt, sql`now()`)
        : gt(revocations.revokedAt, sql`${since}::timestamptz - interval '15 seconds'`),
    )
  const [clock] = await db.execute<{ now: string }>(sql`select now()::text as now`)
  return { revocations: rows, asOf: clock?.now }
}

/** @returns how many */
export const deleteExpiredRevocations = (tx: Db, rows: number): Promise<number> =>
  deleteSome(tx, 'revocations', 'expires_at < now()', rows)

/** @returns how many */
export const deleteExpiredLogins = (tx: Db, rows: number): Promise<number> =>
  deleteSome(tx, 'oauth_states', 'expires_at < now()', rows)

/** Remembers a login that begins; it may be finished once and within ten minutes. */
export const insertOauthState = async (db: Db, stateHash: string, returnTo: string): Promise<void> => {
  await db.insert(oauthStates).values({ stateHash, returnTo, expiresAt: sql`now() + interval '10 minutes'` })
}

/** Uses a state up. Returns where its login wants to go, or undefined when it is unknown, used or too old. */
export const takeOauthState = async (db: Db, stateHash: string): Promise<string | undefined> => {
  const [row] = await db
    .delete(oauthStates)
    .where(eq(oauthStates.stateHash, stateHash))
    .returning({ returnTo: oauthStates.returnTo, live: sql<boolean>`${oauthStates.expiresAt} > now()` })
  return row?.live ? row.returnTo : undefined
}
