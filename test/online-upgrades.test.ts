/** Upgrades of a database in use: beside writes, behind a reader, interrupted, and by several instances at once. */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import t from 'tap'
import { migrate, newestMigration, readPending } from '../src/platform/database/migrate.js'
import { planSteps } from '../src/platform/database/migration-plan.js'
import { isCluster } from './database.js'
import { databaseOf, releasedDatabase, type Test } from './migrated.js'
import { freePort, launch, launchProgram, onDatabase, ready } from './process.js'
import { until } from './until.js'

const rows = async (sql: postgres.Sql, count: number) => {
  await sql`
    insert into workspaces (id, name, idle_window_minutes)
    select gen_random_uuid(), 'Team ' || n, 5 from generate_series(1, 20) n`
  await sql`
    insert into activity (workspace_id, user_id, day, repo_key, minutes)
    select w.id, u.id, '2020-01-01'::date + n, 'acme/api', 1
    from workspaces w, users u, generate_series(1, ${count}) n on conflict do nothing`
}

/** What a request does: rows of activity first, then what refers to the workspace, and the workspace itself now and then. */
const startWriters = async (url: string, count: number) => {
  const sql = postgres(url, {
    max: count,
    onnotice: () => {},
    // As the service's own, and shorter than by default.
    connection: { lock_timeout: 2_000, statement_timeout: 5_000, deadlock_timeout: 500 },
  })
  const workspaces = await sql<{ id: string }[]>`select id from workspaces order by id`
  const [user] = await sql<{ id: string }[]>`select id from users where repohost_id is not null limit 1`
  const failures: string[] = []
  let done = 0
  let isOver = false
  const write = async (writer: number) => {
    for (let n = 0; !isOver; n++) {
      const { id = '' } = workspaces[(writer + n) % workspaces.length] ?? {}
      const work = sql.begin(async (tx) => {
        await tx`
          insert into activity (workspace_id, user_id, day, repo_key, minutes)
          values (${id}, ${user?.id ?? ''}, ${`2026-01-${10 + writer}`}, 'acme/written', 1)
          on conflict (workspace_id, user_id, day, repo_key) do update set minutes = activity.minutes + 1`
        await tx`insert into stale_days (workspace_id, day) values (${id}, '2026-01-10')`
        await tx`select name from workspaces where id = ${id} for key share`
        if (n % 5 === 0) await tx`update workspaces set name = name where id = ${id}`
        await tx`insert into flushes (user_id, flush_id, body_hash, answer) values (${user?.id ?? ''}, ${randomUUID()}, '', '')`
      })
      await work.then(
        () => done++,
        (error) => failures.push(`${error.code} ${error.message}`),
      )
      await sleep(20)
    }
  }
  const writers = Array.from({ length: count }, (_, writer) => write(writer))
  return async () => {
    isOver = true
    await Promise.all(writers)
    const [sum] = await sql`select sum(minutes)::int as minutes from activity where repo_key = 'acme/written'`
    await sql.end()
    return { failures, done, written: sum?.minutes }
  }
}

/** A transaction that has read every table, as a backup does. */
const startReader = async (t: Test, url: string) => {
  const sql = postgres(url, { max: 1, connection: { application_name: 'a-long-report' } })
  t.teardown(() => sql.end())
  const reader = await sql.reserve()
  await reader`begin isolation level repeatable read`
  const tables = await reader<{ name: string }[]>`
    select tablename as name from pg_tables where schemaname = 'public'`
  for (const { name } of tables) await reader`select 1 from ${reader(name)} limit 1`
  return async () => {
    await reader`commit`
    reader.release()
  }
}

