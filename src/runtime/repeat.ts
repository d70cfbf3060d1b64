import type { FastifyInstance } from 'fastify'

/**
 * While the app runs, starts `work` again and again, `ms` after it has ended. A stop tells it and does not wait for it:
 * the database, when it is closed, takes back what was not done to the end.
 */
export const repeat = (
  app: FastifyInstance,
  ms: number,
  work: (stop: AbortSignal) => Promise<void>,
  name: string,
) => {
  const stop = new AbortController()
  let timer: NodeJS.Timeout
  const next = () => {
    timer = setTimeout(async () => {
      try {
        await work(stop.signal)
      } catch (error) {
        if (!stop.signal.aborted) app.log.warn({ err: error }, `${name} failed; it is tried again`)
      }
      if (!stop.signal.aborted) next()
    }, ms)
    timer.unref()
  }
  app.addHook('onReady', async () => next())
  app.addHook('preClose', async () => {
    stop.abort()
    clearTimeout(timer)
  })
}
