/** Counts imported days in the background, each on one instance. During maintenance, they wait. */
import fp from 'fastify-plugin'
import { measuredTask } from '../../platform/metrics/meter.js'
import { coalesce, repeat } from '../../platform/process/async.js'
import { runImports } from './import-heartbeats.js'

declare module 'fastify' {
  interface FastifyInstance {
    imports: {
      /** Counts everything that has arrived so far. Never rejects. Failed imports are tried again. */
      run(): Promise<void>
    }
  }
}

const PERIOD_MS = 10_000

export default fp(async (app) => {
  const isPaused = () => app.lifecycle.isClosing() || app.maintenance.message !== undefined
  const count = measuredTask(app.meter, 'imports', () =>
    runImports(app.database, app.config.repohost.kind, app.log, isPaused),
  )
  const run = coalesce(() =>
    count().catch((error) => {
      if (!app.lifecycle.isClosing()) app.log.warn({ err: error }, 'imports failed and will be tried again')
    }),
  )
  app.decorate('imports', { run })
  repeat(app, PERIOD_MS, run, 'the import of heartbeats')
})
