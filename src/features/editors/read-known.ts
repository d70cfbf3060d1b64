/** Reads what's stored about people around the time of their heartbeats, and where the heartbeats count. */
import type { RepohostKind } from '../../../schemas/common.js'
import { limits } from '../../../schemas/limits.js'
import type { Db } from '../../platform/database/client.js'
import { groupBy, requireValue } from '../../platform/process/maps.js'
import { findPersonRepos, nameOf } from '../accounts/index.js'
import { type FlushTarget, readTargets, type TargetRequest, type TargetResult } from '../minutes/index.js'
import type { Batch, Heartbeat } from './batch.js'
import { isRepo, markNameOf, mayBeFolder, Projects } from './project-names.js'
import { readMarks } from './queries/marks.js'
import { type EditorProject, findNames, namesOf, readNameQuota } from './queries/projects.js'
import { Counts, hoursAround, hoursBeside, type StoredHour, Timeline } from './timeline.js'

/** The maximum comparisons per person when several people are read together. */
export const COMPARED_TOGETHER = limits.flush_comparisons / 100

/** How many hours on either side of its own an agent's mark affects. */
const REACH_OF_AGENTS = 2

/** What's read first about a person. */
export interface NearFacts {
  stored: Stored
  /** Where minutes count of the repositories that are named in full. Without any, it isn't read. */
  target: TargetResult | { kind: 'not read' }
}

/** All that's read about a person. */
export interface Facts {
  known: Known
  /** Where minutes count of all repositories that are involved. */
  target: TargetResult
}

/**
 * The first of two readings, to be sent along with the locks. Usually it's enough, because most heartbeats name a
 * repository in full, near marks of the same one. Reading everything at once takes an eighth more CPU time.
 * @returns everyone's facts, by user
 */
export const readNearFacts = async (
  tx: Db,
  batches: readonly Batch[],
): Promise<ReadonlyMap<string, NearFacts>> => {
  const wanted = batches.map(wantedFor)
  const requests = batches
    .map((batch) => targetRequest(batch, reposSent(batch)))
    .filter(({ repoKeys }) => repoKeys.size > 0)
  const [stored, targets] = await Promise.all([
    readStored(tx, wanted),
    readTargetsIfAny(tx, requests, COMPARED_TOGETHER),
  ])
  return new Map(
    Array.from(stored, ([userId, one]) => [
      userId,
      { stored: one, target: targets.get(userId) ?? { kind: 'not read' } },
    ]),
  )
}

/**
 * The second reading, of what's missing in the near facts.
 * @param mostCompared how much is compared for each person at most
 * @returns everyone's facts, by user
 */
export const completeFacts = async (
  tx: Db,
  batches: readonly Batch[],
  near: ReadonlyMap<string, NearFacts>,
  mostCompared: number,
): Promise<ReadonlyMap<string, Facts>> => {
  const needs = batches.map(({ userId }) => needAfter(requireValue(near, userId).stored))
  const wanted = needs.flatMap((need) => (need.kind === 'farther' ? [need.wanted] : []))
  const farther = await readStored(tx, wanted)
  const stored = needs.map((need) =>
    need.kind === 'enough' ? need.stored : requireValue(farther, need.wanted.userId),
  )
  const people = await Promise.all(stored.map((one) => resolveProjects(tx, one)))
  const checked = people.map((known) => ({
    known,
    target: targetIfEnough(known, requireValue(near, known.batch.userId).target),
  }))
  const requests = checked.flatMap(({ known: { batch, involved }, target }) =>
    target.kind === 'not enough' ? [targetRequest(batch, involved)] : [],
  )
  const targets = await readTargetsIfAny(tx, requests, mostCompared)
  return new Map(
    checked.map(({ known, target }) => {
      const { userId } = known.batch
      return [userId, { known, target: target.kind === 'found' ? target : requireValue(targets, userId) }]
    }),
  )
}

/** What to read about a person's heartbeats. */
interface Wanted {
  batch: Batch
  userId: string
  hours: number[]
  /** Whether the hours reach far enough for agents' marks. */
  isWide: boolean
  names: string[]
  /** Whether the projects of these names, and of names in the marks, are read. */
  isNaming: boolean
}

/** What's stored about them. */
interface Stored {
  wanted: Wanted
  /** The marks in these hours. */
  marks: StoredHour[]
  named: EditorProject[]
}

const wantedFor = (batch: Batch): Wanted => {
  const { userId, heartbeats } = batch
  const hours = hoursAround(heartbeats.map(({ minute }) => minute))
  const isWide = heartbeats.some(({ isOfAgent }) => isOfAgent)
  const sent = heartbeats.flatMap(({ project }) => project.name ?? [])
  const names = [...new Set([...sent, ...(batch.names ?? [])])]
  return {
    ...{ batch, userId, names, isWide },
    hours: isWide ? hoursBeside(hours, REACH_OF_AGENTS) : hours,
    isNaming: names.length > 0,
  }
}

/** Whether what was read is enough, or else what to read instead. */
type Need = { kind: 'enough'; stored: Stored } | { kind: 'farther'; wanted: Wanted }

const needAfter = (stored: Stored): Need => {
  const { wanted, marks } = stored
  const { batch, hours, isWide, isNaming } = wanted
  const isNearAgents = marks.some(({ agentProjects }) => agentProjects)
  if (isNearAgents && !isWide) {
    const wide = hoursBeside(hours, REACH_OF_AGENTS)
    return { kind: 'farther', wanted: { ...wanted, hours: wide, isWide: true, isNaming: true } }
  }
  const isNearNames = marks.some((hour) => hasNames(hour, batch.kind))
  if (isNearNames && !isNaming) return { kind: 'farther', wanted: { ...wanted, isNaming: true } }
  return { kind: 'enough', stored }
}

