/** Where minutes are on a person's own calendar (docs/decisions/21-local-days.md). */
import { addDays, HOURS } from '../../platform/time/days.js'
import { localHoursOf } from '../../platform/time/zones.js'
import { type Minutes, noMinutes } from './caps.js'

/** Minutes by local day. Those without an hour belong to the day that the client named. @param hours by UTC hour */
export const toLocalDays = (
  timezone: string,
  day: string,
  { minutes, hours }: { minutes: number; hours: Readonly<Record<string, number>> },
): Map<string, Minutes> => {
  const days = new Map<string, Minutes>()
  const at = (local: string): Minutes => {
    const known = days.get(local) ?? noMinutes()
    days.set(local, known)
    return known
  }
  const local = localHoursOf(timezone, day)
  let rest = minutes
  for (let hour = 0; hour < HOURS; hour++) {
    const inHour = hours[hour] ?? 0
    if (inHour === 0) continue
    const localHour = local[hour] ?? hour
    const later = Math.floor(localHour / HOURS)
    const part = at(later === 0 ? day : addDays(day, later))
    part.minutes += inHour
    part.hours[localHour - later * HOURS] = (part.hours[localHour - later * HOURS] ?? 0) + inHour
    rest -= inHour
  }
  if (rest > 0) at(day).minutes += rest
  return days
}
