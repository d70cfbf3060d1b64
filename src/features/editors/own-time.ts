/** How long a person has worked, by local day, across all workspaces and counting each minute once. */
import { limits } from '../../../schemas/limits.js'
import type { Db } from '../../platform/database/client.js'
import { addDays, countDays, FIRST_DAY, LAST_DAY, type Range, rangeOf } from '../../platform/time/days.js'
import {
  addTo,
  around,
  byMinutes,
  listOwnRepoDays,
  type OwnDay,
  type Project,
  partsOf,
  projectShares,
  readOwnDays,
  readTotals,
  sumOwnAgentDays,
  sumOwnDays,
  sumOwnRepos,
} from '../minutes/index.js'

/** Whose time is read, and the current day in the person's time zone. */
export interface Person {
  userId: string
  login: string
  timezone: string
  today: string
}

const totalOf = (minutes: Iterable<number>) => [...minutes].reduce((sum, one) => sum + one, 0)

const keyOf = (project: string | undefined) => project?.toLowerCase()

/** All days of the range, oldest first. @param project counts only this repository */
export const readDays = (db: Db, { userId }: Person, range: Range, project?: string): Promise<OwnDay[]> => {
  const limit = Math.min(limits.summary_projects_per_day, Math.floor(limits.summary_projects / range.days))
  return readOwnDays(db, userId, range, keyOf(project), limit)
}

export interface Sums {
  /** The minutes of each day that has any. */
  days: Map<string, number>
  agentMinutes: number
  projects: Project[]
}

export const readRange = async (db: Db, person: Person, range: Range, project?: string): Promise<Sums> => {
  const { userId } = person
  const { from, to } = range
  const repoKey = keyOf(project)
  // On the days at both ends, only some hours belong to the range.
  const ends = [...new Set([addDays(from, -1), from, to, addDays(to, 1)])]
  const inner = { from: addDays(from, 1), to: addDays(to, -1), days: Math.max(0, countDays(from, to) - 2) }
  const [days, agentDays, repos, ...rows] = await Promise.all([
    readTotals(sumOwnDays, db, person.userId, range, repoKey),
    readTotals(sumOwnAgentDays, db, person.userId, range, repoKey),
    inner.days > 0 ? sumOwnRepos(db, userId, inner, repoKey) : [],
    ...ends.map((day) =>
      listOwnRepoDays(db, userId, { from: day, to: day, days: 1 }, limits.dashboard_rows, repoKey),
    ),
  ])
  const projects = new Map(repos.map(({ repo, minutes }) => [repo, minutes]))
  for (const row of rows.flat())
    for (const { day, minutes } of partsOf(row))
      if (day >= from && day <= to) addTo(projects, row.repo, minutes)
  const listed = byMinutes(projects).slice(0, limits.dashboard_rows)
  const agentMinutes = totalOf(agentDays.values())
  return { days, agentMinutes, projects: projectShares(totalOf(days.values()), listed) }
}

/** All days, and those before and after them. */
export const ALWAYS = rangeOf(addDays(FIRST_DAY, 1), addDays(LAST_DAY, -1))

export const readEverything = async (db: Db, person: Person, project?: string): Promise<Sums> => {
  const repoKey = keyOf(project)
  const [days, agentDays, repos] = await Promise.all([
    readTotals(sumOwnDays, db, person.userId, ALWAYS, repoKey),
    readTotals(sumOwnAgentDays, db, person.userId, ALWAYS, repoKey),
    sumOwnRepos(db, person.userId, around(ALWAYS), repoKey),
  ])
  const listed = repos.map(({ repo, minutes }) => ({ name: repo, minutes }))
  return {
    days,
    agentMinutes: totalOf(agentDays.values()),
    projects: projectShares(totalOf(days.values()), listed),
  }
}

const HOUR_MS = 3_600_000

/**
 * A day's repositories by hour, each with the time when the hour began, in milliseconds.
 * @param start when the day begins, where minutes without an hour are shown
 */
export const readDurations = async (db: Db, { userId }: Person, day: string, start: number) => {
  const rows = await listOwnRepoDays(
    db,
    userId,
    around({ from: day, to: day }),
    limits.summary_projects_per_day,
  )
  return rows
    .flatMap((row) =>
      [...partsOf(row)]
        .filter((part) => part.day === day)
        .map(({ utcHour, minutes }) => ({
          project: row.repo,
          time: utcHour === undefined ? start : Date.parse(row.day) + utcHour * HOUR_MS,
          minutes,
        })),
    )
    .sort((a, b) => a.time - b.time)
}

const MINUTES = 60
const SECONDS = 60

const unit = (count: number, name: string) => `${count} ${name}${count === 1 ? '' : 's'}`

/** `3 hrs 12 mins` */
export const textOf = (total: number): string => {
  const [hours, minutes] = [Math.floor(total / MINUTES), total % MINUTES]
  return hours > 0 ? `${unit(hours, 'hr')} ${unit(minutes, 'min')}` : unit(minutes, 'min')
}

export const digitalOf = (total: number): string =>
  `${Math.floor(total / MINUTES)}:${String(total % MINUTES).padStart(2, '0')}`

export const decimalOf = (total: number): string => (total / MINUTES).toFixed(2)

export const durationOf = (total: number) => ({
  text: textOf(total),
  digital: digitalOf(total),
  hours: Math.floor(total / MINUTES),
  minutes: total % MINUTES,
  total_seconds: total * SECONDS,
})

/** Part of a total, with its share. */
export const entryOf = (name: string, minutes: number, total: number) => ({
  name,
  ...durationOf(minutes),
  decimal: decimalOf(minutes),
  seconds: 0,
  percent: total === 0 ? 0 : Math.round((minutes / total) * 10_000) / 100,
})

/** The time in whole seconds, because some WakaTime tools can't read fractions. */
export const formatTimestamp = (moment: number): string => `${new Date(moment).toISOString().slice(0, -5)}Z`
