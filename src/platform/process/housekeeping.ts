/**
 * Periodic jobs, done in small transactions. Only one such transaction runs at a time, over all instances, so locks are
 * held briefly, and a crash loses at most one step.
 */
import fp from 'fastify-plugin'
import { deleteExpiredLogins, deleteExpiredRevocations } from '../../features/accounts/queries/sessions.js'
import { deleteOldViews } from '../../features/activity/queries/access-log.js'
import { deleteOldFlushes } from '../../features/activity/queries/flushes.js'
import { deleteOldBillingEvents } from '../../features/billing/queries.js'
import { deleteOldAuditEntries } from '../../features/workspaces/queries/audit.js'
import { listDeletedWorkspaces, purgeWorkspace } from '../../features/workspaces/queries/purge.js'
import { deleteEndedRemovals } from '../../features/workspaces/queries/removals.js'
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

/** Does one small step in a transaction. @returns whether there may be more to do */
type TakeStep = (step: (tx: Db) => Promise<boolean>) => Promise<boolean>

interface Chore {
  name: Task
  finish(takeStep: TakeStep): Promise<void>
}

const PERIOD_MS = 60_000
/** The most rows that one step deletes. Rows of settings are large. */
const ROWS = 500

export default fp(
  async (app) => {
    /** A job that deletes what is past its time. */
    const deletion = (name: Task, deleteOld: (tx: Db, rows: number) => Promise<number>): Chore => ({
      name,
      finish: async (takeStep) => {
        let more = true
        while (more && !app.isClosing())
          more = await takeStep(async (tx) => (await deleteOld(tx, ROWS)) === ROWS)
      },
    })
    const chores: Chore[] = [
      {
        name: 'deleted workspaces',
        finish: (takeStep) =>
          inTurns({
            list: () => listDeletedWorkspaces(app.database.read),
            step: ({ id }) => takeStep((tx) => purgeWorkspace(tx, id, ROWS)),
            isStopped: app.isClosing,
          }),
      },
      deletion('old audit entries', deleteOldAuditEntries),
      deletion('expired revocations', deleteExpiredRevocations),
      deletion('expired logins', deleteExpiredLogins),
      deletion('old flush ids', deleteOldFlushes),
      deletion('old billing events', deleteOldBillingEvents),
      deletion('old views', deleteOldViews),
      deletion('ended removals', deleteEndedRemovals),
    ]

    const takeStep: TakeStep = (step) =>
      app.database.transaction(async (tx) => {
        await takeHousekeepingTurn(tx)
        return step(tx)
      })
    const finish = async ({ name, finish }: Chore) => {
      try {
        await asTask(app.meter, name, () => finish(takeStep))()
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
