import { open as openFile, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import postgres from 'postgres'
import t, { type Test } from 'tap'
import { seedTeam } from '../demo/team.js'
import { backUp } from '../src/operator/backup/back-up.js'
import { restore } from '../src/operator/backup/restore.js'
import { baseline, newestMigration } from '../src/platform/database/migrations.js'
import { OperatorError } from '../src/platform/process/operator-error.js'
import { addDays } from '../src/platform/time/days.js'
import { createTestDatabase } from './database.js'
import { databaseOf } from './migrated.js'
import {
  freePort,
  launch,
  launchProgram,
  onDatabase,
  programFile,
  ready,
  spawnProgram,
  temporaryFolder,
} from './process.js'
import { startRelay } from './relay.js'
import { type Caller, startService } from './service.js'
import { until } from './until.js'

t.jobs = 3

type Place = Record<string, string>

/** Runs a command on a database until it ends. */
const command = async (t: Test, name: 'backup' | 'restore', file: string, place: Place) => {
  const args = name === 'restore' ? [file, '--keep-sessions'] : [file]
  const { ended, output } = launchProgram(t, `src/bin/${name}`, place, args)
  return { code: await ended, output: output() }
}

const succeeds = async (t: Test, ...call: [name: 'backup' | 'restore', file: string, place: Place]) => {
  const { code, output } = await command(t, ...call)
  t.equal(code, 0, output)
}

const quiet = () => {}
const { signal } = new AbortController()
/** Both run without starting a command, for tests about the file. */
const backUpTo = (file: string, url: string) => backUp(url, file, quiet, signal)
const restoreFrom = (file: string, url: string) => restore(url, file, quiet, signal, { keepSessions: true })

const emptyDatabase = async (t: Test) => {
  const { url, drop } = await createTestDatabase('template0')
  t.teardown(drop)
  return url
}

const open = (t: Test, url: string) => {
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  t.teardown(() => sql.end())
  return sql
}

/** The content of all tables, as one text per table. */
const contentOf = async (t: Test, url: string) => {
  const sql = open(t, url)
  const tables = await sql<{ name: string }[]>`
    select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' order by 1`
  const content: Record<string, unknown> = {}
  for (const { name } of tables) {
    const [row] = await sql`
      select count(*)::int as rows, md5(string_agg(x::text, ',' order by x::text collate "C")) as text from ${sql(name)} x`
    content[name] = row
  }
  return content
}

/** A service with every kind of data. */
const startFilled = async (t: Test) => {
  const service = await startService(t)
  const [ada, bob] = await Promise.all([service.signIn('ada'), service.signIn('bob')])
  const { id } = await service.workspace(ada, { name: 'Acme\t\\. "ä"\n', members: [bob] })
  const pushed = await ada.push('acme/api', {
    'ext.text': 'a\\b\n\t\u2028\\.',
    'ext.deep': [1, { x: null }],
  })
  t.equal(pushed.status, 200, pushed.text)
  await ada.put(`/api/team/workspaces/${id}/project-settings/acme/api`, { settings: { 'ext.a': 1 } })
  const { rows } = await seedTeam(service.database, {
    name: 'Many',
    owner: 'many',
    firstRepohostId: 1_000_000,
    members: 20,
    from: addDays(new Date().toISOString().slice(0, 10), -40),
    to: new Date().toISOString().slice(0, 10),
  })
  t.ok(rows > 500)
  const flush = (n: number) =>
    bob.post('/api/team/active-minutes', {
      flush_id: `flush-${n}`,
      entries: [{ repo: 'acme/api', day: new Date().toISOString().slice(0, 10), minutes: 1 }],
    })
  return { service, flush }
}

t.test(
  'the service writes one backup a day and keeps as many as configured',
  { buffered: true },
  async (t) => {
    const folder = await temporaryFolder(t)
    const env = { BACKUP_DIR: folder, BACKUP_KEEP: '2' }
    const service = await startService(t, { env })
    const beside = await startService(t, { env, beside: service })
    await service.signIn('ada')
    const names = async () => (await readdir(folder)).sort()
    const runAll = () => Promise.all([service, beside].map(({ app }) => app.jobs.backup?.run()))
    const dayPasses = () =>
      service.database.write.statement(`update backups set made_at = made_at - interval '25 hours'`, [])

    await runAll()
    await runAll()
    const [first = '', ...others] = await names()
    t.match(first, /^team-settings-20\d\d-\d\d-\d\dT\d{6}Z\.gz$/)
    t.strictSame(others, [], 'one instance has written one')
    t.equal((await stat(join(folder, first))).mode & 0o777, 0o600)
    const target = await emptyDatabase(t)
    await restoreFrom(join(folder, first), target)
    const sql = open(t, target)
    t.strictSame([...(await sql`select login from users where login = 'ada'`)], [{ login: 'ada' }])

    const [older, oldest] = ['team-settings-2020-01-02T000000Z.gz', 'team-settings-2020-01-01T000000Z.gz']
    const foreign = [
      '2020-01-01.gz',
      'team-settings-2020-01-01.gz',
      'team-settings-2020-01-01T000000Z.gz.md5',
    ]
    const unfinished = 'team-settings-2020-01-03T000000Z.gz.0123abcd.unfinished'
    for (const name of [older, oldest, ...foreign, unfinished]) await writeFile(join(folder, name), name)
    await rename(join(folder, first), join(folder, older))
    await dayPasses()
    await runAll()
    const kept = await names()
    const newest = kept.find((name) => /^team-settings-(?!2020).*Z\.gz$/.test(name)) ?? ''
    t.strictSame(kept, [...foreign, older, newest].sort(), 'it removes only its own files')
    const log = service.logs.concat(beside.logs).join('')
    t.ok(log.includes(`a backup was written to ${join(folder, newest)}`))
  },
)

t.test(
  'a backup that was recorded while a clock ran ahead is reported, and the next one is made and replaces its record',
  { buffered: true },
  async (t) => {
    const folder = await temporaryFolder(t)
    const service = await startService(t, { env: { BACKUP_DIR: folder, METRICS_PORT: '9468' } })
    const sql = open(t, service.databaseUrl)
    const age = async () =>
      Number(
        (await service.app.meter.registry.metrics()).match(/^team_settings_backup_age_seconds (\S+)$/m)?.[1],
      )
    await sql`insert into backups (made_at, bytes) values (now() - interval '30 hours', 1), (now() + interval '1 year', 1)`
    await until(async () => (await age()) < 0, 'the metric is negative')
    await service.app.jobs.backup?.run()
    t.equal((await readdir(folder)).length, 1)
    t.ok(service.logs.some((line) => line.includes('which is in the future. It doesn’t count.')))
    const [row] = await sql`select count(*)::int as all, max(made_at) <= now() as past from backups`
    t.strictSame({ ...row }, { all: 2, past: true })
    await service.app.jobs.backup?.run()
    t.equal((await readdir(folder)).length, 1, 'the next one is due in a day')
  },
)

t.test(
  'a new backup isn’t deleted, even if older files have names from the future',
  { buffered: true },
  async (t) => {
    const folder = await temporaryFolder(t)
    const service = await startService(t, { env: { BACKUP_DIR: folder, BACKUP_KEEP: '1' } })
    const future = [1, 2, 3].map((n) => `team-settings-2999-01-0${n}T000000Z.gz`)
    const older = 'team-settings-2020-01-01T000000Z.gz'
    for (const name of [...future, older]) await writeFile(join(folder, name), name)
    await service.app.jobs.backup?.run()
    const [newest = '', ...others] = (await readdir(folder)).sort()
    t.match(newest, /^team-settings-(?!2020|2999).*Z\.gz$/)
    t.strictSame(others, future)
    const log = service.logs.join('')
    t.ok(
      log.includes(
        `${folder} has backups with names from the future, which stay there: ${future.join(', ')}`,
      ),
    )
  },
)

t.test(
  'a backup is kept if its record was committed but the response got lost',
  { buffered: true },
  async (t) => {
    const folder = await temporaryFolder(t)
    const { databaseUrl } = await startService(t)
    let lost = 0
    const throughRelay = await startRelay(t, databaseUrl, (client, reach) => {
      const server = reach()
      let records = false
      client.on('data', (chunk) => {
        records ||= chunk.includes('insert into backups')
        server.write(chunk)
      })
      server.on('data', (chunk) => {
        if (!records || !chunk.includes('COMMIT')) return void client.write(chunk)
        lost++
        client.destroy()
      })
      client.on('close', () => server.end())
      server.on('close', () => client.end())
    })
    const service = await startService(t, { env: { ...onDatabase(throughRelay), BACKUP_DIR: folder } })
    await service.app.jobs.backup?.run()
    t.equal(lost, 1)
    const [name = '', ...others] = await readdir(folder)
    t.match(name, /\.gz$/)
    t.strictSame(others, [])
    t.ok(service.logs.some((line) => line.includes(`a backup was written to ${join(folder, name)}`)))
  },
)

t.test('a failed backup deletes no earlier backup, and is reported', { buffered: true }, async (t) => {
  const folder = await temporaryFolder(t)
  const older = 'team-settings-2020-01-02T000000Z.gz'
  await writeFile(join(folder, older), '')
  const service = await startService(t, { env: { BACKUP_DIR: folder, BACKUP_KEEP: '1' } })
  // The backup can't be recorded.
  await service.database.write.statement('alter table backups add check (bytes < 0) not valid', [])
  await service.app.jobs.backup?.run()
  const failures = () => service.logs.filter((line) => line.includes('the backup failed')).length
  t.equal(failures(), 1)
  t.strictSame(await readdir(folder), [older])
  t.equal((await service.request('GET', '/api/ready')).status, 200)
  await service.app.jobs.backup?.run()
  t.equal(failures(), 1, 'it isn’t retried at once')
})

t.test('a backup is a consistent snapshot, even during writes', { buffered: true }, async (t) => {
  const { service, flush } = await startFilled(t)
  const file = join(await temporaryFolder(t), 'backup.gz')
  let isOver = false
  let flushed = 0
  const writing = (async () => {
    for (; !isOver; flushed++) await flush(flushed)
  })()
  await until(() => flushed > 2, 'writes are under way')
  await backUpTo(file, service.databaseUrl)
  isOver = true
  await writing
  const target = await emptyDatabase(t)
  await restoreFrom(file, target)
  const sql = open(t, target)
  const [row] = await sql`
    select (select count(*)::int from flushes) as answered,
      (select coalesce(sum(minutes), 0)::int from daily_activity where repo_key = 'acme/api') as counted`
  t.ok(row?.answered > 2)
  t.equal(row?.answered, row?.counted, 'a flush and its minutes are both there or both not')
})

t.test('a restored database equals the original, on any server', { buffered: true }, async (t) => {
  const { service, flush } = await startFilled(t)
  await flush(1)
  await service.app.close()
  const folder = await temporaryFolder(t)
  const dataDir = await temporaryFolder(t)
  const given = onDatabase(service.databaseUrl)
  const expected = await contentOf(t, service.databaseUrl)

  const first = join(folder, 'first.gz')
  await succeeds(t, 'backup', first, given)
  await succeeds(t, 'restore', first, { DATA_DIR: dataDir })
  const second = join(folder, 'second.gz')
  await succeeds(t, 'backup', second, { DATA_DIR: dataDir })
  const target = await emptyDatabase(t)
  await succeeds(t, 'restore', second, onDatabase(target))
  t.strictSame(await contentOf(t, target), expected, 'from a server to the embedded database and back')

  const { code, output } = await command(t, 'restore', second, { DATA_DIR: dataDir })
  t.equal(code, 1)
  t.match(output, /^The database already has tables/m, 'it never overwrites data')

  const { url: started, drop } = await createTestDatabase()
  t.teardown(drop)
  await succeeds(t, 'restore', second, onDatabase(started))
  t.strictSame(await contentOf(t, started), expected, 'it may overwrite a database that was only started')
  const name = new URL(started).pathname.slice(1)
  await t.rejects(restore(started, second, quiet, signal), {
    constructor: OperatorError,
    message: new RegExp(`people have used.* stop the service and add --replace ${name}, which deletes`),
  })
  await t.rejects(restore(started, second, quiet, signal, { replaced: 'other' }), {
    constructor: OperatorError,
    message: /^Nothing was changed: the name of the database is/,
  })
  await restore(started, second, quiet, signal, { replaced: name, keepSessions: true })
  t.strictSame(await contentOf(t, started), expected, 'and one that is named')
  const sql = open(t, started)
  await sql`create table carts (id int)`
  await t.rejects(restore(started, second, quiet, signal, { replaced: name }), {
    constructor: OperatorError,
    message: /already has tables that aren’t of this version of the service \(carts\)/,
  })

  const running = await ready(launch(t, await freePort(), { DATA_DIR: dataDir, LOG_LEVEL: 'silent' }))
  await succeeds(t, 'backup', join(folder, 'third.gz'), { DATA_DIR: dataDir })
  t.equal((await fetch(`${running.url}/api/ready`)).status, 200, 'a service runs on it, and runs on')
})

t.test('an incomplete file changes nothing', { buffered: true }, async (t) => {
  const { url, sql } = await databaseOf(t, baseline.when)
  await sql`delete from users`
  await sql`insert into users (id, repohost_id, login, login_key, avatar_url) values (gen_random_uuid(), 1, 'ada', 'ada', '')`
  const folder = await temporaryFolder(t)
  const whole = join(folder, 'whole.gz')
  await backUpTo(whole, url)
  const bytes = await readFile(whole)
  const text = gunzipSync(bytes).toString()
  const changed = (from: string | RegExp, to: string) => {
    const result = text.replace(from, to)
    t.not(result, text)
    return gzipSync(result)
  }
  const target = await emptyDatabase(t)
  const files: [Buffer, RegExp][] = [
    [bytes.subarray(0, bytes.length - 20), /isn’t a complete backup: it ends too early/],
    [gzipSync(text.slice(0, text.lastIndexOf('\n--'))), /isn’t a complete backup: it ends too early/],
    [gzipSync('hello\n'), /isn’t a backup of this service/],
    [Buffer.from('hello\n'), /isn’t a complete backup: it can’t be decompressed/],
    [changed('\tada\tada\t', '\teve\teve\t'), /isn’t a complete backup: users isn’t what was written/],
    [
      changed(/^.*\tada\tada\t/m, 'x\t1\tada\tada\t'),
      /users can’t be loaded, from line 1 of its rows \(22P02\)\.$/,
    ],
    [changed(/"rows":1\b/, '"rows":2'), /users has 1 rows instead of 2/],
    [
      changed('"activity.minutes":"0"', '"activity.minutes":"7"'),
      /activity\.minutes adds up to 0 instead of 7/,
    ],
    [changed('"format":1', '"format":9'), /its manifest can’t be read/],
    [changed('"name":"users"', '"name":"users; drop"'), /its manifest can’t be read/],
    [
      changed(/"migration":\{[^}]*\}/, '"migration":{"tag":"9999_future","when":9999999999999}'),
      /with migration 9999_future, which is newer than/,
    ],
  ]
  for (const [n, [content, said]] of files.entries()) {
    const file = join(folder, `${n}.gz`)
    await writeFile(file, content)
    const rejected = restoreFrom(file, target)
    await t.rejects(rejected, { constructor: OperatorError, message: said })
  }
  const { code, output } = await command(t, 'restore', join(folder, 'none.gz'), onDatabase(target))
  t.equal(code, 1)
  t.match(output, /can’t be read \(ENOENT\)/)
  t.notMatch(output, /^\s+at /m, 'without a stack')
  t.strictSame(await contentOf(t, target), {}, 'there is still no table')

  await restoreFrom(whole, target)
  const [row] = await open(
    t,
    target,
  )`select max(created_at)::text as newest from drizzle.__drizzle_migrations`
  t.equal(Number(row?.newest), newestMigration.when, 'and an older schema is brought forward')
})

