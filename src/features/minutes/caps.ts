/** Caps a person's minutes in a place (a workspace, or their own time) at 60 a local hour and 1440 a local day. */
import { limits } from '../../../schemas/limits.js'
import { HOURS } from '../../platform/time/days.js'

/** Minutes in one repository, or in all of them on a day. */
export interface Minutes {
  minutes: number
  /** Minutes in each of the 24 local hours. Their sum is at most `minutes`. */
  hours: number[]
}

export type Cut = 'none' | 'hour_full' | 'day_full'

export const noMinutes = (): Minutes => ({ minutes: 0, hours: new Array(HOURS).fill(0) })

/** Changes `sum`. */
export const addTo = (sum: Minutes, minutes: number, hours: readonly number[]): void => {
  sum.minutes += minutes
  for (let hour = 0; hour < HOURS; hour++) sum.hours[hour] = (sum.hours[hour] ?? 0) + (hours[hour] ?? 0)
}

/**
 * The part of an entry that fits on a day. Minutes above a cap are cut from the hour, the day and the repository alike,
 * so that the three always agree.
 * @param total the person's minutes of the local day so far, in all repositories
 * @returns `cut`: the cap that cut the entry, `hour_full` if both did
 */
export const capMinutes = (
  total: Readonly<Minutes>,
  minutes: number,
  hours: readonly number[],
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
