/** Puts the content of a backup into an empty database: all of it, or nothing. */
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import type postgres from 'postgres'
import { locks } from '../db/locks.js'
import { applyMigrations, migrate, newestMigration } from '../db/migrate.js'
import { inOneTransaction } from '../db/one-session.js'
import { OperatorError } from '../runtime/operator-error.js'
import { BackupReader, beginOf, damaged, type Manifest, Tally } from './file.js'
import { sumUp } from './sums.js'

/**
 * @param say is told each table
 * @throws {OperatorError} when the file is damaged or newer than this program, or the database is not empty
 */
export const restore = async (
  url: string,
  file: string,
  say: (line: string) => void,
  stopped: AbortSignal,
): Promise<Manifest> => {
  const text = createReadStream(file)
  const plain = createGunzip()
  text.on('error', (error) => plain.destroy(error))
  const reader = new BackupReader(text.pipe(plain)[Symbol.asyncIterator]())
  try {
    const manifest = await reader.readManifest()
    requireOlder(manifest)
    await inOneTransaction(url, 'isolation level read committed', stopped, (tx) =>
      load(tx, reader, manifest, say),
    )
    await migrate(url, stopped)
    return manifest
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'Z_BUF_ERROR') throw damaged('it ends too early')
    if (code?.startsWith('Z_')) throw damaged('it cannot be decompressed')
    if (code === 'ENOENT' || code === 'EACCES' || code === 'EISDIR')
      throw new OperatorError(`The file ${file} cannot be read (${code}).`)
    throw error
  } finally {
    text.destroy()
    plain.destroy()
  }
}

const requireOlder = ({ version, migration }: Manifest) => {
  if (migration.when <= newestMigration.when) return
  throw new OperatorError(
    `The backup was made by version ${version} with migration ${migration.tag}, and this version knows none newer than ${newestMigration.tag}: restore it with that version or a newer one.`,
  )
}

const load = async (
  tx: postgres.TransactionSql,
  reader: BackupReader,
  manifest: Manifest,
  say: (line: string) => void,
) => {
  await tx`select pg_advisory_xact_lock(${locks.migration})`
  await requireEmpty(tx)
  await applyMigrations(tx, manifest.migration.when)
  // Migrations put in what every database has.
  for (const { name } of manifest.tables.toReversed()) await tx`delete from ${tx(name)}`
  const sha256: Record<string, string> = {}
  for (const table of manifest.tables) {
    if (`${await reader.readLine()}\n` !== beginOf(table))
      throw damaged(`${table.name} is not where it should be`)
    const tally = await loadRows(tx, reader, table)
    if (tally.rows !== table.rows)
      throw damaged(`${table.name} has ${tally.rows} rows instead of ${table.rows}`)
    const [row] = await tx<{ rows: string }[]>`select count(*)::text as rows from ${tx(table.name)}`
    if (Number(row?.rows) !== table.rows) throw damaged(`not all rows of ${table.name} could be loaded`)
    sha256[table.name] = tally.sha256
    say(`${table.name}: ${table.rows}`)
  }
  const expected = await reader.readChecksums()
  for (const [name, sum] of Object.entries(sha256)) {
    if (expected[name] !== sum) throw damaged(`${name} is not what was written`)
  }
  const sums = await sumUp(tx, Object.keys(manifest.sums))
  for (const [name, sum] of Object.entries(manifest.sums)) {
    if (sums[name] !== sum) throw damaged(`${name} adds up to ${sums[name]} instead of ${sum}`)
  }
  await tx`analyze`
}

const loadRows = async (
  tx: postgres.TransactionSql,
  reader: BackupReader,
  table: Manifest['tables'][number],
): Promise<Tally> => {
  const tally = new Tally()
  try {
    const copy = await tx.unsafe(beginOf(table).replace(/;\n$/, '')).writable()
    const blocks = async function* () {
      for await (const block of reader.readRows()) {
        tally.add(block)
        yield block
      }
    }
    await pipeline(blocks, copy)
    return tally
  } catch (error) {
    const { code, message } = error as { code?: string; message: string }
    // What PostgreSQL says of values that are none, and of rows that cannot be.
    if (/^2[23]/.test(code ?? '')) throw damaged(`${table.name} cannot be loaded (${message})`)
    throw error
  }
}

const requireEmpty = async (tx: postgres.TransactionSql) => {
  const found = await tx`
    select from pg_class where relkind in ('r', 'p')
      and relnamespace in (select oid from pg_namespace where nspname in ('public', 'drizzle'))
    limit 1`
  if (found.length === 0) return
  throw new OperatorError(
    'The database has tables already, and a backup is restored into an empty one only: create a new database and name it in DATABASE_URL, or set DATA_DIR to a new folder.',
  )
}
