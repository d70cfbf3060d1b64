/** Counts the minutes of a person's heartbeats in workspaces, each minute once in each. */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { limits } from '../../../schemas/limits.js'
import { ApiError } from '../../errors.js'
import { groupBy } from '../../platform/process/maps.js'
import { HOURS } from '../../platform/time/days.js'
import {
  type AddedMinutes,
  capMinutes,
  type FlushTarget,
  knownOf,
  type MemberDay,
  type MemberDays,
  type RequestedDays,
  requireDay,
  sumOf,
} from '../minutes/index.js'
import type { Projects } from './project-names.js'
import type { Recording } from './recording.js'
import { type Candidate, type Counts, clampIdleWindow, dayOfHour, hourOf } from './timeline.js'

/** Minutes of a person that may count, and the rules for them. */
interface MinutesRequest {
  userId: string
  target: FlushTarget
  recording: Recording
  projects: Projects
  candidates: Candidate[]
  /** Whether all minutes count only from the day of joining a workspace. Those sent under a folder's name always do. */
  isFromJoining: boolean
}

/** A repository on a day in a workspace. */
export interface RepoDayKey {
  workspaceId: string
  day: string
  repoKey: string
}

/** The key of a repository in a workspace, among those of a day. */
export const workspaceRepoKey = ({ workspaceId, repoKey }: Omit<RepoDayKey, 'day'>): string =>
  `${workspaceId} ${repoKey}`

/** Minutes that count for a repository on a day in a workspace. */
export interface RepoDay extends RepoDayKey {
  /** In the order of the candidates. */
  minutes: number[]
}

/** A workspace where minutes may count, with these minutes and their days. */
export interface MinutesWorkspace extends RequestedDays {
  idleWindow: number
  own: (Candidate & { repoKey: string })[]
}

/** The workspaces where minutes may count. */
export interface TargetedMinutes {
  kind: 'targeted'
  workspaces: MinutesWorkspace[]
}

/** What's added in workspaces. */
export interface WorkspaceMinutes {
  /** How many minutes are added, in all workspaces together. */
  addedCount: number
  /** What to write, in a part for each workspace. */
  added: AddedMinutes[][]
}

interface CountedMinutes extends WorkspaceMinutes {
  /** Where minutes have counted, with those that count now. */
  countsAfter: Counts
  /** The hours in which a minute counts now that hasn't before. */
  hours: ReadonlySet<number>
}

/** Minutes that are too many for one request. */
export interface TooMany {
  kind: 'too large'
  what: 'rows' | 'minutes'
  count: number
}

/** Finds out where minutes may count. */
export const targetMinutes = async (request: MinutesRequest): Promise<TargetedMinutes | TooMany> => {
  const { userId, target, recording, projects, candidates, isFromJoining } = request
  const recorded = candidates.flatMap((candidate) => {
    const repoKey = projects.keyOf(candidate.project)
    return repoKey !== undefined && recording.isRecorded(hourOf(candidate.minute), repoKey)
      ? [{ ...candidate, repoKey }]
      : []
  })
  const dayOf = daysOfMinutes()
  const ofRepos = groupBy(recorded, ({ repoKey }) => repoKey)
  const daysOf = (own: Candidate[]) => new Set(own.map(({ minute }) => dayOf(minute)))
  const sizes = Array.from(
    ofRepos,
    ([repo, own]) => [repo, { minutes: own.length, days: daysOf(own).size }] as const,
  )
  // Checked before the work starts.
  const { rows, minutes } = sumOfSizes(target, new Map(sizes))
  if (rows > limits.flush_rows) return { kind: 'too large', what: 'rows', count: rows }
  if (minutes > limits.heartbeat_minutes) return { kind: 'too large', what: 'minutes', count: minutes }
  let work = await pauseAfter(candidates.length)
  const workspaces: TargetedMinutes['workspaces'] = []
  for (const { workspaceId, repoKeys, firstDay, joinedOn, idleWindow } of target.workspaces) {
    const matched = repoKeys.flatMap((repoKey) => ofRepos.get(repoKey) ?? [])
    const own = matched.filter(({ minute, project }) => {
      const day = dayOf(minute)
      return day >= firstDay && (day >= joinedOn || (!isFromJoining && projects.isRepo(project)))
    })
    if (own.length > 0) workspaces.push({ workspaceId, userId, days: daysOf(own), idleWindow, own })
    work = await pauseAfter(work + matched.length)
  }
  return { kind: 'targeted', workspaces }
}

/** @returns `payload_too_large` */
export const errorForTooMany = ({ what, count }: TooMany): ApiError => {
  const [name, limit] =
    what === 'rows'
      ? ['rows (one per repository, day and workspace)', limits.flush_rows]
      : ['minutes', limits.heartbeat_minutes]
  return new ApiError('payload_too_large', {
    detail: `This request would change up to ${count.toLocaleString('en')} ${name}. The limit is ${limit.toLocaleString('en')}. Send less in one request.`,
  })
}

