/**
 * Finds work of the service that keeps everyone waiting: turns of the event loop in which it takes more than `BOUND_MS` of
 * CPU time without letting others in. CPU time, because a busy machine does not move it. The test runs in the same process,
 * so only what descends from the start of the service counts: its connections, queries and timers.
 */
import { AsyncLocalStorage, createHook, executionAsyncResource } from 'node:async_hooks'
import diagnostics from 'node:diagnostics_channel'
import { existsSync, openSync, readSync } from 'node:fs'

export const BOUND_MS = 20
/** The bound of the first requests of an operation, whose code V8 has yet to compile, and of bodies that are read before one. */
const COLD_BOUND_MS = 60
const COLD_REQUESTS = 3
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

/** Requests until now, by operation. */
const requests = new Map<string, number>()

diagnostics.subscribe('tracing:fastify.request.handler:start', (message) => {
  const watch = watched.getStore()
  const { route } = message as { route?: { url?: string; method?: string } }
  if (!watch) return
  const operation = `${route?.method} ${route?.url}`
  requests.set(operation, (requests.get(operation) ?? 0) + 1)
  watched.enterWith({ ...watch, operation })
})

/** Reports all work of this process, also what takes little. */
export const watchAll = (report: Watched['report']): void => {
  everything = { fromMs: 1, report }
  hook.enable()
}

/** What may take longer, and why. */
const exceptions: Record<string, string> = {
  '/api/docs': 'made once in the life of a process, at the first request',
  '/api/openapi': 'made once in the life of a process, at the first request',
}

/** Fails a test in which the service keeps everyone waiting. */
export const failAbove =
  (test: { fail(message: string): unknown }): Watched['report'] =>
  (ms, operation) => {
    const isCold = operation === undefined || (requests.get(operation) ?? 0) <= COLD_REQUESTS
    const isException = Object.keys(exceptions).some((path) => operation?.split(' ')[1]?.startsWith(path))
    if (isException || (isCold && ms < COLD_BOUND_MS)) return
    test.fail(`${operation ?? 'The service'} takes ${ms.toFixed(0)} ms of CPU time in one piece`)
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
