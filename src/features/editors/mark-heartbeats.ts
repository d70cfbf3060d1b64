/** Marks the minutes of heartbeats. */
import type { FlushTarget } from '../minutes/index.js'
import { type Batch, daysThatCount, type Heartbeat, type Ignored } from './batch.js'
import { markNameOf } from './project-names.js'
import type { Facts } from './read-facts.js'
import type { Recording } from './recording.js'
import { type Candidate, dayOfHour, hourOf, type Timeline } from './timeline.js'

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
  /** The known marks and the new ones. */
  timeline: Timeline
  /** The hours in which a mark is new, or has changed. */
  hours: ReadonlySet<number>
  recorded: RecordingResult
  /** Repositories that were named in full, and may be remembered. */
  repos: string[]
  /** The time of each name's last heartbeat. */
  lastAt: ReadonlyMap<string, Date>
  /** The time of the newest heartbeat that counts in a workspace, or is waiting to. */
  newest: Date | undefined
  /** The minutes that may count now. */
  candidates: Candidate[]
}

/** Adds the heartbeats' minutes to the marks that are known. */
export const markHeartbeats = (facts: Facts, target: FlushTarget, recording: Recording): Marked => {
  const { batch, timeline: before, countsBefore } = facts
  const rules = { facts, recording, days: daysThatCount(target.today), matched: firstMatchingDays(target) }
  const all = batch.heartbeats.map((heartbeat) => ({ ...heartbeat, fate: fateOf(heartbeat, rules) }))
  const kept = all.filter(({ fate }) => fate !== 'other day' && fate !== 'not recorded')
  const named = kept.filter(({ project }) => project.name !== undefined)
  const newest = kept.findLast(({ isOfAgent, fate }) => !isOfAgent && fate !== 'no workspace')

  const toMark = kept.filter(({ isOfAgent, fate }) => !isOfAgent || fate !== 'no workspace')
  const timeline = before.copy()
  const hours = new Set<number>()
  const marked: number[] = []
  for (const { time, minute, project, isOfAgent } of toMark) {
    const mark = (isOfAgent ? timeline.agents : timeline).mark(time, markNameOf(project))
    if (mark !== 'unchanged') hours.add(hourOf(minute))
    // A heartbeat from before its person joined a workspace counts there when it's sent again.
    const canCount = project.repo !== undefined && !countsBefore.hasCountedAnywhere(minute)
    if (!isOfAgent && (mark === 'new' || canCount)) marked.push(minute)
  }
  return {
    timeline,
    hours,
    recorded: countFates(batch, all),
    repos: kept.flatMap(({ project }) => project.repo ?? []),
    lastAt: new Map(named.map(({ project, time }) => [markNameOf(project), toDate(time)])),
    newest: newest && toDate(newest.time),
    candidates: [...timeline.around(marked)],
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
  days: ReturnType<typeof daysThatCount>
  /** The first day on which some workspace matches, by repository. */
  matched: ReadonlyMap<string, string>
}

const fateOf = ({ minute, project }: Heartbeat, { facts, recording, days, matched }: Rules): Fate => {
  const day = dayOfHour(hourOf(minute))
  if (day < days.first || day > days.last) return 'other day'
  const name = markNameOf(project)
  const repoKey = facts.projects.keyOf(name)
  const isIgnored = repoKey === undefined && !facts.names.canWait.has(name)
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
