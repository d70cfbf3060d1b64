/** The frame of a program that runs until it is told to stop: signals, failures, and the order of the end. */
import { ConfigError } from './config.js'
import { EmbeddedDatabaseError } from './db/embedded.js'

/** What has been started, to be stopped in the opposite order. */
const started: (() => unknown)[] = []

/** Has `stop` called when the program ends, before what was registered earlier. */
export const atEnd = (stop: () => unknown): void => {
  started.push(stop)
}

let stopping: Promise<void> | undefined
const stop = (): Promise<void> => {
  stopping ??= (async () => {
    for (const end of started.reverse()) await end()
  })()
  return stopping
}

const complain = (error: Error) => {
  const expected = error instanceof ConfigError || error instanceof EmbeddedDatabaseError
  process.stderr.write(`${expected ? error.message : error.stack}\n`)
}

/** Starts the program; SIGINT and SIGTERM end it. */
export const run = (main: () => Promise<void>): void => {
  const starting = main().catch(async (error) => {
    complain(error)
    await stop().catch(complain)
    process.exit(1)
  })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      // What is half started is finished first, so that all of it is stopped.
      starting.then(stop).then(
        () => process.exit(0),
        (error) => {
          complain(error)
          process.exit(1)
        },
      )
    })
  }
}
