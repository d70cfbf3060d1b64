/** Assigns repositories to editors' project names, and lists the names. */
import type { EditorProjectList } from '../../../schemas/editors.js'
import { limits } from '../../../schemas/limits.js'
import { validationError } from '../../errors.js'
import type { Database, Db } from '../../platform/database/client.js'
import { toTimestamp } from '../../platform/time/clock.js'
import { lockMemberDays, readTarget } from '../minutes/index.js'
import { countAgents, readTargetOfAgents, reposOfAgents } from './count-agents.js'
import { errorForTooMany, planMinutes, targetMinutes } from './count-minutes.js'
import { countPersonal } from './count-personal.js'
import { type ProjectHost, Projects, projectOf } from './project-names.js'
import { lockMarks, readAllMarks } from './queries/marks.js'
import { findNames, listNames, namesOf, readDroppedNames, readNameQuota } from './queries/projects.js'
import { recordingOf } from './recording.js'
import { type Candidate, Counts, hasUncounted, hoursBeside, Timeline, toStored } from './timeline.js'
import { writePlans } from './write-plans.js'

/** A person's names, and the minutes stored for each. */
export const listEditorProjects = async (db: Db, userId: string): Promise<EditorProjectList> => {
  const [names, stored, dropped] = await Promise.all([
    listNames(db, userId),
    readAllMarks(db, userId),
    readDroppedNames(db, userId),
  ])
  const minutes = new Map<string, number>()
  for (const { project, gap } of new Timeline(stored).all()) {
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
 * Assigns a repository to a name, and counts the minutes that are still stored for it; or ignores the name.
 * @throws {ApiError} `validation_failed` for a name that is already a repository, or beyond the limit of names
 */
export const assignProject = (
  database: Database,
  userId: string,
  { name: given, repo }: { name: string; repo: string | null },
  host: ProjectHost,
): Promise<void> =>
  database.transaction(
    async (tx) => {
      const project = projectOf({ project: given, alternate: undefined }, host)
      if (project?.name === undefined)
        throw validationError('/body/name', project ? 'already names a repository' : 'must name a project')
      const { name } = project
      const [, stored] = await Promise.all([lockMarks(tx, userId), readAllMarks(tx, userId)])
      const hours = stored.flatMap(({ hour, agentProjects }) => (agentProjects ? [hour] : []))
      const known = namesOf(await findNames(tx, [{ userId, names: [name], hours }]))
      const before = known.get(name)
      const isChosen = before !== undefined && (before.ignored || before.repo !== null)
      if (!isChosen && (await readNameQuota(tx, userId)).chosen <= 0)
        throw validationError(
          '/body/name',
          `is one too many: you can assign or ignore ${limits.editor_projects_chosen} names`,
        )
      const choice = { name, repo, ignored: repo === null, automatic: false }
      const projects = new Projects(host.kind, new Map(known).set(name, choice), [project])
      const repoKey = projects.keyOf(name)
      const timeline = new Timeline(stored)
      const countsBefore = new Counts(stored)
      const target = await readTarget(tx, userId, new Set(repoKey === undefined ? [] : [repoKey]))
      const recording = recordingOf(target, undefined)
      const candidates = repoKey === undefined ? [] : storedFor(timeline, countsBefore, name)
      const targeted = await targetMinutes({
        userId,
        target,
        recording,
        projects,
        candidates,
        isFromJoining: true,
      })
      if (targeted.kind === 'too large') throw errorForTooMany(targeted)
      const days = await lockMemberDays(tx, targeted.workspaces)
      const minutes = await planMinutes({ recording, projects, countsBefore }, targeted, days)
      const { countsAfter } = minutes

      const hadUncounted = hasUncounted(timeline, countsBefore)
      const personal = await countPersonal(
        tx,
        userId,
        { countsAfter, projects, recording },
        { candidates, hadUncounted },
      )
      const { timezone } = recording
      const hoursOfAgents = new Set(hoursBeside(timeline.agents.hoursOf(name)))
      const targetOfAgents = await readTargetOfAgents(tx, userId, reposOfAgents(timeline, projects))
      const agents = await countAgents(
        tx,
        userId,
        { timeline, projects, hours: hoursOfAgents, areKept: true, isFromJoining: true, timezone },
        targetOfAgents,
      )

      await writePlans(tx, [
        {
          userId,
          minutes,
          personal,
          agents,
          hours: toStored(timeline, countsAfter, minutes.hours),
          chosen: [choice],
          lastAt: new Map(),
          isFull: false,
          newest: undefined,
        },
      ])
    },
    { readsFirst: true, rowsCanConflict: true },
  )

/** Minutes that are stored for a name and haven't counted anywhere. */
const storedFor = (timeline: Timeline, counts: Counts, name: string): Candidate[] =>
  [...timeline.all()].filter(({ minute, project }) => project === name && !counts.hasCountedAnywhere(minute))
