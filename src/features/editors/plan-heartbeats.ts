/** Plans what heartbeats change: marks, and the minutes that result from new marks. */
import { limits } from '../../../schemas/limits.js'
import type { Db } from '../../platform/database/client.js'
import { requireValue } from '../../platform/process/maps.js'
import {
  changeTimezone,
  type FlushTarget,
  lockMemberDays,
  type MemberDays,
  requireTarget,
  type TriedDays,
  triedDaysOf,
  tryToLockMemberDays,
} from '../minutes/index.js'
import type { Batch } from './batch.js'
import { countAgents, hoursChangedIn } from './count-agents.js'
import {
  errorForTooMany,
  type MinutesWorkspace,
  planMinutes,
  type TargetedMinutes,
  type TooMany,
  targetMinutes,
} from './count-minutes.js'
import { countPersonal } from './count-personal.js'
import { type Marked, markHeartbeats, type Recorded } from './mark-heartbeats.js'
import type { Projects } from './project-names.js'
import { lockMarks, tryToLockMarks } from './queries/marks.js'
import { COMPARED_TOGETHER, completeFacts, type Facts, type Known, readNearFacts } from './read-known.js'
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

const leftOut = (userId: string, because: LeftOut['because']): LeftOut => ({
  kind: 'left out',
  userId,
  because,
})

/**
 * Waits for everyone who holds a lock.
 * @throws {ApiError} `token_invalid`, `payload_too_large`
 */
export const planAlone = async (tx: Db, batch: Batch): Promise<HeartbeatPlan> => {
  const { userId, timezone } = batch
  // Statements run in the order in which they're sent, so the marks are read once they're locked.
  const [, near] = await Promise.all([lockMarks(tx, userId), readNearFacts(tx, [batch])])
  const facts = await completeFacts(tx, [batch], near, limits.flush_comparisons)
  const { known, target: found } = requireValue(facts, userId)
  const target = requireTarget(found, known.involved.size)
  // Before the activity lock, so that its holder never waits for the user's row.
  if (timezone !== undefined && timezone !== target.timezone) await changeTimezone(tx, userId, timezone)
  const marked = await markOne(known, target)
  if (marked.kind === 'too large') throw errorForTooMany(marked)
  const days = await lockMemberDays(tx, marked.minutes.workspaces)
  return countOne(tx, marked, days)
}

/** The same steps for several people. Waits for no one. @returns what became of each batch, in the same order */
export const planTogether = async (tx: Db, batches: readonly Batch[]): Promise<Planned[]> => {
  const userIds = batches.map(({ userId }) => userId)
  const [locked, near] = await Promise.all([tryToLockMarks(tx, userIds), readNearFacts(tx, batches)])
  const free = batches.filter(({ userId }) => locked.has(userId))
  const facts = await completeFacts(tx, free, near, COMPARED_TOGETHER)
  const marked = await Promise.all(
    batches.map(({ userId }) =>
      locked.has(userId) ? markTogether(requireValue(facts, userId)) : leftOut(userId, 'held'),
    ),
  )
  const workspaces = marked.flatMap((one) => (one.kind === 'marked' ? one.minutes.workspaces : []))
  const tried = await tryToLockMemberDays(tx, workspaces)
  return Promise.all(marked.map((one) => (one.kind === 'marked' ? countTogether(tx, one, tried) : one)))
}

/** Marked heartbeats, and the minutes that may count. */
interface MarkedBatch {
  kind: 'marked'
  known: Known
  target: FlushTarget
  marked: Marked
  minutes: TargetedMinutes
}

/** Marks, and finds the minutes that may count. */
const markOne = async (known: Known, target: FlushTarget): Promise<MarkedBatch | TooMany> => {
  const { batch, counts, projects } = known
  const { userId, isFromJoining } = batch
  const marked = markHeartbeats(known, target)
  const { candidates } = marked
  const timezone = zoneOf(target, batch.timezone)
  const minutes = await targetMinutes({
    ...{ userId, counts, target, timezone, projects, candidates, isFromJoining },
    imported: 'none',
  })
  return minutes.kind === 'too large' ? minutes : { kind: 'marked', known, target, marked, minutes }
}

/** Marks, if that's little enough to be done together with others. */
const markTogether = async ({ known, target }: Facts): Promise<MarkedBatch | LeftOut> => {
  const { userId, timezone } = known.batch
  if (target.kind !== 'found') return leftOut(userId, target.kind)
  if (timezone !== undefined && timezone !== target.timezone) return leftOut(userId, 'new time zone')
  const marked = await markOne(known, target)
  return marked.kind === 'marked' && marked.minutes.isSmall ? marked : leftOut(userId, 'too large')
}

/** Counts, if all days of the person are locked. @param tried what became of everyone's days */
const countTogether = async (
  tx: Db,
  marked: MarkedBatch,
  tried: readonly TriedDays<MinutesWorkspace>[],
): Promise<Planned> => {
  const { userId } = marked.known.batch
  const days = triedDaysOf(tried, userId)
  if (days.kind === 'left out') return leftOut(userId, days.because)
  return { kind: 'planned', userId, plan: await countOne(tx, marked, days.members) }
}

/** Counts the minutes in workspaces, then the person's own, then those of agents. @param days locked */
const countOne = async (
  tx: Db,
  { known, target, marked, minutes: targeted }: MarkedBatch,
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
