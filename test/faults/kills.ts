/** Kills the service, the whole database, or one of its processes without a warning. */
import { killProcesses } from '../process.js'
import type { Fault } from './fault.js'
import { finishFault, randomPause, startScene } from './scene.js'

/** Only what is killed under load shows something: a kill waits for work to go on. */
const ROUNDS = 20
/** A start, on a machine that is busy. */
const START_MS = 30_000
/** How long requests may fail after the database has replayed its WAL. */
const RECOVERY_MS = 5_000

export const serviceKilled: Fault = {
  name: 'service-killed',
  play: async (scope, { rounds = ROUNDS }) => {
    const { services, restart, crowd } = await startScene(scope, { excused: [0, 503] })
    for (let round = 0; round < rounds; round++) {
      await randomPause()
      services[0]?.child.kill('SIGKILL')
      await services[0]?.ended
      restart()
      await crowd.recovered()
    }
    const { recoveryMs } = crowd.figures
    const broken = recoveryMs > START_MS ? [`it took ${Math.round(recoveryMs)} ms to be back`] : []
    return finishFault(crowd, `${rounds} × kill -9`, broken)
  },
}

/** The service stays alive through all of it, and comes back by itself. */
const killDatabase = (name: string, victims: ('all' | 'backend' | 'checkpointer')[]): Fault => ({
  name,
  play: async (scope, { rounds = ROUNDS }) => {
    const { databaseProcesses, databaseBack, admin, services, crowd } = await startScene(scope)
    let longest = 0
    const find = async (kind: string): Promise<number[]> => {
      if (kind === 'all') return databaseProcesses()
      const rows = await admin<{ pid: number }[]>`
        select pid from pg_stat_activity
        where ${kind === 'backend' ? admin`backend_type = 'client backend' and pid <> pg_backend_pid() and state = 'active'` : admin`backend_type = ${kind}`}
        limit 1`.catch(() => [])
      return rows.map(({ pid }) => pid)
    }
    for (let round = 0; round < rounds; round++) {
      await randomPause()
      const kind = victims[round % victims.length] ?? 'all'
      let pids: number[] = []
      while (pids.length === 0) pids = await find(kind)
      killProcesses(pids)
      longest = Math.max(longest, await databaseBack())
      await crowd.recovered()
    }
    const { recoveryMs } = crowd.figures
    const broken = recoveryMs > RECOVERY_MS ? [`it took ${Math.round(recoveryMs)} ms to be back`] : []
    if (services[0]?.child.exitCode !== null) broken.push('the service has ended')
    const outcome = await finishFault(crowd, `${rounds} × kill -9`, broken)
    const database = `the database itself was back after ${Math.round(longest)} ms at most`
    return { ...outcome, details: [database, ...(outcome.details ?? [])] }
  },
})

export const databaseKilled = killDatabase('database-killed', ['all'])
export const backendKilled = killDatabase('backend-killed', ['backend', 'checkpointer'])
