/** Calculates the figures of docs/scale.md from the cost of each operation. */
import { ROLL_UP_TODAY_MS } from '../src/features/rollups/jobs.js'

export interface Unit {
  /** CPU time in microseconds. */
  service: number
  database: number
  /** Bytes. */
  wal: number
}

/** Bytes of a row on disk, including indexes. */
export interface Bytes {
  activity: number
  /** All rollups, for each row of activity. */
  rollups: number
  /** A response to a flush. */
  flushes: number
  /** A process of the service. */
  memory: number
}

const DEVELOPERS = [1_000, 100_000, 1_000_000, 10_000_000]
const HOURS = 8
const WORKING_DAYS = 250
/** Rows of activity of a person on a working day: one for each repository. */
const REPOS = 3
const FLUSH_DAYS = 32
/** `DATABASE_POOL_SIZE` of a process. */
const CONNECTIONS = 10
/**
 * In production, rows arrive one by one, so pages are less full than in the benchmark: by 12 to 19 % in a running
 * service.
 */
const LESS_FULL = 1.15
/**
 * How often a workspace that is busy all day is rolled up: whenever the current day is due, after its end, and for
 * later changes.
 */
const ROLLUPS = (HOURS * 3.6e6) / ROLL_UP_TODAY_MS + 2
/** Cores are planned to be as busy as this at the busiest time. */
const LOAD = 0.5

/** How often a developer does each thing on a working day. */
const habits = (minutes: number): Record<string, number> => ({
  flush: (HOURS * 60) / minutes,
  // The extension asks once an hour for its configuration, and as often for recording preferences.
  'pull, unchanged': HOURS,
  'recording preferences': HOURS,
  // Two editor starts, and an occasional change of settings.
  pull: 2,
  push: 0.1,
  'sign-in': 1 / 30,
  // One developer in twenty looks five times a day.
  dashboard: 0.25,
  'deletion of an old answer': (HOURS * 60) / minutes,
})

const twoDigits = (value: number): string => Number(value.toPrecision(2)).toLocaleString('en')
const big = (value: number): string => {
  if (value < 1e6) return value < 1 ? value.toPrecision(1) : twoDigits(value)
  return value < 1e9 ? `${twoDigits(value / 1e6)} million` : `${twoDigits(value / 1e9)} billion`
}
const size = (bytes: number): string => {
  const step = bytes < 1e9 ? 2 : bytes < 1e12 ? 3 : 4
  return `${twoDigits(bytes / 1e3 ** step)} ${['MB', 'GB', 'TB'][step - 2]}`
}
/** How many cores this many microseconds of CPU need, spread over working hours. */
const cores = (microseconds: number): number => microseconds / (HOURS * 3.6e9) / LOAD

/** Lines of a table. @param team people in a workspace; @param minutes between two flushes of a person who works */
export const sumsOf = (
  units: Record<string, Unit>,
  bytes: Bytes,
  { minutes, team }: { minutes: number; team: number },
): string[] => {
  const day = Object.entries(habits(minutes))
  const unit = (name: string): Unit => units[name] ?? { service: 0, database: 0, wal: 0 }
  /** How long a single instance takes for sequential work: at least its CPU time. */
  const secondsOf = (name: string) => (unit(name).service + unit(name).database) / 1e6
  const rollupSeconds = secondsOf('rollup of a day')
  /** One developer's share of rollups on a day: as often as they are due, or as one instance can make them. */
  const rollups = (n: number) => Math.min(ROLLUPS / team, (HOURS * 3_600) / rollupSeconds / n)
  const total = (n: number, of: (unit: Unit) => number) =>
    n *
    [...day, ['rollup of a day', rollups(n)] as const].reduce(
      (sum, [name, times]) => sum + times * of(unit(name)),
      0,
    )
  const flushes = habits(minutes).flush ?? 0
  const requests = day.reduce((sum, [name, times]) => sum + (name.startsWith('deletion') ? 0 : times), 0)
  const rows = (label: string, of: (developers: number) => string) =>
    `| ${label} | ${DEVELOPERS.map(of).join(' | ')} |`
  const processes = (n: number) => Math.ceil(cores(total(n, ({ service }) => service)))
  const deleteSeconds = secondsOf('deletion of an old answer')
  return [
    rows('developers', big),
    `|---|${DEVELOPERS.map(() => '---|').join('')}`,
    rows('requests a day', (n) => big(n * requests)),
    rows('requests a second, all at work at once', (n) => big((n * requests) / (HOURS * 3_600))),
    rows('of them flushes', (n) => big((n * flushes) / (HOURS * 3_600))),
    rows('processes of the service, a core each', (n) => big(processes(n))),
    rows('their memory', (n) => size(processes(n) * bytes.memory)),
    rows('their connections to PostgreSQL', (n) => big(processes(n) * CONNECTIONS)),
    rows('cores of PostgreSQL', (n) => big(Math.ceil(cores(total(n, ({ database }) => database))))),
    rows('new rows of activity a day', (n) => big(n * REPOS)),
    rows('stored answers to flushes', (n) => big(n * flushes * FLUSH_DAYS * (WORKING_DAYS / 365))),
    rows('their size', (n) => size(n * flushes * FLUSH_DAYS * (WORKING_DAYS / 365) * bytes.flushes)),
    rows('activity of a year takes', (n) =>
      size(n * REPOS * WORKING_DAYS * (bytes.activity + bytes.rollups) * LESS_FULL),
    ),
    rows('WAL a day', (n) => size(total(n, ({ wal }) => wal))),
    rows('a rollup of every workspace', (n) => `${big((n / team) * rollupSeconds)} s`),
    rows('deleting a day of answers', (n) => `${big(n * flushes * deleteSeconds)} s`),
  ]
}
