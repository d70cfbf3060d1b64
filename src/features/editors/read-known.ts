/** Reads what's stored about people around the time of their heartbeats, and where the heartbeats count. */
import type { RepohostKind } from '../../../schemas/common.js'
import { limits } from '../../../schemas/limits.js'
import type { Db } from '../../platform/database/client.js'
import { groupBy } from '../../platform/process/maps.js'
import { findPersonRepos, nameOf } from '../accounts/index.js'
import { type FlushTarget, readTargets } from '../minutes/index.js'
import type { Batch, Heartbeat } from './batch.js'
import { hoursBeside } from './count-agents.js'
import { isRepo, markNameOf, mayBeFolder, Projects } from './project-names.js'
import { readMarks } from './queries/marks.js'
import { type EditorProject, findNames, namesOf, readNameQuota } from './queries/projects.js'
import { Counts, hasUncounted, hoursAround, type StoredHour, Timeline } from './timeline.js'

/** The maximum comparisons per person when several people are read together. */
export const COMPARED_TOGETHER = limits.flush_comparisons / 100

/** The names, hours and repositories to read about for a person's heartbeats. */
interface Asked {
  batch: Batch
  userId: string
  names: string[]
  hours: number[]
  /** Whether the hours reach far enough for agents' marks. */
  isWide: boolean
  /** Repositories that are named in full. */
  repoKeys: ReadonlySet<string>
}

/** What's stored about them. */
interface Stored extends Asked {
  /** The marks in these hours. */
  marks: StoredHour[]
  /** The projects of the names, and of the names in the marks if they were read. */
  known: EditorProject[]
  /** Undefined: there's no such person, or no repository is named in full. */
  target: FlushTarget | undefined
}

/** With the repositories of all projects. */
export interface Resolved extends Stored, MatchedNames {
  projects: Projects
  /** The marks around the heartbeats. */
  timeline: Timeline
  /** Where these minutes have counted. */
  counts: Counts
  /** Whether some of them have counted in no workspace. */
  hadUncounted: boolean
  /** The repositories for which minutes may count. */
  involved: ReadonlySet<string>
}

/** Everything that's known about a person's heartbeats before their minutes are marked. */
export interface Known extends Resolved {
  /** Where the minutes of these repositories count. */
  target: FlushTarget
}

/** How many hours on either side of its own an agent's mark affects. */
const REACH_OF_AGENTS = 2

export const askAbout = (batch: Batch): Asked => {
  const { userId, heartbeats, names = [] } = batch
  const hours = hoursAround(heartbeats.map(({ minute }) => minute))
  const isWide = heartbeats.some(({ isOfAgent }) => isOfAgent)
  return {
    batch,
    userId,
    names: [...new Set([...heartbeats.flatMap(({ project }) => project.name ?? []), ...names])],
    hours: isWide ? hoursBeside(hours, REACH_OF_AGENTS) : hours,
    isWide,
    repoKeys: new Set(heartbeats.flatMap(({ project }) => project.repo?.toLowerCase() ?? [])),
  }
}

/**
 * The first step. Usually it reads all that is needed, because most heartbeats name a repository in full, near marks of
 * the same one. The next two steps read more only for the people who need it.
 */
export const readStored = async (tx: Db, people: readonly Asked[]): Promise<Stored[]> => {
  const aiming = people.filter(({ repoKeys }) => repoKeys.size > 0)
  const [hours, names, targets] = await Promise.all([
    readMarks(tx, people),
    findNames(tx, people.filter(isNaming)),
    readTargetsOf(tx, aiming, COMPARED_TOGETHER),
  ])
  return withMarks(people, hours, names).map((one) => ({ ...one, target: targets.get(one.userId) }))
}

/** The second step: hours farther from agents' marks, and the projects of names in the marks. */
export const readFarther = async (tx: Db, stored: readonly Stored[]): Promise<Stored[]> => {
  const asked = stored.flatMap(askFarther)
  if (asked.length === 0) return [...stored]
  const [hours, names] = await Promise.all([readMarks(tx, asked), findNames(tx, asked)])
  const farther = new Map(withMarks(asked, hours, names).map((one) => [one.userId, one]))
  return stored.map((one) => farther.get(one.userId) ?? one)
}

