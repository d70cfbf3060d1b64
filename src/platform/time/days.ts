/** UTC calendar days as `YYYY-MM-DD`, which sort as text. */

const DAY_MS = 86_400_000
/** The hours of a UTC day. */
export const HOURS = 24
export const DAYS_OF_WEEK = 7
/** Even the longest range before this day is within the years that the database supports. */
export const FIRST_DAY = '0003-01-01'
export const LAST_DAY = '9999-12-31'

/** Years after 9999 have another format. Callers compare with LAST_DAY first. */
const dayAt = (moment: number): string => new Date(moment).toISOString().slice(0, -14)

export const addDays = (day: string, days: number): string => dayAt(Date.parse(day) + days * DAY_MS)

/** Whether the text is a valid date. There is no year 0. */
export const isDay = (text: string): boolean =>
  /^(?!0000)[0-9]{4}-/.test(text) && !Number.isNaN(Date.parse(text)) && addDays(text, 0) === text

/** Both are included, so a single day has length 1. */
export const countDays = (from: string, to: string): number =>
  Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS) + 1

/** Counts within each month, because a Date for each day took a fifth of the service's CPU for a dashboard. */
export const listDays = (from: string, to: string): string[] => {
  const count = countDays(from, to)
  const days: string[] = []
  for (let day = from; days.length < count; day = addDays(day, 1)) {
    const month = day.slice(0, 8)
    const last = lengthOfMonth(day)
    for (let date = Number(day.slice(8)); date <= last && days.length < count; date++) {
      day = `${month}${date < 10 ? '0' : ''}${date}`
      days.push(day)
    }
  }
  return days
}

/** ISO: 1 is Monday. */
export const weekdayOf = (day: string): number => new Date(day).getUTCDay() || 7

/** The Monday of a day's ISO week, which identifies the week. */
export const mondayOf = (day: string): string => addDays(day, 1 - weekdayOf(day))

/** The last day of a day's ISO week, or of the calendar. */
export const sundayOf = (day: string): string => {
  const sunday = addDays(mondayOf(day), DAYS_OF_WEEK - 1)
  return sunday.length === LAST_DAY.length ? sunday : LAST_DAY
}

/** The first day of a day's month. */
export const monthOf = (day: string): string => `${day.slice(0, 8)}01`

/** The number of days in a month. */
export const lengthOfMonth = (month: string): number => {
  const moment = new Date(month)
  moment.setUTCMonth(moment.getUTCMonth() + 1, 0)
  return moment.getUTCDate()
}

export interface Range {
  from: string
  to: string
  days: number
}

export const rangeOf = (from: string, to: string): Range => ({ from, to, days: countDays(from, to) })

/** A missing end is `defaultDays` from the other end, or today. Undefined if there is no range of at most `maxDays`. */
export const resolveRange = (
  given: { from?: string | undefined; to?: string | undefined },
  today: string,
  { defaultDays, maxDays }: { defaultDays: number; maxDays: number },
): Range | undefined => {
  const to = given.to ?? (given.from === undefined ? today : addDays(given.from, defaultDays - 1))
  const from = given.from ?? addDays(to, 1 - defaultDays)
  const range = rangeOf(from, to)
  const isRange =
    range.days >= 1 && range.days <= maxDays && from >= FIRST_DAY && to.length === LAST_DAY.length
  return isRange ? range : undefined
}

/** Equal parts of a range. The first may begin before it, and the last may end after it. */
export interface Buckets {
  start: string
  /** The number of days. */
  length: number
  count: number
}

/** The days of a short range, the ISO weeks of a long one. */
export const bucketsOf = ({ from, to, days }: Range, maxDays: number): Buckets => {
  if (days <= maxDays) return { start: from, length: 1, count: days }
  const start = addDays(from, 1 - weekdayOf(from))
  return { start, length: DAYS_OF_WEEK, count: Math.ceil(countDays(start, to) / DAYS_OF_WEEK) }
}
