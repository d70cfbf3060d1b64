/** The frame of every program: what its failures say, what signals do, and how it ends: within ten seconds, leaving nothing behind. */
import { OperatorError } from './operator-error.js'

/** Stops one thing that was started. Once `hurry` is aborted there is no time left for anything but force. */
export type Stop = (hurry: AbortSignal) => unknown

/** What a program does. Once `stopped` is aborted, it starts nothing more and returns or rejects as soon as it can. */
export type Main = (stopped: AbortSignal) => Promise<void>

/** Whoever supervises a process kills it ten seconds after the signal. What has not ended by then is ended by force. */
const HURRY_MS = 9_100
/** The time for that. */
const FORCE_MS = 700
/** A signal within so many milliseconds of the first is the same one: npm passes on what the terminal has sent too. */
const ECHO_MS = 1_000

/** What has been started, to be stopped in the opposite order. */
const started: Stop[] = []

/** Has `stop` called when the program ends, before what was registered earlier. */
export const atEnd = (stop: Stop): void => {
  started.push(stop)
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

/** Runs a program that goes on until it is told to stop. */
export const run = (main: Main): void => {
  start(main)
}

/** Runs a program that ends when its work is done. Ended before, it has failed. */
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
      // What else was started is stopped all the same.
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
    setTimeout(() => hurry.abort(), HURRY_MS)
    outOfTime.then(() => setTimeout(() => process.exit(1), FORCE_MS))
    // A start that was told to stop takes back what it has begun.
    await Promise.race([starting, outOfTime])
    await stopAll()
    process.exit(hurry.signal.aborted ? 1 : code)
  }

  const fail = (error: unknown) => {
    complain(error)
    code = 1
    end()
  }

  // A reader that is gone misses what is said; that must not end the program.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
  process.on('uncaughtException', fail)
  let toldAt: number | undefined
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      // Who asks again does not want to wait.
      if (toldAt !== undefined && Date.now() - toldAt > ECHO_MS) hurry.abort()
      toldAt ??= Date.now()
      if (thenEnd && !isDone) code = 1
      end()
    })
  }

  const starting = main(stopped.signal).then(
    () => {
      isDone = true
      if (thenEnd) end()
    },
    (error) => {
      // A start that was told to stop fails in whatever it was about.
      if (!stopped.signal.aborted) fail(error)
    },
  )
}
