/**
 * Declares tables with rules for their rows: which people the rows name, how long they are kept, and where a cluster
 * keeps them. Erasure, export, retention, workspace removal, distribution and the privacy page follow from it. A table
 * with a `workspace_id` is deleted with its workspace.
 */
import { type BuildColumns, type BuildExtraConfigColumns, getTableColumns, getTableName } from 'drizzle-orm'
import {
  customType,
  getTableConfig,
  type PgColumnBuilderBase,
  type PgTable,
  type PgTableExtraConfigValue,
  type PgTableWithColumns,
  pgTable,
  timestamp,
} from 'drizzle-orm/pg-core'
import type { Task } from '../metrics/metrics.js'

/** The rule for a column that names a person. */
export interface PersonRule {
  /**
   * Applies when the account is deleted. `delete` deletes the row. `anonymize` makes the column name the deleted user.
   * Otherwise: the code that handles it, or the reason to keep it.
   */
  erasure: 'delete' | 'anonymize' | { by: string } | { keptBecause: string }
  /** The account-export property that contains the rows, or why none does. */
  export: string | { excludedBecause: string }
  /** The name of this person's rows in the operator's commands. By default, the table's label. */
  label?: string
}

export interface TableRules<Column extends string = string> {
  /** Columns that hold a user's id. */
  people?: Partial<Record<Column, PersonRule>>
  /**
   * How long rows are kept. By default, as long as their workspace or person. `sql` is the condition
   * for expired rows.
   */
  expiry?: { task: Task; sql: string }
  /**
   * On a Citus cluster: copied to every node (tables that everything joins and no hot path writes), spread by a column,
   * or only on the coordinator.
   */
  place: 'every node' | 'coordinator' | { spreadBy: 'workspace_id' | 'owner_key' | 'user_id' }
  /**
   * The people who decide what a person's rows contain and where they go. Nothing that anyone else does may change rows
   * that are routed by their person (`test/routing.test.ts`). Required for tables that are spread by person.
   */
  routedBy?: 'their person' | { also: string }
  /** When a workspace is deleted, these rows go first. */
  purgedFirst?: true
  /** The record of `GET /api/privacy` that describes the rows. Null if they contain no data about people. */
  privacyRecord: string | null
  /** The rows' name in the operator's commands. By default, the table's name. */
  label?: string
}

export interface DeclaredTable {
  table: PgTable
  rules: TableRules
}

/** Every table whose module is loaded, in order of declaration. No table refers to a later one. */
export const declaredTables: DeclaredTable[] = []

/** The names of all tables of this version. */
export const listTableNames = (): string[] => declaredTables.map(({ table }) => getTableName(table))

/** Declares a table. @throws if a column names a person or a workspace and has no rule */
export const table = <Name extends string, Columns extends Record<string, PgColumnBuilderBase>>(
  name: Name,
  columns: Columns,
  rules: TableRules<keyof Columns & string>,
  constraints?: (self: BuildExtraConfigColumns<Name, Columns, 'pg'>) => PgTableExtraConfigValue[],
): PgTableWithColumns<{
  name: Name
  schema: undefined
  columns: BuildColumns<Name, Columns, 'pg'>
  dialect: 'pg'
}> => {
  const made = pgTable(name, columns, constraints)
  const { people = {} } = rules as TableRules
  for (const [key, column] of Object.entries(columnsOf(made))) {
    if (namesPerson(made, column) && !people[key])
      throw new Error(
        `${name}.${column} refers to a person: add a rule for erasure and export under "people"`,
      )
    if (referencesOf(made, column).includes('workspaces') && column !== 'workspace_id')
      throw new Error(
        `${name}.${column} refers to a workspace: call it workspace_id, so that rows are deleted with their workspace`,
      )
  }
  const { place, routedBy } = rules as TableRules
  if (typeof place === 'object' && place.spreadBy === 'user_id' && !routedBy)
    throw new Error(
      `${name} holds a person's own data: say with "routedBy" who decides what its rows are, and where they go`,
    )
  declaredTables.push({ table: made, rules: rules as TableRules })
  return made
}

export const labelOf = ({ table, rules }: DeclaredTable): string =>
  rules.label ?? getTableName(table).replaceAll('_', ' ')

/** Names of columns by their keys. */
export const columnsOf = (made: PgTable): Record<string, string> =>
  Object.fromEntries(Object.entries(getTableColumns(made)).map(([key, { name }]) => [key, name]))

/** The tables that a column references. */
const referencesOf = (made: PgTable, column: string): string[] =>
  getTableConfig(made).foreignKeys.flatMap((key) => {
    const { columns, foreignTable } = key.reference()
    return columns.some(({ name }) => name === column) ? [getTableName(foreignTable)] : []
  })

/** Detected by a foreign key, or by a name such as `viewer_id`, because large tables have no foreign keys. */
const namesPerson = (made: PgTable, column: string): boolean =>
  referencesOf(made, column).includes('users') ||
  /^(user|viewer|member|actor|target|author|owner|person)_id$|_(by|of)$/.test(column)

export interface PersonColumn extends PersonRule {
  label: string
  table: PgTable
  tableName: string
  column: string
}

/** Every column that names a person, with its rule. */
export const listPeopleColumns = (): PersonColumn[] =>
  declaredTables.flatMap((declared) =>
    Object.entries(declared.rules.people ?? {}).flatMap(([key, rule]) => {
      const { table } = declared
      const column = columnsOf(table)[key]
      if (!rule || column === undefined) return []
      return [{ label: labelOf(declared), ...rule, table, tableName: getTableName(table), column }]
    }),
  )

/** A timestamp to the millisecond, as text. */
export const moment = (name: string) => timestamp(name, { withTimezone: true, precision: 3, mode: 'string' })

/** Ranges of days that don't touch, as text. */
export const dayRanges = customType<{ data: string }>({ dataType: () => 'datemultirange' })
