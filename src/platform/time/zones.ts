/** Days in a time zone. */
import { LRUCache } from 'lru-cache'
import { addDays } from './days.js'

const SECOND_MS = 1_000
const DAY_MS = 86_400_000
const LOCAL_LENGTH = '002026-11-21T10:00:00'.length

/** Creating a formatter takes longer than using it a hundred times. */
const formats = new LRUCache<string, Intl.DateTimeFormat>({
  max: 100,
  memoMethod: (timeZone) =>
    new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' }),
})

/** How many milliseconds a zone's clocks are ahead of UTC at a given time. */
const offsetAt = (timezone: string, moment: number): number => {
  // The formatter writes the year 3 with one digit, and the year 10000 with five.
  const local = formats.memo(timezone).format(moment).replace(' ', 'T').padStart(LOCAL_LENGTH, '0')
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
