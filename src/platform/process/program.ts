/**
 * Runs every program: reads `.env`, reports failures, handles signals, and stops everything within ten seconds.
 *
 * A stop can come at any time: during startup, during another stop (npm sends each signal twice), or after a failure.
 * So everything that is started registers how to stop it (`onExit`), a stop runs these in reverse order, and one
 * deadline turns a stop into a forced one. `test/stops.test.ts` stops the service in every state.
 */
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import util from 'node:util'
import { named } from './arguments.js'
import { OperatorError } from './operator-error.js'

/** Stops one thing that was started, and does so by force once `forceSignal` is aborted. */
export type Stop = (forceSignal: AbortSignal) => unknown

/** The program. Once `stopped` is aborted it must start nothing more, and settle as soon as it can. */
export type Main = (stopped: AbortSignal) => Promise<void>

/** Supervisors kill a process ten seconds after the signal, so force is used a little earlier. */
const FORCE_AFTER_MS = 9_100
/** How long the forced stop may take. */
const FORCED_STOP_MS = 700
/** A second signal this soon is the same one, because npm forwards what the terminal also sends directly. */
const ECHO_MS = 500

/** Everything that was started, in order. It's stopped in the opposite order. */
const started: Stop[] = []

/** Registers a function to call when the program ends. The latest is called first. */
export const onExit = (stop: Stop): void => {
  started.push(stop)
}

let delayMs = 0

/** Allows more time to stop, because the service first waits until load balancers stop sending requests. */
export const extendStop = (ms: number): void => {
  delayMs = ms
}

/** Loads a file `.env` in the working directory. Variables of the environment take precedence. */
export const loadEnvFile = (): void => {
  if (!existsSync('.env')) return
  try {
    // Some editors write a byte order mark, which would become part of the first name.
    const text = readFileSync('.env', 'utf8').replace(/^\uFEFF/, '')
    for (const [name, value] of Object.entries(util.parseEnv(text))) process.env[name] ??= value
  } catch (error) {
    throw new OperatorError(`The file .env can’t be read: ${(error as Error).message}`)
  }
}

/** Prints a command's result. */
export const print = (line: string): void => {
  process.stdout.write(`${line}\n`)
}

/** Prints a line where the result itself goes to standard output. */
export const printToStderr = (line: string): void => {
  process.stderr.write(`${line}\n`)
}

const printError = (error: unknown) => {
  const text =
    error instanceof OperatorError ? named(error.message) : ((error as Error)?.stack ?? String(error))
  process.stderr.write(`${text}\n`)
}

/** Runs a program that ends when its work is done. If it's stopped before that, it fails. */
export const runCommand = (main: Main): void => run(main, { exitWhenDone: true })

/** Runs a program until it gets a signal to stop. */
export const run = (main: Main, { exitWhenDone = false } = {}): void => {
  const stopped = new AbortController()
  const forceSignal = new AbortController()
  const outOfTime = once(forceSignal.signal, 'abort')
  let code = 0
  let isDone = false

  const stopOne = async (stop: Stop) => {
    try {
      await stop(forceSignal.signal)
    } catch (error) {
      // Continue with the rest.
      printError(error)
      code = 1
    }
  }

  const stopAll = async () => {
    const stopping: Promise<void>[] = []
    for (let stop = started.pop(); stop; stop = started.pop()) {
      const ended = stopOne(stop)
      stopping.push(ended)
      await Promise.race([ended, outOfTime])
    }
    await Promise.all(stopping)
  }

  const end = async () => {
    if (stopped.signal.aborted) return
    stopped.abort()
    setTimeout(() => forceSignal.abort(), delayMs + FORCE_AFTER_MS)
    outOfTime.then(() => setTimeout(() => process.exit(1), FORCED_STOP_MS))
    // An unfinished start cleans up after itself.
    await Promise.race([starting, outOfTime])
    await stopAll()
    process.exit(forceSignal.signal.aborted ? 1 : code)
  }

  const fail = (error: unknown) => {
    printError(error)
    code = 1
    end()
  }

  // A closed pipe must not end the program.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
  process.on('uncaughtException', fail)
  let signaledAt: number | undefined
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      // A second signal means that the operator doesn't want to wait.
      if (signaledAt !== undefined && Date.now() - signaledAt > ECHO_MS) forceSignal.abort()
      signaledAt ??= Date.now()
      if (exitWhenDone && !isDone) code = 1
      end()
    })
  }

  const begin = async () => {
    loadEnvFile()
    await main(stopped.signal)
  }
  const starting = begin().then(
    () => {
      isDone = true
      if (exitWhenDone) end()
    },
    (error) => {
      // A start that's stopped fails at the step it has reached.
      if (!stopped.signal.aborted) fail(error)
    },
  )
}
