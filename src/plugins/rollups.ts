/** Keeps the rollups of activity close behind it, and forgets what is too old; on one instance at a time. */
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { retireActivity, rollUp } from '../operations/roll-up.js'

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

/** Dashboards are right without it; this bounds how much they read themselves. */
const ROLL_UP_MS = 5_000
const RETIRE_MS = 3_600_000

/** Starts `work` again `ms` after it has ended. */
const repeat = (app: FastifyInstance, ms: number, work: () => Promise<void>, name: string) => {
  let timer: NodeJS.Timeout
  let running: Promise<void> = Promise.resolve()
  let stopped = false
  const next = () => {
    timer = setTimeout(() => {
      running = work()
        .catch((error) => app.log.warn({ err: error }, `${name} failed; it is tried again`))
        .finally(() => {
          if (!stopped) next()
        })
    }, ms)
    timer.unref()
  }
  app.addHook('onReady', async () => next())
  app.addHook('onClose', async () => {
    stopped = true
    clearTimeout(timer)
    await running
  })
}

export default fp(async (app) => {
  const run = async () => {
    await rollUp(app.database)
  }
  const retire = () => retireActivity(app.database, app.config.activityDetailDays)
  app.decorate('rollups', { run, retire })
  repeat(app, ROLL_UP_MS, run, 'the rollup of activity')
  repeat(app, RETIRE_MS, retire, 'the retirement of old activity')
})
