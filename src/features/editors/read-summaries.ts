/**
 * A person's time in WakaTime's formats, for tools that show and export it. Data that the service doesn't store is left
 * empty.
 */
import type { AllTime, Durations, Projects, Stats, StatusBar, Summaries } from '../../../schemas/wakatime.js'
import type { Db } from '../../platform/database/client.js'
import { countDays, type Range } from '../../platform/time/days.js'
import { endOf, startOf } from '../../platform/time/zones.js'
import { type Project, sumOwnRepos } from '../own-time/index.js'
import { readRecording } from '../recording/index.js'
import {
  ALWAYS,
  decimalOf,
  digitalOf,
  durationOf,
  entryOf,
  formatTimestamp,
  type Person,
  readDays,
  readDurations,
  readSums,
  textOf,
} from './own-time.js'

const SECONDS = 60
const OTHERS = 'Other'

/** The service doesn't store this data, but clients expect the lists. */
const emptyLists = () => ({
  languages: [],
  editors: [],
  machines: [],
  operating_systems: [],
  dependencies: [],
})

export const projectEntries = (projects: Project[], total: number) =>
  projects.map(({ name, minutes }) => entryOf(name ?? OTHERS, minutes, total))

/** No total includes agent time. */
const categoriesOf = (minutes: number, agentMinutes: number) => {
  const both = minutes + agentMinutes
  const coding = entryOf('Coding', minutes, both)
  return agentMinutes > 0 ? [coding, entryOf('AI Coding', agentMinutes, both)] : [coding]
}

/** Averages leave out days without minutes, as WakaTime's do. */
const averageOf = (total: number, activeDays: number) =>
  activeDays === 0 ? 0 : Math.round(total / activeDays)

export const readSummaries = async (
  db: Db,
  person: Person,
  range: Range,
  project: string | undefined,
): Promise<Summaries> => {
  const { timezone } = person
  const days = await readDays(db, person, range, project)
  const total = days.reduce((sum, { minutes }) => sum + minutes, 0)
  const activeDays = days.filter(({ minutes }) => minutes > 0).length
  const average = averageOf(total, activeDays)
  return {
    data: days.map(({ day, minutes, agentMinutes, projects }) => ({
      grand_total: { ...durationOf(minutes), decimal: decimalOf(minutes) },
      categories: categoriesOf(minutes, agentMinutes),
      projects: projectEntries(projects, minutes),
      ...emptyLists(),
      range: {
        date: day,
        start: formatTimestamp(startOf(timezone, day)),
        end: formatTimestamp(endOf(timezone, day)),
        text: day,
        timezone,
      },
    })),
    start: formatTimestamp(startOf(timezone, range.from)),
    end: formatTimestamp(endOf(timezone, range.to)),
    cumulative_total: {
      text: textOf(total),
      digital: digitalOf(total),
      decimal: decimalOf(total),
      seconds: total * SECONDS,
    },
    daily_average: {
      text: textOf(average),
      text_including_other_language: textOf(average),
      seconds: average * SECONDS,
      seconds_including_other_language: average * SECONDS,
      days_including_holidays: range.days,
      days_minus_holidays: activeDays,
      holidays: range.days - activeDays,
    },
  }
}

const firstOf = (days: ReadonlyMap<string, number>, today: string): string =>
  [...days.keys()].reduce((first, day) => (day < first ? day : first), today)

/** @param range undefined: everything, from the first day with minutes */
export const readStats = async (
  db: Db,
  person: Person,
  name: string,
  range: Range | undefined,
  project: string | undefined,
): Promise<Stats> => {
  const { userId, login, timezone, today } = person
  const { days, agentMinutes, projects } = await readSums(db, person, range, project)
  const total = [...days.values()].reduce((sum, minutes) => sum + minutes, 0)
  const { from, to } = range ?? { from: firstOf(days, today), to: today }
  const length = Math.max(countDays(from, to), days.size)
  const average = averageOf(total, days.size)
  const best = [...days].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? 1 : -1))[0]
  return {
    data: {
      user_id: userId,
      username: login,
      range: name,
      human_readable_range: name.replaceAll('_', ' '),
      start: formatTimestamp(startOf(timezone, from)),
      end: formatTimestamp(endOf(timezone, to)),
      timezone,
      status: 'ok',
      is_up_to_date: true,
      percent_calculated: 100,
      is_coding_activity_visible: false,
      is_other_usage_visible: false,
      total_seconds: total * SECONDS,
      total_seconds_including_other_language: total * SECONDS,
      human_readable_total: textOf(total),
      human_readable_total_including_other_language: textOf(total),
      daily_average: average * SECONDS,
      daily_average_including_other_language: average * SECONDS,
      human_readable_daily_average: textOf(average),
      human_readable_daily_average_including_other_language: textOf(average),
      days_including_holidays: length,
      days_minus_holidays: days.size,
      holidays: length - days.size,
      best_day: best ? { date: best[0], text: textOf(best[1]), total_seconds: best[1] * SECONDS } : null,
      categories: categoriesOf(total, agentMinutes),
      projects: projectEntries(projects, total),
      ...emptyLists(),
    },
  }
}

