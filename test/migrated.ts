/** Databases as older versions left them. */
import { cp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { drizzle } from 'drizzle-orm/postgres-js'
import { migrate as applyMigrations } from 'drizzle-orm/postgres-js/migrator'
import postgres from 'postgres'
import { projectRoot } from '../src/platform/process/root.js'
import { createTestDatabase } from './database.js'
import { temporaryFolder } from './process.js'

export type Test = Parameters<typeof temporaryFolder>[0]

export const emptyDatabase = async (test: Test) => {
  const { url, drop } = await createTestDatabase('template0')
  test.teardown(drop)
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  test.teardown(() => sql.end())
  return { url, sql }
}

/** A database with so many of the migrations; without a number with all. */
export const databaseOf = async (test: Test, migrations?: number) => {
  const { url, sql } = await emptyDatabase(test)
  const folder = await temporaryFolder(test)
  await cp(join(projectRoot, 'drizzle'), folder, { recursive: true })
  const file = join(folder, 'meta', '_journal.json')
  const journal = JSON.parse(await readFile(file, 'utf8'))
  journal.entries = journal.entries.slice(0, migrations)
  await writeFile(file, JSON.stringify(journal))
  await applyMigrations(drizzle(sql), { migrationsFolder: folder })
  return { url, sql }
}

const released = join(projectRoot, 'test/released')

/** The text of a file of `test/released/`. */
export const readReleased = async (name: string): Promise<string> =>
  gunzipSync(await readFile(join(released, name))).toString()

/** A database as a release left it, by the name of its newest migration. */
export const releasedDatabase = async (test: Test, release: string) => {
  const { url, sql } = await emptyDatabase(test)
  await sql.unsafe(await readReleased(`${release}.sql.gz`))
  await sql`set search_path = public`
  return { url, sql }
}
