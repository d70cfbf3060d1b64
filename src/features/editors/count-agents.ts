/**
 * Agent time: minutes in which a person's agents worked and the person didn't. It follows from the marks alone,
 * so the hours around a new mark are recalculated and replaced. It doesn't affect the person's own minutes.
 */
import { limits } from '../../../schemas/limits.js'
import type { Db } from '../../platform/database/client.js'
import { HOURS } from '../../platform/time/days.js'
import {
  dayOf,
  type FlushTarget,
  hourOfDay,
  localHourOf,
  type MatchingWorkspace,
  type TargetResult,
} from '../minutes/index.js'
import { type AgentDay, readAgentDays } from '../own-time/index.js'
import type { Projects } from './project-names.js'
import { type Counts, clampIdleWindow, hourOf, minutesOfHour, type Timeline } from './timeline.js'

/** Which agents' minutes are counted, and by which rules. */
export interface AgentRules {
  userId: string
  timeline: Timeline
  projects: Projects
  /** Where the person's minutes count, which says in which local hours. */
  counts: Counts
  /** The UTC hours that change. Needs their marks, and those of an hour before and after each. */
  hours: ReadonlySet<number>
  /** Whether the marks are kept. Those of a file aren't, and then no hour loses minutes. */
  areKept: boolean
  /** Whether minutes count only from the day of joining a workspace. */
  isFromJoining: boolean
  /** The person's time zone. */
  timezone: string
}

/** The repositories for which agents have marks. */
export const reposOfAgents = ({ agents }: Timeline, projects: Projects): ReadonlySet<string> =>
  new Set([...agents.projects()].flatMap((project) => projects.keyOf(project) ?? []))

/**
 * Recalculates agents' hours.
 * @returns the days that change: none if too much would, until the next heartbeat nearby
 */
export const countAgents = async (tx: Db, rules: AgentRules, target: TargetResult): Promise<AgentDay[]> => {
  const workspaces = workspacesOf(rules, target)
  if (workspaces.length === 0) return []
  const days = new Set(Array.from(rules.hours, (hour) => dayOf(localHourIn(rules, hour))))
  const ids = workspaces.map(({ workspaceId }) => workspaceId)
  const stored = await readAgentDays(tx, rules.userId, ids, [...days])
  const changed = workspaces.flatMap((workspace) => {
    const own = stored.filter(({ workspaceId }) => workspaceId === workspace.workspaceId)
    return changedDays(rules, workspace, own)
  })
  return changed.length <= limits.flush_rows ? changed : []
}

interface AgentWorkspace extends Omit<MatchingWorkspace, 'repoKeys'> {
  repoKeys: ReadonlySet<string>
}

/** The workspaces where agents' minutes count: none if there are too many repositories, so that no request fails. */
const workspacesOf = ({ timeline, projects, hours }: AgentRules, target: TargetResult): AgentWorkspace[] => {
  if (target.kind !== 'found' || hours.size === 0) return []
  const repoKeys = reposOfAgents(timeline, projects)
  return (target satisfies FlushTarget).workspaces.flatMap(({ repoKeys: matched, ...workspace }) => {
    const own = new Set(matched.filter((repoKey) => repoKeys.has(repoKey)))
    return own.size > 0 ? [{ ...workspace, repoKeys: own }] : []
  })
}

const localHourIn = ({ counts, timezone }: AgentRules, hour: number): number =>
  counts.knownLocalHourOf(hour) ?? localHourOf(timezone, hour)

/** A workspace's days that differ from the stored ones. Days that have lost their hours stay as they are. */
const changedDays = (
  rules: AgentRules,
  workspace: AgentWorkspace,
  stored: readonly AgentDay[],
): AgentDay[] => {
  const { projects, areKept } = rules
  const { workspaceId } = workspace
  const fresh = minutesByHour(rules, workspace)
  const days = new Map(stored.map((row) => [`${row.day} ${row.repoKey}`, row]))
  const result = new Map<string, AgentDay & { hours: number[] }>()
  const dayAt = (day: string, repoKey: string) => {
    const key = `${day} ${repoKey}`
    const known = days.get(key)
    if (known?.hours === null) return undefined
    const row = result.get(key) ?? {
      workspaceId,
      day,
      repoKey,
      repo: known?.repo ?? projects.spellingOf(repoKey),
      minutes: 0,
      hours: [...(known?.hours ?? new Array<number>(HOURS).fill(0))],
    }
    result.set(key, row)
    return row
  }
  if (areKept)
    for (const { day, repoKey } of stored)
      for (const hour of rules.hours) {
        const localHour = localHourIn(rules, hour)
        const row = dayOf(localHour) === day ? dayAt(day, repoKey) : undefined
        if (row) row.hours[hourOfDay(localHour)] = 0
      }
  for (const { localHour, repoKey, minutes } of fresh) {
    const row = dayAt(dayOf(localHour), repoKey)
    if (row) row.hours[hourOfDay(localHour)] = Math.max(row.hours[hourOfDay(localHour)] ?? 0, minutes)
  }
  return [...result.values()].flatMap((row) => {
    const before = days.get(`${row.day} ${row.repoKey}`)?.hours
    const isSame = row.hours.every((minutes, hour) => minutes === (before?.[hour] ?? 0))
    return isSame ? [] : [{ ...row, minutes: row.hours.reduce((sum, minutes) => sum + minutes, 0) }]
  })
}

/** Agents' minutes in a workspace by local hour and repository. */
const minutesByHour = (rules: AgentRules, { idleWindow, repoKeys, firstDay, joinedOn }: AgentWorkspace) => {
  const { timeline, projects, hours, isFromJoining } = rules
  const window = clampIdleWindow(idleWindow)
  const sums = new Map<string, { localHour: number; repoKey: string; minutes: number }>()
  for (const hour of hours) {
    const day = dayOf(hour)
    if (day < firstDay || (isFromJoining && day < joinedOn)) continue
    for (const { minute, project, gap } of timeline.agents.ownersOf(minutesOfHour(hour))) {
      const repoKey = projects.keyOf(project)
      if (repoKey === undefined || !repoKeys.has(repoKey) || gap > window) continue
      const own = timeline.own.ownerOf(minute)
      if (own && own.gap <= window) continue
      const localHour = localHourIn(rules, hourOf(minute))
      const key = `${localHour} ${repoKey}`
      const sum = sums.get(key) ?? { localHour, repoKey, minutes: 0 }
      sums.set(key, sum)
      sum.minutes++
    }
  }
  return [...sums.values()]
}