export const readAllTime = async (db: Db, person: Person, project?: string): Promise<AllTime> => {
  const { timezone, today } = person
  const { days } = await readSums(db, person, ALWAYS, project)
  const total = [...days.values()].reduce((sum, minutes) => sum + minutes, 0)
  const from = firstOf(days, today)
  return {
    data: {
      text: textOf(total),
      digital: digitalOf(total),
      decimal: decimalOf(total),
      total_seconds: total * SECONDS,
      daily_average: averageOf(total, days.size) * SECONDS,
      is_up_to_date: true,
      percent_calculated: 100,
      range: {
        start: formatTimestamp(startOf(timezone, from)),
        start_date: from,
        start_text: from,
        end: formatTimestamp(endOf(timezone, today)),
        end_date: today,
        end_text: today,
        timezone,
      },
    },
  }
}

/** @param part of the name, in any case */
export const readProjects = async (db: Db, userId: string, part: string): Promise<Projects> => {
  const repos = await sumOwnRepos(db, { userId, range: ALWAYS, repoKey: undefined })
  const found = repos
    .filter(({ repo }) => repo.toLowerCase().includes(part.toLowerCase()))
    .sort((a, b) => (a.last < b.last ? 1 : a.last > b.last ? -1 : 0))
  return {
    data: found.map(({ repo, first, last }) => ({
      id: repo,
      name: repo,
      urlencoded_name: encodeURIComponent(repo),
      created_at: `${first}T00:00:00Z`,
      first_heartbeat_at: `${first}T00:00:00Z`,
      last_heartbeat_at: `${last}T00:00:00Z`,
      human_readable_last_heartbeat_at: last,
      color: null,
      badge: null,
      repository: null,
    })),
    total: found.length,
    total_pages: 1,
    page: 1,
    prev_page: null,
    next_page: null,
  }
}

export const readDay = async (db: Db, person: Person, day: string, project?: string): Promise<Durations> => {
  const { timezone } = person
  const start = startOf(timezone, day)
  const durations = await readDurations(db, person, day, start)
  return {
    data: durations
      .filter((duration) => project === undefined || duration.project.toLowerCase() === project.toLowerCase())
      .map(({ project, time, minutes }) => ({
        project,
        time: time / 1_000,
        duration: minutes * SECONDS,
        color: null,
      })),
    branches: [],
    start: formatTimestamp(start),
    end: formatTimestamp(endOf(timezone, day)),
    timezone,
  }
}

/** "Now" and "today" come from the database's clock, as everywhere. */
export const readStatusBar = async (db: Db, person: Person & { now: string }): Promise<StatusBar> => {
  const { timezone, now, today: day } = person
  const [[today], { paused }] = await Promise.all([
    readDays(db, person, { from: day, to: day, days: 1 }),
    readRecording(db, person.userId),
  ])
  const { minutes = 0, agentMinutes = 0, projects = [] } = today ?? {}
  const counted = durationOf(minutes)
  // Editors show only the text.
  const total = paused ? { ...counted, text: `${counted.text} (paused)` } : counted
  return {
    cached_at: now,
    data: {
      grand_total: total,
      categories: [
        { name: 'Coding', ...total },
        ...(agentMinutes > 0 ? [{ name: 'AI Coding', ...durationOf(agentMinutes) }] : []),
      ],
      projects: projectEntries(projects, minutes),
      ...emptyLists(),
      range: {
        date: day,
        start: new Date(startOf(timezone, day)).toISOString(),
        end: new Date(endOf(timezone, day)).toISOString(),
        text: 'Today',
        timezone,
      },
    },
  }
}
