import { createHash } from 'node:crypto'
import type { ActivityEntry, FlushBody, FlushNote, FlushResult } from '../../schemas/activity.js'
import { limits } from '../../schemas/limits.js'
import type { Database, Db } from '../db/client.js'
import { addDays } from '../domain/days.js'
import { canonicalTimezone } from '../domain/heatmap.js'
import { type Cut, MemberDay, type RepoMinutes } from '../domain/minutes.js'
import { ApiError, invalid } from '../errors.js'
import {
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

  return database.transaction(async (tx) => {
    const flushId = body.flush_id
    if (flushId !== undefined && !(await claimFlush(tx, userId, flushId, bodyHash))) {
      return repeatAnswer(tx, userId, flushId, bodyHash)
    }
    const repos = [...new Set(body.entries.map(({ repo }) => repo.toLowerCase()))]
    const target = await lockMatchingWorkspaces(
      tx,
      userId,
      repos.map((repo) => {
        const [ownerKey = '', repoKey = ''] = repo.split('/')
        return { ownerKey, repoKey }
      }),
    )
    if (!target) throw new ApiError('token_invalid')
    const workspacesOf = new Map(repos.map((repo, index) => [repo, target.workspacesOf[index] ?? []]))
    const { rows, notes } = await addUp(tx, userId, body.entries, target.today, workspacesOf)
    const answer = toResult(body.entries.length, notes)
    await writeFlush(tx, userId, rows, {
      timezone: timezone === (target.timezone ?? undefined) ? undefined : timezone,
      flushId,
      answer: JSON.stringify(answer),
    })
    return answer
  })
}

const checkHours = ({ minutes, hours = {} }: ActivityEntry, index: number) => {
  const inHours = Object.values(hours).reduce((sum, value) => sum + value, 0)
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
const addUp = async (
  tx: Db,
  userId: string,
  entries: ActivityEntry[],
  today: FlushTarget['today'],
  workspacesOf: Map<string, string[]>,
): Promise<{ rows: FlushRow[]; notes: FlushNote[] }> => {
  const [first, last] = [addDays(today, -limits.flush_days_back), addDays(today, 1)]
  const inWindow = ({ day }: ActivityEntry) => day >= first && day <= last
  const counting = entries.filter(inWindow)
  const workspaceIds = [
    ...new Set(counting.flatMap(({ repo }) => workspacesOf.get(repo.toLowerCase()) ?? [])),
  ]
  const days = [...new Set(counting.map(({ day }) => day))]
  const before = workspaceIds.length === 0 ? [] : await readMemberMinutes(tx, userId, workspaceIds, days)

  const known = new Map<string, Map<string, RepoMinutes>>()
  for (const row of before) {
    const key = `${row.workspaceId} ${row.day}`
    known.set(key, (known.get(key) ?? new Map()).set(row.repoKey, row))
  }
  const memberDays = new Map([...known].map(([key, repos]) => [key, new MemberDay(repos)]))
  const changed = new Map<string, { workspaceId: string; day: string; repo: string }>()
  const notes: FlushNote[] = []
  entries.forEach((entry, index) => {
    const { repo, day, minutes, hours } = entry
    const repoKey = repo.toLowerCase()
    const matching = workspacesOf.get(repoKey) ?? []
    if (!inWindow(entry)) notes.push({ index, status: 'ignored', code: 'day_out_of_window' })
    else if (matching.length === 0) notes.push({ index, status: 'ignored', code: 'repo_not_matched' })
    else {
      const cuts = matching.map((workspaceId) => {
        const key = `${workspaceId} ${day}`
        const memberDay = memberDays.get(key) ?? new MemberDay()
        memberDays.set(key, memberDay)
        const cut = memberDay.add(repoKey, minutes, hours)
        const name = `${key} ${repoKey}`
        if (!changed.has(name)) changed.set(name, { workspaceId, day, repo })
        return cut
      })
      const code = hardest(cuts)
      if (code) notes.push({ index, status: 'capped', code })
    }
  })
  const rows = [...changed.values()].flatMap(({ workspaceId, day, repo }) => {
    const counted = memberDays.get(`${workspaceId} ${day}`)?.repos.get(repo.toLowerCase())
    // A repository with nothing but entries of 0 minutes needs no row.
    return counted ? [{ workspaceId, day, repo, ...counted }] : []
  })
  return { rows, notes }
}

const hardest = (cuts: (Cut | undefined)[]): Cut | undefined =>
  cuts.includes('hour_full') ? 'hour_full' : cuts.find((cut) => cut !== undefined)

const toResult = (total: number, notes: FlushNote[]): FlushResult => {
  const capped = notes.filter(({ status }) => status === 'capped').length
  const ignored = notes.length - capped
  return { accepted: total - capped - ignored, capped, ignored, duplicate: false, notes }
}
