/**
 * Agent time: minutes in which a person's agents worked and the person didn't. It follows from the marks alone, so the hours
 * around a new mark are worked out again and replaced. It doesn't affect the person's own minutes.
 */
import { limits } from '../../../schemas/limits.js'
import type { Db } from '../../platform/database/client.js'
import { groupBy, requireValue } from '../../platform/process/maps.js'
import { HOURS } from '../../platform/time/days.js'
import {
  type AgentDay,
  type FlushTarget,
  hoursByZone,
  keepZones,
  readAgentDays,
  readTargets,
  requireTarget,
} from '../minutes/index.js'
import type { Projects } from './project-names.js'
import { clampIdleWindow, dayOfHour, hourOf, hoursBeside, type Timeline } from './timeline.js'

interface Agents {
  userId: string
  timeline: Timeline
  projects: Projects
  /** The hours to work out again. */
  hours: ReadonlySet<number>
  /** Whether minutes count only from the day of joining a workspace. */
  isFromJoining: boolean
  /** The time zone of new minutes. Undefined: the person's. */
  timezone: string | undefined
  /** What was read for the person's own minutes. It's read again for other repositories. */
  read: { target: FlushTarget; repoKeys: ReadonlySet<string> } | undefined
  /** Whether no hour loses minutes, because its marks come from a file and aren't kept. */
  keepsMinutes: boolean
}

/** The hours that new marks may affect. @param reassigned hours whose marks now belong to another repository */
export const hoursChangedIn = (timeline: Timeline, reassigned: readonly number[] = []): ReadonlySet<number> =>
  new Set(hoursBeside([...timeline.changed, ...timeline.agents.changed, ...reassigned]))

/**
 * Needs the marks of the hours, and of an hour before and after each. Agent time never makes a request fail: if there's too
 * much of it, the hours stay unchanged until the next heartbeat nearby.
 */
export const countAgents = async (
  tx: Db,
  { userId, timeline, projects, hours, isFromJoining, timezone: given, read, keepsMinutes }: Agents,
): Promise<AgentDay[]> => {
  const repoKeys = new Set(
    [...timeline.agents.projects()].flatMap((project) => projects.keyOf(project) ?? []),
  )
  if (hours.size === 0 || repoKeys.size === 0) return []
  const target =
    read && [...repoKeys].every((repoKey) => read.repoKeys.has(repoKey))
      ? read.target
      : requireValue(await readTargets(tx, [{ userId, repoKeys, scope: 'workspaces' }]), userId)
  if (target.kind === 'too large') return []
  const { timezone: ofPerson, workspaces } = requireTarget(target, repoKeys.size)
  const timezone = given ?? ofPerson ?? 'UTC'
  const places = workspaces.flatMap(({ workspaceId, repoKeys: matched, firstDay, joinedOn, idleWindow }) => {
    const own = new Set(matched.filter((repoKey) => repoKeys.has(repoKey)))
    return own.size > 0 ? [{ workspaceId, own, firstDay, joinedOn, idleWindow }] : []
  })
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
        if (!keepsMinutes && hours.has(Date.parse(day) / HOUR_MS + hour)) ofDay[hour] = 0
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
