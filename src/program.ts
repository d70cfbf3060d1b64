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
    const failures: unknown[] = []
    for (const end of started.reverse()) {
      try {
        await end()
      } catch (error) {
        // What else was started is stopped all the same.
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
  })()
  return stopping
}

const complain = (error: Error) => {
  const expected = error instanceof ConfigError || error instanceof EmbeddedDatabaseError
  process.stderr.write(`${expected ? error.message : error.stack}\n`)
}

/** A signal within so many milliseconds of the first is the same one. */
const ECHO_MS = 1_000

/** Starts the program; SIGINT and SIGTERM end it, and another one at once. */
export const run = (main: () => Promise<void>): void => {
  const starting = main().catch(async (error) => {
    complain(error)
    await stop().catch(complain)
    process.exit(1)
  })
  let endingSince: number | undefined
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      // Who asks again does not want to wait for a start or an end that hangs. npm passes on what the terminal has sent.
      if (endingSince !== undefined && Date.now() - endingSince > ECHO_MS) process.exit(1)
      endingSince ??= Date.now()
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
