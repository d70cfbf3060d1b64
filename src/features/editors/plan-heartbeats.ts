/** Plans what heartbeats change: marks, and the minutes that result from new marks. */
import type { Db } from '../../platform/database/client.js'
import { singleRow } from '../../platform/database/statement.js'
import { changeTimezone, lockMemberDays, type MemberDays, tryToLockMemberDays } from '../minutes/index.js'
import type { Batch } from './batch.js'
import { countAgents } from './count-agents.js'
import {
  type MinutesWorkspace,
  planMinutes,
  type TargetedMinutes,
  targetMinutes,
  zoneOf,
} from './count-minutes.js'
import { countPersonal } from './count-personal.js'
import { type Marked, markHeartbeats, type Recorded } from './mark-heartbeats.js'
import type { EditorProject } from './queries/projects.js'
import { type Known, readKnown } from './read-known.js'
import type { StoredHour } from './timeline.js'
import type { Plan } from './write-plans.js'

/** What a batch changes, and its outcome. */
export interface HeartbeatPlan extends Plan, Pick<Known, 'projects' | 'mayWait'> {
  isFull: boolean
  recorded: Recorded
  /** Repositories that were named in full. */
  repos: string[]
  hours: StoredHour[]
  chosen: EditorProject[]
}

/** What became of a batch that was planned together with others. */
export type Planned = { kind: 'planned'; userId: string; plan: HeartbeatPlan } | LeftOut

/** A batch that isn't planned together with others. */
interface LeftOut {
  kind: 'left out'
  userId: string
  because: 'held' | 'too large'
}

/**
 * Waits for everyone who holds a lock.
 * @throws {ApiError} `token_invalid`, `payload_too_large`
 */
export const planAlone = async (tx: Db, batch: Batch): Promise<HeartbeatPlan> => {
  const known = singleRow(await readKnown(tx, [batch], true))
  // Before the activity lock, so that its holder never waits for the user's row.
  if (batch.timezone !== undefined && isMoving(known)) await changeTimezone(tx, batch.userId, batch.timezone)
  const marked = markHeartbeats(known)
  const targeting = await targetMarked(known, marked)
  if (targeting.kind === 'too large') throw targeting.error
  const { minutes } = targeting
  const members = await lockMemberDays(tx, minutes.workspaces)
  return countMarked(tx, { known, marked, minutes, members })
}

/** Waits for no one, and returns what became of each batch, in the same order. */
export const planTogether = async (tx: Db, batches: readonly Batch[]): Promise<Planned[]> => {
  const known = (await readKnown(tx, batches, false)).filter((one) => !isMoving(one))
  const targeted = await Promise.all(known.map(targetTogether))
  const days = await tryToLockMemberDays(
    tx,
    targeted.flatMap((one) => (one.kind === 'targeted' ? one.minutes.workspaces : [])),
  )
  const planned = await Promise.all(
    targeted.map(async (one): Promise<Planned> => {
      if (one.kind === 'left out') return one
      const { userId } = one
      const own = days.filter(({ workspace }) => workspace.userId === userId)
      const leftOut = own.find((one) => one.kind === 'left out')
      if (leftOut) return { kind: 'left out', userId, because: leftOut.because }
      const members = own.filter((one) => one.kind === 'locked')
      return { kind: 'planned', userId, plan: await countMarked(tx, { ...one, members }) }
    }),
  )
  const plannedOf = new Map(planned.map((one) => [one.userId, one]))
  return batches.map(({ userId }) => plannedOf.get(userId) ?? { kind: 'left out', userId, because: 'held' })
}

interface Targeted {
  kind: 'targeted'
  userId: string
  known: Known
  marked: Marked
  minutes: TargetedMinutes
}

const targetTogether = async (known: Known): Promise<Targeted | LeftOut> => {
  const { userId } = known
  const marked = markHeartbeats(known)
  const targeting = await targetMarked(known, marked)
  if (targeting.kind === 'too large' || !targeting.minutes.isSmall)
    return { kind: 'left out', userId, because: 'too large' }
  return { kind: 'targeted', userId, known, marked, minutes: targeting.minutes }
}

/** Whether the sender's time zone isn't the stored one. */
const isMoving = ({ batch: { timezone }, target }: Known): boolean =>
  timezone !== undefined && timezone !== target.timezone

const targetMarked = (known: Known, { candidates, fromJoining }: Marked) => {
  const { batch, userId, timeline, target, projects } = known
  const timezone = zoneOf(target, batch.timezone)
  return targetMinutes({ userId, timeline, target, timezone, projects, candidates, fromJoining })
}

interface Locked {
  known: Known
  marked: Marked
  minutes: TargetedMinutes
  members: MemberDays<MinutesWorkspace>[]
}

const countMarked = async (
  tx: Db,
  { known, marked, minutes: targeted, members }: Locked,
): Promise<HeartbeatPlan> => {
  const { batch, timeline, target, involved } = known
  const { timezone } = targeted
  const minutes = await planMinutes(targeted, members)
  const personal = await countPersonal(tx, { ...known, timezone }, marked.candidates)
  const agents = await countAgents(tx, known, {
    isFromJoining: batch.isFromJoining,
    timezone: batch.timezone,
    read: { target, repoKeys: involved },
  })
  const names = new Set([...marked.lastAt.keys(), ...(batch.names ?? [])])
  return {
    ...known,
    ...marked,
    recorded: { ...marked.recorded, minutes_left_out: personal.leftOut },
    hours: timeline.toStored(),
    chosen: known.chosen.filter(({ name }) => names.has(name)),
    minutes,
    personal,
    agents,
  }
}
