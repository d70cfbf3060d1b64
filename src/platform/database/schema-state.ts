import type { Db } from './client.js'
import { newestMigration } from './migrations.js'
import { double, orNull, singleRow, statement } from './statement.js'

const READ_NEWEST = statement(
  'read the newest migration',
  { newest: orNull(double) },
  'select max(created_at)::float8 as newest from drizzle.__drizzle_migrations',
)

/**
 * Whether the database responds and has all of this version's migrations. Running instances accept a newer schema:
 * while instances are replaced one by one, the first new one migrates for all.
 */
export const isSchemaCurrent = async (db: Db): Promise<boolean> => {
  const { newest } = singleRow(await db.rows(READ_NEWEST, []))
  return newest !== null && newest >= newestMigration.when
}
