/** Restores a backup into a database that is empty or was only started, completely or not at all. */
import { pipeline } from 'node:stream/promises'
import { getTableName } from 'drizzle-orm'
import type postgres from 'postgres'
import { tables } from '../../features/tables.js'
import { inLongTransaction } from '../../platform/database/dedicated-session.js'
import { locks } from '../../platform/database/locks.js'
import { applyMigrations, migrate, requireUsable } from '../../platform/database/migrate.js'
import { baseline, newestMigration } from '../../platform/database/migrations.js'
import { OperatorError } from '../../platform/process/operator-error.js'
import { printable } from '../explain-failure.js'
import {
  type BackupReader,
  copyStatementOf,
  damagedBackup,
  deferIndexes,
  isRefused,
  type Manifest,
  RowChecksum,
  readBackup,
  readSums,
  requireSame,
} from './file.js'
import { endSessions, keepPresent, keepStricter, setAside } from './keep-stricter.js'
import { writeUndone } from './undone-changes.js'

export interface Restored {
  manifest: Manifest
  /** Accounts that were deleted since the backup. They're disabled, and have to be deleted again. */
  deletedAccounts: string[]
}

export interface RestoreOptions {
  /** The name of the database, to delete what is in it. What is stricter there is kept. */
  replaced?: string | undefined
  /** Sessions end otherwise: the backup doesn't know which ones have ended since. */
  keepSessions?: boolean
}

/**
 * @param writeLine receives a line for each table that has rows, and for what the restore kept and undid
 * @throws {OperatorError} if the file is damaged or newer than this program, or people have used the database
 */
export const restore = async (
  url: string,
  file: string,
  writeLine: (line: string) => void,
  stopped: AbortSignal,
  options: RestoreOptions = {},
): Promise<Restored> => {
  const restored = await readBackup(file, async (reader) => {
    const manifest = await reader.readManifest()
    requireKnown(manifest)
    const deletedAccounts = await inLongTransaction(url, 'isolation level read committed', stopped, (tx) =>
      load(tx, reader, manifest, writeLine, options),
    )
    return { manifest, deletedAccounts }
  })
  await migrate(url, stopped)
  return restored
}

/** @throws {OperatorError} if another version has to read the backup */
export const requireKnown = ({ version, migration }: Manifest) => {
  if (migration.when < baseline.when)
    throw new OperatorError(
      `The backup was made by version ${version}, before 1.0.0: restore it with version 1.0.0, which upgrades it. Then start this version with that database.`,
    )
  if (migration.when <= newestMigration.when) return
  throw new OperatorError(
    `The backup was made by version ${version} with migration ${migration.tag}, which is newer than ${newestMigration.tag}, the newest in this version: restore it with that version or a newer one.`,
  )
}

const load = async (
  tx: postgres.TransactionSql,
  reader: BackupReader,
  manifest: Manifest,
  writeLine: (line: string) => void,
  { replaced, keepSessions = false }: RestoreOptions,
): Promise<string[]> => {
  await tx`select pg_advisory_xact_lock(${locks.migration})`
  const hasPresent = await makeEmpty(tx, replaced)
  await requireUsable(tx)
  await applyMigrations(tx, { upTo: manifest.migration.when })
  await requireTables(tx, manifest)
  // Migrations insert the rows that every database has.
  for (const { name } of manifest.tables.toReversed()) await tx`delete from ${tx(`public.${name}`)}`
  const createIndexes = await deferIndexes(tx)
  const sha256: Record<string, string> = {}
  for (const table of manifest.tables) {
    if (`${await reader.readLine()}\n` !== copyStatementOf(table))
      throw damagedBackup(`${table.name} isn’t where it should be`)
    const tally = await loadRows(tx, reader, table)
    if (tally.rows !== table.rows)
      throw damagedBackup(`${table.name} has ${tally.rows} rows instead of ${table.rows}`)
    const [row] = await tx<
      { rows: string }[]
    >`select count(*)::text as rows from ${tx(`public.${table.name}`)}`
    if (Number(row?.rows) !== table.rows) throw damagedBackup(`not all rows of ${table.name} could be loaded`)
    sha256[table.name] = tally.sha256
    if (table.rows > 0) writeLine(`${table.name}: ${table.rows}`)
  }
  requireSame(sha256, await reader.readChecksums())
  const sums = await readSums(tx, Object.keys(manifest.sums))
  for (const [name, sum] of Object.entries(manifest.sums)) {
    if (sums[name] !== sum) throw damagedBackup(`${name} adds up to ${sums[name]} instead of ${sum}`)
  }
  writeLine('Creating indexes and foreign keys…')
  await createIndexes()
  const deletedAccounts = hasPresent ? await keepWhatIsStricter(tx, writeLine) : []
  if (!keepSessions) await endSessions(tx, hasPresent)
  await tx`analyze`
  return deletedAccounts
}

