import type { FastifyInstance } from 'fastify'

/** While the app runs, starts `work` again and again, `ms` after it has ended; a stop lets it end. */
export const repeat = (app: FastifyInstance, ms: number, work: () => Promise<void>, name: string) => {
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
