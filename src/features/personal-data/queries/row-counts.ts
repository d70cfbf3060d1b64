/** Counts the rows that belong to a workspace or name a person. */
import { getTableName } from 'drizzle-orm'
import type { Db } from '../../../platform/database/client.js'
import { integer, singleRow, statement } from '../../../platform/database/statement.js'
import { columnsOf, labelOf } from '../../../platform/database/table.js'
import { peopleColumns, tables } from '../../tables.js'

/** @param rows the rows whose last column is the id */
const count = (label: string, name: string, rows: string) => ({
  label,
  count: statement(name, { rows: integer }, `select count(*)::int as rows from ${rows} = $1::uuid`),
})

/** One statement for each table, because a cluster keeps them in different places. */
const OF_WORKSPACE = tables.flatMap((declared) => {
  if (!Object.values(columnsOf(declared.table)).includes('workspace_id')) return []
  const name = getTableName(declared.table)
  return count(labelOf(declared), `count ${name} by workspace`, `${name} where workspace_id`)
})

/**
 * Counts a person's rows by table and column, where an index finds them. Sums of the activity are left out. `daily_activity`
 * has no index by person alone, so it is read by workspace.
 */
const OF_PERSON = peopleColumns().flatMap(({ erasure, label, tableName, column }) => {
  const isIndexed =
    typeof erasure === 'string' || tableName === 'audit_entries' || tableName === 'dashboard_views'
  if (!isIndexed && tableName !== 'daily_activity') return []
  const rows =
    tableName === 'daily_activity'
      ? 'activity_people p join daily_activity a on a.workspace_id = p.workspace_id and a.user_id = p.user_id where p.user_id'
      : `${tableName} where ${column}`
  return count(label, `count ${tableName}.${column}`, rows)
})

const countAll = (counts: typeof OF_PERSON) => async (db: Db, id: string) => {
  const found: { label: string; rows: number }[] = []
  for (const { label, count } of counts) {
    const { rows } = singleRow(await db.rows(count, [id]))
    if (rows > 0) found.push({ label, rows })
  }
  return found
}

/** Table by table, without empty ones. */
export const countRowsOfPerson = countAll(OF_PERSON)
export const countRowsOfWorkspace = countAll(OF_WORKSPACE)
