/** Turns heartbeats into minutes. */
import type { RepohostKind } from '../../../schemas/common.js'
import { limits } from '../../../schemas/limits.js'
import { ApiError } from '../../errors.js'
import type { Database, Db, Tx } from '../../platform/database/client.js'
import { waitBriefly } from '../../platform/database/locks.js'
import { singleRow } from '../../platform/database/statement.js'
import { groupBy } from '../../platform/process/maps.js'
import { addDays } from '../../platform/time/days.js'
import { findPersonRepos, nameOf, reposToRemember } from '../accounts/index.js'
import {
  type FlushTarget,
  lanesOf,
  lockPlaces,
  type QueuedWrite,
  readTargets,
  requireTarget,
} from '../minutes/index.js'
import { countAgents, hoursBeside } from './count-agents.js'
import { aimMinutes, dayOfHour, planMinutes, recordedBy, writeCounted } from './count-minutes.js'
import { resolveLastProjects } from './last-project.js'
import {
  isOfAgent,
  isRepo,
  LAST_PROJECT,
  mayBeFolder,
  type Project,
  type ProjectHost,
  projectOf,
  type SentHeartbeat,
} from './project-names.js'
import { lockMarks, readMarks, rememberHeartbeats, writeMarks } from './queries/marks.js'
import {
  chooseRepo,
  type EditorProject,
  findNames,
  namesOf,
  readRoomForNames,
  seeNames,
} from './queries/projects.js'
import { type Candidate, hourOf, hoursAround, type StoredHour, Timeline } from './timeline.js'

const MINUTE_SECONDS = 60
const DAY_SECONDS = 86_400

/** A heartbeat that may count. */
export interface Heartbeat {
  /** Seconds since 1970. */
  time: number
  /** Minutes since 1970. */
  minute: number
  project: Project
  /** Whether an agent sent it rather than the person. */
  isOfAgent: boolean
}

