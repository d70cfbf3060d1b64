/** Reads what's stored about people around the time of their heartbeats, and where the heartbeats count. */
import type { RepohostKind } from '../../../schemas/common.js'
import { limits } from '../../../schemas/limits.js'
import type { Db } from '../../platform/database/client.js'
import { groupBy, requireValue } from '../../platform/process/maps.js'
import { findPersonRepos, nameOf } from '../accounts/index.js'
import { type FlushTarget, readTargets, type TargetRequest, type TargetResult } from '../minutes/index.js'
import { type Batch, type Heartbeat, namesIn } from './batch.js'
import { canBeFolder, isRepo, markNameOf, Projects } from './project-names.js'
import { readMarks } from './queries/marks.js'
import { type EditorProject, findNames, namesOf, readNameQuota } from './queries/projects.js'
import { Counts, hoursAround, hoursBeside, type StoredHour, Timeline } from './timeline.js'

/** The maximum comparisons per person when several people are read together. */
export const MAX_BATCH_COMPARISONS = limits.flush_comparisons / 100

/** How many hours on either side of its own an agent's mark affects. */
const AGENT_HOURS_AROUND = 2

/** What's stored around a person's heartbeats, as far as it was read. */
export interface PartialFacts {
  batch: Batch
  readScope: ReadScope
  marks: StoredHour[]
  /** The projects of names. */
  named: EditorProject[]
  /** Where minutes in repositories named in full count. Not read if there are none. */
  targetOfSent: TargetResult | { kind: 'not read' }
}

/** How much to read around someone's heartbeats. */
interface ReadScope {
  /** Whether the hours reach far enough for agents' marks. */
  agents: boolean
  /** Whether to read the projects behind names, both those sent and those in the marks. */
  names: boolean
}

/** Everything that's read about a person's heartbeats. It determines what they change. */
export interface Facts {
  batch: Batch
  /** The repositories of all projects. */
  projects: Projects
  names: MatchedNames
  /** The marks around the heartbeats. */
  timeline: Timeline
  /** Where these minutes have counted. */
  countsBefore: Counts
  /** The repositories for which minutes may count: those of the heartbeats, of the marks before them, and of agents' marks. */
  repoKeys: ReadonlySet<string>
  /** Where minutes of these repositories count. */
  target: TargetResult
}

/**
 * The first of two reads, sent along with the locks. Usually it's enough, because most heartbeats name a
 * repository in full, near marks of the same one. Reading everything at once takes an eighth more CPU time.
 */
export const readPartialFacts = async (tx: Db, batches: readonly Batch[]): Promise<PartialFacts[]> => {
  const people = batches.map((batch) => ({ batch, readScope: narrowScopeOf(batch) }))
  const requests = batches
    .filter((batch) => reposSent(batch).size > 0)
    .map((batch) => targetRequest(batch, reposSent(batch)))
  const [stored, targets] = await Promise.all([
    readStored(tx, people),
    readTargetsIfAny(tx, requests, MAX_BATCH_COMPARISONS),
  ])
  return people.map((one) => {
    const { userId } = one.batch
    const targetOfSent = targets.get(userId) ?? { kind: 'not read' }
    return { ...one, ...requireValue(stored, userId), targetOfSent }
  })
}

/**
 * The second reading, of what the first one lacks.
 * @param maxComparisons how much is compared for each person at most
 * @returns everyone's facts, by user
 */
export const completeFacts = async (
  tx: Db,
  partialFacts: readonly PartialFacts[],
  maxComparisons: number,
): Promise<ReadonlyMap<string, Facts>> => {
  const enough = await readMissing(tx, partialFacts)
  const people = await Promise.all(
    enough.map(async (one) => {
      const resolved = await resolveProjects(tx, one)
      return { ...resolved, firstTarget: targetOfAll(one, resolved.repoKeys) }
    }),
  )
  const requests = people.flatMap(({ batch, repoKeys, firstTarget }) =>
    firstTarget.kind === 'found' ? [] : [targetRequest(batch, repoKeys)],
  )
  const targets = await readTargetsIfAny(tx, requests, maxComparisons)
  return new Map(
    people.map(({ firstTarget, ...one }) => {
      const { userId } = one.batch
      const target = firstTarget.kind === 'found' ? firstTarget : requireValue(targets, userId)
      return [userId, { ...one, target }]
    }),
  )
}

