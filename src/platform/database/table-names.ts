import { getTableName } from 'drizzle-orm'
import { declaredTables } from './table.js'

/** The names of all tables of this version. */
export const listTableNames = (): string[] => declaredTables.map(({ table }) => getTableName(table))
