import { createHash } from 'node:crypto'
import type { ActivityEntry, FlushBody, FlushNote, FlushResult } from '../../../schemas/activity.js'
import { limits } from '../../../schemas/limits.js'
import { ApiError, invalid } from '../../errors.js'
import type { Database, Db, Tx } from '../../platform/database/client.js'
import { addDays, HOURS } from '../../platform/time/days.js'
import { type ReposToRemember, reposToRemember } from '../accounts/index.js'
import type { Cut, MemberDay } from './caps.js'
import { canonicalTimezone } from './heatmap.js'
import { addMemberDays, lockMemberDays, readTarget } from './member-days.js'
import type { FlushTarget, MatchingWorkspace } from './queries/flush-target.js'
import { changeTimezone, rememberFlush } from './queries/minutes.js'
import { recordedHoursOf, recordedPart } from './recording.js'

/**
 * Counts a client's minutes in every workspace that matches, once per `flush_id`, within the limits of an hour and a
 * day and to what the person lets be recorded. Costs the same number of statements for one entry and for 200.
 * @throws {ApiError} `invalid_timezone`, `flush_id_reused`, `validation_failed` for hours that exceed their minutes,
 * `payload_too_large` for what would change too many rows
 */
export const recordActiveMinutes = async (
  database: Database,
  userId: string,
  body: FlushBody,
): Promise<FlushResult> => {
  body.entries.forEach(checkHours)
  const timezone = body.timezone === undefined ? undefined : canonicalTimezone(body.timezone)
  if (body.timezone !== undefined && timezone === undefined) throw new ApiError('invalid_timezone')
  const flush: Flush = {
    userId,
    id: body.flush_id,
    entries: body.entries.map(({ repo, day, minutes, hours }) => ({
      repo,
      repoKey: repo.toLowerCase(),
      day,
      minutes,
      hours,
    })),
    timezone,
    bodyHash: hashOf(body),
  }

  let named: ReposToRemember | undefined
  const result = await database.transaction(
    async (tx) => {
      const target = await readTargetOf(tx, flush)
      const known = answerFrom(target, flush)
      if (known) return known
      const recorded = recordedOf(flush, target)
      const repos = recorded.entries.flatMap(({ repo, off }) => (off === 'all' ? [] : [repo]))
      const counted = await count(tx, recorded, target)
      // After the locks of activity, so that no other flush waits for this row behind them.
      named = reposToRemember(database, userId, repos)
      await named.write(tx)
      return counted
    },
    // The same flush may be running twice, and a workspace may be deleted meanwhile.
    { readsFirst: true, rowsMayConflict: true },
  )
  named?.committed()
  return result
}

interface Flush {
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
  /** Entries that the person excludes from recording. They are removed. */
  off?: 'part' | 'all'
}

const readTargetOf = async (db: Db, flush: Flush): Promise<FlushTarget> => {
  const repoKeys = new Set(flush.entries.map(({ repoKey }) => repoKey))
  const target = await readTarget(db, flush.userId, repoKeys, flush.id)
  if (!target.known) checkRows(flush, target)
  return target
}

/** The answer to a flush that has been counted before. */
const answerFrom = ({ known }: FlushTarget, { bodyHash }: Flush): FlushResult | undefined => {
  if (!known) return undefined
  if (known.bodyHash !== bodyHash) throw new ApiError('flush_id_reused')
  return { ...(JSON.parse(known.answer) as FlushResult), duplicate: true }
}

/** The flush without what the person does not let be recorded. */
const recordedOf = (flush: Flush, { recording, timezone }: FlushTarget): Flush => {
  if (!recording) return flush
  const reposOff = new Set(recording.reposOff)
  const zone = flush.timezone ?? timezone ?? 'UTC'
  const entries = flush.entries.map((entry): Entry => {
    if (recording.paused || reposOff.has(entry.repoKey))
      return { ...entry, minutes: 0, hours: {}, off: 'all' }
    if (!recording.hours || !entry.hours) return entry
    const kept = recordedPart(entry.minutes, entry.hours, recordedHoursOf(recording.hours, zone, entry.day))
    if (kept.minutes === entry.minutes) return entry
    return { ...entry, ...kept, off: kept.minutes === 0 ? 'all' : 'part' }
  })
  return { ...flush, entries }
}

/** Goes by the memberships that were read before: a removal since then counts as after this flush. */
const count = async (tx: Tx, flush: Flush, target: FlushTarget): Promise<FlushResult> => {
  const { userId, id, entries, timezone, bodyHash } = flush
  // Before the activity lock, so that its holder never waits for the user's row.
  if (timezone !== undefined && timezone !== target.timezone) await changeTimezone(tx, userId, timezone)
  const members = await Promise.all(
    target.workspaces.map((workspace) => lockMember(tx, flush, target, workspace)),
  )
  const notes = addUp(entries, target, members)
  const answer = toResult(entries.length, notes)
  // In the original spelling.
  const names = new Map(entries.toReversed().map(({ repoKey, repo }) => [repoKey, repo]))
  const written = Promise.all([
    id !== undefined && rememberFlush(tx, userId, id, { bodyHash, answer: JSON.stringify(answer) }),
    ...members.map(({ workspaceId, days }) => addMemberDays(tx, workspaceId, userId, days, names)),
  ])
  tx.deferToCommit(written)
  return answer
}

