/**
 * Where the tables go on a cluster. Some tests need a cluster: set CITUS_URL to a coordinator's URL, as a superuser.
 */
import postgres from 'postgres'
import t from 'tap'
import { rollUp } from '../src/features/rollups/roll-up.js'
import { distribute, layout } from '../src/operator/distribute.js'
import type { Parameter } from '../src/platform/database/client.js'
import { explainDatabaseErrors } from '../src/platform/database/external-database.js'
import { migrate } from '../src/platform/database/migrate.js'
import { newestMigration } from '../src/platform/database/migrations.js'
import type { Statement } from '../src/platform/database/statement.js'
import { readToday } from '../src/platform/time/clock.js'
import { createCluster, createTestDatabase } from './database.js'
import { hasProperties } from './has-properties.js'
import { launchProgram } from './process.js'
import { collectQueries } from './query-texts.js'
import { Caller, type Reply, retryWhileUnavailable, type Service, startService } from './service.js'
import { until } from './until.js'
import { commitOf, createWebhook } from './webhooks.js'

type Test = Parameters<typeof startService>[0]

const open = (test: Test, url: string) => {
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  test.teardown(() => sql.end())
  return sql
}

/** `npm run distribute`. @returns its exit code and what it says */
const run = async (test: Test, url: string) => {
  const program = launchProgram(test, 'src/bin/distribute', { DATABASE_URL: url })
  return { code: await program.ended, output: program.output() }
}

t.test('every table has a declared distribution', async (t) => {
  const { url, drop } = await createTestDatabase()
  t.teardown(drop)
  const tables = await open(t, url)`
    select oid::regclass::text as name from pg_class
    where relnamespace in ('public'::regnamespace, 'drizzle'::regnamespace) and relkind in ('r', 'p') and not relispartition
      -- A cluster keeps parts of the tables beside them.
      and relname !~ '_[0-9]{6,}$'`
  const placed = [...layout.copied, ...Object.values(layout.spread).flat(), ...layout.kept]
  t.strictSame(placed.toSorted(), tables.map(({ name }) => name).toSorted())
})

t.test('a single PostgreSQL needs no distribution, and the command says so', async (t) => {
  const { url, drop } = await createTestDatabase('template0')
  t.teardown(drop)
  t.match(await run(t, url), { code: 1, output: /^The database has no extension "citus"[^\n]*\n$/ })
})

const server = process.env.CITUS_URL
const onCluster = { skip: server === undefined && 'CITUS_URL names no cluster' }

const ownCluster = async (test: Test) => {
  const { url, workers, drop } = await createCluster(server ?? '')
  test.teardown(drop)
  return { url, workers }
}

const distributedCluster = async (test: Test) => {
  const { url, workers } = await ownCluster(test)
  await migrate(url)
  await distribute(url, () => {})
  return { url, worker: workers[0] ?? '' }
}

t.test('the next run completes an interrupted one, and no row is lost', onCluster, async (t) => {
  const { url, workers } = await ownCluster(t)
  t.match(await run(t, url), {
    code: 1,
    output: /^The schema isn’t current: run `npm run migrate` first\n$/,
  })
  t.match(await run(t, workers[0] ?? ''), { code: 1, output: /^DATABASE_URL names a worker/ })
  await migrate(url)
  const before = await startService(t, { env: { DATABASE_URL: url } })
  const ada = await before.signIn('ada')
  const { id } = await before.workspace(ada)
  await ada.push('acme/api', { 'ext.a': 1 })
  const sql = open(t, url)
  await sql`select create_reference_table('users')`
  await sql`select create_distributed_table('funnel_users', 'user_id')`

  const { code, output } = await run(t, url)
  t.equal(code, 0)
  t.match(output, /^workspaces: replicated to every node$/m)
  t.match(output, /\ndaily_activity: distributed by workspace_id\n/)
  t.notMatch(output, /^(users|funnel_users):/m, 'these had their places')
  t.same(await run(t, url), { code: 0, output: 'Every table is in place.\n' })
  const places = await sql`
    select table_name::text as name, distribution_column as column, colocation_id as shared from citus_tables
    where citus_table_type in ('reference', 'distributed')`
  t.equal(places.length, layout.copied.length + Object.values(layout.spread).flat().length)
  for (const [column, tables] of Object.entries(layout.spread)) {
    const rows = places.filter(({ name }) => tables.includes(name))
    t.ok(
      rows.every((row) => row.column === column),
      column,
    )
    t.equal(new Set(rows.map(({ shared }) => shared)).size, 1, `what shares ${column} is together`)
  }

  const after = await startService(t, { env: { DATABASE_URL: url }, beside: before })
  const again = await after.signIn('ada')
  t.hasStrict((await again.get('/api/settings/acme/api')).body, {
    workspace_id: id,
    settings: { 'ext.a': 1 },
  })
})

