/** Accounts that were closed, and whose data is being erased. */
import { asc, eq } from 'drizzle-orm'
import type { Db } from '../../../platform/database/client.js'
import { integer, statement } from '../../../platform/database/statement.js'
import { DELETED_LOGIN } from '../deleted-user.js'
import { erasures, users } from '../tables.js'

/** Removes a locked user's name and schedules the erasure of the remaining rows. */
export const beginErasure = async (tx: Db, userId: string, loginKey: string): Promise<void> => {
  await tx.insert(erasures).values({ userId, loginKey })
  await tx
    .update(users)
    .set({
      repohostId: null,
      login: DELETED_LOGIN,
      loginKey: `${DELETED_LOGIN} ${userId}`,
      avatarUrl: '',
      timezone: null,
      timezoneChosen: false,
      disabledAt: null,
    })
    .where(eq(users.id, userId))
}

export interface Erasure {
  userId: string
  loginKey: string
}

/** Unfinished erasures, oldest first. */
export const listErasures = (db: Db): Promise<Erasure[]> =>
  db
    .select({ userId: erasures.userId, loginKey: erasures.loginKey })
    .from(erasures)
    .orderBy(asc(erasures.startedAt), asc(erasures.userId))

/** Longer than any request can take. */
const OPEN_MINUTES = 10

const FINISH_ERASURE = statement(
  'finish erasure',
  { ended: integer },
  `
  delete from erasures where user_id = $1::uuid and started_at not between now() - make_interval(mins => ${OPEN_MINUTES}) and now()
  returning 1 as ended`,
)

/**
 * Deletes the account of an erasure with nothing left to erase. Requests that were under way when the account was deleted may
 * still write for it, so an erasure stays open for a while. One that started in the future began before the clock was
 * set back, and ends at once.
 */
export const endErasure = async (tx: Db, userId: string): Promise<void> => {
  const ended = await tx.rows(FINISH_ERASURE, [userId])
  if (ended.length > 0) await tx.delete(users).where(eq(users.id, userId))
}