/** The first reading's target, if all repositories that are involved were sent. */
const targetOfAll = (
  { batch, targetOfSent }: PartialFacts,
  repoKeys: ReadonlySet<string>,
): FlushTarget | { kind: 'to be read' } => {
  const sent = reposSent(batch)
  const wereSent = [...repoKeys].every((repoKey) => sent.has(repoKey))
  return targetOfSent.kind === 'found' && wereSent ? targetOfSent : { kind: 'to be read' }
}

const narrowScopeOf = (batch: Batch): ReadScope => ({
  agents: batch.heartbeats.some(({ isOfAgent }) => isOfAgent),
  names: namesIn(batch).length > 0,
})

/** The data that the first read missed. */
type Missing = 'nothing' | 'names' | 'agents and names'

const missingFrom = ({ batch, readScope, marks }: PartialFacts): Missing => {
  const isNearAgents = marks.some(({ agentProjects }) => agentProjects)
  if (isNearAgents && !readScope.agents) return 'agents and names'
  const isNearNames = marks.some((hour) => hasNames(hour, batch.kind))
  return isNearNames && !readScope.names ? 'names' : 'nothing'
}

const hasNames = ({ projects, agentProjects }: StoredHour, kind: RepohostKind) =>
  [...projects, ...(agentProjects ?? [])].some((project) => !isRepo(project, kind))

/** Reads again for people whose first read missed something. */
const readMissing = async (tx: Db, partialFacts: readonly PartialFacts[]): Promise<PartialFacts[]> => {
  const checked = partialFacts.map((one) => ({ one, missing: missingFrom(one) }))
  const complete = checked.flatMap(({ one, missing }) => (missing === 'nothing' ? [one] : []))
  const incomplete = checked.flatMap(({ one, missing }) =>
    missing === 'nothing'
      ? []
      : [
          {
            ...one,
            readScope: { agents: one.readScope.agents || missing === 'agents and names', names: true },
          },
        ],
  )
  const stored = await readStored(tx, incomplete)
  return [...complete, ...incomplete.map((one) => ({ ...one, ...requireValue(stored, one.batch.userId) }))]
}

/** @returns what's stored about each person, by user */
const readStored = async (
  tx: Db,
  people: readonly Pick<PartialFacts, 'batch' | 'readScope'>[],
): Promise<ReadonlyMap<string, Pick<PartialFacts, 'marks' | 'named'>>> => {
  if (people.length === 0) return new Map()
  const requests = people.map(({ batch, readScope }) => {
    const hours = hoursAround(batch.heartbeats.map(({ minute }) => minute))
    return {
      userId: batch.userId,
      readScope,
      hours: readScope.agents ? hoursBeside(hours, AGENT_HOURS_AROUND) : hours,
      names: namesIn(batch),
    }
  })
  const [hours, names] = await Promise.all([
    readMarks(tx, requests),
    findNames(
      tx,
      requests.filter(({ readScope }) => readScope.names),
    ),
  ])
  const hoursByPerson = groupBy(hours, ({ userId }) => userId)
  const namesByPerson = groupBy(names, ({ userId }) => userId)
  return new Map(
    requests.map(({ userId }) => [
      userId,
      { marks: hoursByPerson.get(userId) ?? [], named: namesByPerson.get(userId) ?? [] },
    ]),
  )
}

/** The keys of repositories that are named in full. */
const reposSent = ({ heartbeats }: Batch): ReadonlySet<string> =>
  new Set(heartbeats.flatMap(({ project }) => project.repo?.toLowerCase() ?? []))

