/**
 * Agent time: minutes in which a person's agents worked and the person didn't. It follows from the marks alone, so the
 * hours around a new mark are counted as they were and as they are, and the difference is added: another UTC hour can
 * have the same local hour. It doesn't affect the person's own minutes.
 */
import { limits } from '../../../schemas/limits.js'
import type { Db } from '../../platform/database/client.js'
import { HOURS } from '../../platform/time/days.js'
import { dayOf, hourOfDay, localHourOf } from '../../platform/time/local-hours.js'
import { type AgentDay, readAgentDays } from '../own-time/index.js'
import type { FlushTarget, MatchingWorkspace, TargetResult } from '../recording/index.js'
import type { Projects } from './project-names.js'
import { type Counts, clampIdleWindow, hourOf, MINUTES, minutesOfHour, type Timeline } from './timeline.js'

/** Marks, and the repositories of their projects. */
interface AgentMarks {
  timeline: Timeline
  projects: Projects
}

/** Which agents' minutes are counted, and by which rules. */
export interface AgentRules extends AgentMarks {
  userId: string
  /** As it was before the change. Undefined: the marks of a file, which aren't kept, and then no hour loses minutes. */
  before: AgentMarks | undefined
  /** Where the person's minutes count, which says in which local hours. */
  counts: Counts
  /** The UTC hours that change. Needs their marks, and those of an hour before and after each. */
  hours: ReadonlySet<number>
  /** Whether minutes count only from the day of joining a workspace. */
  isFromJoining: boolean
  /** The person's time zone. */
  timezone: string
}

/** The repositories for which agents have marks. */
export const reposOfAgents = ({ timeline, projects }: AgentMarks): ReadonlySet<string> =>
  new Set([...timeline.agents.projects()].flatMap((project) => projects.keyOf(project) ?? []))

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
const workspacesOf = (rules: AgentRules, target: TargetResult): AgentWorkspace[] => {
  if (target.kind !== 'found' || rules.hours.size === 0) return []
  const repoKeys = new Set([...reposOfAgents(rules), ...(rules.before ? reposOfAgents(rules.before) : [])])
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
  const { projects, before } = rules
  const { workspaceId } = workspace
  const days = new Map(stored.map((row) => [`${row.day} ${row.repoKey}`, row]))
  const result = new Map<string, AgentDay & { hours: number[] }>()
  const after = minutesByHour(rules, rules, workspace)
  for (const { localHour, repoKey, minutes, change } of differences(
    before ? minutesByHour(before, rules, workspace) : after,
    after,
  )) {
    const [day, hour] = [dayOf(localHour), hourOfDay(localHour)]
    const key = `${day} ${repoKey}`
    const known = days.get(key)
    if (known?.hours === null) continue
    const row = result.get(key) ?? {
      workspaceId,
      day,
      repoKey,
      repo: known?.repo ?? projects.spellingOf(repoKey),
      minutes: 0,
      hours: [...(known?.hours ?? new Array<number>(HOURS).fill(0))],
    }
    result.set(key, row)
    const earlier = row.hours[hour] ?? 0
    row.hours[hour] = Math.min(MINUTES, Math.max(minutes, earlier + change))
  }
  return [...result.values()].flatMap((row) => {
    const old = days.get(`${row.day} ${row.repoKey}`)?.hours
    const isSame = row.hours.every((minutes, hour) => minutes === (old?.[hour] ?? 0))
    return isSame ? [] : [{ ...row, minutes: row.hours.reduce((sum, minutes) => sum + minutes, 0) }]
  })
}

/** Minutes in a local hour and a repository. */
interface HourMinutes {
  localHour: number
  repoKey: string
  minutes: number
}

/** The minutes as they are, and by how many they have changed. */
const differences = (before: readonly HourMinutes[], after: readonly HourMinutes[]) => {
  const keyOf = ({ localHour, repoKey }: HourMinutes) => `${localHour} ${repoKey}`
  const changed = new Map(after.map((one) => [keyOf(one), { ...one, change: one.minutes }]))
  for (const one of before) {
    const { minutes, change } = changed.get(keyOf(one)) ?? { minutes: 0, change: 0 }
    changed.set(keyOf(one), { ...one, minutes, change: change - one.minutes })
  }
  return [...changed.values()]
}

/** Agents' minutes in a workspace by local hour and repository, as these marks have them. */
const minutesByHour = (
  { timeline, projects }: AgentMarks,
  rules: AgentRules,
  { idleWindow, repoKeys, firstDay, joinedOn }: AgentWorkspace,
): HourMinutes[] => {
  const { hours, isFromJoining } = rules
  const window = clampIdleWindow(idleWindow)
  const sums = new Map<string, HourMinutes>()
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
