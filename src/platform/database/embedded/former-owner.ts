import { readlink, realpath, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { OperatorError } from '../../process/operator-error.js'
import { isWrongServer, messageOf } from '../failures.js'
import type { Log } from './account.js'
import { lockOwnership, readLockFile, removeSocket, requirePrivate, session, urlOf } from './socket.js'

/**
 * Ends a server that a killed service left behind, and removes a lock file whose process number now belongs to another
 * program. @throws {OperatorError} if a running service owns the cluster.
 */
export const releaseFromFormerOwner = async (
  cluster: string,
  password: string,
  log: Log,
  stopped?: AbortSignal,
): Promise<void> => {
  // The cluster's real path.
  const place = await realpath(cluster).catch(() => cluster)
  const pidFile = join(cluster, 'postmaster.pid')
  /** The socket folder of the server to stop. */
  let leftFolder = ''
  for (let attempt = 0; attempt < 100; attempt++) {
    stopped?.throwIfAborted()
    const found = await readLockFile(cluster)
    if (found === undefined) return removeSocket(leftFolder)
    const { pid, address } = found
    // Process numbers are reused after a reboot or in a new container, so check whose folder it is.
    const folder = await readlink(`/proc/${pid}/cwd`).catch(() => undefined)
    if (process.platform === 'linux' && folder !== place) {
      log.warn(`removing the stale lock file ${pidFile}`)
      await rm(pidFile, { force: true })
      // The server that was told to stop may have ended just now.
      return removeSocket(leftFolder)
    }
    await sleep(100)
    // The server is still starting.
    if (address === undefined) continue
    const sql = session(urlOf(address, password))
    try {
      await requirePrivate(address.host, cluster)
      // A former owner's session may take a moment to notice that its client is gone.
      if (await lockOwnership(sql)) {
        log.warn('an earlier run was killed and left its database server running: stopping that server')
        process.kill(pid, 'SIGINT')
        leftFolder = address.host
      } else if (attempt > 20) {
        throw new OperatorError(
          `Another process of this service is using ${cluster}. Stop it first, or give this one another DATA_DIR.`,
        )
      }
    } catch (error) {
      if (error instanceof OperatorError) throw error
      if (isWrongServer(error)) {
        throw new OperatorError(
          `Another program listens at ${address.host}:${address.port} in place of the database in ${cluster} (process ${pid}): ${messageOf(error)}. Stop both by hand.`,
        )
      }
      // The server is starting or stopping.
    } finally {
      await sql.end({ timeout: 1 })
    }
  }
  throw new OperatorError(`A database server in ${cluster} neither responds nor stops. Stop it by hand.`)
}
