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
  type FlushTarget,
  lockMemberships,
  readFlushTarget,
  writeFlush,
} from '../queries/activity.js'

/** The first is without locks and succeeds unless the member's flushes meet. */
const ATTEMPTS = 3

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
  const flush = { ...body, timezone, bodyHash: hashOf(body) }

  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const answer =
      attempt === 1
        ? await tryFlush(database.db, userId, flush).catch(unlessConflict)
        : await database.transaction(async (tx) => {
            await lockMemberships(tx, userId)
            return tryFlush(tx, userId, flush)
          })
    if (answer) return answer
  }
  throw new ApiError('unavailable')
}

const unlessConflict = (error: unknown): undefined => {
  if (!isConflict(error)) throw error
}

interface Flush extends FlushBody {
  bodyHash: string
}

/** @returns undefined when what was read no longer held when it was to be written */
const tryFlush = async (db: Db, userId: string, flush: Flush): Promise<FlushResult | undefined> => {
  const { entries, timezone, flush_id: id, bodyHash } = flush
  const repoKeys = new Map<string, number>()
  const positions = entries.map(({ repo }) => {
    const repoKey = repo.toLowerCase()
    const position = repoKeys.get(repoKey) ?? repoKeys.size
    repoKeys.set(repoKey, position)
    return position
  })
  const days = [...new Set(entries.map(({ day }) => day))]
  const target = await readFlushTarget(db, userId, [...repoKeys.keys()], days, id)
  if (!target) throw new ApiError('token_invalid')
  const { known } = target
  if (known) {
    if (known.bodyHash !== bodyHash) throw new ApiError('flush_id_reused')
    return { ...(JSON.parse(known.answer) as FlushResult), duplicate: true }
  }
  const { days: changed, notes } = addUp(entries, positions, [...repoKeys.keys()], target)
  const answer = toResult(entries.length, notes)
  // Before the flush: what is repeated after a failure must not be taken for done.
  if (timezone !== undefined && timezone !== target.timezone) await changeTimezone(db, userId, timezone)
  const ids = new Set(changed.map(({ workspaceId }) => workspaceId))
  const written = await writeFlush(
    db,
    userId,
    target.workspaces.filter((workspace) => ids.has(workspace.id)),
    changed,
    { id, bodyHash, answer: JSON.stringify(answer) },
  )
  return written ? answer : undefined
}

const checkHours = ({ minutes, hours = {} }: ActivityEntry, index: number) => {
  let inHours = 0
  for (let hour = 0; hour < HOURS; hour++) inHours += hours[hour] ?? 0
  if (inHours > minutes) {
    throw invalid(`/body/entries/${index}/hours`, 'must not sum up to more than `minutes`')
  }
}

/** Of the parsed body: neither the order of an object's keys nor blanks matter. */
const hashOf = ({ entries, timezone = '' }: FlushBody): string => {
  let text = timezone
  for (const { repo, day, minutes, hours } of entries) {
    // None of these has a blank, a line break or a colon in it.
    text += `\n${repo} ${day} ${minutes}`
    if (hours === undefined) continue
    text += ' hours'
    for (let hour = 0; hour < HOURS; hour++) {
      const inHour = hours[hour]
      if (inHour !== undefined) text += ` ${hour}:${inHour}`
    }
  }
  return createHash('sha256').update(text).digest('base64')
}

/** The days that change, and a note for each entry that does not count in full. */
const addUp = (
  entries: ActivityEntry[],
  /** Of each entry's repository in `repoKeys`. */
  positions: number[],
  repoKeys: string[],
  { today, workspaces }: FlushTarget,
): { days: FlushDay[]; notes: FlushNote[] } => {
  const [first, last] = [addDays(today, -limits.flush_days_back), addDays(today, 1)]
  const matching: MemberMinutes[][] = repoKeys.map(() => [])
  const members = workspaces.map(({ id: workspaceId, repos, days }) => {
    const minutes = new MemberMinutes(days)
    for (const position of repos) matching[position]?.push(minutes)
    return { workspaceId, minutes }
  })
  /** As first given. */
  const names = new Map<string, string>()
  const notes: FlushNote[] = []
  entries.forEach(({ repo, day, minutes, hours }, index) => {
    const position = positions[index] ?? -1
    const repoKey = repoKeys[position] ?? ''
    const targets = matching[position] ?? []
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
