/** Keeps the rollups of activity close behind it, and forgets what is too old; on one instance at a time. */
import fp from 'fastify-plugin'
import { retireActivity, rollUp } from '../operations/roll-up.js'
import { repeat } from '../runtime/repeat.js'

declare module 'fastify' {
  interface FastifyInstance {
    rollups: {
      /** Rolls up what has changed until now. */
      run(): Promise<void>
      /** Forgets what is older than it is kept. */
      retire(): Promise<void>
    }
  }
}

/**
 * Dashboards read days that have changed from the activity itself, so they are right without it. The current day of a
 * busy team changes all the time: to roll it up more often would only repeat the work.
 */
const ROLL_UP_MS = 60_000
const RETIRE_MS = 3_600_000

export default fp(async (app) => {
  const run = async (stop?: AbortSignal) => {
    await rollUp(app.database, stop)
  }
  const retire = (stop?: AbortSignal) => retireActivity(app.database, app.config.activityDetailDays, stop)
  app.decorate('rollups', { run: () => run(), retire: () => retire() })
  repeat(app, ROLL_UP_MS, run, 'the rollup of activity')
  repeat(app, RETIRE_MS, retire, 'the retirement of old activity')
})
