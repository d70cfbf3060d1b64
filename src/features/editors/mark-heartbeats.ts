/** Marks the minutes of heartbeats. */
import { dayOf, localHourOf } from '../../platform/time/local-hours.js'
import type { FlushTarget } from '../recording/index.js'
import { type Batch, type Heartbeat, type Ignored, timesThatCount } from './batch.js'
import { markNameOf } from './project-names.js'
import type { Facts } from './read-facts.js'
import type { Recording } from './recording.js'
import { hourOf, minutesAround, type Owned, type Timeline } from './timeline.js'

/** The outcome of heartbeats. */
export interface RecordingResult {
  accepted: number
  waiting: number
  /** Agents' heartbeats that were accepted or are waiting. */
  agents: number
  ignored: Ignored
  /** Minutes that count for no one, because their day has too many repositories that no workspace counts. */
  minutes_left_out: number
}

/** The outcome of a batch with no heartbeats left. */
export const nothingRecorded = ({ ignored }: Batch): RecordingResult => ({
  accepted: 0,
  waiting: 0,
  agents: 0,
  ignored: { ...ignored },
  minutes_left_out: 0,
})

/** Heartbeats whose minutes are marked, but haven't counted yet. */
export interface Marked {
  /** The hours in which a mark is new, or has changed. */
  hours: ReadonlySet<number>
  recorded: RecordingResult
  /** Repositories that were named in full, and may be remembered. */
  repos: string[]
  /** Whether a repository that counts nowhere has to wait with the names for the first time. */
  hasNewRepos: boolean
  /** The time of the last heartbeat of each name, and of each repository that counts nowhere. */
  lastAt: ReadonlyMap<string, Date>
  /** The time of the newest heartbeat that counts in a workspace, or is waiting to. */
  newest: Date | undefined
  /** The person's minutes that may count differently now. */
  owned: Owned[]
  /** Those that had another owner. */
  moved: ReadonlySet<number>
  /** The marks as they were. */
  before: Timeline
}

/** Adds the heartbeats' minutes to the known marks, which it changes. */
export const markHeartbeats = (facts: Facts, target: FlushTarget, recording: Recording): Marked => {
  const { batch, timeline, counts } = facts
  const rules = { facts, recording, times: timesThatCount(target), matched: firstMatchingDays(target) }
  const all = batch.heartbeats.map((heartbeat) => ({ ...heartbeat, fate: fateOf(heartbeat, rules) }))
  const kept = all.filter(({ fate }) => fate !== 'other day' && fate !== 'not recorded')
  // Repositories that count nowhere wait for an assignment, as names do.
  const isListed = ({ project, isOfAgent, fate }: (typeof kept)[number]) =>
    project.name !== undefined ||
    (fate === 'no workspace' && !isOfAgent) ||
    facts.projects.isChosen(markNameOf(project))
  const named = kept.filter(isListed)
  const newest = kept.findLast(({ isOfAgent, fate }) => !isOfAgent && fate !== 'no workspace')

  const before = { own: timeline.own.copy(), agents: timeline.agents.copy() }
  const hours = new Set<number>()
  const changed: number[] = []
  // Heartbeats from before their person joined a workspace count there when they're sent again.
  const sentAgain: number[] = []
  for (const { time, minute, project, isOfAgent, fate } of kept) {
    if (isOfAgent && fate === 'no workspace') continue
    const isNew = (isOfAgent ? timeline.agents : timeline.own).mark(time, markNameOf(project))
    if (isNew) {
      hours.add(hourOf(minute))
      counts.localHourOf(minute, (hour) => localHourOf(recording.timezone, hour))
    }
    if (isOfAgent) continue
    if (isNew) changed.push(minute)
    else if (project.repo !== undefined && counts.workspacesOf(minute).length === 0) sentAgain.push(minute)
  }
  const again = minutesAround(sentAgain)
  const moved = new Set<number>()
  const owned = [...timeline.own.ownersOf(new Set([...minutesAround(changed), ...again]))].filter((owner) => {
    const { minute, project, gap } = owner
    const known = before.own.ownerOf(minute)
    if (known && known.project !== project) moved.add(minute)
    const isSame = known?.project === project && known.gap === gap
    return !isSame || (again.has(minute) && counts.workspacesOf(minute).length === 0)
  })
  return {
    hours,
    recorded: countFates(batch, all),
    repos: kept.flatMap(({ project: { repo } }) =>
      repo !== undefined && facts.projects.isRepo(repo.toLowerCase()) ? [repo] : [],
    ),
    hasNewRepos: named.some(
      ({ project }) => project.repo !== undefined && !facts.projects.isListed(markNameOf(project)),
    ),
    lastAt: new Map(named.map(({ project, time }) => [markNameOf(project), toDate(time)])),
    newest: newest && toDate(newest.time),
    owned,
    moved,
    before,
  }
}

/** @param time seconds since 1970 */
const toDate = (time: number): Date => new Date(time * 1_000)

/** What becomes of a heartbeat. */
type Fate =
  /** Too old, or in the future. */
  | 'other day'
  /** Recording is off for it, or its name is ignored. */
  | 'not recorded'
  /** A repository that no workspace of the person matches. */
  | 'no workspace'
  /** A name whose repository isn't known, or isn't matched by a workspace. */
  | 'waiting'
  | 'accepted'

interface Rules {
  facts: Facts
  recording: Recording
  times: ReturnType<typeof timesThatCount>
  /** The first day on which some workspace matches, by repository. */
  matched: ReadonlyMap<string, string>
}

const fateOf = ({ time, minute, project }: Heartbeat, { facts, recording, times, matched }: Rules): Fate => {
  const day = dayOf(hourOf(minute))
  if (day < times.firstDay || time > times.latest) return 'other day'
  const name = markNameOf(project)
  const repoKey = facts.projects.keyOf(name)
  const isIgnored =
    facts.projects.isIgnored(name) || (repoKey === undefined && !facts.names.canWait.has(name))
  if (isIgnored || !recording.isRecorded(hourOf(minute), repoKey)) return 'not recorded'
  const firstDay = repoKey === undefined ? undefined : matched.get(repoKey)
  if (firstDay !== undefined && day >= firstDay) return 'accepted'
  // Names wait regardless of patterns, so that no admin can change what their owner sees.
  return project.repo === undefined ? 'waiting' : 'no workspace'
}

const countFates = (
  batch: Batch,
  heartbeats: readonly { fate: Fate; isOfAgent: boolean }[],
): RecordingResult => {
  const recorded = nothingRecorded(batch)
  for (const { fate, isOfAgent } of heartbeats) {
    if (fate === 'other day') recorded.ignored.day++
    else if (fate === 'not recorded') recorded.ignored.recording_off++
    else if (fate === 'no workspace') recorded.ignored.repo++
    else if (isOfAgent) recorded.agents++
    else recorded[fate]++
  }
  return recorded
}

const firstMatchingDays = ({ workspaces }: FlushTarget): ReadonlyMap<string, string> => {
  const days = new Map<string, string>()
  for (const { repoKeys, firstDay } of workspaces)
    for (const repoKey of repoKeys) {
      const known = days.get(repoKey)
      if (known === undefined || firstDay < known) days.set(repoKey, firstDay)
    }
  return days
}
