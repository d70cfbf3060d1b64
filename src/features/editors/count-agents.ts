/**
 * Agent time: minutes in which a person's agents worked and the person didn't. It follows from the marks alone,
 * so the hours around a new mark are recalculated and replaced. It doesn't affect the person's own minutes.
 */
import { limits } from '../../../schemas/limits.js'
import type { Db } from '../../platform/database/client.js'
import { groupBy, requireValue } from '../../platform/process/maps.js'
import { HOURS } from '../../platform/time/days.js'
import {
  type AgentDay,
  errorForTarget,
  hoursByZone,
  keepZones,
  type MatchingWorkspace,
  readAgentDays,
  readTargets,
  type TargetResult,
} from '../minutes/index.js'
import type { Projects } from './project-names.js'
import { clampIdleWindow, dayOfHour, hourOf, type Timeline } from './timeline.js'

interface Agents {
  timeline: Timeline
  projects: Projects
  /** The hours that change. Needs their marks, and those of an hour before and after each. */
  hours: ReadonlySet<number>
  /** Whether the marks are kept. Those of a file aren't, and then no hour loses minutes. */
  areKept: boolean
  /** Whether minutes count only from the day of joining a workspace. */
  isFromJoining: boolean
  /** The time zone of new minutes. */
  timezone: string
}

/** What agents' marks change. */
export type AgentChanges = { kind: 'changed'; days: AgentDay[] } | { kind: 'unchanged' }

/** The repositories for which agents have marks. */
export const reposOfAgents = ({ agents }: Timeline, projects: Projects): ReadonlySet<string> =>
  new Set([...agents.projects()].flatMap((project) => projects.keyOf(project) ?? []))

/** Reads where minutes of agents' repositories count. @throws {ApiError} `token_invalid` */
export const readTargetOfAgents = async (
  tx: Db,
  userId: string,
  repoKeys: ReadonlySet<string>,
): Promise<TargetResult> => {
  const target = requireValue(await readTargets(tx, [{ userId, repoKeys, scope: 'workspaces' }]), userId)
  if (target.kind === 'unknown person') throw errorForTarget(target, repoKeys.size)
  return target
}

/** A repository's agent time on a day in a workspace, and its hours as they're stored. */
interface Row extends AgentDay {
  hours: number[]
  before: number[] | null
}

/** A workspace where agents' minutes count, with the repositories. */
interface AgentWorkspace
  extends Pick<MatchingWorkspace, 'workspaceId' | 'firstDay' | 'joinedOn' | 'idleWindow'> {
  repoKeys: ReadonlySet<string>
}

/** Where agents' minutes may count, and the days that may change. Empty if there's nothing to count. */
interface TargetedAgents {
  workspaces: AgentWorkspace[]
  days: string[]
}

/** Finds out where agents' minutes may count: nowhere if there are too many repositories, so that no request fails. */
const targetAgents = (
  { timeline, projects, hours }: Pick<Agents, 'timeline' | 'projects' | 'hours'>,
  target: TargetResult,
): TargetedAgents => {
  if (target.kind !== 'found') return { workspaces: [], days: [] }
  const repoKeys = reposOfAgents(timeline, projects)
  const workspaces = target.workspaces.flatMap(({ repoKeys: matched, ...workspace }) => {
    const own = new Set(matched.filter((repoKey) => repoKeys.has(repoKey)))
    return own.size > 0 ? [{ ...workspace, repoKeys: own }] : []
  })
  return { workspaces, days: workspaces.length > 0 ? [...new Set(Array.from(hours, dayOfHour))] : [] }
}

/** Reads the agent time stored for these days. */
const readTargetedDays = async (
  tx: Db,
  userId: string,
  { workspaces, days }: TargetedAgents,
): Promise<AgentDay[]> => {
  const ids = workspaces.map(({ workspaceId }) => workspaceId)
  return days.length > 0 ? readAgentDays(tx, userId, ids, days) : []
}

