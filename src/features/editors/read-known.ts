/** Reads what's stored about people around the time of their heartbeats, and where the heartbeats count. */
import type { RepohostKind } from '../../../schemas/common.js'
import { limits } from '../../../schemas/limits.js'
import type { Db } from '../../platform/database/client.js'
import { groupBy } from '../../platform/process/maps.js'
import { findPersonRepos, nameOf } from '../accounts/index.js'
import { type FlushTarget, readTargets, requireTarget, type Scope } from '../minutes/index.js'
import { hoursBeside } from './count-agents.js'
import type { Heartbeat, Sent } from './mark-heartbeats.js'
import { isRepo, mayBeFolder, Projects } from './project-names.js'
import { lockMarks, readMarks } from './queries/marks.js'
import { type EditorProject, findNames, namesOf, readNameQuota } from './queries/projects.js'
import { hoursAround, type StoredHour, Timeline } from './timeline.js'

/** How much is compared for each of several people at most. */
const COMPARED_TOGETHER = limits.flush_comparisons / 100

/** @param waits whether to wait for others; if not, leaves out people who would have to wait */
export const readKnown = async <S extends Sent>(tx: Db, all: readonly S[], waits: boolean) => {
  const asked = all.map((sent) => {
    const { userId, heartbeats, names = [], scope } = sent
    const given = [...new Set([...heartbeats.flatMap(({ project }) => project.name ?? []), ...names])]
    const hours = hoursAround(heartbeats.map(({ minute }) => minute))
    const isWide = heartbeats.some(({ isOfAgent }) => isOfAgent)
    const repoKeys = new Set(heartbeats.flatMap(({ project }) => project.repo?.toLowerCase() ?? []))
    return {
      ...{ sent, userId, names: given, hours: isWide ? hoursBeside(hours, 2) : hours },
      ...{ isWide, repoKeys, scope },
    }
  })
  const marks = new Map<string, StoredHour[]>()
  const names = new Map<string, EditorProject[]>()
  const targets = new Map<string, FlushTarget | undefined>()
  const read = async (people: typeof asked, named: typeof asked) => {
    const [hours, projects] = await Promise.all([readMarks(tx, people), findNames(tx, named)])
    for (const [userId, own] of groupBy(hours, ({ userId }) => userId)) marks.set(userId, own)
    for (const [userId, own] of groupBy(projects, ({ userId }) => userId)) names.set(userId, own)
  }
  const aim = async (
    people: { userId: string; repoKeys: ReadonlySet<string>; scope: Scope }[],
    mostCompared: number,
  ) => {
    if (people.length === 0) return
    const found = await readTargets(tx, people, mostCompared)
    for (const [index, { userId }] of people.entries()) targets.set(userId, found[index])
  }
  const [held] = await Promise.all([
    Promise.all(asked.map(({ userId }) => lockMarks(tx, userId, waits))),
    // Usually enough, because most heartbeats name a repository in full, near marks of the same one.
    read(asked, asked.filter(isNaming)),
    aim(
      asked.filter(({ repoKeys }) => repoKeys.size > 0),
      COMPARED_TOGETHER,
    ),
  ])
  const people = asked.filter((_, index) => held[index])
  const isNearAgents = ({ userId, isWide }: (typeof asked)[number]) =>
    !isWide && marks.get(userId)?.some(({ agentProjects }) => agentProjects)
  const isNearNames = (one: (typeof asked)[number]) =>
    !isNaming(one) && marks.get(one.userId)?.some((hour) => hasNames(hour, one.sent.kind))
  const again = people.flatMap((one) => {
    if (isNearAgents(one)) return [{ ...one, hours: hoursBeside(one.hours, 2) }]
    return isNearNames(one) ? [one] : []
  })
  if (again.length > 0) await read(again, again)

  const known = await Promise.all(
    people.map(async ({ sent, userId, names: given, repoKeys }) => {
      const projects = new Projects(namesOf(names.get(userId) ?? []), sent.kind)
      const repos = sent.heartbeats.flatMap(({ project }) => project.repo ?? [])
      const { chosen, mayWait, isFull } = await chooseRepos(tx, userId, projects, given, repos)
      const timeline = new Timeline(marks.get(userId) ?? [])
      const involved = involvedIn(sent.heartbeats, projects, timeline)
      const isAimed =
        isCompared(targets.get(userId)) && [...involved].every((repoKey) => repoKeys.has(repoKey))
      return { sent, userId, projects, chosen, mayWait, isFull, timeline, involved, isAimed }
    }),
  )
  await aim(
    known.flatMap(({ userId, involved, isAimed, sent: { scope } }) =>
      isAimed ? [] : [{ userId, repoKeys: involved, scope }],
    ),
    waits ? limits.flush_comparisons : COMPARED_TOGETHER,
  )
  return known.flatMap((one) => {
    const target = targets.get(one.userId)
    if (waits) return [{ ...one, target: requireTarget(target, one.involved.size) }]
    return isCompared(target) ? [{ ...one, target }] : []
  })
}

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

export type Known<S extends Sent> = Awaited<ReturnType<typeof readKnown<S>>>[number]

/**
 * Matches folder names to the one repository of the same name that the person has named in full.
 * @returns what was chosen, which of the names can wait for a repository, and whether older ones may have to make room
 */
const chooseRepos = async (
  tx: Db,
  userId: string,
  { known }: Projects,
  given: string[],
  /** Repositories that are named in full now. */
  sent: string[],
) => {
  const chosen: EditorProject[] = []
  const mayWait = new Set<string>()
  const open = given.filter((name) => {
    const project = known.get(name)
    return !project || (project.repo === null && !project.ignored)
  })
  if (open.length === 0) return { chosen, mayWait, isFull: false }
  const isNew = open.some((name) => !known.has(name))
  const folders = open.filter(mayBeFolder).map((name) => name.toLowerCase())
  const [found, room] = await Promise.all([
    findPersonRepos(tx, userId, folders),
    isNew ? readNameQuota(tx, userId) : { waiting: 0, chosen: 1 },
  ])
  const named = new Map<string, Map<string, string>>()
  for (const { repoKey, repo } of [
    ...found,
    ...sent.map((repo) => ({ repoKey: repo.toLowerCase(), repo })),
  ]) {
    const repos = named.get(nameOf(repoKey)) ?? new Map<string, string>()
    named.set(nameOf(repoKey), repos.set(repoKey, repo))
  }
  for (const name of open) {
    const [repo, another] = (mayBeFolder(name) && named.get(name.toLowerCase())?.values()) || []
    if (repo !== undefined && another === undefined && room.chosen-- > 0) {
      const project = { name, repo, ignored: false, automatic: true }
      chosen.push(project)
      known.set(name, project)
    } else {
      mayWait.add(name)
      if (!known.has(name)) room.waiting--
    }
  }
  return { chosen, mayWait, isFull: room.waiting < 0 }
}