/** The databases that releases left, of those from which there is something to do. */
const RELEASES = ['0008_account', '0022_find_old_hours', '0029_imported_agent_time']
for (const release of RELEASES.filter((name) => name !== newestMigration.tag)) {
  t.test(
    `from ${release}, no write fails beside an upgrade, and a long reader delays only the upgrade`,
    async (t) => {
      const { url, sql } = await releasedDatabase(t, release)
      await rows(sql, 20)
      const stopWriters = await startWriters(url, 8)
      const stopReader = await startReader(t, url)
      const said: string[] = []
      const upgrade = migrate(url, undefined, (line) => said.push(line))
      await Promise.race([
        upgrade,
        until(() => said.some((line) => line.includes('a-long-report')), 'the upgrade names the reader'),
      ])
      await sleep(1_500)
      await stopReader()
      await upgrade
      const { failures, done, written } = await stopWriters()
      t.strictSame(failures, [])
      t.ok(done > 0)
      t.equal(written, done)
      const [line] = said.filter((text) => text.includes('a-long-report'))
      t.match(
        line,
        /^The (migration \w+ waits for its lock on \w+, for \d+ s so far: it is held by|index \w+ waits for) process \d+ \(a-long-report, whose query began \d+ s ago\)/,
      )
      t.strictSame(await readPending(sql), [])
      t.strictSame([...(await sql`select from drizzle.migration_steps`)], [])
      const invalid = await sql`select indexrelid::regclass::text from pg_index where not indisvalid`
      t.strictSame([...invalid], [])
      const unchecked = await sql`select conname from pg_constraint where not convalidated`
      t.strictSame([...unchecked], [])
    },
  )
}

t.test('a database that was upgraded in use is the same as one that was made anew', async (t) => {
  const shapeOf = async (sql: postgres.Sql) => {
    const [columns, indexes, constraints] = [
      await sql`
        select table_name, column_name, data_type, is_nullable, column_default from information_schema.columns
        where table_schema = 'public' order by 1, 2`,
      await sql`select indexname, indexdef from pg_indexes where schemaname = 'public' order by 1`,
      await sql`
        select conrelid::regclass::text as table, conname, pg_get_constraintdef(oid) as is from pg_constraint
        where connamespace = 'public'::regnamespace order by 1, 2`,
    ]
    return JSON.parse(JSON.stringify([columns, indexes, constraints]))
  }
  const fresh = await databaseOf(t)
  const upgraded = await databaseOf(t, 1)
  await migrate(upgraded.url)
  t.strictSame(await shapeOf(upgraded.sql), await shapeOf(fresh.sql))
})

t.test('an interrupted upgrade goes on where it was', { skip: await isCluster() }, async (t) => {
  const { url, sql } = await releasedDatabase(t, '0008_account')
  const pending = await readPending(sql)
  const stopReader = await startReader(t, url)
  const stopped = new AbortController()
  const said: string[] = []
  const upgrade = migrate(url, stopped.signal, (line) => said.push(line))
  await until(() => said.some((line) => line.includes('a-long-report')), 'the upgrade waits')
  stopped.abort()
  await t.rejects(upgrade)
  await stopReader()
  const left = await readPending(sql)
  t.ok(left.length > 0)
  t.ok(left.length <= pending.length)
  // As the crash of an instance leaves it.
  await sql`update pg_index set indisvalid = false where indexrelid = to_regclass('activity_of_repo')`
  await Promise.all([migrate(url), migrate(url), migrate(url)])
  t.strictSame(await readPending(sql), [])
  t.strictSame([...(await sql`select from pg_index where not indisvalid`)], [])
})

t.test('an instance that waits for the lock of a migration is alive and not ready', async (t) => {
  // Up to 0022.
  const { url } = await databaseOf(t, 23)
  const stopReader = await startReader(t, url)
  const service = launch(t, await freePort(), onDatabase(url))
  await until(() => service.output().includes('a-long-report'), 'the instance says whom it waits for')
  const statusOf = async (path: string) => (await fetch(`${service.url}${path}`)).status
  t.strictSame([await statusOf('/api/health'), await statusOf('/api/ready')], [200, 503])
  t.notMatch(service.output(), /configuration is not valid/)
  await stopReader()
  await ready(service)
})

