/** Reads what's stored about people around the time of their heartbeats, and where the heartbeats count. */
import type { RepohostKind } from '../../../schemas/common.js'
import { limits } from '../../../schemas/limits.js'
import type { Db } from '../../platform/database/client.js'
import { groupBy } from '../../platform/process/maps.js'
import { findPersonRepos, nameOf } from '../accounts/index.js'
import { type FlushTarget, readTargets, requireTarget, type Scope } from '../minutes/index.js'
import type { Batch, Heartbeat } from './batch.js'
import { hoursBeside } from './count-agents.js'
import { isRepo, mayBeFolder, Projects } from './project-names.js'
import { lockMarks, readMarks } from './queries/marks.js'
import { type EditorProject, findNames, namesOf, readNameQuota } from './queries/projects.js'
import { hoursAround, type StoredHour, Timeline } from './timeline.js'

/** The maximum comparisons per person when several people are read together. */
const COMPARED_TOGETHER = limits.flush_comparisons / 100

/** Everything that's known about a person's heartbeats before their minutes are marked. */
export interface Known extends Names {
  batch: Batch
  userId: string
  projects: Projects
  /** The marks around the heartbeats. */
  timeline: Timeline
  /** The repositories for which minutes may count. */
  involved: ReadonlySet<string>
  /** Where the minutes of these repositories count. */
  target: FlushTarget
}

/**
 * Usually one round of statements is enough, because most heartbeats name a repository in full, near marks of the same
 * one. Then names, more hours and other repositories are read only for the people who need them.
 * @param waits whether to wait for others; if not, leaves out people who would have to wait or have a lot to compare
 */
export const readKnown = async (tx: Db, all: readonly Batch[], waits: boolean): Promise<Known[]> => {
  const requests = all.map(askAbout)
  const [held, first, aimed] = await Promise.all([
    Promise.all(requests.map(({ userId }) => lockMarks(tx, userId, waits))),
    readStored(tx, requests, requests.filter(isNaming)),
    readTargetsOf(
      tx,
      requests.filter(({ repoKeys }) => repoKeys.size > 0),
      COMPARED_TOGETHER,
    ),
  ])
  const people = requests.filter((_, index) => held[index])
  const again = people.flatMap((one) => askAgain(one, storedOf(first, one).marks))
  const second = again.length > 0 ? await readStored(tx, again, again) : new Map<string, Stored>()
  const stored = new Map([...first, ...second])

  const found = await Promise.all(
    people.map(async (one) => {
      const { batch, userId, names } = one
      const { marks, projects: known } = storedOf(stored, one)
      const repos = batch.heartbeats.flatMap(({ project }) => project.repo ?? [])
      const chosen = await matchFolders(tx, userId, namesOf(known), names, repos)
      const projects = new Projects(namesOf([...known, ...chosen.chosen]), batch.kind)
      const timeline = new Timeline(marks)
      const involved = involvedIn(batch.heartbeats, projects, timeline)
      return { ...chosen, batch, userId, projects, timeline, involved, requests: one }
    }),
  )
  const unaimed = found.filter(({ userId, involved, requests: { repoKeys } }) => {
    const areAllAimed = [...involved].every((repoKey) => repoKeys.has(repoKey))
    return !areAllAimed || !isCompared(aimed.get(userId))
  })
  const aimedAgain = await readTargetsOf(
    tx,
    unaimed.map(({ userId, involved, batch: { scope } }) => ({ userId, repoKeys: involved, scope })),
    waits ? limits.flush_comparisons : COMPARED_TOGETHER,
  )
  const targets = new Map([...aimed, ...aimedAgain])
  return found.flatMap(({ requests: _, ...one }) => {
    const target = targets.get(one.userId)
    if (waits) return [{ ...one, target: requireTarget(target, one.involved.size) }]
    return isCompared(target) ? [{ ...one, target }] : []
  })
}

