/** Deletes a deleted workspace's remaining rows. */
import { getTableName } from 'drizzle-orm'
import type { HousekeepingJob } from '../../../platform/database/housekeeping.js'
import { limitedDelete } from '../../../platform/database/limited-delete.js'
import { statement, uuid } from '../../../platform/database/statement.js'
import { columnsOf } from '../../../platform/database/table.js'
import { tables } from '../../tables.js'

/**
 * In the reverse order of declaration, so that tables that say how others are shown, such as `privacy_levels`, come after
 * those.
 */
const PURGES = tables
  .filter(({ table }) => Object.values(columnsOf(table)).includes('workspace_id'))
  .reverse()
  .sort((a, b) => Number(b.rules.purgedFirst ?? false) - Number(a.rules.purgedFirst ?? false))
  .map(({ table }) => limitedDelete(`purge ${getTableName(table)}`, table, 'workspace_id = $1::uuid', '$2'))

const LIST_DELETED = statement(
  'list deleted workspaces',
  { id: uuid },
  'select id from workspaces where deleted_at is not null order by deleted_at, id',
)
const PURGE_WORKSPACE = statement('purge workspace', {}, 'delete from workspaces where id = $1::uuid')

/** Deleted workspaces take turns. A step deletes a limited number of rows of one table, or at the end the workspace itself. */
export const purge: HousekeepingJob = {
  name: 'deleted workspaces',
  list: (db) => db.rows(LIST_DELETED, []),
  step: async (tx, rows, id) => {
    for (const deletion of PURGES) if ((await tx.rows(deletion, [id, rows])).length > 0) return true
    await tx.rows(PURGE_WORKSPACE, [id])
    return false
  },
}

/** Deletes rows that their tables declare as expired. */
export const retention: HousekeepingJob[] = tables.flatMap(({ table, rules: { expiry } }) => {
  if (!expiry) return []
  const deletion = limitedDelete(`expire ${getTableName(table)}`, table, expiry.sql)
  return {
    name: expiry.task,
    goesByTime: true,
    step: async (tx, rows) => (await tx.rows(deletion, [rows])).length === rows,
  }
})
