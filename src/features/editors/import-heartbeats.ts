/** Imports heartbeat files: receives the whole file, then counts it day by day, even after a restart. */

import { v7 as uuidv7 } from 'uuid'
import type { RepohostKind } from '../../../schemas/common.js'
import type { Import } from '../../../schemas/editors.js'
import { limits } from '../../../schemas/limits.js'
import { tooMany } from '../../errors.js'
import type { Database, Db, Tx } from '../../platform/database/client.js'
import { concurrencyLimits } from '../../platform/limits.js'
import { requireValue } from '../../platform/process/maps.js'
import { roundRobin } from '../../platform/process/round-robin.js'
import { addDays, HOURS } from '../../platform/time/days.js'
import { dayOf, hourOfDay } from '../../platform/time/local-hours.js'
import { lockMinutes, OWN_TIME, type PersonDays, readPersonDays } from '../minutes/index.js'
import { type AgentDay, hasRoomForOwnDays } from '../own-time/index.js'
import {
  type FlushTarget,
  readTargets,
  type Scope,
  type TargetRequest,
  type TargetResult,
} from '../recording/index.js'
import { noneIgnored } from './batch.js'
import { countAgents, reposOfAgents } from './count-agents.js'
import { applyChanges, type Change, countMinutes, daysOfChanges } from './count-minutes.js'
import {
  countHeartbeats,
  type HeartbeatPlan,
  planHeartbeats,
  type Rejected,
  rejectedTarget,
  tooManyMinutes,
} from './plan-heartbeats.js'
import { markNameOf, type Projects, projectNamed } from './project-names.js'
import {
  claimImport,
  deleteImportDays,
  endImport,
  type FoundMinutes,
  finishImportDay,
  foundKey,
  type ImportDay,
  insertImport,
  insertImportDays,
  listRunningImports,
  readImport,
  readImported,
  readNextDays,
  upsertImported,
} from './queries/imports.js'
import { type Facts, readFacts } from './read-facts.js'
import { recordingOf } from './recording.js'
import { DAY_MINUTES, type ReducedDay, type ReducedFile, ReducedMinutes } from './reduce-file.js'
import {
  Counts,
  firstHourOf,
  hourOf,
  hoursBeside,
  MINUTES,
  minutesOfHour,
  type StoredHour,
  timelineOf,
} from './timeline.js'
import { writePlans } from './write-plans.js'

/** How many days one statement writes. */
const DAYS_AT_ONCE = 50

const importUnderWay = () => {
  const { maxConcurrent, retryAfter, detail } = concurrencyLimits.import
  return tooMany('import', maxConcurrent, retryAfter, detail)
}

/** @throws {ApiError} `rate_limited` while another of the person's imports is running */
export const requireNoImport = async (db: Db, userId: string): Promise<void> => {
  if ((await readImport(db, userId))?.state === 'running') throw importUnderWay()
}

/** Stores a file's content for `runImports` to count. @throws {ApiError} `rate_limited`, as above */
export const startImport = async (database: Database, userId: string, file: ReducedFile): Promise<Import> => {
  const { heartbeats, skipped, days } = file
  await database.transaction(async (tx) => {
    if (!(await insertImport(tx, userId, { id: uuidv7(), heartbeats, skipped, days: days.length })))
      throw importUnderWay()
    await deleteImportDays(tx, userId)
    for (let from = 0; from < days.length; from += DAYS_AT_ONCE) {
      const part = days.slice(from, from + DAYS_AT_ONCE).map((day) => toStored(day, file))
      await insertImportDays(tx, userId, part)
    }
  })
  return describeImport(database.read, userId)
}

const toStored = ({ day, own, agents }: ReducedDay, { projects }: ReducedFile): ImportDay => {
  const ofAgents = agents && toMarks(agents, projects)
  return {
    day: dayOf(day * HOURS),
    ...toMarks(own ?? new ReducedMinutes(), projects),
    agentProjects: ofAgents?.projects ?? null,
    agentMarks: ofAgents?.marks ?? null,
    agentHeartbeats: ofAgents?.heartbeats ?? null,
  }
}

