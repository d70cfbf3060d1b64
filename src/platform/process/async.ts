import type { FastifyInstance } from 'fastify'

/** Work that the service repeats by itself, and that can be run at any time. */
export interface Job {
  run(): Promise<void>
}

/**
 * Work that runs once at a time. Calls during a run share one more run, which starts after it, so it's sure to see what
 * happened before the call.
 */
export const coalesce = (work: () => Promise<void>): (() => Promise<void>) => {
  let running: Promise<void> | undefined
  let next: Promise<void> | undefined
  const start = (): Promise<void> => {
    next = undefined
    const run: Promise<void> = work().finally(() => {
      if (running === run) running = undefined
    })
    running = run
    return run
  }
  return () => {
    if (!running) return start()
    next ??= running.then(start, start)
    return next
  }
}

/** The result of the work, or of `late` if the work takes longer. The work isn't stopped. */
export const withTimeout = async <T, Late>(
  work: Promise<T>,
  ms: number,
  late: () => Late,
): Promise<T | Late> => {
  let timer: NodeJS.Timeout | undefined
  const wait = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms)
  })
  try {
    return await Promise.race([work, wait.then(late)])
  } finally {
    clearTimeout(timer)
  }
}

/** Creates a value on first use and caches it. */
export const lazy = <T>(make: () => T): (() => T) => {
  let made: { value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

/**
 * Repeats `work` while the app runs, with a pause of `ms`; `onTheClock` at every multiple of it, so that one of several
 * processes does the work and the others find it done. Stopping aborts its signal without waiting, because closing the
 * database rolls back whatever is unfinished.
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
