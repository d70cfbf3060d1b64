import { createHash } from 'node:crypto'
import type { ActivityEntry, FlushBody, FlushNote, FlushResult } from '../../schemas/activity.js'
import { limits } from '../../schemas/limits.js'
import type { Database, Db } from '../db/client.js'
import { addDays } from '../domain/days.js'
import { canonicalTimezone } from '../domain/heatmap.js'
import { type Cut, MemberDay } from '../domain/minutes.js'
import { ApiError, invalid } from '../errors.js'
import {
  changeTimezone,
  type DayMinutes,
  type FlushRow,
  type FlushTarget,
  lockMatchingWorkspaces,
  readMemberMinutes,
  writeFlush,
} from '../queries/activity.js'
import { claimFlush, readFlush } from '../queries/flushes.js'

/**
 * Counts a client's minutes in every workspace that matches, once per `flush_id`, within the limits of an hour and a
 * day. Costs the same number of statements for one entry and for 200.
 * @throws {ApiError} `invalid_timezone`, `flush_id_reused`, `validation_failed` for hours that exceed their minutes
 */
export const recordActiveMinutes = async (
  database: Database,
  userId: string,
  body: FlushBody,
): Promise<FlushResult> => {
  body.entries.forEach(checkHours)
  const timezone = body.timezone === undefined ? undefined : canonicalTimezone(body.timezone)
  if (body.timezone !== undefined && timezone === undefined) throw new ApiError('invalid_timezone')
  const bodyHash = hashOf(body)

  const repoKeys = body.entries.map(({ repo }) => repo.toLowerCase())
  const flushId = body.flush_id

  return database.transaction(async (tx) => {
    // Sent at once, run in this order: what is read is what holds once the memberships are locked.
    const [claimed, target, before] = await Promise.all([
      flushId === undefined || claimFlush(tx, userId, flushId, bodyHash),
      lockMatchingWorkspaces(tx, userId, [...new Set(repoKeys)]),
      readMemberMinutes(tx, userId, [...new Set(body.entries.map(({ day }) => day))]),
    ])
    if (flushId !== undefined && !claimed) return repeatAnswer(tx, userId, flushId, bodyHash)
    if (!target) throw new ApiError('token_invalid')
    const { rows, notes } = addUp(body.entries, repoKeys, target, before)
    const answer = toResult(body.entries.length, notes)
    await writeFlush(tx, userId, rows, flushId, JSON.stringify(answer))
    if (timezone !== undefined && timezone !== target.timezone) await changeTimezone(tx, userId, timezone)
    return answer
  })
}

const checkHours = ({ minutes, hours = {} }: ActivityEntry, index: number) => {
  let inHours = 0
  for (const hour in hours) inHours += hours[hour] ?? 0
  if (inHours > minutes) {
    throw invalid(`/body/entries/${index}/hours`, 'must not sum up to more than `minutes`')
  }
}

/** Of the parsed body: neither the order of an object's keys nor blanks matter. (Keys that are numbers are always in order.) */
const hashOf = ({ entries, timezone }: FlushBody): string => {
  const content = entries.map(({ repo, day, minutes, hours = null }) => [repo, day, minutes, hours])
  return createHash('sha256')
    .update(JSON.stringify([timezone ?? null, content]))
    .digest('base64')
}

const repeatAnswer = async (
  tx: Db,
  userId: string,
  flushId: string,
  bodyHash: string,
): Promise<FlushResult> => {
  const flush = await readFlush(tx, userId, flushId)
  if (flush?.bodyHash !== bodyHash) throw new ApiError('flush_id_reused')
  if (flush.answer === null) throw new Error('A flush that was committed has an answer')
  return { ...(JSON.parse(flush.answer) as FlushResult), duplicate: true }
}

/** The new totals of every row that changes, and a note for each entry that does not count in full. */
const addUp = (
  entries: ActivityEntry[],
  repoKeys: string[],
  { today, workspacesOf }: FlushTarget,
  before: DayMinutes[],
): { rows: FlushRow[]; notes: FlushNote[] } => {
  const [first, last] = [addDays(today, -limits.flush_days_back), addDays(today, 1)]
  const memberDays = new Map(before.map((known) => [keyOf(known), toMemberDay(known)]))
  /** As first given. */
  const names = new Map<string, string>()
  const notes: FlushNote[] = []
  entries.forEach(({ repo, day, minutes, hours }, index) => {
    const repoKey = repoKeys[index] ?? ''
    const matching = workspacesOf.get(repoKey) ?? []
    if (day < first || day > last) notes.push({ index, status: 'ignored', code: 'day_out_of_window' })
    else if (matching.length === 0) notes.push({ index, status: 'ignored', code: 'repo_not_matched' })
    else {
      if (!names.has(repoKey)) names.set(repoKey, repo)
      const cuts = matching.map((workspaceId) => {
        const key = keyOf({ workspaceId, day })
        const known = memberDays.get(key) ?? toMemberDay({ workspaceId, day })
        memberDays.set(key, known)
        return known.minutes.add(repoKey, minutes, hours)
      })
      const code = hardest(cuts)
      if (code) notes.push({ index, status: 'capped', code })
    }
  })
  const rows: FlushRow[] = []
  for (const { workspaceId, day, minutes: memberDay } of memberDays.values()) {
    for (const repoKey of memberDay.changed) {
      const counted = memberDay.repos.get(repoKey)
      const repo = names.get(repoKey)
      if (counted && repo) rows.push({ workspaceId, day, repo, ...counted })
    }
  }
  return { rows, notes }
}

const keyOf = ({ workspaceId, day }: { workspaceId: string; day: string }) => `${workspaceId} ${day}`

const toMemberDay = ({ workspaceId, day, repos }: Omit<DayMinutes, 'repos'> & Partial<DayMinutes>) => ({
  workspaceId,
  day,
  minutes: new MemberDay(repos),
})

const hardest = (cuts: (Cut | undefined)[]): Cut | undefined =>
  cuts.includes('hour_full') ? 'hour_full' : cuts.find((cut) => cut !== undefined)

const toResult = (total: number, notes: FlushNote[]): FlushResult => {
  const capped = notes.filter(({ status }) => status === 'capped').length
  const ignored = notes.length - capped
  return { accepted: total - capped - ignored, capped, ignored, duplicate: false, notes }
}
