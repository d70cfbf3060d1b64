/** Heartbeats on their way to minutes. */
import type { RepohostKind } from '../../../schemas/common.js'
import { limits } from '../../../schemas/limits.js'
import type { Database, Db } from '../../platform/database/client.js'
import { addDays } from '../../platform/time/days.js'
import { findPersonRepos, nameOf, type ReposToRemember, reposToRemember } from '../accounts/index.js'
import { readTarget } from '../minutes/index.js'
import { countAgents, hoursBeside } from './count-agents.js'
import { countMinutes, dayOfHour, type FirstDays, recordedBy } from './count-minutes.js'
import { resolveLastProjects } from './last-project.js'
import {
  isOfAgent,
  isRepo,
  mayBeFolder,
  type Project,
  type ProjectHost,
  projectOf,
  type SentHeartbeat,
} from './project-names.js'
import { readFirstDays } from './queries/imports.js'
import { lockMarks, readMarks, rememberHeartbeat, writeMarks } from './queries/marks.js'
import { chooseRepo, type EditorProject, findNames, readRoomForNames, seeNames } from './queries/projects.js'
import { type Candidate, hourOf, hoursAround, Timeline } from './timeline.js'

const MINUTE_SECONDS = 60
const DAY_SECONDS = 86_400

/** A heartbeat that may count. */
export interface Heartbeat {
  /** Seconds since 1970. */
  time: number
  /** Minutes since 1970. */
  minute: number
  project: Project
  /** Whether an agent has sent it, and not the person. */
  isOfAgent: boolean
}

/** The outcome of heartbeats. */
export interface Recorded {
  accepted: number
  waiting: number
  ignored: number
  /** Agents' heartbeats that were accepted or wait. */
  agents: number
}

const nothing: Recorded = { accepted: 0, waiting: 0, ignored: 0, agents: 0 }

/** The heartbeats that name a project, oldest first. */
export const heartbeatsOf = (sent: readonly SentHeartbeat[], host: ProjectHost): Heartbeat[] =>
  sent
    .flatMap((heartbeat) => {
      const { time } = heartbeat
      const project = projectOf(heartbeat, host)
      return time !== undefined && Number.isFinite(time) && project
        ? [{ time, minute: Math.floor(time / MINUTE_SECONDS), project, isOfAgent: isOfAgent(heartbeat) }]
        : []
    })
    .sort((a, b) => a.time - b.time)

/** Days beyond the window in which a time is looked at, because the database's clock decides. */
const CLOCK_DAYS = 2

/**
 * Counts heartbeats that were sent just now. Sending them again changes nothing, in whatever order.
 * @throws {ApiError} `token_invalid`, and `payload_too_large` for what would change too many rows
 */
export const recordHeartbeats = async (
  database: Database,
  userId: string,
  sent: readonly SentHeartbeat[],
  host: ProjectHost,
): Promise<Recorded> => {
  const now = Date.now() / 1_000
  const heartbeats = heartbeatsOf(sent, host).filter(
    ({ time }) =>
      time > now - (limits.flush_days_back + CLOCK_DAYS) * DAY_SECONDS &&
      time < now + (1 + CLOCK_DAYS) * DAY_SECONDS,
  )
  let named: ReposToRemember | undefined
  const recorded =
    heartbeats.length === 0
      ? nothing
      : await database.transaction(
          async (tx) => {
            const resolved = await resolveLastProjects(tx, userId, heartbeats, host.kind)
            const counted = await countHeartbeats(tx, userId, resolved, { kind: host.kind })
            named = reposToRemember(database, userId, counted.repos)
            await named.write(tx)
            tx.deferToCommit(counted.written)
            return counted.recorded
          },
          // A workspace may be removed meanwhile.
          { readsFirst: true, rowsMayConflict: true },
        )
  named?.committed()
  return { ...recorded, ignored: sent.length - recorded.accepted - recorded.waiting - recorded.agents }
}

interface CountOptions {
  kind: RepohostKind
  /** Further names to choose repositories for. */
  names?: string[]
  firstDays?: FirstDays
}

export interface CountedHeartbeats {
  recorded: Recorded
  /** How many minutes were added, in all workspaces together. */
  minutes: number
  projects: Projects
  /** Repositories that were named in full, and may be remembered. */
  repos: string[]
  /** Names that wait for a repository, or may from now on. */
  mayWait: ReadonlySet<string>
  written: Promise<unknown>
}

