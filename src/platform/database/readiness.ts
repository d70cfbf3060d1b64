/** Checks whether requests can be served, for load balancers, Prometheus and the log. */
import fp from 'fastify-plugin'
import { repeat } from '../process/async.js'
import type { Db } from './client.js'
import { isSchemaCurrent } from './migrations.js'
import { findWriteFault, type WriteFault } from './writability.js'

declare module 'fastify' {
  interface FastifyInstance {
    /**
     * Whether the schema is current, a write would work, and no stop has begun. @throws if the database is unavailable
     */
    isReady(): Promise<boolean>
  }
}

const CHECK_MS = 2_000

export default fp(
  async (app) => {
    const { database, log } = app
    let fault: WriteFault | undefined
    const check = async (db: Db) => {
      const isCurrent = await isSchemaCurrent(db)
      const found = await findWriteFault(db)
      if (found && found.cause !== fault?.cause)
        log.warn(
          `The database is read-only: ${found.cause} ${found.remedy} Until then, the service rejects every write with 503.`,
        )
      if (fault && !found) {
        log.info('The database accepts writes again.')
        // The other connections may be older.
        database.renew()
      }
      fault = found
      return isCurrent && !fault
    }
    /** Concurrent calls share one check of the database. */
    let underWay: Promise<boolean> | undefined
    const checkOnce = () => {
      underWay ??= check(database.reserved).finally(() => {
        underWay = undefined
      })
      return underWay
    }
    app.decorate('isReady', async () => !app.lifecycle.isStopping() && (await checkOnce()))

    // Checked before the first request, so that a fault is logged at the start, which has more time than a probe.
    await check(database.read)
    const checkAndRenew = async () => {
      // Other code logs that the database is unavailable.
      await checkOnce().catch(() => {})
      // Open connections keep their server and settings.
      if (fault) database.renew()
    }
    repeat(app, CHECK_MS, checkAndRenew, 'the check whether the database accepts writes')
  },
  { name: 'readiness' },
)
