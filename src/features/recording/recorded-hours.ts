/** The hours of the week in which a person records activity. */
import type { RecordingHours } from '../../../schemas/recording.js'
import { DAYS_OF_WEEK, HOURS, weekdayOf } from '../../platform/time/days.js'
import { localHoursOf } from '../../platform/time/zones.js'

/** Whether each UTC hour of a day is recorded, based on the local hour in which it starts. */
export const recordedHoursOf = (
  { from, to, weekdays }: RecordingHours,
  timezone: string,
  day: string,
): boolean[] => {
  const goesOverMidnight = from > to
  return localHoursOf(timezone, day).map((local) => {
    const hour = (local + HOURS) % HOURS
    const isAfterMidnight = goesOverMidnight && hour < to
    if (!isAfterMidnight && (hour < from || (!goesOverMidnight && hour >= to))) return false
    const daysLater = Math.floor(local / HOURS) - (isAfterMidnight ? 1 : 0)
    return weekdays.includes(((weekdayOf(day) - 1 + daysLater + DAYS_OF_WEEK) % DAYS_OF_WEEK) + 1)
  })
}

/** The part of an entry within recorded hours, and its minutes without an hour. */
export const recordedPart = (
  minutes: number,
  hours: Record<string, number>,
  isRecorded: boolean[],
): { minutes: number; hours: Record<string, number> } => {
  const kept: Record<string, number> = {}
  let cut = 0
  for (const [hour, inHour] of Object.entries(hours)) {
    if (isRecorded[Number(hour)]) kept[hour] = inHour
    else cut += inHour
  }
  return { minutes: minutes - cut, hours: kept }
}
