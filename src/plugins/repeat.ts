import type { FastifyInstance } from 'fastify'

/** While the app runs, starts `work` again and again, `ms` after it has ended; a stop tells it, and lets it end. */
export const repeat = (
  app: FastifyInstance,
  ms: number,
  work: (stop: AbortSignal) => Promise<void>,
  name: string,
) => {
  const stop = new AbortController()
  let timer: NodeJS.Timeout
  let running: Promise<void> = Promise.resolve()
  const next = () => {
    timer = setTimeout(() => {
      running = work(stop.signal)
        .catch((error) => app.log.warn({ err: error }, `${name} failed; it is tried again`))
        .finally(() => {
          if (!stop.signal.aborted) next()
        })
    }, ms)
    timer.unref()
  }
  app.addHook('onReady', async () => next())
  app.addHook('preClose', async () => {
    stop.abort()
    clearTimeout(timer)
  })
  app.addHook('onClose', () => running)
}
