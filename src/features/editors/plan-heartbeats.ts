/** Plans what heartbeats change: marks, and the minutes that result from new marks. */
import { limits } from '../../../schemas/limits.js'
import type { ApiError } from '../../errors.js'
import type { Db } from '../../platform/database/client.js'
import { requireValue } from '../../platform/process/maps.js'
import {
  changeTimezone,
  errorForTarget,
  type FlushTarget,
  lockMemberDays,
  type MemberDays,
  type TargetResult,
  type TriedDays,
  triedDaysOf,
  tryToLockMemberDays,
} from '../minutes/index.js'
import type { Batch } from './batch.js'
import { hoursChangedIn, replaceAgentHours } from './count-agents.js'
import { errorForTooMany, type MinutesWorkspace, planMinutes, type TooMany } from './count-minutes.js'
import { countPersonal } from './count-personal.js'
import { type Marked, markHeartbeats, type Recorded } from './mark-heartbeats.js'
import type { Projects } from './project-names.js'
import { lockMarks, tryToLockMarks } from './queries/marks.js'
import { COMPARED_TOGETHER, completeFacts, type Facts, readSurroundings } from './read-facts.js'
import { hasUncounted, toStored } from './timeline.js'
import type { Plan } from './write-plans.js'

/** The changes of a batch, and its outcome. */
export interface HeartbeatPlan extends Plan {
  kind: 'planned'
  recorded: Recorded
  /** Repositories that were named in full. */
  repos: string[]
  projects: Projects
  /** Names that can wait for a repository. */
  mayWait: ReadonlySet<string>
  isFull: boolean
}

/** A batch, or a day of an import, that can't be recorded. */
export interface Rejected {
  kind: 'rejected'
  because: 'unknown person' | 'too large'
  /** As a request is answered. */
  error: ApiError
}

export const rejectedTarget = (target: Exclude<TargetResult, FlushTarget>, repos: number): Rejected => ({
  kind: 'rejected',
  because: target.kind,
  error: errorForTarget(target, repos),
})

export const tooManyMinutes = (minutes: TooMany): Rejected => ({
  kind: 'rejected',
  because: 'too large',
  error: errorForTooMany(minutes),
})

/** A batch that isn't planned together with others. */
interface LeftOut {
  kind: 'left out'
  userId: string
}

const leftOut = (userId: string): LeftOut => ({ kind: 'left out', userId })

/** Waits for everyone who holds a lock. */
export const planAlone = async (tx: Db, batch: Batch): Promise<HeartbeatPlan | Rejected> => {
  const { userId, timezone } = batch
  // Statements run in the order in which they're sent, so the marks are read once they're locked.
  const [, near] = await Promise.all([lockMarks(tx, userId), readSurroundings(tx, [batch])])
  const known = await completeFacts(tx, near, limits.flush_comparisons)
  const facts = requireValue(known, userId)
  const { target } = facts
  if (target.kind !== 'found') return rejectedTarget(target, facts.repoKeys.size)
  // Before the activity lock, so that its holder never waits for the user's row.
  if (timezone !== undefined && timezone !== target.timezone) await changeTimezone(tx, userId, timezone)
  const marked = await markHeartbeats(facts, target)
  if (marked.kind === 'too large') return tooManyMinutes(marked)
  const days = await lockMemberDays(tx, marked.minutes.workspaces)
  return countOne(tx, marked, days)
}

/** The same steps for several people. Waits for no one. @returns what became of each batch */
export const planTogether = async (
  tx: Db,
  batches: readonly Batch[],
): Promise<(HeartbeatPlan | LeftOut)[]> => {
  const userIds = batches.map(({ userId }) => userId)
  const [locked, near] = await Promise.all([tryToLockMarks(tx, userIds), readSurroundings(tx, batches)])
  const held = userIds.filter((userId) => !locked.has(userId))
  const free = near.filter(({ batch }) => locked.has(batch.userId))
  const facts = await completeFacts(tx, free, COMPARED_TOGETHER)
  const marked = await Promise.all(Array.from(facts.values(), markTogether))
  const workspaces = marked.flatMap((one) => (one.kind === 'marked' ? one.minutes.workspaces : []))
  const tried = await tryToLockMemberDays(tx, workspaces)
  const planned = await Promise.all(
    marked.map((one) => (one.kind === 'marked' ? countTogether(tx, one, tried) : one)),
  )
  return [...planned, ...held.map(leftOut)]
}

/** Marks, if that's little enough to be done together with others. */
const markTogether = async (facts: Facts): Promise<Marked | LeftOut> => {
  const { batch, target } = facts
  const { userId, timezone } = batch
  if (target.kind !== 'found') return leftOut(userId)
  if (timezone !== undefined && timezone !== target.timezone) return leftOut(userId)
  const marked = await markHeartbeats(facts, target)
  return marked.kind === 'marked' && marked.minutes.isSmall ? marked : leftOut(userId)
}

/** Counts, if all days of the person are locked. @param tried what became of everyone's days */
const countTogether = async (
  tx: Db,
  marked: Marked,
  tried: readonly TriedDays<MinutesWorkspace>[],
): Promise<HeartbeatPlan | LeftOut> => {
  const { userId } = marked.facts.batch
  const days = triedDaysOf(tried, userId)
  return days.kind === 'locked' ? countOne(tx, marked, days.members) : leftOut(userId)
}

/** Counts the minutes in workspaces, then the person's own, then those of agents. @param days locked */
const countOne = async (
  tx: Db,
  { facts, timeline, recorded, repos, lastAt, newest, minutes: targeted }: Marked,
  days: MemberDays<MinutesWorkspace>[],
): Promise<HeartbeatPlan> => {
  const { batch, projects, names, repoKeys } = facts
  const { userId, isFromJoining } = batch
  const { target, timezone, candidates } = targeted
  const minutes = await planMinutes(targeted, days)
  const { counts } = minutes
  const hadUncounted = hasUncounted(facts.timeline, facts.counts)
  const personal = await countPersonal(
    tx,
    { userId, counts, hadUncounted, target, projects, timezone },
    candidates,
  )
  const agents = await replaceAgentHours(tx, {
    ...{ userId, timeline, projects, isFromJoining },
    hours: hoursChangedIn(timeline),
    timezone: batch.timezone,
    target: { kind: 'read', target, repoKeys },
  })
  const seen = new Set([...lastAt.keys(), ...batch.names])
  return {
    ...{ kind: 'planned', userId, minutes, personal, agents, lastAt, newest },
    ...{ repos, projects, mayWait: names.mayWait, isFull: names.isFull },
    recorded: { ...recorded, minutes_left_out: personal.leftOut },
    hours: toStored(timeline, counts),
    chosen: names.chosen.filter(({ name }) => seen.has(name)),
  }
}