/** The outcome of heartbeats. */
export interface Recorded {
  accepted: number
  waiting: number
  ignored: number
  /** Agents' heartbeats that were accepted or are waiting. */
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

/** How many days a time may lie outside the window, because the database's clock decides. */
const CLOCK_DAYS = 2

/** Larger batches are recorded alone. */
const TOGETHER = { heartbeats: 50, hours: 12, comparisons: limits.flush_comparisons / 100 }

/** A person's heartbeats, oldest first. */
interface Sent {
  userId: string
  heartbeats: Heartbeat[]
  kind: RepohostKind
  /** More names to match with repositories. */
  names?: string[]
  /** Whether all minutes, not just those of names, count only from the day of joining a workspace. */
  isFromJoining?: boolean
}

/**
 * Counts heartbeats that were sent just now. Sending them again changes nothing, in any order. Heartbeats that arrive
 * at the same time from different people are written together.
 * @throws {ApiError} `token_invalid`, and `payload_too_large` for a request that would change too many rows
 */
export const recordHeartbeats = async (
  database: Database,
  userId: string,
  given: readonly SentHeartbeat[],
  host: ProjectHost,
): Promise<Recorded> => {
  const now = Date.now() / 1_000
  const heartbeats = heartbeatsOf(given, host).filter(
    ({ time }) =>
      time > now - (limits.flush_days_back + CLOCK_DAYS) * DAY_SECONDS &&
      time < now + (1 + CLOCK_DAYS) * DAY_SECONDS,
  )
  const size = heartbeats.length
  const isAlone =
    size > TOGETHER.heartbeats ||
    heartbeats.some(({ project }) => project.name === LAST_PROJECT) ||
    hoursAround(heartbeats.map(({ minute }) => minute)).length > TOGETHER.hours
  const sent = { userId, heartbeats, kind: host.kind, size, isRepeatable: true }
  const recorded =
    size === 0 ? nothing : await (isAlone ? recordAlone(database, sent) : laneOf(database, userId).add(sent))
  return { ...recorded, ignored: given.length - recorded.accepted - recorded.waiting - recorded.agents }
}

const laneOf = lanesOf<Sent & QueuedWrite, Recorded>((database) => ({
  together: (all) => recordTogether(database, all),
  alone: (sent) => recordAlone(database, sent),
}))

/** @returns no result for heartbeats that are too large, or would wait for others */
const recordTogether = async <S extends Sent>(database: Database, all: S[]) => {
  const recorded = await database.transaction(
    async (tx) => (await Promise.all([waitBriefly(tx), record(tx, database, all, false)]))[1],
    { readsFirst: true },
  )
  for (const { named } of recorded) named.committed()
  return new Map(recorded.map(({ sent, recorded }) => [sent, recorded]))
}

const recordAlone = async (database: Database, sent: Sent): Promise<Recorded> => {
  const { named, recorded } = await database.transaction(
    async (tx) => {
      const heartbeats = await resolveLastProjects(tx, sent.userId, sent.heartbeats, sent.kind)
      return singleRow(await record(tx, database, [{ ...sent, heartbeats }], true))
    },
    // A workspace may be removed in the meantime.
    { readsFirst: true, rowsMayConflict: true },
  )
  named.committed()
  return recorded
}

const record = async <S extends Sent>(tx: Tx, database: Database, all: S[], waits: boolean) => {
  const counted = await countHeartbeats(tx, all, waits)
  const recorded = counted.map(({ sent, recorded, repos }) => ({
    sent,
    recorded,
    named: reposToRemember(database, sent.userId, repos),
  }))
  await Promise.all(recorded.map(({ named }) => named.write(tx)))
  const written = writeHeartbeats(tx, counted)
  if (!counted.every(({ minutes }) => minutes.isSmall)) await written
  tx.deferToCommit(written)
  return recorded
}

/**
 * Marks the heartbeats' minutes, and counts the minutes that result from new marks; `writeHeartbeats` writes it.
 * @param waits whether to wait for others; if not, leaves out people who would have to wait or have a lot to count
 */
export const countHeartbeats = async <S extends Sent>(tx: Db, all: readonly S[], waits = true) => {
  const known = await readKnown(tx, all, waits)
  const aimed = await Promise.all(
    known.map(async (one) => {
      const marked = { ...one, ...markHeartbeats(one) }
      const minutes = await aimMinutes(marked).catch((error) => {
        // A batch that's too large is rejected alone.
        if (waits || !(error instanceof ApiError)) throw error
        return undefined
      })
      return minutes && (waits || minutes.isSmall) ? [{ ...marked, ...minutes }] : []
    }),
  )
  const small = aimed.flat()
  return Promise.all(
    (await lockPlaces(tx, small, waits)).map(async ({ aimed, members }) => {
      const minutes = { ...(await planMinutes(aimed, members)), names: aimed.projects.repos }
      const agents = await countAgents(tx, aimed.userId, aimed.timeline, {
        repoKeyOf: aimed.repoKeyOf,
        isFromJoining: aimed.sent.isFromJoining,
        read: { target: aimed.target, repoKeys: aimed.involved },
      })
      return { ...aimed, minutes, agents }
    }),
  )
}

export type CountedHeartbeats = Awaited<ReturnType<typeof countHeartbeats<Sent>>>[number]

export const writeHeartbeats = (tx: Db, counted: readonly CountedHeartbeats[]): Promise<unknown> =>
  Promise.all([
    ...counted.flatMap(({ userId, sent: { names = [] }, chosen, lastAt }) =>
      chosen
        .filter(({ name }) => lastAt.has(name) || names.includes(name))
        .map((project) => chooseRepo(tx, userId, project)),
    ),
    seeNames(tx, counted),
    writeMarks(
      tx,
      counted.map(({ userId, timeline }) => ({ userId, hours: timeline.toStored() })),
    ),
    rememberHeartbeats(tx, counted),
    writeCounted(
      tx,
      counted.map(({ minutes }) => minutes),
    ),
    ...counted.map(({ agents, projects }) => agents.write(projects.repos)),
  ])

/** Reads what's stored about people around the time of their heartbeats, and where the heartbeats count. */
const readKnown = async <S extends Sent>(tx: Db, all: readonly S[], waits: boolean) => {
  const asked = all.map((sent) => {
    const { userId, heartbeats, names = [] } = sent
    const given = [...new Set([...heartbeats.flatMap(({ project }) => project.name ?? []), ...names])]
    const hours = hoursAround(heartbeats.map(({ minute }) => minute))
    const isWide = heartbeats.some(({ isOfAgent }) => isOfAgent)
    const repoKeys = new Set(heartbeats.flatMap(({ project }) => project.repo?.toLowerCase() ?? []))
    return { sent, userId, names: given, hours: isWide ? hoursBeside(hours, 2) : hours, isWide, repoKeys }
  })
  const marks = new Map<string, StoredHour[]>()
  const names = new Map<string, EditorProject[]>()
  const targets = new Map<string, FlushTarget | undefined>()
  const read = async (people: typeof asked, named: typeof asked) => {
    const [hours, projects] = await Promise.all([readMarks(tx, people), findNames(tx, named)])
    for (const [userId, own] of groupBy(hours, ({ userId }) => userId)) marks.set(userId, own)
    for (const [userId, own] of groupBy(projects, ({ userId }) => userId)) names.set(userId, own)
  }
  const aim = async (people: { userId: string; repoKeys: ReadonlySet<string> }[], mostCompared: number) => {
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
      TOGETHER.comparisons,
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
      const { chosen, mayWait } = await chooseRepos(tx, userId, projects, given, repos)
      const timeline = new Timeline(marks.get(userId) ?? [])
      const involved = involvedIn(sent.heartbeats, projects, timeline)
      const isAimed =
        isCompared(targets.get(userId)) && [...involved].every((repoKey) => repoKeys.has(repoKey))
      return { sent, userId, projects, chosen, mayWait, timeline, involved, isAimed }
    }),
  )
  await aim(
    known.flatMap(({ userId, involved, isAimed }) => (isAimed ? [] : [{ userId, repoKeys: involved }])),
    waits ? limits.flush_comparisons : TOGETHER.comparisons,
  )
  return known.flatMap((one) => {
    const target = targets.get(one.userId)
    if (waits) return [{ ...one, target: requireTarget(target, one.involved.size) }]
    return isCompared(target) ? [{ ...one, target }] : []
  })
}

