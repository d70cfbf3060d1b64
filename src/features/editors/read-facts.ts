/** Reads what's stored about people around the time of their heartbeats, and where the heartbeats count. */
import type { RepohostKind } from '../../../schemas/common.js'
import { limits } from '../../../schemas/limits.js'
import type { Db } from '../../platform/database/client.js'
import { type LeftOut, leaveOut } from '../../platform/database/write-queue.js'
import { groupBy, requireValue } from '../../platform/process/maps.js'
import { findPersonRepos, nameOf } from '../accounts/index.js'
import { readTargets, type TargetResult } from '../minutes/index.js'
import { type Batch, type Heartbeat, namesIn } from './batch.js'
import { reposOfAgents } from './count-agents.js'
import { canBeFolder, isRepo, markNameOf, Projects } from './project-names.js'
import { lockMarks, readMarks, tryToLockMarks } from './queries/marks.js'
import { type EditorProject, findNames, namesOf, readNameQuota } from './queries/projects.js'
import { Counts, hoursAround, hoursBeside, type StoredHour, Timeline } from './timeline.js'

/** How many hours on either side of its own an agent's mark affects. */
const AGENT_HOURS_AROUND = 2

/**
 * How much is compared for each person in a set. Alone, a person's heartbeats are first compared up to this limit, too.
 */
const SET_COMPARISONS = limits.flush_comparisons / 100

/** Everything that's read about a person's heartbeats. It determines what they change. */
export interface Facts {
  kind: 'read'
  batch: Batch
  /** The repositories of all projects. */
  projects: Projects
  names: MatchedNames
  /** The marks around the heartbeats. */
  timeline: Timeline
  /** Where these minutes have counted. */
  countsBefore: Counts
  /** The repositories for which minutes may count: those of the heartbeats, and of the marks before them. */
  repoKeys: ReadonlySet<string>
  /** Where minutes of these repositories count. */
  target: TargetResult
  /** Those for which agents have marks nearby. */
  agentRepos: ReadonlySet<string>
  /** Where agents' minutes count. If there are too many repositories, agents' time stays as it is. */
  targetOfAgents: TargetResult
}

/** Locks the person's marks and reads the facts. Waits for those who hold the lock. */
export const readFactsOfOne = async (tx: Db, batch: Batch): Promise<Facts> => {
  const { userId } = batch
  // Statements run in the order in which they're sent, so the marks are read once they're locked.
  const [, first] = await Promise.all([lockMarks(tx, userId), readFirst(tx, [batch])])
  const facts = requireValue(await readRest(tx, [batch], first, limits.flush_comparisons), userId)
  const { target, repoKeys, agentRepos } = facts
  if (target.kind !== 'too large' || isSubset(agentRepos, repoKeys)) return facts
  // No request fails because of agents' marks, so the person's own repositories are read without them.
  const own = await readTargetsOf(tx, [facts], limits.flush_comparisons)
  return { ...facts, target: requireValue(own, userId) }
}

/** The same for several people, without waiting. @returns each batch's facts, in order; people whose lock is held are left out */
export const readFactsOfMany = async (tx: Db, batches: readonly Batch[]): Promise<(Facts | LeftOut)[]> => {
  const userIds = batches.map(({ userId }) => userId)
  const [locked, first] = await Promise.all([tryToLockMarks(tx, userIds), readFirst(tx, batches)])
  const ofLocked = batches.filter(({ userId }) => locked.has(userId))
  const facts = await readRest(tx, ofLocked, first, SET_COMPARISONS)
  return userIds.map((userId) => (locked.has(userId) ? requireValue(facts, userId) : leaveOut(userId)))
}

/** The little that's read first. Both are by user. */
interface FirstRead {
  stored: ReadonlyMap<string, Stored>
  /** Where repositories that are named in full count. Only of people who name some. */
  targets: ReadonlyMap<string, TargetResult>
}

/**
 * Reads little, sent along with the locks, and more only if it's needed: most heartbeats name a repository in full,
 * near marks of the same one. Reading everything at once takes an eighth more CPU time.
 */
const readFirst = async (tx: Db, batches: readonly Batch[]): Promise<FirstRead> => {
  const withRepos = batches.filter((batch) => reposSent(batch).size > 0)
  const [stored, targets] = await Promise.all([
    readStored(
      tx,
      batches.map((batch) => ({ batch, reach: reachFor(batch, []) })),
    ),
    readTargetsOf(
      tx,
      withRepos.map((batch) => ({ batch, repoKeys: reposSent(batch) })),
      SET_COMPARISONS,
    ),
  ])
  return { stored, targets }
}