/** Finds the minutes that count, each once in a workspace. */
export const findCountedMinutes = async (
  workspaces: readonly MinutesWorkspace[],
  countsBefore: Counts,
): Promise<{ countsAfter: Counts; repoDays: RepoDay[] }> => {
  const countsAfter = countsBefore.copy()
  const dayOf = daysOfMinutes()
  const repoDays: RepoDay[] = []
  let work = 0
  for (const { workspaceId, idleWindow: given, own } of workspaces) {
    const idleWindow = clampIdleWindow(given)
    const ofWorkspace = new Map<string, RepoDay>()
    for (const { minute, repoKey, gap } of own) {
      if (gap > idleWindow || countsAfter.hasCounted(workspaceId, minute)) continue
      if (!countsAfter.canCountFor(repoKey, minute)) continue
      countsAfter.count(workspaceId, minute, repoKey)
      const day = dayOf(minute)
      const key = `${day} ${repoKey}`
      const repoDay = ofWorkspace.get(key) ?? { workspaceId, day, repoKey, minutes: [] }
      ofWorkspace.set(key, repoDay)
      repoDay.minutes.push(minute)
    }
    repoDays.push(...ofWorkspace.values())
    work = await pauseAfter(work + own.length)
  }
  return { countsAfter, repoDays }
}

/** The rows with these minutes, as many as fit in their hours and days. @param members the days so far, which stay as they are */
export const rowsOfMinutes = async (
  { recording, projects }: Pick<MinutesRequest, 'recording' | 'projects'>,
  members: MemberDays<MinutesWorkspace>[],
  repoDays: readonly RepoDay[],
): Promise<AddedMinutes[][]> => {
  const { timezone } = recording
  const ofWorkspaces = groupBy(repoDays, ({ workspaceId }) => workspaceId)
  const added: AddedMinutes[][] = []
  let work = 0
  for (const { workspace, days } of members) {
    const { workspaceId, userId } = workspace
    const part: AddedMinutes[] = []
    /** The days that have changed, with the minutes so far. */
    const totals = new Map<string, MemberDay['total']>()
    for (const { minutes, day, repoKey } of ofWorkspaces.get(workspaceId) ?? []) {
      const memberDay = requireDay(days, day)
      const total = totals.get(day) ?? memberDay.total
      const { counted } = capMinutes(total, minutes.length, hoursOf(minutes))
      work = await pauseAfter(work + minutes.length)
      if (counted.minutes === 0) continue
      totals.set(day, sumOf(total, counted))
      const repo = projects.spellings.get(repoKey) ?? repoKey
      const known = knownOf(memberDay, repoKey, timezone)
      part.push({ workspaceId, userId, day, repo, repoKey, timezone, ...known, ...counted })
    }
    added.push(part)
  }
  return added
}

/** How many minutes of a day are in each UTC hour. */
const hoursOf = (minutes: readonly number[]): Record<string, number> => {
  const hours: Record<string, number> = {}
  for (const minute of minutes) {
    const hour = hourOf(minute) % HOURS
    hours[hour] = (hours[hour] ?? 0) + 1
  }
  return hours
}

export const sumOfRows = (added: readonly AddedMinutes[][]): number =>
  added.flat().reduce((sum, row) => sum + row.minutes, 0)

/** Counts minutes in workspaces. @param members the days so far, which stay as they are */
export const planMinutes = async (
  {
    recording,
    projects,
    countsBefore,
  }: Pick<MinutesRequest, 'recording' | 'projects'> & { countsBefore: Counts },
  { workspaces }: TargetedMinutes,
  members: MemberDays<MinutesWorkspace>[],
): Promise<CountedMinutes> => {
  const { countsAfter, repoDays } = await findCountedMinutes(workspaces, countsBefore)
  const added = await rowsOfMinutes({ recording, projects }, members, repoDays)
  const hours = new Set(repoDays.flatMap(({ minutes }) => minutes.map(hourOf)))
  return { countsAfter, hours, addedCount: sumOfRows(added), added }
}

/** How many minutes are processed before other requests run. */
export const PIECE_MINUTES = 1_000

/** @returns the work done since the last pause */
const pauseAfter = async (work: number): Promise<number> => {
  if (work < PIECE_MINUTES) return work
  await yieldToEventLoop()
  return 0
}

/** How many rows and minutes would change, in all workspaces together. */
const sumOfSizes = (
  { workspaces }: FlushTarget,
  sizes: ReadonlyMap<string, { minutes: number; days: number }>,
): { rows: number; minutes: number } => {
  let [rows, minutes] = [0, 0]
  for (const { repoKeys } of workspaces) {
    for (const repoKey of repoKeys) {
      rows += sizes.get(repoKey)?.days ?? 0
      minutes += sizes.get(repoKey)?.minutes ?? 0
    }
  }
  return { rows, minutes }
}

/** The distinct UTC days of minutes. */
const daysOfMinutes = () => {
  const names = new Map<number, string>()
  return (minute: number): string => {
    const hour = hourOf(minute)
    const day = names.get(hour) ?? dayOfHour(hour)
    names.set(hour, day)
    return day
  }
}
