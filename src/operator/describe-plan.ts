/** Describes what `npm run migrate` would do, in lines for an operator. */
import type postgres from 'postgres'
import { inDedicatedSession } from '../platform/database/dedicated-session.js'
import { isCurrent, readNewestMigration, readPending, requireUsable } from '../platform/database/migrate.js'
import { migrations, newestMigration } from '../platform/database/migrations.js'

/** @throws {OperatorError} if a newer version has migrated the database, or the service can't use it */
export const describePlan = (url: string, stopped?: AbortSignal, shipped = migrations): Promise<string[]> =>
  inDedicatedSession(url, stopped, async (sql) => {
    await requireUsable(sql)
    if (await isCurrent(sql, shipped))
      return [`The database is current: ${newestMigration.tag}. Nothing would run.`]
    if ((await readNewestMigration(sql)) === undefined)
      return ['The database has no tables of this service. All would be created in one transaction.']
    const sizes = await readSizes(sql)
    return (await readPending(sql, shipped)).flatMap(({ migration: { tag, steps }, done }) => [
      tag,
      ...steps
        .slice(done)
        .flatMap(({ kind, tables, commands }, n) => [
          `  ${done + n + 1}. ${[kind, tables.map((table) => `${table} (about ${count(sizes.get(table))} rows)`).join(', ')].join(' ').trim()}`,
          ...commands.map((command) => `     ${command.replaceAll('\n', '\n     ')}`),
        ]),
    ])
  })

/** An activity row's size in bytes with its header, for a table that was never analysed. */
const BYTES_PER_ROW = 100

/** The planner's estimate of each table's rows. */
const readSizes = async (sql: postgres.ISql): Promise<Map<string, number>> => {
  const found = await sql<{ name: string; rows: number }[]>`
    select relname as name,
      (case when reltuples < 0 then pg_relation_size(oid) / ${BYTES_PER_ROW}::float8 else reltuples end)::float8 as rows
    from pg_class where relnamespace = to_regnamespace('public') and relkind in ('r', 'p')`
  return new Map(found.map(({ name, rows }) => [name, rows]))
}

const count = (rows = 0) => Math.round(rows).toLocaleString('en')
