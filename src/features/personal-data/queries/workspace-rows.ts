/** The number of rows that belong to a workspace. */
import { getTableName } from 'drizzle-orm'
import type { Db } from '../../../platform/database/client.js'
import { singleRow } from '../../../platform/database/single-row.js'
import { integer, statement } from '../../../platform/database/statement.js'
import { columnsOf } from '../../../platform/database/table.js'
import { tables } from '../../../tables.js'

/** One statement for each table, because a cluster keeps them in different places. */
const COUNTS = tables.flatMap(({ table }) => {
  const name = getTableName(table)
  if (!Object.values(columnsOf(table)).includes('workspace_id')) return []
  const text = `select count(*)::int as rows from ${name} where workspace_id = $1::uuid`
  return { name, count: statement(`count ${name} of a workspace`, { rows: integer }, text) }
})

/** Table by table, without empty ones. */
export const countRowsOfWorkspace = async (
  db: Db,
  workspaceId: string,
): Promise<{ name: string; rows: number }[]> => {
  const found: { name: string; rows: number }[] = []
  for (const { name, count } of COUNTS) {
    const { rows } = singleRow(await db.rows(count, [workspaceId]))
    if (rows > 0) found.push({ name, rows })
  }
  return found
}
