import type { FastifyInstance } from 'fastify'

/**
 * Repeats `work` while the app runs, with a pause of `ms`; `onTheClock` at every multiple of it, so that of several
 * processes that take turns one does it, and the others find it done. A stop aborts its signal and doesn't wait for it:
 * closing the database rolls back whatever is unfinished.
 */
export const repeat = (
  app: FastifyInstance,
  ms: number,
  work: (stop: AbortSignal) => Promise<void>,
  name: string,
  { onTheClock = false } = {},
) => {
  const stop = new AbortController()
  let timer: NodeJS.Timeout
  const next = () => {
    timer = setTimeout(
      async () => {
        try {
          await work(stop.signal)
        } catch (error) {
          if (!stop.signal.aborted) app.log.warn({ err: error }, `${name} failed and will be tried again`)
        }
        if (!stop.signal.aborted) next()
      },
      onTheClock ? ms - (Date.now() % ms) : ms,
    )
    timer.unref()
  }
  app.addHook('onReady', async () => next())
  app.addHook('preClose', async () => {
    stop.abort()
    clearTimeout(timer)
  })
}
