/**
 * The format of backups: compressed text that `psql` understands, so that reading it doesn't depend on this program.
 *
 *     -- team-settings-cloud backup
 *     -- {the manifest}
 *     COPY public.users (id, login) FROM stdin;
 *     …one line per row, as PostgreSQL's COPY writes it…
 *     \.
 *     …the other tables, each after those that it refers to…
 *     -- {the checksums}
 */

import { createHash } from 'node:crypto'
import { createGunzip } from 'node:zlib'
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type postgres from 'postgres'
import { codeOf } from '../../platform/process/code-of.js'
import { OperatorError } from '../../platform/process/operator-error.js'
import { openInput } from '../../platform/process/whole-file.js'

export const TITLE = '-- team-settings-cloud backup'
export const END_OF_ROWS = '\\.\n'
const NEWLINE = 10
/** No row is that long: settings have up to 256 KB, which COPY may escape to twice as many characters. */
const LINE_BYTES = 8 * 1_048_576

const Name = Type.String({ pattern: '^[a-z][a-z0-9_]{0,62}$' })
const Count = Type.Integer({ minimum: 0 })
/** Texts that are shown on a terminal. */
const Word = Type.String({ pattern: '^[A-Za-z0-9_.:+-]{1,100}$' })

export const Manifest = Type.Object({
  format: Type.Literal(1),
  /** The service version that wrote the backup. */
  version: Word,
  made_at: Word,
  /** The database's newest migration. */
  migration: Type.Object({ tag: Word, when: Type.Integer() }),
  tables: Type.Array(
    Type.Object({ name: Name, columns: Type.Array(Name, { minItems: 1, maxItems: 1_600 }), rows: Count }),
    { maxItems: 1_000 },
  ),
  /** The sums of columns, by `table.column`. */
  sums: Type.Record(Type.String({ pattern: '^[a-z_]+\\.[a-z_]+$' }), Word, { maxProperties: 100 }),
})
export type Manifest = Static<typeof Manifest>

/** SHA-256 of each table's rows, by table name. */
export const Checksums = Type.Record(Type.String(), Type.String())
export type Checksums = Static<typeof Checksums>

export const commentOf = (value: unknown): string => `-- ${JSON.stringify(value)}\n`

export const copyStatementOf = ({ name, columns }: Manifest['tables'][number]): string =>
  `COPY public.${name} (${columns.join(', ')}) FROM stdin;\n`

/** Counts and hashes rows. */
export class RowChecksum {
  rows = 0
  private readonly hash = createHash('sha256')

  add(block: Buffer): void {
    this.hash.update(block)
    for (let at = block.indexOf(NEWLINE); at >= 0; at = block.indexOf(NEWLINE, at + 1)) this.rows++
  }

  get sha256(): string {
    return this.hash.copy().digest('hex')
  }
}

export const damagedBackup = (how: string) => new OperatorError(`The file isn’t a complete backup: ${how}.`)

/**
 * Whether PostgreSQL rejects the file's content: values, rows, names of tables and columns. Its message isn't
 * shown, because it quotes the unchecked file.
 */
export const isRefused = (code: string | undefined) => /^(22|23|42(?!501))/.test(code ?? '')

/** @throws {OperatorError} if the rows of a table aren't those that were written */
export const requireSame = (found: Checksums, written: Checksums): void => {
  for (const [name, sum] of Object.entries(found))
    if (written[name] !== sum) throw damagedBackup(`${name} isn’t what was written`)
}

/** Opens a file for `work`. @throws {OperatorError} if it can't be read or is damaged */
export const readBackup = async <T>(file: string, work: (reader: BackupReader) => Promise<T>): Promise<T> => {
  const text = openInput(file)
  const plain = createGunzip()
  text.on('error', (error) => plain.destroy(error))
  try {
    return await work(new BackupReader(text.pipe(plain)[Symbol.asyncIterator]()))
  } catch (error) {
    const code = codeOf(error)
    if (code === 'Z_BUF_ERROR') throw damagedBackup('it ends too early')
    if (code?.startsWith('Z_')) throw damagedBackup('it can’t be decompressed')
    if (isRefused(code)) throw damagedBackup(`the database can’t take it (${code})`)
    if (code === 'ENOENT' || code === 'EACCES' || code === 'EISDIR')
      throw new OperatorError(`The file ${file} can’t be read (${code}).`)
    throw error
  } finally {
    text.destroy()
    plain.destroy()
  }
}

/** Reads a backup's text, in memory that doesn't grow with it. */
export class BackupReader {
  private rest: Buffer = Buffer.alloc(0)

  constructor(private readonly chunks: AsyncIterator<Buffer>) {}

