/** Hours on a person's own calendar: an hour belongs entirely to the local day and hour in which it starts. */
import { addDays, HOURS } from './days.js'
import { localHoursOf } from './zones.js'

/** A local hour, counted from the midnight that begins 1970-01-01 on the person's calendar. */
export type LocalHour = number

const DAY_MS = 86_400_000

/** The local hour in which a UTC hour starts. @param hour UTC hours since 1970 */
export const localHourOf = (timezone: string, hour: number): LocalHour => {
  const day = Math.floor(hour / HOURS)
  const local = localHoursOf(timezone, dayOf(day * HOURS))[hour - day * HOURS] ?? 0
  return day * HOURS + local
}

/** The day of a local hour, or of a UTC hour. */
export const dayOf = (hour: number): string =>
  new Date(Math.floor(hour / HOURS) * DAY_MS).toISOString().slice(0, 10)

/** 0 to 23, also of hours before 1970. */
export const hourOfDay = (hour: number): number => ((hour % HOURS) + HOURS) % HOURS

/** A local day's minutes by UTC day, with the zone in which they were last written. */
export const toUtcDays = (
  timezone: string | null,
  day: string,
  { minutes, hours }: { minutes: number; hours: readonly number[] | null },
): Map<string, number> => {
  const days = new Map<string, number>()
  const add = (utcDay: string, more: number) => days.set(utcDay, (days.get(utcDay) ?? 0) + more)
  let rest = minutes
  hours?.forEach((inHour, hour) => {
    if (inHour === 0) return
    rest -= inHour
    add(timezone === null ? day : utcDayOf(timezone, day, hour), inHour)
  })
  if (rest > 0) add(day, rest)
  return days
}

/** The UTC day of the UTC hour that starts in a local hour. The local hour's own day, if no hour does. */
const utcDayOf = (timezone: string, day: string, hour: number): string => {
  for (const [days, utcDay] of [
    [0, day],
    [-1, addDays(day, -1)],
    [1, addDays(day, 1)],
  ] as const)
    if (localHoursOf(timezone, utcDay).includes(hour - days * HOURS)) return utcDay
  return day
}

/** When a local hour begins, in milliseconds since 1970. Undefined if no UTC hour starts in it. */
export const startOfLocalHour = (timezone: string, day: string, hour: number): number | undefined => {
  for (const days of [0, -1, 1]) {
    const utcDay = addDays(day, days)
    const utcHour = localHoursOf(timezone, utcDay).indexOf(hour - days * HOURS)
    if (utcHour !== -1) return Date.parse(utcDay) + utcHour * 3_600_000
  }
  return undefined
}
