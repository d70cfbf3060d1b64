/** Writes a whole database to one file while the service is running. */
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import type postgres from 'postgres'
import { countNames } from '../../../schemas/counts.js'
import { inLongTransaction } from '../../platform/database/dedicated-session.js'
import { readMigration } from '../../platform/database/migrate.js'
import { serviceVersion } from '../../platform/process/root.js'
import { writeWholeFile } from '../../platform/process/whole-file.js'
import {
  type Checksums,
  commentOf,
  copyStatementOf,
  END_OF_ROWS,
  type Manifest,
  RowChecksum,
  readSums,
  TITLE,
} from './file.js'

/** Sums to compare after a restore, in addition to row counts. */
const SUMMED_COLUMNS = ['minutes', ...countNames].map((column) => `activity.${column}`)

const timeText = (expression: string) =>
  `to_char(${expression} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

/**
 * Writes a consistent snapshot. The file appears only once it is complete, and only its owner can read it. The backup
 * is recorded in the database if that accepts writes.
 * @param options.replace whether it may replace a file
 * @param writeLine receives a line for each table that has rows
 * @returns whether it is recorded
 * @throws {OperatorError} if the database is newer than this program or has no tables of the service, or the file can't
 * be written
 */
export const backUp = async (
  url: string,
  file: string,
  writeLine: (line: string) => void,
  stopped: AbortSignal,
  { replace = false } = {},
): Promise<boolean> => {
  let madeAt = ''
  const size = await writeWholeFile(
    file,
    (open) =>
      inLongTransaction(url, 'isolation level repeatable read read only', stopped, async (tx) => {
        madeAt = await readTime(tx)
        await pipeline(dump(tx, madeAt, writeLine), createGzip(), open(), { signal: stopped })
      }),
    { replace },
  )
  try {
    for (const at of await note(url, madeAt, size, stopped))
      writeLine(
        `The database listed a backup of ${at}, which was in the future. It no longer does. Check the clock.`,
      )
    return true
  } catch (error) {
    // Recording fails on a replica, and on an older schema. The backup is still complete.
    writeLine(
      `The backup couldn’t be recorded in the database, so the doctor doesn’t know about it: ${(error as Error).message}.`,
    )
    return false
  }
}

/** The database's time, which all instances share. */
export const readTime = async (sql: postgres.Sql | postgres.TransactionSql): Promise<string> => {
  const [row] = await sql.unsafe<{ at: string }[]>(`select ${timeText('now()')} as at`)
  return row?.at ?? ''
}

const note = (url: string, madeAt: string, bytes: number, stopped: AbortSignal) =>
  inLongTransaction(url, 'read write', stopped, async (tx) => {
    // They're from a clock that ran ahead. The doctor and the metric report them until now.
    const ahead = await tx<{ at: string }[]>`
      delete from backups where made_at > now() returning ${tx.unsafe(timeText('made_at'))} as at`
    await tx`insert into backups (made_at, bytes) values (${madeAt}, ${bytes})`
    return ahead.map(({ at }) => at)
  })

async function* dump(tx: postgres.TransactionSql, madeAt: string, writeLine: (line: string) => void) {
  const manifest: Manifest = {
    format: 1,
    version: serviceVersion,
    made_at: madeAt,
    migration: await readMigration(tx),
    tables: await readTables(tx),
    sums: await readSums(tx, SUMMED_COLUMNS),
  }
  yield `${TITLE}\n${commentOf(manifest)}`
  const checksums: Checksums = {}
  for (const table of manifest.tables) {
    yield copyStatementOf(table)
    const tally = new RowChecksum()
    for await (const block of await tx
      .unsafe(`copy public.${table.name} (${table.columns.join(', ')}) to stdout`)
      .readable()) {
      tally.add(block)
      yield block
    }
    yield END_OF_ROWS
    checksums[table.name] = tally.sha256
    if (table.rows > 0) writeLine(`${table.name}: ${table.rows}`)
  }
  yield commentOf(checksums)
}

/** The tables, ordered so that references come first, with the columns that aren't generated. */
const readTables = async (tx: postgres.TransactionSql): Promise<Manifest['tables']> => {
  const found = await tx<{ name: string; columns: string[]; refers_to: string[] }[]>`
    select c.relname as name,
      (select json_agg(attname order by attnum) from pg_attribute
        where attrelid = c.oid and attnum > 0 and not attisdropped and attgenerated = '') as columns,
      (select coalesce(json_agg(distinct r.relname), '[]') from pg_constraint k join pg_class r on r.oid = k.confrelid
        where k.conrelid = c.oid and k.contype = 'f' and k.confrelid <> c.oid) as refers_to
    from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
    order by c.relname`
  const ordered = new Map<string, Manifest['tables'][number]>()
  while (ordered.size < found.length) {
    const next = found.filter(
      ({ name, refers_to }) => !ordered.has(name) && refers_to.every((other) => ordered.has(other)),
    )
    if (next.length === 0) throw new Error('Tables refer to each other in a circle')
    for (const { name, columns } of next) {
      const [row] = await tx<{ rows: string }[]>`select count(*)::text as rows from ${tx(name)}`
      ordered.set(name, { name, columns, rows: Number(row?.rows) })
    }
  }
  return [...ordered.values()]
}
