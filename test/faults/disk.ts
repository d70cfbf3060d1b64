/** The file system of the database is full for a while, including its WAL. Needs to mount a small file system. */
import { execFile } from 'node:child_process'
import { chmod, open, rm, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { temporaryFolder } from '../process.js'
import { type Fault, watch } from './fault.js'
import { finishFault, randomPause, startScene } from './scene.js'

const run = promisify(execFile)
const SIZE = '256m'
const ROUNDS = 3
const FULL_MS = 8_000
const RECOVERY_MS = 30_000

/** Takes all remaining space. */
const fill = async (folder: string) => {
  const filler = join(folder, 'filler')
  const file = await open(filler, 'w')
  const block = Buffer.alloc(2 ** 16)
  try {
    for (;;) await file.write(block)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
  } finally {
    await file.close()
  }
  return () => rm(filler)
}

export const diskFull: Fault = {
  name: 'disk-full',
  needs: ['root', 'mount'],
  play: async (scope, { rounds = ROUNDS }) => {
    const dataDir = await temporaryFolder(scope)
    await run('mount', ['-t', 'tmpfs', '-o', `size=${SIZE},mode=0711`, 'tmpfs', dataDir])
    scope.teardown(() => run('umount', ['-l', dataDir]))
    await chmod(dataDir, 0o711)
    const { services, admin, crowd } = await startScene(scope, { dataDir })
    const url = services[0]?.url ?? ''
    const broken: string[] = []
    const details: string[] = []
    for (let round = 0; round < rounds; round++) {
      await randomPause()
      const stop = new AbortController()
      const health = watch(() => fetch(`${url}/api/health`), 100, stop.signal)
      const freeDisk = await fill(dataDir)
      const before = new Map(crowd.statuses)
      for (const end = Date.now() + FULL_MS; Date.now() < end; await sleep(200)) {
        // The WAL continues in its next file, for which there is no space.
        await admin`select pg_switch_wal()`.catch(() => {})
      }
      const responses = [...crowd.statuses].map(
        ([status, count]) => [status, count - (before.get(status) ?? 0)] as const,
      )
      const { bavail, bsize } = await statfs(dataDir)
      await freeDisk()
      const back = await crowd.recovered()
      stop.abort()
      if ([...(await health).statuses.keys()].some((status) => status !== 200))
        broken.push('/api/health failed')
      if (!responses.some(([status, count]) => status === 503 && count > 0)) broken.push('no one noticed')
      if (back > RECOVERY_MS) broken.push(`it took ${Math.round(back)} ms to be back`)
      details.push(
        `full but for ${Math.round((bavail * bsize) / 1_024)} KiB: answers ${responses.map(([status, count]) => `${count} × ${status}`).join(', ')}; back after ${Math.round(back)} ms`,
      )
    }
    const outcome = await finishFault(crowd, `${rounds} × full for ${FULL_MS / 1_000} s`, broken)
    return { ...outcome, details: [...details, ...(outcome.details ?? [])] }
  },
}
