import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmod, chown, mkdir, readdir, readFile, realpath, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { startThrowAwayDatabase } from '../demo/database.js'
import { inDedicatedSession } from '../src/platform/database/dedicated-session.js'
import { findAccount } from '../src/platform/database/embedded/account.js'
import { placeBinaries } from '../src/platform/database/embedded/binaries.js'
import { openEmbedded, startEmbedded } from '../src/platform/database/embedded/index.js'
import { locks } from '../src/platform/database/locks.js'
import { migrate } from '../src/platform/database/migrate.js'
import { allDemands, receivedPassword, startImpostor } from './impostor.js'
import {
  freePort,
  launch,
  launchProgram,
  processesOf,
  programFile,
  ready,
  temporaryFolder,
} from './process.js'
import { startService } from './service.js'
import { until } from './until.js'

const quiet = { info: () => {}, warn: () => {}, error: () => {} }
const start = (dataDir: string) => startEmbedded({ dataDir, maxConnections: 10, durable: false, log: quiet })
const never = new AbortController().signal
const isRoot = process.getuid?.() === 0
/** A user without rights, and another one. */
const [NOBODY, STRANGER] = [65_534, 65_533]

const passwordIn = async (dataDir: string) =>
  (await readFile(join(dataDir, 'postgresql-password'), 'utf8')).trim()
/** The folder of the socket. */
const hostOf = (url: string) => decodeURIComponent(new URL(url).hostname)
const lockFileIn = async (cluster: string) =>
  (await readFile(join(cluster, 'postmaster.pid'), 'utf8')).split('\n').map((line) => line.trim())
const readValue = async (url: string, statement: string) =>
  inDedicatedSession(url, undefined, async (sql) => Object.values((await sql.unsafe(statement))[0] ?? {})[0])

/** Starts a program, and ends it with the test. */
const begin = (t: Test, program: string, args: string[], options: object): ChildProcess => {
  const child = spawn(program, args, { stdio: 'ignore', ...options })
  const ended = once(child, 'exit')
  t.teardown(async () => {
    child.kill('SIGKILL')
    await ended
  })
  return child
}

/** A database that tests share one after the other. */
const dataDir = await temporaryFolder(t)
const made = await start(dataDir)
await made.stop()

t.test('housekeeping and rollups run in the embedded database without warnings', async (t) => {
  const server = await startEmbedded({ dataDir, maxConnections: 30, durable: false, log: quiet })
  t.teardown(() => server.stop())
  await migrate(server.url)
  const service = await startService(t, { env: { DATABASE_URL: server.url } })
  await service.app.housekeeping.run()
  await service.app.jobs.rollups.run()
  t.strictSame(
    service.logs.filter((line) => line.includes('"level":40')),
    [],
  )
  t.equal(new Set(Object.values(locks)).size, Object.keys(locks).length)
})

t.test('the next run cleans up only what a killed run left behind', async (t) => {
  const folder = await temporaryFolder(t)
  const start = () => startThrowAwayDatabase({ maxConnections: 10, durable: false, log: quiet }, folder)
  const living = await start()
  t.teardown(() => living.stop())
  const before = await readdir(folder)
  const stranger = join(folder, 'team-settings-stranger')
  await mkdir(stranger)

  const killed = launchProgram(t, 'demo/demo', { TMPDIR: folder, PORT: String(await freePort()) })
  const left = await until(async () => {
    const [found] = (await readdir(folder)).filter(
      (name) => join(folder, name) !== stranger && !before.includes(name),
    )
    return (
      found &&
      (await stat(join(folder, found, 'postgresql', 'postmaster.pid')).catch(() => undefined)) &&
      found
    )
  }, 'the demo has a database')
  killed.child.kill('SIGKILL')
  await killed.ended
  t.not((await processesOf(join(folder, left))).length, 0, 'its server is still running')

  const next = await start()
  t.strictSame(await processesOf(join(folder, left)), [])
  const now = await readdir(folder)
  t.notOk(now.includes(left))
  t.ok(now.includes('team-settings-stranger'))
  for (const name of before) t.ok(now.includes(name))
  for (const { url } of [next, living]) t.equal(await readValue(url, 'select 1 as n'), 1)
  await next.stop()
  t.equal((await readdir(folder)).length, now.length - 1, 'and a run that ends removes its own')
})

