/** Counts a person's minutes in workspaces and in their own time, each minute once in each. */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { limits } from '../../../schemas/limits.js'
import { ApiError } from '../../errors.js'
import { HOURS } from '../../platform/time/days.js'
import { dayOf, hourOfDay, localHourOf } from '../../platform/time/local-hours.js'
import {
  MAX_REPOS,
  minutesInHour,
  OWN_TIME,
  type PersonDays,
  type Repo,
  type RequestedDays,
} from '../minutes/index.js'
import type { FlushTarget, MatchingWorkspace } from '../recording/index.js'
import type { Projects } from './project-names.js'
import type { Recording } from './recording.js'
import { type Counts, clampIdleWindow, hourOf, type Owned } from './timeline.js'

/** How many minutes are processed before other requests run. */
const PIECE_MINUTES = 1_000

/** The rules for a person's minutes. */
export interface Rules {
  userId: string
  target: FlushTarget
  recording: Recording
  projects: Projects
  /** Whether all minutes count only from the day of joining a workspace. Those sent under a folder's name always do. */
  isFromJoining: boolean
}

/** What changes in a place, in a local hour, for a repository or a project name. */
export interface Change {
  place: string
  localHour: number
  repo: Repo
  taken: number
  added: number
  /** The part of `added` that no workspace counts. */
  addedAlone: number
}

/** Minutes that are too many for one request. */
export interface TooMany {
  kind: 'too large'
  what: 'rows' | 'minutes'
  count: number
}

/** The changes that follow from minutes and their owners. */
export interface Changes {
  kind: 'counted'
  changes: Change[]
  /** The UTC hours in which a minute counts differently. */
  hours: ReadonlySet<number>
}

/** Who gets a project's minutes: its repository, or the name itself. */
const repoOf = (project: string, projects: Projects): Repo => {
  const repoKey = projects.keyOf(project)
  return repoKey === undefined
    ? { key: project.toLowerCase(), name: project }
    : { key: repoKey, name: projects.spellingOf(repoKey) }
}

/** The workspaces that match each repository. */
const workspacesByRepo = ({ workspaces }: FlushTarget): ReadonlyMap<string, MatchingWorkspace[]> => {
  const all = new Map<string, MatchingWorkspace[]>()
  for (const workspace of workspaces)
    for (const repoKey of workspace.repoKeys) all.set(repoKey, [...(all.get(repoKey) ?? []), workspace])
  return all
}

/**
 * Counts minutes for their owners. A minute that has counted for another owner moves if it's one of `moved`, or counts in
 * no workspace.
 * @param counts where they have counted, which it changes
 */
export const countMinutes = async (
  { target, recording, projects, isFromJoining }: Rules,
  counts: Counts,
  owned: readonly Owned[],
  moved: ReadonlySet<number>,
): Promise<Changes | TooMany> => {
  const matching = workspacesByRepo(target)
  const size = sizeOf(owned, projects, matching)
  if (size.kind === 'too large') return size
  const changes = new Map<string, Change>()
  const hours = new Set<number>()
  const changeOf = (place: string, minute: number, repo: Repo): Change => {
    hours.add(hourOf(minute))
    const localHour = counts.localHourOf(minute, (hour) => localHourOf(recording.timezone, hour))
    const key = `${place} ${localHour} ${repo.key}`
    const change = changes.get(key) ?? { place, localHour, repo, taken: 0, added: 0, addedAlone: 0 }
    changes.set(key, change)
    return change
  }
  for (const [index, { minute, project, gap }] of owned.entries()) {
    if (index % PIECE_MINUTES === PIECE_MINUTES - 1) await yieldToEventLoop()
    const repoKey = projects.keyOf(project)
    if (projects.isIgnored(project) || !recording.isRecorded(hourOf(minute), repoKey)) continue
    const repo = repoOf(project, projects)
    const before = counts.ownerOf(minute)
    if (before !== undefined && before !== repo.key) {
      const places = counts.workspacesOf(minute)
      if (places.length > 0 && !moved.has(minute)) continue
      for (const place of [...places, OWN_TIME])
        changeOf(place, minute, { key: before, name: before }).taken++
      counts.takeOut(minute)
    }
    const day = dayOf(hourOf(minute))
    const fresh = (repoKey === undefined ? [] : (matching.get(repoKey) ?? [])).filter(
      ({ workspaceId, firstDay, joinedOn, idleWindow }) =>
        gap <= clampIdleWindow(idleWindow) &&
        day >= firstDay &&
        (day >= joinedOn || (!isFromJoining && projects.isRepo(project))) &&
        !counts.hasCountedIn(workspaceId, minute),
    )
    const hasCounted = counts.workspacesOf(minute).length > 0
    const isOwn = counts.ownerOf(minute) !== undefined || hasCounted
    const isAlone = fresh.length === 0 && !hasCounted
    if (fresh.length === 0 && (isOwn || gap > limits.heartbeat_idle_minutes_min)) continue
    for (const { workspaceId } of fresh) changeOf(workspaceId, minute, repo).added++
    if (!isOwn) {
      const own = changeOf(OWN_TIME, minute, repo)
      own.added++
      if (isAlone) own.addedAlone++
    }
    counts.count(
      minute,
      repo.key,
      fresh.map(({ workspaceId }) => workspaceId),
    )
  }
  return { kind: 'counted', changes: [...changes.values()], hours }
}

