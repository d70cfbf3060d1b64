/** Compares a backup with the database: how many rows each has, and what a restore would bring back. */
import { pipeline } from 'node:stream/promises'
import type postgres from 'postgres'
import { inLongTransaction } from '../../platform/database/dedicated-session.js'
import { printable } from '../explain-failure.js'
import {
  type BackupReader,
  copyStatementOf,
  damagedBackup,
  type Manifest,
  RowChecksum,
  readBackup,
  requireSame,
} from './file.js'
import { requireKnown } from './restore.js'
import { COMPARED_TABLES, writeUndone } from './undone-changes.js'

/** Tables that are copied into temporary ones, as text, because an earlier version may have written them. */
const COPIED_TABLES: readonly string[] = COMPARED_TABLES

/**
 * Reads the whole file, and changes nothing.
 * @param writeLine receives a line for each table whose number of rows differs, and for everything that a restore would bring back
 * @throws {OperatorError} if the file is damaged or another version has to read it
 */
export const compare = (
  url: string,
  file: string,
  writeLine: (line: string) => void,
  stopped: AbortSignal,
): Promise<Manifest> =>
  readBackup(file, async (reader) => {
    const manifest = await reader.readManifest()
    requireKnown(manifest)
    const missing = COPIED_TABLES.find((name) => !manifest.tables.some((table) => table.name === name))
    if (missing !== undefined) throw damagedBackup(`${missing} isn’t in it`)
    await inLongTransaction(url, 'isolation level repeatable read', stopped, async (tx) => {
      // They are read in full before anything is printed.
      await readTables(tx, reader, manifest)
      await writeRowCounts(tx, manifest, writeLine)
      const places = { old: (name: string) => `old_${name}`, now: (name: string) => `public.${name}` }
      const keptLines: string[] = []
      const kept = await writeUndone(tx, places, printable, (line) => keptLines.push(`  ${line}`), 'kept')
      if (kept > 0) {
        writeLine('A restore with --replace keeps the following. A restore into another database undoes it:')
        for (const line of keptLines) writeLine(line)
      }
      const leftLines: string[] = []
      const left = await writeUndone(tx, places, printable, (line) => leftLines.push(`  ${line}`), 'left')
      if (left > 0) {
        writeLine('Every restore undoes the following:')
        for (const line of leftLines) writeLine(line)
      }
      writeLine('A restore ends all sessions, unless you add --keep-sessions.')
    })
    return manifest
  })

const readTables = async (tx: postgres.TransactionSql, reader: BackupReader, { tables }: Manifest) => {
  const sha256: Record<string, string> = {}
  for (const table of tables) {
    if (`${await reader.readLine()}\n` !== copyStatementOf(table))
      throw damagedBackup(`${table.name} isn’t where it should be`)
    const tally = new RowChecksum()
    const blocks = async function* () {
      for await (const block of reader.readRows()) {
        tally.add(block)
        yield block
      }
    }
    if (COPIED_TABLES.includes(table.name)) {
      const columns = table.columns.map((column) => `"${column}"`)
      const name = `old_${table.name}`
      await tx.unsafe(
        `create temporary table ${name} (${columns.map((column) => `${column} text`).join(', ')}) on commit drop`,
      )
      await pipeline(blocks, await tx.unsafe(`copy ${name} (${columns.join(', ')}) from stdin`).writable())
    } else for await (const _ of blocks());
    if (tally.rows !== table.rows)
      throw damagedBackup(`${table.name} has ${tally.rows} rows instead of ${table.rows}`)
    sha256[table.name] = tally.sha256
  }
  requireSame(sha256, await reader.readChecksums())
}

const writeRowCounts = async (
  tx: postgres.TransactionSql,
  { tables }: Manifest,
  writeLine: (line: string) => void,
) => {
  const found = await tx<{ name: string }[]>`
    select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') order by 1`
  const before = new Map(tables.map(({ name, rows }) => [name, rows]))
  for (const { name } of found) {
    const [row] = await tx<{ rows: string }[]>`select count(*)::text as rows from ${tx(`public.${name}`)}`
    const rows = Number(row?.rows)
    const old = before.get(name) ?? 0
    if (rows !== old) writeLine(`${name}: ${old} rows in the backup, ${rows} now`)
  }
}
