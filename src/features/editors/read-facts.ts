/** Reads what's stored about people around the time of their heartbeats, and where the heartbeats count. */
import type { RepohostKind } from '../../../schemas/common.js'
import { limits } from '../../../schemas/limits.js'
import type { Db } from '../../platform/database/client.js'
import { groupBy, requireValue } from '../../platform/process/maps.js'
import { findPersonRepos, nameOf } from '../named-repos/index.js'
import { readTargets, type TargetResult } from '../recording/index.js'
import { type Batch, type Heartbeat, namesIn, projectsIn } from './batch.js'
import { reposOfAgents } from './count-agents.js'
import { resolveLastProjects } from './last-project.js'
import { canBeFolder, isOwnRepo, markNameOf, Projects, readAlias } from './project-names.js'
import { readMarks } from './queries/marks.js'
import { type EditorProject, findAssigned, findNames, namesOf, readNameQuota } from './queries/projects.js'
import { Counts, hoursAround, hoursBeside, type StoredHour, type Timeline, timelineOf } from './timeline.js'

/** How many hours on either side of its own an agent's mark affects. */
const AGENT_HOURS_AROUND = 2

/** Everything that's read about a person's heartbeats. It determines what they change. */
export interface Facts {
  batch: Batch
  /** The repositories of all projects. */
  projects: Projects
  names: MatchedNames
  /** The marks around the heartbeats. */
  timeline: Timeline
  /** Where these minutes have counted. */
  counts: Counts
  /** The repositories for which minutes may count: those of the heartbeats, and of the marks around them. */
  repoKeys: ReadonlySet<string>
  /** Where minutes of these repositories count. */
  target: TargetResult
  /** Where agents' minutes count. If there are too many repositories, agents' time stays as it is. */
  targetOfAgents: TargetResult
}

/**
 * Reads the facts of people whose minutes are locked, in the order of the data: marks and names, then repositories.
 * @param maxComparisons how much is compared for each of them at most
 * @returns the facts of each batch, in order
 */
export const readFacts = async (
  tx: Db,
  sent: readonly Batch[],
  maxComparisons: number = limits.flush_comparisons,
): Promise<Facts[]> => {
  if (sent.length === 0) return []
  const batches = await Promise.all(sent.map((batch) => resolveLastProjects(tx, batch)))
  const requests = batches.map((batch) => ({
    userId: batch.userId,
    hours: hoursBeside(hoursAround(batch.heartbeats.map(({ minute }) => minute)), AGENT_HOURS_AROUND),
    names: projectsIn(batch),
  }))
  const [marks, names] = await Promise.all([readMarks(tx, requests), findNames(tx, requests)])
  const marksOf = groupBy(marks, ({ userId }) => userId)
  const namesOfPerson = groupBy(names, ({ userId }) => userId)
  const resolved = await Promise.all(
    batches.map((batch) =>
      resolveProjects(tx, batch, marksOf.get(batch.userId) ?? [], namesOfPerson.get(batch.userId) ?? []),
    ),
  )
  const targets = await readTargets(
    tx,
    resolved.map(({ batch: { userId, scope }, repoKeys, agentRepos }) => ({
      userId,
      scope,
      repoKeys: new Set([...repoKeys, ...agentRepos]),
    })),
    maxComparisons,
  )
  return Promise.all(
    resolved.map(async ({ agentRepos, ...facts }) => {
      const { userId, scope } = facts.batch
      const target = requireValue(targets, userId)
      if (target.kind !== 'too large' || agentRepos.size === 0)
        return { ...facts, target, targetOfAgents: target }
      // No request fails because of agents' marks, so the person's own repositories are read without them.
      const own = await readTargets(tx, [{ userId, scope, repoKeys: facts.repoKeys }], maxComparisons)
      return { ...facts, target: requireValue(own, userId), targetOfAgents: target }
    }),
  )
}

/** Finds the repositories behind names, and those that are involved. */
const resolveProjects = async (tx: Db, batch: Batch, marks: StoredHour[], named: EditorProject[]) => {
  const sent = batch.heartbeats.map(({ project }) => project)
  const repos = sent.flatMap(({ repo }) => repo ?? [])
  const names = await matchNames(tx, batch, namesOf(named), repos)
  const projects = new Projects(batch.kind, namesOf([...named, ...names.chosen]), sent)
  const timeline = timelineOf(marks)
  return {
    batch,
    projects,
    names,
    timeline,
    counts: new Counts(marks),
    repoKeys: involvedIn(batch.heartbeats, projects, timeline),
    agentRepos: reposOfAgents({ timeline, projects }),
  }
}

const involvedIn = (heartbeats: Heartbeat[], projects: Projects, timeline: Timeline): Set<string> => {
  const sent = heartbeats.map(({ project }) => markNameOf(project))
  return new Set([...sent, ...timeline.own.projects()].flatMap((project) => projects.keyOf(project) ?? []))
}

/** The repositories of addresses whose SSH alias the person has assigned, by address. */
const findAliased = async (
  tx: Db,
  userId: string,
  names: readonly string[],
  kind: RepohostKind,
): Promise<ReadonlyMap<string, string>> => {
  const open = names.flatMap((name) => {
    const aliased = readAlias(name, kind)
    return aliased ? [{ name, ...aliased }] : []
  })
  if (open.length === 0) return new Map()
  const assigned = await findAssigned(tx, userId, [...new Set(open.map(({ alias }) => alias))])
  const aliases = new Set(
    assigned.flatMap((one) => {
      const aliased = readAlias(one.name, kind)
      return aliased && isOwnRepo(aliased, one.repo) ? [aliased.alias] : []
    }),
  )
  return new Map(open.flatMap(({ name, alias, repo }) => (aliases.has(alias) ? [[name, repo]] : [])))
}

export interface MatchedNames {
  /** Names that now belong to a repository. */
  chosen: EditorProject[]
  /** Names that can wait for a repository. */
  canWait: ReadonlySet<string>
  /** Whether older names may have to be deleted. */
  isFull: boolean
}

/**
 * Matches folder names to the one repository of the same name that the person has named in full, and addresses with an
 * SSH alias to the repository in them, if the person has assigned the alias.
 * @param sent repositories that are named in full now
 */
const matchNames = async (
  tx: Db,
  batch: Batch,
  known: ReadonlyMap<string, EditorProject>,
  sent: string[],
): Promise<MatchedNames> => {
  const { userId, kind } = batch
  const open = namesIn(batch).filter((name) => {
    const project = known.get(name)
    return !project || (project.repo === null && !project.ignored)
  })
  if (open.length === 0) return { chosen: [], canWait: new Set(), isFull: false }
  const fresh = open.filter((name) => !known.has(name))
  const folders = open.filter(canBeFolder).map((name) => name.toLowerCase())
  const [found, aliased, quota] = await Promise.all([
    findPersonRepos(tx, userId, folders),
    findAliased(tx, userId, open, kind),
    fresh.length > 0 ? readNameQuota(tx, userId) : { waiting: 0, chosen: 1 },
  ])
  const named = [...found, ...sent.map((repo) => ({ repoKey: repo.toLowerCase(), repo }))]
  const reposOf = groupBy(named, ({ repoKey }) => nameOf(repoKey))
  const matched = open.flatMap((name) => {
    const byAlias = aliased.get(name)
    if (byAlias !== undefined) return [{ name, repo: byAlias, ignored: false, automatic: true }]
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