const toMarks = (minutes: ReducedMinutes, projects: ReducedFile['projects']) => {
  const numbers = minutes.projects
  const bits = new Map(numbers.map((number) => [number, Buffer.alloc(DAY_MINUTES / 8)]))
  for (const { minute, project } of minutes.marks()) {
    const own = requireValue(bits, project)
    own[minute >> 3] = (own[minute >> 3] ?? 0) | (0x80 >> (minute & 7))
  }
  return {
    projects: numbers.map((number) => {
      const { repo, name } = projects[number - 1] as (typeof projects)[number]
      return repo ?? name
    }),
    // PostgreSQL reads bits in hexadecimal.
    marks: Array.from(bits.values(), (own) => `x${own.toString('hex')}`),
    heartbeats: numbers.flatMap((number) => minutes.heartbeatsOf(number)),
  }
}

const none: Import = {
  id: null,
  state: 'none',
  reason: null,
  heartbeats: 0,
  skipped: { time: 0, future: 0, project: 0, recording_off: 0 },
  days: 0,
  days_done: 0,
  minutes: 0,
  own_minutes: 0,
  created_at: null,
  updated_at: null,
}

export const describeImport = async (db: Db, userId: string): Promise<Import> =>
  (await readImport(db, userId)) ?? none

/** Cancels the import. Days already counted are kept. */
export const cancelImport = (database: Database, userId: string): Promise<void> =>
  database.transaction((tx) => endImport(tx, userId, 'cancelled'))

/** Where days that exceed a limit are noted. */
interface Log {
  info(day: { import: string; days_done: number; reason: string }, text: string): void
}

/**
 * Continues all imports, a day of each in turn.
 * @throws {AggregateError} naming the people whose import failed; the others continued
 */
export const runImports = (
  database: Database,
  kind: RepohostKind,
  log: Log,
  isStopped = () => false,
): Promise<void> =>
  roundRobin({
    list: () => listRunningImports(database.read),
    step: ({ id }) => importNextDay({ database, userId: id, kind, log }),
    isStopped,
  })

const background = { background: true, rowsCanConflict: true }

interface Importing {
  database: Database
  userId: string
  kind: RepohostKind
  log: Log
}

/** @returns whether there may be more to do */
const importNextDay = async ({ database, userId, kind, log }: Importing): Promise<boolean> => {
  const step = await database.transaction((tx) => importDay(tx, userId, kind), background)
  if (step.kind === 'counted for its person')
    log.info(
      { import: step.id, days_done: step.daysDone, reason: step.reason },
      'a day of an import is too large for workspaces and counts only for its person',
    )
  return step.kind !== 'no day'
}

/** What an import's next step was. */
type Step =
  | { kind: 'counted' }
  | { kind: 'counted for its person'; id: string; daysDone: number; reason: string }
  /** It has ended, or another instance is working on it. */
  | { kind: 'no day' }

/**
 * A day that's too large for the person's workspaces counts only for the person. If it would take too long to
 * find out what the person excludes from recording, the whole day counts as excluded.
 */
const importDay = async (tx: Tx, userId: string, kind: RepohostKind): Promise<Step> => {
  const claimed = await claimImport(tx, userId)
  if (!claimed) return { kind: 'no day' }
  await lockMinutes(tx, [userId], { waits: true })
  const next = await readNextDays(tx, userId, claimed.daysDone)
  if (!next) {
    await endImport(tx, userId, 'done')
    return { kind: 'no day' }
  }
  const planned = await planDay(tx, { userId, kind, next, scope: 'workspaces' })
  if (planned.kind === 'planned') {
    await writeDay(tx, planned)
    return { kind: 'counted' }
  }
  if (planned.because === 'unknown person') {
    await endImport(tx, userId, 'cancelled')
    return { kind: 'no day' }
  }
  const forPerson = await planDay(tx, { userId, kind, next, scope: 'person' })
  if (forPerson.kind === 'planned') await writeDay(tx, forPerson)
  else await excludeDay(tx, userId, next)
  return { kind: 'counted for its person', ...claimed, reason: planned.error.message }
}

/** A file's next day, with the days before and after it. */
interface NextDay {
  day: string
  today: string
  days: ImportDay[]
}

