/**
 * Agent time: minutes in which a person's agents worked and the person didn't. It follows from the marks alone, so the hours
 * around a new mark are worked out again and replaced. It doesn't affect the person's own minutes.
 */
import { limits } from '../../../schemas/limits.js'
import { ApiError } from '../../errors.js'
import type { Db } from '../../platform/database/client.js'
import { groupBy } from '../../platform/process/maps.js'
import { HOURS } from '../../platform/time/days.js'
import {
  type AgentDay,
  type FlushTarget,
  hoursByZone,
  keepZones,
  readAgentDays,
  readTarget,
} from '../minutes/index.js'
import { clampIdleWindow, dayOfHour } from './count-minutes.js'
import type { Projects } from './project-names.js'
import { hourOf, type Timeline } from './timeline.js'

/** A gap reaches into the next hour at most. */
export const hoursBeside = (hours: Iterable<number>, reach = 1): number[] => {
  const all = new Set<number>()
  for (const hour of hours) for (let step = -reach; step <= reach; step++) all.add(hour + step)
  return [...all]
}

interface Marked {
  userId: string
  timeline: Timeline
  projects: Projects
}

interface Agents {
  /** Hours whose marks now belong to another repository. */
  reassigned?: Iterable<number>
  /** Whether minutes count only from the day of joining a workspace. */
  isFromJoining?: boolean | undefined
  /** The time zone of new minutes. Default: the person's. */
  timezone?: string | undefined
  /** The rows read for the person's own minutes, to avoid reading them again. */
  read?: { target: FlushTarget; repoKeys: ReadonlySet<string> }
  /** Hours of a day whose marks come from a file and aren't kept. No hour loses minutes, and no other day changes. */
  imported?: { day: string; hours: number[] }
}

/**
 * Needs the marks of the hours that have changed, and of two hours before and after each. Agent time never makes a request
 * fail: if there's too much of it, the hours stay unchanged until the next heartbeat nearby.
 */
export const countAgents = async (
  tx: Db,
  { userId, timeline, projects }: Marked,
  { reassigned = [], isFromJoining = false, timezone: given, read, imported }: Agents,
): Promise<AgentDay[]> => {
  const hours = imported
    ? new Set(hoursBeside(imported.hours).filter((hour) => dayOfHour(hour) === imported.day))
    : new Set(hoursBeside([...timeline.changed, ...timeline.agents.changed, ...reassigned]))
  const repoKeys = new Set(
    [...timeline.agents.projects()].flatMap((project) => projects.keyOf(project) ?? []),
  )
  if (hours.size === 0 || repoKeys.size === 0) return []
  const target =
    read && [...repoKeys].every((repoKey) => read.repoKeys.has(repoKey))
      ? read.target
      : await readTarget(tx, userId, repoKeys).catch((error) => {
          if (error instanceof ApiError && error.code === 'payload_too_large') return undefined
          throw error
        })
  if (!target) return []
  const timezone = given ?? target.timezone ?? 'UTC'
  const places = target.workspaces.flatMap(
    ({ workspaceId, repoKeys: matched, firstDay, joinedOn, idleWindow }) => {
      const own = new Set(matched.filter((repoKey) => repoKeys.has(repoKey)))
      return own.size > 0 ? [{ workspaceId, own, firstDay, joinedOn, idleWindow }] : []
    },
  )
  if (places.length === 0) return []
  const ids = places.map(({ workspaceId }) => workspaceId)
  const days = new Set(Array.from(hours, dayOfHour))
  const stored = await readAgentDays(tx, userId, ids, [...days])
  const minutesOf = minutesByWindow(timeline, hours, projects)
  const changed: AgentDay[] = []
  for (const { workspaceId, own, firstDay, joinedOn, idleWindow } of places) {
    const rows = new Map(
      stored
        .filter((row) => row.workspaceId === workspaceId && row.hours !== null)
        .map((row) => [keyOf(row), { ...row, hours: [...(row.hours ?? [])], before: row.hours }]),
    )
    for (const { day, hours: ofDay } of rows.values())
      for (let hour = 0; hour < HOURS; hour++)
        if (!imported && hours.has(Date.parse(day) / HOUR_MS + hour)) ofDay[hour] = 0
    for (const { hour, repoKey, minutes } of minutesOf(clampIdleWindow(idleWindow))) {
      const day = dayOfHour(hour)
      if (!own.has(repoKey) || day < firstDay || (isFromJoining && day < joinedOn)) continue
      const key = keyOf({ day, repoKey })
      const row = rows.get(key) ?? {
        ...{
          workspaceId,
          day,
          repoKey,
          repo: projects.spellingOf(repoKey),
          minutes: 0,
          timezone,
          otherZones: null,
          before: null,
        },
        hours: new Array<number>(HOURS).fill(0),
      }
      row.hours[hour % HOURS] = Math.max(row.hours[hour % HOURS] ?? 0, minutes)
      rows.set(key, row)
    }
    for (const ofDay of groupBy([...rows.values()], ({ day }) => day).values()) {
      const zones = keepZones(
        ofDay.map((row) => ({
          before: hoursByZone({ ...row, hours: row.before }, timezone),
          hours: row.hours,
        })),
        timezone,
      )
      for (const [index, { before, ...row }] of ofDay.entries()) {
        if (row.hours.every((minutes, hour) => minutes === before?.[hour])) continue
        const [[main] = [row.timezone ?? timezone], ...others] = zones[index] ?? []
        changed.push({
          ...row,
          timezone: main,
          otherZones: others.length > 0 ? Object.fromEntries(others) : null,
          minutes: row.hours.reduce((sum, minutes) => sum + minutes, 0),
        })
      }
    }
  }
  return changed.length > limits.flush_rows ? [] : changed
}

const HOUR_MS = 3_600_000

const keyOf = ({ day, repoKey }: { day: string; repoKey: string }) => `${day} ${repoKey}`

interface HourOfRepo {
  hour: number
  repoKey: string
  minutes: number
}

/** The agents' minutes in these hours, for each idle window. */
const minutesByWindow = (
  timeline: Timeline,
  hours: ReadonlySet<number>,
  projects: Projects,
): ((window: number) => HourOfRepo[]) => {
  const isWanted = ({ minute }: { minute: number }) => hours.has(hourOf(minute))
  const own = [...timeline.all()].filter(isWanted)
  const ofAgents = [...timeline.agents.all()].filter(isWanted)
  const known = new Map<number, HourOfRepo[]>()
  return (window) => {
    const found = known.get(window)
    if (found) return found
    const active = new Set(own.flatMap(({ minute, gap }) => (gap <= window ? [minute] : [])))
    const sums = new Map<string, HourOfRepo>()
    for (const { minute, project, gap } of ofAgents) {
      const repoKey = projects.keyOf(project)
      if (repoKey === undefined || gap > window || active.has(minute)) continue
      const hour = hourOf(minute)
      const key = `${hour} ${repoKey}`
      const sum = sums.get(key) ?? { hour, repoKey, minutes: 0 }
      sums.set(key, sum)
      sum.minutes++
    }
    const result = [...sums.values()]
    known.set(window, result)
    return result
  }
}
