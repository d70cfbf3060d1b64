/** The history of settings: the last versions of a subject. Snapshots, overrides and workspace settings have one each. */
import { and, lte, type SQL } from 'drizzle-orm'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'
import { limits } from '../../../../schemas/limits.js'
import type { Db } from '../../../platform/database/client.js'
import {
  type Column,
  type Columns,
  integer,
  moment,
  orNull,
  type Parameter,
  type RowOf,
  statement,
  text,
} from '../../../platform/database/statement.js'
import { toTimestamp, withUpdatedAt } from '../../../platform/time/clock.js'
import { authorName } from '../../keys/index.js'

const AUTHOR = authorName('v.created_by_key', 'u.login')

interface Subject<Key, Author extends string | null, More extends Columns> {
  /** Used in the names of its statements. */
  name: string
  parameters(key: Key): Parameter[]
  /**
   * SQL: all versions of the subject with these parameters, with `version`, `settings`, `created_at`, `created_by`,
   * `created_by_key`, `reason` and what `more` has.
   */
  versions: string
  /** SQL: the parameter with the version, which comes after the subject's. */
  version: string
  /** The author can be unknown if an earlier release didn't record one. */
  author: Column<Author>
  more: More
}

interface Version<Author> {
  version: number
  /** JSON text. */
  settings: string
  updatedAt: string
  updatedBy: Author
}

export const historyOf = <Key, Author extends string | null, const More extends Columns>({
  name,
  parameters,
  versions,
  version: requestedVersion,
  author,
  more,
}: Subject<Key, Author, More>) => {
  const from = `(${versions}) v left join users u on u.id = v.created_by`
  const listVersions = statement(
    `list ${name} versions`,
    { version: integer, size_bytes: integer, created_at: moment, created_by: author, reason: orNull(text) },
    `
  select v.version, octet_length(v.settings) as size_bytes, v.created_at, ${AUTHOR} as created_by, v.reason
  from ${from}
  order by v.version desc limit ${limits.settings_versions_kept}`,
  )
  const further = Object.keys(more).map((column) => `, v."${column}"`)
  const readVersion = statement(
    `read ${name} version`,
    { version: integer, settings: text, updatedAt: moment, updatedBy: author, ...more },
    `
  select v.version, v.settings, v.created_at as "updatedAt", ${AUTHOR} as "updatedBy"${further.join('')}
  from ${from}
  where v.version = ${requestedVersion}::int`,
  )
  return {
    /** The versions, newest first. Empty if there is no such subject. */
    list: async (db: Db, key: Key) => {
      const rows = await db.rows(listVersions, parameters(key))
      return rows.map((row) => ({ ...row, created_at: toTimestamp(row.created_at) }))
    },
    read: async (db: Db, key: Key, version: number) => {
      // No version was ever too large for the column.
      if (version > 2_147_483_647) return undefined
      const rows = await db.rows(readVersion, [...parameters(key), version])
      // TypeScript can’t derive it from columns that aren’t known here.
      const [row] = rows as (Version<Author> & RowOf<More>)[]
      return row && withUpdatedAt(row)
    },
  }
}

/** Deletes versions that are no longer kept. @param version the newest */
export const dropOldVersions = async (
  tx: Db,
  table: PgTable & { version: PgColumn },
  ofSubject: SQL | undefined,
  version: number,
): Promise<void> => {
  const oldest = version - limits.settings_versions_kept
  if (oldest >= 1) await tx.delete(table).where(and(ofSubject, lte(table.version, oldest)))
}
