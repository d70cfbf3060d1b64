/** Shared by the programs of this folder: their options and their results. */
import { spawnSync } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'

export interface Scope {
  /** The clean-up tasks, the newest first. */
  teardown(end: () => unknown): void
}

export interface Options {
  /** How often the fault happens. */
  rounds?: number | undefined
  /** How long a fault goes on that has no rounds. */
  seconds?: number | undefined
}

export interface Figures {
  requests: number
  /** Writes that were answered as done. */
  acknowledged: number
  /** How many of these are missing. */
  lost: number
  /** How many are stored more often than sent. */
  doubled: number
  /** Responses with unexpected content. */
  wrong: number
  /** Answers of 500 and above other than 503, and connections that ended without a response where they must not. */
  failed: number
  /** How long one request of an ordinary caller took at most, in milliseconds. */
  longestMs: number
  /** From the end of the fault to the first response that isn't 503, at most, in milliseconds. */
  recoveryMs: number
}

export interface Outcome extends Partial<Figures> {
  /** The faults, for example `20 kills`. */
  did: string
  /** Further output: tables, lines. */
  details?: string[]
  /** The broken promises. Empty if all were kept. */
  broken: string[]
}

export interface Fault {
  name: string
  /** Programs of the system that it needs, or `root`. */
  needs?: string[]
  play(scope: Scope, options: Options): Promise<Outcome>
}

export const say = (line: string) => process.stdout.write(`${line}\n`)
export const quiet = { info: () => {}, warn: () => {}, error: () => {} }

/** The requirements of a fault that this machine lacks. */
export const missing = ({ needs = [] }: Fault): string[] =>
  needs.filter((need) =>
    need === 'root' ? process.getuid?.() !== 0 : spawnSync('which', [need]).status !== 0,
  )

/** Keeps sending requests until it is stopped. */
export const watch = async (ask: () => Promise<Response>, everyMs: number, stop: AbortSignal) => {
  const seen = { statuses: new Map<number, number>(), longestMs: 0 }
  while (!stop.aborted) {
    const began = performance.now()
    const reply = await ask().catch(() => undefined)
    await reply?.arrayBuffer().catch(() => {})
    // A request without a response has the status 0.
    const status = reply?.status ?? 0
    seen.statuses.set(status, (seen.statuses.get(status) ?? 0) + 1)
    seen.longestMs = Math.max(seen.longestMs, performance.now() - began)
    await sleep(everyMs)
  }
  return seen
}

/** The results of several rounds together. */
export const combineOutcomes = (did: string, outcomes: Outcome[]): Outcome => {
  const sum = (of: (outcome: Outcome) => number | undefined) =>
    outcomes.reduce((total, outcome) => total + (of(outcome) ?? 0), 0)
  return {
    did,
    requests: sum(({ requests }) => requests),
    acknowledged: sum(({ acknowledged }) => acknowledged),
    lost: sum(({ lost }) => lost),
    doubled: sum(({ doubled }) => doubled),
    wrong: sum(({ wrong }) => wrong),
    failed: sum(({ failed }) => failed),
    longestMs: Math.max(...outcomes.map(({ longestMs = 0 }) => longestMs)),
    recoveryMs: Math.max(...outcomes.map(({ recoveryMs = 0 }) => recoveryMs)),
    details: outcomes.flatMap(({ details = [] }) => details),
    broken: outcomes.flatMap(({ broken }) => broken),
  }
}
