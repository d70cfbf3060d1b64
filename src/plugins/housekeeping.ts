/**
 * What has to be done now and then: a list of jobs, each in small transactions of which only one is under way at a time,
 * whatever the number of instances. So nothing is held for long, and a crash loses nothing.
 */
import fp from 'fastify-plugin'
import type { Db } from '../db/client.js'
import { deleteOldAuditEntries } from '../queries/audit.js'
import { deleteOldBillingEvents } from '../queries/billing.js'
import { deleteOldFlushes } from '../queries/flushes.js'
import { takeHousekeepingTurn } from '../queries/housekeeping.js'
import { purgeDeletedWorkspaces } from '../queries/purge.js'
import { deleteExpiredLogins, deleteExpiredRevocations } from '../queries/sessions.js'
import { repeat } from '../runtime/repeat.js'

declare module 'fastify' {
  interface FastifyInstance {
    housekeeping: {
      /** Does now what there is to do. Never rejects: what fails is logged, and tried again with the next run. */
      run(): Promise<void>
    }
  }
}

interface Job {
  name: string
  /** One small step within a transaction. @returns whether there may be more to do */
  step(tx: Db): Promise<boolean>
}

const PERIOD_MS = 60_000
/** Rows that one step deletes at most: rows of settings are large. */
const ROWS = 500

/** A job that deletes what is past its time. */
const deletion = (name: string, deleteOld: (tx: Db, rows: number) => Promise<number>): Job => ({
  name,
  step: async (tx) => (await deleteOld(tx, ROWS)) === ROWS,
})

const jobs: Job[] = [
  { name: 'deleted workspaces', step: (tx) => purgeDeletedWorkspaces(tx, ROWS) },
  deletion('old audit entries', deleteOldAuditEntries),
  deletion('expired revocations', deleteExpiredRevocations),
  deletion('expired logins', deleteExpiredLogins),
  deletion('old flush ids', deleteOldFlushes),
  deletion('old billing events', deleteOldBillingEvents),
]

export default fp(
  async (app) => {
    const finish = async ({ name, step }: Job) => {
      const takeStep = () =>
        app.database.transaction(async (tx) => {
          await takeHousekeepingTurn(tx)
          return step(tx)
        })
      try {
        let more = true
        while (more && !app.isClosing()) more = await takeStep()
      } catch (error) {
        // A stop does not wait for a step; the database takes it back.
        if (app.isClosing()) return
        app.log.warn({ err: error, job: name }, 'housekeeping failed and will be tried again')
      }
    }

    let current = Promise.resolve()
    let next: Promise<void> | undefined
    /** Whoever asks while a run is under way gets the one after it, which sees all that happened before. */
    const run = () => {
      next ??= current.then(async () => {
        current = next ?? current
        next = undefined
        for (const job of jobs) await finish(job)
      })
      return next
    }
    app.decorate('housekeeping', { run })

    repeat(app, PERIOD_MS, run, 'housekeeping')
  },
  { name: 'housekeeping' },
)
