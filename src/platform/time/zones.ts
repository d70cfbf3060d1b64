/** Time zones. Names come from outside, so only a bounded number of them is remembered. */
import { LRUCache } from 'lru-cache'
import { addDays, HOURS } from './days.js'

const SECOND_MS = 1_000
const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000
const LOCAL_LENGTH = '002026-11-21T10:00:00'.length

const resolve = (name: string): string | undefined => {
  // Newer runtimes accept numeric offsets, which aren't IANA names.
  if (!/^[A-Za-z]/.test(name)) return undefined
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone
  } catch {
    return undefined
  }
}

/** The runtime's name for each zone, so that aliases share everything below. Undefined if there's no such zone. */
const resolved = new LRUCache<string, { zone: string | undefined }>({
  max: 2_000,
  memoMethod: (name) => ({ zone: resolve(name) }),
})

/** Whether it's an IANA name. */
export const isTimezone = (name: string): boolean => resolved.memo(name).zone !== undefined

/** UTC for a name that this runtime doesn't know, although another version may have accepted it. */
const zoneOf = (timezone: string): string => resolved.memo(timezone).zone ?? 'UTC'

/** Creating a formatter takes longer than using it a hundred times. There are about 450 zones. */
const formats = new LRUCache<string, Intl.DateTimeFormat>({
  max: 500,
  memoMethod: (timeZone) =>
    new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' }),
})

/** How many milliseconds a zone's clocks are ahead of UTC at a given time. */
const offsetAt = (timezone: string, moment: number): number => {
  // The formatter writes the year 3 with one digit, and the year 10000 with five.
  const local = formats.memo(zoneOf(timezone)).format(moment).replace(' ', 'T').padStart(LOCAL_LENGTH, '0')
  return Date.parse(`+${local}Z`) - Math.floor(moment / SECOND_MS) * SECOND_MS
}

/** The day of a given time in a zone. */
export const dayAt = (timezone: string, moment: number): string =>
  new Date(moment + offsetAt(timezone, moment)).toISOString().slice(0, 10)

/** When a day begins in a zone. Clocks that change at night can show midnight twice or never. */
export const startOf = (timezone: string, day: string): number => {
  const midnight = Date.parse(day)
  const before = offsetAt(timezone, midnight - DAY_MS)
  const after = offsetAt(timezone, midnight + DAY_MS)
  const earlier = midnight - Math.max(before, after)
  const later = midnight - Math.min(before, after)
  return earlier === later || dayAt(timezone, earlier) === day ? earlier : later
}

/** The last second of a day in a zone. */
export const endOf = (timezone: string, day: string): number => startOf(timezone, addDays(day, 1)) - SECOND_MS

const remembered = new LRUCache<string, readonly number[]>({ max: 50_000 })

/** For each UTC hour of a day, the local hour in which it starts, counted from the midnight that begins the UTC day. */
export const localHoursOf = (timezone: string, day: string): readonly number[] => {
  const zone = zoneOf(timezone)
  const key = `${day} ${zone}`
  const known = remembered.get(key)
  if (known) return known
  const midnight = Date.parse(day)
  const at = (hour: number) => hour + Math.floor(offsetAt(zone, midnight + hour * HOUR_MS) / HOUR_MS)
  const first = at(0)
  // On most days the clocks don't change, and formatting each hour is slow.
  const isPlain = at(HOURS - 1) === first + HOURS - 1
  const hours = Array.from({ length: HOURS }, (_, hour) => (isPlain ? first + hour : at(hour)))
  remembered.set(key, hours)
  return hours
}
