/** A flush's changes, computed from what's known about the person. */
import type { ActivityEntry, FlushNote, FlushResult } from '../../../schemas/activity.js'
import { limits } from '../../../schemas/limits.js'
import { ApiError } from '../../errors.js'
import { requireValue } from '../../platform/process/maps.js'
import { addDays } from '../../platform/time/days.js'
import { nextTimezone } from '../accounts/index.js'
import type { FlushTarget } from '../recording/index.js'
import { recordedHoursOf, recordedPart } from '../recording/index.js'
import type { Minutes } from './caps.js'
import { toLocalDays } from './local-days.js'
import { MAX_REPOS, OWN_TIME, type PersonDays, type Refusal, type RequestedDays } from './person-days.js'

export interface Flush {
  userId: string
  id: string | undefined
  entries: Entry[]
  timezone: string | undefined
  bodyHash: string
}

interface Entry {
  repo: string
  /** In lower case. */
  repoKey: string
  /** A UTC day. */
  day: string
  minutes: number
  /** By UTC hour. */
  hours: ActivityEntry['hours']
}

/** An entry without the part that's in the future, or that the person excludes from recording. */
interface CountableEntry extends Entry {
  /** The part that's left, by local day. */
  days: ReadonlyMap<string, Minutes>
  /** Why some of it doesn't count, or nothing. */
  cut: 'none' | 'in_future' | 'recording_off'
  isEmpty: boolean
  isExcluded: boolean
}

/** A workspace that matches. */
interface FlushWorkspace {
  workspaceId: string
  repoKeys: ReadonlySet<string>
  /** The first day that counts. */
  firstDay: string
}

/** A flush, and where it counts. */
export interface TargetedFlush extends RequestedDays {
  flush: Flush
  entries: CountableEntry[]
  /** The first and the last UTC day that still count. */
  window: readonly [string, string]
  /** By id. */
  matching: FlushWorkspace[]
  /** How many rows it may change. */
  rows: number
  /** Whether the flush names another time zone than the stored one. */
  hasNewTimezone: boolean
}

/** Uses the memberships in the target: a removal since it was read counts as later than this flush. */
export const targetFlush = (flush: Flush, target: FlushTarget): TargetedFlush => {
  const { userId } = flush
  const next = nextTimezone(target, flush.timezone)
  const timezone = next ?? 'UTC'
  const window = [addDays(target.today, -limits.flush_days_back), addDays(target.today, 1)] as const
  const isInTime = ({ day }: Entry) => day >= window[0] && day <= window[1]
  const rows = countRows(flush.entries.filter(isInTime), target)
  const entries = countableEntries(flush, target, timezone)
  const counting = entries.filter((entry) => !entry.isEmpty && isInTime(entry))
  const matching = target.workspaces.map(({ workspaceId, repoKeys, firstDay }) => ({
    workspaceId,
    repoKeys: new Set(repoKeys),
    firstDay,
  }))
  const daysIn = (workspace: FlushWorkspace) =>
    new Set(counting.flatMap((entry) => (isMatched(entry, workspace) ? [...entry.days.keys()] : [])))
  const workspaces = new Map(
    matching
      .map((workspace) => [workspace.workspaceId, daysIn(workspace)] as const)
      .filter(([, days]) => days.size > 0),
  )
  const ownDays = new Set([...workspaces.values()].flatMap((days) => [...days]))
  const hasNewTimezone = next !== target.timezone
  return { userId, timezone, workspaces, ownDays, flush, entries, window, matching, rows, hasNewTimezone }
}

/** Each day of a repository is one row in each matching workspace. */
const countRows = (entries: Entry[], { workspaces }: FlushTarget): number => {
  const daysOf = new Map<string, Set<string>>()
  for (const { day, repoKey } of entries) daysOf.set(repoKey, (daysOf.get(repoKey) ?? new Set()).add(day))
  let rows = 0
  for (const { repoKeys } of workspaces) {
    for (const repoKey of repoKeys) rows += daysOf.get(repoKey)?.size ?? 0
  }
  return rows
}

/** @returns `payload_too_large` */
export const errorForRows = ({ rows, matching }: TargetedFlush): ApiError => {
  const entriesThatFit = Math.floor(limits.flush_rows / matching.length)
  return new ApiError('payload_too_large', {
    detail: `This flush would change ${rows} rows (one per repository and day in each of the ${matching.length} workspaces that match). The limit is ${limits.flush_rows}. Send at most ${entriesThatFit} entries in a flush.`,
  })
}

