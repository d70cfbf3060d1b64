/** A person's heartbeats, and how many of those that were sent don't count. */
import type { RepohostKind } from '../../../schemas/common.js'
import { limits } from '../../../schemas/limits.js'
import { addDays } from '../../platform/time/days.js'
import type { Scope } from '../recording/index.js'
import { secondsOf } from './parsing/time.js'
import {
  isOfAgent,
  isRepo,
  markNameOf,
  type Project,
  type ProjectHost,
  projectOf,
  type SentHeartbeat,
} from './project-names.js'

const MINUTE_SECONDS = 60
const DAY_SECONDS = 86_400

/** A heartbeat that may count. */
export interface Heartbeat {
  /** Seconds since 1970. */
  time: number
  /** Minutes since 1970. */
  minute: number
  project: Project
  /** Whether an agent sent it rather than the person. */
  isOfAgent: boolean
}

/** Heartbeats that don't count, by reason. */
export interface Ignored {
  /** No time that can be read. */
  time: number
  /** No project. */
  project: number
  /** Too old, or in the future. */
  day: number
  /** Recording is off for it, or its name is ignored. */
  recording_off: number
  /** A repository that no workspace of the person matches. The minutes count only for the person. */
  repo: number
}

export const noneIgnored: Readonly<Ignored> = { time: 0, project: 0, day: 0, recording_off: 0, repo: 0 }

/** A step that drops heartbeats returns a batch without them, and adds them to `ignored`. */
export interface Batch {
  userId: string
  /** Oldest first. */
  heartbeats: Heartbeat[]
  ignored: Readonly<Ignored>
  kind: RepohostKind
  /** Undefined: the sender gave none. */
  timezone: string | undefined
  /** Whether all minutes count only from the day of joining a workspace. Those sent under a folder's name always do. */
  isFromJoining: boolean
  /** Projects of the day's other minutes in a file, as in marks. Names are matched with repositories, too. Editors send none. */
  projectsOfFile: readonly string[]
  /** Where the minutes may count. */
  scope: Scope
}

/** The distinct projects of a batch, as in marks. */
export const projectsIn = ({ heartbeats, projectsOfFile }: Batch): string[] => [
  ...new Set([...heartbeats.map(({ project }) => markNameOf(project)), ...projectsOfFile]),
]

/** Those that are names rather than repositories. */
export const namesIn = (batch: Batch): string[] =>
  projectsIn(batch).filter((project) => !isRepo(project, batch.kind))

/** The heartbeats with a time and a project. */
export const batchOf = (
  userId: string,
  sent: readonly SentHeartbeat[],
  timezone: string | undefined,
  host: ProjectHost,
): Batch => {
  const heartbeats: Heartbeat[] = []
  const ignored = { ...noneIgnored }
  for (const one of sent) {
    const time = secondsOf(one.time)
    const project = projectOf(one, host)
    if (time === undefined) ignored.time++
    else if (!project) ignored.project++
    else
      heartbeats.push({ time, minute: Math.floor(time / MINUTE_SECONDS), project, isOfAgent: isOfAgent(one) })
  }
  heartbeats.sort((a, b) => a.time - b.time)
  return {
    userId,
    heartbeats,
    ignored,
    kind: host.kind,
    timezone,
    isFromJoining: false,
    projectsOfFile: [],
    scope: 'workspaces',
  }
}

/** The first day on which heartbeats count, and the last second. @param target with the database's clock */
export const timesThatCount = ({ today, now }: { today: string; now: number }) => ({
  firstDay: addDays(today, -limits.flush_days_back),
  latest: now / 1_000 + limits.future_minutes * MINUTE_SECONDS,
})

/** How far the clocks may differ, in days. */
const CLOCK_DAYS = 2

/**
 * Drops heartbeats that are certainly outside the days that count, so that no query runs for them.
 * @param now in seconds since 1970, according to this computer's clock
 */
export const withoutFarDays = (batch: Batch, now: number): Batch => {
  const from = now - (limits.flush_days_back + CLOCK_DAYS) * DAY_SECONDS
  const until = now + (1 + CLOCK_DAYS) * DAY_SECONDS
  const heartbeats = batch.heartbeats.filter(({ time }) => time > from && time < until)
  const day = batch.ignored.day + batch.heartbeats.length - heartbeats.length
  return { ...batch, heartbeats, ignored: { ...batch.ignored, day } }
}
