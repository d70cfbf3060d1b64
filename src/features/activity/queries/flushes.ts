import { limits } from '../../../../schemas/limits.js'
import type { Db } from '../../../platform/database/client.js'
import { daysAgo, deleteSome, limitedDelete } from '../../../platform/database/limited-delete.js'
import { flushes } from '../tables.js'

const DELETE_OLD_FLUSHES = limitedDelete(
  'delete old flushes',
  flushes,
  `created_at < ${daysAgo(limits.flush_id_days)}`,
)

/** Deletes ids that can no longer come again, at most so many. @returns how many */
export const deleteOldFlushes = (tx: Db, rows: number): Promise<number> =>
  deleteSome(tx, DELETE_OLD_FLUSHES, rows)