const countableEntries = (
  flush: Flush,
  { now, today, recording }: FlushTarget,
  timezone: string,
): CountableEntry[] => {
  const reposOff = new Set(recording?.reposOff)
  const latest = now + limits.future_minutes * MINUTE_MS
  return flush.entries.map((entry) => {
    const { repoKey, day, hours = {} } = entry
    const begun = begunPart(entry, latest, today)
    const isOff = recording !== undefined && (recording.paused || reposOff.has(repoKey))
    const isRecorded =
      recording?.hours && entry.hours ? recordedHoursOf(recording.hours, timezone, day) : undefined
    const part = isRecorded ? recordedPart(begun.minutes, begun.hours, isRecorded) : begun
    const cut =
      part.minutes < begun.minutes ? 'recording_off' : begun.minutes < entry.minutes ? 'in_future' : 'none'
    return {
      ...entry,
      hours,
      days: isOff ? new Map() : toLocalDays(timezone, day, part),
      cut,
      isEmpty: isOff || part.minutes === 0,
      isExcluded: isOff || (cut === 'recording_off' && part.minutes === 0),
    }
  })
}

const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000

/** The part of an entry whose hours have begun. Minutes without an hour have, unless their day is after today. */
const begunPart = (
  { day, minutes, hours = {} }: Entry,
  latest: number,
  today: string,
): { minutes: number; hours: Record<string, number> } => {
  const midnight = Date.parse(day)
  const begun: Record<string, number> = {}
  let later = 0
  let inHours = 0
  for (const [hour, inHour] of Object.entries(hours)) {
    inHours += inHour
    if (midnight + Number(hour) * HOUR_MS <= latest) begun[hour] = inHour
    else later += inHour
  }
  if (day > today) later += minutes - inHours
  return { minutes: minutes - later, hours: begun }
}

/**
 * Counts the entries in order: each gets what the earlier ones have left of the caps.
 * @param days the person's days so far, which it changes
 */
export const planFlush = (
  { flush, entries, window, matching }: TargetedFlush,
  days: PersonDays,
): FlushResult => {
  // In the original spelling.
  const names = new Map(flush.entries.toReversed().map(({ repoKey, repo }) => [repoKey, repo]))
  const notes: FlushNote[] = []
  for (const [index, entry] of entries.entries()) {
    const rejection = rejectionOf(entry, window, matching)
    if (rejection !== 'none') {
      notes.push({ index, status: 'ignored', code: rejection })
      continue
    }
    if (entry.minutes === 0) continue
    const repo = { key: entry.repoKey, name: requireValue(names, entry.repoKey) }
    const places = matching.filter((workspace) => isMatched(entry, workspace))
    const refusals: Refusal[] = []
    let counted = 0
    for (const [day, minutes] of entry.days) {
      let countedOfDay = 0
      for (const { workspaceId } of places) {
        const added = days.at(workspaceId, day).add(repo, minutes, MAX_REPOS)
        refusals.push(added.refusal)
        countedOfDay += added.counted
      }
      if (countedOfDay > 0) days.at(OWN_TIME, day).add(repo, minutes, ANY_NUMBER)
      counted += countedOfDay
    }
    const code = entry.cut === 'none' ? strictest(refusals) : entry.cut
    if (code === 'none') continue
    notes.push({ index, status: code === 'too_many_repos' && counted === 0 ? 'ignored' : 'capped', code })
  }
  return toResponse(entries.length, notes)
}

/** In own time, repositories that a workspace counts have no limit of their own. */
const ANY_NUMBER = Number.POSITIVE_INFINITY

/** Why an entry counts nowhere. */
const rejectionOf = (
  entry: CountableEntry,
  [first, last]: TargetedFlush['window'],
  matching: readonly FlushWorkspace[],
): 'none' | 'day_out_of_window' | 'recording_off' | 'repo_not_matched' | 'in_future' => {
  if (entry.day < first || entry.day > last) return 'day_out_of_window'
  if (entry.isExcluded) return 'recording_off'
  if (!matching.some((workspace) => isMatched(entry, workspace))) return 'repo_not_matched'
  return entry.minutes > 0 && entry.isEmpty ? 'in_future' : 'none'
}

const isMatched = (
  { day, repoKey }: Entry,
  { firstDay, repoKeys }: Pick<FlushWorkspace, 'firstDay' | 'repoKeys'>,
): boolean => day >= firstDay && repoKeys.has(repoKey)

/** In the order of precedence. */
const REFUSALS = ['too_many_repos', 'hour_full', 'day_full'] as const

/** The strictest refusal among several places and days. */
const strictest = (refusals: readonly Refusal[]): Refusal =>
  REFUSALS.find((refusal) => refusals.includes(refusal)) ?? 'none'

const toResponse = (total: number, notes: FlushNote[]): FlushResult => {
  const capped = notes.filter(({ status }) => status === 'capped').length
  const ignored = notes.length - capped
  return { accepted: total - capped - ignored, capped, ignored, duplicate: false, notes }
}
