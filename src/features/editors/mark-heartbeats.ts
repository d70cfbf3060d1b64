/** Marks the minutes of heartbeats. */
import { limits } from '../../../schemas/limits.js'
import { addDays } from '../../platform/time/days.js'
import { dayOfHour, recordedBy, zoneOf } from './count-minutes.js'
import type { Heartbeat, Sent } from './heartbeat.js'
import { secondsOf } from './parsing/time.js'
import { isOfAgent, isRepo, type ProjectHost, projectOf, type SentHeartbeat } from './project-names.js'
import type { Known } from './read-known.js'
import { hourOf } from './timeline.js'

const MINUTE_SECONDS = 60

/** Heartbeats that don't count, by reason. */
interface Ignored {
  /** No time that can be read. */
  time: number
  /** No project. */
  project: number
  /** Too old, or in the future. */
  day: number
  /** Switched off by the person, or an ignored name. */
  recording_off: number
  /** A repository that no workspace of the person matches. The minutes count only for the person. */
  repo: number
}

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

export const nothing = (): Recorded => ({
  accepted: 0,
  waiting: 0,
  agents: 0,
  ignored: { time: 0, project: 0, day: 0, recording_off: 0, repo: 0 },
  minutes_left_out: 0,
})

/** The heartbeats with a time and a project, oldest first, and how many lack one. */
export const heartbeatsOf = (sent: readonly SentHeartbeat[], host: ProjectHost) => {
  const heartbeats: Heartbeat[] = []
  const lacking = { time: 0, project: 0 }
  for (const one of sent) {
    const time = secondsOf(one.time)
    const project = projectOf(one, host)
    if (time === undefined) lacking.time++
    else if (!project) lacking.project++
    else
      heartbeats.push({ time, minute: Math.floor(time / MINUTE_SECONDS), project, isOfAgent: isOfAgent(one) })
  }
  return { heartbeats: heartbeats.sort((a, b) => a.time - b.time), lacking }
}

/** Marks their minutes in the timeline. */
export const markHeartbeats = ({ sent, projects, mayWait, timeline, target }: Known<Sent>) => {
  const { heartbeats, kind, isFromJoining } = sent
  const isRecorded = recordedBy(target, zoneOf(target, sent.timezone))
  /** By repository: the first day on which some workspace matches. */
  const matched = new Map<string, string>()
  for (const { repoKeys, firstDay } of target.workspaces)
    for (const repoKey of repoKeys) {
      const known = matched.get(repoKey)
      if (known === undefined || firstDay < known) matched.set(repoKey, firstDay)
    }
  const [first, last] = [addDays(target.today, -limits.flush_days_back), addDays(target.today, 1)]

  const recorded = nothing()
  const marked: number[] = []
  const repos: string[] = []
  const lastAt = new Map<string, Date>()
  let newest: Date | undefined
  for (const { time, minute, project, isOfAgent } of heartbeats) {
    const name = projects.add(project)
    const repoKey = projects.keyOf(name)
    const day = dayOfHour(hourOf(minute))
    if (day < first || day > last) {
      recorded.ignored.day++
      continue
    }
    const isIgnored = repoKey === undefined && !mayWait.has(name)
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
    const mayCount = project.repo !== undefined && !timeline.hasCountedAnywhere(minute)
    if (isNew || mayCount) marked.push(minute)
  }
  return {
    recorded,
    /** Repositories that were named in full, and may be remembered. */
    repos,
    lastAt,
    newest,
    candidates: [...timeline.around(marked)],
    // Minutes sent under a folder's name count only from the day of joining.
    fromJoining: (project: string) => isFromJoining || !isRepo(project, kind),
  }
}
