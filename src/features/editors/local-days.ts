/** A person's days, in their time zone. */
import { TIMEZONE_LENGTH } from '../../../schemas/activity.js'
import { addDays, HOURS } from '../../platform/time/days.js'
import { canonicalTimezone, type DayMinutes, localHoursOf } from '../minutes/index.js'

/** The caller's requested zone if it's valid, otherwise the person's. */
export const chooseTimezone = (given: unknown, stored: string | null): string => {
  const named =
    typeof given === 'string' && given.length <= TIMEZONE_LENGTH ? canonicalTimezone(given) : undefined
  return named ?? canonicalTimezone(stored ?? 'UTC') ?? 'UTC'
}

/** The part of a UTC day that falls on one local day. */
interface Part {
  /** The local day. */
  day: string
  /** The UTC hour. Undefined: minutes without an hour, which belong to the day with the same date. */
  hour: number | undefined
  minutes: number
}

/** UTC hours count as a whole, by the local hour in which they start. */
export const localParts = function* (timezone: string, { day, hours, rest }: DayMinutes): Generator<Part> {
  if (rest > 0) yield { day, hour: undefined, minutes: rest }
  const local = localHoursOf(timezone, day)
  for (let hour = 0; hour < HOURS; hour++) {
    const minutes = hours[hour] ?? 0
    if (minutes > 0) yield { day: addDays(day, Math.floor((local[hour] ?? hour) / HOURS)), hour, minutes }
  }
}
