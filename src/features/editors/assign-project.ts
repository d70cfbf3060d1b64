/** Assigns repositories to editors' project names, and lists the names. */
import type { EditorProjectList, EditorProjectResult } from '../../../schemas/editors.js'
import { limits } from '../../../schemas/limits.js'
import { validationError } from '../../errors.js'
import type { Database, Db, Tx } from '../../platform/database/client.js'
import { requireValue } from '../../platform/process/maps.js'
import { toTimestamp } from '../../platform/time/clock.js'
import { lockMinutes, readPersonDays } from '../minutes/index.js'
import { readTarget, readTargets } from '../recording/index.js'
import { countAgents, reposOfAgents } from './count-agents.js'
import { applyChanges, countMinutes, daysOfChanges, errorForTooMany } from './count-minutes.js'
import { isOwnRepo, markNameOf, type ProjectHost, Projects, projectOf, readAlias } from './project-names.js'
import { readAllMarks } from './queries/marks.js'
import {
  type EditorProject,
  findNames,
  listNames,
  listWorkspaceNames,
  namesOf,
  readDroppedNames,
  readNameQuota,
} from './queries/projects.js'
import { recordingOf } from './recording.js'
import {
  Counts,
  hoursBeside,
  minutesAround,
  type Owned,
  type StoredHour,
  type Timeline,
  timelineOf,
  toStored,
} from './timeline.js'
import { writePlans } from './write-plans.js'

/** A person's names, and the minutes stored for each. */
export const listEditorProjects = async (db: Db, userId: string): Promise<EditorProjectList> => {
  const [names, stored, dropped] = await Promise.all([
    listNames(db, userId),
    readAllMarks(db, userId),
    readDroppedNames(db, userId),
  ])
  const minutes = new Map<string, number>()
  for (const { project, gap } of allOwned(timelineOf(stored))) {
    if (gap <= limits.heartbeat_idle_minutes_min) minutes.set(project, (minutes.get(project) ?? 0) + 1)
  }
  const projects = names.map(({ name, repo, ignored, automatic, lastAt }) => ({
    name,
    state: ignored
      ? ('ignored' as const)
      : repo === null
        ? ('waiting' as const)
        : automatic
          ? ('automatic' as const)
          : ('assigned' as const),
    repo,
    last_at: lastAt && toTimestamp(lastAt),
    minutes: minutes.get(name) ?? 0,
  }))
  return { projects, dropped }
}

/**
 * Assigns a repository to a name, or to a repository that counts nowhere, and counts the minutes that are still stored
 * for it; or ignores the name. An address with an SSH alias takes along the waiting addresses with the same alias.
 * @returns the minutes that each workspace has counted
 * @throws {ApiError} `validation_failed` for a repository that counts, or beyond the limit of names
 */
