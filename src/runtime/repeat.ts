import type { FastifyInstance } from 'fastify'

/**
 * Repeats `work` while the app runs, with a pause of `ms`. A stop aborts its signal and does not wait for it: closing
 * the database rolls back whatever is unfinished.
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