t.test('a program at an earlier server’s address gets no password', async (t) => {
  const password = await passwordIn(dataDir)
  const cluster = await realpath(made.location)
  // The former server's process id now belongs to a program in the same folder, which looks like a server.
  const program = begin(t, 'sleep', ['300'], { cwd: cluster })
  const leaveLock = (port: number, folder = '') =>
    writeFile(
      join(cluster, 'postmaster.pid'),
      `${[program.pid, cluster, 0, port, folder, folder ? '' : '127.0.0.1'].join('\n')}\n`,
    )
  const rejectionOf = async (work: Promise<{ stop(): Promise<void> }>) => {
    const outcome = await work.catch((error) => error)
    await outcome.stop?.()
    return String(outcome.message)
  }

  const impostor = await startImpostor(t, 'clear text')
  await leaveLock(impostor.port)
  const answered = `Another program listens at 127.0.0.1:${impostor.port} in place of the database in ${made.location} (process ${program.pid}): `
  for (const demand of allDemands) {
    impostor.demand = demand
    const rejection = await rejectionOf(openEmbedded(dataDir, never))
    t.equal(rejection.slice(0, answered.length), answered, demand)
  }
  t.not(impostor.connections, 0)
  t.equal(receivedPassword(impostor, password), false)
  t.equal(impostor.heard.replaceAll('p', ''), '', 'and nothing else but SCRAM')

  const open = await temporaryFolder(t)
  const link = join(await temporaryFolder(t), 'link')
  const foreign = await temporaryFolder(t)
  const listeners = await Promise.all(
    [open, foreign].map((folder) => startImpostor(t, 'clear text', { path: join(folder, '.s.PGSQL.5432') })),
  )
  await symlink(foreign, link)
  await chmod(open, 0o777)
  if (isRoot) await chown(foreign, STRANGER, STRANGER)
  for (const folder of [open, link, ...(isRoot ? [foreign] : [])]) {
    await leaveLock(5432, folder)
    t.equal(
      await rejectionOf(start(dataDir)),
      `Other users can write to ${folder}, where the database listens. Make it a folder of the database's owner with mode 0700.`,
    )
  }
  t.strictSame(
    listeners.map(({ connections }) => connections),
    [0, 0],
    'the service connects to no socket that others could have put there',
  )

  program.kill('SIGKILL')
  await once(program, 'exit')
  await leaveLock(impostor.port)
  const before = impostor.connections
  const visit = await openEmbedded(dataDir, never)
  t.equal(await readValue(visit.url, 'select 1 as n'), 1, 'if the former server is gone, a new one starts')
  await visit.stop()
  t.equal(impostor.connections, before)
})

t.test('the server listens on a socket that only its own user and root can reach', async (t) => {
  const { url, location, stop } = await start(dataDir)
  t.teardown(() => stop())
  const folder = hostOf(url)
  t.equal(folder, await realpath(location))
  t.equal(await readValue(url, 'show listen_addresses'), '')
  const { uid, mode } = await stat(folder)
  t.equal(uid, (await findAccount())?.uid ?? process.getuid?.())
  t.equal(mode & 0o777, 0o700)
  t.equal((await stat(join(folder, '.s.PGSQL.5432'))).mode & 0o777, 0o700)
  if (!isRoot) return
  const probe = `require('node:net').connect(process.argv[1])
    .on('connect', () => process.exit(1)).on('error', ({ code }) => process.exit(code === 'EACCES' ? 42 : 2))`
  const child = begin(t, process.execPath, ['-e', probe, join(folder, '.s.PGSQL.5432')], {
    uid: STRANGER,
    gid: STRANGER,
  })
  t.strictSame(await once(child, 'exit'), [42, null])
})