const hasNames = ({ projects, agentProjects }: StoredHour, kind: RepohostKind) =>
  [...projects, ...(agentProjects ?? [])].some((project) => !isRepo(project, kind))

/** @returns what's stored about each person, by user */
const readStored = async (tx: Db, wanted: readonly Wanted[]): Promise<ReadonlyMap<string, Stored>> => {
  if (wanted.length === 0) return new Map()
  const naming = wanted.filter(({ isNaming }) => isNaming)
  const [hours, names] = await Promise.all([readMarks(tx, wanted), findNames(tx, naming)])
  const hoursByPerson = groupBy(hours, ({ userId }) => userId)
  const namesByPerson = groupBy(names, ({ userId }) => userId)
  return new Map(
    wanted.map((one) => [
      one.userId,
      {
        wanted: one,
        marks: hoursByPerson.get(one.userId) ?? [],
        named: namesByPerson.get(one.userId) ?? [],
      },
    ]),
  )
}

/** The keys of repositories that are named in full. */
const reposSent = ({ heartbeats }: Batch): ReadonlySet<string> =>
  new Set(heartbeats.flatMap(({ project }) => project.repo?.toLowerCase() ?? []))

/** The target that was read, unless repositories are involved that weren't sent. */
const targetIfEnough = (
  { batch, involved }: Known,
  target: NearFacts['target'],
): FlushTarget | { kind: 'not enough' } => {
  const sent = reposSent(batch)
  const isEnough = [...involved].every((repoKey) => sent.has(repoKey))
  return target.kind === 'found' && isEnough ? target : { kind: 'not enough' }
}

const targetRequest = ({ userId, scope }: Batch, repoKeys: ReadonlySet<string>) => ({
  userId,
  scope,
  repoKeys,
})

const readTargetsIfAny = async (
  tx: Db,
  requests: readonly TargetRequest[],
  mostCompared: number,
): Promise<ReadonlyMap<string, TargetResult>> =>
  requests.length === 0 ? new Map() : readTargets(tx, requests, mostCompared)

/** A person's heartbeats, with what's stored around them. */
export interface Known {
  batch: Batch
  /** The repositories of all projects. */
  projects: Projects
  names: MatchedNames
  /** The marks around the heartbeats. */
  timeline: Timeline
  /** Where these minutes have counted. */
  counts: Counts
  /** The repositories for which minutes may count: those of the heartbeats, and of the marks before them. */
  involved: ReadonlySet<string>
}

/** Finds the repositories of names. */
const resolveProjects = async (tx: Db, { wanted, marks, named }: Stored): Promise<Known> => {
  const { batch, userId } = wanted
  const sent = batch.heartbeats.map(({ project }) => project)
  const repos = sent.flatMap(({ repo }) => repo ?? [])
  const names = await matchFolders(tx, userId, namesOf(named), wanted.names, repos)
  const projects = new Projects(batch.kind, namesOf([...named, ...names.chosen]), sent)
  const timeline = new Timeline(marks)
  const involved = involvedIn(batch.heartbeats, projects, timeline)
  return { batch, projects, names, timeline, counts: new Counts(marks), involved }
}

const involvedIn = (heartbeats: Heartbeat[], projects: Projects, timeline: Timeline): Set<string> => {
  const before = heartbeats.flatMap(({ minute, isOfAgent }) =>
    isOfAgent ? [] : (timeline.projectBefore(minute) ?? []),
  )
  const all = [...heartbeats.map(({ project }) => markNameOf(project)), ...before]
  return new Set(all.flatMap((project) => projects.keyOf(project) ?? []))
}

export interface MatchedNames {
  /** Folder names that now belong to a repository. */
  chosen: EditorProject[]
  /** Names that can wait for a repository. */
  mayWait: ReadonlySet<string>
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
  if (open.length === 0) return { chosen: [], mayWait: new Set(), isFull: false }
  const fresh = open.filter((name) => !known.has(name))
  const folders = open.filter(mayBeFolder).map((name) => name.toLowerCase())
  const [found, quota] = await Promise.all([
    findPersonRepos(tx, userId, folders),
    fresh.length > 0 ? readNameQuota(tx, userId) : { waiting: 0, chosen: 1 },
  ])
  const named = [...found, ...sent.map((repo) => ({ repoKey: repo.toLowerCase(), repo }))]
  const reposOf = groupBy(named, ({ repoKey }) => nameOf(repoKey))
  const matched = open.flatMap((name) => {
    const repos = mayBeFolder(name) ? (reposOf.get(name.toLowerCase()) ?? []) : []
    const isOne = new Set(repos.map(({ repoKey }) => repoKey)).size === 1
    const repo = repos.at(-1)?.repo
    return isOne && repo !== undefined ? [{ name, repo, ignored: false, automatic: true }] : []
  })
  const chosen = matched.slice(0, Math.max(0, quota.chosen))
  const isChosen = new Set(chosen.map(({ name }) => name))
  const mayWait = new Set(open.filter((name) => !isChosen.has(name)))
  const newlyWaiting = fresh.filter((name) => mayWait.has(name)).length
  return { chosen, mayWait, isFull: newlyWaiting > quota.waiting }
}
