/** A flush's changes, computed from what's known about the person. */
import type { ActivityEntry, FlushNote, FlushResult } from '../../../schemas/activity.js'
import { limits } from '../../../schemas/limits.js'
import { ApiError } from '../../errors.js'
import { requireValue } from '../../platform/process/maps.js'
import { addDays } from '../../platform/time/days.js'
import { nextTimezone } from '../accounts/index.js'
import { type Cut, capMinutes, type MemberDay, type Minutes, requireDay, sumOf } from './caps.js'
import { knownOf, type MemberDays } from './member-days.js'
import type { FlushTarget } from './queries/flush-target.js'
import type { AddedMinutes, RequestedDays } from './queries/minutes.js'
import { recordedHoursOf, recordedPart } from './recorded-hours.js'

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
  day: string
  minutes: number
  hours: ActivityEntry['hours']
}

/** An entry without the part that the person excludes from recording. */
interface RecordedEntry extends Entry {
  /** How much is left. */
  recorded: 'all' | 'part' | 'none'
}

/** A workspace that matches, with the days that may get minutes. */
export interface FlushWorkspace extends RequestedDays {
  repoKeys: ReadonlySet<string>
  /** The first day that counts. */
  firstDay: string
}

/** A flush, and where it counts. */
export interface TargetedFlush {
  kind: 'targeted'
  userId: string
  flush: Flush
  entries: RecordedEntry[]
  /** The first and the last day that still count. */
  window: readonly [string, string]
  /** By id. */
  workspaces: FlushWorkspace[]
  /** How many rows it may change. */
  rows: number
  /** The person's time zone, in which the minutes are recorded. */
  timezone: string
  /** Whether the flush changes it. */
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
  const entries = recordedOf(flush, target, timezone)
  const counting = entries.filter((entry) => entry.minutes > 0 && isInTime(entry))
  const workspaces = target.workspaces.map(({ workspaceId, repoKeys: matched, firstDay }) => {
    const repoKeys = new Set(matched)
    const own = counting.filter((entry) => isMatched(entry, { repoKeys, firstDay }))
    return { workspaceId, userId, repoKeys, firstDay, days: new Set(own.map(({ day }) => day)) }
  })
  const hasNewTimezone = next !== target.timezone
  return { kind: 'targeted', userId, flush, entries, window, workspaces, rows, timezone, hasNewTimezone }
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

/** @throws {ApiError} `payload_too_large` */
export const requireRowLimit = ({ rows, workspaces }: TargetedFlush): void => {
  if (rows <= limits.flush_rows) return
  const entriesThatFit = Math.floor(limits.flush_rows / workspaces.length)
  throw new ApiError('payload_too_large', {
    detail: `This flush would change ${rows} rows (one per repository and day in each of the ${workspaces.length} workspaces that match). The limit is ${limits.flush_rows}. Send at most ${entriesThatFit} entries in a flush.`,
  })
}

const recordedOf = (flush: Flush, { recording }: FlushTarget, timezone: string): RecordedEntry[] => {
  const reposOff = new Set(recording?.reposOff)
  return flush.entries.map((entry) => {
    const { repoKey, day, minutes, hours } = entry
    if (!recording) return withPart(entry, 'all', entry)
    if (recording.paused || reposOff.has(repoKey)) return withPart(entry, 'none', { minutes: 0, hours: {} })
    if (!recording.hours || !hours) return withPart(entry, 'all', entry)
    const kept = recordedPart(minutes, hours, recordedHoursOf(recording.hours, timezone, day))
    if (kept.minutes === minutes) return withPart(entry, 'all', entry)
    return withPart(entry, kept.minutes === 0 ? 'none' : 'part', kept)
  })
}

/** Lists its properties, because copying an entry with `...` would double the time that it takes to plan a flush. */
const withPart = (
  { repo, repoKey, day }: Entry,
  recorded: RecordedEntry['recorded'],
  { minutes, hours }: Pick<Entry, 'minutes' | 'hours'>,
): RecordedEntry => ({ repo, repoKey, day, minutes, hours, recorded })

/** A member's day in one workspace, as the entries change it. */
interface PlannedDay {
  before: MemberDay
  /** With the entries so far. */
  total: Readonly<Minutes>
  /** What they add, by repository. */
  rows: Map<string, AddedMinutes>
}

/** A member's days in one workspace, as the entries change them. */
interface PlannedMember {
  workspace: FlushWorkspace
  days: ReadonlyMap<string, PlannedDay>
}

const toPlanned = ({ workspace, days }: MemberDays<FlushWorkspace>): PlannedMember => ({
  workspace,
  days: new Map(
    Array.from(days, ([day, before]): [string, PlannedDay] => [
      day,
      { before, total: before.total, rows: new Map() },
    ]),
  ),
})

/**
 * Counts the entries in order: each gets what the earlier ones have left of the caps.
 * @param members the days so far, which stay as they are
 */
export const planFlush = (
  { flush, entries, window, timezone }: TargetedFlush,
  members: readonly MemberDays<FlushWorkspace>[],
): { response: FlushResult; added: AddedMinutes[] } => {
  // In the original spelling.
  const names = new Map(flush.entries.toReversed().map(({ repoKey, repo }) => [repoKey, repo]))
  const notes: FlushNote[] = []
  const planned = members.map(toPlanned)
  for (const [index, entry] of entries.entries()) {
    const refusal = rejectionOf(entry, window, planned)
    if (refusal !== 'none') {
      notes.push({ index, status: 'ignored', code: refusal })
      continue
    }
    if (entry.minutes === 0) continue
    const repo = requireValue(names, entry.repoKey)
    const cuts: Cut[] = []
    for (const member of planned) {
      if (!isMatched(entry, member.workspace)) continue
      const cut = addEntry(member, entry, repo, timezone)
      cuts.push(cut)
    }
    const code = entry.recorded === 'part' ? 'recording_off' : strictest(cuts)
    if (code !== 'none') notes.push({ index, status: 'capped', code })
  }
  const added = planned.flatMap(({ days }) => [...days.values()].flatMap(({ rows }) => [...rows.values()]))
  return { response: toResponse(entries.length, notes), added }
}

/** Adds what fits of an entry to a workspace. @returns what cut it */
const addEntry = (
  { workspace: { workspaceId, userId }, days }: PlannedMember,
  { repoKey, day, minutes, hours }: RecordedEntry,
  repo: string,
  timezone: string,
): Cut => {
  const plannedDay = requireDay(days, day)
  const { before, total, rows } = plannedDay
  const { counted, cut } = capMinutes(total, minutes, hours)
  if (counted.minutes === 0) return cut
  plannedDay.total = sumOf(total, counted)
  const row = rows.get(repoKey)
  const known = knownOf(before, repoKey, timezone)
  const sum = row ? sumOf(row, counted) : counted
  rows.set(repoKey, { workspaceId, userId, day, repo, repoKey, timezone, ...known, ...sum })
  return cut
}

/** Why an entry counts nowhere. */
const rejectionOf = (
  entry: RecordedEntry,
  [first, last]: TargetedFlush['window'],
  members: readonly PlannedMember[],
): 'none' | 'day_out_of_window' | 'recording_off' | 'repo_not_matched' => {
  if (entry.day < first || entry.day > last) return 'day_out_of_window'
  if (entry.recorded === 'none') return 'recording_off'
  if (!members.some(({ workspace }) => isMatched(entry, workspace))) return 'repo_not_matched'
  return 'none'
}

const isMatched = (
  { day, repoKey }: Entry,
  { firstDay, repoKeys }: Pick<FlushWorkspace, 'firstDay' | 'repoKeys'>,
): boolean => day >= firstDay && repoKeys.has(repoKey)

/** The strictest cut among several workspaces. */
const strictest = (cuts: Cut[]): Cut =>
  cuts.includes('hour_full') ? 'hour_full' : cuts.includes('day_full') ? 'day_full' : 'none'

const toResponse = (total: number, notes: FlushNote[]): FlushResult => {
  const capped = notes.filter(({ status }) => status === 'capped').length
  const ignored = notes.length - capped
  return { accepted: total - capped - ignored, capped, ignored, duplicate: false, notes }
}
