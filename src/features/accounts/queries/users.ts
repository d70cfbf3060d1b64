import { and, eq, isNotNull, or, sql } from 'drizzle-orm'
import { v7 as uuidv7 } from 'uuid'
import type { Db } from '../../../platform/database/client.js'
import { locksOfUsers } from '../../../platform/database/locks.js'
import { orNull, statement, text } from '../../../platform/database/statement.js'
import { theRow } from '../../../platform/database/the-row.js'
import { users } from '../tables.js'

export interface User {
  id: string
  repohostId: number
  login: string
  avatarUrl: string
  generation: number
}

const columns = {
  id: users.id,
  repohostId: sql<number>`${users.repohostId}`.mapWith(users.repohostId),
  login: users.login,
  avatarUrl: users.avatarUrl,
  generation: users.generation,
}

/** Undefined for an account that was deleted. */
export const readUser = async (db: Db, id: string): Promise<User | undefined> => {
  const [user] = await db
    .select(columns)
    .from(users)
    .where(and(eq(users.id, id), isNotNull(users.repohostId)))
  return user
}

/** The user who has this login now, compared without case. */
export const findUser = async (db: Db, login: string): Promise<User | undefined> => {
  const [user] = await db
    .select(columns)
    .from(users)
    .where(and(eq(users.loginKey, login.toLowerCase()), isNotNull(users.repohostId)))
  return user
}

const READ_REPOHOST_ID = statement(
  'read the host id of a user',
  { repohostId: orNull(text) },
  `select repohost_id::text as "repohostId" from users where id = $1::uuid`,
)

/** Null for an account that was deleted. */
export const readRepohostId = async (db: Db, id: string): Promise<string | null> =>
  (await db.rows(READ_REPOHOST_ID, [id]))[0]?.repohostId ?? null

const LOCK_USER = statement(
  'lock the workspaces of a user',
  {},
  `select pg_advisory_xact_lock(${locksOfUsers.workspaces}, hashtext($1::uuid::text))`,
)

/**
 * Held until the transaction ends: what counts the user's workspaces must not be done twice at once. The row itself stays
 * free: who is here goes on to memberships, while a flush holds memberships and may then change the user's time zone.
 */
export const lockUser = async (tx: Db, id: string): Promise<User | undefined> => {
  await tx.rows(LOCK_USER, [id])
  return readUser(tx, id)
}

/** $1: the login in lower case; $2: whom it belongs to now, by the host's id. */
const FREE_LOGIN = statement(
  'take a login from another user',
  {},
  `
  update users set login = login || s.suffix, login_key = login_key || s.suffix
  from (
    select u.id, repeat('.' || u.repohost_id, n) as suffix
    from users u cross join generate_series(1, 100) n
    where u.login_key = $1::text and u.repohost_id <> $2::bigint
      and not exists (select from users o where o.login_key = u.login_key || repeat('.' || u.repohost_id, n))
    order by n limit 1
  ) s
  where users.id = s.id`,
)

/**
 * The user as the host describes them now. A login that another user still carries is taken from that user, who gets
 * `<login>.<host id>` instead: with the id as often as it takes where somebody really has that login.
 */
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
  await tx.rows(FREE_LOGIN, [loginKey, repohostId])
  const rows = await tx
    .insert(users)
    // Not the beginning of the transaction, which may have waited: `wasRemovedSince` relies on the order.
    .values({ id: uuidv7(), repohostId, login, loginKey, avatarUrl, createdAt: sql`statement_timestamp()` })
    .onConflictDoUpdate({ target: users.repohostId, set: { login, loginKey, avatarUrl } })
    .returning(columns)
  return theRow(rows)
}