t.test('migrations run unchanged through the coordinator', onCluster, async (t) => {
  const { url } = await distributedCluster(t)
  const sql = open(t, url)
  // As drizzle does, runs all new migrations in one transaction.
  await sql.begin(async (tx) => {
    for (const text of [
      'create table badges (workspace_id uuid not null, name text not null, primary key (workspace_id, name))',
      'alter table daily_activity add column reviews smallint not null default 0',
      'alter table workspaces add column color text',
      `alter table badges add constraint badges_of_workspace
       foreign key (workspace_id) references workspaces (id) on delete cascade`,
      'create index daily_activity_reviews on daily_activity (workspace_id, reviews)',
      'update daily_activity set reviews = 1 where minutes > 100',
      'alter table daily_activity alter column reviews set data type integer',
    ]) {
      await tx.unsafe(text)
    }
  })
  t.same(await sql`select reviews from daily_activity`, [])
  t.same(await run(t, url), { code: 0, output: 'Every table is in place.\n' })
})

/** Samples for a text's type: an array, a multirange or JSON, a number or bits, a moment, a place in the log of changes. */
const TEXTS: [string, string][] = [
  ['{}', '{}'],
  ['1', '0'],
  ['2026-11-21', '2026-11-22'],
  ['0/0', '0/1'],
]

/** A value of each type. Arrays have workspaces of several shards. */
const exampleOf = (type: string, texts: [string, string]): string => {
  const item = type.replace('[]', '')
  const examples: Record<string, [string, string]> = {
    uuid: ['01939f6e-0000-7000-8000-000000000000', '01939f6e-0000-7000-8000-000000000001'],
    text: texts,
    date: ['2026-11-21', '2026-11-22'],
    boolean: ['true', 'false'],
    'timestamp with time zone': ['2026-11-21T09:30:00Z', '2026-11-22T09:30:00Z'],
  }
  const values = examples[item] ?? ['1', '2']
  return type === item ? values[0] : `{${values.map((value) => `"${value}"`).join()}}`
}

t.test('every node in a cluster supports every statement', onCluster, async (t) => {
  const { declared, built } = await collectQueries()
  const queries = [
    ...declared.map(({ name, text }) => ({ name, texts: [text] })),
    ...built.map(({ name, texts }) => ({ name, texts })),
  ]
  const { url, worker } = await distributedCluster(t)
  for (const [node, nodeUrl] of Object.entries({ coordinator: url, worker })) {
    const sql = open(t, nodeUrl)
    for (const { name, texts } of queries) {
      for (const text of texts.filter((text) => !/^\s*(set|commit)\b/.test(text))) {
        const error = await faultOf(sql, text)
        t.equal(error, undefined, `${name}, on a ${node}: ${error?.message}`)
      }
    }
  }
})

/**
 * Why the cluster rejects a statement. Undefined if it runs the statement, even if an example violates a constraint.
 */
const faultOf = async (sql: postgres.Sql, text: string): Promise<Error | undefined> => {
  let fault: Error | undefined
  for (const texts of TEXTS) {
    await sql`begin`
    fault = await tryStatement(sql, text, texts).catch((error) => error)
    await sql`rollback`
    // The statement doesn't exist if the cluster rejected it.
    await sql.unsafe('deallocate tried').catch(() => {})
    if (fault === undefined || / violates .* constraint /.test(fault.message)) return undefined
  }
  return fault
}

const tryStatement = async (sql: postgres.Sql, text: string, texts: [string, string]): Promise<undefined> => {
  await sql.unsafe(`prepare tried as ${text}`)
  const [row] = await sql<{ types: string[] }[]>`
    select parameter_types::text[] as types from pg_prepared_statements where name = 'tried'`
  const values = row?.types.map((type) => `'${exampleOf(type, texts)}'`) ?? []
  await sql.unsafe(`execute tried${values.length > 0 ? `(${values})` : ''}`)
}

