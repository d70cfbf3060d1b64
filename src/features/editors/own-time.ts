/** How long a person has worked, by local day, across all workspaces and counting each minute once. */
import { limits } from '../../../schemas/limits.js'
import type { Db } from '../../platform/database/client.js'
import { FIRST_DAY, LAST_DAY, type Range } from '../../platform/time/days.js'
import { startOfLocalHour } from '../../platform/time/local-hours.js'
import {
  listOwnHours,
  type OwnDayTotals,
  type Project,
  readOwnTotals,
  sumDaysOf,
  sumOwnRepos,
  withOthers,
} from '../own-time/index.js'

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
export const readDays = (
  db: Db,
  { userId }: Person,
  range: Range,
  project?: string,
): Promise<OwnDayTotals[]> => {
  const limit = Math.min(limits.summary_projects_per_day, Math.floor(limits.summary_projects / range.days))
  return readOwnTotals(db, userId, range, keyOf(project), limit)
}

export interface Sums {
  /** The minutes of each day that has any. */
  days: Map<string, number>
  agentMinutes: number
  projects: Project[]
}

/** All days with minutes. */
export const ALWAYS = { from: FIRST_DAY, to: LAST_DAY }

/** @param range by default, everything */
export const readSums = async (
  db: Db,
  { userId }: Person,
  range: Pick<Range, 'from' | 'to'> = ALWAYS,
  project?: string,
): Promise<Sums> => {
  const filter = { userId, range, repoKey: keyOf(project) }
  const [ownDays, agentDays, repos] = await Promise.all([
    sumDaysOf(db, 'person', filter),
    sumDaysOf(db, 'agents', filter),
    sumOwnRepos(db, filter),
  ])
  const days = new Map(ownDays.map(({ day, minutes }) => [day, minutes]))
  const listed = repos.map(({ repo, minutes }) => ({ name: repo, minutes }))
  const agentMinutes = totalOf(agentDays.map(({ minutes }) => minutes))
  return { days, agentMinutes, projects: withOthers(totalOf(days.values()), listed) }
}

/**
 * A day's repositories by hour, each with the time when the hour began, in milliseconds.
 * @param start when the day begins, where minutes without an hour are shown
 */
export const readDurations = async (db: Db, { userId }: Person, day: string, start: number) => {
  const rows = await listOwnHours(db, userId, day, limits.summary_projects_per_day)
  return rows
    .flatMap(({ repo, minutes, hours, timezone }) => {
      const inHours = (hours ?? []).flatMap((inHour, hour) =>
        inHour > 0
          ? [
              {
                project: repo,
                time: startOfLocalHour(timezone ?? 'UTC', day, hour) ?? start,
                minutes: inHour,
              },
            ]
          : [],
      )
      const rest = minutes - totalOf(inHours.map((one) => one.minutes))
      return rest > 0 ? [...inHours, { project: repo, time: start, minutes: rest }] : inHours
    })
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
