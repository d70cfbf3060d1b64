/** Deletes rows that their tables declare as expired. */
import { getTableName } from 'drizzle-orm'
import { limitedDelete } from '../../../platform/database/limited-delete.js'
import type { HousekeepingJob } from '../../../platform/process/housekeeping.js'
import { tables } from '../../tables.js'

export const retention: HousekeepingJob[] = tables.flatMap(({ table, rules: { expiry } }) => {
  if (!expiry) return []
  const deletion = limitedDelete(`expire ${getTableName(table)}`, table, expiry.sql)
  return {
    name: expiry.task,
    step: async (tx, rows) => (await tx.rows(deletion, [rows])).length === rows,
  }
})
