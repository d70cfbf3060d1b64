/** Checks whether the service can use a server and its database, before it creates tables there. */
import type postgres from 'postgres'
import { baseline, FIRST_MIGRATION } from './migrations.js'

export interface DatabaseFault {
  /** Completes a sentence that begins with “DATABASE_URL names”. */
  cause: string
  remedy: string
}

const MIN_POSTGRESQL = 15
/** How many of another application's tables are named. */
const MAX_TABLES_LISTED = 3

/**
 * Why the service can't use this database; undefined if it can. For a database it has used before, only the server
 * version is checked: its encoding and further tables were accepted then.
 */
export const findDatabaseFault = async (sql: postgres.ISql): Promise<DatabaseFault | undefined> => {
  const [server] = await sql<{ version: string; number: number; encoding: string }[]>`
    select current_setting('server_version') as version, current_setting('server_version_num')::int as number,
      current_setting('server_encoding') as encoding`
  if (!server) return undefined
  if (server.number < MIN_POSTGRESQL * 10_000)
    return {
      cause: `a server with PostgreSQL ${server.version}, and the service needs ${MIN_POSTGRESQL} or newer`,
      remedy: 'Upgrade it, or name a newer server.',
    }
  const use = await readUse(sql)
  if (use === 'from before 1.0.0')
    return {
      cause: 'a database that a version before 1.0.0 made',
      remedy: 'Start version 1.0.0 with it first, which upgrades it. Then start this version.',
    }
  if (use) return undefined
  if (server.encoding !== 'UTF8')
    return {
      cause: `a database with the encoding ${server.encoding}, which can’t store every character`,
      remedy: "Create one with encoding 'UTF8' and template template0.",
    }
  const tables = await listForeignTables(sql)
  if (tables.length === 0) return undefined
  const named = tables.slice(0, MAX_TABLES_LISTED).join(', ')
  return {
    cause: `a database with tables of another application (${named}${tables.length > MAX_TABLES_LISTED ? ', …' : ''})`,
    remedy: 'Create a separate database for the service.',
  }
}

/** Whether the service has already created its tables. */
const readUse = async (sql: postgres.ISql): Promise<'in use' | 'from before 1.0.0' | undefined> => {
  const [journal] = await sql<{ readable: boolean }[]>`
    select has_schema_privilege(n.oid, 'USAGE') and has_table_privilege(c.oid, 'SELECT') as readable
    from pg_class c join pg_namespace n on n.oid = relnamespace
    where nspname = 'drizzle' and relname = '__drizzle_migrations'`
  if (!journal) return undefined
  // Without permission to read it, something else needs fixing first.
  if (!journal.readable) return 'in use'
  const [own] = await sql<{ isOld: boolean }[]>`
    select max(created_at) < ${baseline.when} as "isOld" from drizzle.__drizzle_migrations
    having bool_or(created_at = ${FIRST_MIGRATION})`
  return own && (own.isOld ? 'from before 1.0.0' : 'in use')
}

/** Application tables. Extension tables don't matter. */
const listForeignTables = async (sql: postgres.ISql): Promise<string[]> => {
  const found = await sql<{ name: string }[]>`
    select relname as name from pg_class c
    where relnamespace = to_regnamespace('public') and relkind in ('r', 'p')
      and not exists (select from pg_depend where classid = 'pg_class'::regclass and objid = c.oid and deptype = 'e')
    order by relname limit ${MAX_TABLES_LISTED + 1}`
  return found.map(({ name }) => name)
}

/**
 * Whether there is a transaction pooler in front of the database: two sessions that are open at once share one backend,
 * or one of them changes its backend.
 */
export const isTransactionPooler = async (sql: postgres.Sql, other: postgres.Sql): Promise<boolean> => {
  const pid = async (session: postgres.Sql) => (await session`select pg_backend_pid() as pid`)[0]?.pid
  const [first, second, third] = [await pid(sql), await pid(other), await pid(sql)]
  return first === second || first !== third
}
