/** Finds out without a write whether a write would work. */
import type { Db } from './client.js'
import { bool, orNull, type RowOf, singleRow, statement, text } from './statement.js'
import { listTableNames } from './table.js'

export interface WriteFault {
  /** Completes a sentence that begins with “The database is read-only: ”. */
  cause: string
  remedy: string
}

/** Missing tables from another version have no privileges, and are left out. */
export const READ_WRITABILITY = statement(
  'check writability',
  { readOnly: bool, isStandby: bool, role: text, denied: orNull(text) },
  `
  select current_setting('transaction_read_only')::bool as "readOnly", pg_is_in_recovery() as "isStandby",
    current_user::text as role,
    (select string_agg(name, ', ' order by name) from unnest($1::text[]) name
      where not (
        has_table_privilege(to_regclass('public.' || name), 'INSERT')
        and has_table_privilege(to_regclass('public.' || name), 'UPDATE')
        and has_table_privilege(to_regclass('public.' || name), 'DELETE')
      )) as denied`,
)

export type Writability = RowOf<typeof READ_WRITABILITY.columns>

export const writeFaultOf = ({ readOnly, isStandby, role, denied }: Writability): WriteFault | undefined => {
  if (isStandby)
    return {
      cause: 'it is a standby of another server.',
      remedy: 'Name the primary in DATABASE_URL, or promote this server.',
    }
  if (readOnly)
    return {
      cause: 'default_transaction_read_only is on.',
      remedy: 'Turn it off where it is set: for the server, the database or the role.',
    }
  if (denied !== null)
    return {
      cause: `the role ${role} has no right to change ${denied}.`,
      remedy: `Let ${role} own the tables, or grant it the rights.`,
    }
  return undefined
}

export const findWriteFault = async (db: Db): Promise<WriteFault | undefined> =>
  writeFaultOf(singleRow(await db.rows(READ_WRITABILITY, [listTableNames()])))
