/**
 * Finds work of the service that keeps everyone waiting: turns of the event loop in which it takes more than `BOUND_MS` of
 * CPU time without letting others in. CPU time, because a busy machine does not move it. The test runs in the same process,
 * so only what descends from the start of the service counts: its connections, queries and timers.
 */
import { AsyncLocalStorage, createHook, executionAsyncResource } from 'node:async_hooks'
import diagnostics from 'node:diagnostics_channel'
import { existsSync, openSync, readSync } from 'node:fs'

export const BOUND_MS = 20
/** The kernel counts the running thread's time at its ticks. */
const TICK_MS = 4

interface Watched {
  /** What is reported, if less than what fails a test. */
  fromMs?: number
  /** The operation of a request whose handler has begun. */
  operation?: string
  report(ms: number, operation: string | undefined): void
}

const watched = new AsyncLocalStorage<Watched>()
/** What is watched where nothing else is. */
let everything: Watched | undefined

/** The CPU time of this thread, in milliseconds. */
export const readCpu = (() => {
  const path = '/proc/thread-self/schedstat'
  if (!existsSync(path)) return undefined
  const file = openSync(path, 'r')
  const buffer = Buffer.alloc(64)
  return () => Number.parseInt(buffer.toString('latin1', 0, readSync(file, buffer, 0, 64, 0)), 10) / 1e6
})()

let depth = 0
/** Of the current turn: the CPU time when the service began to work in it, and how long it has worked by the clock. */
let cpuBefore: number | undefined
let workedMs = 0
let current: Watched | undefined
let since = 0

/** Continuations run in the turn of what they continue. */
const isContinuation = (resource: object) => resource instanceof Promise || 'args' in resource

const hook = createHook({
  before() {
    depth += 1
    if (depth > 1) return
    if (!isContinuation(executionAsyncResource())) {
      cpuBefore = undefined
      workedMs = 0
    }
    current = watched.getStore() ?? everything
    if (!current) return
    cpuBefore ??= readCpu?.()
    since = performance.now()
  },
  after() {
    if (depth === 0) return
    depth -= 1
    if (depth > 0 || !current) return
    workedMs += performance.now() - since
    const { fromMs = BOUND_MS + TICK_MS } = current
    if (workedMs < fromMs || cpuBefore === undefined || !readCpu) return
    const ms = Math.min(workedMs, readCpu() - cpuBefore)
    if (ms < fromMs) return
    current.report(ms, (watched.getStore() ?? current).operation)
    workedMs = 0
    cpuBefore = undefined
  },
})

diagnostics.subscribe('tracing:fastify.request.handler:start', (message) => {
  const watch = watched.getStore()
  const { route } = message as { route?: { url?: string; method?: string } }
  if (!watch) return
  const operation = `${route?.method} ${route?.url}`
  watched.enterWith({ ...watch, operation })
})

/** Reports all work of this process, also what takes little. */
export const watchAll = (report: Watched['report']): void => {
  everything = { fromMs: 1, report }
  hook.enable()
}

/** Starts a service, all of whose later work is watched. */
export const watchCpu = async <T>(report: Watched['report'], start: () => Promise<T>): Promise<T> => {
  if (!readCpu) return start()
  let isStarted = false
  const watch: Watched = { report: (ms, operation) => isStarted && report(ms, operation) }
  hook.enable()
  const result = await watched.run(watch, start)
  isStarted = true
  return result
}
