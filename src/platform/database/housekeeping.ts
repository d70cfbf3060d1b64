/**
 * Periodic jobs, done in small transactions. Only one such transaction runs at a time across all instances, so locks
 * are held briefly and a crash loses at most one step.
 */
import fp from 'fastify-plugin'
import { measuredTask } from '../metrics/meter.js'
import type { Task } from '../metrics/metrics.js'
import { coalesce, lazy, repeat } from '../process/async.js'
import { roundRobin } from '../process/round-robin.js'
import type { Db } from './client.js'
import { lockHousekeeping } from './locks.js'
import { type ClockWatch, watchClock } from './watch-clock.js'

declare module 'fastify' {
  interface FastifyInstance {
    housekeeping: {
      /** Runs all jobs now. Never rejects: a failure is logged, and the next run tries again. */
      run(): Promise<void>
    }
    clock: ClockWatch
  }
}

/** With `list`, the listed subjects take turns, one step each. */
export interface HousekeepingJob {
  name: Task
  /** Whether it deletes what is older than a time. Such jobs wait while the clock can't be trusted. */
  goesByTime?: true
  list?(db: Db): Promise<{ id: string }[]>
  /** One small step in a transaction, with at most `rows` rows. @returns whether there may be more to do */
  step(tx: Db, rows: number, id: string): Promise<boolean>
}

const PERIOD_MS = 60_000
/** The maximum number of rows that a step deletes. Settings rows are large. */
const ROWS_PER_STEP = 500

export default fp(
  async (app, { jobs }: { jobs: HousekeepingJob[] }) => {
    const { isSteady } = await watchClock(app.database, app.log)
    app.decorate('clock', { isSteady })

    const finish = async (
      { name, goesByTime, list, step }: HousekeepingJob,
      isSteady: () => Promise<boolean>,
    ) => {
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
        if (goesByTime && !(await isSteady())) return
        await measuredTask(app.meter, name, list ? () => allRoundRobin(list) : allSteps)()
      } catch (error) {
        // Shutdown doesn't wait for the step, which the database rolls back.
        if (app.lifecycle.isClosing()) return
        app.log.warn({ err: error, job: name }, 'housekeeping failed and will be tried again')
      }
    }

    const run = coalesce(async () => {
      const isSteadyNow = lazy(isSteady)
      for (const job of jobs) await finish(job, isSteadyNow)
    })
    app.decorate('housekeeping', { run })

    repeat(app, PERIOD_MS, run, 'housekeeping')
  },
  { name: 'housekeeping' },
)