/** Says what it keeps, and what is left to the operator. */
const keepWhatIsStricter = async (
  tx: postgres.TransactionSql,
  writeLine: (line: string) => void,
): Promise<string[]> => {
  const places = { old: (name: string) => `public.${name}`, now: setAside }
  const lines: Record<'kept' | 'left', string[]> = { kept: [], left: [] }
  for (const which of ['kept', 'left'] as const)
    await writeUndone(tx, places, printable, (line) => lines[which].push(`  ${line}`), which)
  const deletedAccounts = await keepStricter(tx)
  if (lines.kept.length > 0) writeLine('Kept from the database that was replaced:')
  for (const line of lines.kept) writeLine(line)
  if (lines.left.length > 0) writeLine('Undone by the restore, and left to you and the admins:')
  for (const line of lines.left) writeLine(line)
  return deletedAccounts
}

/** Ensures that no name in the file belongs to a view or a system table. */
const requireTables = async (tx: postgres.TransactionSql, { tables }: Manifest) => {
  const found = await tx<{ name: string }[]>`
    select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')`
  const known = new Set(found.map(({ name }) => name))
  for (const { name } of tables)
    if (!known.delete(name)) throw damagedBackup(`the database has no table ${name}`)
}

const loadRows = async (
  tx: postgres.TransactionSql,
  reader: BackupReader,
  table: Manifest['tables'][number],
): Promise<RowChecksum> => {
  const tally = new RowChecksum()
  try {
    const copy = await tx.unsafe(copyStatementOf(table).replace(/;\n$/, '')).writable()
    const blocks = async function* () {
      for await (const block of reader.readRows()) {
        tally.add(block)
        if (tally.rows > table.rows) throw damagedBackup(`${table.name} has more than ${table.rows} rows`)
        yield block
      }
    }
    await pipeline(blocks, copy)
    return tally
  } catch (error) {
    const { code, where } = error as { code?: string; where?: string }
    if (!isRefused(code)) throw error
    const line = /^COPY \w+, line (\d+)/.exec(where ?? '')?.[1]
    throw damagedBackup(
      `${table.name} can’t be loaded${line ? `, from line ${line} of its rows` : ''} (${code})`,
    )
  }
}

/**
 * Removes the tables of a database that no one has used yet, or that the operator has named.
 * @returns whether people had used it: then what it had is set aside
 * @throws {OperatorError}
 */
const makeEmpty = async (tx: postgres.TransactionSql, replaced: string | undefined): Promise<boolean> => {
  const found = await tx<{ name: string }[]>`
    select relname as name from pg_class where relkind in ('r', 'p')
      and relnamespace in (select oid from pg_namespace where nspname in ('public', 'drizzle'))`
  if (found.length === 0) return false
  const [database] = await tx<{ name: string }[]>`select current_database() as name`
  const name = database?.name ?? ''
  if (replaced !== undefined && replaced !== name)
    throw new OperatorError(
      `Nothing was changed: the name of the database is ${name}, and --replace names another.`,
    )
  const own = tables.map(({ table }) => getTableName(table))
  const names = found.map((one) => one.name)
  const isOfService =
    names.includes('users') && names.includes('workspaces') && names.includes(MIGRATIONS_TABLE)
  const others = names.filter((one) => one !== MIGRATIONS_TABLE && one !== STEPS && !own.includes(one))
  if (!isOfService || others.length > 0)
    throw new OperatorError(
      `The database already has tables that aren’t of this version of the service (${printable((others[0] ?? names[0] ?? '').slice(0, 63))}), and a backup can only be restored into an empty one: ${REMEDY}.`,
    )
  const [use] = await tx<{ people: boolean }[]>`
    select exists (select from users where repohost_id is not null) or exists (select from workspaces) as people`
  if (use?.people !== false && replaced === undefined)
    throw new OperatorError(
      `The database already has tables that people have used, and a backup can only be restored into an empty one: ${REMEDY}. Or stop the service and add --replace ${name}, which deletes everything in it.`,
    )
  const isUsed = use?.people !== false
  if (isUsed) await keepPresent(tx)
  for (const view of REPORT_VIEWS) await tx`drop view if exists ${tx(`public.${view}`)}`
  await tx.unsafe(
    `drop table ${own
      .filter((one) => names.includes(one))
      .map((one) => `public."${one}"`)
      .join(', ')}`,
  )
  await tx`drop schema drizzle cascade`
  return isUsed
}

const MIGRATIONS_TABLE = '__drizzle_migrations'
/** Tracks migration progress. Exists in databases created by an earlier version. */
const STEPS = 'migration_steps'
const REPORT_VIEWS = ['report_hours', 'report_member_days', 'report_repo_days']
const REMEDY = 'create a new database and set DATABASE_URL to it, or set DATA_DIR to a new folder'
