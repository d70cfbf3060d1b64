/**
 * Own time: minutes that count in no workspace are kept for the person alone. So a person's own time contains
 * each minute of heartbeats and imports once, whatever workspaces they're in.
 */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { limits } from '../../../schemas/limits.js'
import type { Db } from '../../platform/database/client.js'
import { groupBy } from '../../platform/process/maps.js'
import { HOURS } from '../../platform/time/days.js'
import {
  type AssignedDay,
  type FlushTarget,
  type PersonalDay,
  PersonalDays,
  readPersonalMinutes,
} from '../minutes/index.js'
import type { Projects } from './project-names.js'
import { recordedBy } from './recording.js'
import { type Candidate, type Counts, dayOfHour, hourOf, type StoredHour, Timeline } from './timeline.js'

const MINUTES = 60
const DAY_MINUTES = HOURS * MINUTES

/** Without a workspace, gaps count up to this length. */
const isClose = ({ gap }: Candidate) => gap <= limits.heartbeat_idle_minutes_min

/** @param number days since 1970 */
const dayOf = (number: number) => dayOfHour(number * HOURS)

interface Personal {
  userId: string
  /** Where minutes have counted in workspaces, with those that were just counted. */
  countsAfter: Counts
  target: FlushTarget
  projects: Projects
  timezone: string
}

/** The rows to write, and how many minutes they add. */
export interface PersonalMinutes {
  rows: AssignedDay[]
  minutes: number
  /** Minutes in repositories beyond the daily limit. */
  leftOut: number
}

export const noPersonalMinutes: PersonalMinutes = { rows: [], minutes: 0, leftOut: 0 }

/** Which project gets a minute that counts for the person alone. Undefined: none, because recording is off. */
const ownerOf = ({ target, projects, timezone }: Personal) => {
  const isRecorded = recordedBy(target, timezone)
  return (minute: number, project: string): string | undefined => {
    if (projects.isIgnored(project)) return undefined
    const repoKey = projects.keyOf(project)
    if (!isRecorded(hourOf(minute), repoKey)) return undefined
    return repoKey === undefined ? project : projects.spellingOf(repoKey)
  }
}

const resultOf = async (days: PersonalDays): Promise<PersonalMinutes> => {
  const rows = await days.changed()
  // Minutes that a workspace counts from now on aren't subtracted from those that were added.
  return {
    rows,
    minutes: Math.max(
      0,
      rows.reduce((sum, { added }) => sum + added, 0),
    ),
    leftOut: days.leftOut,
  }
}

/**
 * The minutes of heartbeats, after they've counted in workspaces.
 * @param personal.hadUncounted whether a mark that was stored before has counted in no workspace
 * @param candidates the minutes that may have changed
 */
export const countPersonal = async (
  tx: Db,
  personal: Personal & { hadUncounted: boolean },
  candidates: readonly Candidate[],
): Promise<PersonalMinutes> => {
  const { userId, countsAfter, hadUncounted } = personal
  const close = candidates.filter(isClose)
  const isCounted = ({ minute }: Candidate) => countsAfter.hasCountedAnywhere(minute)
  // The usual case: all these minutes count in a workspace, and so did the minutes around them.
  if (!hadUncounted && close.every(isCounted)) return noPersonalMinutes
  const ofDays = groupBy(candidates, ({ minute }) => Math.floor(minute / DAY_MINUTES))
  const rows = await readPersonalMinutes(tx, userId, Array.from(ofDays.keys(), dayOf))
  const days = new PersonalDays(rows, personal.timezone)
  const nameOf = ownerOf(personal)
  for (const [number, ofDay] of ofDays) {
    const day = dayOf(number)
    for (const candidate of ofDay) {
      const { minute, project } = candidate
      if (isCounted(candidate)) days.remove(day, minute % DAY_MINUTES)
      else if (isClose(candidate)) {
        const name = nameOf(minute, project)
        if (name !== undefined) days.add(day, minute % DAY_MINUTES, name, project)
      }
    }
    await yieldToEventLoop()
  }
  return resultOf(days)
}

/** A day's stored minutes, as if a file had marked them. */
const hoursOf = (rows: readonly PersonalDay[]): StoredHour[] =>
  rows.flatMap(({ day, repoKey, marks }) =>
    marks === null
      ? []
      : Array.from({ length: HOURS }, (_, hour) => ({
          hour: Date.parse(day) / 3_600_000 + hour,
          projects: [repoKey],
          marks: [marks.slice(hour * MINUTES, (hour + 1) * MINUTES)],
          lastMarks: null,
          lastAt: null,
          countedIn: [],
          counted: [],
          countedRepos: null,
          countedFor: null,
          agentProjects: null,
          agentMarks: null,
          agentLastMarks: null,
          agentLastAt: null,
        })),
  )

/**
 * The minutes of a day in a file, together with those that earlier files have left for the person.
 * @param beside days before and after it that aren't in the file, and get the minutes up to this day's
 */
export const countImported = async (
  tx: Db,
  personal: Personal,
  { day, beside, hours }: { day: string; beside: string[]; hours: StoredHour[] },
): Promise<PersonalMinutes> => {
  const { userId, countsAfter } = personal
  const rows = await readPersonalMinutes(tx, userId, [day, ...beside])
  const days = new PersonalDays(rows, personal.timezone)
  const nameOf = ownerOf(personal)
  const written = new Set([day, ...beside])
  for (const { minute, project, gap } of new Timeline([...hoursOf(rows), ...hours]).all()) {
    const ofDay = dayOf(Math.floor(minute / DAY_MINUTES))
    if (!written.has(ofDay)) continue
    if (countsAfter.hasCountedAnywhere(minute)) days.remove(ofDay, minute % DAY_MINUTES)
    else if (isClose({ minute, project, gap })) {
      const name = nameOf(minute, project)
      if (name !== undefined) days.add(ofDay, minute % DAY_MINUTES, name, project)
    }
  }
  return resultOf(days)
}
