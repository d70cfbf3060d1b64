import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { OperatorError } from '../../process/operator-error.js'
import type { Log } from './account.js'
import { exists } from './account.js'
import { type EmbeddedDatabase, startEmbedded } from './index.js'
import { lockOwnership, readLockFile, requirePrivate, session, urlOf } from './socket.js'

export class NoDatabase extends OperatorError {}

type OpenedDatabase = Pick<EmbeddedDatabase, 'url' | 'stop'>

const CONNECTIONS = 10

const say = (line: string) => process.stderr.write(`${line}\n`)
const log: Log = { info: () => {}, warn: say, error: say }

/**
 * The embedded database for a command. Uses the running service's database, or starts one for as long as the command needs it.
 * @throws {NoDatabase} when there is none in `dataDir`
 */
export const openEmbedded = async (dataDir: string, stopped: AbortSignal): Promise<OpenedDatabase> => {
  const cluster = join(resolve(dataDir), 'postgresql')
  if (!(await exists(join(cluster, 'PG_VERSION')))) {
    throw new NoDatabase(`There is no database in DATA_DIR (${dataDir}), and DATABASE_URL isn’t set.`)
  }
  const url = await urlOfRunning(dataDir, cluster)
  return url === undefined ? createEmbedded(dataDir, stopped) : { url, stop: async () => {} }
}

/** The same for a command that fills a new one. */
export const createEmbedded = (dataDir: string, stopped: AbortSignal): Promise<OpenedDatabase> =>
  startEmbedded({ dataDir, maxConnections: CONNECTIONS, log, stopped })

/** Undefined also for a server that a killed service left behind: starting replaces it. */
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