/** Skips a day, all of whose heartbeats count as excluded from recording. */
const excludeDay = async (tx: Tx, userId: string, { day, days }: NextDay): Promise<void> => {
  const recordingOff = days
    .filter((other) => other.day === day)
    .reduce((sum, own) => sum + countSwitchedOff(own, () => true), 0)
  await finishImportDay(tx, userId, { minutes: 0, personalMinutes: 0, recordingOff })
}

/** What a day of a file changes. */
interface DayPlan {
  kind: 'planned'
  /** Minutes that count like heartbeats, on days whose marks are still kept. */
  heartbeats: HeartbeatPlan
  /** The day's other minutes. */
  file: FilePlan
  recordingOff: number
}

/** What the minutes of a day without marks change. */
interface FilePlan {
  days: PersonDays[]
  agentDays: AgentDay[]
  lastAt: ReadonlyMap<string, Date>
  added: number
  addedAlone: number
  /** All minutes of each place, whether or not they were imported before. */
  found: FoundMinutes[]
}

interface DayToPlan {
  userId: string
  kind: RepohostKind
  next: NextDay
  scope: Scope
}

/** Plans a day, and writes nothing. */
const planDay = async (tx: Tx, { userId, kind, next, scope }: DayToPlan): Promise<DayPlan | Rejected> => {
  const { day, today, days } = next
  // While marks are kept, imported minutes become marks, so no minute counts twice.
  const isKept = day >= addDays(today, -limits.flush_days_back)
  const own = days.filter((other) => other.day === day)
  const batch = {
    userId,
    heartbeats: isKept ? own.flatMap((day) => heartbeatsOf(day, kind)) : [],
    ignored: noneIgnored,
    kind,
    timezone: undefined,
    isFromJoining: true,
    projectsOfFile: own.flatMap(namesIn).map((name) => markNameOf(projectNamed(name, kind))),
    scope,
  }
  const [facts] = await readFacts(tx, [batch])
  if (!facts) throw new Error('A batch has no facts')
  const counted = await countHeartbeats(facts)
  if (counted.kind === 'rejected') return counted
  const [heartbeats] = await planHeartbeats(tx, [counted])
  if (!heartbeats) throw new Error('A batch has no plan')
  return planMinutesOfDay(tx, { userId, kind, day, days, scope, isKept, facts, heartbeats })
}

/** Writes a day, or ends the import if the person's own time has no room for the day. */
const writeDay = async (tx: Tx, { heartbeats, file, recordingOff }: DayPlan): Promise<void> => {
  const { userId, timezone, isFull, applied } = heartbeats
  const changed = [heartbeats.days, ...file.days].flatMap((days) => [...days.changed()])
  const added = changed.filter(({ place, isNew }) => place === OWN_TIME && isNew).length
  if (!(await hasRoomForOwnDays(tx, userId, added))) {
    await endImport(tx, userId, 'failed', 'own_time_full')
    return
  }
  await writePlans(tx, [heartbeats])
  tx.awaitAtCommit(upsertImported(tx, userId, file.found))
  const { agentDays, lastAt } = file
  const rest = { hours: [], chosen: [], newest: undefined }
  await writePlans(
    tx,
    file.days.map((days) => ({ userId, timezone, days, agentDays, lastAt, isFull, ...rest })),
  )
  const minutes = applied.added + file.added
  const personalMinutes = applied.addedAlone + file.addedAlone
  tx.awaitAtCommit(finishImportDay(tx, userId, { minutes, personalMinutes, recordingOff }))
}

interface DayOfImport {
  userId: string
  kind: RepohostKind
  day: string
  /** The day and the days before and after it. */
  days: ImportDay[]
  scope: Scope
  /** Whether its minutes were already counted from heartbeats, so that they're only remembered. */
  isKept: boolean
  /** What is known of its heartbeats, and what they change. */
  facts: Facts
  heartbeats: HeartbeatPlan
}

