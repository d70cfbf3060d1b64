/** The number of rows that belong to a workspace. */
import { getTableName } from 'drizzle-orm'
import type { Db } from '../../../platform/database/client.js'
import { singleRow } from '../../../platform/database/single-row.js'
import { integer, statement } from '../../../platform/database/statement.js'
import { columnsOf, labelOf } from '../../../platform/database/table.js'
import { tables } from '../../../tables.js'

/** One statement for each table, because a cluster keeps them in different places. */
const COUNTS = tables.flatMap((declared) => {
  if (!Object.values(columnsOf(declared.table)).includes('workspace_id')) return []
  const name = getTableName(declared.table)
  const text = `select count(*)::int as rows from ${name} where workspace_id = $1::uuid`
  return {
    label: labelOf(declared),
    count: statement(`count ${name} of a workspace`, { rows: integer }, text),
  }
})

/** Table by table, without empty ones. */
export const countRowsOfWorkspace = async (
  db: Db,
  workspaceId: string,
): Promise<{ label: string; rows: number }[]> => {
  const found: { label: string; rows: number }[] = []
  for (const { label, count } of COUNTS) {
    const { rows } = singleRow(await db.rows(count, [workspaceId]))
    if (rows > 0) found.push({ label, rows })
  }
  return found
}
