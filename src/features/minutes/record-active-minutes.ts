import { createHash } from 'node:crypto'
import type { ActivityEntry, FlushBody, FlushResult } from '../../../schemas/activity.js'
import { limits } from '../../../schemas/limits.js'
import { ApiError, invalid } from '../../errors.js'
import type { Database, Tx } from '../../platform/database/client.js'
import { createRecorder, type Outcome, type Written } from '../../platform/database/write-queue.js'
import { HOURS } from '../../platform/time/days.js'
import { isTimezone } from '../../platform/time/zones.js'
import { reposToRemember } from '../accounts/index.js'
import { lockMemberDays, requireTarget } from './member-days.js'
import { type Flush, planFlush, requireFewRows, type TargetedFlush, targetFlush } from './plan-flush.js'
import { type FlushTarget, readTargets } from './queries/flush-target.js'
import { changeTimezone, readFlushResponses, saveFlushResponses, writeMinutes } from './queries/minutes.js'

/**
 * Larger flushes are recorded alone. The limits are for entries, and for what's known only once the person was read.
 */
const TOGETHER = { entries: 50, rows: 200, days: 8, comparisons: limits.flush_comparisons / 100 }

/**
 * Counts clients' minutes in every matching workspace, once per `flush_id`, within the hourly and daily limits and
 * the person's recording preferences. Flushes that arrive at the same time from different people are written together.
 * The function throws an `ApiError`: `invalid_timezone`, `flush_id_reused`, `validation_failed` for hours that exceed
 * their minutes, `payload_too_large` for a request that would change too many rows.
 */
export const createFlushRecorder = (database: Database) => {
  const record = createRecorder(database, { recordAlone, recordTogether })
  return (userId: string, body: FlushBody): Promise<FlushResult> => {
    const flush = flushOf(userId, body)
    return record(flush, flush.size > TOGETHER.entries)
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
    size: body.entries.length,
    isRepeatable: body.flush_id !== undefined,
  }
}

const recordAlone = async (tx: Tx, database: Database, flush: Flush): Promise<Written<FlushResult>> => {
  const [outcome] = await recordFlushes(tx, database, [flush], true)
  if (outcome?.kind !== 'recorded') throw new Error('A flush was left out although it could wait')
  return outcome
}

const recordTogether = (tx: Tx, database: Database, flushes: readonly Flush[]) =>
  recordFlushes(tx, database, flushes, false)

/** Flushes that were counted before, too large ones and those whose time zone is new are left out of a set. */
const recordFlushes = async (
  tx: Tx,
  database: Database,
  flushes: readonly Flush[],
  waits: boolean,
): Promise<Outcome<FlushResult>[]> => {
  const requested = flushes.map(({ userId, entries }) => ({
    userId,
    repoKeys: new Set(entries.map(({ repoKey }) => repoKey)),
    scope: 'workspaces' as const,
  }))
  const [targets, answers] = await Promise.all([
    readTargets(tx, requested, waits ? limits.flush_comparisons : TOGETHER.comparisons),
    readFlushResponses(tx, flushes),
  ])
  const outcomes = new Map<Flush, Outcome<FlushResult>>()
  const targeted: TargetedFlush[] = []
  for (const flush of flushes) {
    const target = targets.get(flush.userId)
    const known = answers.get(flush.userId)
    if (target && known && waits) outcomes.set(flush, { kind: 'recorded', result: repeat(flush, known) })
    else if (waits) targeted.push(targetAlone(flush, target))
    else if (!known) targeted.push(...targetTogether(flush, target))
  }
  // Before the activity lock, so that its holder never waits for the user's row.
  for (const { flush, timezone, hasNewTimezone } of targeted)
    if (hasNewTimezone) await changeTimezone(tx, flush.userId, timezone)
  for (const { flush, ...counted } of await count(tx, database, targeted, waits))
    outcomes.set(flush, { kind: 'recorded', ...counted })
  return flushes.map((flush) => outcomes.get(flush) ?? { kind: 'left out' })
}

const repeat = ({ bodyHash }: Flush, known: { bodyHash: string; answer: string }): FlushResult => {
  if (known.bodyHash !== bodyHash) throw new ApiError('flush_id_reused')
  return { ...(JSON.parse(known.answer) as FlushResult), duplicate: true }
}

const targetAlone = (flush: Flush, target: FlushTarget | undefined): TargetedFlush => {
  const repos = new Set(flush.entries.map(({ repoKey }) => repoKey)).size
  const targeted = targetFlush(flush, requireTarget(target, repos))
  requireFewRows(targeted)
  return targeted
}

/** None if it's too large for a set. */
const targetTogether = (flush: Flush, target: FlushTarget | undefined): TargetedFlush[] => {
  if (!target || target.comparisons > TOGETHER.comparisons) return []
  const targeted = targetFlush(flush, target)
  const days = targeted.workspaces.reduce((sum, workspace) => sum + workspace.days.size, 0)
  const isSmall = targeted.rows <= TOGETHER.rows && days <= TOGETHER.days
  return isSmall && !targeted.hasNewTimezone ? [targeted] : []
}

/** @returns those that count */
const count = async (tx: Tx, database: Database, targeted: TargetedFlush[], waits: boolean) => {
  const locked = await lockMemberDays(tx, targeted, waits)
  const plans = locked.map(({ targeted, members }) => {
    const { flush, entries } = targeted
    const repos = entries.flatMap(({ repo, off }) => (off === 'all' ? [] : [repo]))
    return {
      flush,
      named: reposToRemember(database, flush.userId, repos),
      ...planFlush(targeted, members),
    }
  })
  // After the activity locks, so that no other flush waits for these rows behind them.
  await Promise.all(plans.map(({ named }) => named.write(tx)))
  const remembered = plans.flatMap(({ flush: { userId, id, bodyHash }, result }) =>
    id === undefined ? [] : [{ userId, id, bodyHash, answer: JSON.stringify(result) }],
  )
  const added = plans.flatMap(({ added }) => added)
  tx.deferToCommit(Promise.all([saveFlushResponses(tx, remembered), writeMinutes(tx, added)]))
  return plans.map(({ flush, named, result }) => ({ flush, named, result }))
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
