/** The days that WakaTime's tools ask for. */
import { TIMEZONE_LENGTH } from '../../../schemas/activity.js'
import { limits } from '../../../schemas/limits.js'
import { own } from '../../../schemas/own.js'
import { ApiError, validationError } from '../../errors.js'
import {
  addDays,
  FIRST_DAY,
  isDay,
  LAST_DAY,
  mondayOf,
  monthOf,
  type Range,
  rangeOf,
} from '../../platform/time/days.js'
import { isTimezone } from '../../platform/time/zones.js'

const endingWith = (to: string, days: number): Range => ({ from: addDays(to, 1 - days), to, days })

/** WakaTime's names, in any case, with spaces, `-` or `_` between the words. */
const named: Record<string, (today: string) => Range> = {
  today: (today) => rangeOf(today, today),
  yesterday: (today) => endingWith(addDays(today, -1), 1),
  last_7_days: (today) => endingWith(today, 7),
  last_7_days_from_yesterday: (today) => endingWith(addDays(today, -1), 7),
  last_14_days: (today) => endingWith(today, 14),
  last_30_days: (today) => endingWith(today, 30),
  last_6_months: (today) => rangeOf(monthsBefore(today, 6), today),
  last_year: (today) => rangeOf(monthsBefore(today, 12), today),
  this_week: (today) => rangeOf(mondayOf(today), today),
  last_week: (today) => endingWith(addDays(mondayOf(today), -1), 7),
  this_month: (today) => rangeOf(monthOf(today), today),
  last_month: (today) => {
    const to = addDays(monthOf(today), -1)
    return rangeOf(monthOf(to), to)
  },
}

/** The day after the same date this many months ago, so that the range doesn't contain the same date twice. */
const monthsBefore = (day: string, months: number): string => {
  const moment = new Date(day)
  moment.setUTCDate(1)
  moment.setUTCMonth(moment.getUTCMonth() - months)
  return addDays(moment.toISOString(), Number(day.slice(8)))
}

/** `Last 7 Days` is `last_7_days`. */
export const rangeName = (text: string): string =>
  text
    .trim()
    .toLowerCase()
    .replace(/[\s_-]+/g, '_')

/** Undefined if no range has this name. */
export const rangeNamed = (name: string, today: string): Range | undefined =>
  own(named, rangeName(name))?.(today)

/**
 * A day, or a timestamp of which only the day is read. The first and last possible days aren't valid, because time
 * zones need the days before and after.
 */
const dayOf = (text: string, today: string): string | undefined => {
  const word = text.trim().toLowerCase()
  if (word === 'today') return today
  if (word === 'yesterday') return addDays(today, -1)
  const day = /^(\d{4}-\d{2}-\d{2})(t|$)/.exec(word)?.[1]
  return day !== undefined && isDay(day) && day > FIRST_DAY && day < LAST_DAY ? day : undefined
}

/** A zone that a request names. Undefined if there's none that the service knows: some tools send made-up ones. */
export const timezoneOf = (given: unknown): string | undefined =>
  typeof given === 'string' && given.length <= TIMEZONE_LENGTH && isTimezone(given) ? given : undefined

/** @throws {ApiError} `validation_failed` */
export const chooseDay = (name: string, text: string, today: string): string => {
  const day = dayOf(text, today)
  if (day === undefined)
    throw validationError(`/query/${name}`, 'must be a day such as 2026-11-21, today or yesterday')
  return day
}

/** @throws {ApiError} `validation_failed`, `invalid_range` */
export const chooseDays = (
  { range, start, end }: { range?: string; start?: string; end?: string },
  today: string,
): Range => {
  if (start === undefined) {
    const chosen = rangeNamed(range ?? 'today', today)
    if (!chosen) throw validationError('/query/range', `must be one of ${Object.keys(named).join(', ')}`)
    return chosen
  }
  const from = chooseDay('start', start, today)
  const to = chooseDay('end', end ?? 'today', today)
  const chosen = rangeOf(from, to)
  if (chosen.days < 1 || chosen.days > limits.range_days)
    throw new ApiError('invalid_range', {
      detail: `\`start\` must not be after \`end\`, and a range can cover at most ${limits.range_days} days.`,
    })
  return chosen
}
