/** Distributes the tables over a Citus cluster's nodes. A single PostgreSQL doesn't use this. */
import { setTimeout as sleep } from 'node:timers/promises'
import { getTableName } from 'drizzle-orm'
import type postgres from 'postgres'
import { tables } from '../features/tables.js'
import { inDedicatedSession } from '../platform/database/dedicated-session.js'
import { locks } from '../platform/database/locks.js'
import { isCurrent, LOCK_POLL_MS } from '../platform/database/migrate.js'
import type { TableRules } from '../platform/database/table.js'
import { OperatorError } from '../platform/process/operator-error.js'

const tablesWith = (isHere: (place: TableRules['place']) => boolean): string[] =>
  tables.filter(({ rules }) => isHere(rules.place)).map(({ table }) => getTableName(table))

const spreadBy = (column: string) =>
  tablesWith((place) => typeof place === 'object' && place.spreadBy === column)

const MIGRATIONS = 'drizzle.__drizzle_migrations'

/** Each table's distribution. Tables that are joined share a column, and so a node. */
export const layout = {
  /** Ordered so that each table references only earlier ones. */
  copied: tablesWith((place) => place === 'every node'),
  spread: {
    owner_key: spreadBy('owner_key'),
    workspace_id: spreadBy('workspace_id'),
    user_id: spreadBy('user_id'),
  },
  /** Tables that are only on the coordinator, where sessions from any node read and write them. */
  kept: [...tablesWith((place) => place === 'coordinator'), MIGRATIONS],
}

/**
 * The setting of a cluster's database, which Citus applies on every node. Statements that change rows on several nodes
 * visit them one by one. They must in transactions that also change replicated tables, such as migrations and workspace
 * removals.
 */
export const clusterSetting = `set citus.multi_shard_modify_mode = 'sequential'`

/**
 * Distributes every table that isn't distributed yet, according to `layout`. Each table is a separate step, so that an
 * interrupted run continues with the next one. @param stopped ends the run
 * @throws {OperatorError} if there is no cluster
 */
export const distribute = (
  url: string,
  writeLine: (line: string) => void,
  stopped?: AbortSignal,
): Promise<void> =>
  inDedicatedSession(url, stopped, async (sql) => {
    await requireCoordinator(sql)
    // Prevents a migration or a second run at the same time. A session that waited for the lock would keep a migration
    // from building indexes.
    const take = () => sql`select pg_try_advisory_lock(${locks.migration}) as taken`
    while (!(await take())[0]?.taken) await sleep(LOCK_POLL_MS, undefined, stopped && { signal: stopped })
    if (!(await isCurrent(sql)))
      throw new OperatorError('The schema isn’t current: run `npm run migrate` first')
    await distributeTables(sql, writeLine)
    const [{ database } = {}] = await sql`select quote_ident(current_database()) as database`
    await sql.unsafe(`alter database ${database} ${clusterSetting}`)
    writeLine('Every table is in place.')
  })

const requireCoordinator = async (sql: postgres.Sql) => {
  const [extension] = await sql`select from pg_extension where extname = 'citus'`
  if (!extension) {
    throw new OperatorError(
      'The database has no extension "citus". A single PostgreSQL doesn’t need this command. On the coordinator of a cluster, run `create extension citus` in this database, there and on every worker, and add the workers with citus_add_node',
    )
  }
  const [node] = await sql<{ isWorker: boolean; knowsItself: boolean; hasWorkers: boolean }[]>`
    select groupid <> 0 as "isWorker", exists (select from pg_dist_node where groupid = 0) as "knowsItself",
      exists (select from pg_dist_node where shouldhaveshards) as "hasWorkers"
    from pg_dist_local_group`
  if (node?.isWorker) {
    throw new OperatorError('DATABASE_URL names a worker of the cluster: name its coordinator')
  }
  if (!node?.knowsItself) {
    throw new OperatorError(
      'The coordinator has no address that the workers can reach: run citus_set_coordinator_host with its host name and port',
    )
  }
  if (!node.hasWorkers) throw new OperatorError('The cluster has no workers: add them with citus_add_node')
}

interface Distribution {
  kind: 'distributed' | 'reference' | 'local'
  column: string
}

/** The tables known to every node. */
const readDistributions = async (sql: postgres.Sql): Promise<Map<string, Distribution>> => {
  const rows = await sql<(Distribution & { name: string })[]>`
    select table_name::text as name, citus_table_type as kind, distribution_column as column from citus_tables
    where citus_table_type in ('distributed', 'reference', 'local')`
  return new Map(rows.map((row) => [row.name, row]))
}

const distributeTables = async (sql: postgres.Sql, writeLine: (line: string) => void) => {
  const places = await readDistributions(sql)
  /** @returns whether the table is already in its place */
  const isDistributed = (table: string, wanted: Distribution): boolean => {
    const place = places.get(table)
    // Citus makes tables that refer to copied ones local by itself.
    if (!place || (place.kind === 'local' && wanted.kind !== 'local')) return false
    if (place.kind === wanted.kind && (place.kind !== 'distributed' || place.column === wanted.column))
      return true
    throw new OperatorError(
      `The table ${table} is ${place.kind} by ${place.column} and should be ${wanted.kind} by ${wanted.column}: move it with alter_distributed_table or undistribute_table`,
    )
  }
  for (const table of layout.copied) {
    if (isDistributed(table, { kind: 'reference', column: '<none>' })) continue
    await sql`select create_reference_table(${table}::text::regclass)`
    writeLine(`${table}: replicated to every node`)
  }
  for (const [column, tables] of Object.entries(layout.spread)) {
    for (const table of tables) {
      if (isDistributed(table, { kind: 'distributed', column })) continue
      const neighbor = tables.find((other) => places.get(other)?.kind === 'distributed') ?? 'none'
      await sql`select create_distributed_table(${table}::text::regclass, ${column}, colocate_with => ${neighbor})`
      places.set(table, { kind: 'distributed', column })
      writeLine(`${table}: distributed by ${column}`)
    }
  }
  for (const table of layout.kept) {
    if (isDistributed(table, { kind: 'local', column: '<none>' })) continue
    await sql`select citus_add_local_table_to_metadata(${table}::text::regclass)`
    writeLine(`${table}: on the coordinator, known to every node`)
  }
  // The old rows have been copied to the nodes. The originals would only waste disk space.
  for (const table of [...Object.values(layout.spread).flat(), ...layout.copied.toReversed()])
    await sql`select truncate_local_data_after_distributing_table(${table}::text::regclass)`
}
