/**
 * A row's sparkline. A point covers seven finished days, so neither weekends nor a week that isn't over look like a
 * change. The days that the range is compared with come first, so the line shows the change that the figure names.
 */
import { type Both, finishedDays, lengthOf, type Range, WEEK } from './comparison.js'
import { addDays, duration, mondayOf, weekdayOf } from './format.js'

export interface Spark {
  /** Minutes per week, in the compared range and in this one. */
  before: number[]
  points: number[]
}

/** A range, with the minutes of each of its days, or of each ISO week with days in it. */
interface Row {
  range: Range
  trend: readonly number[]
}

export const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0)

/** Minutes per week. @param over the finished days of the range */
const pointsOf = ({ range, trend }: Row, over: Range): number[] =>
  trend.length === lengthOf(range)
    ? Array.from({ length: Math.max(0, lengthOf(over) - WEEK + 1) }, (_, index) =>
        sum(trend.slice(index, index + WEEK)),
      )
    : trend.filter((_, index) => {
        const monday = addDays(mondayOf(over.from), WEEK * index)
        return monday >= over.from && addDays(monday, WEEK - 1) <= over.to
      })

/**
 * @param today the first day that isn't over
 * @param earlier the row in the compared range
 * @returns undefined if the range has fewer than two finished weeks
 */
export const sparkOf = (row: Row, today: string, earlier?: Row): Spark | undefined => {
  const over = finishedDays(row.range, today)
  const points = over ? pointsOf(row, over) : []
  if (!over || lengthOf(over) < 2 * WEEK || points.length < 2) return undefined
  return { points, before: earlier ? pointsOf(earlier, earlier.range) : [] }
}

/** Both numbers of a change, such as `from 9 h to 8 h a week`. @param days how many each covers */
export const weeklyText = ({ now, before }: Both, days: number): string => {
  const weekly = (minutes: number) => duration(Math.round((minutes * WEEK) / days))
  return `from ${weekly(before)} to ${weekly(now)} a week`
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