/** Marks the minutes of heartbeats, oldest first, and counts what follows from the new marks. */
export const countHeartbeats = async (
  tx: Db,
  userId: string,
  heartbeats: Heartbeat[],
  { kind, names = [], firstDays }: CountOptions,
): Promise<CountedHeartbeats> => {
  const given = [...new Set([...heartbeats.flatMap(({ project }) => project.name ?? []), ...names])]
  const hours = hoursAround(heartbeats.map(({ minute }) => minute))
  const read = (hours: number[]) =>
    Promise.all([readMarks(tx, userId, hours), findNames(tx, userId, given, hours)])
  const wide = hoursBeside(hours, 2)
  const sendsAgents = heartbeats.some(({ isOfAgent }) => isOfAgent)
  const [, near] = await Promise.all([lockMarks(tx, userId), read(sendsAgents ? wide : hours)])
  const isNearAgents = !sendsAgents && near[0].some(({ agentProjects }) => agentProjects)
  const [stored, known] = isNearAgents ? await read(wide) : near
  const projects = new Projects(known, kind)
  const sent = heartbeats.flatMap(({ project }) => project.repo ?? [])
  const { chosen, mayWait } = await chooseRepos(tx, userId, projects, given, sent)
  const timeline = new Timeline(stored)

  const involved = new Set(heartbeats.flatMap(({ project }) => projects.keyOf(projects.add(project)) ?? []))
  for (const { minute, isOfAgent } of heartbeats) {
    const before = isOfAgent ? undefined : timeline.projectBefore(minute)
    const repoKey = before === undefined ? undefined : projects.keyOf(before)
    if (repoKey !== undefined) involved.add(repoKey)
  }
  const target = await readTarget(tx, userId, involved)
  const isRecorded = recordedBy(target)
  /** By repository: the first day on which some workspace matches. */
  const matched = new Map<string, string>()
  for (const { repoKeys, firstDay } of target.workspaces)
    for (const repoKey of repoKeys) {
      const known = matched.get(repoKey)
      if (known === undefined || firstDay < known) matched.set(repoKey, firstDay)
    }
  const [first, last] = [addDays(target.today, -limits.flush_days_back), addDays(target.today, 1)]

  const recorded: Recorded = { ...nothing }
  const marked: number[] = []
  const repos: string[] = []
  const lastOfNames = new Map<string, Date>()
  let newest: Date | undefined
  for (const { time, minute, project, isOfAgent } of heartbeats) {
    const name = projects.add(project)
    const repoKey = projects.keyOf(name)
    const day = dayOfHour(hourOf(minute))
    const isInTime = day >= first && day <= last && isRecorded(hourOf(minute), repoKey)
    if (isInTime && project.repo !== undefined) repos.push(project.repo)
    const firstDay = repoKey === undefined ? undefined : matched.get(repoKey)
    const isMatched = firstDay !== undefined && day >= firstDay
    // Names are marked whatever patterns there are, so that no admin changes what their owner sees of them.
    const canCount = project.name === undefined ? isMatched : repoKey !== undefined || mayWait.has(name)
    if (!isInTime || !canCount) {
      recorded.ignored++
      continue
    }
    const at = new Date(time * 1_000)
    if (project.name !== undefined) lastOfNames.set(name, at)
    if (isOfAgent) {
      recorded.agents++
      timeline.agents.mark(time, name)
      continue
    }
    recorded[isMatched ? 'accepted' : 'waiting']++
    newest = at
    if (timeline.mark(time, name)) marked.push(minute)
  }
  const repoKeyOf = (project: string) => projects.keyOf(project)
  /** Minutes sent by a folder's name count from the day of joining on. */
  const firstDaysOfNames = async () => {
    if (known.size === 0) return undefined
    const days = await readFirstDays(tx, userId)
    return (workspaceId: string, project: string) =>
      isRepo(project, kind) ? '' : (days.get(workspaceId) ?? '')
  }
  const { minutes, isSmall, write } = await countMinutes(tx, userId, timeline, {
    target,
    repoKeyOf,
    candidates: [...timeline.around(marked)],
    firstDays: firstDays ?? (await firstDaysOfNames()),
  })
  const agents = await countAgents(tx, userId, timeline, {
    repoKeyOf,
    firstDays,
    read: { target, repoKeys: involved },
  })
  const written = Promise.all([
    ...chosen
      .filter(({ name }) => lastOfNames.has(name) || names.includes(name))
      .map((project) => chooseRepo(tx, userId, project)),
    seeNames(tx, userId, lastOfNames),
    writeMarks(tx, userId, timeline.toStored()),
    newest && rememberHeartbeat(tx, userId, newest),
    write(projects.repos),
    agents.write(projects.repos),
  ])
  if (!isSmall) await written
  return { recorded, minutes, projects, repos, mayWait, written }
}

/** Minutes that are stored for names and have counted nowhere. */
export const storedFor = (timeline: Timeline, names: ReadonlySet<string>): Candidate[] =>
  names.size === 0
    ? []
    : [...timeline.all()].filter(
        ({ minute, project }) => names.has(project) && !timeline.hasCountedAnywhere(minute),
      )

/** The projects of marks: repositories in lower case, or names that may be assigned to one. */
export class Projects {
  /** Repositories as given, by their keys. */
  readonly repos = new Map<string, string>()

  constructor(
    readonly known: Map<string, EditorProject>,
    private readonly kind: RepohostKind,
  ) {}

  /** @returns how the project is called in marks */
  add({ repo, name }: Project): string {
    return repo === undefined ? name : this.addRepo(repo)
  }

  /** The key of the repository; undefined for a name that has none. */
  keyOf(project: string): string | undefined {
    if (isRepo(project, this.kind)) return project
    const repo = this.known.get(project)?.repo
    return repo ? this.addRepo(repo) : undefined
  }

  private addRepo(repo: string): string {
    const key = repo.toLowerCase()
    if (!this.repos.has(key)) this.repos.set(key, repo)
    return key
  }
}

/**
 * Matches folder names to the one repository of the same name that the person has named in full.
 * @returns what was chosen, and which of the names can wait for a repository
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
  if (open.length === 0) return { chosen, mayWait }
  const isNew = open.some((name) => !known.has(name))
  const folders = open.filter(mayBeFolder).map((name) => name.toLowerCase())
  const [found, room] = await Promise.all([
    findPersonRepos(tx, userId, folders),
    isNew ? readRoomForNames(tx, userId) : { waiting: 0, chosen: 1 },
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
    } else if (known.has(name) || room.waiting-- > 0) mayWait.add(name)
  }
  return { chosen, mayWait }
}