/** The person, names, hours and repositories to read for some heartbeats. */
interface Asked {
  batch: Batch
  userId: string
  names: string[]
  hours: number[]
  /** Whether the hours reach far enough for agents' marks. */
  isWide: boolean
  /** Repositories that are named in full. */
  repoKeys: ReadonlySet<string>
  scope: Scope
}

/** How many hours on either side of its own an agent's mark affects. */
const REACH_OF_AGENTS = 2

const askAbout = (batch: Batch): Asked => {
  const { userId, heartbeats, names = [], scope } = batch
  const hours = hoursAround(heartbeats.map(({ minute }) => minute))
  const isWide = heartbeats.some(({ isOfAgent }) => isOfAgent)
  return {
    batch,
    userId,
    names: [...new Set([...heartbeats.flatMap(({ project }) => project.name ?? []), ...names])],
    hours: isWide ? hoursBeside(hours, REACH_OF_AGENTS) : hours,
    isWide,
    repoKeys: new Set(heartbeats.flatMap(({ project }) => project.repo?.toLowerCase() ?? [])),
    scope,
  }
}

/** More hours near agents' marks, and names near marks of names. None if everything needed was read. */
const askAgain = (one: Asked, marks: StoredHour[]): Asked[] => {
  const isNearAgents = marks.some(({ agentProjects }) => agentProjects)
  if (isNearAgents && !one.isWide) return [{ ...one, hours: hoursBeside(one.hours, REACH_OF_AGENTS) }]
  const isNearNames = marks.some((hour) => hasNames(hour, one.batch.kind))
  return isNearNames && !isNaming(one) ? [one] : []
}

/** A person's marks in the requested hours, and their names. */
interface Stored {
  marks: StoredHour[]
  projects: EditorProject[]
}

/** By person. @param naming the people whose names are read too */
const readStored = async (
  tx: Db,
  people: readonly Asked[],
  naming: readonly Asked[],
): Promise<Map<string, Stored>> => {
  const [hours, names] = await Promise.all([readMarks(tx, people), findNames(tx, naming)])
  const marksOf = groupBy(hours, ({ userId }) => userId)
  const projectsOf = groupBy(names, ({ userId }) => userId)
  return new Map(
    people.map(({ userId }) => [
      userId,
      { marks: marksOf.get(userId) ?? [], projects: projectsOf.get(userId) ?? [] },
    ]),
  )
}

const storedOf = (stored: ReadonlyMap<string, Stored>, { userId }: { userId: string }): Stored =>
  stored.get(userId) ?? { marks: [], projects: [] }

/** By person. */
const readTargetsOf = async (
  tx: Db,
  people: readonly Pick<Asked, 'userId' | 'repoKeys' | 'scope'>[],
  mostCompared: number,
): Promise<ReadonlyMap<string, FlushTarget>> =>
  people.length === 0 ? new Map() : readTargets(tx, people, mostCompared)

/** Whether all patterns were compared, within the limit of a set. */
const isCompared = (target: FlushTarget | undefined): target is FlushTarget =>
  target !== undefined && target.comparisons <= COMPARED_TOGETHER

const isNaming = ({ names }: { names: readonly string[] }) => names.length > 0

const hasNames = ({ projects, agentProjects }: StoredHour, kind: RepohostKind) =>
  [...projects, ...(agentProjects ?? [])].some((project) => !isRepo(project, kind))

/** The repositories of the heartbeats and of those before them. */
const involvedIn = (heartbeats: Heartbeat[], projects: Projects, timeline: Timeline): Set<string> => {
  const involved = new Set(heartbeats.flatMap(({ project }) => projects.keyOf(projects.add(project)) ?? []))
  for (const { minute, isOfAgent } of heartbeats) {
    const before = isOfAgent ? undefined : timeline.projectBefore(minute)
    const repoKey = before === undefined ? undefined : projects.keyOf(before)
    if (repoKey !== undefined) involved.add(repoKey)
  }
  return involved
}

interface Names {
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
): Promise<Names> => {
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
