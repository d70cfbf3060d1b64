import { addDays, listDays, weekdayOf } from '../src/platform/time/days.js'

/** The days of each number of a trend: the model. */
export const stepsOf = (from: string, to: string): string[][] => {
  const days = listDays(from, to)
  if (days.length <= 31) return days.map((day) => [day])
  const weeks = new Map<string, string[]>()
  for (const day of days) {
    const monday = addDays(day, 1 - weekdayOf(day))
    weeks.set(monday, [...(weeks.get(monday) ?? []), day])
  }
  return [...weeks.values()]
}
