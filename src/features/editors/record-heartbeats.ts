/** Turns heartbeats into minutes. */
import type { Database, Tx } from '../../platform/database/client.js'
import { type Outcome, WriteQueue, type Written } from '../../platform/database/write-queue.js'
import { type ReposToRemember, rememberRepos, reposToRemember, storeRepos } from '../accounts/index.js'
import { type Batch, batchOf, withoutFarDays } from './batch.js'
import { asksForLastProject, resolveLastProjects } from './last-project.js'
import { nothingRecorded, type RecordingResult } from './mark-heartbeats.js'
import { type HeartbeatPlan, planMany, planOne } from './plan-heartbeats.js'
import type { ProjectHost, SentHeartbeat } from './project-names.js'
import { readFactsOfOne } from './read-facts.js'
import { hoursAround } from './timeline.js'
import { writePlans } from './write-plans.js'

/** Batches with more hours around their heartbeats are recorded alone. */
const MAX_BATCH_HOURS = 12

/**
 * Counts heartbeats that were sent just now. Sending them again changes nothing, in any order. Heartbeats that arrive
 * at the same time from different people are written together. The function throws an `ApiError`: `token_invalid`, and
 * `payload_too_large` for a request that would change too many rows.
 */
export const createHeartbeatRecorder = (database: Database, host: ProjectHost) => {
  const queue = new WriteQueue(database, recordOne, recordMany)
  return async (
    userId: string,
    sent: readonly SentHeartbeat[],
    timezone: string | undefined,
  ): Promise<RecordingResult> => {
    const batch = withoutFarDays(batchOf(userId, sent, timezone, host), Date.now() / 1_000)
    const size = batch.heartbeats.length
    if (size === 0) return nothingRecorded(batch)
    const { recorded, named } = await (isRecordedAlone(batch)
      ? queue.writeSingle({ item: batch, isRepeatable: true })
      : queue.record({ userId, item: batch, size, isRepeatable: true }))
    rememberRepos(named)
    return recorded
  }
}

/** Whether a batch is recorded alone: it reads many hours, or has to wait for the person's other heartbeats. */
const isRecordedAlone = (batch: Batch): boolean =>
  asksForLastProject(batch) ||
  hoursAround(batch.heartbeats.map(({ minute }) => minute)).length > MAX_BATCH_HOURS

/** The repositories are those that the person has named in full. */
interface RecordedBatch {
  recorded: RecordingResult
  named: ReposToRemember
}

const recordOne = async (tx: Tx, sent: Batch): Promise<RecordedBatch> => {
  const batch = await resolveLastProjects(tx, sent)
  const facts = await readFactsOfOne(tx, batch)
  const plan = await planOne(tx, facts)
  if (plan.kind === 'rejected') throw plan.error
  const planned = plannedOf(plan)
  await write(tx, [planned])
  return planned.result
}

const recordMany = async (tx: Tx, batches: readonly Batch[]): Promise<Outcome<RecordedBatch>[]> => {
  const plans = await planMany(tx, batches)
  const outcomes = plans.map((one) => (one.kind === 'planned' ? plannedOf(one) : one))
  await write(
    tx,
    outcomes.filter((one) => one.kind === 'recorded'),
  )
  return outcomes
}

/** A batch whose changes still have to be written. */
interface PlannedBatch extends Written<RecordedBatch> {
  plan: HeartbeatPlan
}

const plannedOf = (plan: HeartbeatPlan): PlannedBatch => {
  const { userId, recorded, repos } = plan
  return { kind: 'recorded', userId, plan, result: { recorded, named: reposToRemember(userId, repos) } }
}

const write = async (tx: Tx, planned: readonly PlannedBatch[]): Promise<void> => {
  await Promise.all(planned.map(({ result }) => storeRepos(tx, result.named)))
  await writePlans(
    tx,
    planned.map(({ plan }) => plan),
  )
}