export const assignProject = (
  database: Database,
  userId: string,
  { name: given, repo }: { name: string; repo: string | null },
  host: ProjectHost,
): Promise<EditorProjectResult['counted']> =>
  database.transaction(
    async (tx) => {
      const project = projectOf({ project: given, alternate: undefined }, host)
      if (project === undefined) throw validationError('/body/name', 'must name a project')
      const name = markNameOf(project)
      await lockMinutes(tx, [userId], { waits: true })
      const stored = await readAllMarks(tx, userId)
      const hours = hoursOfAgents(stored)
      const known = namesOf(await findNames(tx, [{ userId, names: [name], hours }]))
      const before = known.get(name)
      if (before === undefined && project.repo !== undefined && (await countsSomewhere(tx, userId, name)))
        throw validationError('/body/name', 'is a repository that counts in a workspace')
      const isChosen = before !== undefined && (before.ignored || before.repo !== null)
      const room = (await readNameQuota(tx, userId)).chosen - (isChosen ? 0 : 1)
      if (!isChosen && room < 0)
        throw validationError(
          '/body/name',
          `is one too many: you can assign or ignore ${limits.editor_projects_chosen} names`,
        )
      const choice = { name, repo, ignored: repo === null, automatic: false }
      const chosen = [choice, ...(await readAliased(tx, userId, choice, host)).slice(0, Math.max(0, room))]
      const names = chosen.map((one) => one.name)
      const projects = new Projects(host.kind, new Map([...known, ...namesOf(chosen)]), [project])
      const timeline = timelineOf(stored)
      const counts = new Counts(stored)
      const repoKeys = new Set(chosen.flatMap((one) => one.repo?.toLowerCase() ?? []))
      const marks = { timeline, projects }
      const marksBefore = { timeline, projects: new Projects(host.kind, known, [project]) }
      const agentRepos = new Set([...reposOfAgents(marks), ...reposOfAgents(marksBefore)])
      const target = await readTarget(tx, userId, repoKeys)
      const agentTargets = await readTargets(tx, [{ userId, repoKeys: agentRepos, scope: 'workspaces' }])
      const recording = recordingOf(target, undefined)
      const { timezone } = recording
      const owned = repo === null ? [] : uncountedOf(timeline, counts, new Set(names))
      const rules = { userId, target, recording, projects, isFromJoining: true }
      const counted = await countMinutes(rules, counts, owned, new Set())
      if (counted.kind === 'too large') throw errorForTooMany(counted)
      const [days] = await readPersonDays(tx, [daysOfChanges(userId, timezone, counted.changes)])
      if (!days) return []
      const { addedIn } = applyChanges(counted.changes, days)
      const agentDays = await countAgents(
        tx,
        {
          ...{ userId, ...marks, before: marksBefore, counts, timezone, isFromJoining: true },
          hours: new Set(hoursBeside(names.flatMap((one) => timeline.agents.hoursOf(one)))),
        },
        requireValue(agentTargets, userId),
      )
      await writePlans(tx, [
        {
          ...{ userId, timezone, days, agentDays, chosen },
          hours: toStored(timeline, counts, counted.hours),
          lastAt: new Map(),
          isFull: false,
          newest: undefined,
        },
      ])
      const named = await listWorkspaceNames(tx, [...addedIn.keys()])
      return named.map(({ id, name }) => ({ workspace_id: id, name, minutes: addedIn.get(id) ?? 0 }))
    },
    { readsFirst: true, rowsCanConflict: true },
  )

const countsSomewhere = async (tx: Tx, userId: string, repoKey: string): Promise<boolean> => {
  const { workspaces } = await readTarget(tx, userId, new Set([repoKey]))
  return workspaces.some(({ repoKeys }) => repoKeys.includes(repoKey))
}

/** The waiting addresses whose SSH alias is assigned with a choice, each with the repository in it. */
const readAliased = async (
  tx: Tx,
  userId: string,
  { name, repo }: EditorProject,
  { kind }: ProjectHost,
): Promise<EditorProject[]> => {
  const assigned = readAlias(name, kind)
  if (!assigned || !isOwnRepo(assigned, repo)) return []
  const waiting = (await listNames(tx, userId)).filter((one) => one.repo === null && !one.ignored)
  return waiting.flatMap((one) => {
    const aliased = one.name === name ? undefined : readAlias(one.name, kind)
    return aliased?.alias === assigned.alias
      ? [{ name: one.name, repo: aliased.repo, ignored: false, automatic: true }]
      : []
  })
}

const hoursOfAgents = (stored: readonly StoredHour[]): number[] =>
  stored.flatMap(({ hour, agentProjects }) => (agentProjects ? [hour] : []))

const allOwned = ({ own }: Timeline): Generator<Owned> => own.ownersOf(minutesAround(own.marked()))

/** Minutes that are stored for these names and haven't counted in a workspace. */
const uncountedOf = (timeline: Timeline, counts: Counts, names: ReadonlySet<string>): Owned[] =>
  [...allOwned(timeline)].filter(
    ({ minute, project }) => names.has(project) && counts.workspacesOf(minute).length === 0,
  )
