/**
 * Where minutes are on a person's own calendar: an hour belongs entirely to the local day and hour in which it starts
 * (docs/decisions/21-local-days.md).
 */
import { addDays, HOURS } from '../../platform/time/days.js'
import { localHoursOf } from '../../platform/time/zones.js'

/** Minutes of a UTC day by hour, recorded in one time zone. */
export interface ZoneHours {
  day: string
  timezone: string
  hours: readonly number[]
}

export interface LocalHour {
  day: string
  hour: number
  /** The UTC hour. */
  utcHour: number
  minutes: number
}

/** The hours that have minutes. */
export const localHours = function* ({ day, timezone, hours }: ZoneHours): Generator<LocalHour> {
  if (hours.every((minutes) => minutes === 0)) return
  const local = localHoursOf(timezone, day)
  for (let utcHour = 0; utcHour < HOURS; utcHour++) {
    const minutes = hours[utcHour] ?? 0
    if (minutes === 0) continue
    const at = local[utcHour] ?? utcHour
    const later = Math.floor(at / HOURS)
    yield { day: later === 0 ? day : addDays(day, later), hour: at - later * HOURS, utcHour, minutes }
  }
}

/** Minutes of a UTC day that belong to the local days before and after it. */
export interface Shares {
  before: number
  after: number
}

export const sharesOf = (zoneHours: ZoneHours): Shares => {
  const shares = { before: 0, after: 0 }
  for (const { day, minutes } of localHours(zoneHours)) {
    if (day < zoneHours.day) shares.before += minutes
    if (day > zoneHours.day) shares.after += minutes
  }
  return shares
}

/** The shares of hours of several time zones. */
export const sumOfShares = (all: readonly ZoneHours[]): Shares =>
  all
    .map(sharesOf)
    .reduce((sum, { before, after }) => ({ before: sum.before + before, after: sum.after + after }), {
      before: 0,
      after: 0,
    })

/** The local days on which some of a row's minutes are. */
export const daysOf = (day: string, minutes: number, { before, after }: Shares): string[] => [
  ...(before > 0 ? [addDays(day, -1)] : []),
  ...(minutes > before + after ? [day] : []),
  ...(after > 0 ? [addDays(day, 1)] : []),
]
