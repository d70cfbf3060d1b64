/** The frame of every program: reads `.env`, reports failures, handles signals, and ends within ten seconds with everything stopped. */
import { existsSync, readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { OperatorError } from './operator-error.js'

/** Stops one thing that was started; by force, once `hurry` is aborted. */
export type Stop = (hurry: AbortSignal) => unknown

/** The program. Once `stopped` is aborted it must start nothing more, and settle as soon as it can. */
export type Main = (stopped: AbortSignal) => Promise<void>

/** Supervisors kill a process ten seconds after the signal, so force is used a little earlier. */
const HURRY_MS = 9_100
/** How long force may take. */
const FORCE_MS = 700
/** A second signal so soon is the same one: npm forwards what the terminal has also sent directly. */
const ECHO_MS = 500

/** What was started, in that order; it is stopped in the opposite one. */
const started: Stop[] = []

/** Registers what is to be called when the program ends; the latest is called first. */
export const atEnd = (stop: Stop): void => {
  started.push(stop)
}

let delayMs = 0

/** How much longer the end may take, because the program first waits for others to turn away from it. */
export const delayEnd = (ms: number): void => {
  delayMs = ms
}

/** Sets what a file `.env` in the working directory says, where the environment does not say it already. */
const loadEnvFile = () => {
  if (!existsSync('.env')) return
  try {
    // Some editors begin a file with a mark, which would become a part of the first name.
    const text = readFileSync('.env', 'utf8').replace(/^\uFEFF/, '')
    for (const [name, value] of Object.entries(parseEnv(text))) process.env[name] ??= value
  } catch (error) {
    throw new OperatorError(`The file .env cannot be read: ${(error as Error).message}`)
  }
}

/** For commands: what they have done, or found. */
export const say = (line: string): void => {
  process.stdout.write(`${line}\n`)
}

const complain = (error: unknown) => {
  const text = error instanceof OperatorError ? error.message : ((error as Error)?.stack ?? String(error))
  process.stderr.write(`${text}\n`)
}

const aborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })

/** Runs a program until it is told to stop. */
export const run = (main: Main): void => {
  start(main)
}

/** Runs a program that ends when its work is done. To be stopped before that is a failure. */
export const runCommand = (main: Main): void => {
  start(main, { thenEnd: true })
}

const start = (main: Main, { thenEnd = false } = {}) => {
  const stopped = new AbortController()
  const hurry = new AbortController()
  const outOfTime = aborted(hurry.signal)
  let code = 0
  let isDone = false

  const stopOne = async (stop: Stop) => {
    try {
      await stop(hurry.signal)
    } catch (error) {
      // The rest is stopped all the same.
      complain(error)
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
    setTimeout(() => hurry.abort(), delayMs + HURRY_MS)
    outOfTime.then(() => setTimeout(() => process.exit(1), FORCE_MS))
    // An unfinished start cleans up after itself.
    await Promise.race([starting, outOfTime])
    await stopAll()
    process.exit(hurry.signal.aborted ? 1 : code)
  }

  const fail = (error: unknown) => {
    complain(error)
    code = 1
    end()
  }

  // A closed pipe must not end the program.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
  process.on('uncaughtException', fail)
  let toldAt: number | undefined
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      // Asked twice: somebody does not want to wait.
      if (toldAt !== undefined && Date.now() - toldAt > ECHO_MS) hurry.abort()
      toldAt ??= Date.now()
      if (thenEnd && !isDone) code = 1
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
      if (thenEnd) end()
    },
    (error) => {
      // A start that is stopped fails wherever it was.
      if (!stopped.signal.aborted) fail(error)
    },
  )
}
