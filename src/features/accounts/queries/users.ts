import { and, eq, isNotNull, isNull, or, sql } from 'drizzle-orm'
import { v7 as uuidv7 } from 'uuid'
import type { Db } from '../../../platform/database/client.js'
import { lockOfUser, locksOfUsers } from '../../../platform/database/locks.js'
import { bool, orNull, singleRow, statement, text } from '../../../platform/database/statement.js'
import { isUuid } from '../../../platform/http/formats.js'
import { users } from '../tables.js'

/** A person's time zone. */
export interface Timezone {
  timezone: string | null
  /** Whether the person chose it, rather than a client. */
  timezoneChosen: boolean
}

export interface User extends Timezone {
  id: string
  repohostId: number
  login: string
  avatarUrl: string
  generation: number
  /** Null: the account is enabled. */
  disabledAt: string | null
}

const columns = {
  id: users.id,
  repohostId: sql<number>`${users.repohostId}`.mapWith(users.repohostId),
  login: users.login,
  avatarUrl: users.avatarUrl,
  generation: users.generation,
  timezone: users.timezone,
  timezoneChosen: users.timezoneChosen,
  disabledAt: users.disabledAt,
}

/** Undefined for an account that was deleted. */
export const readUser = async (db: Db, id: string): Promise<User | undefined> => {
  const [user] = await db
    .select(columns)
    .from(users)
    .where(and(eq(users.id, id), isNotNull(users.repohostId)))
  return user
}

/** The users with this login, compared without case, with this id, or with this id at the repository host. */
export const findUsers = (db: Db, name: string): Promise<User[]> => {
  const key = name.toLowerCase()
  return db
    .select(columns)
    .from(users)
    .where(
      and(
        isNotNull(users.repohostId),
        or(
          eq(users.loginKey, key),
          isUuid(key) ? eq(users.id, key) : undefined,
          /^[0-9]{1,15}$/.test(key) ? eq(users.repohostId, Number(key)) : undefined,
        ),
      ),
    )
    .orderBy(users.id)
}

/** The ids of all disabled accounts. */
export const listDisabledUsers = async (db: Db): Promise<string[]> => {
  const rows = await db.select({ id: users.id }).from(users).where(isNotNull(users.disabledAt))
  return rows.map(({ id }) => id)
}

/** Disables or enables an account. @returns whether this call did */
export const setDisabled = async (tx: Db, id: string, disabled: boolean): Promise<boolean> => {
  const changed = await tx
    .update(users)
    .set({ disabledAt: disabled ? sql`now()` : null })
    .where(and(eq(users.id, id), disabled ? isNull(users.disabledAt) : isNotNull(users.disabledAt)))
    .returning({ id: users.id })
  return changed.length > 0
}

/** $2: null gives the choice back to the clients. */
const CHOOSE_TIMEZONE = statement(
  'choose time zone',
  { timezone: orNull(text), timezoneChosen: bool },
  `
  update users set timezone = coalesce($2::text, timezone), timezone_chosen = $2::text is not null
  where id = $1::uuid and repohost_id is not null
  returning timezone, timezone_chosen as "timezoneChosen"`,
)

/** @param timezone null gives the choice back to the clients @returns undefined if there's no such account */
export const chooseTimezone = async (
  db: Db,
  userId: string,
  timezone: string | null,
): Promise<Timezone | undefined> => (await db.rows(CHOOSE_TIMEZONE, [userId, timezone]))[0]

/** Per person: $1 user, $2 time zone. */
const NAME_TIMEZONES = statement(
  'update named time zones',
  {},
  `
  update users u set timezone = r.timezone
  from unnest($1::uuid[], $2::text[]) as r (id, timezone)
  where u.id = r.id and not u.timezone_chosen and u.repohost_id is not null`,
)

/** Stores the time zones that people's clients have named, unless they have chosen one meanwhile. */
export const nameTimezones = async (
  tx: Db,
  people: readonly { userId: string; timezone: string }[],
): Promise<void> => {
  if (people.length === 0) return
  await tx.rows(NAME_TIMEZONES, [people.map(({ userId }) => userId), people.map(({ timezone }) => timezone)])
}

const READ_REPOHOST_ID = statement(
  'read host id',
  { repohostId: orNull(text) },
  `select repohost_id::text as "repohostId" from users where id = $1::uuid`,
)

/** Null for an account that was deleted. */
export const readRepohostId = async (db: Db, id: string): Promise<string | null> =>
  (await db.rows(READ_REPOHOST_ID, [id]))[0]?.repohostId ?? null

const LOCK_USER = lockOfUser('lock user workspaces', locksOfUsers.workspaces)

/**
 * Locks until the transaction ends: only one transaction at a time may count a user's workspaces. The row itself stays
 * unlocked: the holder locks memberships next, while a flush holds memberships and may then change the user's time zone.
 */
export const lockUser = async (tx: Db, id: string): Promise<User | undefined> => {
  await tx.rows(LOCK_USER, [id])
  return readUser(tx, id)
}

/** $1: the login in lower case; $2: its current owner, by the host's id. */
const FREE_LOGIN = statement(
  'release login',
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
 * Stores the user as described by the host. If another user still has the login, that user gets `<login>.<host id>`
 * instead, and the id is repeated while that's taken too.
 */
export const upsertUser = async (
  tx: Db,
  { id: repohostId, login, avatarUrl }: { id: number; login: string; avatarUrl: string },
): Promise<User> => {
  const loginKey = login.toLowerCase()
  // Locked in a fixed order, so that people who swap logins at the same moment don't deadlock.
  await tx
    .select({ id: users.id })
    .from(users)
    .where(or(eq(users.loginKey, loginKey), eq(users.repohostId, repohostId)))
    .orderBy(users.id)
    .for('no key update')
  await tx.rows(FREE_LOGIN, [loginKey, repohostId])
  const rows = await tx
    .insert(users)
    // Not `now()`, because the transaction may have waited since it began. `wasRemoved` relies on the order.
    .values({ id: uuidv7(), repohostId, login, loginKey, avatarUrl, createdAt: sql`statement_timestamp()` })
    .onConflictDoUpdate({ target: users.repohostId, set: { login, loginKey, avatarUrl } })
    .returning(columns)
  return singleRow(rows)
}
