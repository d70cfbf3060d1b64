import type postgres from 'postgres'
import type { SentStatement } from './driver.js'

/** The command that the server reports for each kind of statement. */
const COMMAND = /^\s*(?:with\b|(select|values|insert|update|delete|merge|set|show|begin|commit)\b)/i

/**
 * All of a statement's rows. Rows that don't look like the response to this exact statement are an error.
 * @throws if the server's last message is about another kind of statement, or its row count differs from what arrived
 */
export const checkedRows = async (text: string, statement: SentStatement): Promise<postgres.Row[]> => {
  const rows = await statement
  const expected = COMMAND.exec(text)?.[1]?.toUpperCase()
  const isItself = expected === undefined ? rows.command !== null : rows.command.startsWith(expected)
  const isComplete = rows.columns.length === 0 || rows.length === rows.count
  if (!isItself || !isComplete)
    throw new Error(`The response to a statement is ${rows.command} ${rows.count} with ${rows.length} rows`)
  return rows
}
