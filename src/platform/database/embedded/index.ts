/**
 * The embedded PostgreSQL: the real server, shipped inside npm packages, run as this service's child process.
 * Layout of `DATA_DIR`: `postgresql/` (the cluster, or a link to it, see `placeCluster`), `postgresql.log`,
 * `postgresql-password`. The server runs in its own process group, so that Ctrl-C reaches only the service, and outlives
 * a `kill -9` of the service; the next start finds it and replaces it.
 */
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { makeDataDir, ownerFaultOf, readOrCreate } from '../../process/data-dir.js'
import { OperatorError } from '../../process/operator-error.js'
import { findAccount, type Log, pathExists } from './account.js'
import { placeBinaries } from './binaries.js'
import { ensureCluster, placeCluster } from './cluster.js'
import { releaseFromFormerOwner } from './former-owner.js'
import { type EmbeddedOptions, Server } from './server.js'
import {
  lockOwnership,
  placeSocket,
  readLockFile,
  removeSocket,
  requirePrivate,
  session,
  urlOf,
} from './socket.js'

interface EmbeddedDatabase {
  url: string
  /** The cluster's real path. */
  location: string
  /** Shuts the server down cleanly, or by force once `forceSignal` is aborted. */
  stop(forceSignal?: AbortSignal): Promise<void>
}

/** @throws {OperatorError} with a message for the operator. */
export const startEmbedded = async (options: EmbeddedOptions): Promise<EmbeddedDatabase> => {
  const { log, stopped } = options
  const dataDir = resolve(options.dataDir)
  const account = await findAccount()
  await makeDataDir(dataDir)
  const native = await placeBinaries(account)
  const cluster = await placeCluster(dataDir, account, log)
  const password = await readOrCreate(join(dataDir, 'postgresql-password'), 24)
  await ensureCluster(native, cluster, password, account, stopped)
  await releaseFromFormerOwner(cluster, password, log, stopped)

  const address = await placeSocket(cluster, account)
  const logFile = join(dataDir, 'postgresql.log')
  const server = new Server(native, cluster, logFile, address, password, account, options)
  const giveUp = () => server.stop(AbortSignal.timeout(GIVE_UP_MS))
  stopped?.addEventListener('abort', giveUp)
  try {
    stopped?.throwIfAborted()
    await server.launch()
  } catch (error) {
    await removeSocket(address.host)
    throw error
  } finally {
    stopped?.removeEventListener('abort', giveUp)
  }
  const stop = async (forceSignal?: AbortSignal) => {
    await server.stop(forceSignal)
    await removeSocket(address.host)
  }
  return { url: server.url, location: cluster, stop }
}

/** How long a server that's stopped while starting gets to shut down cleanly. */
const GIVE_UP_MS = 1_000

export class NoDatabase extends OperatorError {}

type OpenedDatabase = Pick<EmbeddedDatabase, 'url' | 'stop'>

const CONNECTIONS = 10

const say = (line: string) => process.stderr.write(`${line}\n`)
const log: Log = { info: () => {}, warn: say, error: say }

/**
 * The embedded database for a command. Uses the running service's database, or starts one for as long as the command
 * needs it.
 * @throws {NoDatabase} when there is none in `dataDir`
 */
export const openEmbedded = async (dataDir: string, stopped: AbortSignal): Promise<OpenedDatabase> => {
  const cluster = join(resolve(dataDir), 'postgresql')
  const fault = await ownerFaultOf(resolve(dataDir))
  if (fault) throw new OperatorError(`${fault.message} ${fault.remedy}`)
  if (!(await pathExists(join(cluster, 'PG_VERSION')))) {
    throw new NoDatabase(`There is no database in DATA_DIR (${dataDir}), and DATABASE_URL isn’t set.`)
  }
  const url = await urlOfRunning(dataDir, cluster)
  return url === undefined ? createEmbedded(dataDir, stopped) : { url, stop: async () => {} }
}

/** A new embedded database for a command that fills it. */
export const createEmbedded = (dataDir: string, stopped: AbortSignal): Promise<OpenedDatabase> =>
  startEmbedded({ dataDir, maxConnections: CONNECTIONS, log, stopped })

/** Undefined even for a server that a killed service left behind: starting replaces it. */
const urlOfRunning = async (dataDir: string, cluster: string): Promise<string | undefined> => {
  const { address } = (await readLockFile(cluster)) ?? {}
  if (address === undefined) return undefined
  const url = urlOf(address, (await readFile(join(dataDir, 'postgresql-password'), 'utf8')).trim())
  const sql = session(url)
  try {
    await requirePrivate(address.host, cluster)
    return (await lockOwnership(sql)) ? undefined : url
  } catch {
    return undefined
  } finally {
    await sql.end({ timeout: 1 })
  }
}
