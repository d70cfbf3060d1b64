/**
 * Changes since the previous range: repositories and days whose active time stands out. The rules are explained on the
 * page, and no rule looks at people.
 */
import { bothOf, lengthOf, type Range, WEEK } from './comparison.js'
import { duration, percent, weekdayOf } from './format.js'

/** One and a half times as much, or the inverse. */
const FACTOR = 1.5
/** Smaller differences are noise. */
const MIN_MINUTES = 300
const MAX_STANDOUTS = 4
const MAX_DAYS = 2
/** With fewer days on the same weekday, there's no usual value. */
const MIN_SAME_WEEKDAYS = 3

/** The compared parts of a dashboard. Its days are over, and it has the same weekdays as the other one. */
export interface ComparedDashboard {
  range: Range
  daily: { day: string; active_minutes: number | null }[]
  repos: { repo: string | null; active_minutes: number | null }[]
  publication: unknown
}

export interface Standout {
  kind: 'repo' | 'day'
  /** The repository, or the day. */
  name: string
  /** Minutes: for a repository, in an average week; for a day, on that day. */
  now: number
  before: number
}

/** In a shorter range, weekdays occur once or never. */
export const isTooShort = (range: Range | undefined): boolean => !range || lengthOf(range) < WEEK

const isStanding = (now: number, before: number): boolean => now >= before * FACTOR || now * FACTOR <= before

const difference = ({ now, before }: Standout): number => Math.abs(now - before)

const largestFirst = (all: Standout[]): Standout[] =>
  all.sort((a, b) => difference(b) - difference(a) || (a.name < b.name ? -1 : 1))

const reposOf = (now: ComparedDashboard, before: ComparedDashboard): Standout[] => {
  const weeks = lengthOf(now.range) / WEEK
  return [...bothOf('repos', { now, before })].flatMap(([name, sum]): Standout[] =>
    Math.abs(sum.now - sum.before) >= MIN_MINUTES && isStanding(sum.now, sum.before)
      ? [{ kind: 'repo', name, now: Math.round(sum.now / weeks), before: Math.round(sum.before / weeks) }]
      : [],
  )
}

const median = (values: number[]): number => {
  const sorted = values.sort((a, b) => a - b)
  const middle = sorted.length / 2
  return ((sorted[Math.ceil(middle) - 1] ?? 0) + (sorted[Math.floor(middle)] ?? 0)) / 2
}

/**
 * Working days with more time than usual. Weekends aren't news, nor are days with less, which are mostly public
 * holidays.
 */
const daysOf = (now: ComparedDashboard, before: ComparedDashboard): Standout[] => {
  const byWeekday: { day: string; minutes: number }[][] = Array.from({ length: WEEK + 1 }, () => [])
  for (const { day, active_minutes } of [...before.daily, ...now.daily])
    if (active_minutes !== null) byWeekday[weekdayOf(day)]?.push({ day, minutes: active_minutes })
  const busiest = Math.max(...byWeekday.map((all) => median(all.map(({ minutes }) => minutes))))
  return now.daily.flatMap(({ day, active_minutes: minutes }): Standout[] => {
    const others = (byWeekday[weekdayOf(day)] ?? []).flatMap((other) =>
      other.day === day ? [] : other.minutes,
    )
    if (minutes === null || others.length < MIN_SAME_WEEKDAYS) return []
    const usual = Math.round(median(others))
    return 2 * usual > busiest && minutes - usual >= MIN_MINUTES && isStanding(minutes, usual)
      ? [{ kind: 'day', name: day, now: minutes, before: usual }]
      : []
  })
}

/** The largest differences between a range and the one it is compared with: repositories first. */
export const standoutsOf = (now: ComparedDashboard, before: ComparedDashboard): Standout[] => {
  if (isTooShort(now.range)) return []
  const repos = largestFirst(reposOf(now, before))
  const days = largestFirst(daysOf(now, before))
  const shown = repos.slice(0, MAX_STANDOUTS - Math.min(MAX_DAYS, days.length))
  return [...shown, ...days.slice(0, MAX_STANDOUTS - shown.length)]
}

/** From here on, only hours are shown, because minutes say nothing. */
const HOURS_FROM = 600

const both = (before: number, now: number): string =>
  Math.min(before, now) < HOURS_FROM
    ? `from ${duration(before)} to ${duration(now)}`
    : `from ${Math.round(before / 60)} to ${Math.round(now / 60)} h`

/** The rest of a sentence after the name. It has both numbers, so that readers can judge the difference. */
export const wordsOf = ({ kind, now, before }: Standout): string => {
  if (kind === 'day') return `was busier than usual: ${duration(now)}, usually ${duration(before)}`
  if (before === 0) return `started: ${duration(now)} a week, none before`
  if (now === 0) return `stopped: none, ${duration(before)} a week before`
  const word =
    now > 2 * before
      ? 'more than doubled'
      : now > before
        ? `grew by ${percent(now / before - 1)}`
        : 2 * now < before
          ? 'fell by more than half'
          : `fell by ${percent(1 - now / before)}`
  return `${word}: ${both(before, now)} a week`
}
