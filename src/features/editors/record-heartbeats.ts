/** Turns heartbeats into minutes. */
import type { Database, Tx } from '../../platform/database/client.js'
import {
  createRecorder,
  type Outcome,
  type QueuedWrite,
  type Written,
} from '../../platform/database/write-queue.js'
import { type ReposToRemember, rememberRepos, reposToRemember, storeRepos } from '../accounts/index.js'
import { type Batch, batchOf, withoutFarDays } from './batch.js'
import { asksForLastProject, resolveLastProjects } from './last-project.js'
import { nothingRecorded, type Recorded } from './mark-heartbeats.js'
import { type HeartbeatPlan, planAlone, planTogether } from './plan-heartbeats.js'
import type { ProjectHost, SentHeartbeat } from './project-names.js'
import { hoursAround } from './timeline.js'
import { writePlans } from './write-plans.js'

/** Larger batches are recorded alone. */
const TOGETHER = { heartbeats: 50, hours: 12 }

/**
 * Counts heartbeats that were sent just now. Sending them again changes nothing, in any order. Heartbeats that arrive
 * at the same time from different people are written together. The function throws an `ApiError`: `token_invalid`, and
 * `payload_too_large` for a request that would change too many rows.
 */
export const createHeartbeatRecorder = (database: Database, host: ProjectHost) => {
  const record = createRecorder(database, recordAlone, recordTogether)
  return async (
    userId: string,
    sent: readonly SentHeartbeat[],
    timezone: string | undefined,
  ): Promise<Recorded> => {
    const batch = withoutFarDays(batchOf(userId, sent, timezone, host), Date.now() / 1_000)
    const size = batch.heartbeats.length
    if (size === 0) return nothingRecorded(batch)
    const { recorded, named } = await record({ ...batch, size, isRepeatable: true }, isForItself(batch))
    rememberRepos(database, named)
    return recorded
  }
}

/** Whether a batch is recorded alone: it's large, or has to wait for the person's other heartbeats. */
const isForItself = (batch: Batch): boolean =>
  batch.heartbeats.length > TOGETHER.heartbeats ||
  asksForLastProject(batch) ||
  hoursAround(batch.heartbeats.map(({ minute }) => minute)).length > TOGETHER.hours

interface QueuedBatch extends Batch, QueuedWrite {}

/** The repositories are those that the person has named in full. */
interface RecordedBatch {
  recorded: Recorded
  named: ReposToRemember
}

const recordAlone = async (
  tx: Tx,
  database: Database,
  sent: QueuedBatch,
): Promise<Written<RecordedBatch>> => {
  const batch = await resolveLastProjects(tx, sent)
  const planned = plannedOf(database, await planAlone(tx, batch))
  await write(tx, [planned])
  return planned
}

const recordTogether = async (
  tx: Tx,
  database: Database,
  batches: readonly QueuedBatch[],
): Promise<ReadonlyMap<string, Outcome<RecordedBatch>>> => {
  const plans = await planTogether(tx, batches)
  const outcomes = plans.map((one) => (one.kind === 'planned' ? plannedOf(database, one.plan) : one))
  const planned = outcomes.filter((one) => one.kind === 'recorded')
  await write(tx, planned)
  return new Map(outcomes.map((one) => [one.userId, one]))
}

/** Heartbeats that are planned, and still have to be written. */
interface PlannedBatch extends Written<RecordedBatch> {
  userId: string
  plan: HeartbeatPlan
}

const plannedOf = (database: Database, plan: HeartbeatPlan): PlannedBatch => ({
  kind: 'recorded',
  userId: plan.userId,
  result: { recorded: plan.recorded, named: reposToRemember(database, plan.userId, plan.repos) },
  plan,
})

const write = async (tx: Tx, planned: readonly PlannedBatch[]): Promise<void> => {
  await Promise.all(planned.map(({ result }) => storeRepos(tx, result.named)))
  await writePlans(
    tx,
    planned.map(({ plan }) => plan),
  )
}
