/** What is in `ops/` is right by the programs that read it, where they are installed. */
import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import postgres from 'postgres'
import t from 'tap'
import { readConfig } from '../src/config.js'
import { onGivenDatabase } from '../src/db/given.js'
import { migrate } from '../src/db/migrate.js'
import { checkDatabase } from '../src/doctor/database.js'
import { projectRoot } from '../src/runtime/root.js'
import { createTestDatabase } from './database.js'
import { startPooler } from './pooler.js'
import { temporaryFolder } from './process.js'
import { examples, isInstalled, makeCertificate } from './proxy-examples.js'
import { JWT_SECRET } from './service.js'

const run = promisify(execFile)
const ops = (name: string) => join(projectRoot, 'ops', name)
const without = async (...programs: string[]) => {
  for (const program of programs) if (!(await isInstalled(program))) return `${program} is not installed`
  return false
}

for (const [name, prepare] of Object.entries(examples)) {
  t.test(`the configuration of ${name} is right`, { skip: await without(name, 'openssl') }, async (t) => {
    const folder = await temporaryFolder(t)
    const place = { folder, front: 8443, plain: 8081, ports: [3001, 3002] }
    const { program, check } = await prepare(place, await makeCertificate(folder))
    await t.resolves(run(program, check, { env: { PATH: process.env.PATH, HOME: folder } }))
  })
}

/** What the units use is there from this version on. */
const SYSTEMD = 250
const withoutSystemd = async () => {
  const missing = await without('systemd-analyze')
  if (missing) return missing
  const { stdout } = await run('systemd-analyze', ['--version'])
  const version = Number(stdout.match(/^systemd ([0-9]+)/)?.[1])
  return version < SYSTEMD && `systemd is ${version}, and the units need ${SYSTEMD}`
}

t.test('the units are right', { skip: await withoutSystemd() }, async (t) => {
  const folder = await temporaryFolder(t)
  const names = ['team-settings@.service', 'team-settings-backup.service', 'team-settings-backup.timer']
  for (const name of names) {
    const unit = await readFile(ops(name), 'utf8')
    // It complains of programs that are not there.
    await writeFile(join(folder, name), unit.replaceAll('/usr/bin/node', process.execPath))
  }
  const { stderr } = await run('systemd-analyze', ['verify', ...names.map((name) => join(folder, name))])
  t.equal(stderr, '', 'without a complaint')
})

t.test('the role behind a pooler gets all time-outs that the doctor asks for', async (t) => {
  const { url, drop } = await createTestDatabase('template0')
  t.teardown(drop)
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  t.teardown(() => sql.end())
  const changes = await readFile(ops('pgbouncer.sql'), 'utf8')
  const found = await sql
    .begin(async (tx) => {
      const [known] = await tx`select from pg_roles where rolname = 'service'`
      if (!known) await tx`create role service`
      await tx.unsafe(changes)
      const [row] = await tx<{ set: string[] }[]>`
      select setconfig as set from pg_db_role_setting where setrole = 'service'::regrole and setdatabase = 0`
      // Roles are the server's, and not of this test alone.
      throw Object.assign(new Error('undone'), { row })
    })
    .catch(({ row }) => row)
  t.match(found?.set.sort(), [
    'idle_in_transaction_session_timeout=10s',
    'lock_timeout=2s',
    'statement_timeout=5s',
  ])
})

t.test(
  'behind the pooler, instances that start at once migrate once, and the doctor sees it',
  { skip: await without('pgbouncer') },
  async (t) => {
    const { url, drop } = await createTestDatabase('template0')
    t.teardown(drop)
    const pooled = new URL(url)
    pooled.host = await startPooler(t, url)
    await t.resolves(Promise.all(Array.from({ length: 6 }, () => migrate(pooled.href))))
    await t.resolves(migrate(pooled.href), 'and leave no lock to those that start later')

    const levelOf = async (DATABASE_PREPARE: string) => {
      const env = { DATABASE_URL: pooled.href, DATABASE_PREPARE, JWT_SECRETS: JWT_SECRET }
      const findings = await checkDatabase(pooled.href, readConfig(env))
      return findings.filter(({ about }) => /pooler|time-outs/.test(about)).map(({ level }) => level)
    }
    t.same(await levelOf('true'), ['problem'])
    t.same(await levelOf('false'), ['ok'], 'with all time-outs')

    const refusalOf = (changes: Partial<URL>) =>
      onGivenDatabase(migrate(Object.assign(new URL(pooled), changes).href)).catch(({ message }) => message)
    t.match(await refusalOf({ password: 'hunter2' }), /a user or a password that the server refuses/)
    t.match(await refusalOf({ pathname: '/nowhere' }), /a database that does not exist/)
  },
)
