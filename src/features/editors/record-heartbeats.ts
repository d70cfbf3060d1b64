/** Turns heartbeats into minutes. */
import type { Database, Tx } from '../../platform/database/client.js'
import {
  createRecorder,
  type Outcome,
  type QueuedWrite,
  type Written,
} from '../../platform/database/write-queue.js'
import { requireValue } from '../../platform/process/maps.js'
import { type ReposToRemember, rememberRepos, reposToRemember, storeRepos } from '../accounts/index.js'
import { type Batch, batchOf, withoutFarDays } from './batch.js'
import { asksForLastProject, resolveLastProjects } from './last-project.js'
import { nothingRecorded, type Recorded } from './mark-heartbeats.js'
import { type HeartbeatPlan, lockAndRead, planMany, planOne } from './plan-heartbeats.js'
import type { ProjectHost, SentHeartbeat } from './project-names.js'
import { hoursAround } from './timeline.js'
import { writePlans } from './write-plans.js'

/** Larger batches are recorded alone. */
const MAX_BATCH = { heartbeats: 50, hours: 12 }

/**
 * Counts heartbeats that were sent just now. Sending them again changes nothing, in any order. Heartbeats that arrive
 * at the same time from different people are written together. The function throws an `ApiError`: `token_invalid`, and
 * `payload_too_large` for a request that would change too many rows.
 */
export const createHeartbeatRecorder = (database: Database, host: ProjectHost) => {
  const record = createRecorder(database, recordOne, recordMany)
  return async (
    userId: string,
    sent: readonly SentHeartbeat[],
    timezone: string | undefined,
  ): Promise<Recorded> => {
    const batch = withoutFarDays(batchOf(userId, sent, timezone, host), Date.now() / 1_000)
    const size = batch.heartbeats.length
    if (size === 0) return nothingRecorded(batch)
    const { recorded, named } = await record({ ...batch, size, isRepeatable: true }, isRecordedAlone(batch))
    rememberRepos(named)
    return recorded
  }
}

/** Whether a batch is recorded alone: it's large, or has to wait for the person's other heartbeats. */
const isRecordedAlone = (batch: Batch): boolean =>
  batch.heartbeats.length > MAX_BATCH.heartbeats ||
  asksForLastProject(batch) ||
  hoursAround(batch.heartbeats.map(({ minute }) => minute)).length > MAX_BATCH.hours

interface QueuedBatch extends Batch, QueuedWrite {}

/** The repositories are those that the person has named in full. */
interface RecordedBatch {
  recorded: Recorded
  named: ReposToRemember
}

const recordOne = async (tx: Tx, sent: QueuedBatch): Promise<Written<RecordedBatch>> => {
  const batch = await resolveLastProjects(tx, sent)
  const facts = await lockAndRead(tx, batch)
  const plan = await planOne(tx, facts)
  if (plan.kind === 'rejected') throw plan.error
  const written = await write(tx, [plan])
  return requireValue(written, plan.userId)
}

const recordMany = async (
  tx: Tx,
  batches: readonly QueuedBatch[],
): Promise<ReadonlyMap<string, Outcome<RecordedBatch>>> => {
  const planned = await planMany(tx, batches)
  const plans = planned.filter((one) => one.kind === 'planned')
  const leftOut = planned.filter((one) => one.kind === 'left out')
  const written = await write(tx, plans)
  return new Map<string, Outcome<RecordedBatch>>([
    ...written,
    ...leftOut.map((one) => [one.userId, one] as const),
  ])
}

/** @returns what was written, by user */
const write = async (
  tx: Tx,
  plans: readonly HeartbeatPlan[],
): Promise<ReadonlyMap<string, Written<RecordedBatch>>> => {
  const results = plans.map(({ userId, recorded, repos }) => ({
    recorded,
    named: reposToRemember(userId, repos),
  }))
  await Promise.all(results.map(({ named }) => storeRepos(tx, named)))
  await writePlans(tx, plans)
  return new Map(results.map((result) => [result.named.userId, { kind: 'recorded', result }]))
}
