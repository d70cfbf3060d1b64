import { type SQL, sql } from 'drizzle-orm'
import type { Parameter } from './client.js'

/** A constant SQL text with `$1`, `$2` … for Drizzle's `execute`, so that one text serves the pool and transactions. */
export const statement = (text: string, parameters: Parameter[]): SQL => {
  const chunks = text.split(/\$([0-9]+)/).map((chunk, index) =>
    // Every second chunk is the number of a parameter.
    index % 2 === 0 ? sql.raw(chunk) : sql`${sql.param(parameters[Number(chunk) - 1])}`,
  )
  return sql.join(chunks)
}
