/** Upgrades of a database in use: beside writes, behind a reader, interrupted, and by several instances at once. */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import t from 'tap'
import { describePlan, migrate, readPending } from '../src/platform/database/migrate.js'
import { migrations } from '../src/platform/database/migrations.js'
import { isCluster } from './database.js'
import {
  databaseOf,
  emptyDatabase,
  example,
  RELEASE,
  releasedDatabase,
  shipped,
  type Test,
} from './migrated.js'
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

/** A request's statements: rows of activity first, then what refers to the workspace, and the workspace itself now and then. */
const startWriters = async (url: string, count: number) => {
  const sql = postgres(url, {
    max: count,
    onnotice: () => {},
    // Longer than the service's own, because on a busy machine the upgrade may stand still while it holds a lock.
    connection: { lock_timeout: 5_000, statement_timeout: 15_000, deadlock_timeout: 500 },
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
      await sleep(50)
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

const unfinished = async (sql: postgres.Sql) => ({
  pending: await readPending(sql, shipped),
  steps: [...(await sql`select from drizzle.migration_steps`)],
  invalid: [...(await sql`select indexrelid::regclass::text from pg_index where not indisvalid`)],
  // One constraint is only about new rows.
  unchecked: [
    ...(await sql`
      select conname from pg_constraint
      where not convalidated and conname <> 'published_weeks_by_local_day'`),
  ],
  unseen: [...(await sql`select from activity where not seen and day < '2026-01-01'`)],
})
const nothing = { pending: [], steps: [], invalid: [], unchecked: [], unseen: [] }

t.test('no write fails during an upgrade, and a long reader delays only the upgrade', async (t) => {
  const { url, sql } = await releasedDatabase(t, RELEASE)
  await rows(sql, 20)
  const stopWriters = await startWriters(url, 4)
  const stopReader = await startReader(t, url)
  const said: string[] = []
  const upgrade = migrate(url, undefined, (line) => said.push(line), shipped)
  const names = () => said.find((line) => line.includes('a-long-report'))
  await Promise.race([upgrade, until(() => names() !== undefined, 'the upgrade names the reader')])
  // A writer that waited behind the upgrade's lock would have failed by then.
  await sleep(6_000)
  await stopReader()
  await upgrade
  const { failures, done, written } = await stopWriters()
  t.strictSame(failures, [])
  t.ok(done > 0)
  t.equal(written, done)
  t.match(
    names(),
    /^The step \d of \d of the migration \w+ waits for its lock on \w+, for \d+ s so far: it is held by process \d+ \(a-long-report, whose query began \d+ s ago\)/,
  )
  t.strictSame(await unfinished(sql), nothing)
})

t.test('a new database equals one that 1.0.0 created and this version upgraded', async (t) => {
  const shapeOf = async (sql: postgres.Sql) => ({
    columns: [
      ...(await sql`
        select attrelid::regclass::text as table, attname, format_type(atttypid, atttypmod) as type, attnotnull,
          pg_get_expr(adbin, adrelid) as default, row_number() over (partition by attrelid order by attnum)::int as place
        from pg_attribute join pg_class c on c.oid = attrelid left join pg_attrdef on adrelid = attrelid and adnum = attnum
        where relnamespace = 'public'::regnamespace and relkind in ('r', 'v') and attnum > 0 and not attisdropped
        order by 1, attnum`),
    ],
    relations: [
      ...(await sql`
        select relname, relkind, reloptions, case relkind when 'v' then pg_get_viewdef(oid) end as view
        from pg_class where relnamespace = 'public'::regnamespace order by 1`),
    ],
    indexes: [...(await sql`select indexdef from pg_indexes where schemaname = 'public' order by 1`)],
    constraints: [
      ...(await sql`
        select conrelid::regclass::text as table, conname, pg_get_constraintdef(oid) as is from pg_constraint
        where connamespace = 'public'::regnamespace order by 1, 2`),
    ],
  })
  const fresh = await databaseOf(t)
  const upgraded = await releasedDatabase(t, RELEASE)
  await migrate(upgraded.url)
  await Promise.all([fresh, upgraded].map(({ sql }) => sql`set search_path = public`))
  t.strictSame(await shapeOf(upgraded.sql), await shapeOf(fresh.sql))
  t.strictSame(
    [...(await fresh.sql`select id, login, login_key, avatar_url from users`)],
    [
      ...(await upgraded.sql`select id, login, login_key, avatar_url from users where login_key = 'deleted user'`),
    ],
  )
})

t.test('an interrupted upgrade continues where it stopped', { skip: await isCluster() }, async (t) => {
  const { url, sql } = await releasedDatabase(t, RELEASE)
  await rows(sql, 20)
  const stopReader = await startReader(t, url)
  const stopped = new AbortController()
  const said: string[] = []
  const upgrade = migrate(url, stopped.signal, (line) => said.push(line), shipped)
  await until(() => said.some((line) => line.includes('a-long-report')), 'the upgrade waits')
  stopped.abort()
  await t.rejects(upgrade)
  await stopReader()
  // As the crash of an instance leaves it.
  await sql`insert into drizzle.migration_steps values (${example.when}, 0) on conflict do nothing`
  await sql`create index activity_by_room on activity (day)`
  await sql`update pg_index set indisvalid = false where indexrelid = 'activity_by_room'::regclass`
  await Promise.all([1, 2, 3].map(() => migrate(url, undefined, undefined, shipped)))
  t.strictSame(await unfinished(sql), nothing)
  const [{ indexdef = '' } = {}] =
    await sql`select indexdef from pg_indexes where indexname = 'activity_by_room'`
  t.match(indexdef, /\(room\)$/)
})

t.test('an empty database gets all steps immediately', async (t) => {
  const { url, sql } = await emptyDatabase(t)
  await Promise.all([1, 2, 3].map(() => migrate(url, undefined, undefined, shipped)))
  t.strictSame(await readPending(sql, shipped), [])
  t.equal((await sql`select from pg_indexes where indexname = 'activity_by_room'`).length, 1)
})

t.test('an upgrade plan changes nothing and lists the remaining steps', async (t) => {
  const { url, sql } = await databaseOf(t)
  await sql`update pg_class set reltuples = 4000000 where oid = 'activity'::regclass`
  const plan = async () => (await describePlan(url, undefined, shipped)).join('\n')
  const before = await plan()
  t.ok(
    before.startsWith(`${example.tag}\n  1. lock workspaces (about 0 rows)\n     CREATE TABLE "rooms"`),
    before,
  )
  t.match(
    before,
    /\n {2}5\. concurrently activity \(about 4,000,000 rows\)\n {5}DROP INDEX CONCURRENTLY .*\n {5}CREATE INDEX CONCURRENTLY/,
  )
  t.equal(await plan(), before)
  await migrate(url, undefined, undefined, shipped)
  t.match(await plan(), /^The database is current: .*\. Nothing would run\.$/)
})

/** Statements that scan or rewrite the whole table under a lock. */
const LONG = [
  /\bset not null\b/i,
  /\bset data type\b/i,
  /\bgenerated always as\b/i,
  /\badd constraint\b.*\b(foreign key|check)\b(?!.*\bnot valid\b)/is,
  /^(update|delete)\b/i,
]

for (const { tag, steps } of [...migrations.slice(1), example])
  t.test(`no step of ${tag} locks a table in use while scanning or rewriting it`, (t) => {
    const made = new Set<string>()
    const commands = steps.flatMap((step) => step.commands.map((command) => ({ ...step, command })))
    for (const { kind, tables, command } of commands) {
      const [, name = ''] = /^create table "(\w+)"/i.exec(command) ?? []
      made.add(name)
      const [, indexed = ''] = /^create (?:unique )?index .*?\bon "(\w+)"/is.exec(command) ?? []
      const [, changed = ''] = /^alter table "(\w+)"/i.exec(command) ?? []
      if (kind === 'lock') {
        t.ok(indexed === '' || made.has(indexed), `make an index of a table in use concurrently: ${command}`)
        t.ok(made.has(changed) || !LONG.some((pattern) => pattern.test(command)), `takes long: ${command}`)
        t.ok(changed === '' || made.has(changed) || tables.includes(changed), `name the table: ${command}`)
      }
      if (kind === 'concurrently') t.match(command, /\bconcurrently\b/i)
      if (kind === 'backfill') t.match(command, /\border by\b.*\blimit \d+/is)
    }
    t.end()
  })
