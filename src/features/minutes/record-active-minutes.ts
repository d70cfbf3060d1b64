import { createHash } from 'node:crypto'
import type { ActivityEntry, FlushBody, FlushResult } from '../../../schemas/activity.js'
import { limits } from '../../../schemas/limits.js'
import { ApiError, validationError } from '../../errors.js'
import type { Database, Tx } from '../../platform/database/client.js'
import {
  type LeftOut,
  leaveOut,
  type Outcome,
  WriteQueue,
  type Written,
} from '../../platform/database/write-queue.js'
import { requireValue } from '../../platform/process/maps.js'
import { HOURS } from '../../platform/time/days.js'
import { isTimezone } from '../../platform/time/zones.js'
import {
  nameTimezone,
  type ReposToRemember,
  rememberRepos,
  reposToRemember,
  storeRepos,
} from '../accounts/index.js'
import { errorForTarget, lockMemberDays, type MemberDays, tryToLockMemberDays } from './member-days.js'
import {
  type Flush,
  type FlushWorkspace,
  planFlush,
  requireRowLimit,
  type TargetedFlush,
  targetFlush,
} from './plan-flush.js'
import { type FlushTarget, readTargets, type TargetResult } from './queries/flush-target.js'
import { type AddedMinutes, readFlushResponses, saveFlushResponses, writeMinutes } from './queries/minutes.js'

/**
 * The most that a flush may need in a set. It's left out, and recorded alone:
 * - if it exceeds these limits, has more entries than the queue takes, or days with too many rows to read, because the
 *   others would wait for it;
 * - if it changes the person's time zone, because their row would stay locked until the set ends;
 * - if it was sent before, or the person is unknown, because it writes nothing, and may get an error;
 * - if someone holds a lock of its days, because a set waits for no one.
 */
const MAX_BATCH = { rows: 200, days: 8, comparisons: limits.flush_comparisons / 100 }

/**
 * Counts clients' minutes in every matching workspace, once per `flush_id`, within the hourly and daily limits and
 * the person's recording preferences. Flushes that arrive at the same time from different people are written together.
 * The function throws an `ApiError`: `invalid_timezone`, `flush_id_reused`, `validation_failed` for hours that exceed
 * their minutes, `payload_too_large` for a request that would change too many rows.
 *
 * Each hop has a reason:
 * - The queue sends what arrives during a transaction in the next one, because one for many people costs less than many.
 * - It calls `recordMany` with a set, which waits for no lock, so that one person doesn't delay the others.
 * - It calls `recordOne` with a flush that's alone or was left out of a set, which waits, and needs fewer statements.
 * - `rememberRepos` comes after the commit, because it caches what's stored.
 */
export const createFlushRecorder = (database: Database) => {
  const queue = new WriteQueue(database, recordOne, recordMany)
  return async (userId: string, body: FlushBody): Promise<FlushResult> => {
    const flush = flushOf(userId, body)
    const { response, named } = await queue.record({
      userId,
      item: flush,
      size: flush.entries.length,
      isRepeatable: flush.id !== undefined,
    })
    rememberRepos(named)
    return response
  }
}

