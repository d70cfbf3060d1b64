/** Counts imported days in the background, each on one instance. During maintenance, they wait. */
import type { FastifyInstance } from 'fastify'
import { measuredTask } from '../../platform/metrics/meter.js'
import { coalesce, type Job, repeat } from '../../platform/process/async.js'
import { runImports } from './import-heartbeats.js'

const PERIOD_MS = 10_000

/** Its `run` counts everything that has arrived so far, and never rejects. Failed imports are tried again. */
export const startImports = (app: FastifyInstance): Job => {
  const isPaused = () => app.lifecycle.isClosing() || app.maintenance.message !== undefined
  const count = measuredTask(app.meter, 'imports', () =>
    runImports(app.database, app.config.repohost.kind, app.log, isPaused),
  )
  const run = coalesce(() =>
    count().catch((error) => {
      if (!app.lifecycle.isClosing()) app.log.warn({ err: error }, 'imports failed and will be tried again')
    }),
  )
  repeat(app, PERIOD_MS, run, 'the import of heartbeats')
  return { run }
}