const checkHours = ({ minutes, hours = {} }: ActivityEntry, index: number) => {
  let inHours = 0
  for (let hour = 0; hour < HOURS; hour++) inHours += hours[hour] ?? 0
  if (inHours > minutes) {
    throw invalid(`/body/entries/${index}/hours`, 'must not add up to more than `minutes`')
  }
}

/** A hash of the parsed body, so that neither the order of keys nor white space matters. */
const hashOf = ({ entries, timezone }: FlushBody): string => {
  const texts = entries.map(
    ({ repo, day, minutes, hours }) => `["${repo}","${day}",${minutes},${textOf(hours)}]`,
  )
  return createHash('sha256')
    .update(`[${JSON.stringify(timezone ?? null)},[${texts.join()}]]`)
    .digest('base64')
}

/** The text that `JSON.stringify` makes, in half the time. */
const textOf = (hours: ActivityEntry['hours']): string => {
  if (!hours) return 'null'
  let text = ''
  for (let hour = 0; hour < HOURS; hour++) {
    const minutes = hours[hour]
    if (minutes !== undefined) text += `${text && ','}"${hour}":${minutes}`
  }
  return `{${text}}`
}

/** The first and the last day that still count. */
const windowOf = (today: string) => [addDays(today, -limits.flush_days_back), addDays(today, 1)] as const

/** Counts rows: each day of a repository is one row in each matching workspace. */
const checkRows = ({ entries }: Flush, { today, workspaces }: FlushTarget) => {
  const [first, last] = windowOf(today)
  const daysOf = new Map<string, Set<string>>()
  for (const { day, repoKey } of entries) {
    if (day >= first && day <= last) daysOf.set(repoKey, (daysOf.get(repoKey) ?? new Set()).add(day))
  }
  let rows = 0
  for (const { repoKeys } of workspaces) {
    for (const repoKey of repoKeys) rows += daysOf.get(repoKey)?.size ?? 0
  }
  if (rows <= limits.flush_rows) return
  const entriesThatFit = Math.floor(limits.flush_rows / workspaces.length)
  throw new ApiError('payload_too_large', {
    detail: `This flush would change ${rows} rows, one for each day of a repository in each of your ${workspaces.length} workspaces that match; ${limits.flush_rows} is the limit. Send at most ${entriesThatFit} entries in a flush.`,
  })
}

/** The caller as a member of a workspace that matches. */
interface Member {
  workspaceId: string
  repoKeys: Set<string>
  /** See `MatchingWorkspace`. */
  firstDay: string
  /** Entries that may get minutes. */
  days: Map<string, MemberDay>
}

const lockMember = async (
  tx: Db,
  { userId, entries }: Flush,
  { today }: FlushTarget,
  { workspaceId, repoKeys: matched, firstDay }: MatchingWorkspace,
): Promise<Member> => {
  const [start, last] = windowOf(today)
  const first = start > firstDay ? start : firstDay
  const repoKeys = new Set(matched)
  const days = new Set<string>()
  for (const { day, repoKey, minutes } of entries) {
    if (minutes > 0 && day >= first && day <= last && repoKeys.has(repoKey)) days.add(day)
  }
  return { workspaceId, repoKeys, firstDay, days: await lockMemberDays(tx, workspaceId, userId, days) }
}

/** Adds the entries in their order. @returns a note for each that does not count in full */
const addUp = (entries: Entry[], { today }: FlushTarget, members: Member[]): FlushNote[] => {
  const [first, last] = windowOf(today)
  const notes: FlushNote[] = []
  entries.forEach(({ repoKey, day, minutes, hours, off }, index) => {
    const matching = members.filter(({ repoKeys, firstDay }) => day >= firstDay && repoKeys.has(repoKey))
    if (day < first || day > last) notes.push({ index, status: 'ignored', code: 'day_out_of_window' })
    else if (off === 'all') notes.push({ index, status: 'ignored', code: 'recording_off' })
    else if (matching.length === 0) notes.push({ index, status: 'ignored', code: 'repo_not_matched' })
    else {
      const cut = hardest(matching.map(({ days }) => days.get(day)?.add(repoKey, minutes, hours)))
      const code = off ? 'recording_off' : cut
      if (code) notes.push({ index, status: 'capped', code })
    }
  })
  return notes
}

const hardest = (cuts: (Cut | undefined)[]): Cut | undefined =>
  cuts.includes('hour_full') ? 'hour_full' : cuts.find((cut) => cut !== undefined)

const toResult = (total: number, notes: FlushNote[]): FlushResult => {
  const capped = notes.filter(({ status }) => status === 'capped').length
  const ignored = notes.length - capped
  return { accepted: total - capped - ignored, capped, ignored, duplicate: false, notes }
}
