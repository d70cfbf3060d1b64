/** Plans what heartbeats change: marks, and the minutes that result from new marks. */
import { limits } from '../../../schemas/limits.js'
import type { ApiError } from '../../errors.js'
import type { Db } from '../../platform/database/client.js'
import { singleRow } from '../../platform/database/statement.js'
import { requireValue } from '../../platform/process/maps.js'
import {
  changeTimezone,
  type FlushTarget,
  type LeftOutDays,
  lockMemberDays,
  type MemberDays,
  requireTarget,
  type TargetResult,
  tryToLockMemberDays,
} from '../minutes/index.js'
import type { Batch } from './batch.js'
import { countAgents, hoursChangedIn } from './count-agents.js'
import { type MinutesWorkspace, planMinutes, type TargetedMinutes, targetMinutes } from './count-minutes.js'
import { countPersonal } from './count-personal.js'
import { type Marked, markHeartbeats, type Recorded } from './mark-heartbeats.js'
import type { Projects } from './project-names.js'
import { lockMarks, tryToLockMarks } from './queries/marks.js'
import {
  COMPARED_TOGETHER,
  completeTargets,
  type Known,
  readFarMarks,
  readNearMarks,
  readTargetsOfSent,
  resolveProjects,
} from './read-known.js'
import { zoneOf } from './recording.js'
import { hasUncounted, toStored } from './timeline.js'
import type { Plan } from './write-plans.js'

/** The changes of a batch, and its outcome. */
export interface HeartbeatPlan extends Plan {
  recorded: Recorded
  /** Repositories that were named in full. */
  repos: string[]
  projects: Projects
  /** Names that can wait for a repository. */
  mayWait: ReadonlySet<string>
  isFull: boolean
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
  const [, near, targetsOfSent] = await Promise.all([
    lockMarks(tx, userId),
    readNearMarks(tx, [batch]),
    readTargetsOfSent(tx, [batch]),
  ])
  const stored = await readFarMarks(tx, near)
  const known = await resolveProjects(tx, singleRow(stored))
  const targets = await completeTargets(tx, targetsOfSent, [known], limits.flush_comparisons)
  const target = requireTarget(requireValue(targets, userId), known.involved.size)
  // Before the activity lock, so that its holder never waits for the user's row.
  if (timezone !== undefined && timezone !== target.timezone) await changeTimezone(tx, userId, timezone)
  const marked = markHeartbeats(known, target)
  const targeted = await targetMarked(known, target, marked)
  if (targeted.kind === 'too large') throw targeted.error
  const days = await lockMemberDays(tx, targeted.minutes.workspaces)
  return countMarked(tx, targeted, days)
}

/** The same steps for several people. Waits for no one. @returns what became of each batch, in the same order */
export const planTogether = async (tx: Db, batches: readonly Batch[]): Promise<Planned[]> => {
  const userIds = batches.map(({ userId }) => userId)
  const [locked, near, targetsOfSent] = await Promise.all([
    tryToLockMarks(tx, userIds),
    readNearMarks(tx, batches),
    readTargetsOfSent(tx, batches),
  ])
  const nearOfLocked = near.filter(({ wanted }) => locked.has(wanted.userId))
  const stored = await readFarMarks(tx, nearOfLocked)
  const known = await Promise.all(stored.map((one) => resolveProjects(tx, one)))
  const targets = await completeTargets(tx, targetsOfSent, known, COMPARED_TOGETHER)
  const targeted = await Promise.all(
    known.map((one) => targetTogether(one, requireValue(targets, one.batch.userId))),
  )
  const workspaces = targeted.flatMap((one) => (one.kind === 'targeted' ? one.minutes.workspaces : []))
  const days = await tryToLockMemberDays(tx, workspaces)
  const planned = await Promise.all(
    targeted.map((one) => (one.kind === 'targeted' ? countTogether(tx, one, days) : one)),
  )
  const held = userIds.filter((userId) => !locked.has(userId)).map((userId) => leftOut(userId, 'held'))
  const outcomes = new Map([...planned, ...held].map((one) => [one.userId, one]))
  return userIds.map((userId) => requireValue(outcomes, userId))
}

