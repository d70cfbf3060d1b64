/** Removes the remaining data of deleted accounts in the background; on one instance at a time. */
import fp from 'fastify-plugin'
import { measuredTask } from '../../platform/metrics/meter.js'
import { repeat } from '../../platform/process/async.js'
import { eraseAccounts } from './delete-account.js'

declare module 'fastify' {
  interface FastifyInstance {
    erasures: {
      /** Removes everything that can already be removed. */
      run(): Promise<void>
    }
  }
}

const PERIOD_MS = 10_000

export default fp(async (app) => {
  app.decorate('erasures', { run: () => eraseAccounts(app.database) })
  const run = measuredTask(app.meter, 'erasures', (stop: AbortSignal) => eraseAccounts(app.database, stop))
  repeat(app, PERIOD_MS, run, 'the erasure of accounts')
})
