/** Reads the times of heartbeats, as editors, browsers and exports write them. */
import type { SentHeartbeat } from '../project-names.js'

type SentTime = SentHeartbeat['time']

const DECIMAL = /^[+-]?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?$/
/** RFC 3339, also with a space instead of the `T`. */
const DATE_TIME = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d(?:\.\d+)?)([Zz]|[+-]\d\d:\d\d)$/
/** From here on, a number means milliseconds. In seconds it would be the year 5138. */
const FIRST_MILLISECONDS = 1e11

/** Seconds since 1970. Undefined if it isn't a number. */
export const secondsOf = (time: SentTime): number | undefined => {
  if (time === undefined || time === null) return undefined
  const text = typeof time === 'string' ? time.trim() : time
  if (typeof text === 'string' && !DECIMAL.test(text)) return undefined
  const number = Number(text)
  if (!Number.isFinite(number)) return undefined
  return number >= FIRST_MILLISECONDS ? number / 1_000 : number
}

/** The same for files, which may also have dates. */
export const importedSecondsOf = (time: SentTime): number | undefined =>
  secondsOf(time) ?? (typeof time === 'string' ? secondsOfDate(time.trim()) : undefined)

const secondsOfDate = (text: string): number | undefined => {
  const [, day, clock, offset = ''] = DATE_TIME.exec(text) ?? []
  if (day === undefined || !isDay(day)) return undefined
  const milliseconds = Date.parse(`${day}T${clock}${offset.toUpperCase()}`)
  return Number.isNaN(milliseconds) ? undefined : milliseconds / 1_000
}

/** `Date.parse` takes February 30 for March 2. */
const isDay = (day: string): boolean => {
  const date = new Date(`${day}T00:00:00Z`)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(day)
}
