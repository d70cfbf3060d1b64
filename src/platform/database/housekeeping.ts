/**
 * Periodic jobs, done in small transactions. Only one such transaction runs at a time across all instances, so locks
 * are held briefly and a crash loses at most one step.
 */
import fp from 'fastify-plugin'
import { measuredTask } from '../metrics/meter.js'
import type { Task } from '../metrics/metrics.js'
import { coalesce, repeat } from '../process/async.js'
import { roundRobin } from '../process/round-robin.js'
import type { Db } from './client.js'
import { lockHousekeeping } from './locks.js'

declare module 'fastify' {
  interface FastifyInstance {
    housekeeping: {
      /** Runs all jobs now. Never rejects: a failure is logged, and the next run tries again. */
      run(): Promise<void>
    }
  }
}

/** With `list`, the listed subjects take turns, one step each. */
export interface HousekeepingJob {
  name: Task
  list?(db: Db): Promise<{ id: string }[]>
  /** One small step in a transaction, with at most `rows` rows. @returns whether there may be more to do */
  step(tx: Db, rows: number, id: string): Promise<boolean>
}

const PERIOD_MS = 60_000
/** The maximum number of rows that a step deletes. Settings rows are large. */
const ROWS_PER_STEP = 500

export default fp(
  async (app, { jobs }: { jobs: HousekeepingJob[] }) => {
    const finish = async ({ name, list, step }: HousekeepingJob) => {
      const takeStep = (id: string) =>
        app.database.transaction(async (tx) => {
          await lockHousekeeping(tx)
          return step(tx, ROWS_PER_STEP, id)
        })
      const allSteps = async () => {
        let more = true
        while (more && !app.lifecycle.isClosing()) more = await takeStep('')
      }
      const allRoundRobin = (listSubjects: NonNullable<HousekeepingJob['list']>) =>
        roundRobin({
          list: () => listSubjects(app.database.read),
          step: ({ id }) => takeStep(id),
          isStopped: app.lifecycle.isClosing,
        })
      try {
        await measuredTask(app.meter, name, list ? () => allRoundRobin(list) : allSteps)()
      } catch (error) {
        // Shutdown doesn't wait for the step, which the database rolls back.
        if (app.lifecycle.isClosing()) return
        app.log.warn({ err: error, job: name }, 'housekeeping failed and will be tried again')
      }
    }

    const run = coalesce(async () => {
      for (const job of jobs) await finish(job)
    })
    app.decorate('housekeeping', { run })

    repeat(app, PERIOD_MS, run, 'housekeeping')
  },
  { name: 'housekeeping' },
)
