/** Deletes and updates with a limited number of rows, so that a backlog can't make them slow. */
import { getTableConfig, type PgTable } from 'drizzle-orm/pg-core'
import { integer, type Statement, statement } from './statement.js'

/**
 * A statement that deletes rows matching a condition, up to the number in its last parameter. It finds
 * them by their primary key, which means the same on every node of a cluster.
 * @param condition SQL; used twice, so that on a cluster a condition on a workspace runs on one node
 * @param limit the last parameter
 */
export const limitedDelete = (
  name: string,
  table: PgTable,
  condition: string,
  limit = '$1',
): Statement<{ deleted: number }> =>
  statement(
    name,
    { deleted: integer },
    `
  delete from ${getTableConfig(table).name}
  where ${someRows(table, condition, limit)}
  returning 1 as deleted`,
  )

/** The same for an update, after which the condition must no longer hold. @param set SQL */
export const limitedUpdate = (
  name: string,
  table: PgTable,
  set: string,
  condition: string,
  limit: string,
): Statement<{ changed: number }> =>
  statement(
    name,
    { changed: integer },
    `
  update ${getTableConfig(table).name} set ${set}
  where ${someRows(table, condition, limit)}
  returning 1 as changed`,
  )

const someRows = (table: PgTable, condition: string, limit: string): string => {
  const { name, columns, primaryKeys } = getTableConfig(table)
  const key = (primaryKeys[0]?.columns ?? columns.filter((column) => column.primary))
    .map((column) => column.name)
    .join(', ')
  return `${condition} and (${key}) in (select ${key} from ${name} where ${condition} limit ${limit}::int)`
}

/** SQL: this many days ago. */
export const daysAgo = (days: number): string => `now() - make_interval(days => ${days})`
