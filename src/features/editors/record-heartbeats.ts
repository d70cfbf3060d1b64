/** Turns heartbeats into minutes. */
import type { Database, Tx } from '../../platform/database/client.js'
import {
  createRecorder,
  type Outcome,
  type QueuedWrite,
  type Written,
} from '../../platform/database/write-queue.js'
import { reposToRemember } from '../accounts/index.js'
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
    return record({ ...batch, size, isRepeatable: true }, isForItself(batch))
  }
}

/** Whether a batch is recorded alone: it's large, or has to wait for the person's other heartbeats. */
const isForItself = (batch: Batch): boolean =>
  batch.heartbeats.length > TOGETHER.heartbeats ||
  asksForLastProject(batch) ||
  hoursAround(batch.heartbeats.map(({ minute }) => minute)).length > TOGETHER.hours

interface QueuedBatch extends Batch, QueuedWrite {}

const recordAlone = async (tx: Tx, database: Database, sent: QueuedBatch): Promise<Written<Recorded>> => {
  const batch = await resolveLastProjects(tx, sent)
  const plan = await planAlone(tx, batch)
  const named = namedBy(database, plan)
  await named.write(tx)
  await writePlans(tx, [plan])
  return { kind: 'recorded', result: plan.recorded, named }
}

const recordTogether = async (
  tx: Tx,
  database: Database,
  batches: readonly QueuedBatch[],
): Promise<Outcome<Recorded>[]> => {
  const outcomes = new Map(
    (await planTogether(tx, batches)).map((one) => [
      one.userId,
      one.kind === 'planned' ? { ...one, named: namedBy(database, one.plan) } : one,
    ]),
  )
  const planned = [...outcomes.values()].filter((one) => one.kind === 'planned')
  await Promise.all(planned.map(({ named }) => named.write(tx)))
  await writePlans(
    tx,
    planned.map(({ plan }) => plan),
  )
  return batches.map(({ userId }) => {
    const outcome = outcomes.get(userId)
    if (!outcome) throw new Error('Every batch is planned or left out')
    if (outcome.kind === 'left out') return outcome
    return { kind: 'recorded', result: outcome.plan.recorded, named: outcome.named }
  })
}

/** The repositories that a person has named in full, to remember. */
const namedBy = (database: Database, { userId, repos }: HeartbeatPlan) =>
  reposToRemember(database, userId, repos)