const UNIQUE_VIOLATION = '23505'

/**
 * The shards that the hand-written statements of a call touch; several of one number on a node are one. The cluster
 * tells what it sends to its nodes when they are said again; a plan wouldn't tell where rows go that come from a query.
 */
const shardsOf = async ({ app: { database } }: Service, url: string, call: () => Promise<Reply>) => {
  const calls: [Statement<unknown>, Parameter[]][] = []
  const record = (db: object) => {
    const { rows } = db as Service['database']['read']
    const recorded = (statement: Statement<unknown>, parameters: Parameter[]) => {
      // Milestones are noted later, for many users at once.
      if (!statement.name.includes('milestones')) calls.push([statement, parameters])
      return rows(statement, parameters)
    }
    return Object.assign(db, { rows: recorded })
  }
  for (const db of [database.read, database.hot, database.write]) record(db)
  const { transaction } = database
  database.transaction = (work, options) => transaction((tx) => work(record(tx) as never), options)
  const { status } = await call()
  if (status !== 200 && status !== 202) throw new Error(`The call was answered with ${status}`)
  const asked = new Set<string>()
  const sql = postgres(url, {
    max: 1,
    connection: { 'citus.log_remote_commands': true },
    onnotice: ({ message = '' }) => {
      for (const [, id = ''] of message.matchAll(/_(\d{6,})\b/g)) asked.add(id)
    },
  })
  for (const [{ text }, parameters] of calls) {
    await sql`begin`
    // A node may reject what was done before.
    await sql.unsafe(text, parameters as never[]).catch((error) => {
      if (error.code !== UNIQUE_VIOLATION) throw error
    })
    await sql`rollback`
  }
  const shards = await sql`
    select distinct p.colocationid, s.shardminvalue from pg_dist_shard s join pg_dist_partition p using (logicalrelid)
    where s.shardid = any(${[...asked]}::bigint[]) and p.partmethod = 'h'`
  await sql.end()
  return { statements: calls.map(([{ name }]) => name), shards: shards.length }
}

t.test('frequent requests touch only one shard', onCluster, async (t) => {
  const { url } = await distributedCluster(t)
  const sql = open(t, url)
  const flush = (ada: Caller, day: string, id = {}) =>
    ada.post('/api/team/active-minutes', { ...id, entries: [{ repo: 'acme/api', day, minutes: 5 }] })
  /** Each of these prepares a call. */
  const calls: Record<
    string,
    [
      shards: number,
      (ada: Caller, id: string, service: Service, day: string) => Promise<() => Promise<Reply>>,
    ]
  > = {
    'a pull': [1, async (ada) => () => ada.get('/api/settings/acme/api')],
    'an effective configuration': [
      1,
      async (ada) => () => ada.get('/api/team/effective-config?repo=acme/api'),
    ],
    'a flush': [1, async (ada, _id, _service, day) => () => flush(ada, day)],
    'a flush with an id': [2, async (ada, _id, _service, day) => () => flush(ada, day, { flush_id: 'once' })],
    'a heartbeat': [
      2,
      async (ada, _id, _service, day) => () =>
        ada.post('/api/wakatime/v1/users/current/heartbeats.bulk', [
          { time: Date.parse(day) / 1_000, project: 'acme/api', entity: '/a.ts', type: 'file' },
        ]),
    ],
    'a dashboard': [1, async (ada, id) => () => ada.get(`/api/team/dashboard?workspace=${id}`)],
    'a pull with an access key': [
      1,
      async (ada, _id, service) => {
        const { body } = await ada.post('/api/me/keys', { name: 'CI', scopes: ['settings:read'] })
        const headers = { Authorization: `Bearer ${body.secret}` }
        return () => service.request('GET', '/api/settings/acme/api', { headers })
      },
    ],
    'a delivery to a webhook': [
      1,
      async (ada, id, service, day) => {
        const webhook = await createWebhook(service, ada, id)
        return () => webhook.push('acme/api', [commitOf('ada', day)])
      },
    ],
  }
  for (const [name, [shards, prepare]] of Object.entries(calls)) {
    const service = await startService(t, { env: { DATABASE_URL: url } })
    const ada = await service.signIn('ada')
    // Only the newest matches: a flush counts wherever it does.
    await sql`delete from patterns`
    const { id } = await service.workspace(ada)
    await ada.push('acme/api', { 'ext.a': 1 })
    const call = await prepare(ada, id, service, await readToday(service.database))
    const found = await shardsOf(service, url, call)
    t.ok(found.statements.length > 0, name)
    t.equal(found.shards, shards, `${name}: ${found.statements.join(', ')}`)
  }
})

