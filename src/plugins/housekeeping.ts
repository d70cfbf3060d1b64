/**
 * Periodic jobs, done in small transactions. Only one such transaction runs at a time, over all instances, so locks are
 * held briefly, and a crash loses at most one step.
 */
import fp from 'fastify-plugin'
import type { Db } from '../db/client.js'
import type { Task } from '../domain/metrics.js'
import { asTask } from '../metrics/task.js'
import { deleteOldAuditEntries } from '../queries/audit.js'
import { deleteOldBillingEvents } from '../queries/billing.js'
import { deleteOldFlushes } from '../queries/flushes.js'
import { takeHousekeepingTurn } from '../queries/housekeeping.js'
import { purgeDeletedWorkspaces } from '../queries/purge.js'
import { deleteEndedRemovals } from '../queries/removals.js'
import { deleteExpiredLogins, deleteExpiredRevocations } from '../queries/sessions.js'
import { deleteOldViews } from '../queries/views.js'
import { repeat } from '../runtime/repeat.js'

declare module 'fastify' {
  interface FastifyInstance {
    housekeeping: {
      /** Does now whatever is due. Never rejects: a failure is logged, and the next run tries again. */
      run(): Promise<void>
    }
  }
}

interface Chore {
  name: Task
  /** One small step within a transaction. @returns whether there may be more to do */
  step(tx: Db): Promise<boolean>
}

const PERIOD_MS = 60_000
/** The most rows that one step deletes. Rows of settings are large. */
const ROWS = 500

/** A job that deletes what is past its time. */
const deletion = (name: Task, deleteOld: (tx: Db, rows: number) => Promise<number>): Chore => ({
  name,
  step: async (tx) => (await deleteOld(tx, ROWS)) === ROWS,
})

const chores: Chore[] = [
  { name: 'deleted workspaces', step: (tx) => purgeDeletedWorkspaces(tx, ROWS) },
  deletion('old audit entries', deleteOldAuditEntries),
  deletion('expired revocations', deleteExpiredRevocations),
  deletion('expired logins', deleteExpiredLogins),
  deletion('old flush ids', deleteOldFlushes),
  deletion('old billing events', deleteOldBillingEvents),
  deletion('old views', deleteOldViews),
  deletion('ended removals', deleteEndedRemovals),
]

export default fp(
  async (app) => {
    const finish = async ({ name, step }: Chore) => {
      const takeStep = () =>
        app.database.transaction(async (tx) => {
          await takeHousekeepingTurn(tx)
          return step(tx)
        })
      const allSteps = async () => {
        let more = true
        while (more && !app.isClosing()) more = await takeStep()
      }
      try {
        await asTask(app.meter, name, allSteps)()
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
