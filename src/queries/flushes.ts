import { and, eq } from 'drizzle-orm'
import { limits } from '../../schemas/limits.js'
import type { Db } from '../db/client.js'
import { flushes } from '../db/tables.js'
import { daysAgo, deleteSome } from './limited-delete.js'

export const CLAIM_FLUSH = `
  insert into flushes (user_id, flush_id, body_hash) values ($1::uuid, $2::text, $3::text)
  on conflict do nothing
  returning flush_id`

/** False when the id is taken; waits for a flush with the same id that is under way. */
export const claimFlush = async (
  tx: Db,
  userId: string,
  flushId: string,
  bodyHash: string,
): Promise<boolean> => (await tx.statement(CLAIM_FLUSH, [userId, flushId, bodyHash])).length > 0

export const readFlush = async (
  db: Db,
  userId: string,
  flushId: string,
): Promise<{ bodyHash: string; answer: string | null } | undefined> => {
  const [flush] = await db
    .select({ bodyHash: flushes.bodyHash, answer: flushes.answer })
    .from(flushes)
    .where(and(eq(flushes.userId, userId), eq(flushes.flushId, flushId)))
  return flush
}

/** Deletes ids that can no longer come again, at most so many. @returns how many */
export const deleteOldFlushes = (tx: Db, rows: number): Promise<number> =>
  deleteSome(tx, 'flushes', `created_at < ${daysAgo(limits.flush_id_days)}`, rows)