const targetRequest = ({ userId, scope }: Batch, repoKeys: ReadonlySet<string>): TargetRequest => ({
  userId,
  scope,
  repoKeys,
})

const readTargetsIfAny = async (
  tx: Db,
  requests: readonly TargetRequest[],
  maxComparisons: number,
): Promise<ReadonlyMap<string, TargetResult>> =>
  requests.length === 0 ? new Map() : readTargets(tx, requests, maxComparisons)

/** Finds the repositories behind names, and those that are involved. */
const resolveProjects = async (
  tx: Db,
  { batch, marks, named }: PartialFacts,
): Promise<Omit<Facts, 'target'>> => {
  const sent = batch.heartbeats.map(({ project }) => project)
  const repos = sent.flatMap(({ repo }) => repo ?? [])
  const names = await matchFolders(tx, batch.userId, namesOf(named), namesIn(batch), repos)
  const projects = new Projects(batch.kind, namesOf([...named, ...names.chosen]), sent)
  const timeline = new Timeline(marks)
  const repoKeys = involvedIn(batch.heartbeats, projects, timeline)
  return {
    batch,
    projects,
    names,
    timeline,
    countsBefore: new Counts(marks),
    repoKeys,
  }
}

const involvedIn = (heartbeats: Heartbeat[], projects: Projects, timeline: Timeline): Set<string> => {
  const before = heartbeats.flatMap(({ minute, isOfAgent }) =>
    isOfAgent ? [] : (timeline.projectBefore(minute) ?? []),
  )
  const sent = heartbeats.map(({ project }) => markNameOf(project))
  const all = [...sent, ...before, ...timeline.agents.projects()]
  return new Set(all.flatMap((project) => projects.keyOf(project) ?? []))
}

export interface MatchedNames {
  /** Folder names that now belong to a repository. */
  chosen: EditorProject[]
  /** Names that can wait for a repository. */
  canWait: ReadonlySet<string>
  /** Whether older names may have to be deleted. */
  isFull: boolean
}

/**
 * Matches folder names to the one repository of the same name that the person has named in full.
 * @param sent repositories that are named in full now
 */
const matchFolders = async (
  tx: Db,
  userId: string,
  known: ReadonlyMap<string, EditorProject>,
  given: string[],
  sent: string[],
): Promise<MatchedNames> => {
  const open = given.filter((name) => {
    const project = known.get(name)
    return !project || (project.repo === null && !project.ignored)
  })
  if (open.length === 0) return { chosen: [], canWait: new Set(), isFull: false }
  const fresh = open.filter((name) => !known.has(name))
  const folders = open.filter(canBeFolder).map((name) => name.toLowerCase())
  const [found, quota] = await Promise.all([
    findPersonRepos(tx, userId, folders),
    fresh.length > 0 ? readNameQuota(tx, userId) : { waiting: 0, chosen: 1 },
  ])
  const named = [...found, ...sent.map((repo) => ({ repoKey: repo.toLowerCase(), repo }))]
  const reposOf = groupBy(named, ({ repoKey }) => nameOf(repoKey))
  const matched = open.flatMap((name) => {
    const repos = canBeFolder(name) ? (reposOf.get(name.toLowerCase()) ?? []) : []
    const isOne = new Set(repos.map(({ repoKey }) => repoKey)).size === 1
    const repo = repos.at(-1)?.repo
    return isOne && repo !== undefined ? [{ name, repo, ignored: false, automatic: true }] : []
  })
  const chosen = matched.slice(0, Math.max(0, quota.chosen))
  const isChosen = new Set(chosen.map(({ name }) => name))
  const canWait = new Set(open.filter((name) => !isChosen.has(name)))
  const newlyWaiting = fresh.filter((name) => canWait.has(name)).length
  return { chosen, canWait, isFull: newlyWaiting > quota.waiting }
}
