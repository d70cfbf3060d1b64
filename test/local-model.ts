/** The rules for local days and for hours at the level `named`, once more and as slowly as they like. */
import { Heatmap } from '../src/features/minutes/heatmap.js'

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

/** The date and the hour that a clock on the wall shows. */
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
