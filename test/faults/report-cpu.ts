/**
 * Loaded into a service (`node --import`), it prints how much CPU time each piece of its work takes: a turn of the event
 * loop, in which no one else is let in. First, it prints what a fixed piece of work takes here, to compare with.
 */
import { createHook, executionAsyncResource } from 'node:async_hooks'
import { existsSync, openSync, readSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

/** The CPU time of this thread, in milliseconds. */
const readCpu = (() => {
  const path = '/proc/thread-self/schedstat'
  if (!existsSync(path)) return undefined
  const file = openSync(path, 'r')
  const buffer = Buffer.alloc(64)
  return () => Number.parseInt(buffer.toString('latin1', 0, readSync(file, buffer, 0, 64, 0)), 10) / 1e6
})()

/** Shorter turns aren't reported. */
const FROM_MS = 1

/** Continuations run in the turn of what they continue. */
const isContinuation = (resource: object) => resource instanceof Promise || 'args' in resource

/** Reports each piece of work of this process. Without Linux, which alone tells the time of a thread, none. */
const watchAll = (report: (ms: number) => void): void => {
  let depth = 0
  /** The current turn: the CPU time at its beginning, and how long it has worked by the clock. */
  let cpuBefore: number | undefined
  let workedMs = 0
  let since = 0
  createHook({
    before() {
      depth += 1
      if (depth > 1) return
      if (!isContinuation(executionAsyncResource())) {
        cpuBefore = undefined
        workedMs = 0
      }
      cpuBefore ??= readCpu?.()
      since = performance.now()
    },
    after() {
      if (depth === 0) return
      depth -= 1
      if (depth > 0) return
      workedMs += performance.now() - since
      if (workedMs < FROM_MS || cpuBefore === undefined || !readCpu) return
      const ms = Math.min(workedMs, readCpu() - cpuBefore)
      if (ms < FROM_MS) return
      report(ms)
      workedMs = 0
      cpuBefore = undefined
    },
  }).enable()
}

/** The milliseconds of a fixed piece of work, once it is compiled. */
const calibrate = (): number => {
  let ms = 0
  for (let round = 0; round < 5; round++) {
    const before = readCpu?.() ?? 0
    let sum = 0
    for (let n = 0; n < 30_000_000; n++) sum = (sum * 31 + n) | 0
    if (sum === 1) throw new Error('The compiler must not leave the loop out')
    ms = (readCpu?.() ?? 0) - before
  }
  return ms
}

const say = (line: string) => process.stderr.write(`${line}\n`)

// A thread of its own keeps no one waiting.
if (isMainThread) {
  say(`calibration ${calibrate().toFixed(2)}`)
  watchAll((ms) => say(`cpu ${ms.toFixed(1)}`))
}
