/** Marks the minutes of heartbeats. */
import type { FlushTarget } from '../minutes/index.js'
import { type Batch, daysThatCount, type Ignored } from './batch.js'
import { markNameOf } from './project-names.js'
import type { Facts } from './read-facts.js'
import { recordedBy, zoneOf } from './recording.js'
import { type Candidate, dayOfHour, hourOf, type Timeline } from './timeline.js'

/** The outcome of heartbeats. */
export interface Recorded {
  accepted: number
  waiting: number
  /** Agents' heartbeats that were accepted or are waiting. */
  agents: number
  ignored: Ignored
  /** Minutes that count for no one, because their day has too many repositories that no workspace counts. */
  minutes_left_out: number
}

/** The outcome of a batch with no heartbeats left. */
export const nothingRecorded = ({ ignored }: Batch): Recorded => ({
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
  recorded: Recorded
  /** Repositories that were named in full, and may be remembered. */
  repos: string[]
  /** The time of each name's last heartbeat. */
  lastAt: ReadonlyMap<string, Date>
  /** The time of the newest heartbeat that counts in a workspace, or is waiting to. */
  newest: Date | undefined
  /** The minutes that may count now. */
  candidates: Candidate[]
}

/** Adds their minutes to the marks that are known. */
export const markHeartbeats = (facts: Facts, target: FlushTarget): Marked => {
  const { batch, projects, names, timeline: before, countsBefore } = facts
  const { canWait } = names
  const { heartbeats } = batch
  const timeline = before.copy()
  const isRecorded = recordedBy(target, zoneOf(target, batch.timezone))
  /** By repository: the first day on which some workspace matches. */
  const matched = new Map<string, string>()
  for (const { repoKeys, firstDay } of target.workspaces)
    for (const repoKey of repoKeys) {
      const known = matched.get(repoKey)
      if (known === undefined || firstDay < known) matched.set(repoKey, firstDay)
    }
  const { first, last } = daysThatCount(target.today)

  const recorded = nothingRecorded(batch)
  const marked: number[] = []
  const repos: string[] = []
  const lastAt = new Map<string, Date>()
  let newest: Date | undefined
  for (const { time, minute, project, isOfAgent } of heartbeats) {
    const name = markNameOf(project)
    const repoKey = projects.keyOf(name)
    const day = dayOfHour(hourOf(minute))
    if (day < first || day > last) {
      recorded.ignored.day++
      continue
    }
    const isIgnored = repoKey === undefined && !canWait.has(name)
    if (isIgnored || !isRecorded(hourOf(minute), repoKey)) {
      recorded.ignored.recording_off++
      continue
    }
    if (project.repo !== undefined) repos.push(project.repo)
    const firstDay = repoKey === undefined ? undefined : matched.get(repoKey)
    const isMatched = firstDay !== undefined && day >= firstDay
    // Names are marked regardless of patterns, so that no admin can change what their owner sees.
    const isForNoWorkspace = project.repo !== undefined && !isMatched
    if (isForNoWorkspace) recorded.ignored.repo++
    const at = new Date(time * 1_000)
    if (project.name !== undefined) lastAt.set(name, at)
    if (isOfAgent) {
      if (isForNoWorkspace) continue
      recorded.agents++
      timeline.agents.mark(time, name)
      continue
    }
    if (!isForNoWorkspace) {
      recorded[isMatched ? 'accepted' : 'waiting']++
      newest = at
    }
    const isNew = timeline.mark(time, name)
    // A heartbeat from before its person joined a workspace counts there when it's sent again.
    const canCount = project.repo !== undefined && !countsBefore.hasCountedAnywhere(minute)
    if (isNew || canCount) marked.push(minute)
  }
  const candidates = [...timeline.around(marked)]
  return { timeline, recorded, repos, lastAt, newest, candidates }
}
