/** The primary process of an instance with several workers: starts them, replaces those that die, and ends them. */
import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import type { Logger } from 'pino'
import { OperatorError } from '../runtime/operator-error.js'
import type { FromPrimary, FromWorker, Order } from './messages.js'
import { createShared } from './shared.js'

interface PrimaryOptions {
  count: number
  databaseUrl: string
  log: Logger
  /** Ends the start. */
  stopped: AbortSignal
}

export interface Workers {
  /** Resolves when they serve. Rejects when the first one could not start, which has said why. */
  started: Promise<void>
  order(order: Order): void
  /** Ends all of them, by force once `hurry` is aborted. @throws when force was needed */
  stop(hurry: AbortSignal): Promise<void>
}

/** A worker that dies younger than this has failed to start. */
const GROWN_UP_MS = 10_000
/** So many such deaths in a row are too many, where no other worker serves. */
const FAILURES = 6
const PAUSE_MS = 100
const LONGEST_PAUSE_MS = 5_000
/** Workers say every second that they are there. One that is silent for so many looks is ended. */
const SILENT_LOOKS = 15
const LOOK_MS = 1_000

const send = (worker: Worker, message: FromPrimary) => {
  if (worker.isConnected()) worker.send(message, undefined, undefined, () => {})
}

/** Each is replaced when it ends. */
export const startWorkers = ({ count, databaseUrl, log, stopped }: PrimaryOptions): Workers => {
  const shared = createShared(databaseUrl)
  const all = new Map<Worker, { isReady: boolean; silentLooks: number }>()
  let isLeaving = false
  let isStopping = false
  let isStarted = false
  let failures = 0

  const serving = () => [...all.values()].filter(({ isReady }) => isReady).length

  const start = (): Promise<void> => {
    const worker = cluster.fork()
    const state = { isReady: false, silentLooks: 0 }
    const bornAt = Date.now()
    all.set(worker, state)
    const { receive, forget } = shared.serve(
      (answers) => send(worker, { answers }),
      () => order('refresh', worker),
    )
    return new Promise((resolve) => {
      worker.on('message', (message: FromWorker) => {
        state.silentLooks = 0
        if ('asks' in message) receive(message.asks)
        else if ('done' in message) {
          state.isReady = true
          if (isLeaving) send(worker, { order: 'leave' })
          resolve()
        }
      })
      worker.on('error', (error) => log.warn({ err: error }, 'a worker could not be told something'))
      worker.once('exit', (code, signal) => {
        all.delete(worker)
        forget()
        resolve()
        if (isStopping || !isStarted) return
        failures = Date.now() - bornAt < GROWN_UP_MS ? failures + 1 : 0
        log.error({ worker: worker.process.pid, code, signal }, 'a worker has ended and is replaced')
        if (failures >= FAILURES && serving() === 0)
          throw new OperatorError(`No worker stays: the last ${FAILURES} ended as soon as they had begun.`)
        const pause = failures === 0 ? 0 : Math.min(PAUSE_MS * 2 ** failures, LONGEST_PAUSE_MS)
        setTimeout(() => !isStopping && start(), pause)
      })
    })
  }

  const looks = setInterval(() => {
    for (const [worker, state] of all) {
      if (!state.isReady || ++state.silentLooks <= SILENT_LOOKS) continue
      log.error({ worker: worker.process.pid }, 'a worker does not answer and is ended')
      worker.process.kill('SIGKILL')
    }
  }, LOOK_MS)

  const stop = async (hurry: AbortSignal) => {
    isStopping = true
    clearInterval(looks)
    let unclean = 0
    const exits = [...all.keys()].map(async (worker) => {
      const [code] = await once(worker, 'exit')
      if (code !== 0) unclean++
    })
    order('stop')
    const force = () => {
      for (const worker of all.keys()) worker.process.kill('SIGKILL')
    }
    if (hurry.aborted) force()
    else hurry.addEventListener('abort', force)
    await Promise.all(exits)
    if (unclean > 0) throw new OperatorError(`Workers that did not end in good order: ${unclean}.`)
  }

  const order = (what: Order, except?: Worker) => {
    if (what === 'leave') isLeaving = true
    for (const worker of all.keys()) if (worker !== except) send(worker, { order: what })
  }

  const startAll = async () => {
    // What is wrong with all of them is said by the first one alone.
    await start()
    stopped.throwIfAborted()
    if (serving() === 0) throw new OperatorError('The first worker could not start.')
    isStarted = true
    await Promise.all(Array.from({ length: count - 1 }, start))
    stopped.throwIfAborted()
  }
  const giveUp = () => {
    isStopping = true
    order('stop')
  }
  stopped.addEventListener('abort', giveUp)
  // Once they serve, they go on until `stop`.
  const started = startAll().finally(() => stopped.removeEventListener('abort', giveUp))
  return { started, order, stop }
}
