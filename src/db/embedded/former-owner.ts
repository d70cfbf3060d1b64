import { readFile, readlink, realpath, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { OperatorError } from '../../runtime/operator-error.js'
import type { Log } from './log.js'
import { lockOwnership, session, urlOf } from './session.js'

/**
 * Ends a server that a killed service left behind, and removes a lock file whose process is another program by now.
 * @throws {OperatorError} when a living service owns the cluster.
 */
export const releaseFromFormerOwner = async (
  cluster: string,
  password: string,
  log: Log,
  stopped?: AbortSignal,
): Promise<void> => {
  // As the system itself names it.
  const place = await realpath(cluster).catch(() => cluster)
  const pidFile = join(cluster, 'postmaster.pid')
  for (let attempt = 0; attempt < 100; attempt++) {
    stopped?.throwIfAborted()
    const lines = (await readFile(pidFile, 'utf8').catch(() => '')).split('\n')
    const pid = Number(lines[0])
    const port = Number(lines[3])
    if (!pid || !isRunning(pid)) return
    // A process number is reused after a reboot or in a new container: whose folder is it really?
    const folder = await readlink(`/proc/${pid}/cwd`).catch(() => undefined)
    if (process.platform === 'linux' && folder !== place) {
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
        throw new OperatorError(
          `Another process of this service is using ${cluster}. Stop it first, or give this one another DATA_DIR.`,
        )
      }
    } catch (error) {
      if (error instanceof OperatorError) throw error
      // It is starting or stopping.
    } finally {
      await sql.end({ timeout: 1 })
    }
    await sleep(100)
  }
  throw new OperatorError(`A database server in ${cluster} neither answers nor stops. Stop it by hand.`)
}

const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
