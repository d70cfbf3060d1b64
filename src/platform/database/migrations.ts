/**
 * The migrations that this version ships, in steps that their authors wrote (`CONTRIBUTING.md` says what a step may
 * do), and whether a database has them.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectRoot } from '../process/root.js'
import type { Db } from './client.js'
import { double, orNull, singleRow, statement } from './statement.js'

/**
 * - `lock`: one transaction, which waits only briefly for the tables that it names.
 * - `concurrently`: statements outside a transaction, which don't keep anyone waiting. It may restart from the first
 * one.
 * - `backfill`: a statement that changes some rows, again and again until it changes none, each time in a transaction.
 */
export interface Step {
  kind: 'lock' | 'concurrently' | 'backfill'
  /** The existing tables that it locks, reads or writes. */
  tables: string[]
  commands: string[]
}

export interface Migration {
  tag: string
  /** Its timestamp, which identifies it in a database. */
  when: number
  hash: string
  steps: Step[]
}

const STEP = /^-- step: (lock|concurrently|backfill)((?: \w+)*)$/m

export const readSteps = (tag: string, sql: string): Step[] => {
  const steps: Step[] = []
  for (const statement of sql.split('--> statement-breakpoint')) {
    const [line, kind, tables = ''] = STEP.exec(statement) ?? []
    if (kind) steps.push({ kind: kind as Step['kind'], tables: tables.match(/\w+/g) ?? [], commands: [] })
    const step = steps.at(-1)
    if (!step) throw new Error(`Write the steps of drizzle/${tag}.sql, as CONTRIBUTING.md explains.`)
    step.commands.push(statement.replace(line ?? '', '').trim())
  }
  return steps
}

const folder = join(projectRoot, 'drizzle')
const journal: { entries: { tag: string; when: number }[] } = JSON.parse(
  readFileSync(join(folder, 'meta', '_journal.json'), 'utf8'),
)

/** The migrations, in the order in which they run. */
export const migrations: Migration[] = journal.entries.map(({ tag, when }) => {
  const sql = readFileSync(join(folder, `${tag}.sql`), 'utf8')
  return { tag, when, hash: createHash('sha256').update(sql).digest('hex'), steps: readSteps(tag, sql) }
})

/** The schema of 1.0.0. It was made at the same moment as the last migration of 1.0.0, so that it counts as applied there. */
export const baseline = migrations[0] as Migration
export const newestMigration = migrations.at(-1) as Migration

/** The very first migration's timestamp. Only the service's databases have it. */
export const FIRST_MIGRATION = 1_795_226_417_074

const READ_NEWEST = statement(
  'read newest migration',
  { newest: orNull(double) },
  'select max(created_at)::float8 as newest from drizzle.__drizzle_migrations',
)

/**
 * Whether the database responds and has all of this version's migrations. Running instances accept a newer schema:
 * while instances are replaced one by one, the first new one migrates for all.
 */
export const isSchemaCurrent = async (db: Db): Promise<boolean> => {
  const { newest } = singleRow(await db.rows(READ_NEWEST, []))
  return newest !== null && newest >= newestMigration.when
}
