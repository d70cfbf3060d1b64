import { getTableName } from 'drizzle-orm'
import { declaredTables } from './table.js'

/** Of every table of this version. */
export const listTableNames = (): string[] => declaredTables.map(({ table }) => getTableName(table))
