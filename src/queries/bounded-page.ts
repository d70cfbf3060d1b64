/** Pages of rows that can be large, such as settings: bounded in bytes as well, so that a page may end early. */

/** What the large columns of a page add up to at most; a page always has at least one row. */
const PAGE_BYTES = 1_048_576

/**
 * SQL: of `rows`, those that a page holds, each with their number (`total`).
 * @param rows a select of these columns and `bytes`, limited to one row more than was asked for
 * @param order of the rows
 */
export const boundedPage = (columns: string, rows: string, order: string): string => `
  select ${columns}, total from (
    select ${columns}, (count(*) over ())::int as total,
      coalesce(sum(bytes) over (order by ${order} rows between unbounded preceding and 1 preceding), 0) as bytes_before
    from (${rows}) found
  ) measured
  where bytes_before < ${PAGE_BYTES}
  order by ${order}`

export interface BoundedPage<Row> {
  rows: Row[]
  /** Whether others follow. */
  more: boolean
}

/** @param found what a `boundedPage` of `limit` + 1 rows gave */
export const toBoundedPage = <Row>(found: (Row & { total: number })[], limit: number): BoundedPage<Row> => {
  const rows = found.slice(0, limit)
  return { rows, more: (found[0]?.total ?? 0) > rows.length }
}
