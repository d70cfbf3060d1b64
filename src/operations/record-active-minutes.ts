import { createHash } from 'node:crypto'
import type { ActivityEntry, FlushBody, FlushNote, FlushResult } from '../../schemas/activity.js'
import { limits } from '../../schemas/limits.js'
import type { Database, Db } from '../db/client.js'
import { isConflict } from '../db/failures.js'
import { addDays, HOURS } from '../domain/days.js'
import { canonicalTimezone } from '../domain/heatmap.js'
import { type Cut, MemberMinutes, type RepoMinutes } from '../domain/minutes.js'
import { ApiError, invalid } from '../errors.js'
import {
  changeTimezone,
  type FlushDay,
  lockMemberships,
  type MatchingWorkspace,
  readFlushTarget,
  writeFlush,
} from '../queries/activity.js'

const ATTEMPTS = 3

/**
 * Counts a client's minutes in every workspace that matches, once per `flush_id`, within the limits of an hour and a
 * day. Costs the same number of statements for one entry and for 200.
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
    id: body.flush_id,
    entries: body.entries,
    repoKeys: body.entries.map(({ repo }) => repo.toLowerCase()),
    timezone,
    bodyHash: hashOf(body),
  }

  const optimistic = await tryFlush(database.write, userId, flush).catch(unlessConflict)
  if (optimistic) return optimistic
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const answer = await database.transaction(async (tx) =>
      tryFlush(tx, userId, flush, await lockMemberships(tx, userId)),
    )
    if (answer) return answer
  }
  throw new ApiError('unavailable')
}

const unlessConflict = (error: unknown): undefined => {
  if (!isConflict(error)) throw error
}

interface Flush {
  id: string | undefined
  entries: ActivityEntry[]
  /** Of the entries, in lower case. */
  repoKeys: string[]
  timezone: string | undefined
  bodyHash: string
}

/**
 * Without locks, what was read may no longer hold when it is to be written.
 * @param locked the workspaces whose memberships stay locked. One joined since then would have to be locked out of turn,
 * so the flush counts as if it had come before.
 * @returns undefined when nothing was written, and it takes locks to do so
 */
const tryFlush = async (
  db: Db,
  userId: string,
  flush: Flush,
  locked?: Set<string>,
): Promise<FlushResult | undefined> => {
  const { id, entries, timezone, bodyHash } = flush
  const asked = entries.map(({ day }, index) => ({ day, repoKey: flush.repoKeys[index] ?? '' }))
  const target = await readFlushTarget(db, userId, asked, id)
  if (!target) throw new ApiError('token_invalid')
  const { known } = target
  if (known) {
    if (known.bodyHash !== bodyHash) throw new ApiError('flush_id_reused')
    return { ...(JSON.parse(known.answer) as FlushResult), duplicate: true }
  }
  // All or nothing, so it takes a transaction.
  const moves = timezone !== undefined && timezone !== target.timezone
  if (moves && !locked) return undefined
  const workspaces = target.workspaces.filter((workspace) => locked?.has(workspace.id) ?? true)
  checkRows(flush, target.today, workspaces)
  const { days: changed, notes } = addUp(flush, target.today, workspaces)
  const answer = toResult(entries.length, notes)
  const ids = new Set(changed.map(({ workspaceId }) => workspaceId))
  const written = await writeFlush(
    db,
    userId,
    workspaces.filter((workspace) => ids.has(workspace.id)),
    changed,
    { id, bodyHash, answer: JSON.stringify(answer) },
  )
  if (!written) return undefined
  if (moves) await changeTimezone(db, userId, timezone)
  return answer
}

const checkHours = ({ minutes, hours = {} }: ActivityEntry, index: number) => {
  let inHours = 0
  for (let hour = 0; hour < HOURS; hour++) inHours += hours[hour] ?? 0
  if (inHours > minutes) {
    throw invalid(`/body/entries/${index}/hours`, 'must not sum up to more than `minutes`')
  }
}