t.test('rejecting a malicious file takes little memory and prints none of its content', async (t) => {
  const { url, sql } = await databaseOf(t)
  await sql`delete from users`
  const folder = await temporaryFolder(t)
  const whole = join(folder, 'whole.gz')
  await backUpTo(whole, url)
  const text = gunzipSync(await readFile(whole)).toString()
  const target = await emptyDatabase(t)
  const beginOfUsers = /^COPY public\.users .*\n/m.exec(text)?.[0] ?? ''
  const untilUsers = text.slice(0, text.indexOf(beginOfUsers)) + beginOfUsers
  t.not(beginOfUsers, '')
  const withManifest = (change: (manifest: { [name: string]: unknown }) => object) =>
    text.replace(/^-- (\{.*"format".*)$/m, (_, json) => `-- ${JSON.stringify(change(JSON.parse(json)))}`)

  const mebibyte = 2 ** 20
  const zeros = Array(16).fill(gzipSync(Buffer.alloc(64 * mebibyte)))
  const zerosAfter = (text: string) => Buffer.concat([gzipSync(text), ...zeros])
  const tooLong = 'The file isn’t a complete backup: a line is too long.'
  const noManifest = 'The file isn’t a complete backup: its manifest can’t be read.'
  const terminalEscape = '\u001b]0;owned\u0007'
  type Malicious = [what: string, content: Buffer, said: string]
  const large: Malicious[] = [
    ['1 GiB of zeros', Buffer.concat(zeros), tooLong],
    ['zeros as a manifest', zerosAfter(`${text.split('\n')[0]}\n`), tooLong],
    ['zeros as rows', zerosAfter(untilUsers), tooLong],
    [
      'more rows than it says',
      gzipSync(untilUsers + '\n'.repeat(64 * mebibyte)),
      'The file isn’t a complete backup: users has more than 0 rows.',
    ],
  ]
  const small: Malicious[] = [
    [
      'a value for the terminal',
      gzipSync(
        withManifest((m) => m)
          .replace(beginOfUsers, `${beginOfUsers}${terminalEscape}\n`)
          .replace('"name":"users","columns"', '"name":"users","rows":1,"columns"')
          .replace(/("name":"users".*?),"rows":0/, '$1'),
      ),
      'The file isn’t a complete backup: users can’t be loaded, from line 1 of its rows (22P02).',
    ],
    [
      'a version for the terminal',
      gzipSync(withManifest((m) => ({ ...m, version: terminalEscape }))),
      noManifest,
    ],
    [
      'a day for the terminal',
      gzipSync(withManifest((m) => ({ ...m, made_at: terminalEscape }))),
      noManifest,
    ],
    [
      'a migration for the terminal',
      gzipSync(withManifest((m) => ({ ...m, migration: { tag: terminalEscape, when: 9_999_999_999_999 } }))),
      noManifest,
    ],
    [
      'a sum for the terminal',
      gzipSync(withManifest((m) => ({ ...m, sums: { 'users.login': terminalEscape } }))),
      noManifest,
    ],
    [
      'a sum of what is no number',
      gzipSync(withManifest((m) => ({ ...m, sums: { 'users.login': '1' } }))),
      'The file isn’t a complete backup: the database can’t take it (42883).',
    ],
    [
      'a table that the schema has not',
      gzipSync(withManifest((m) => ({ ...m, tables: [{ name: 'pg_user', columns: ['usename'], rows: 0 }] }))),
      'The file isn’t a complete backup: the database has no table pg_user.',
    ],
  ]
  /** The output of the command, and its highest memory in MiB. */
  const restored = async (content: Buffer) => {
    const file = join(folder, 'hostile.gz')
    await writeFile(file, content)
    const tell = `
      import { readFileSync } from 'node:fs'
      const read = () => readFileSync('/proc/self/status', 'utf8').match(/VmHWM:\\s+(\\d+)/)[1]
      process.once('exit', () => console.error(process.platform === 'linux' ? read() : 0))`
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(tell)}`
    const env = { ...onDatabase(target), NODE_OPTIONS }
    const { ended, output } = launchProgram(t, 'src/bin/restore', env, [file])
    const code = await ended
    const [said, kibibytes] = output().trim().split('\n').slice(-2)
    return { code, said, peak: Number(kibibytes) / 1_024 }
  }
  const { peak: least } = await restored(gzipSync('hello\n'))
  for (const [what, content, expected] of large) {
    const { code, said, peak } = await restored(content)
    t.strictSame({ code, said }, { code: 1, said: expected }, what)
    t.ok(peak < least + 150, `${what}: ${Math.round(peak)} MiB, where ${Math.round(least)} are the least`)
  }
  for (const [what, content, expected] of small) {
    const file = join(folder, 'hostile.gz')
    await writeFile(file, content)
    await t.rejects(restoreFrom(file, target), { constructor: OperatorError, message: expected }, what)
  }
  t.strictSame(await contentOf(t, target), {}, 'there is still no table')
})

t.test(
  'a restored database has the same indexes and constraints as a migrated one',
  { buffered: true },
  async (t) => {
    const { url, drop } = await createTestDatabase()
    t.teardown(drop)
    const file = join(await temporaryFolder(t), 'backup.gz')
    await backUpTo(file, url)
    const target = await emptyDatabase(t)
    await restoreFrom(file, target)
    const definitionsOf = async (place: string) => {
      const sql = open(t, place)
      return [
        ...(await sql`select indexdef from pg_indexes where schemaname = 'public' order by 1`),
        ...(await sql`
        select conrelid::regclass::text as table, conname, convalidated, pg_get_constraintdef(oid) as is
        from pg_constraint where connamespace = 'public'::regnamespace order by 1, 2`),
      ].map((row) => ({ ...row }))
    }
    const expected = await definitionsOf(url)
    t.ok(expected.length > 100)
    t.strictSame(await definitionsOf(target), expected)
  },
)

t.test('of two concurrent backups into the same file, the first one stays', { buffered: true }, async (t) => {
  const { url, drop } = await createTestDatabase()
  t.teardown(drop)
  const folder = await temporaryFolder(t)
  const file = join(folder, 'backup.gz')
  const sql = open(t, url)
  const backups = await sql.begin(async (tx) => {
    await tx`lock table users in access exclusive mode`
    const begun = [1, 2].map(() => backUpTo(file, url))
    await until(async () => {
      const [row] = await tx`
        select count(*)::int as waiting from pg_locks where not granted and relation = 'users'::regclass`
      return row?.waiting === begun.length
    }, 'both are in the middle of it')
    // Wrapped in an object, because the driver would await an array, and the requests continue only after this lock.
    return { begun }
  })
  const ended = await Promise.allSettled(backups.begun)
  t.strictSame(ended.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
  t.same(await readdir(folder), ['backup.gz'])
  const before = await readFile(file)
  const again = await command(t, 'backup', file, onDatabase(url))
  t.strictSame(again, {
    code: 1,
    output: `The file ${file} already exists, and stays as it is. Name another one, or add --force to replace it.\n`,
  })
  t.strictSame(await readFile(file), before)
  const { ended: forced, output } = launchProgram(t, 'src/bin/backup', onDatabase(url), ['--force', file])
  t.equal(await forced, 0, output())
  t.notSame(await readFile(file), before)
  t.same(await readdir(folder), ['backup.gz'])
  await restoreFrom(file, await emptyDatabase(t))
})

t.test(
  'a backup in a folder is named after the time, and --keep deletes older ones',
  { buffered: true },
  async (t) => {
    const { url, drop } = await createTestDatabase()
    t.teardown(drop)
    const folder = await temporaryFolder(t)
    const older = ['2020-01-01.gz', '2020-01-02.gz', 'team-settings-2020-01-01T000000Z.gz', 'other.gz']
    for (const name of older) await writeFile(join(folder, name), name)
    const run = async (...args: string[]) => {
      const { ended, output } = launchProgram(t, 'src/bin/backup', onDatabase(url), args)
      return { code: await ended, output: output() }
    }
    t.equal((await run(folder)).code, 0)
    t.equal((await readdir(folder)).length, 5, 'without it, all stay')
    t.equal((await run(`${folder}/`, '--keep', '3')).code, 0)
    const [first, ...kept] = (await readdir(folder)).sort()
    t.equal(first, 'other.gz')
    t.equal(kept.length, 3)
    t.equal(kept[0], 'team-settings-2020-01-01T000000Z.gz', 'files of a day are the oldest')
    t.strictSame(await run(join(folder, 'x.gz'), '--keep', '3'), {
      code: 1,
      output: '--keep needs a folder in place of a file.\n',
    })
    t.strictSame(await run(folder, '--keep', '0'), {
      code: 1,
      output: '--keep takes a number from 1 to 10000.\n',
    })
  },
)

t.test('backup and restore work through standard output and input', { buffered: true }, async (t) => {
  const { service } = await startFilled(t)
  // Otherwise its rollups would continue.
  await service.app.close()
  const folder = await temporaryFolder(t)
  const piped = async (name: string, redirection: string, url: string) => {
    const program = `exec ${process.execPath} ${programFile(`src/bin/${name}`)} - ${redirection}${name === 'restore' ? ' --keep-sessions' : ''}`
    const { ended, output } = spawnProgram(t, 'sh', ['-c', program], onDatabase(url), folder)
    t.equal(await ended, 0, output())
    return output()
  }
  t.match(await piped('backup', '> file', service.databaseUrl), /^The backup is complete\.$/m)
  const copy = await emptyDatabase(t)
  t.match(await piped('restore', '< file', copy), /is restored and checked\.$/m)
  const [original, restored] = [await contentOf(t, service.databaseUrl), await contentOf(t, copy)]
  // The original has recorded the backup itself.
  t.same({ ...restored, backups: undefined }, { ...original, backups: undefined })
})

t.test(
  'a comparison lists what a restore would bring back, and changes nothing',
  { buffered: true },
  async (t) => {
    const { service, flush } = await startFilled(t)
    const { databaseUrl: url } = service
    const [cyd, dan, eve] = await service.signInAll('cyd', 'dan', 'eve')
    const team = await service.workspace(dan, { name: 'Kept', patterns: ['kept/*'], members: [cyd, eve] })
    const gone = await service.workspace(dan, { name: 'Gone', patterns: ['gone/*'] })
    const key = await dan.post('/api/me/keys', { name: 'script', scopes: ['settings:read'] })
    t.equal(key.status, 201, key.text)
    const idOf = async (caller: Caller): Promise<string> => (await caller.get('/api/me')).body.id
    const [cydsId, dansId, evesId] = [await idOf(cyd), await idOf(dan), await idOf(eve)]
    const file = join(await temporaryFolder(t), 'backup')
    const compared = async () => {
      const { ended, output } = launchProgram(t, 'src/bin/restore', onDatabase(url), [file, '--compare'])
      return { code: await ended, lines: output().trim().split('\n') }
    }
    await backUpTo(file, url)

    const sql = open(t, url)
    await flush(1)
    await service.app.close()
    await sql`update users set repohost_id = null, login_key = 'deleted' where id = ${cydsId}`
    await sql`update users set disabled_at = now() where id = ${dansId}`
    await sql`update key_secrets set revoked_at = now() where key_id = ${key.body.id}`
    await sql`delete from members where workspace_id = ${team.id} and user_id in (${cydsId}, ${evesId})`
    await sql`update workspaces set deleted_at = now() where id = ${gone.id}`
    const before = await contentOf(t, url)
    const { code, lines } = await compared()
    t.equal(code, 0)
    t.ok(lines.includes('backups: 0 rows in the backup, 1 now'), lines.join('\n'))
    const start = lines.indexOf(
      'A restore with --replace keeps the following. A restore into another database undoes it:',
    )
    t.same(
      lines.slice(start + 1, -1).map((line) => line.trim()),
      [
        'Accounts deleted since the backup: 1',
        cydsId,
        'Accounts disabled since the backup: 1',
        dansId,
        'Access keys revoked since the backup: 1',
        key.body.id,
        'Every restore undoes the following:',
        'Workspaces deleted since the backup: 1',
        gone.id,
        'Members who left or were removed (account, workspace) since the backup: 1',
        `${evesId} ${team.id}`,
        'A restore ends all sessions, unless you add --keep-sessions.',
      ],
    )
    t.match(lines.at(-1), /^The backup of .* is complete\. Nothing was changed\.$/)
    t.same(await contentOf(t, url), before)

    await writeFile(file, (await readFile(file)).subarray(0, -20))
    t.same(await compared(), { code: 1, lines: ['The file isn’t a complete backup: it ends too early.'] })
  },
)

t.test(
  'a restore over a database keeps what is stricter in it, lists the rest, and ends all sessions',
  { buffered: true },
  async (t) => {
    const service = await startService(t)
    const [ada, bob, cyd, dan] = await service.signInAll('ada', 'bob', 'cyd', 'dan')
    const { id } = await service.workspace(ada, {
      name: 'Acme',
      patterns: ['acme/*', 'old/*'],
      members: [bob, cyd, dan],
    })
    const place = `/api/team/workspaces/${id}`
    t.equal((await ada.patch(`${place}/members`, { login: 'dan', role: 'admin' })).status, 200)
    const key = await ada.post('/api/me/keys', { name: 'script', scopes: ['settings:read'] })
    const invite = await ada.post(`${place}/invites`, { role: 'member' })
    t.same([key.status, invite.status], [201, 201], invite.text)
    const idOf = async (caller: Caller): Promise<string> => (await caller.get('/api/me')).body.id
    const [bobsId, cydsId, dansId] = [await idOf(bob), await idOf(cyd), await idOf(dan)]
    const file = join(await temporaryFolder(t), 'backup.gz')
    await backUpTo(file, service.databaseUrl)

    const changes = [
      await bob.put('/api/me/recording', { paused: true, repos_off: ['acme/secret'], hours: null }),
      await ada.patch(`${place}/settings`, { activity_privacy: 'team' }),
      await ada.delete(`/api/me/keys/${key.body.id}`),
      await ada.delete(`${place}/invites/${invite.body.id}`),
      await ada.patch(`${place}/members`, { login: 'dan', role: 'member' }),
      await ada.put(`${place}/patterns`, { patterns: ['acme/*'] }),
      await bob.post('/api/auth/logout', { everywhere: true }),
      await cyd.request('DELETE', '/api/me', { body: { confirm: 'cyd' } }),
    ]
    t.strictSame(
      changes.map(({ status }) => status < 300),
      changes.map(() => true),
      changes.map(({ text }) => text).join('\n'),
    )
    await service.app.jobs.erasures.run()
    await service.app.close()
    const sql = open(t, service.databaseUrl)
    // An erasure stays open for ten minutes; later, the account is gone.
    await sql`delete from erasures`
    await sql`delete from users where id = ${cydsId}`

    const name = new URL(service.databaseUrl).pathname.slice(1)
    const { ended, output } = launchProgram(t, 'src/bin/restore', onDatabase(service.databaseUrl), [
      file,
      '--replace',
      name,
    ])
    t.equal(await ended, 0, output())
    const lines = output()
      .split('\n')
      .map((line) => line.trim())
    const start = lines.indexOf('Kept from the database that was replaced:')
    t.strictSame(
      lines.slice(start + 1, -1).filter((line) => !line.startsWith('The backup of')),
      [
        'Accounts deleted since the backup: 1',
        cydsId,
        'People who signed out everywhere since the backup: 1',
        bobsId,
        'Access keys revoked since the backup: 1',
        key.body.id,
        'Invites revoked (invite, workspace) since the backup: 1',
        `${invite.body.id} ${id}`,
        'People who limited recording since the backup: 1',
        bobsId,
        'Workspaces that hid people’s numbers since the backup: 1',
        id,
        'Undone by the restore, and left to you and the admins:',
        'Admins who became members (account, workspace) since the backup: 1',
        `${dansId} ${id}`,
        'Repository patterns removed (workspace, pattern) since the backup: 1',
        `${id} old/*`,
        `The account ${cydsId} is deleted again.`,
        'Everyone has to sign in again.',
      ],
    )

    const again = await startService(t, { beside: service })
    for (const { token } of [ada, bob, cyd, dan]) {
      const headers = { Authorization: `Bearer ${token}` }
      t.equal((await again.request('GET', '/api/me', { headers })).status, 401, 'the session has ended')
    }
    const [adaNow, bobNow] = await again.signInAll('ada', 'bob')
    t.hasStrict((await bobNow.get('/api/me/recording')).body, { paused: true, repos_off: ['acme/secret'] })
    t.hasStrict((await adaNow.get(`${place}/settings`)).body, { activity_privacy: 'team' })
    const members = (await adaNow.get(`${place}/members`)).body.members.map(
      ({ login }: { login: string }) => login,
    )
    t.strictSame(members.sort(), ['ada', 'bob', 'dan'], 'the deleted account is no member')
    t.hasStrict((await adaNow.get('/api/me/keys')).body, { keys: [] })
  },
)

t.test(
  'a restore over a database keeps removals, and says nothing untrue of organizations and of keys',
  { buffered: true },
  async (t) => {
    const service = await startService(t)
    const [ada, eve, fay] = await service.signInAll('ada', 'eve', 'fay')
    const { id } = await service.workspace(ada, { members: [eve] })
    const gone = await service.workspace(ada, { name: 'Gone', patterns: ['gone/*'] })
    const place = `/api/team/workspaces/${id}`
    const invite = await ada.post(`${place}/invites`, { role: 'member' })
    const key = await ada.post(`/api/team/workspaces/${gone.id}/keys`, {
      name: 'ci',
      scopes: ['settings:read'],
    })
    t.same([invite.status, key.status], [201, 201], key.text)
    const sql = open(t, service.databaseUrl)
    const adasId = (await ada.get('/api/me')).body.id
    await sql`
      insert into organizations (workspace_id, host_id, name, joins, leaves, linked_by, linked_at)
      values (${id}, 77, 'acme', 'member', 'suggest', ${adasId}, now())`
    const evesId = (await eve.get('/api/me')).body.id
    const file = join(await temporaryFolder(t), 'backup.gz')
    await backUpTo(file, service.databaseUrl)

    const body = { code: invite.body.code }
    const changes = [
      await ada.delete(`${place}/organization`),
      await ada.delete(`${place}/members?login=eve`),
      await eve.request('DELETE', '/api/me', { body: { confirm: 'eve' } }),
      await fay.post('/api/team/workspaces/join', body),
      await ada.delete(`${place}/members?login=fay`),
      await ada.delete(`/api/team/workspaces/${gone.id}`),
    ]
    t.strictSame(
      changes.map(({ status }) => status < 300),
      changes.map(() => true),
      changes.map(({ text }) => text).join('\n'),
    )
    await service.app.housekeeping.run()
    await service.app.close()

    const run = async (...args: string[]) => {
      const { ended, output } = launchProgram(t, 'src/bin/restore', onDatabase(service.databaseUrl), [
        file,
        ...args,
      ])
      t.equal(await ended, 0, output())
      const lines = output()
        .split('\n')
        .map((line) => line.trim())
      const start = lines.findIndex((line) => /^(A restore with --replace keeps|Kept from)/.test(line))
      return lines.slice(start + 1).filter((line) => !/^(The backup of|A restore ends|$)/.test(line))
    }
    const kept = [
      'Accounts deleted since the backup: 1',
      evesId,
      'Access keys revoked since the backup: 1',
      key.body.id,
      'Removals of people who weren’t members, or who deleted their account since the backup: 2',
    ]
    const left = [
      'Workspaces deleted since the backup: 1',
      gone.id,
      'Organizations that no longer add members (workspace) since the backup: 1',
      id,
    ]
    t.strictSame(await run('--compare'), [...kept, 'Every restore undoes the following:', ...left])
    t.strictSame(await run('--replace', new URL(service.databaseUrl).pathname.slice(1)), [
      ...kept,
      'Undone by the restore, and left to you and the admins:',
      ...left,
      `The account ${evesId} is deleted again.`,
      'Everyone has to sign in again.',
    ])

    const again = await startService(t, { beside: service })
    const [eveNow, fayNow] = await again.signInAll('eve', 'fay')
    for (const person of [eveNow, fayNow])
      t.hasStrict(await person.post('/api/team/workspaces/join', body), { status: 410 })
  },
)

t.test(
  'a restore into an empty database ends all sessions, unless they are kept',
  { buffered: true },
  async (t) => {
    const service = await startService(t)
    const ada = await service.signIn('ada')
    const file = join(await temporaryFolder(t), 'backup.gz')
    await backUpTo(file, service.databaseUrl)
    const statusAfter = async (...args: string[]) => {
      const url = await emptyDatabase(t)
      const { ended, output } = launchProgram(t, 'src/bin/restore', onDatabase(url), [file, ...args])
      t.equal(await ended, 0, output())
      t.match(output(), /^The database was empty, so changes after the backup are undone/m)
      const restored = await startService(t, { env: onDatabase(url) })
      const headers = { Authorization: `Bearer ${ada.token}` }
      return (await restored.request('GET', '/api/me', { headers })).status
    }
    t.equal(await statusAfter(), 401)
    t.equal(await statusAfter('--keep-sessions'), 200)
  },
)

t.test('a failed backup leaves no file', { buffered: true }, async (t) => {
  const folder = await temporaryFolder(t)
  const file = join(folder, 'backup.gz')
  const isRejected = (work: Promise<unknown>, message: RegExp) =>
    t.rejects(work, { constructor: OperatorError, message })
  await isRejected(backUpTo(file, await emptyDatabase(t)), /^The database has no tables of this service/)
  const none = await command(t, 'backup', file, { DATA_DIR: join(folder, 'none') })
  t.equal(none.code, 1)
  t.match(none.output, /There is no database in DATA_DIR/)
  const { url, drop } = await createTestDatabase()
  t.teardown(drop)
  const nowhere = join(folder, 'none/backup.gz')
  await isRejected(backUpTo(nowhere, url), /^The file \S+ can’t be written \(ENOENT\)\.$/)
  // The shell limits the size of files, which fails a write as a full disk does.
  const program = `ulimit -f 1; exec ${process.execPath} ${programFile('src/bin/backup')} ${file}`
  const limited = spawnProgram(t, 'sh', ['-c', program], onDatabase(url), folder)
  t.equal(await limited.ended, 1)
  t.match(limited.output(), /^The file \S+ can’t be written \(EFBIG\)\.\n$/m)
  const appended = join(folder, 'out')
  await writeFile(appended, 'before')
  const toOutput = `ulimit -f 1; exec ${process.execPath} ${programFile('src/bin/backup')} - >> ${appended}`
  const cut = spawnProgram(t, 'sh', ['-c', toOutput], onDatabase(url), folder)
  t.equal(await cut.ended, 1)
  t.match(cut.output(), /^Standard output can’t be written \(EFBIG\)\.\n$/m)
  t.equal(await readFile(appended, 'utf8'), 'before', 'no part of a backup has the file’s name')
  await rm(appended)
  t.notMatch(limited.output(), /database|CONNECTION/i, 'the message doesn’t blame the database')
  t.same(await readdir(folder), [])
})

// Not in parallel with other tests, because it changes what they use.
t.test('a backup works on file systems that can’t sync a folder', { buffered: false }, async (t) => {
  const { url, drop } = await createTestDatabase()
  t.teardown(drop)
  const folder = await temporaryFolder(t)
  const handle = await openFile(folder)
  const files = Object.getPrototypeOf(handle)
  await handle.close()
  const { sync } = files
  t.teardown(() => {
    files.sync = sync
  })
  const backUpWhere = (code: string) => {
    files.sync = async () => {
      throw Object.assign(new Error('fsync'), { code, path: '/' })
    }
    return backUpTo(join(folder, `${code}.gz`), url)
  }
  const harmless = ['EACCES', 'EINVAL', 'ENOTSUP']
  for (const code of harmless) await backUpWhere(code)
  t.strictSame(
    (await readdir(folder)).sort(),
    harmless.map((code) => `${code}.gz`),
  )
  const message = /can’t be written \(EIO\)/
  await t.rejects(
    backUpWhere('EIO'),
    { constructor: OperatorError, message },
    'a broken disk fails the backup',
  )
})
