/** Plans what heartbeats change: marks, and the minutes that result from new marks. */
import { limits } from '../../../schemas/limits.js'
import type { ApiError } from '../../errors.js'
import type { Db } from '../../platform/database/client.js'
import { type LeftOut, leaveOut } from '../../platform/database/write-queue.js'
import { requireValue } from '../../platform/process/maps.js'
import {
  changeTimezone,
  errorForTarget,
  type FlushTarget,
  type LockedDays,
  lockMemberDays,
  type MemberDays,
  type TargetResult,
  tryToLockMemberDays,
} from '../minutes/index.js'
import type { Batch } from './batch.js'
import { hoursChangedIn, readTargetOfAgents, replaceAgentHours, reposOfAgents } from './count-agents.js'
import {
  errorForTooMany,
  type MinutesWorkspace,
  PIECE_MINUTES,
  planMinutes,
  type TargetedMinutes,
  type TooMany,
  targetMinutes,
} from './count-minutes.js'
import { countPersonal } from './count-personal.js'
import { type Marked, markHeartbeats, type Recorded } from './mark-heartbeats.js'
import { lockMarks, tryToLockMarks } from './queries/marks.js'
import { completeFacts, type Facts, MAX_BATCH_COMPARISONS, readPartialFacts } from './read-facts.js'
import { zoneOf } from './recording.js'
import { hasUncounted, toStored } from './timeline.js'
import type { Plan } from './write-plans.js'

/** The changes of a batch, and its outcome. */
export interface HeartbeatPlan extends Plan {
  kind: 'planned'
  recorded: Recorded
  /** Repositories that were named in full. */
  repos: string[]
}

