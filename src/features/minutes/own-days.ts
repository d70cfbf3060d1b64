/** A person's own time by local day and repository, with each minute once. The repositories of a day add up to its total. */
import { limits } from '../../../schemas/limits.js'
import type { Db } from '../../platform/database/client.js'
import { addDays, listDays, type Range, rangeOf } from '../../platform/time/days.js'
import { type LocalHour, localHours } from './local-days.js'
import {
  type DayMinutes,
  listFirstAndLastDays,
  listOwnAgentRepoDays,
  listOwnRepoDays,
  sumOwnAgentDays,
  sumOwnDays,
  sumOwnRepos,
} from './queries/own-time.js'

export interface Project {
  /** Undefined: all projects that aren't listed. */
  name: string | undefined
  minutes: number
}

export interface OwnDay {
  day: string
  minutes: number
  /** Minutes in which only agents worked. */
  agentMinutes: number
  projects: Project[]
}

export const byMinutes = (minutes: ReadonlyMap<string, number>): Project[] =>
  Array.from(minutes, ([name, minutes]) => ({ name, minutes })).sort((a, b) => b.minutes - a.minutes)

/** The UTC days that touch these local days. */
export const around = ({ from, to }: { from: string; to: string }): Range =>
  rangeOf(addDays(from, -1), addDays(to, 1))

/** Minutes on a local day. */
export interface Part {
  day: string
  /** The UTC hour. Undefined: minutes without an hour. */
  utcHour: number | undefined
  minutes: number
}

export const partsOf = function* (row: DayMinutes): Generator<Part> {
  const { day, rest, restBefore, restAfter } = row
  const without = [
    { day: addDays(day, -1), minutes: restBefore },
    { day, minutes: rest },
    { day: addDays(day, 1), minutes: restAfter },
  ]
  for (const part of without) if (part.minutes > 0) yield { ...part, utcHour: undefined }
  yield* localHours(row)
}

export const addTo = (minutes: Map<string, number>, key: string, more: number) =>
  minutes.set(key, (minutes.get(key) ?? 0) + more)

/** Several workspaces together can count more minutes of a UTC day than it has. Those without an hour are cut. */
const withinDays = (rows: readonly DayMinutes[]): DayMinutes[] => {
  const remaining = new Map<string, number>()
  for (const { day, hours } of rows)
    for (const minutes of hours) remaining.set(day, (remaining.get(day) ?? limits.minutes_per_day) - minutes)
  return rows.map((row) => {
    const take = (minutes: number) => {
      const left = Math.max(0, remaining.get(row.day) ?? 0)
      remaining.set(row.day, left - Math.min(minutes, left))
      return Math.min(minutes, left)
    }
    return {
      ...row,
      rest: take(row.rest),
      restBefore: take(row.restBefore),
      restAfter: take(row.restAfter),
    }
  })
}

/** The minutes of each local day that has any. */
export const readTotals = async (
  sumDays: typeof sumOwnDays,
  db: Db,
  userId: string,
  range: { from: string; to: string },
  repoKey: string | undefined,
): Promise<Map<string, number>> => {
  const totals = new Map<string, number>()
  for (const row of withinDays(await sumDays(db, userId, around(range), repoKey)))
    for (const { day, minutes } of partsOf(row))
      if (day >= range.from && day <= range.to) addTo(totals, day, minutes)
  return totals
}

/**
 * Makes the projects add up to the total: drops minutes beyond the day's total, and adds the minutes that the listed
 * projects lack.
 */
export const projectShares = (total: number, projects: Project[]): Project[] => {
  let left = total
  const shares = projects.flatMap(({ name, minutes }) => {
    const share = Math.min(minutes, left)
    left -= share
    return share > 0 ? [{ name, minutes: share }] : []
  })
  return left > 0 ? [...shares, { name: undefined, minutes: left }] : shares
}

/** The projects of each local day. */
const projectsOf = (rows: readonly (DayMinutes & { repo: string })[]): Map<string, Map<string, number>> => {
  const ofDays = new Map<string, Map<string, number>>()
  for (const row of rows)
    for (const { day, minutes } of partsOf(row)) {
      const projects = ofDays.get(day) ?? new Map<string, number>()
      addTo(projects, row.repo, minutes)
      ofDays.set(day, projects)
    }
  return ofDays
}

/**
 * All days of the range, oldest first.
 * @param repoKey counts only this repository
 * @param most how many repositories of a day are listed
 */
export const readOwnDays = async (
  db: Db,
  userId: string,
  range: Range,
  repoKey: string | undefined,
  limit: number,
): Promise<OwnDay[]> => {
  const [totals, agentTotals, rows] = await Promise.all([
    readTotals(sumOwnDays, db, userId, range, repoKey),
    readTotals(sumOwnAgentDays, db, userId, range, repoKey),
    listOwnRepoDays(db, userId, around(range), limit, repoKey),
  ])
  const projects = projectsOf(rows)
  return listDays(range.from, range.to).map((day) => {
    const minutes = totals.get(day) ?? 0
    const ofDay = projects.get(day) ?? new Map<string, number>()
    return {
      day,
      minutes,
      agentMinutes: agentTotals.get(day) ?? 0,
      projects: projectShares(minutes, byMinutes(ofDay)),
    }
  })
}

/** The repositories in which agents worked, by day. They add up to the agent minutes of `days`. */
export const readOwnAgentProjects = async (
  db: Db,
  userId: string,
  range: Range,
  repoKey: string | undefined,
  days: readonly OwnDay[],
): Promise<Map<string, Project[]>> => {
  const limit = limits.summary_projects_per_day
  const projects = projectsOf(await listOwnAgentRepoDays(db, userId, around(range), limit, repoKey))
  return new Map(
    days.map(({ day, agentMinutes }) => [
      day,
      projectShares(agentMinutes, byMinutes(projects.get(day) ?? new Map<string, number>())),
    ]),
  )
}

/** The hours of the range's days. */
export const readOwnHours = async (
  db: Db,
  userId: string,
  range: Range,
  repoKey: string | undefined,
): Promise<LocalHour[]> =>
  (await sumOwnDays(db, userId, around(range), repoKey))
    .flatMap((row) => [...localHours(row)])
    .filter(({ day }) => day >= range.from && day <= range.to)

/** All repositories and project names with minutes, and the first and the last local day of each. */
export const readOwnProjects = async (
  db: Db,
  userId: string,
  range: Range,
): Promise<{ repo: string; first: string; last: string }[]> => {
  const [repos, ends] = await Promise.all([
    sumOwnRepos(db, userId, range),
    listFirstAndLastDays(db, userId, range),
  ])
  const days = new Map<string, string[]>()
  for (const row of ends)
    for (const { day } of partsOf(row)) days.set(row.repoKey, [...(days.get(row.repoKey) ?? []), day])
  return repos.map(({ repo, first, last }) => {
    const own = days.get(repo.toLowerCase())?.sort()
    return { repo, first: own?.[0] ?? first, last: own?.at(-1) ?? last }
  })
}