const planMinutesOfDay = async (
  tx: Tx,
  { userId, kind, day, days, facts, heartbeats, isKept, scope }: DayOfImport,
): Promise<DayPlan | Rejected> => {
  const projects = facts.projects.withSpellings(
    days.flatMap((day) => namesIn(day).map((name) => projectNamed(name, kind))),
  )
  // Repositories are in lower case in marks, and as given in a file.
  const toMark = (name: string) => markNameOf(projectNamed(name, kind))
  const timeline = timelineOf(
    days.flatMap(hoursOf).map((hour) => ({
      ...hour,
      projects: hour.projects.map(toMark),
      agentProjects: hour.agentProjects?.map(toMark) ?? null,
    })),
  )
  const hours = Array.from({ length: HOURS }, (_, hour) => firstHourOf(day) + hour)
  const owned = [...timeline.own.ownersOf(hours.flatMap(minutesOfHour))]
  const repoKeys = new Set(owned.flatMap(({ project }) => projects.keyOf(project) ?? []))
  const target = await readTargetOf(tx, { userId, repoKeys, scope })
  if (target.kind !== 'found') return rejectedTarget(target, repoKeys.size)
  const own = days.filter((other) => other.day === day)
  // Includes projects that have heartbeats but no minute.
  const named = own.flatMap(namesIn).map(toMark)
  const namedRepos = new Set(named.flatMap((project) => projects.keyOf(project) ?? []))
  const targetOfNamed = target.recording
    ? await readTargetOf(tx, { userId, repoKeys: namedRepos, scope: 'person' })
    : target
  if (targetOfNamed.kind !== 'found') return rejectedTarget(targetOfNamed, namedRepos.size)
  const recording = recordingOf(target, undefined)
  const { timezone } = recording
  const counts = new Counts([])
  const counted = await countMinutes(
    { userId, target, recording, projects, isFromJoining: true },
    counts,
    owned,
    new Set(),
  )
  if (counted.kind === 'too large') return tooManyMinutes(counted)
  const found = foundIn(counted.changes, day)
  const { canWait } = facts.names
  const waiting = owned.filter(({ project, gap }) => gap === 0 && canWait.has(project))
  const isOff = switchedOffBy(targetOfNamed, projects)
  const recordingOff = own.reduce(
    (sum, part) => sum + countSwitchedOff(part, (hour, project) => isOff(hour, toMark(project))),
    0,
  )
  const lastAt = new Map(waiting.map(({ project, minute }) => [project, new Date(minute * 60_000)]))
  const none = { days: [], agentDays: [], added: 0, addedAlone: 0 }
  // Agents' marks of such a day have already counted like heartbeats, too.
  if (isKept) return { kind: 'planned', heartbeats, recordingOff, file: { ...none, lastAt, found } }

  const personDays = await readPersonDays(tx, [daysOfChanges(userId, timezone, counted.changes)])
  const fresh = withoutEarlier(counted.changes, personDays, await readImported(tx, userId, day))
  const applied = personDays.map((ofPerson) => applyChanges(fresh, ofPerson))
  const agentHours = timeline.agents
    .marked()
    .map(hourOf)
    .filter((hour) => hours.includes(hour))
  const agentRules = {
    ...{ userId, timeline, projects, counts, timezone, before: undefined, isFromJoining: true },
    // No other day changes.
    hours: new Set(hoursBeside(agentHours).filter((hour) => hours.includes(hour))),
  }
  const agentRepos = reposOfAgents({ timeline, projects })
  const targetOfAgents = await readTargetOf(tx, { userId, repoKeys: agentRepos, scope: 'workspaces' })
  const file = {
    days: personDays,
    agentDays: await countAgents(tx, agentRules, targetOfAgents),
    lastAt,
    added: applied[0]?.added ?? 0,
    addedAlone: applied[0]?.addedAlone ?? 0,
    found,
  }
  return { kind: 'planned', heartbeats, recordingOff, file }
}

const readTargetOf = async (tx: Tx, request: TargetRequest): Promise<TargetResult> =>
  requireValue(await readTargets(tx, [request]), request.userId)

/** The minutes of each repository in each workspace. */
const foundIn = (changes: readonly Change[], day: string): FoundMinutes[] => {
  const found = new Map<string, FoundMinutes>()
  for (const { place, repo, added } of changes) {
    if (place === OWN_TIME) continue
    const key = foundKey({ workspaceId: place, repoKey: repo.key })
    const sum = found.get(key) ?? { workspaceId: place, day, repoKey: repo.key, minutes: 0 }
    found.set(key, { ...sum, minutes: sum.minutes + added })
  }
  return [...found.values()]
}

/**
 * Leaves out what earlier imports have found: in a workspace, as many minutes of the repository's day as they did; in own
 * time, the minutes that the hour has, and those that have lost their hours.
 */
