import { and, eq, ne, or, sql } from 'drizzle-orm'
import { v7 as uuidv7 } from 'uuid'
import type { Db } from '../db/client.js'
import { locksOfUsers } from '../db/locks.js'
import { users } from '../db/tables.js'

export interface User {
  id: string
  repohostId: number
  login: string
  avatarUrl: string
  generation: number
}

const columns = {
  id: users.id,
  repohostId: users.repohostId,
  login: users.login,
  avatarUrl: users.avatarUrl,
  generation: users.generation,
}

export const readUser = async (db: Db, id: string): Promise<User | undefined> => {
  const [user] = await db.select(columns).from(users).where(eq(users.id, id))
  return user
}

/**
 * Held until the transaction ends: what counts the user's workspaces must not be done twice at once. The row itself stays
 * free: who is here goes on to memberships, while a flush holds memberships and may then change the user's time zone.
 */
export const lockUser = async (tx: Db, id: string): Promise<User | undefined> => {
  await tx.execute(sql`select pg_advisory_xact_lock(${locksOfUsers.workspaces}::int, hashtext(${id}))`)
  return readUser(tx, id)
}

/** The user as the host describes them now. A login that another user still carries is taken from that user. */
export const upsertUser = async (
  tx: Db,
  { id: repohostId, login, avatarUrl }: { id: number; login: string; avatarUrl: string },
): Promise<User> => {
  const loginKey = login.toLowerCase()
  // In one order: people who exchange their logins at the same moment wait for each other and do not deadlock.
  await tx
    .select({ id: users.id })
    .from(users)
    .where(or(eq(users.loginKey, loginKey), eq(users.repohostId, repohostId)))
    .orderBy(users.id)
    .for('no key update')
  await tx
    .update(users)
    .set({
      login: sql`${users.login} || '.' || ${users.repohostId}`,
      loginKey: sql`${users.loginKey} || '.' || ${users.repohostId}`,
    })
    .where(and(eq(users.loginKey, loginKey), ne(users.repohostId, repohostId)))
  const [user] = await tx
    .insert(users)
    .values({ id: uuidv7(), repohostId, login, loginKey, avatarUrl })
    .onConflictDoUpdate({ target: users.repohostId, set: { login, loginKey, avatarUrl } })
    .returning(columns)
  if (!user) throw new Error('The upsert returned no user')
  return user
}
