/** Filters and ranges in the address's query, so that people can share what they see. */
import { useEffect, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import type { AnswerOf, RequestOptions } from '../client/src/operations.js'
import { type ReadState, useRead } from './api.js'
import { comparedRanges, lengthOf, type Range } from './comparison.js'
import { addDays, counted, mondayOf, shortDays, today, utcDay, weekdayOf } from './format.js'

type Query = Record<string, string | undefined>

/** The address's query, and a function that changes parts of it. `undefined` removes a part. */
export const useUrlQuery = () => {
  const { path, query, route } = useLocation()
  const change = (parts: Query, replace = false) => {
    const next = new URLSearchParams(query as Record<string, string>)
    // Days replace a relative range.
    if (parts.from) next.delete('range')
    for (const [name, value] of Object.entries(parts)) {
      if (value === undefined || value === '') next.delete(name)
      else next.set(name, value)
    }
    const text = next.toString()
    route(text ? `${path}?${text}` : path, replace)
  }
  return { query: query as Query, change }
}

/** Whether a dialog is open, because a button was pressed or the address has `?new=`. */
export const useNew = (name: string): [isOpen: boolean, open: (isOpen: boolean) => void] => {
  const { path, query, route } = useLocation()
  const [isOpen, open] = useState(false)
  const isRequested = query.new === name
  useEffect(() => {
    if (!isRequested) return
    open(true)
    // A reload or a shared link doesn't open it again.
    route(path, true)
  }, [isRequested])
  return [isOpen, open]
}

/** The longest range, in days. */
export const MAX_DAYS = 366

export const isSame = (one: Range, other: Range): boolean => one.from === other.from && one.to === other.to

export const lastDays = (count: number): Range => ({ from: addDays(today(), 1 - count), to: today() })

/** A week is published on the Thursday after it, at noon (UTC). */
const PUBLISHED_AFTER_MS = 10.5 * 86_400_000

/** The last published weeks. */
const lastWeeks = (count: number): Range => {
  const monday = mondayOf(utcDay(Date.now() - PUBLISHED_AFTER_MS))
  return { from: addDays(monday, 7 * (1 - count)), to: addDays(monday, 6) }
}

/** Ranges to the present. @param isWeekly only published weeks are shown */
export const presetsOf = (isWeekly: boolean): [name: string, range: Range][] =>
  isWeekly
    ? [
        ['1 week', lastWeeks(1)],
        ['4 weeks', lastWeeks(4)],
        ['13 weeks', lastWeeks(13)],
        ['Year', lastWeeks(52)],
      ]
    : [
        ['7 days', lastDays(7)],
        ['30 days', lastDays(30)],
        ['90 days', lastDays(90)],
        ['Year', lastDays(365)],
      ]

const firstOfMonth = (year: number, month: number) => utcDay(Date.UTC(year, month))

/** The first day of a month before or after a day's month. */
const monthFrom = (day: string, months: number): string => {
  const [year = 0, month = 0] = day.split('-').map(Number)
  return firstOfMonth(year, month - 1 + months)
}

/** The current and the previous week, month and quarter. */
export const calendarRanges = (): [name: string, range: Range][] => {
  const now = today()
  const monday = mondayOf(now)
  const month = monthFrom(now, 0)
  const quarter = monthFrom(now, -((Number(now.slice(5, 7)) - 1) % 3))
  return [
    ['This week', { from: monday, to: now }],
    ['Last week', { from: addDays(monday, -7), to: addDays(monday, -1) }],
    ['This month', { from: month, to: now }],
    ['Last month', { from: monthFrom(month, -1), to: addDays(month, -1) }],
    ['This quarter', { from: quarter, to: now }],
    ['Last quarter', { from: monthFrom(quarter, -3), to: addDays(quarter, -1) }],
  ]
}

/** Single keys for named ranges. */
export const RANGE_KEYS: Record<string, string> = {
  'This week': 'w',
  'This month': 'm',
  'Last month': 'p',
  'This quarter': 'q',
}

/** How an address names a range relative to the day it's opened, such as `30d` or `this-month`. */
const slugOf = (name: string): string =>
  name
    .toLowerCase()
    .replace(/(\d) (.).*/, '$1$2')
    .replace(' ', '-')

const relativeRanges = (isWeekly: boolean) => [
  ...presetsOf(isWeekly),
  ...presetsOf(!isWeekly),
  ...calendarRanges(),
]

/** A range in words: `Last 30 days`, `This month`, or its days. */
export const titleOf = (range: Range): string => {
  const name = [...presetsOf(true), ...presetsOf(false), ...calendarRanges()].find(([, one]) =>
    isSame(one, range),
  )?.[0]
  if (name === 'Year') return 'Last 12 months'
  return name ? name.replace(/^(?=\d)/, 'Last ') : shortDays(range.from, range.to)
}

/** The page's address, with a relative range if possible. */
export const linkTo = (range: Range, isWeekly: boolean): string => {
  const url = new URL(location.href)
  const name = relativeRanges(isWeekly).find(([, one]) => isSame(one, range))?.[0]
  for (const part of ['from', 'to', 'range']) url.searchParams.delete(part)
  for (const [part, value] of Object.entries(name ? { range: slugOf(name) } : range))
    url.searchParams.set(part, value)
  return url.href
}

/** The number of whole months in a range. A month that ends today counts. 0 for other ranges. */
const monthsOf = ({ from, to }: Range): number => {
  if (from !== monthFrom(from, 0)) return 0
  for (let months = 1; months <= 12; months++) {
    const last = addDays(monthFrom(from, months), -1)
    if (to === last || (to === today() && to < last && to >= monthFrom(from, months - 1))) return months
  }
  return 0
}

/** The range of the same length right before or after. Months stay whole, and so does a week that ends today. */
export const shiftRange = (range: Range, by: 1 | -1): Range => {
  const { from, to } = range
  const months = monthsOf(range)
  const isWeek = weekdayOf(from) === 1 && to === today() && lengthOf(range) < 7
  const length = isWeek ? 7 : lengthOf(range)
  const start = months > 0 ? monthFrom(from, by * months) : addDays(from, by * length)
  const end = addDays(months > 0 ? monthFrom(start, months) : addDays(start, length), -1)
  return { from: start, to: start <= today() && end > today() ? today() : end }
}

/** The nearest date to a text such as `2026-02-31`. Undefined if it isn't a date. */
const nearestDay = (text: string): string | undefined => {
  const parts = /^(\d{4})-(\d{1,2})-(\d{1,2})$/.exec(text)?.slice(1).map(Number)
  if (!parts) return undefined
  const [year = 0, month = 0, day = 0] = parts
  if (year < 1_000) return undefined
  const first = firstOfMonth(year, Math.max(1, Math.min(12, month)) - 1)
  const last = addDays(monthFrom(first, 1), -1)
  return addDays(first, Math.max(1, Math.min(Number(last.slice(8)), day)) - 1)
}

export interface ChosenRange {
  range: Range
  /** Why the address's range can't be shown. `range` is the nearest one that can be. */
  problem?: string
}

/** The address's range. By default the last 30 days, or the last 4 published weeks. */
export const rangeOf = (query: Query, isWeekly = false): ChosenRange => {
  const [from, to] = [query.from || undefined, query.to || undefined]
  const usual = isWeekly ? lastWeeks(4) : lastDays(30)
  if (!from && !to) {
    // Earlier links have `thisw` and `lastw`.
    const slug = query.range?.replace(/^(this|last)w$/, '$1-week')
    const named = relativeRanges(isWeekly).find(([name]) => slugOf(name) === slug)?.[1]
    return { range: named ?? usual, ...(query.range && !named && { problem: 'This range doesn’t exist.' }) }
  }
  const [start, end] = [from && nearestDay(from), to && nearestDay(to)]
  const last = end ?? (start && addDays(start, 29)) ?? usual.to
  const range = { from: start ?? addDays(last, -29), to: last }
  const now = today()
  if ((from ?? start) !== start || (to ?? end) !== end)
    return { range: rangeOf(range).range, problem: 'One of the dates doesn’t exist.' }
  if (range.from > range.to)
    return {
      range: rangeOf({ from: range.to, to: range.from }).range,
      problem: 'The end is before the start.',
    }
  if (lengthOf(range) > MAX_DAYS)
    return {
      range: { from: addDays(range.to, 1 - MAX_DAYS), to: range.to },
      problem: `A range has at most ${MAX_DAYS} days.`,
    }
  // The service returns nothing about the future. A link to a whole month shows the month so far.
  if (range.from > now) return { range: usual, problem: 'These days are in the future.' }
  return { range: range.to > now ? { ...range, to: now } : range }
}

/** After a failed range change, the old range stays selected, because the page still shows its numbers. */
export const selectedRange = (
  chosen: ChosenRange,
  { data, failure }: { data: { range: Range } | undefined; failure: unknown },
): ChosenRange => (failure && data && !chosen.problem ? { range: data.range } : chosen)

/** Says that whole weeks were shown instead of the chosen days. Undefined if they are the same. */
export const widening = (chosen: Range, shown: Range): string | undefined =>
  isSame(chosen, shown)
    ? undefined
    : `You chose ${counted(lengthOf(chosen), 'day')}. This page shows only whole weeks: ${shortDays(shown.from, shown.to)}.`

type Numbers = 'GET /api/team/dashboard' | 'GET /api/team/dashboard/mine'

/**
 * Loads what the numbers of a range are compared with.
 * @param filter what the call asks for, besides a range
 * @returns the numbers of the finished days of the range, and those of the days before; undefined while they load
 */
export const useComparison = <O extends Numbers>(
  operation: O,
  shown: (AnswerOf<O> & { range: Range }) | undefined,
  compare: string | undefined,
  filter: { workspace?: string; member?: string | undefined; repo?: string | undefined },
) => {
  const optionsOf = (range: Range, trends: boolean) =>
    ({
      query: {
        ...filter,
        ...range,
        ...(trends && { trends }),
        ...(operation === 'GET /api/team/dashboard' && { comparison: true }),
      },
    }) as RequestOptions<O>
  // Published weeks have ended, so no day is left out.
  const isPublished = shown !== undefined && 'publication' in shown && shown.publication !== null
  const ranges = shown && comparedRanges(shown.range, compare, isPublished ? '9999-12-31' : today())
  const isWhole = ranges !== undefined && shown !== undefined && isSame(ranges.now, shown.range)
  const finished = useRead(operation, ranges && !isWhole ? optionsOf(ranges.now, false) : undefined)
  // The service widens a range to whole weeks, and accepts no more than a year.
  const baseline =
    ranges && isPublished ? { ...ranges.before, from: addDays(ranges.before.from, 6) } : ranges?.before
  const earlier = useRead(operation, baseline && optionsOf(baseline, true))
  const loaded = (response: ReadState<AnswerOf<O>>) => (ranges && !response.stale ? response.data : undefined)
  return {
    ranges,
    now: isWhole ? shown : loaded(finished),
    before: loaded(earlier),
    response: [finished, earlier],
  }
}