const leftOut = (userId: string, because: LeftOut['because']): LeftOut => ({
  kind: 'left out',
  userId,
  because,
})

/** Marked heartbeats, and the minutes that may count. */
interface Targeted {
  kind: 'targeted'
  known: Known
  target: FlushTarget
  marked: Marked
  minutes: TargetedMinutes
}

/** Marks, if that's little enough to be done together with others. */
const targetTogether = async (known: Known, target: TargetResult): Promise<Targeted | LeftOut> => {
  const { userId, timezone } = known.batch
  if (target.kind !== 'found') return leftOut(userId, target.kind)
  if (timezone !== undefined && timezone !== target.timezone) return leftOut(userId, 'new time zone')
  const targeted = await targetMarked(known, target, markHeartbeats(known, target))
  if (targeted.kind === 'too large' || !targeted.minutes.isSmall) return leftOut(userId, 'too large')
  return targeted
}

const targetMarked = async (
  known: Known,
  target: FlushTarget,
  marked: Marked,
): Promise<Targeted | { kind: 'too large'; error: ApiError }> => {
  const { batch, counts, projects } = known
  const { userId, isFromJoining } = batch
  const { candidates } = marked
  const timezone = zoneOf(target, batch.timezone)
  const targeting = await targetMinutes({
    ...{ userId, counts, target, timezone, projects, candidates, isFromJoining },
    imported: 'none',
  })
  return targeting.kind === 'too large'
    ? targeting
    : { kind: 'targeted', known, target, marked, minutes: targeting.minutes }
}

/** @param days what became of everyone's days */
const countTogether = async (
  tx: Db,
  targeted: Targeted,
  days: readonly (MemberDays<MinutesWorkspace> | LeftOutDays<MinutesWorkspace>)[],
): Promise<Planned> => {
  const { userId } = targeted.known.batch
  const own = days.filter(({ workspace }) => workspace.userId === userId)
  const missing = own.find((one) => one.kind === 'left out')
  if (missing) return leftOut(userId, missing.because)
  const locked = own.filter((one) => one.kind === 'locked')
  return { kind: 'planned', userId, plan: await countMarked(tx, targeted, locked) }
}

/** Counts the minutes in workspaces, then the person's own, then those of agents. @param days locked */
const countMarked = async (
  tx: Db,
  { known, target, marked, minutes: targeted }: Targeted,
  days: MemberDays<MinutesWorkspace>[],
): Promise<HeartbeatPlan> => {
  const { batch, projects, names, involved } = known
  const { userId, isFromJoining } = batch
  const { timeline, recorded, repos, lastAt, newest, candidates } = marked
  const { timezone } = targeted
  const minutes = await planMinutes(targeted, days)
  const { counts } = minutes
  const hadUncounted = hasUncounted(known.timeline, known.counts)
  const personal = await countPersonal(
    tx,
    { userId, counts, hadUncounted, target, projects, timezone },
    candidates,
  )
  const agents = await countAgents(tx, {
    ...{ userId, timeline, projects, isFromJoining },
    hours: hoursChangedIn(timeline),
    timezone: batch.timezone,
    read: { target, repoKeys: involved },
    keepsMinutes: false,
  })
  const seen = new Set([...lastAt.keys(), ...(batch.names ?? [])])
  return {
    ...{ userId, minutes, personal, agents, lastAt, newest },
    ...{ repos, projects, mayWait: names.mayWait, isFull: names.isFull },
    recorded: { ...recorded, minutes_left_out: personal.leftOut },
    hours: toStored(timeline, counts),
    chosen: names.chosen.filter(({ name }) => seen.has(name)),
  }
}