const flushOf = (userId: string, body: FlushBody): Flush => {
  body.entries.forEach(checkHours)
  const { timezone } = body
  if (timezone !== undefined && !isTimezone(timezone)) throw new ApiError('invalid_timezone')
  return {
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
}

/** The repositories are those that the person has named, and hasn't excluded from recording. */
interface RecordedFlush {
  response: FlushResult
  named: ReposToRemember
}

const recordOne = async (tx: Tx, flush: Flush): Promise<RecordedFlush> => {
  const [targets, responses] = await read(tx, [flush], limits.flush_comparisons)
  const target = requireValue(targets, flush.userId)
  const sentBefore = responses.get(flush.userId)
  if (target.kind !== 'unknown person' && sentBefore) return repeat(flush, sentBefore)
  const found = requireTarget(flush, target)
  const targeted = targetFlush(flush, found)
  requireRowLimit(targeted)
  // Before the activity lock, so that its holder never waits for the user's row.
  await nameTimezone(tx, flush.userId, found, flush.timezone)
  const members = await lockMemberDays(tx, targeted.workspaces)
  const counted = countFlush(targeted, members)
  await write(tx, [counted])
  return counted.result
}

/** The same steps for several people. Those who are left out are recorded alone. */
const recordMany = async (tx: Tx, flushes: readonly Flush[]): Promise<Outcome<RecordedFlush>[]> => {
  const [targets, responses] = await read(tx, flushes, MAX_BATCH.comparisons)
  const targeted = flushes.map((flush) =>
    targetInSet(flush, requireValue(targets, flush.userId), responses.has(flush.userId)),
  )
  const daysOf = await tryToLockMemberDays(
    tx,
    targeted.filter((one) => one.kind === 'targeted'),
  )
  const counted = targeted.map((one) => {
    if (one.kind === 'left out') return one
    const days = requireValue(daysOf, one.userId)
    return days.kind === 'locked' ? countFlush(one, days.members) : days
  })
  await write(
    tx,
    counted.filter((one) => one.kind === 'recorded'),
  )
  return counted
}

/** @returns each person's target, and the response if the flush was sent before */
const read = (tx: Tx, flushes: readonly Flush[], maxComparisons: number) =>
  Promise.all([readTargets(tx, flushes.map(requestOf), maxComparisons), readFlushResponses(tx, flushes)])

const requestOf = ({ userId, entries }: Flush) => ({
  userId,
  repoKeys: new Set(entries.map(({ repoKey }) => repoKey)),
  scope: 'workspaces' as const,
})

const repeat = (flush: Flush, response: { bodyHash: string; answer: string }): RecordedFlush => {
  if (response.bodyHash !== flush.bodyHash) throw new ApiError('flush_id_reused')
  return {
    response: { ...(JSON.parse(response.answer) as FlushResult), duplicate: true },
    named: reposToRemember(flush.userId, []),
  }
}

const requireTarget = (flush: Flush, target: TargetResult): FlushTarget => {
  if (target.kind !== 'found') throw errorForTarget(target, requestOf(flush).repoKeys.size)
  return target
}

const targetInSet = (flush: Flush, target: TargetResult, wasSentBefore: boolean): TargetedFlush | LeftOut => {
  const { userId } = flush
  if (target.kind !== 'found' || wasSentBefore) return leaveOut(userId)
  const targeted = targetFlush(flush, target)
  const days = targeted.workspaces.reduce((sum, workspace) => sum + workspace.days.size, 0)
  const isLarge = targeted.rows > MAX_BATCH.rows || days > MAX_BATCH.days
  return isLarge || targeted.hasNewTimezone ? leaveOut(userId) : targeted
}

/** A flush whose minutes are counted, and still have to be written. */
interface CountedFlush extends Written<RecordedFlush> {
  flush: Flush
  added: AddedMinutes[]
}

const countFlush = (
  targeted: TargetedFlush,
  members: readonly MemberDays<FlushWorkspace>[],
): CountedFlush => {
  const { flush, entries } = targeted
  const { userId } = flush
  const repos = entries.flatMap(({ repo, recorded }) => (recorded === 'none' ? [] : [repo]))
  const named = reposToRemember(userId, repos)
  const { response, added } = planFlush(targeted, members)
  return { kind: 'recorded', userId, flush, added, result: { response, named } }
}

const write = async (tx: Tx, counted: readonly CountedFlush[]): Promise<void> => {
  // After the activity locks, so that no other flush waits for these rows behind them.
  await Promise.all(counted.map(({ result }) => storeRepos(tx, result.named)))
  const responses = counted.flatMap(({ flush: { userId, id, bodyHash }, result }) =>
    id === undefined ? [] : [{ userId, id, bodyHash, answer: JSON.stringify(result.response) }],
  )
  const added = counted.flatMap(({ added }) => added)
  tx.awaitAtCommit(saveFlushResponses(tx, responses), writeMinutes(tx, added))
}

const checkHours = ({ minutes, hours = {} }: ActivityEntry, index: number) => {
  let inHours = 0
  for (let hour = 0; hour < HOURS; hour++) inHours += hours[hour] ?? 0
  if (inHours > minutes) {
    throw validationError(`/body/entries/${index}/hours`, 'must not add up to more than `minutes`')
  }
}

/** A hash of the parsed body, so that key order and white space don't matter. */
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