const withoutEarlier = (
  changes: readonly Change[],
  [days]: readonly PersonDays[],
  imported: ReadonlyMap<string, number>,
): Change[] => {
  const left = new Map(imported)
  const ordered = changes.toSorted((a, b) => a.localHour - b.localHour)
  return ordered.map((change) => {
    const { place, localHour, repo, added, addedAlone } = change
    const isOwn = place === OWN_TIME
    const key = isOwn
      ? `${dayOf(localHour)} ${repo.key}`
      : foundKey({ workspaceId: place, repoKey: repo.key })
    const stored = isOwn ? days?.at(place, dayOf(localHour)).minutesOf(repo.key) : undefined
    if (stored && !left.has(key))
      left.set(key, stored.minutes - stored.hours.reduce((sum, one) => sum + one, 0))
    const beyondHour = Math.max(0, added - (stored?.hours[hourOfDay(localHour)] ?? 0))
    const covered = Math.min(beyondHour, left.get(key) ?? 0)
    left.set(key, (left.get(key) ?? 0) - covered)
    const fresh = beyondHour - covered
    return { ...change, added: fresh, addedAlone: Math.min(fresh, addedAlone) }
  })
}

/** Projects of the person and of agents, as given in a file. */
const namesIn = ({ projects, agentProjects }: ImportDay): string[] => [...projects, ...(agentProjects ?? [])]

/** Whether the person has switched off recording for a project and hour, or ignores the project name. */
const switchedOffBy = (target: FlushTarget, projects: Projects) => {
  const { isRecorded } = recordingOf(target, undefined)
  return (hour: number, project: string): boolean =>
    projects.isIgnored(project) || !isRecorded(hour, projects.keyOf(project))
}

/** The heartbeats of a day for which recording is off. */
const countSwitchedOff = (day: ImportDay, isOff: (hour: number, project: string) => boolean): number => {
  const first = hourOf(Date.parse(day.day) / 60_000)
  const countIn = (projects: string[] | null, heartbeats: number[] | null): number =>
    (heartbeats ?? []).reduce((sum, count, index) => {
      const project = projects?.[Math.floor(index / HOURS)]
      const isCounted = count === 0 || project === undefined || !isOff(first + (index % HOURS), project)
      return isCounted ? sum : sum + count
    }, 0)
  return countIn(day.projects, day.heartbeats) + countIn(day.agentProjects, day.agentHeartbeats)
}

const heartbeatsOf = (day: ImportDay, kind: RepohostKind) =>
  hoursOf(day)
    .flatMap(({ hour, projects, marks, agentProjects, agentMarks }) => [
      ...heartbeatsIn(hour, projects, marks, { kind, isOfAgent: false }),
      ...heartbeatsIn(hour, agentProjects ?? [], agentMarks ?? [], { kind, isOfAgent: true }),
    ])
    .sort((a, b) => a.minute - b.minute)

const heartbeatsIn = (
  hour: number,
  projects: string[],
  marks: string[],
  { kind, isOfAgent }: { kind: RepohostKind; isOfAgent: boolean },
) =>
  projects.flatMap((project, index) =>
    Array.from(marks[index] ?? '').flatMap((digit, minute) => {
      if (digit === '0') return []
      const at = hour * MINUTES + minute
      return [{ time: at * 60, minute: at, project: projectNamed(project, kind), isOfAgent }]
    }),
  )

/** The values of an hour that a file doesn't have. */
const UNCOUNTED = {
  firstAt: null,
  localHour: null,
  countedIn: [],
  counted: [],
  countedRepos: null,
  countedFor: null,
  agentFirstAt: null,
}

const hoursOf = ({ day, projects, marks, agentProjects, agentMarks }: ImportDay): StoredHour[] => {
  const ofHour = (all: string[], hour: number) =>
    all.map((minutes) => minutes.slice(hour * MINUTES, (hour + 1) * MINUTES))
  return Array.from({ length: HOURS }, (_, hour) => ({
    hour: hourOf(Date.parse(day) / 60_000) + hour,
    projects,
    marks: ofHour(marks, hour),
    agentProjects,
    agentMarks: agentMarks && ofHour(agentMarks, hour),
    ...UNCOUNTED,
  }))
}
