/** Turns heartbeats into minutes. */
import { limits } from '../../../schemas/limits.js'
import type { Database, Tx } from '../../platform/database/client.js'
import { leaveOut, type Outcome, reject, WriteQueue } from '../../platform/database/write-queue.js'
import { nameTimezones } from '../accounts/index.js'
import { lockMinutes } from '../minutes/index.js'
import { type ReposToRemember, rememberRepos, reposToRemember, storeRepos } from '../named-repos/index.js'
import { type Batch, batchOf, withoutFarDays } from './batch.js'
import { asksForLastProject } from './last-project.js'
import { nothingRecorded, type RecordingResult } from './mark-heartbeats.js'
import { countHeartbeats, planHeartbeats } from './plan-heartbeats.js'
import type { ProjectHost, SentHeartbeat } from './project-names.js'
import { readFacts } from './read-facts.js'
import { hoursAround } from './timeline.js'
import { writePlans } from './write-plans.js'

/** A batch that needs more is recorded alone, because others in its set would wait for it. */
const MAX_IN_SET = { hours: 12, comparisons: limits.flush_comparisons / 100 }

/**
 * Counts heartbeats that were sent just now. Sending them again changes nothing, in any order. Heartbeats that arrive
 * at the same time from different people are written together. The function throws an `ApiError`: `token_invalid`, and
 * `payload_too_large` for a request that would change too many rows.
 */
export const createHeartbeatRecorder = (database: Database, host: ProjectHost) => {
  const queue = new WriteQueue(database, recordBatches)
  return async (
    userId: string,
    sent: readonly SentHeartbeat[],
    timezone: string | undefined,
  ): Promise<RecordingResult> => {
    const batch = withoutFarDays(batchOf(userId, sent, timezone, host), Date.now() / 1_000)
    const size = batch.heartbeats.length
    if (size === 0) return nothingRecorded(batch)
    const write = { userId, item: batch, size, isRepeatable: true }
    const { recorded, named } = await (isLarge(batch) ? queue.recordAlone(write) : queue.record(write))
    // After the commit, because it caches what's stored.
    rememberRepos(named)
    return recorded
  }
}

/** Whether a batch reads many hours, or the hours before it. */
const isLarge = (batch: Batch): boolean =>
  asksForLastProject(batch) ||
  hoursAround(batch.heartbeats.map(({ minute }) => minute)).length > MAX_IN_SET.hours

/** The repositories are those that the person has named in full. */
interface RecordedBatch {
  recorded: RecordingResult
  named: ReposToRemember
}

/**
 * Records heartbeats of different people in one transaction. A single batch waits for its person's lock, and has higher limits.
 * @returns an outcome for each of them, in order
 */
const recordBatches = async (tx: Tx, batches: readonly Batch[]): Promise<Outcome<RecordedBatch>[]> => {
  const isAlone = batches.length === 1
  const userIds = batches.map(({ userId }) => userId)
  // PostgreSQL runs them in this order, so that everything is read under the locks.
  const [locked, read] = await Promise.all([
    lockMinutes(tx, userIds, { waits: isAlone }),
    readFacts(tx, batches, isAlone ? limits.flush_comparisons : MAX_IN_SET.comparisons),
  ])
  const facts = read.filter(({ batch }) => locked.has(batch.userId))
  const counted = await Promise.all(facts.map(countHeartbeats))
  const plans = await planHeartbeats(
    tx,
    counted.filter((one) => one.kind === 'counted'),
  )
  const named = plans.map(({ userId, repos }) => reposToRemember(userId, repos))
  await Promise.all(named.map((repos) => storeRepos(tx, repos)))
  tx.awaitAtCommit(
    nameTimezones(
      tx,
      plans.filter(({ recording }) => recording.hasNewTimezone),
    ),
  )
  await writePlans(tx, plans)
  const outcomes = new Map<string, Outcome<RecordedBatch>>(
    plans.map(({ userId, recorded }, index) => [
      userId,
      { kind: 'recorded', result: { recorded, named: named[index] as ReposToRemember } },
    ]),
  )
  counted.forEach((one, index) => {
    const userId = facts[index]?.batch.userId ?? ''
    if (one.kind === 'rejected') outcomes.set(userId, isAlone ? reject(one.error) : leaveOut)
  })
  return userIds.map((userId) => outcomes.get(userId) ?? leaveOut)
}
