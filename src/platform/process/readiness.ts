/** Whether requests can be served: balancers and Prometheus ask, and the service itself looks, to tell the operator. */
import fp from 'fastify-plugin'
import { isSchemaCurrent } from '../database/schema-state.js'
import { findWriteFault, type WriteFault } from '../database/writability.js'
import { repeat } from './repeat.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** Whether the process is not about to stop, its schema is current, and a write would work. @throws when the database is away */
    isReady(): Promise<boolean>
  }
}

const LOOK_MS = 2_000

export default fp(
  async (app) => {
    const { database, log } = app
    let fault: WriteFault | undefined
    const look = async () => {
      const isCurrent = await isSchemaCurrent(database.reserved)
      const found = await findWriteFault(database.reserved)
      if (found && found.cause !== fault?.cause)
        log.warn(
          `The database is read-only: ${found.cause} ${found.remedy} Until then every write is answered 503.`,
        )
      if (fault && !found) {
        log.info('The database takes writes again.')
        // The other connections may have been made before that.
        database.renew()
      }
      fault = found
      return isCurrent && !fault
    }
    /** Looks that are asked for while one is under way share it, so that the database is asked only once at a time. */
    let underWay: Promise<boolean> | undefined
    const lookOnce = () => {
      underWay ??= look().finally(() => {
        underWay = undefined
      })
      return underWay
    }
    app.decorate('isReady', async () => !app.isLeaving() && (await lookOnce()))

    // Before the first request, so that the start says it.
    await lookOnce()
    const lookAndRenew = async () => {
      // Whatever needs the database logs that it is away.
      await lookOnce().catch(() => {})
      // Connections keep the server and the settings that they began with.
      if (fault) database.renew()
    }
    repeat(app, LOOK_MS, lookAndRenew, 'the look whether the database takes writes')
  },
  { name: 'readiness' },
)
