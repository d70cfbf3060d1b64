/**
 * Periodic jobs, done in small transactions. Only one such transaction runs at a time, over all instances, so locks are
 * held briefly, and a crash loses at most one step.
 */
import fp from 'fastify-plugin'
import type { Db } from '../database/client.js'
import { takeHousekeepingTurn } from '../database/housekeeping-turn.js'
import type { Task } from '../metrics/metrics.js'
import { asTask } from '../metrics/task.js'
import { inTurns } from './in-turns.js'
import { repeat } from './repeat.js'

declare module 'fastify' {
  interface FastifyInstance {
    housekeeping: {
      /** Does now whatever is due. Never rejects: a failure is logged, and the next run tries again. */
      run(): Promise<void>
    }
  }
}

/** A job. With `list`, each listed subject gets a step in turn. */
export interface Chore {
  name: Task
  list?(db: Db): Promise<{ id: string }[]>
  /** One small step within a transaction, of so many rows at most. @returns whether there may be more to do */
  step(tx: Db, rows: number, id: string): Promise<boolean>
}

const PERIOD_MS = 60_000
/** The most rows that one step deletes. Rows of settings are large. */
const ROWS = 500

export default fp(
  async (app, { chores }: { chores: Chore[] }) => {
    const finish = async ({ name, list, step }: Chore) => {
      const takeStep = (id: string) =>
        app.database.transaction(async (tx) => {
          await takeHousekeepingTurn(tx)
          return step(tx, ROWS, id)
        })
      const allSteps = async () => {
        let more = true
        while (more && !app.isClosing()) more = await takeStep('')
      }
      const allInTurns = (listSubjects: NonNullable<Chore['list']>) =>
        inTurns({
          list: () => listSubjects(app.database.read),
          step: ({ id }) => takeStep(id),
          isStopped: app.isClosing,
        })
      try {
        await asTask(app.meter, name, list ? () => allInTurns(list) : allSteps)()
      } catch (error) {
        // A stop does not wait for the step, which the database rolls back.
        if (app.isClosing()) return
        app.log.warn({ err: error, job: name }, 'housekeeping failed and will be tried again')
      }
    }

    let current = Promise.resolve()
    let next: Promise<void> | undefined
    /** A call during a run gets the next run, which is certain to see what happened before the call. */
    const run = () => {
      next ??= current.then(async () => {
        current = next ?? current
        next = undefined
        for (const chore of chores) await finish(chore)
      })
      return next
    }
    app.decorate('housekeeping', { run })

    repeat(app, PERIOD_MS, run, 'housekeeping')
  },
  { name: 'housekeeping' },
)