/** Of the parsed body: neither the order of an object's keys nor blanks matter. */
const hashOf = ({ entries, timezone }: FlushBody): string => {
  const texts = entries.map(
    ({ repo, day, minutes, hours }) => `["${repo}","${day}",${minutes},${textOf(hours)}]`,
  )
  return createHash('sha256')
    .update(`[${JSON.stringify(timezone ?? null)},[${texts.join()}]]`)
    .digest('base64')
}

/** As JSON, which takes twice the time. */
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

/** Each day of a repository is a row in each workspace that matches, whatever else the entries say. */
const checkRows = ({ entries, repoKeys }: Flush, today: string, workspaces: MatchingWorkspace[]) => {
  const [first, last] = windowOf(today)
  const daysOf = new Map<string, Set<string>>()
  entries.forEach(({ day }, index) => {
    if (day < first || day > last) return
    const repoKey = repoKeys[index] ?? ''
    daysOf.set(repoKey, (daysOf.get(repoKey) ?? new Set()).add(day))
  })
  let rows = 0
  for (const { repoKeys: matched } of workspaces) {
    for (const repoKey of matched) rows += daysOf.get(repoKey)?.size ?? 0
  }
  if (rows <= limits.flush_rows) return
  const entriesThatFit = Math.floor(limits.flush_rows / workspaces.length)
  throw new ApiError('payload_too_large', {
    detail: `This flush would change ${rows} rows, one for each day of a repository in each of your ${workspaces.length} workspaces that match; ${limits.flush_rows} is the limit. Send at most ${entriesThatFit} entries per flush.`,
  })
}

/** The days that change, and a note for each entry that does not count in full. */
const addUp = (
  { entries, repoKeys }: Flush,
  today: string,
  workspaces: MatchingWorkspace[],
): { days: FlushDay[]; notes: FlushNote[] } => {
  const [first, last] = windowOf(today)
  const matching = new Map<string, MemberMinutes[]>()
  const members = workspaces.map(({ id: workspaceId, repoKeys: matched, days }) => {
    const minutes = new MemberMinutes(days)
    for (const repoKey of matched) matching.set(repoKey, [...(matching.get(repoKey) ?? []), minutes])
    return { workspaceId, minutes }
  })
  /** As first given. */
  const names = new Map<string, string>()
  const notes: FlushNote[] = []
  entries.forEach(({ repo, day, minutes, hours }, index) => {
    const repoKey = repoKeys[index] ?? ''
    const targets = matching.get(repoKey) ?? []
    if (day < first || day > last) notes.push({ index, status: 'ignored', code: 'day_out_of_window' })
    else if (targets.length === 0) notes.push({ index, status: 'ignored', code: 'repo_not_matched' })
    else {
      if (!names.has(repoKey)) names.set(repoKey, repo)
      const code = hardest(targets.map((target) => target.on(day).add(repoKey, minutes, hours)))
      if (code) notes.push({ index, status: 'capped', code })
    }
  })
  const days: FlushDay[] = []
  for (const { workspaceId, minutes } of members) {
    for (const [day, { repos, changed }] of minutes.days) {
      const totals = new Map<string, RepoMinutes>()
      for (const repoKey of changed) {
        const counted = repos.get(repoKey)
        if (counted) totals.set(names.get(repoKey) ?? repoKey, counted)
      }
      if (totals.size > 0) days.push({ workspaceId, day, repos: totals })
    }
  }
  return { days, notes }
}

const hardest = (cuts: (Cut | undefined)[]): Cut | undefined =>
  cuts.includes('hour_full') ? 'hour_full' : cuts.find((cut) => cut !== undefined)

const toResult = (total: number, notes: FlushNote[]): FlushResult => {
  const capped = notes.filter(({ status }) => status === 'capped').length
  const ignored = notes.length - capped
  return { accepted: total - capped - ignored, capped, ignored, duplicate: false, notes }
}
