/** Databases as older versions left them. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import postgres from 'postgres'
import { applyMigrations } from '../src/platform/database/migrate.js'
import {
  type Migration,
  migrations,
  newestMigration,
  readSteps,
} from '../src/platform/database/migrations.js'
import { projectRoot } from '../src/platform/process/root.js'
import { createTestDatabase } from './database.js'
import type { temporaryFolder } from './process.js'

export type Test = Parameters<typeof temporaryFolder>[0]

export const emptyDatabase = async (test: Test) => {
  const { url, drop } = await createTestDatabase('template0')
  test.teardown(drop)
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  test.teardown(() => sql.end())
  return { url, sql }
}

/** A database with the migrations up to the one made then; without that with all. */
export const databaseOf = async (test: Test, upTo?: number) => {
  const { url, sql } = await emptyDatabase(test)
  await sql.begin((tx) => applyMigrations(tx, { upTo }))
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

/** The newest migration of 1.0.0. */
export const RELEASE = '0029_imported_agent_time'

const tag = '9999_example'
/** The next migration, with a step of every kind. */
export const example: Migration = {
  tag,
  when: newestMigration.when + 1,
  hash: '',
  steps: readSteps(
    tag,
    `-- step: lock workspaces
CREATE TABLE "rooms" ("id" uuid PRIMARY KEY, "workspace_id" uuid REFERENCES "workspaces" ("id"));--> statement-breakpoint
CREATE INDEX "rooms_of_workspace" ON "rooms" USING btree ("workspace_id");--> statement-breakpoint
-- step: lock activity
ALTER TABLE "activity" ADD COLUMN "room" uuid, ADD COLUMN "seen" boolean DEFAULT false NOT NULL;--> statement-breakpoint
-- step: lock activity rooms
ALTER TABLE "activity" ADD CONSTRAINT "activity_room" FOREIGN KEY ("room") REFERENCES "rooms" ("id") NOT VALID;--> statement-breakpoint
-- step: lock activity
ALTER TABLE "activity" VALIDATE CONSTRAINT "activity_room";--> statement-breakpoint
-- step: concurrently activity
DROP INDEX CONCURRENTLY IF EXISTS "activity_by_room";--> statement-breakpoint
CREATE INDEX CONCURRENTLY "activity_by_room" ON "activity" USING btree ("room");--> statement-breakpoint
-- step: backfill activity
UPDATE "activity" SET "seen" = true WHERE ("workspace_id", "user_id", "day", "repo_key") IN (
  SELECT "workspace_id", "user_id", "day", "repo_key" FROM "activity" WHERE NOT "seen" AND "day" < '2026-01-01'
  ORDER BY 1, 2, 3, 4 LIMIT 100);`,
  ),
}
export const shipped = [...migrations, example]
