import { createHash } from 'node:crypto'
import type { ActivityEntry, FlushBody, FlushResult } from '../../../schemas/activity.js'
import { limits } from '../../../schemas/limits.js'
import { ApiError, invalid } from '../../errors.js'
import type { Database, Tx } from '../../platform/database/client.js'
import { HOURS } from '../../platform/time/days.js'
import { isTimezone } from '../../platform/time/zones.js'
import { reposToRemember } from '../accounts/index.js'
import { lockPlaces, requireTarget } from './member-days.js'
import { type AimedFlush, aimFlush, type Flush, planFlush, requireFewRows } from './plan-flush.js'
import { type FlushTarget, readTargets } from './queries/flush-target.js'
import { changeTimezone, readAnswers, rememberFlushes, writeMinutes } from './queries/minutes.js'
import { recorderOf } from './write-queue.js'

/**
 * Larger flushes are recorded alone. The limits are for entries, and for what's known only once the person was read.
 */
const TOGETHER = { entries: 50, rows: 200, days: 8, comparisons: limits.flush_comparisons / 100 }

/**
 * Counts a client's minutes in every matching workspace, once per `flush_id`, within the hourly and daily limits and
 * the person's recording preferences. Flushes that arrive at the same time from different people are written together.
 * @throws {ApiError} `invalid_timezone`, `flush_id_reused`, `validation_failed` for hours that exceed their minutes,
 * `payload_too_large` for a request that would change too many rows
 */
export const recordActiveMinutes = async (
  database: Database,
  userId: string,
  body: FlushBody,
): Promise<FlushResult> => {
  body.entries.forEach(checkHours)
  const { timezone } = body
  if (timezone !== undefined && !isTimezone(timezone)) throw new ApiError('invalid_timezone')
  const flush = {
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
    size: body.entries.length,
    isRepeatable: body.flush_id !== undefined,
  }
  return record(database, flush, flush.size > TOGETHER.entries)
}

/** Leaves out flushes that have to be alone: too large ones, and those that were counted before. */
const record = recorderOf<Flush, FlushResult>(async (tx, database, flushes, waits) => {
  const asked = flushes.map(({ userId, entries }) => ({
    userId,
    repoKeys: new Set(entries.map(({ repoKey }) => repoKey)),
  }))
  const [targets, answers] = await Promise.all([
    readTargets(tx, asked, waits ? limits.flush_comparisons : TOGETHER.comparisons),
    readAnswers(tx, flushes),
  ])
  const repeated: { item: Flush; result: FlushResult }[] = []
  const aimed = flushes.flatMap((item, index) => {
    const target = targets[index]
    const known = answers.get(item.userId)
    if (!target || !known) return waits ? aimAlone(item, target) : (aimTogether(item, target) ?? [])
    if (waits) repeated.push({ item, result: repeat(item, known) })
    return []
  })
  // Before the activity lock, so that its holder never waits for the user's row.
  for (const { flush, timezone, hasNewTimezone } of aimed)
    if (hasNewTimezone) await changeTimezone(tx, flush.userId, timezone)
  return [...repeated, ...(await count(tx, database, aimed, waits))]
})

const repeat = ({ bodyHash }: Flush, known: { bodyHash: string; answer: string }): FlushResult => {
  if (known.bodyHash !== bodyHash) throw new ApiError('flush_id_reused')
  return { ...(JSON.parse(known.answer) as FlushResult), duplicate: true }
}

const aimAlone = (flush: Flush, target: FlushTarget | undefined): AimedFlush => {
  const repos = new Set(flush.entries.map(({ repoKey }) => repoKey)).size
  const aimed = aimFlush(flush, requireTarget(target, repos))
  requireFewRows(aimed)
  return aimed
}

const aimTogether = (flush: Flush, target: FlushTarget | undefined): AimedFlush | undefined => {
  if (!target || target.comparisons > TOGETHER.comparisons) return undefined
  const aimed = aimFlush(flush, target)
  const days = aimed.places.reduce((sum, place) => sum + place.days.size, 0)
  const isSmall = aimed.rows <= TOGETHER.rows && days <= TOGETHER.days
  return isSmall && !aimed.hasNewTimezone ? aimed : undefined
}

/** @returns those that count */
const count = async (tx: Tx, database: Database, aimed: AimedFlush[], waits: boolean) => {
  const locked = await lockPlaces(tx, aimed, waits)
  const plans = locked.map(({ aimed, members }) => {
    const { flush, entries } = aimed
    const repos = entries.flatMap(({ repo, off }) => (off === 'all' ? [] : [repo]))
    return {
      item: flush,
      named: reposToRemember(database, flush.userId, repos),
      ...planFlush(aimed, members),
    }
  })
  // After the activity locks, so that no other flush waits for these rows behind them.
  await Promise.all(plans.map(({ named }) => named.write(tx)))
  const remembered = plans.flatMap(({ item: { userId, id, bodyHash }, result }) =>
    id === undefined ? [] : [{ userId, id, bodyHash, answer: JSON.stringify(result) }],
  )
  const added = plans.flatMap(({ added }) => added)
  tx.deferToCommit(Promise.all([rememberFlushes(tx, remembered), writeMinutes(tx, added)]))
  return plans
}

const checkHours = ({ minutes, hours = {} }: ActivityEntry, index: number) => {
  let inHours = 0
  for (let hour = 0; hour < HOURS; hour++) inHours += hours[hour] ?? 0
  if (inHours > minutes) {
    throw invalid(`/body/entries/${index}/hours`, 'must not add up to more than `minutes`')
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
