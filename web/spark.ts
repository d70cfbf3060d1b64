/**
 * A row's sparkline and its words. A point of the line covers seven finished days, so neither weekends nor a week that
 * isn't over look like a change. The words compare as the figures, the chart and “What changed” do.
 */
import { type Both, finishedDays, lengthOf, type Range, WEEK } from './comparison.js'
import { addDays, duration, mondayOf, weekdayOf } from './format.js'

/** A smaller change is called steady. */
const CHANGE = 0.1

export interface Spark {
  /** Minutes per week. */
  points: number[]
  /** How the row changed since the days before. Empty if it isn't compared. */
  word: string
  /** The word with the numbers, for screen readers. */
  words: string
}

export const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0)

/**
 * @param trend the minutes of each day of the range, or of each ISO week with days in it
 * @param today the first day that isn't over
 * @param both the minutes of the finished days and of the days that they are compared with
 * @returns undefined if the range has fewer than two finished weeks
 */
export const sparkOf = (
  trend: readonly number[],
  range: Range,
  today: string,
  both?: Both,
): Spark | undefined => {
  const over = finishedDays(range, today)
  if (!over) return undefined
  const finished = lengthOf(over)
  const points =
    trend.length === lengthOf(range)
      ? Array.from({ length: Math.max(0, finished - WEEK + 1) }, (_, index) =>
          sum(trend.slice(index, index + WEEK)),
        )
      : trend.filter((_, index) => {
          const monday = addDays(mondayOf(over.from), WEEK * index)
          return monday >= over.from && addDays(monday, WEEK - 1) <= over.to
        })
  if (finished < 2 * WEEK || points.length < 2) return undefined
  const [least, most] = [Math.min(...points), Math.max(...points)]
  if (!both) return { points, word: '', words: `between ${duration(least)} and ${duration(most)} a week` }
  const weekly = (minutes: number) => duration(Math.round((minutes * WEEK) / finished))
  const { now, before } = both
  const word = Math.abs(now - before) <= before * CHANGE ? 'steady' : now > before ? 'rising' : 'falling'
  return { points, word, words: `${word}: from ${weekly(before)} to ${weekly(now)} a week` }
}

/** How often each weekday occurs in a range, Monday first. */
export const weekdayCounts = (range: Range): number[] => {
  const days = lengthOf(range)
  const first = weekdayOf(range.from) - 1
  return Array.from({ length: WEEK }, (_, index) => {
    const offset = (index - first + WEEK) % WEEK
    return offset < days ? Math.floor((days - 1 - offset) / WEEK) + 1 : 0
  })
}
