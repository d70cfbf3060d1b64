import { limits } from '../../schemas/limits.js'
import type { Db } from '../db/client.js'
import { flushes } from '../db/tables.js'
import { daysAgo, deleteSome, limitedDelete } from './limited-delete.js'

const DELETE_OLD_FLUSHES = limitedDelete(
  'delete old flushes',
  flushes,
  `created_at < ${daysAgo(limits.flush_id_days)}`,
)

/** Deletes ids that can no longer come again, at most so many. @returns how many */
export const deleteOldFlushes = (tx: Db, rows: number): Promise<number> =>
  deleteSome(tx, DELETE_OLD_FLUSHES, rows)
