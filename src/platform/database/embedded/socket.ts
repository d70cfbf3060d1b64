/** The server's Unix socket, in a folder that no other user can enter. */

import { chown, lstat, mkdir, mkdtemp, readFile, realpath, rm, rmdir, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import type postgres from 'postgres'
import { codeOf } from '../../process/code-of.js'
import { OperatorError } from '../../process/operator-error.js'
import { openClient } from '../driver.js'
import { locks } from '../locks.js'
import { type Account, SHARED_FOLDER } from './account.js'

/** A server's address. A `host` that begins with `/` is the folder of a socket whose name contains the port. */
export interface Address {
  host: string
  port: number
}

/** The port is only part of the socket's name. */
const PORT = 5432
/** The maximum length of a socket path in bytes. */
const MAX_PATH_BYTES = process.platform === 'linux' ? 107 : 103

const TEMPORARY = 'team-settings-socket-'

const socketIn = (folder: string) => join(folder, `.s.PGSQL.${PORT}`)
const fits = (folder: string) => Buffer.byteLength(socketIn(folder)) <= MAX_PATH_BYTES

/**
 * A new server's address. Its socket is in the cluster's folder, which PostgreSQL requires to be private, or in a new
 * temporary folder if that path is too long for a socket.
 * @throws {OperatorError}
 */
export const placeSocket = async (cluster: string, account: Account): Promise<Address> => {
  const own = await realpath(cluster)
  const folder = fits(own) ? own : await makeFolder(cluster, account)
  await requirePrivate(folder, cluster)
  // A server that was killed leaves a lock beside its socket. Its process number may now belong to another program.
  await rm(`${socketIn(folder)}.lock`, { force: true })
  return { host: folder, port: PORT }
}

/** Removes the folder if it's temporary. The server mustn't be running. */
export const removeSocket = async (host: string): Promise<void> => {
  if (!basename(host).startsWith(TEMPORARY)) return
  for (const file of [socketIn(host), `${socketIn(host)}.lock`]) await rm(file, { force: true })
  await rmdir(host).catch(() => {})
}

const makeFolder = async (cluster: string, account: Account): Promise<string> => {
  // The account may not reach root's temporary folder.
  const parent = account ? SHARED_FOLDER : tmpdir()
  const name = join(parent, TEMPORARY)
  if (!fits(`${name}XXXXXX`)) {
    throw new OperatorError(
      `The path ${cluster} is too long for the database’s socket, and so is that of the temporary folder, ${parent}. Set DATA_DIR or TMPDIR to a shorter path.`,
    )
  }
  if (account) await mkdir(parent, { recursive: true, mode: 0o755 })
  const folder = await mkdtemp(name)
  if (account) await chown(folder, account.uid, account.gid)
  return folder
}

/**
 * Call it before opening a session. Makes sure that only the cluster's server can answer. TCP addresses pass.
 * @throws {OperatorError} unless only the cluster's owner can create a socket in the folder
 */
export const requirePrivate = async (folder: string, cluster: string): Promise<void> => {
  if (!folder.startsWith('/')) return
  const [found, owner] = await Promise.all([lstat(folder), stat(cluster)])
  if (found.isDirectory() && found.uid === owner.uid && (found.mode & 0o022) === 0) return
  throw new OperatorError(
    `Other users can write to ${folder}, where the database listens. Make it a folder of the database's owner with mode 0700.`,
  )
}

/** The lock file that a running server writes into its cluster. */
interface LockFile {
  pid: number
  /** Undefined while the server starts. */
  address: Address | undefined
}

/**
 * Undefined if no process has the number of the cluster's last server. The number may now belong to another program.
 */
export const readLockFile = async (cluster: string): Promise<LockFile | undefined> => {
  const text = await readFile(join(cluster, 'postmaster.pid'), 'utf8').catch(() => '')
  const [first, , , port, folder, host] = text.split('\n').map((line) => line.trim())
  const pid = Number(first)
  if (!pid || !isRunning(pid)) return undefined
  // Servers of earlier versions listen on 127.0.0.1.
  const where = folder || host
  return { pid, address: where ? { host: where, port: Number(port) } : undefined }
}

const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return codeOf(error) === 'EPERM'
  }
}

// The owner of a running server is the session that holds its lock.

/** A server that can't prove that it knows the password isn't the embedded one. */
export const urlOf = ({ host, port }: Address, password: string): string =>
  `postgres://postgres:${password}@${encodeURIComponent(host)}:${port}/postgres?require_auth=scram-sha-256`

/** One session, used for the owner's lock. */
export const session = (url: string): postgres.Sql =>
  openClient(url, {
    max: 1,
    idle_timeout: 0,
    max_lifetime: null,
    connect_timeout: 2,
    fetch_types: false,
    onnotice: () => {},
  })

export const lockOwnership = async (sql: postgres.Sql): Promise<boolean> => {
  const [row] = await sql<{ locked: boolean }[]>`select pg_try_advisory_lock(${locks.owner}) as locked`
  return row?.locked === true
}