t.test(
  'the database programs get no environment variables, and no password on the command line',
  { skip: process.platform !== 'linux' && 'there is no /proc' },
  async (t) => {
    const DATA_DIR = await temporaryFolder(t)
    const canary = 'a-canary-that-only-the-service-may-know'
    const service = launch(t, await freePort(), { DATA_DIR, JWT_SECRETS: canary })
    const seen = new Map<string, Set<string>>()
    const look = async () => {
      for (const pid of await processesOf(DATA_DIR)) {
        if (pid === service.child.pid) continue
        const read = (name: string) => readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => '')
        const [environment, command] = await Promise.all([read('environ'), read('cmdline')])
        const name = command.split('\0')[0]?.replace(/^.*\//, '') ?? ''
        seen.set(name, (seen.get(name) ?? new Set()).add(environment).add(command))
      }
    }
    let isReady = false
    const starting = ready(service).finally(() => {
      isReady = true
    })
    for (; !isReady; await sleep(50)) await look()
    await starting
    await look()

    const password = await passwordIn(DATA_DIR)
    t.ok(seen.has('initdb') && seen.has('postgres'), [...seen.keys()].join())
    const all = [...seen.values()].flatMap((texts) => [...texts])
    t.strictSame(
      all.filter((text) => text.includes(canary) || text.includes(password)),
      [],
    )
    const [postmaster] = await lockFileIn(join(DATA_DIR, 'postgresql'))
    const environment = (await readFile(`/proc/${postmaster}/environ`, 'utf8')).split('\0').filter(Boolean)
    t.strictSame(
      environment.filter((variable) => !variable.startsWith('MALLOC_')),
      ['LC_ALL=C'],
    )
    t.notOk((await readFile(join(DATA_DIR, 'postgresql.log'), 'utf8')).includes(password))
    t.notOk(service.output().includes(password))
  },
)

t.test('a DATA_DIR whose path is too long for a socket works too', async (t) => {
  const dataDir = join(await temporaryFolder(t), 'long-'.repeat(30))
  const first = await start(dataDir)
  const folder = hostOf(first.url)
  t.not(folder, await realpath(first.location))
  const found = await stat(folder)
  t.equal(found.uid, (await stat(first.location)).uid)
  t.equal(found.mode & 0o777, 0o700)
  const visit = await openEmbedded(dataDir, never)
  t.equal(visit.url, first.url, 'commands find it')
  t.equal(await readValue(visit.url, 'select 1 as n'), 1)
  await first.stop()
  await t.rejects(stat(folder), { code: 'ENOENT' }, 'and its folder is removed')
})

t.test('a server that the previous version left on a port is found and replaced', async (t) => {
  const account = await findAccount()
  const port = await freePort()
  const settings = ['listen_addresses=127.0.0.1', `port=${port}`, 'unix_socket_directories=']
  const former = begin(
    t,
    join(await placeBinaries(account), 'bin', 'postgres'),
    ['-D', made.location, ...settings.flatMap((setting) => ['-c', setting])],
    { ...account, cwd: '/' },
  )
  const ended = once(former, 'exit')
  const url = `postgres://postgres:${await passwordIn(dataDir)}@127.0.0.1:${port}/postgres`
  await until(() => readValue(url, 'select 1 as n').catch(() => undefined), 'the former server answers')
  await readValue(url, 'create table kept as select 42 as n')

  await inDedicatedSession(url, undefined, async (owner) => {
    await owner`select pg_advisory_lock(${locks.owner})`
    const visit = await openEmbedded(dataDir, never)
    t.equal(await readValue(visit.url, 'select n from kept'), 42, 'a command uses it while its service runs')
    await t.rejects(start(dataDir), { message: /^Another process of this service is using / })
  })
  const next = await start(dataDir)
  t.teardown(() => next.stop())
  await ended
  t.equal(await readValue(next.url, 'select n from kept'), 42)
  t.equal(await readValue(next.url, 'show listen_addresses'), '')
})