/** A batch, or a day of an import, that can't be recorded. */
export interface Rejected {
  kind: 'rejected'
  because: 'unknown person' | 'too large'
  /** The error for the response. */
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

/** Reads a batch's facts. Waits for those who hold the lock. */
export const lockAndRead = async (tx: Db, batch: Batch): Promise<Facts> => {
  // Statements run in the order in which they're sent, so the marks are read once they're locked.
  const [, near] = await Promise.all([lockMarks(tx, batch.userId), readPartialFacts(tx, [batch])])
  const known = await completeFacts(tx, near, limits.flush_comparisons)
  return requireValue(known, batch.userId)
}

/** Plans a batch on its own. Waits for locks that others hold. */
export const planOne = async (tx: Db, facts: Facts): Promise<HeartbeatPlan | Rejected> => {
  const { target, batch } = facts
  const { userId, timezone } = batch
  if (target.kind !== 'found') return rejectedTarget(target, facts.repoKeys.size)
  // Before the activity lock, so that its holder never waits for the user's row.
  if (timezone !== undefined && timezone !== target.timezone) await changeTimezone(tx, userId, timezone)
  const marked = markHeartbeats(facts, target)
  const targeted = await targetMinutes(minutesOf(facts, target, marked))
  if (targeted.kind === 'too large') return tooManyMinutes(targeted)
  const days = await lockMemberDays(tx, targeted.workspaces)
  return countOne(tx, { kind: 'marked', facts, target, marked, targeted }, days)
}

/** The same steps for several people. Waits for no one. @returns what became of each batch */
export const planMany = async (tx: Db, batches: readonly Batch[]): Promise<(HeartbeatPlan | LeftOut)[]> => {
  const userIds = batches.map(({ userId }) => userId)
  const [locked, near] = await Promise.all([tryToLockMarks(tx, userIds), readPartialFacts(tx, batches)])
  const held = userIds.filter((userId) => !locked.has(userId))
  const free = near.filter(({ batch }) => locked.has(batch.userId))
  const facts = await completeFacts(tx, free, MAX_BATCH_COMPARISONS)
  const people = await Promise.all(Array.from(facts.values(), markInSet))
  const daysOf = await tryToLockMemberDays(
    tx,
    people.flatMap((one) =>
      one.kind === 'marked' ? [{ userId: one.facts.batch.userId, workspaces: one.targeted.workspaces }] : [],
    ),
  )
  const planned = await Promise.all(
    people.map((one) =>
      one.kind === 'marked' ? countInSet(tx, one, requireValue(daysOf, one.facts.batch.userId)) : one,
    ),
  )
  return [...planned, ...held.map(leaveOut)]
}

/** A person whose heartbeats are marked, and haven't counted yet. */
interface MarkedPerson {
  kind: 'marked'
  facts: Facts
  target: FlushTarget
  marked: Marked
  targeted: TargetedMinutes
}

/** Marks the minutes, if there are few enough to do it together with others. */
const markInSet = async (facts: Facts): Promise<MarkedPerson | LeftOut> => {
  const { batch, target } = facts
  const { userId, timezone } = batch
  if (target.kind !== 'found') return leaveOut(userId)
  if (timezone !== undefined && timezone !== target.timezone) return leaveOut(userId)
  const marked = markHeartbeats(facts, target)
  const targeted = await targetMinutes(minutesOf(facts, target, marked))
  if (targeted.kind === 'too large') return leaveOut(userId)
  const minutes = targeted.workspaces.reduce((sum, { own }) => sum + own.length, 0)
  if (minutes >= PIECE_MINUTES) return leaveOut(userId)
  return { kind: 'marked', facts, target, marked, targeted }
}

const minutesOf = ({ batch, projects }: Facts, target: FlushTarget, { candidates }: Marked) => ({
  userId: batch.userId,
  target,
  timezone: zoneOf(target, batch.timezone),
  projects,
  candidates,
  isFromJoining: batch.source.kind === 'file',
})

/** Counts the minutes, if all of the person's days are locked. */
const countInSet = async (
  tx: Db,
  person: MarkedPerson,
  days: LockedDays<MinutesWorkspace> | LeftOut,
): Promise<HeartbeatPlan | LeftOut> => (days.kind === 'locked' ? countOne(tx, person, days.members) : days)

/** Counts the minutes in workspaces, then the person's own, then those of agents. @param days locked */
const countOne = async (
  tx: Db,
  { facts, target, marked, targeted }: MarkedPerson,
  days: MemberDays<MinutesWorkspace>[],
): Promise<HeartbeatPlan> => {
  const { batch, projects, names, repoKeys, timeline: timelineBefore, countsBefore } = facts
  const { timeline, recorded, repos, lastAt, newest, candidates } = marked
  const { userId, source } = batch
  const timezone = zoneOf(target, batch.timezone)
  const minutes = await planMinutes({ timezone, projects, countsBefore }, targeted, days)
  const { countsAfter } = minutes
  const hadUncounted = hasUncounted(timelineBefore, countsBefore)
  const personal = await countPersonal(
    tx,
    { userId, countsAfter, hadUncounted, target, projects, timezone },
    candidates,
  )
  const agentRepos = reposOfAgents(timeline, projects)
  const areKnown = [...agentRepos].every((repoKey) => repoKeys.has(repoKey))
  const targetOfAgents = areKnown ? target : await readTargetOfAgents(tx, userId, agentRepos)
  const agents = await replaceAgentHours(tx, {
    userId,
    timeline,
    projects,
    isFromJoining: source.kind === 'file',
    hours: hoursChangedIn(timeline),
    timezone: batch.timezone,
    target: targetOfAgents,
  })
  const namesOfFile = source.kind === 'file' ? source.names : []
  const seen = new Set([...lastAt.keys(), ...namesOfFile])
  return {
    kind: 'planned',
    userId,
    recorded: { ...recorded, minutes_left_out: personal.leftOut },
    repos,
    minutes,
    personal,
    agents,
    hours: toStored(timeline, countsAfter),
    chosen: names.chosen.filter(({ name }) => seen.has(name)),
    lastAt,
    newest,
    isFull: names.isFull,
  }
}