/** The days that have to be read before the changes are applied. */
export const daysOfChanges = (
  userId: string,
  timezone: string,
  changes: readonly Change[],
): RequestedDays => {
  const workspaces = new Map<string, Set<string>>()
  const ownDays = new Set<string>()
  for (const { place, localHour } of changes) {
    const days = place === OWN_TIME ? ownDays : (workspaces.get(place) ?? new Set<string>())
    if (place !== OWN_TIME) workspaces.set(place, days)
    days.add(dayOf(localHour))
  }
  return { userId, timezone, workspaces, ownDays }
}

/** What has come of changes. */
export interface AppliedChanges {
  /** Minutes added, in all workspaces together. */
  added: number
  /** Those of each workspace to which any were. */
  addedIn: Map<string, number>
  /** Minutes added that no workspace counts. */
  addedAlone: number
  /** Minutes that count for no one, because their day has too many repositories that no workspace counts. */
  leftOut: number
}

/** Takes minutes away, then adds as many as fit. @param days which it changes */
export const applyChanges = (changes: readonly Change[], days: PersonDays): AppliedChanges => {
  for (const { place, localHour, repo, taken } of changes)
    if (taken > 0) days.at(place, dayOf(localHour)).take(repo.key, hourOfDay(localHour), taken)
  const add = ({ place, localHour, repo }: Change, minutes: number, maxRepos: number) =>
    days.at(place, dayOf(localHour)).add(repo, minutesInHour(hourOfDay(localHour), minutes), maxRepos)
  const keyOf = ({ localHour, repo }: Change) => `${localHour} ${repo.key}`
  const applied = { added: 0, addedIn: new Map<string, number>(), addedAlone: 0, leftOut: 0 }
  const inWorkspaces = new Set<string>()
  for (const change of changes) {
    if (change.place === OWN_TIME) continue
    const { counted, refusal } = add(change, change.added, MAX_REPOS)
    applied.added += counted
    if (counted > 0) applied.addedIn.set(change.place, (applied.addedIn.get(change.place) ?? 0) + counted)
    if (refusal !== 'too_many_repos') inWorkspaces.add(keyOf(change))
  }
  for (const change of changes) {
    if (change.place !== OWN_TIME) continue
    const { added, addedAlone } = change
    // Own time has a limit of its own only for repositories that no workspace counts.
    const isInWorkspace = added > addedAlone && inWorkspaces.has(keyOf(change))
    const minutes = isInWorkspace ? added : addedAlone
    if (minutes === 0) continue
    const maxRepos = isInWorkspace ? Number.POSITIVE_INFINITY : limits.personal_repos_per_day
    const { counted, refusal } = add(change, minutes, maxRepos)
    applied.addedAlone += Math.min(counted, addedAlone)
    if (refusal === 'too_many_repos') applied.leftOut += addedAlone
  }
  return applied
}

/** @returns `payload_too_large` */
export const errorForTooMany = ({ what, count }: TooMany): ApiError => {
  const [name, limit] =
    what === 'rows'
      ? ['rows (one per repository, day and workspace)', limits.flush_rows]
      : ['minutes', limits.heartbeat_minutes]
  return new ApiError('payload_too_large', {
    detail: `This request would change up to ${count.toLocaleString('en')} ${name}. The limit is ${limit.toLocaleString('en')}. Send less in one request.`,
  })
}

/** How many rows and minutes would change, in all workspaces together, asked before the work starts. */
const sizeOf = (
  owned: readonly Owned[],
  projects: Projects,
  matching: ReadonlyMap<string, MatchingWorkspace[]>,
): TooMany | { kind: 'small enough' } => {
  let minutes = 0
  const rows = new Map<string, number>()
  for (const { minute, project } of owned) {
    const repoKey = projects.keyOf(project)
    const places = repoKey === undefined ? 0 : (matching.get(repoKey)?.length ?? 0)
    minutes += places
    if (places > 0) rows.set(`${Math.floor(hourOf(minute) / HOURS)} ${repoKey}`, places)
  }
  const count = [...rows.values()].reduce((sum, places) => sum + places, 0)
  if (count > limits.flush_rows) return { kind: 'too large', what: 'rows', count }
  if (minutes > limits.heartbeat_minutes) return { kind: 'too large', what: 'minutes', count: minutes }
  return { kind: 'small enough' }
}