/** Recalculates the hours. They stay as they are if too much would change, until the next heartbeat nearby. */
export const countAgents = async (
  tx: Db,
  userId: string,
  agents: Agents,
  target: TargetResult,
): Promise<AgentChanges> => {
  const targeted = targetAgents(agents, target)
  const stored = await readTargetedDays(tx, userId, targeted)
  const rows = rowsWithHours(stored)
  const rest = agents.areKept ? rows.map((row) => withoutHours(row, agents.hours)) : rows
  return changesOf(agents, targeted, rest)
}

const rowsWithHours = (stored: readonly AgentDay[]): Row[] =>
  stored.flatMap((row) => (row.hours === null ? [] : [{ ...row, hours: row.hours, before: row.hours }]))

const withoutHours = (row: Row, hours: ReadonlySet<number>): Row => {
  const first = Date.parse(row.day) / HOUR_MS
  return { ...row, hours: row.hours.map((minutes, hour) => (hours.has(first + hour) ? 0 : minutes)) }
}

/** The rows that differ from the stored ones once each hour has at least the marks' minutes. */
const changesOf = (agents: Agents, { workspaces }: TargetedAgents, rows: readonly Row[]): AgentChanges => {
  const { timeline, hours, projects, timezone } = agents
  if (workspaces.length === 0) return { kind: 'unchanged' }
  const minutesOf = minutesByWindow(timeline, hours, projects)
  const days = workspaces.flatMap((workspace) => {
    const own = rows.filter(({ workspaceId }) => workspaceId === workspace.workspaceId)
    const raised = raise(own, minutesOf(clampIdleWindow(workspace.idleWindow)), agents, workspace)
    return Array.from(groupBy(raised, ({ day }) => day).values(), (ofDay) =>
      changedRows(ofDay, timezone),
    ).flat()
  })
  const isChanged = days.length > 0 && days.length <= limits.flush_rows
  return isChanged ? { kind: 'changed', days } : { kind: 'unchanged' }
}

/** Raises each hour of a workspace's rows to at least these minutes. */
const raise = (
  stored: readonly Row[],
  minutes: readonly HourOfRepo[],
  { projects, isFromJoining, timezone }: Agents,
  { workspaceId, repoKeys, firstDay, joinedOn }: AgentWorkspace,
): Row[] => {
  const rows = new Map(stored.map((row) => [keyOf(row), { ...row, hours: [...row.hours] }]))
  for (const { hour, repoKey, minutes: ofHour } of minutes) {
    const day = dayOfHour(hour)
    if (!repoKeys.has(repoKey) || day < firstDay || (isFromJoining && day < joinedOn)) continue
    const key = keyOf({ day, repoKey })
    const row = rows.get(key) ?? {
      workspaceId,
      day,
      repoKey,
      repo: projects.spellingOf(repoKey),
      minutes: 0,
      hours: new Array<number>(HOURS).fill(0),
      before: null,
      timezone,
      otherZones: null,
    }
    row.hours[hour % HOURS] = Math.max(row.hours[hour % HOURS] ?? 0, ofHour)
    rows.set(key, row)
  }
  return [...rows.values()]
}

/** A workspace's rows on a day that differ from the stored ones, with the time zones of their hours. */
const changedRows = (ofDay: readonly Row[], timezone: string): AgentDay[] => {
  const zones = keepZones(
    ofDay.map((row) => ({
      before: hoursByZone({ ...row, hours: row.before }, timezone),
      hours: row.hours,
    })),
    timezone,
  )
  return ofDay.flatMap(({ before, ...row }, index) => {
    if (row.hours.every((minutes, hour) => minutes === before?.[hour])) return []
    const [[main] = [row.timezone ?? timezone], ...others] = zones[index] ?? []
    return [
      {
        ...row,
        timezone: main,
        otherZones: others.length > 0 ? Object.fromEntries(others) : null,
        minutes: row.hours.reduce((sum, minutes) => sum + minutes, 0),
      },
    ]
  })
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
