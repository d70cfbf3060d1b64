/**
 * Own time: minutes that count in no workspace are kept for the person alone. So a person's own time contains
 * each minute of heartbeats and imports once, whatever workspaces they're in.
 */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { limits } from '../../../schemas/limits.js'
import type { Db } from '../../platform/database/client.js'
import { groupBy } from '../../platform/process/maps.js'
import { HOURS } from '../../platform/time/days.js'
import { type AssignedDay, type PersonalDay, PersonalDays, readPersonalMinutes } from '../minutes/index.js'
import type { Projects } from './project-names.js'
import type { Recording } from './recording.js'
import { type Candidate, type Counts, dayOfHour, hourOf, type StoredHour, Timeline } from './timeline.js'

const MINUTES = 60
const DAY_MINUTES = HOURS * MINUTES

/** Without a workspace, gaps count up to this length. */
const isClose = ({ gap }: Candidate) => gap <= limits.heartbeat_idle_minutes_min

/** @param number days since 1970 */
const dayOf = (number: number) => dayOfHour(number * HOURS)

interface Personal {
  /** Where minutes have counted in workspaces, with those that were just counted. */
  countsAfter: Counts
  projects: Projects
  recording: Recording
}

/** The rows to write, and how many minutes they add. */
export interface PersonalMinutes {
  rows: AssignedDay[]
  minutes: number
  /** Minutes in repositories beyond the daily limit. */
  leftOut: number
}

/** Which project gets a minute that counts for the person alone. Undefined: none, because recording is off. */
const ownerOf = (minute: number, project: string, { projects, recording }: Personal): string | undefined => {
  if (projects.isIgnored(project)) return undefined
  const repoKey = projects.keyOf(project)
  if (!recording.isRecorded(hourOf(minute), repoKey)) return undefined
  return repoKey === undefined ? project : projects.spellingOf(repoKey)
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

interface Changed {
  /** The minutes that may have changed. */
  candidates: readonly Candidate[]
  /** Whether a mark that was stored before has counted in no workspace. */
  hadUncounted: boolean
}

/** The days on which minutes start or stop counting for the person alone, with these minutes. */
const daysToRecount = (
  countsAfter: Counts,
  { candidates, hadUncounted }: Changed,
): ReadonlyMap<string, Candidate[]> => {
  const areCounted = candidates.every((one) => !isClose(one) || countsAfter.hasCountedAnywhere(one.minute))
  // The usual case: all these minutes count in a workspace, and so did the minutes around them.
  if (areCounted && !hadUncounted) return new Map()
  const ofDays = groupBy(candidates, ({ minute }) => Math.floor(minute / DAY_MINUTES))
  return new Map(Array.from(ofDays, ([number, ofDay]) => [dayOf(number), ofDay]))
}

/** The minutes of heartbeats, after they've counted in workspaces. */
export const countPersonal = async (
  tx: Db,
  userId: string,
  personal: Personal,
  changed: Changed,
): Promise<PersonalMinutes> => {
  const toRecount = daysToRecount(personal.countsAfter, changed)
  const stored = await readPersonalMinutes(tx, userId, [...toRecount.keys()])
  const days = new PersonalDays(stored, personal.recording.timezone)
  for (const [day, candidates] of toRecount) {
    for (const candidate of candidates) recount(days, day, candidate, personal)
    await yieldToEventLoop()
  }
  return resultOf(days)
}

/** Counts a minute for the person if no workspace does. */
const recount = (days: PersonalDays, day: string, candidate: Candidate, personal: Personal): void => {
  const { minute, project } = candidate
  const minuteOfDay = minute % DAY_MINUTES
  if (personal.countsAfter.hasCountedAnywhere(minute)) days.remove(day, minuteOfDay)
  else if (isClose(candidate)) {
    const name = ownerOf(minute, project, personal)
    if (name !== undefined) days.add(day, minuteOfDay, name, project)
  }
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
 * @param days the file's day, and days before and after it that aren't in the file and get the minutes up to this day's
 * @param stored the rows of these days
 */
export const countImported = (
  personal: Personal,
  { days: names, hours }: { days: string[]; hours: StoredHour[] },
  stored: PersonalDay[],
): Promise<PersonalMinutes> => {
  const days = new PersonalDays(stored, personal.recording.timezone)
  for (const candidate of new Timeline([...hoursOf(stored), ...hours]).all()) {
    const day = dayOf(Math.floor(candidate.minute / DAY_MINUTES))
    if (names.includes(day)) recount(days, day, candidate, personal)
  }
  return resultOf(days)
}
