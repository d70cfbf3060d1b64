/** Deletes and updates with a limited number of rows, so that a backlog can't make them slow. */
import { getTableConfig, type PgTable } from 'drizzle-orm/pg-core'
import { integer, statement } from './statement.js'

/**
 * A statement that deletes rows matching a condition, up to the number in its last parameter. It finds
 * them by their primary key, which means the same on every node of a cluster.
 * @param condition SQL; used twice, so that on a cluster a condition on a workspace runs on one node
 * @param limit the last parameter
 */
export const limitedDelete = (name: string, table: PgTable, condition: string, limit = '$1') =>
  limited(name, table, `delete from ${getTableConfig(table).name}`, condition, limit)

/** Like `limitedDelete`, but for an update, after which the condition must no longer hold. @param set SQL */
export const limitedUpdate = (name: string, table: PgTable, set: string, condition: string, limit: string) =>
  limited(name, table, `update ${getTableConfig(table).name} set ${set}`, condition, limit)

/** @param change SQL: what happens to the rows */
const limited = (name: string, table: PgTable, change: string, condition: string, limit: string) => {
  const { name: tableName, columns, primaryKeys } = getTableConfig(table)
  const key = (primaryKeys[0]?.columns ?? columns.filter((column) => column.primary))
    .map((column) => column.name)
    .join(', ')
  return statement(
    name,
    { changed: integer },
    `
  ${change}
  where ${condition} and (${key}) in (select ${key} from ${tableName} where ${condition} limit ${limit}::int)
  returning 1 as changed`,
  )
}

/** SQL: this many days ago. */
export const daysAgo = (days: number): string => `now() - make_interval(days => ${days})`