t.test(
  'an ordinary user can run the embedded server too, and root finds it',
  { skip: !isRoot && 'every other test shows it' },
  async (t) => {
    const DATA_DIR = await temporaryFolder(t)
    await chown(DATA_DIR, NOBODY, NOBODY)
    const port = await freePort()
    const server = programFile('src/server')
    const mayRead = begin(t, 'test', ['-r', server], { uid: NOBODY, gid: NOBODY })
    const [code] = await once(mayRead, 'exit')
    if (code !== 0) return t.comment(`a user without rights cannot read ${server}`)
    const child = begin(t, process.execPath, [server], {
      cwd: DATA_DIR,
      env: { PATH: process.env.PATH, DATA_DIR, PORT: String(port), RATE_LIMITS: 'off' },
      uid: NOBODY,
      gid: NOBODY,
    })
    const url = `http://127.0.0.1:${port}`
    await ready({ url, child, output: () => '', ended: Promise.resolve(0) })
    t.equal((await stat(join(DATA_DIR, 'postgresql', '.s.PGSQL.5432'))).uid, NOBODY)
    const visit = await openEmbedded(DATA_DIR, never)
    t.equal(await readValue(visit.url, 'select 1 as n'), 1)
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    t.strictSame(await ended, [0, null])
  },
)

t.test(
  'a user who can’t read files created by root gets their names and a command to fix it',
  { skip: !isRoot && 'only root can give files to others' },
  async (t) => {
    const DATA_DIR = await temporaryFolder(t)
    const programAs = (name: string, ...args: string[]) => {
      const nowhere = 'http://127.0.0.1:1'
      const network = { ASSISTANT_A_URL: nowhere, ASSISTANT_B_URL: nowhere, REPOHOST_URL: nowhere }
      const { status, stdout, stderr } = spawnSync(process.execPath, [programFile(name), ...args], {
        cwd: DATA_DIR,
        env: { PATH: process.env.PATH, DATA_DIR, REPOHOST_API_URL: nowhere, ...network },
        uid: NOBODY,
        gid: NOBODY,
        encoding: 'utf8',
      })
      return { status, output: stdout + stderr }
    }
    if (programAs('src/bin/backup', '--help').status !== 0)
      return t.comment('a user without rights cannot read the programs')
    const says = (path: string) =>
      new RegExp(
        `DATA_DIR: ${path} belongs to root, and nobody can’t use it\\.\\s+Stop the service and run: chown -R nobody: ${DATA_DIR}\n`,
      )
    const isNamed = (path: string) => {
      const calls: [string, ...string[]][] = [['src/server'], ['src/bin/backup', 'x.gz'], ['src/bin/doctor']]
      for (const [name, ...args] of calls) {
        const { status, output } = programAs(name, ...args)
        t.equal(status, 1, name)
        t.match(output, says(path), `${name} names ${path}`)
      }
    }
    await chmod(DATA_DIR, 0o755)
    isNamed(DATA_DIR)
    await chown(DATA_DIR, NOBODY, NOBODY)
    await mkdir(join(DATA_DIR, 'postgresql'), { mode: 0o700 })
    isNamed(join(DATA_DIR, 'postgresql'))
    await chown(join(DATA_DIR, 'postgresql'), NOBODY, NOBODY)
    await writeFile(join(DATA_DIR, 'postgresql-password'), 'x', { mode: 0o600 })
    isNamed(join(DATA_DIR, 'postgresql-password'))
  },
)

/** Only root can mount, and not in every container. */
const canMount = spawnSync('unshare', ['--mount', 'true']).status === 0

t.test(
  'a full disk is reported in the first sentence, at the first start and later, with details',
  { skip: !canMount && 'file systems cannot be mounted here' },
  async (t) => {
    const folder = await temporaryFolder(t)
    spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=20m,mode=0711', 'tmpfs', folder])
    t.teardown(() => spawnSync('umount', ['-l', folder]))
    const dataDir = join(folder, 'data')
    await mkdir(dataDir, { mode: 0o711 })
    const says = {
      message: /^The disk of \S+ is full: free space on it, then start again\.(\nDetails:\n.*\S.*)?$/s,
    }
    await t.rejects(start(dataDir), says)
    spawnSync('mount', ['-o', 'remount,size=80m', folder])
    const server = await start(dataDir)
    await server.stop()
    spawnSync('dd', ['if=/dev/zero', `of=${join(folder, 'filler')}`, 'bs=1M'])
    await t.rejects(start(dataDir), says)
  },
)