  async readManifest(): Promise<Manifest> {
    if ((await this.readLine()) !== TITLE) throw new OperatorError('The file isn’t a backup of this service.')
    const manifest = await this.readComment()
    if (Value.Check(Manifest, manifest)) return manifest
    throw damagedBackup('its manifest can’t be read')
  }

  async readChecksums(): Promise<Checksums> {
    const checksums = await this.readComment()
    if (Value.Check(Checksums, checksums) && this.rest.length === 0 && !(await this.fill())) return checksums
    throw damagedBackup('its end can’t be read')
  }

  /** The line without its line break. @throws {OperatorError} at the end of the file */
  async readLine(): Promise<string> {
    for (;;) {
      const end = this.rest.indexOf(NEWLINE)
      if (end >= 0) {
        const line = this.rest.toString('utf8', 0, end)
        this.rest = this.rest.subarray(end + 1)
        return line
      }
      if (!(await this.fill())) throw damagedBackup('it ends too early')
    }
  }

  /** Yields a table's rows in blocks of whole lines. */
  async *readRows(): AsyncGenerator<Buffer> {
    for (;;) {
      const atOnce = this.rest.indexOf(END_OF_ROWS) === 0
      const end = atOnce ? 0 : this.rest.indexOf(`\n${END_OF_ROWS}`) + 1
      if (atOnce || end > 0) {
        const block = this.rest.subarray(0, end)
        this.rest = this.rest.subarray(end + END_OF_ROWS.length)
        if (block.length > 0) yield block
        return
      }
      const whole = this.rest.lastIndexOf(NEWLINE) + 1
      if (whole > 0) {
        const block = this.rest.subarray(0, whole)
        this.rest = this.rest.subarray(whole)
        yield block
      }
      if (!(await this.fill())) throw damagedBackup('it ends too early')
    }
  }

  private async readComment(): Promise<unknown> {
    const line = await this.readLine()
    try {
      return JSON.parse(line.replace(/^-- /, ''))
    } catch {
      return undefined
    }
  }

  /** Doubles the buffer each time, so that the time for a line is linear in its length. */
  private async fill(): Promise<boolean> {
    if (this.rest.length > LINE_BYTES) throw damagedBackup('a line is too long')
    const wanted = 2 * this.rest.length
    const parts = [this.rest]
    let length = this.rest.length
    do {
      const { value, done } = await this.chunks.next()
      if (done) break
      parts.push(value)
      length += value.length
    } while (length < wanted)
    const hasGrown = length > this.rest.length
    this.rest = Buffer.concat(parts)
    return hasGrown
  }
}

/** The sums of columns, by `table.column`. */
export const readSums = async (
  tx: postgres.TransactionSql,
  columns: string[],
): Promise<Record<string, string>> => {
  const sums: Record<string, string> = {}
  for (const name of columns) {
    const [table = '', column = ''] = name.split('.')
    const [row] = await tx<{ sum: string }[]>`
      select coalesce(sum(${tx(column)}), 0)::text as sum from ${tx(`public.${table}`)}`
    sums[name] = row?.sum ?? '0'
  }
  return sums
}

// A restore creates indexes and constraints after it has inserted the rows, which is much faster.

/**
 * `maintenance_work_mem` while indexes are created. More would be faster, but a service may need the machine's memory.
 */
const SORT_MEMORY = '128MB'

/**
 * Drops all indexes, primary keys, unique constraints and foreign keys of the service's tables.
 * @returns a function that creates them again as they were, and thereby checks every row
 */
export const deferIndexes = async (tx: postgres.TransactionSql): Promise<() => Promise<void>> => {
  // Foreign keys need the unique index that they refer to, so they are dropped first and created last.
  const constraints = await tx<{ drop: string; create: string }[]>`
    select format('alter table %s drop constraint %I', conrelid::regclass, conname) as drop,
      format('alter table %s add constraint %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) as create
    from pg_constraint
    where connamespace = 'public'::regnamespace and contype in ('f', 'p', 'u')
    order by contype <> 'f', conname`
  const indexes = await tx<{ drop: string; create: string }[]>`
    select format('drop index %s', indexrelid::regclass) as drop, pg_get_indexdef(indexrelid) as create
    from pg_index i join pg_class c on c.oid = indexrelid
    where relnamespace = 'public'::regnamespace
      and not exists (select from pg_constraint where conindid = indexrelid and contype in ('p', 'u'))
    order by relname`
  for (const { drop } of [...constraints, ...indexes]) await tx.unsafe(drop)
  return async () => {
    await tx`select set_config('maintenance_work_mem', ${SORT_MEMORY}, true)`
    for (const { create } of [...indexes, ...constraints.toReversed()]) await tx.unsafe(create)
  }
}
