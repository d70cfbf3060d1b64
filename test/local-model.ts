/** A second, slow implementation of the rules for local days, and for hours at the level `named`. */
import { Heatmap } from '../src/features/minutes/heatmap.js'
import { addDays, countDays, listDays } from '../src/platform/time/days.js'
import { stepsOf } from './trend-steps.js'

const HOUR_MS = 3_600_000

/** A person's work in a repository on a UTC day, or on a local one. */
export interface WorkRow {
  /** Null: deleted accounts. */
  login: string | null
  day: string
  repo: string
  minutes: number
  commits: number
  issues: number
  /** By hour. */
  hours: number[] | null
  timezone: string
}

const formats = new Map<string, Intl.DateTimeFormat>()

/** The local date and hour. */
export const wallClock = (timeZone: string, moment: number): { day: string; hour: number } => {
  const format =
    formats.get(timeZone) ??
    new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short', timeStyle: 'short', hourCycle: 'h23' })
  formats.set(timeZone, format)
  const [day = '', time = ''] = format.format(moment).split(', ')
  return { day, hour: Number(time.slice(0, 2)) }
}

/** Rows of UTC days as rows of local days: each hour where it begins, and everything else on its date. */
export const toLocal = (rows: WorkRow[]): WorkRow[] => {
  const local = new Map<string, WorkRow>()
  const rowOf = (row: WorkRow, day: string): WorkRow => {
    const key = `${row.login} ${row.repo} ${day}`
    const found = local.get(key) ?? { ...row, day, minutes: 0, commits: 0, issues: 0, hours: null }
    local.set(key, found)
    return found
  }
  for (const row of rows) {
    const own = rowOf(row, row.day)
    own.commits += row.commits
    own.issues += row.issues
    own.minutes += row.minutes - (row.hours ?? []).reduce((sum, minutes) => sum + minutes, 0)
    row.hours?.forEach((minutes, utcHour) => {
      if (minutes === 0) return
      const { day, hour } = wallClock(row.timezone, Date.parse(row.day) + utcHour * HOUR_MS)
      const there = rowOf(row, day)
      there.minutes += minutes
      there.hours ??= new Array(24).fill(0)
      there.hours[hour] = (there.hours[hour] ?? 0) + minutes
    })
  }
  return [...local.values()].filter(({ minutes, commits, issues }) => minutes + commits + issues > 0)
}

/**
 * The heatmap of rows of local days, or null.
 * @param viewer undefined: everything is the viewer's own
 */
export const shownCells = (rows: WorkRow[], viewer: string | undefined, minGroup: number) => {
  const withHours = rows.filter(({ hours }) => hours?.some((minutes) => minutes > 0))
  const heatmap = new Heatmap()
  let isAnyHidden = false
  for (const day of new Set(withHours.map(({ day }) => day))) {
    const ofDay = withHours.filter((row) => row.day === day)
    const others = new Set(ofDay.flatMap(({ login }) => (login === viewer ? [] : login)))
    if (viewer !== undefined && others.size < minGroup) isAnyHidden = true
    else
      for (const { hours } of ofDay)
        hours?.forEach((minutes, hour) => {
          heatmap.addHour({ day, hour, minutes })
        })
  }
  const cells = heatmap.toCells()
  return isAnyHidden && cells.every(({ minutes }) => minutes === 0) ? null : cells
}

export interface Asked {
  from: string
  to: string
  login?: string | undefined
  repo?: string | undefined
  /** The caller's own, if the range may end after it. */
  today?: string
}

export const shownRows = (all: WorkRow[], { from, to, login, repo }: Asked): WorkRow[] =>
  all.filter(
    (row) =>
      (login === undefined || row.login === login) &&
      (repo === undefined || row.repo === repo) &&
      row.day >= from &&
      row.day <= to,
  )

const sumsOf = (rows: WorkRow[]) => ({
  active_minutes: rows.reduce((sum, { minutes }) => sum + minutes, 0),
  commits: rows.reduce((sum, { commits }) => sum + commits, 0),
  closed_issues: rows.reduce((sum, { issues }) => sum + issues, 0),
})

const loginsIn = (rows: WorkRow[]) => new Set(rows.flatMap(({ login }) => login ?? []))
const activeIn = (rows: WorkRow[]) => loginsIn(rows.filter(({ minutes }) => minutes > 0)).size

/**
 * A dashboard with trends of rows of local days, without the heatmap.
 * @param always people who are listed without a filter, with or without activity
 */
export const recount = (all: WorkRow[], asked: Asked, always: string[]) => {
  const { from, to, login, repo } = asked
  const shown = shownRows(all, asked)
  // As many days as have begun.
  const end = asked.today !== undefined && asked.today < to ? asked.today : to
  const [first, last] = [addDays(from, -countDays(from, end)), addDays(from, -1)]
  const before = shownRows(all, { ...asked, from: first, to: last })
  const steps = stepsOf(from, to)
  const trendOf = (rows: WorkRow[]) =>
    steps.map((days) => sumsOf(rows.filter(({ day }) => days.includes(day))).active_minutes)
  const listed = new Set<string | null>(shown.map((row) => row.login))
  if (login !== undefined) listed.add(login)
  if (login === undefined && repo === undefined) for (const one of always) listed.add(one)
  return {
    totals: { ...sumsOf(shown), active_members: activeIn(shown) },
    previous_totals: { ...sumsOf(before), active_members: activeIn(before) },
    daily: listDays(from, to).map((day) => {
      const ofDay = shown.filter((row) => row.day === day)
      return { day, ...sumsOf(ofDay), active_members: activeIn(ofDay) }
    }),
    members: Object.fromEntries(
      Array.from(listed, (name) => {
        const own = shown.filter((row) => row.login === name)
        const active = own.filter(({ login, minutes }) => login !== null && minutes > 0)
        const days = [...new Set(active.map(({ day }) => day))].sort()
        const said = { active_days: days.length, last_active_day: days.at(-1) ?? null, trend: trendOf(own) }
        return [String(name), { login: name, ...sumsOf(own), ...said }]
      }),
    ),
    repos: Object.fromEntries(
      Array.from(new Set(shown.map((row) => row.repo)), (name) => {
        const own = shown.filter((row) => row.repo === name)
        return [name, { repo: name, ...sumsOf(own), members: loginsIn(own).size, trend: trendOf(own) }]
      }),
    ),
  }
}

type Row = Record<string, unknown>

/** The parts of a dashboard's body that the model predicts. */
export const toldBy = (
  body: Record<'totals' | 'previous_totals', Row> & Record<'daily' | 'members' | 'repos', Row[]>,
) => {
  const isKept = (name: string) => !['avatar_url', 'role', 'agent_minutes'].includes(name)
  const strip = (row: Row) => Object.fromEntries(Object.entries(row).filter(([name]) => isKept(name)))
  const named = (rows: Row[], key: string) =>
    Object.fromEntries(rows.map((row) => [String(row[key]), strip(row)]))
  return {
    totals: strip(body.totals),
    previous_totals: strip(body.previous_totals),
    daily: body.daily.map(strip),
    members: named(body.members, 'login'),
    repos: named(body.repos, 'repo'),
  }
}
