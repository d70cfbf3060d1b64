import { limits } from '../../schemas/limits.js'
import type { Db } from '../db/client.js'
import { daysAgo, deleteSome } from './limited-delete.js'

/** Deletes ids that can no longer come again, at most so many. @returns how many */
export const deleteOldFlushes = (tx: Db, rows: number): Promise<number> =>
  deleteSome(tx, 'flushes', `created_at < ${daysAgo(limits.flush_id_days)}`, rows)
