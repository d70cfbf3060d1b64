/** The week in local hours: UTC hours shifted to each member's time zone. */
import { addDays, DAYS_OF_WEEK, HOURS, weekdayOf } from '../../platform/time/days.js'

const HOUR_MS = 3_600_000
const REMEMBERED_DAYS = 50_000

/**
 * The runtime's name for a time zone, so that aliases are treated as one. Undefined if it isn't an IANA name. Numeric
 * offsets aren't, although newer runtimes accept them.
 */
export const canonicalTimezone = (name: string): string | undefined => {
  if (!/^[A-Za-z]/.test(name)) return undefined
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone
  } catch {
    return undefined
  }
}

const formats = new Map<string, Intl.DateTimeFormat>()

const formatOf = (timezone: string): Intl.DateTimeFormat => {
  let format = formats.get(timezone)
  if (!format) {
    // This runtime may not know a name that another version accepted.
    const timeZone = canonicalTimezone(timezone) ?? 'UTC'
    format = new Intl.DateTimeFormat('en-US', { timeZone, hourCycle: 'h23', day: 'numeric', hour: 'numeric' })
    formats.set(timezone, format)
  }
  return format
}

/** The local hour of a moment, counted from the midnight that begins its UTC day: -12 to 38. */
const localHour = (timezone: string, day: string, moment: number): number => {
  const parts = formatOf(timezone).formatToParts(moment)
  const part = (type: string) => Number(parts.find((candidate) => candidate.type === type)?.value)
  const date = part('day')
  const shift = [-1, 0, 1].find((days) => Number(addDays(day, days).slice(-2)) === date) ?? 0
  return shift * HOURS + part('hour')
}

const remembered = new Map<string, readonly number[]>()

/** For each UTC hour of a day, the local hour in which it starts, counted from the midnight that begins the UTC day. */
export const localHoursOf = (timezone: string, day: string): readonly number[] => {
  const key = `${day} ${timezone}`
  const known = remembered.get(key)
  if (known) return known
  const midnight = Date.parse(day)
  const at = (hour: number) => localHour(timezone, day, midnight + hour * HOUR_MS)
  const first = at(0)
  // On most days the clocks don't change, and formatting each hour is slow.
  const isPlain = at(HOURS - 1) === first + HOURS - 1
  const hours = Array.from({ length: HOURS }, (_, hour) => (isPlain ? first + hour : at(hour)))
  if (remembered.size >= REMEMBERED_DAYS) remembered.clear()
  remembered.set(key, hours)
  return hours
}

/** Minutes by UTC hour of all people in a time zone on a day. */
export interface ZoneDay {
  day: string
  timezone: string
  hours: readonly number[]
}

export interface HeatmapCell {
  weekday: number
  hour: number
  minutes: number
}

const CELLS = DAYS_OF_WEEK * HOURS

/** From 0, Monday 0:00. A local hour, counted as above, may fall in the week before or after. */
const cellAt = (weekday: number, local: number): number => (CELLS + (weekday - 1) * HOURS + local) % CELLS

/** The cells in which the hours of one person are drawn, on a day counted from a Monday. */
export const cellsOf = (
  monday: string,
  day: number,
  timezone: string,
  hours: readonly number[] | null,
): { cell: number; minutes: number }[] => {
  if (!hours) return []
  const cells = new Map<number, number>()
  localHoursOf(timezone, addDays(monday, day)).forEach((local, hour) => {
    const minutes = hours[hour] ?? 0
    const cell = cellAt(day + 1, local)
    if (minutes > 0) cells.set(cell, (cells.get(cell) ?? 0) + minutes)
  })
  return [...cells].map(([cell, minutes]) => ({ cell, minutes }))
}

/** Minutes by local weekday and hour. */
export class Heatmap {
  /** Monday 0:00 first. */
  private readonly minutes = new Array<number>(CELLS).fill(0)

  addCell({ weekday, hour, minutes }: HeatmapCell): void {
    this.addMinutes((weekday - 1) * HOURS + hour, minutes)
  }

  addZoneDay({ day, timezone, hours }: ZoneDay): void {
    const weekday = weekdayOf(day)
    localHoursOf(timezone, day).forEach((local, hour) => {
      this.addMinutes(cellAt(weekday, local), hours[hour] ?? 0)
    })
  }

  /** Adds to a cell that is counted from Monday 0:00, or subtracts if the number is negative. */
  addMinutes(cell: number, minutes: number): void {
    this.minutes[cell] = (this.minutes[cell] ?? 0) + minutes
  }

  /** Cells with minutes, counted from Monday 0:00. */
  toSparse(): [cell: number, minutes: number][] {
    return this.minutes.flatMap((minutes, cell) =>
      minutes === 0 ? [] : [[cell, minutes] as [number, number]],
    )
  }

  /** All 168, Monday 0:00 first. */
  toCells(): HeatmapCell[] {
    return this.minutes.map((minutes, index) => ({
      weekday: Math.floor(index / HOURS) + 1,
      hour: index % HOURS,
      minutes,
    }))
  }
}
