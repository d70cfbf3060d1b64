/** Plans what heartbeats change: marks, and the minutes that result from new marks. */
import type { ApiError } from '../../errors.js'
import type { Db } from '../../platform/database/client.js'
import { type PersonDays, readPersonDays } from '../minutes/index.js'
import { errorForTarget, type FlushTarget } from '../recording/index.js'
import { countAgents } from './count-agents.js'
import {
  type AppliedChanges,
  applyChanges,
  type Changes,
  countMinutes,
  daysOfChanges,
  errorForTooMany,
  type TooMany,
} from './count-minutes.js'
import { type Marked, markHeartbeats, type RecordingResult } from './mark-heartbeats.js'
import type { Facts } from './read-facts.js'
import { type Recording, recordingOf } from './recording.js'
import { hoursBeside, toStored } from './timeline.js'
import type { Plan } from './write-plans.js'

/** The changes of a batch, and its outcome. */
export interface HeartbeatPlan extends Plan {
  kind: 'planned'
  recording: Recording
  recorded: RecordingResult
  /** Repositories that were named in full. */
  repos: string[]
  applied: AppliedChanges
}

/** A batch, or a day of an import, that can't be recorded. */
export interface Rejected {
  kind: 'rejected'
  because: 'unknown person' | 'too large'
  /** The error for the response. */
  error: ApiError
}

export const rejectedTarget = (target: Exclude<Facts['target'], FlushTarget>, repos: number): Rejected => ({
  kind: 'rejected',
  because: target.kind,
  error: errorForTarget(target, repos),
})

export const tooManyMinutes = (minutes: TooMany): Rejected => ({
  kind: 'rejected',
  because: 'too large',
  error: errorForTooMany(minutes),
})

/** A person whose heartbeats are marked, with the changes that follow. */
interface CountedPerson {
  kind: 'counted'
  facts: Facts
  recording: Recording
  marked: Marked
  counted: Changes
}

/** Marks the minutes, and finds out what they change. */
export const countHeartbeats = async (facts: Facts): Promise<CountedPerson | Rejected> => {
  const { batch, projects, counts, target } = facts
  const { userId, isFromJoining, timezone } = batch
  if (target.kind !== 'found') return rejectedTarget(target, facts.repoKeys.size)
  const recording = recordingOf(target, timezone)
  const marked = markHeartbeats(facts, target, recording)
  const rules = { userId, target, recording, projects, isFromJoining }
  const counted = await countMinutes(rules, counts, marked.owned, marked.moved)
  return counted.kind === 'too large'
    ? tooManyMinutes(counted)
    : { kind: 'counted', facts, recording, marked, counted }
}

/** Plans what several people's heartbeats change. @returns a plan for each, in order */
export const planHeartbeats = async (tx: Db, people: readonly CountedPerson[]): Promise<HeartbeatPlan[]> => {
  const requested = people.map(({ facts: { batch }, recording, counted }) =>
    daysOfChanges(batch.userId, recording.timezone, counted.changes),
  )
  const days = await readPersonDays(tx, requested)
  return Promise.all(people.map((person, index) => planOne(tx, person, days[index] as PersonDays)))
}

/** @param days the person's days so far, which it changes */
const planOne = async (
  tx: Db,
  { facts, recording, marked, counted }: CountedPerson,
  days: PersonDays,
): Promise<HeartbeatPlan> => {
  const { batch, projects, names, timeline, counts, targetOfAgents } = facts
  const { userId, isFromJoining, projectsOfFile } = batch
  const { timezone } = recording
  const applied = applyChanges(counted.changes, days)
  const hours = new Set(hoursBeside(marked.hours))
  const agentDays = await countAgents(
    tx,
    {
      ...{ userId, timeline, projects, counts, hours, isFromJoining, timezone },
      before: { timeline: marked.before, projects },
    },
    targetOfAgents,
  )
  const seen = new Set([...marked.lastAt.keys(), ...projectsOfFile])
  return {
    kind: 'planned',
    userId,
    timezone,
    recording,
    recorded: { ...marked.recorded, minutes_left_out: applied.leftOut },
    repos: marked.repos,
    applied,
    days,
    agentDays,
    hours: toStored(timeline, counts, [...marked.hours, ...counted.hours]),
    chosen: names.chosen.filter(({ name }) => seen.has(name)),
    lastAt: marked.lastAt,
    newest: marked.newest,
    isFull: names.isFull || marked.hasNewRepos,
  }
}
