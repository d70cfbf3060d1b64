/** Plans what heartbeats change: marks, and the minutes that result from new marks. */
import type { ApiError } from '../../errors.js'
import type { Db } from '../../platform/database/client.js'
import { type LeftOut, leaveOut } from '../../platform/database/write-queue.js'
import { requireValue } from '../../platform/process/maps.js'
import { nameTimezone, nextTimezone } from '../accounts/index.js'
import {
  errorForTarget,
  type FlushTarget,
  type LockedDays,
  lockMemberDays,
  type MemberDays,
  type TargetResult,
  tryToLockMemberDays,
} from '../minutes/index.js'
import type { Batch } from './batch.js'
import { countAgents } from './count-agents.js'
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
import { type Marked, markHeartbeats, type RecordingResult } from './mark-heartbeats.js'
import { type Facts, readFactsOfMany } from './read-facts.js'
import { type Recording, recordingOf } from './recording.js'
import { hasUncounted, hoursBeside, toStored } from './timeline.js'
import type { Plan } from './write-plans.js'

/** The changes of a batch, and its outcome. */
export interface HeartbeatPlan extends Plan {
  kind: 'planned'
  recorded: RecordingResult
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

/** Plans a batch on its own. Waits for locks that others hold. */
export const planOne = async (tx: Db, facts: Facts): Promise<HeartbeatPlan | Rejected> => {
  const { target, batch } = facts
  const { userId, timezone } = batch
  if (target.kind !== 'found') return rejectedTarget(target, facts.repoKeys.size)
  // Before the activity lock, so that its holder never waits for the user's row.
  await nameTimezone(tx, userId, target, timezone)
  const person = await mark(facts, target)
  if (person.kind === 'too large') return tooManyMinutes(person)
  const days = await lockMemberDays(tx, person.targeted.workspaces)
  return countOne(tx, person, days)
}

/** The same steps for several people. Waits for no one. @returns what became of each batch, in order */
export const planMany = async (tx: Db, batches: readonly Batch[]): Promise<(HeartbeatPlan | LeftOut)[]> => {
  const facts = await readFactsOfMany(tx, batches)
  const people = await Promise.all(facts.map((one) => (one.kind === 'read' ? markInSet(one) : one)))
  const daysOf = await tryToLockMemberDays(
    tx,
    people.flatMap((one) =>
      one.kind === 'marked' ? [{ userId: one.facts.batch.userId, workspaces: one.targeted.workspaces }] : [],
    ),
  )
  return Promise.all(
    people.map((one) =>
      one.kind === 'marked' ? countInSet(tx, one, requireValue(daysOf, one.facts.batch.userId)) : one,
    ),
  )
}

/** A person whose heartbeats are marked, and haven't counted yet. */
interface MarkedPerson {
  kind: 'marked'
  facts: Facts
  recording: Recording
  marked: Marked
  targeted: TargetedMinutes
}

/** Marks the minutes, and finds out where they may count. */
const mark = async (facts: Facts, target: FlushTarget): Promise<MarkedPerson | TooMany> => {
  const { batch, projects } = facts
  const { userId, isFromJoining } = batch
  const recording = recordingOf(target, batch.timezone)
  const marked = markHeartbeats(facts, target, recording)
  const targeted = await targetMinutes({
    userId,
    target,
    recording,
    projects,
    candidates: marked.candidates,
    isFromJoining,
  })
  return targeted.kind === 'too large' ? targeted : { kind: 'marked', facts, recording, marked, targeted }
}

/** Marks the minutes, if there are few enough to do it together with others. */
const markInSet = async (facts: Facts): Promise<MarkedPerson | LeftOut> => {
  const { batch, target } = facts
  const { userId, timezone } = batch
  if (target.kind !== 'found') return leaveOut(userId)
  if (nextTimezone(target, timezone) !== target.timezone) return leaveOut(userId)
  const person = await mark(facts, target)
  if (person.kind === 'too large') return leaveOut(userId)
  const minutes = person.targeted.workspaces.reduce((sum, { own }) => sum + own.length, 0)
  return minutes < PIECE_MINUTES ? person : leaveOut(userId)
}

/** Counts the minutes, if all of the person's days are locked. */
const countInSet = async (
  tx: Db,
  person: MarkedPerson,
  days: LockedDays<MinutesWorkspace> | LeftOut,
): Promise<HeartbeatPlan | LeftOut> => (days.kind === 'locked' ? countOne(tx, person, days.members) : days)

/** Counts the minutes in workspaces, then the person's own, then those of agents. @param days locked */
const countOne = async (
  tx: Db,
  { facts, recording, marked, targeted }: MarkedPerson,
  days: MemberDays<MinutesWorkspace>[],
): Promise<HeartbeatPlan> => {
  const { batch, projects, names, timeline: timelineBefore, countsBefore } = facts
  const { timeline, recorded, repos, lastAt, newest, candidates } = marked
  const { userId, isFromJoining, namesOfFile } = batch

  const minutes = await planMinutes({ recording, projects, countsBefore }, targeted, days)
  const { countsAfter } = minutes

  const hadUncounted = hasUncounted(timelineBefore, countsBefore)
  const personal = await countPersonal(
    tx,
    userId,
    { countsAfter, projects, recording },
    { candidates, hadUncounted },
  )
  const { timezone } = recording
  const hoursOfAgents = new Set(hoursBeside(marked.hours))
  const agents = await countAgents(
    tx,
    userId,
    { timeline, projects, hours: hoursOfAgents, areKept: true, isFromJoining, timezone },
    facts.targetOfAgents,
  )
  const seen = new Set([...lastAt.keys(), ...namesOfFile])
  return {
    kind: 'planned',
    userId,
    recorded: { ...recorded, minutes_left_out: personal.leftOut },
    repos,
    minutes,
    personal,
    agents,
    hours: toStored(timeline, countsAfter, [...marked.hours, ...minutes.hours]),
    chosen: names.chosen.filter(({ name }) => seen.has(name)),
    lastAt,
    newest,
    isFull: names.isFull,
  }
}
