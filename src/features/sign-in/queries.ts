/** Browser sign-ins in progress. */
import { and, eq, gt, sql } from 'drizzle-orm'
import type { Db } from '../../platform/database/client.js'
import { oauthStates } from './tables.js'

/** Stores a started login. It can be completed once, within ten minutes. */
export const insertOauthState = async (db: Db, stateHash: string, returnTo: string): Promise<void> => {
  await db.insert(oauthStates).values({ stateHash, returnTo, expiresAt: sql`now() + interval '10 minutes'` })
}

/** Consumes a state. Returns where to go after the login, or undefined if the state is unknown, used or too old. */
export const consumeOauthState = async (db: Db, stateHash: string): Promise<string | undefined> => {
  const [row] = await db
    .delete(oauthStates)
    .where(and(eq(oauthStates.stateHash, stateHash), gt(oauthStates.expiresAt, sql`now()`)))
    .returning({ returnTo: oauthStates.returnTo })
  return row?.returnTo
}
