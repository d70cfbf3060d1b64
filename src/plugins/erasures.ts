/** Removes in the background what is left of deleted accounts; on one instance at a time. */
import fp from 'fastify-plugin'
import { asTask } from '../metrics/task.js'
import { eraseAccounts } from '../operations/delete-account.js'
import { repeat } from '../runtime/repeat.js'

declare module 'fastify' {
  interface FastifyInstance {
    erasures: {
      /** Removes what can be removed by now. */
      run(): Promise<void>
    }
  }
}

const PERIOD_MS = 10_000

export default fp(async (app) => {
  const failed = (userId: string, error: unknown) =>
    app.log.error({ err: error, user: userId }, 'a deleted account could not be erased')
  const erase = (stop?: AbortSignal) => eraseAccounts(app.database, failed, stop)
  app.decorate('erasures', { run: () => erase() })
  const run = asTask(app.meter, 'erasures', erase)
  repeat(app, PERIOD_MS, run, 'the erasure of accounts')
})
