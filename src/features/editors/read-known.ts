/** Reads what's stored about people around the time of their heartbeats, and where the heartbeats count. */
import type { RepohostKind } from '../../../schemas/common.js'
import { limits } from '../../../schemas/limits.js'
import type { Db } from '../../platform/database/client.js'
import { groupBy } from '../../platform/process/maps.js'
import { findPersonRepos, nameOf } from '../accounts/index.js'
import { readTargets, type TargetResult } from '../minutes/index.js'
import type { Batch, Heartbeat } from './batch.js'
import { isRepo, markNameOf, mayBeFolder, Projects } from './project-names.js'
import { readMarks } from './queries/marks.js'
import { type EditorProject, findNames, namesOf, readNameQuota } from './queries/projects.js'
import { Counts, hoursAround, hoursBeside, type StoredHour, Timeline } from './timeline.js'

/** The maximum comparisons per person when several people are read together. */
export const COMPARED_TOGETHER = limits.flush_comparisons / 100

/** How many hours on either side of its own an agent's mark affects. */
const REACH_OF_AGENTS = 2

/** The names and hours to read for a person's heartbeats. */
interface Wanted {
  batch: Batch
  userId: string
  names: string[]
  hours: number[]
  /** Whether the hours reach far enough for agents' marks. */
  isWide: boolean
}

/** What's stored about them. */
export interface Stored {
  wanted: Wanted
  /** The marks in these hours. */
  marks: StoredHour[]
  /** The projects of the names, and of the names in the marks if they were read. */
  named: EditorProject[]
}

/** Usually this is enough, because most heartbeats name a repository in full, near marks of the same one. */
export const readNearMarks = (tx: Db, batches: readonly Batch[]): Promise<Stored[]> => {
  const wanted = batches.map(wantedFor)
  return readStored(tx, wanted, wanted.filter(isNaming))
}

/** For the people who need it, also hours farther from agents' marks, and the projects of names in the marks. */
export const readFarMarks = async (tx: Db, near: readonly Stored[]): Promise<Stored[]> => {
  const wanted = near.flatMap(wantedFarther)
  if (wanted.length === 0) return [...near]
  const far = await readStored(tx, wanted, wanted)
  const farOf = new Map(far.map((one) => [one.wanted.userId, one]))
  return near.map((one) => farOf.get(one.wanted.userId) ?? one)
}

const wantedFor = (batch: Batch): Wanted => {
  const { userId, heartbeats, names = [] } = batch
  const hours = hoursAround(heartbeats.map(({ minute }) => minute))
  const isWide = heartbeats.some(({ isOfAgent }) => isOfAgent)
  return {
    batch,
    userId,
    names: [...new Set([...heartbeats.flatMap(({ project }) => project.name ?? []), ...names])],
    hours: isWide ? hoursBeside(hours, REACH_OF_AGENTS) : hours,
    isWide,
  }
}

/** None if everything needed was read. */
const wantedFarther = ({ wanted, marks }: Stored): Wanted[] => {
  const isNearAgents = marks.some(({ agentProjects }) => agentProjects)
  if (isNearAgents && !wanted.isWide)
    return [{ ...wanted, hours: hoursBeside(wanted.hours, REACH_OF_AGENTS), isWide: true }]
  const isNearNames = marks.some((hour) => hasNames(hour, wanted.batch.kind))
  return isNearNames && !isNaming(wanted) ? [wanted] : []
}

const isNaming = ({ names }: Wanted) => names.length > 0

const hasNames = ({ projects, agentProjects }: StoredHour, kind: RepohostKind) =>
  [...projects, ...(agentProjects ?? [])].some((project) => !isRepo(project, kind))

/** @param naming the people whose names are read, also those in the marks */
const readStored = async (
  tx: Db,
  wanted: readonly Wanted[],
  naming: readonly Wanted[],
): Promise<Stored[]> => {
  const [hours, names] = await Promise.all([readMarks(tx, wanted), findNames(tx, naming)])
  const hoursByPerson = groupBy(hours, ({ userId }) => userId)
  const namesByPerson = groupBy(names, ({ userId }) => userId)
  return wanted.map((one) => ({
    wanted: one,
    marks: hoursByPerson.get(one.userId) ?? [],
    named: namesByPerson.get(one.userId) ?? [],
  }))
}

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
export const resolveProjects = async (tx: Db, { wanted, marks, named }: Stored): Promise<Known> => {
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

/** Where minutes of the repositories count that are named in full. Without any, a person has no entry. */
export const readTargetsOfSent = (
  tx: Db,
  batches: readonly Batch[],
): Promise<ReadonlyMap<string, TargetResult>> => {
  const all = batches.map((batch) => targetRequest(batch, reposSent(batch)))
  return readTargetsIfAny(
    tx,
    all.filter(({ repoKeys }) => repoKeys.size > 0),
    COMPARED_TOGETHER,
  )
}

/**
 * Where minutes count of all repositories that are involved.
 * @param ofSent the targets of those that were sent, which are read again if they aren't enough
 * @returns an entry for each person
 */
export const completeTargets = async (
  tx: Db,
  ofSent: ReadonlyMap<string, TargetResult>,
  people: readonly Known[],
  mostCompared: number,
): Promise<ReadonlyMap<string, TargetResult>> => {
  const isEnough = ({ batch, involved }: Known) => {
    const sent = reposSent(batch)
    return ofSent.get(batch.userId)?.kind === 'found' && [...involved].every((repoKey) => sent.has(repoKey))
  }
  const others = people.filter((one) => !isEnough(one))
  const requests = others.map(({ batch, involved }) => targetRequest(batch, involved))
  return new Map([...ofSent, ...(await readTargetsIfAny(tx, requests, mostCompared))])
}

/** The keys of repositories that are named in full. */
const reposSent = ({ heartbeats }: Batch): ReadonlySet<string> =>
  new Set(heartbeats.flatMap(({ project }) => project.repo?.toLowerCase() ?? []))

const targetRequest = ({ userId, scope }: Batch, repoKeys: ReadonlySet<string>) => ({
  userId,
  scope,
  repoKeys,
})

const readTargetsIfAny = async (
  tx: Db,
  requests: Parameters<typeof readTargets>[1],
  mostCompared: number,
): Promise<ReadonlyMap<string, TargetResult>> =>
  requests.length === 0 ? new Map() : readTargets(tx, requests, mostCompared)

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
