/** Compares a backup with the database: how many rows each has, and what a restore would bring back. */
import { pipeline } from 'node:stream/promises'
import type postgres from 'postgres'
import { inLongTransaction } from '../../platform/database/dedicated-session.js'
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

/** Tables that are copied into temporary ones, as text, because an earlier version may have written them. */
const COPIED_TABLES = ['users', 'key_secrets', 'members', 'workspaces']

/** Ids in the file are only printed if they are ids. */
const UUID = `'^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'`

/** Deletions and revocations after the backup, which a restore undoes. */
const UNDONE_CHANGES = {
  'Accounts deleted since the backup': `
    select old.id as line from old_users old left join users u on u.id::text = old.id
    where old.repohost_id is not null and u.repohost_id is null and old.id ~ ${UUID} order by 1`,
  'Accounts disabled since the backup': `
    select old.id as line from old_users old join users u on u.id::text = old.id
    where old.disabled_at is null and u.disabled_at is not null and u.repohost_id is not null order by 1`,
  'Access keys revoked since the backup': `
    select old.key_id as line from old_key_secrets old left join key_secrets k on k.key_id::text = old.key_id
    where old.revoked_at is null and old.expires_at::timestamptz > now()
      and (k.key_id is null or k.revoked_at is not null) and old.key_id ~ ${UUID} order by 1`,
  'Workspaces deleted since the backup': `
    select old.id as line from old_workspaces old left join workspaces w on w.id::text = old.id
    where old.deleted_at is null and (w.id is null or w.deleted_at is not null) and old.id ~ ${UUID} order by 1`,
  'Members who left or were removed since the backup (account, workspace)': `
    select u.id || ' ' || w.id as line from old_members old
      join users u on u.id::text = old.user_id and u.repohost_id is not null
      join workspaces w on w.id::text = old.workspace_id and w.deleted_at is null
    where not exists (select from members m where m.user_id = u.id and m.workspace_id = w.id) order by 1`,
}

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
      for (const [title, query] of Object.entries(UNDONE_CHANGES)) {
        const found = await tx.unsafe<{ line: string }[]>(query)
        if (found.length > 0) writeLine(`${title}: ${found.length}`)
        for (const { line } of found) writeLine(`  ${line}`)
      }
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
