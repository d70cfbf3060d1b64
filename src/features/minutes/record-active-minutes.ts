import { createHash } from 'node:crypto'
import type { ActivityEntry, FlushBody, FlushResult } from '../../../schemas/activity.js'
import { limits } from '../../../schemas/limits.js'
import { ApiError, validationError } from '../../errors.js'
import type { Database, Tx } from '../../platform/database/client.js'
import { leaveOut, type Outcome, reject, WriteQueue } from '../../platform/database/write-queue.js'
import { requireValue } from '../../platform/process/maps.js'
import { HOURS } from '../../platform/time/days.js'
import { isTimezone } from '../../platform/time/zones.js'
import { nameTimezones } from '../accounts/index.js'
import { type ReposToRemember, rememberRepos, reposToRemember, storeRepos } from '../named-repos/index.js'
import { errorForTarget, readTargets, type TargetResult } from '../recording/index.js'
import { type PersonDays, readPersonDays, writePersonDays } from './person-days.js'
import { errorForRows, type Flush, planFlush, type TargetedFlush, targetFlush } from './plan-flush.js'
import { lockMinutes, readFlushResponses, saveFlushResponses } from './queries/minutes.js'

/** A flush that needs more is recorded alone, because others in its set would wait for it. */
const MAX_IN_SET = { rows: 200, days: 8, comparisons: limits.flush_comparisons / 100 }
const MAX_ALONE = {
  rows: limits.flush_rows,
  days: Number.POSITIVE_INFINITY,
  comparisons: limits.flush_comparisons,
}

/**
 * Counts clients' minutes in every matching workspace, once per `flush_id`, within the hourly and daily limits and
 * the person's recording preferences. Flushes that arrive at the same time from different people are written together.
 * The function throws an `ApiError`: `invalid_timezone`, `flush_id_reused`, `validation_failed` for hours that exceed
 * their minutes, `payload_too_large` for a request that would change too many rows.
 */
export const createFlushRecorder = (database: Database) => {
  const queue = new WriteQueue(database, recordFlushes)
  return async (userId: string, body: FlushBody): Promise<FlushResult> => {
    const flush = flushOf(userId, body)
    const { response, named } = await queue.record({
      userId,
      item: flush,
      size: flush.entries.length,
      isRepeatable: flush.id !== undefined,
    })
    // After the commit, because it caches what's stored.
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

/**
 * Records flushes of different people in one transaction. A single one waits for its person's lock, and has higher limits.
 * @returns an outcome for each of them, in order
 */
const recordFlushes = async (tx: Tx, flushes: readonly Flush[]): Promise<Outcome<RecordedFlush>[]> => {
  const isAlone = flushes.length === 1
  const max = isAlone ? MAX_ALONE : MAX_IN_SET
  const userIds = flushes.map(({ userId }) => userId)
  // PostgreSQL runs them in this order, so that everything is read under the lock.
  const [locked, targets, responses] = await Promise.all([
    lockMinutes(tx, userIds, { waits: isAlone }),
    readTargets(tx, flushes.map(requestOf), max.comparisons),
    readFlushResponses(tx, flushes),
  ])
  const fates = flushes.map((flush): Outcome<RecordedFlush> | Targeted => {
    const target = requireValue(targets, flush.userId)
    if (!locked.has(flush.userId)) return leaveOut
    const before = responses.get(flush.userId)
    if (before && target.kind !== 'unknown person') return repeat(flush, before)
    const fate = target.kind === 'found' ? limit(targetFlush(flush, target), max) : errorFor(flush, target)
    if (!(fate instanceof ApiError)) return { kind: 'targeted', targeted: fate }
    return isAlone ? reject(fate) : leaveOut
  })
  const targeted = fates.flatMap((fate) => (fate.kind === 'targeted' ? [fate.targeted] : []))
  const days = await readPersonDays(tx, targeted)
  const recorded = targeted.map((one, index) => count(one, days[index] as PersonDays))
  await write(tx, targeted, recorded, days)
  return fates.map((fate) =>
    fate.kind === 'targeted'
      ? { kind: 'recorded', result: recorded[targeted.indexOf(fate.targeted)] as RecordedFlush }
      : fate,
  )
}

interface Targeted {
  kind: 'targeted'
  targeted: TargetedFlush
}

const requestOf = ({ userId, entries }: Flush) => ({
  userId,
  repoKeys: new Set(entries.map(({ repoKey }) => repoKey)),
  scope: 'workspaces' as const,
})

const errorFor = (flush: Flush, target: Exclude<TargetResult, { kind: 'found' }>): ApiError =>
  errorForTarget(target, requestOf(flush).repoKeys.size)

/** The flush, or the error if it changes too much. */
const limit = (targeted: TargetedFlush, max: typeof MAX_IN_SET): TargetedFlush | ApiError => {
  const days = [...targeted.workspaces.values()].reduce((sum, { size }) => sum + size, 0)
  return targeted.rows > max.rows || days > max.days ? errorForRows(targeted) : targeted
}

const repeat = (flush: Flush, response: { bodyHash: string; answer: string }): Outcome<RecordedFlush> =>
  response.bodyHash === flush.bodyHash
    ? {
        kind: 'recorded',
        result: {
          response: { ...(JSON.parse(response.answer) as FlushResult), duplicate: true },
          named: reposToRemember(flush.userId, []),
        },
      }
    : reject(new ApiError('flush_id_reused'))

/** @param days the person's days so far, which it changes */
const count = (targeted: TargetedFlush, days: PersonDays): RecordedFlush => {
  const repos = targeted.entries.flatMap(({ repo, isExcluded }) => (isExcluded ? [] : [repo]))
  return { response: planFlush(targeted, days), named: reposToRemember(targeted.userId, repos) }
}

const write = async (
  tx: Tx,
  targeted: readonly TargetedFlush[],
  recorded: readonly RecordedFlush[],
  days: readonly PersonDays[],
): Promise<void> => {
  await Promise.all(recorded.map(({ named }) => storeRepos(tx, named)))
  const responses = targeted.flatMap(({ flush: { userId, id, bodyHash } }, index) =>
    id === undefined ? [] : [{ userId, id, bodyHash, answer: JSON.stringify(recorded[index]?.response) }],
  )
  tx.awaitAtCommit(
    saveFlushResponses(tx, responses),
    nameTimezones(
      tx,
      targeted.filter(({ hasNewTimezone }) => hasNewTimezone),
    ),
    writePersonDays(tx, days),
  )
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