t.test('the plan of an upgrade changes nothing, and names locks, whom they block, and rows', async (t) => {
  const { url, sql } = await databaseOf(t, 9)
  await sql`update pg_class set reltuples = 4000000 where oid = 'activity'::regclass`
  const plan = async () => {
    const command = launchProgram(t, 'src/bin/migrate', onDatabase(url), ['--plan'])
    t.equal(await command.ended, 0)
    return command.output()
  }
  const before = await plan()
  t.ok(
    before.startsWith(`0009_find_repositories
  1. create index concurrently activity_of_repo ON activity
     lock: share update exclusive on activity; blocks no one; touches about 4,000,000 rows
  2. ALTER TABLE activity SET (fillfactor = 70);
     lock: share update exclusive on activity; blocks no one; touches no rows
0010_backups
  1. CREATE TABLE backups (
     lock: none on a table in use; blocks no one; touches no rows
`),
    before,
  )
  t.match(
    before,
    /ALTER TABLE workspaces ADD COLUMN \S+.*\n(.*\n)?.*lock: access exclusive on workspaces; blocks reads and writes for a moment; touches no rows/,
  )
  t.equal(await plan(), before)
  await migrate(url)
  t.equal(await plan(), `The database is current: ${newestMigration.tag}. Nothing would run.\n`)
})

/** Rows of these tables change only here and there. */
const RARE = ['removals']
/** Few rows, or none outside of GitLab. */
const KNOWN = ['0023_organizations']

t.test('no migration after 0022 keeps requests waiting for as long as it works', async (t) => {
  const { sql } = await databaseOf(t, 23)
  for (const { tag, steps } of await readPending(sql))
    for (const { commands, isLong, locks, scans, repeats, index, constraint } of steps) {
      const [command = ''] = commands
      t.notOk(isLong, `${tag} writes or reads a whole table under its lock: ${command}`)
      t.ok(locks.length < 2 || constraint, `${tag} needs two locks at once: ${command}`)
      const changes =
        /^(update|delete|with|do)\b/i.test(command) && !scans.every((name) => RARE.includes(name))
      t.ok(!changes || repeats || KNOWN.includes(tag), `${tag} changes a whole table at once: ${command}`)
      t.ok(!/^create .*index/i.test(command) || index, `${tag} makes an index under a lock: ${command}`)
    }
})

t.test('steps share a transaction only where they need the lock of one table', (t) => {
  const steps = planSteps([
    'CREATE TABLE "new" ("id" uuid, "a" uuid);\n',
    'ALTER TABLE "new" ADD CONSTRAINT "new_a" FOREIGN KEY ("a") REFERENCES "public"."a"("id");',
    'CREATE INDEX "new_by_a" ON "new" USING btree ("a");',
    'ALTER TABLE "b" ADD COLUMN "c" uuid;',
    'ALTER TABLE "b" ADD CONSTRAINT "b_c" FOREIGN KEY ("c") REFERENCES "public"."c"("id");',
    'CREATE UNIQUE INDEX IF NOT EXISTS "b_by_c" ON "b" USING btree ("c");',
    '-- Repeated until it changes no row.\nupdate b set c = null where c is not null',
    'DROP INDEX "old";',
  ])
  t.strictSame(
    steps.map(({ commands, from, upTo, locks }) => ({ commands: commands.length, from, upTo, locks })),
    [
      { commands: 3, from: 0, upTo: 3, locks: [{ relation: 'a', mode: 'share row exclusive' }] },
      { commands: 1, from: 3, upTo: 4, locks: [{ relation: 'b', mode: 'access exclusive' }] },
      {
        commands: 1,
        from: 4,
        upTo: 4,
        locks: [
          { relation: 'b', mode: 'share row exclusive' },
          { relation: 'c', mode: 'share row exclusive' },
        ],
      },
      { commands: 1, from: 4, upTo: 5, locks: [{ relation: 'b', mode: 'share update exclusive' }] },
      { commands: 1, from: 5, upTo: 6, locks: [{ relation: 'b', mode: 'share update exclusive' }] },
      { commands: 1, from: 6, upTo: 7, locks: [{ relation: 'b', mode: 'row exclusive' }] },
      { commands: 1, from: 7, upTo: 8, locks: [] },
    ],
  )
  t.equal(
    steps[2]?.commands[0],
    'ALTER TABLE "b" ADD CONSTRAINT "b_c" FOREIGN KEY ("c") REFERENCES "public"."c"("id") not valid',
  )
  t.equal(steps[4]?.commands[0], 'create UNIQUE index concurrently "b_by_c" ON "b" USING btree ("c");')
  t.end()
})
