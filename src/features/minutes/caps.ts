/** Caps active minutes per member and workspace at 60 an hour and 1440 a day, across all repositories. */
import { limits } from '../../../schemas/limits.js'
import { HOURS } from '../../platform/time/days.js'

/** Minutes in one repository, or in all of them on a day. */
export interface Minutes {
  minutes: number
  /** Minutes in each of the 24 UTC hours. Their sum is at most `minutes`. */
  hours: number[]
}

export type Cut = 'none' | 'hour_full' | 'day_full'

export const noMinutes = (): Minutes => ({ minutes: 0, hours: new Array(HOURS).fill(0) })

/** Changes `sum`. */
export const addTo = (sum: Minutes, minutes: number, hours: number[]): void => {
  sum.minutes += minutes
  for (let hour = 0; hour < HOURS; hour++) sum.hours[hour] = (sum.hours[hour] ?? 0) + (hours[hour] ?? 0)
}

export const sumOf = (a: Readonly<Minutes>, b: Minutes): Minutes => {
  const sum = { minutes: a.minutes, hours: [...a.hours] }
  addTo(sum, b.minutes, b.hours)
  return sum
}

/**
 * The part of an entry that fits on a day. Minutes above a cap are cut from the hour, the day and the repository alike,
 * so that the three always agree.
 * @param total the member's minutes of the day so far, in all repositories
 * @returns `cut`: the cap that cut the entry, `hour_full` if both did
 */
export const capMinutes = (
  total: Readonly<Minutes>,
  minutes: number,
  hours: Record<string, number> = {},
): { counted: Minutes; cut: Cut } => {
  const fitting: number[] = []
  let inHours = 0
  let left = minutes
  for (let hour = 0; hour < HOURS; hour++) {
    const requested = hours[hour] ?? 0
    const fits = Math.min(requested, Math.max(0, limits.minutes_per_hour - (total.hours[hour] ?? 0)))
    fitting.push(fits)
    inHours += fits
    left -= requested - fits
  }
  const counted = Math.min(left, Math.max(0, limits.minutes_per_day - total.minutes))
  // Minutes without an hour are cut first, because they're the least specific. Then the latest hours are cut.
  for (let hour = HOURS - 1; inHours > counted; hour--) {
    const cut = Math.min(inHours - counted, fitting[hour] ?? 0)
    fitting[hour] = (fitting[hour] ?? 0) - cut
    inHours -= cut
  }
  const cut = left < minutes ? 'hour_full' : counted < left ? 'day_full' : 'none'
  return { counted: { minutes: counted, hours: fitting }, cut }
}

/** One member's day in one workspace. */
export interface MemberDay {
  /** The minutes so far, in all repositories. */
  readonly total: Minutes
  /** The time zone of each repository with minutes. */
  readonly timezones: ReadonlyMap<string, string | null> | 'not read'
}

/** @param days by day @throws if the day wasn't locked */
export const requireDay = <Day>(days: ReadonlyMap<string, Day>, day: string): Day => {
  const found = days.get(day)
  if (!found) throw new Error('Minutes were counted on a day that isn’t locked')
  return found
}
