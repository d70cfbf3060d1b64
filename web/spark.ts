/**
 * A row's sparkline and its words. Both compare whole weeks: a point covers seven finished days, so neither
 * weekends nor a week that isn't over look like a change.
 */
import { finishedDays, lengthOf, type Range, WEEK } from './comparison.js'
import { addDays, duration, mondayOf, weekdayOf } from './format.js'

/** A smaller change is called steady. */
const CHANGE = 0.1

export interface Spark {
  /** Minutes per week. */
  points: number[]
  /** For screen readers. */
  words: string
}

export const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0)

/** Compares the mean week of the later half with the mean week of the earlier half. */
const wordsOf = (weeks: readonly number[]): string => {
  const half = Math.floor(weeks.length / 2)
  const mean = (part: readonly number[]) => sum(part) / half
  const [before, after] = [mean(weeks.slice(-2 * half, -half)), mean(weeks.slice(-half))]
  const change = after - before
  const word = Math.abs(change) <= before * CHANGE ? 'steady' : change > 0 ? 'rising' : 'falling'
  return `${word}: from ${duration(Math.round(before))} to ${duration(Math.round(after))} a week`
}

/**
 * @param trend the minutes of each day of the range, or of each ISO week with days in it
 * @param today the first day that isn't over
 * @returns undefined if the range has fewer than two finished weeks
 */
export const sparkOf = (trend: readonly number[], range: Range, today: string): Spark | undefined => {
  const over = finishedDays(range, today)
  if (!over) return undefined
  const { from, to } = over
  const finished = lengthOf(over)
  const isByDay = trend.length === lengthOf(range)
  const weeks = isByDay
    ? Array.from({ length: Math.floor(finished / WEEK) }, (_, index) => {
        // Counted back from the last finished day.
        const end = finished - WEEK * index
        return sum(trend.slice(end - WEEK, end))
      }).reverse()
    : trend.filter((_, index) => {
        const monday = addDays(mondayOf(from), WEEK * index)
        return monday >= from && addDays(monday, WEEK - 1) <= to
      })
  if (weeks.length < 2) return undefined
  const points = isByDay
    ? Array.from({ length: finished - WEEK + 1 }, (_, index) => sum(trend.slice(index, index + WEEK)))
    : weeks
  return { points, words: wordsOf(weeks) }
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