/** Whether all patterns were compared, within the limit of a set. */
const isCompared = (target: FlushTarget | undefined): target is FlushTarget =>
  target !== undefined && target.comparisons <= TOGETHER.comparisons

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

type Known = Awaited<ReturnType<typeof readKnown<Sent>>>[number]

/** Marks their minutes in the timeline. */
const markHeartbeats = ({ sent, projects, mayWait, timeline, target }: Known) => {
  const { heartbeats, kind, isFromJoining } = sent
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
  const lastAt = new Map<string, Date>()
  let newest: Date | undefined
  for (const { time, minute, project, isOfAgent } of heartbeats) {
    const name = projects.add(project)
    const repoKey = projects.keyOf(name)
    const day = dayOfHour(hourOf(minute))
    const isInTime = day >= first && day <= last && isRecorded(hourOf(minute), repoKey)
    if (isInTime && project.repo !== undefined) repos.push(project.repo)
    const firstDay = repoKey === undefined ? undefined : matched.get(repoKey)
    const isMatched = firstDay !== undefined && day >= firstDay
    // Names are marked regardless of patterns, so that no admin can change what their owner sees.
    const canCount = project.name === undefined ? isMatched : repoKey !== undefined || mayWait.has(name)
    if (!isInTime || !canCount) {
      recorded.ignored++
      continue
    }
    const at = new Date(time * 1_000)
    if (project.name !== undefined) lastAt.set(name, at)
    if (isOfAgent) {
      recorded.agents++
      timeline.agents.mark(time, name)
      continue
    }
    recorded[isMatched ? 'accepted' : 'waiting']++
    newest = at
    if (timeline.mark(time, name)) marked.push(minute)
  }
  return {
    recorded,
    /** Repositories that were named in full, and may be remembered. */
    repos,
    lastAt,
    newest,
    candidates: [...timeline.around(marked)],
    repoKeyOf: (project: string) => projects.keyOf(project),
    // Minutes sent under a folder's name count only from the day of joining.
    fromJoining: (project: string) => isFromJoining || !isRepo(project, kind),
  }
}

/** Minutes that are stored for names and haven't counted anywhere. */
export const storedFor = (timeline: Timeline, names: ReadonlySet<string>): Candidate[] =>
  names.size === 0
    ? []
    : [...timeline.all()].filter(
        ({ minute, project }) => names.has(project) && !timeline.hasCountedAnywhere(minute),
      )

/** The projects of marks: repositories in lower case, or names that may be assigned to one. */
export class Projects {
  /** Repository names as given, by key. */
  readonly repos = new Map<string, string>()

  constructor(
    readonly known: Map<string, EditorProject>,
    private readonly kind: RepohostKind,
  ) {}

  /** @returns the project's name in marks */
  add({ repo, name }: Project): string {
    return repo === undefined ? name : this.addRepo(repo)
  }

  /** The repository's key. Undefined for a name without one. */
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
