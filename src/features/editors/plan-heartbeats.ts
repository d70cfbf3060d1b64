/** Plans what heartbeats change: marks, and the minutes that result from new marks. */
import { limits } from '../../../schemas/limits.js'
import type { Db } from '../../platform/database/client.js'
import { singleRow } from '../../platform/database/statement.js'
import {
  changeTimezone,
  lockMemberDays,
  type MemberDays,
  requireTarget,
  tryToLockMemberDays,
} from '../minutes/index.js'
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
import { lockMarks, tryToLockMarks } from './queries/marks.js'
import type { EditorProject } from './queries/projects.js'
import {
  askAbout,
  COMPARED_TOGETHER,
  isCompared,
  type Known,
  type Resolved,
  readFarther,
  readOtherTargets,
  readStored,
  resolveProjects,
} from './read-known.js'
import { type StoredHour, toStored } from './timeline.js'
import type { Plan } from './write-plans.js'

/** The changes of a batch, and its outcome. */
export interface HeartbeatPlan extends Plan, Pick<Known, 'projects' | 'mayWait'> {
  isFull: boolean
  recorded: Recorded
  /** Repositories that were named in full. */
  repos: string[]
  hours: StoredHour[]
  chosen: EditorProject[]
}

/** The outcome of planning a batch together with others. */
export type Planned = { kind: 'planned'; userId: string; plan: HeartbeatPlan } | LeftOut

/** A batch that isn't planned together with others. */
interface LeftOut {
  kind: 'left out'
  userId: string
  because: 'held' | 'unknown person' | 'too large' | 'new time zone'
}

/**
 * Waits for everyone who holds a lock.
 * @throws {ApiError} `token_invalid`, `payload_too_large`
 */
export const planAlone = async (tx: Db, batch: Batch): Promise<HeartbeatPlan> => {
  const { userId, timezone } = batch
  // Statements run in the order in which they're sent, so the marks are read once they're locked.
  const [, stored] = await Promise.all([lockMarks(tx, userId), readStored(tx, [askAbout(batch)])])
  const resolved = await resolveProjects(tx, await readFarther(tx, stored))
  const { target, ...one } = singleRow(await readOtherTargets(tx, resolved, limits.flush_comparisons))
  const known = { ...one, target: requireTarget(target, one.involved.size) }
  // Before the activity lock, so that its holder never waits for the user's row.
  if (timezone !== undefined && timezone !== known.target.timezone) await changeTimezone(tx, userId, timezone)
  const marked = markHeartbeats(known)
  const targeting = await targetMarked(known, marked)
  if (targeting.kind === 'too large') throw targeting.error
  const { minutes } = targeting
  const members = await lockMemberDays(tx, minutes.workspaces)
  return countMarked(tx, { known, marked, minutes, members })
}

/** Waits for no one. @returns what became of each batch, in any order */
export const planTogether = async (tx: Db, batches: readonly Batch[]): Promise<Planned[]> => {
  // In this order, as in `planAlone`.
  const [locked, stored] = await Promise.all([
    tryToLockMarks(
      tx,
      batches.map(({ userId }) => userId),
    ),
    readStored(tx, batches.map(askAbout)),
  ])
  const held = stored.filter(({ userId }) => !locked.has(userId))
  const own = stored.filter(({ userId }) => locked.has(userId))
  const resolved = await resolveProjects(tx, await readFarther(tx, own))
  const known = await readOtherTargets(tx, resolved, COMPARED_TOGETHER)
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
  return [...planned, ...held.map(({ userId }): LeftOut => ({ kind: 'left out', userId, because: 'held' }))]
}

interface Targeted {
  kind: 'targeted'
  userId: string
  known: Known
  marked: Marked
  minutes: TargetedMinutes
}

const targetTogether = async ({ target, ...one }: Resolved): Promise<Targeted | LeftOut> => {
  const { userId, batch } = one
  if (!target) return { kind: 'left out', userId, because: 'unknown person' }
  if (!isCompared(target)) return { kind: 'left out', userId, because: 'too large' }
  if (batch.timezone !== undefined && batch.timezone !== target.timezone)
    return { kind: 'left out', userId, because: 'new time zone' }
  const known = { ...one, target }
  const marked = markHeartbeats(known)
  const targeting = await targetMarked(known, marked)
  if (targeting.kind === 'too large' || !targeting.minutes.isSmall)
    return { kind: 'left out', userId, because: 'too large' }
  return { kind: 'targeted', userId, known, marked, minutes: targeting.minutes }
}

const targetMarked = (known: Known, { candidates, fromJoining }: Marked) => {
  const { batch, userId, counts, target, projects } = known
  const timezone = zoneOf(target, batch.timezone)
  return targetMinutes({ userId, counts, target, timezone, projects, candidates, fromJoining })
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
  const { batch, userId, projects, mayWait, isFull, hadUncounted, target, involved } = known
  const { timeline, recorded, repos, lastAt, newest, candidates } = marked
  const { timezone } = targeted
  const minutes = await planMinutes(targeted, members)
  const { counts } = minutes
  const personal = await countPersonal(
    tx,
    { userId, counts, hadUncounted, target, projects, timezone },
    candidates,
  )
  const agents = await countAgents(
    tx,
    { userId, timeline, projects },
    {
      isFromJoining: batch.isFromJoining,
      timezone: batch.timezone,
      read: { target, repoKeys: involved },
    },
  )
  const names = new Set([...lastAt.keys(), ...(batch.names ?? [])])
  return {
    ...{ userId, projects, mayWait, isFull, repos, lastAt, newest, minutes, personal, agents },
    recorded: { ...recorded, minutes_left_out: personal.leftOut },
    hours: toStored(timeline, counts),
    chosen: known.chosen.filter(({ name }) => names.has(name)),
  }
}
