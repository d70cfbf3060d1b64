/** Pages of rows that can be large, such as settings: bounded in bytes as well, so that a page may end early. */
import type { Db, Parameter } from './client.js'
import { type Columns, integer, type RowOf, type Statement, statement } from './statement.js'

/** The maximum total bytes of a page's large columns. A page always has at least one row. */
const PAGE_BYTES = 1_048_576

/**
 * Declares a list for `readBoundedPage`. Each row has the count of all rows found (`total`).
 * @param rows a select of the columns, the columns of the order, and `bytes`; $1 is taken
 */
export const boundedList = <const C extends Columns>(
  name: string,
  columns: C,
  { rows, order }: { rows: string; order: string },
): Statement<RowOf<C & { total: typeof integer }>> => {
  const names = Object.keys(columns).map((column) => `"${column}"`)
  return statement(
    name,
    { ...columns, total: integer },
    `
    select ${names.join(', ')}, total from (
      select found.*, (count(*) over ())::int as total,
        coalesce(sum(bytes) over (order by ${order} rows between unbounded preceding and 1 preceding), 0) as bytes_before
      from (
        ${rows.trim()}
        order by ${order}
        limit $1::int
      ) found
    ) measured
    where bytes_before < ${PAGE_BYTES}
    order by ${order}`,
  )
}

export interface BoundedPage<Row> {
  rows: Row[]
  /** Whether more rows follow. */
  more: boolean
}

/** @param parameters from $2 on */
export const readBoundedPage = async <Row extends { total: number }>(
  db: Db,
  list: Statement<Row>,
  limit: number,
  parameters: Parameter[],
): Promise<BoundedPage<Row>> => {
  const found = await db.rows(list, [limit + 1, ...parameters])
  const rows = found.slice(0, limit)
  return { rows, more: (found[0]?.total ?? 0) > rows.length }
}
