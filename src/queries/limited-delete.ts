import type { Db } from '../db/client.js'

/**
 * Deletes at most so many of a table's rows that fit a constant condition, so that no statement lasts long however much
 * has piled up. @returns how many
 */
export const deleteSome = async (tx: Db, table: string, condition: string, rows: number): Promise<number> => {
  const text = `delete from ${table} where ctid = any (array(select ctid from ${table} where ${condition} limit $1::int)) returning 1`
  return (await tx.statement(text, [rows])).length
}

/** SQL: so many days ago. */
export const daysAgo = (days: number): string => `now() - make_interval(days => ${days})`
