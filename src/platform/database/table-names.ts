import { getTableName, is } from 'drizzle-orm'
import { PgTable } from 'drizzle-orm/pg-core'
import * as tables from './tables.js'

/** Of every table of this version. */
export const tableNames: string[] = Object.values(tables)
  .filter((table) => is(table, PgTable))
  .map((table) => getTableName(table))