t.test('concurrent first pushes by one or many users wait for each other', onCluster, async (t) => {
  const { url } = await distributedCluster(t)
  const env = { DATABASE_URL: url, DATABASE_POOL_SIZE: '20' }
  const service = await startService(t, { env })
  const ada = await service.signIn('ada')
  const many = await Promise.all(Array.from({ length: 20 }, (_, n) => service.signIn(`user${n}`)))
  const replies = await Promise.all([
    ...Array.from({ length: 200 }, (_, n) =>
      retryWhileUnavailable(() => ada.push(`ada/repo-${n}`, { 'ext.n': n })),
    ),
    ...many.map((user) => retryWhileUnavailable(() => user.push(`${user.login}/repo`, { 'ext.n': 1 }))),
  ])
  t.strictSame([...new Set(replies.map(({ status }) => status))], [200])
  t.equal(replies.filter(({ body }) => body.workspace_created).length, 21)
  hasProperties(t, (await ada.get('/api/team/me')).body.workspaces, [{ name: 'ada', personal: true }])
})

t.test('instances connected to different nodes act as one service', onCluster, async (t) => {
  const { url, worker } = await distributedCluster(t)
  const first = await startService(t, { env: { DATABASE_URL: url } })
  const second = await startService(t, { env: { DATABASE_URL: worker }, beside: first })
  const ada = await second.signIn('ada')
  const adaElsewhere = new Caller(first, ada.login, ada.repohostId, ada.repohostToken, ada.token)
  const both = [ada, adaElsewhere]
  const onBoth = (count: number, call: (caller: Caller, n: number) => Promise<Reply>) =>
    Promise.all(
      Array.from({ length: count }, (_, n) =>
        retryWhileUnavailable(() => call(both[n % both.length] ?? ada, n)),
      ),
    )

  const pushes = await onBoth(20, (caller, n) => caller.push(`ada/repo-${n}`, { 'ext.n': n }))
  t.strictSame([...new Set(pushes.map(({ status }) => status))], [200])
  t.equal(pushes.filter(({ body }) => body.workspace_created).length, 1, 'they share the person’s lock')
  const [workspace] = (await ada.get('/api/team/me')).body.workspaces

  const day = await readToday(second.database)
  const entries = [{ repo: 'ada/api', day, minutes: 1 }]
  const flushes = await onBoth(40, (caller, n) =>
    caller.post('/api/team/active-minutes', { flush_id: `flush-${Math.floor(n / 4)}`, entries }),
  )
  t.strictSame([...new Set(flushes.map(({ status }) => status))], [200])
  t.equal(flushes.filter(({ body }) => !body.duplicate).length, 10)
  const beats = await onBoth(10, (caller, n) =>
    caller.post('/api/wakatime/v1/users/current/heartbeats.bulk', [
      { time: Date.parse(day) / 1_000 + n * 60, project: 'ada/web', entity: '/a.ts', type: 'file' },
    ]),
  )
  t.strictSame([...new Set(beats.map(({ status }) => status))], [202])
  t.ok((await rollUp(second.database)) > 0, 'jobs run on any node')
  const path = `/api/team/dashboard?workspace=${workspace.id}`
  const [here, there] = await Promise.all(both.map((caller) => caller.get(path)))
  t.equal(here?.status, 200)
  t.same({ ...here?.body, generated_at: '' }, { ...there?.body, generated_at: '' })
  const sql = open(t, worker)
  t.same(await sql`select repo_key, minutes from daily_activity order by repo_key`, [
    { repo_key: 'ada/api', minutes: 10 },
    { repo_key: 'ada/web', minutes: 10 },
  ])

  t.equal((await ada.post('/api/auth/logout')).status, 200)
  await until(
    async () => (await adaElsewhere.get('/api/me')).status === 401,
    'the sign-out is known everywhere',
  )
  await sql`delete from drizzle.__drizzle_migrations where created_at = ${newestMigration.when}`
  await t.rejects(
    explainDatabaseErrors(migrate(worker)),
    /DATABASE_URL names a worker of a cluster/,
    'only the coordinator migrates',
  )
})