/** Reads what's lacking. @param batches those of people whose marks are locked @returns the facts by user */
const readRest = async (
  tx: Db,
  batches: readonly Batch[],
  first: FirstRead,
  maxComparisons: number,
): Promise<ReadonlyMap<string, Facts>> => {
  const wide = batches.flatMap((batch) => {
    const needed = reachFor(batch, requireValue(first.stored, batch.userId).marks)
    return isWider(needed, reachFor(batch, [])) ? [{ batch, reach: needed }] : []
  })
  const stored = new Map([...first.stored, ...(await readStored(tx, wide))])
  const resolved = await Promise.all(
    batches.map((batch) => resolveProjects(tx, batch, requireValue(stored, batch.userId))),
  )
  const involved = resolved.map(({ batch, repoKeys, agentRepos }) => ({
    batch,
    repoKeys: new Set([...repoKeys, ...agentRepos]),
  }))
  const lacking = involved.filter(
    ({ batch, repoKeys }) =>
      !isSubset(repoKeys, reposSent(batch)) || !isConclusive(first.targets.get(batch.userId), maxComparisons),
  )
  const targets = new Map([...first.targets, ...(await readTargetsOf(tx, lacking, maxComparisons))])
  return new Map(
    resolved.map((one) => {
      const target = requireValue(targets, one.batch.userId)
      return [one.batch.userId, { ...one, target, targetOfAgents: target }]
    }),
  )
}

/** Whether a first target stays the same with this limit. @param target undefined: it wasn't read */
const isConclusive = (target: TargetResult | undefined, maxComparisons: number): boolean =>
  target !== undefined && (target.kind !== 'too large' || maxComparisons <= SET_COMPARISONS)

/** How far to read around someone's heartbeats. */
interface Reach {
  /** Whether the hours reach far enough for agents' marks. */
  agents: boolean
  /** Whether to read the projects behind names, both those sent and those in the marks. */
  names: boolean
}

/** @param known the marks that are known so far */
const reachFor = (batch: Batch, known: readonly StoredHour[]): Reach => {
  const isOfAgents = batch.heartbeats.some(({ isOfAgent }) => isOfAgent)
  const isNearAgents = known.some(({ agentProjects }) => agentProjects)
  const isNearNames = known.some((hour) => hasNames(hour, batch.kind))
  return {
    agents: isOfAgents || isNearAgents,
    // Hours that weren't read yet may have names.
    names: namesIn(batch).length > 0 || isNearNames || (isNearAgents && !isOfAgents),
  }
}

const isWider = (one: Reach, other: Reach): boolean =>
  (one.agents && !other.agents) || (one.names && !other.names)

const hasNames = ({ projects, agentProjects }: StoredHour, kind: RepohostKind) =>
  [...projects, ...(agentProjects ?? [])].some((project) => !isRepo(project, kind))

/** What's stored around a person's heartbeats. */
interface Stored {
  marks: StoredHour[]
  /** The projects of names. */
  named: EditorProject[]
}

/** @returns what's stored about each person, by user */
const readStored = async (
  tx: Db,
  people: readonly { batch: Batch; reach: Reach }[],
): Promise<ReadonlyMap<string, Stored>> => {
  if (people.length === 0) return new Map()
  const requests = people.map(({ batch, reach }) => {
    const hours = hoursAround(batch.heartbeats.map(({ minute }) => minute))
    return {
      userId: batch.userId,
      reach,
      hours: reach.agents ? hoursBeside(hours, AGENT_HOURS_AROUND) : hours,
      names: namesIn(batch),
    }
  })
  const [hours, names] = await Promise.all([
    readMarks(tx, requests),
    findNames(
      tx,
      requests.filter(({ reach }) => reach.names),
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

const isSubset = (keys: ReadonlySet<string>, of: ReadonlySet<string>): boolean =>
  [...keys].every((key) => of.has(key))

/** @returns where minutes of these repositories count, by user */
const readTargetsOf = async (
  tx: Db,
  people: readonly Pick<Facts, 'batch' | 'repoKeys'>[],
  maxComparisons: number,
): Promise<ReadonlyMap<string, TargetResult>> => {
  const requests = people.map(({ batch: { userId, scope }, repoKeys }) => ({ userId, scope, repoKeys }))
  return requests.length === 0 ? new Map() : readTargets(tx, requests, maxComparisons)
}

/** Finds the repositories behind names, and those that are involved. */
const resolveProjects = async (
  tx: Db,
  batch: Batch,
  { marks, named }: Stored,
): Promise<Omit<Facts, 'target' | 'targetOfAgents'>> => {
  const sent = batch.heartbeats.map(({ project }) => project)
  const repos = sent.flatMap(({ repo }) => repo ?? [])
  const names = await matchFolders(tx, batch.userId, namesOf(named), namesIn(batch), repos)
  const projects = new Projects(batch.kind, namesOf([...named, ...names.chosen]), sent)
  const timeline = new Timeline(marks)
  const repoKeys = involvedIn(batch.heartbeats, projects, timeline)
  return {
    kind: 'read',
    batch,
    projects,
    names,
    timeline,
    countsBefore: new Counts(marks),
    repoKeys,
    agentRepos: reposOfAgents(timeline, projects),
  }
}

const involvedIn = (heartbeats: Heartbeat[], projects: Projects, timeline: Timeline): Set<string> => {
  const before = heartbeats.flatMap(({ minute, isOfAgent }) =>
    isOfAgent ? [] : (timeline.projectBefore(minute) ?? []),
  )
  const sent = heartbeats.map(({ project }) => markNameOf(project))
  return new Set([...sent, ...before].flatMap((project) => projects.keyOf(project) ?? []))
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