/** None if everything needed was read. */
const askFarther = (one: Stored): Stored[] => {
  const { marks, hours, isWide, batch } = one
  const isNearAgents = marks.some(({ agentProjects }) => agentProjects)
  if (isNearAgents && !isWide) return [{ ...one, hours: hoursBeside(hours, REACH_OF_AGENTS) }]
  const isNearNames = marks.some((hour) => hasNames(hour, batch.kind))
  return isNearNames && !isNaming(one) ? [one] : []
}

/** Gives each person their marks and projects. */
const withMarks = <Person extends { userId: string }>(
  people: readonly Person[],
  hours: readonly (StoredHour & { userId: string })[],
  names: readonly (EditorProject & { userId: string })[],
) => {
  const marksOf = groupBy(hours, ({ userId }) => userId)
  const projectsOf = groupBy(names, ({ userId }) => userId)
  return people.map((one) => ({
    ...one,
    marks: marksOf.get(one.userId) ?? [],
    known: projectsOf.get(one.userId) ?? [],
  }))
}

/** The third step: the repositories of names, and of the marks before the heartbeats. */
export const resolveProjects = (tx: Db, stored: readonly Stored[]): Promise<Resolved[]> =>
  Promise.all(stored.map((one) => resolveOwn(tx, one)))

const resolveOwn = async (tx: Db, stored: Stored): Promise<Resolved> => {
  const { batch, userId, names, marks, known } = stored
  const repos = batch.heartbeats.flatMap(({ project }) => project.repo ?? [])
  const matched = await matchFolders(tx, userId, namesOf(known), names, repos)
  const projects = new Projects(
    batch.kind,
    namesOf([...known, ...matched.chosen]),
    batch.heartbeats.map(({ project }) => project),
  )
  const timeline = new Timeline(marks)
  const counts = new Counts(marks)
  const hadUncounted = hasUncounted(timeline, counts)
  const involved = involvedIn(batch.heartbeats, projects, timeline)
  return { ...stored, ...matched, projects, timeline, counts, hadUncounted, involved }
}

/** The last step: where minutes count of repositories for which the first one didn't find it. */
export const readOtherTargets = async (
  tx: Db,
  resolved: readonly Resolved[],
  mostCompared: number,
): Promise<Resolved[]> => {
  const unaimed = resolved.filter((one) => !isAimed(one))
  const targets = await readTargetsOf(
    tx,
    unaimed.map(({ batch, userId, involved }) => ({ batch, userId, repoKeys: involved })),
    mostCompared,
  )
  return resolved.map((one) => (isAimed(one) ? one : { ...one, target: targets.get(one.userId) }))
}

const isAimed = ({ involved, repoKeys, target }: Resolved): boolean =>
  isCompared(target) && [...involved].every((repoKey) => repoKeys.has(repoKey))

/** By person. */
const readTargetsOf = async (
  tx: Db,
  people: readonly Pick<Asked, 'batch' | 'userId' | 'repoKeys'>[],
  mostCompared: number,
): Promise<ReadonlyMap<string, FlushTarget>> => {
  if (people.length === 0) return new Map()
  const requests = people.map(({ batch: { scope }, userId, repoKeys }) => ({ userId, repoKeys, scope }))
  return readTargets(tx, requests, mostCompared)
}

/** Whether all patterns were compared, within the limit of a set. */
export const isCompared = (target: FlushTarget | undefined): target is FlushTarget =>
  target !== undefined && target.comparisons <= COMPARED_TOGETHER

const isNaming = ({ names }: { names: readonly string[] }) => names.length > 0

const hasNames = ({ projects, agentProjects }: StoredHour, kind: RepohostKind) =>
  [...projects, ...(agentProjects ?? [])].some((project) => !isRepo(project, kind))

/** The repositories of the heartbeats and of those before them. */
const involvedIn = (heartbeats: Heartbeat[], projects: Projects, timeline: Timeline): Set<string> => {
  const involved = new Set(heartbeats.flatMap(({ project }) => projects.keyOf(markNameOf(project)) ?? []))
  for (const { minute, isOfAgent } of heartbeats) {
    const before = isOfAgent ? undefined : timeline.projectBefore(minute)
    const repoKey = before === undefined ? undefined : projects.keyOf(before)
    if (repoKey !== undefined) involved.add(repoKey)
  }
  return involved
}

interface MatchedNames {
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
