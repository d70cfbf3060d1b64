/**
 * What is different from before: repositories and days whose active time stands out. The rules are explained on the page,
 * and no rule looks at people.
 */
import { daysBetween, weekdayOf } from './format.js'

const WEEK = 7
/** Half as much again, or its reverse. */
const FACTOR = 1.5
/** A smaller difference is chance. */
const MIN_MINUTES = 300
const MOST = 4
const MOST_DAYS = 2
/** Fewer days with the same weekday don't show what is usual. */
const MIN_SAME_WEEKDAYS = 3

/** The parts of a dashboard that are compared. */
export interface Numbers {
  range: { from: string; to: string }
  daily: { day: string; active_minutes: number | null }[]
  repos: { repo: string | null; active_minutes: number | null }[]
  publication: unknown
}

export interface Standout {
  kind: 'repo' | 'day'
  /** The repository, or the day. */
  name: string
  /** Minutes: of a repository in a mean week, of a day in the day. */
  now: number
  before: number
}

const isStanding = (now: number, before: number): boolean => now >= before * FACTOR || now * FACTOR <= before

const difference = ({ now, before }: Standout): number => Math.abs(now - before)

const largestFirst = (all: Standout[]): Standout[] =>
  all.sort((a, b) => difference(b) - difference(a) || (a.name < b.name ? -1 : 1))

const lengthOf = ({ range }: Numbers): number => daysBetween(range.from, range.to) + 1

/** The minutes of a repository. undefined if a row of all others, or too few people, may hide them. */
const minutesIn = ({ repos, publication }: Numbers): ((repo: string) => number | null | undefined) => {
  const minutes = new Map(repos.map(({ repo, active_minutes }) => [repo, active_minutes]))
  const isWhole = publication === null && !minutes.has(null)
  return (repo) => (minutes.has(repo) ? minutes.get(repo) : isWhole ? 0 : undefined)
}

const reposOf = (now: Numbers, before: Numbers, today: string): Standout[] => {
  // A day that isn't over adds its minutes, but no length.
  const length = Math.min(lengthOf(now), daysBetween(now.range.from, today))
  if (length < WEEK - 1 || lengthOf(now) < WEEK || lengthOf(before) < WEEK) return []
  const [minutesNow, minutesBefore] = [minutesIn(now), minutesIn(before)]
  const all = new Set([...now.repos, ...before.repos].flatMap(({ repo }) => repo ?? []))
  return [...all].flatMap((name): Standout[] => {
    const [sum, sumBefore] = [minutesNow(name), minutesBefore(name)]
    if (sum == null || sumBefore == null) return []
    const [perDay, perDayBefore] = [sum / length, sumBefore / lengthOf(before)]
    const isLarge = Math.abs(perDay - perDayBefore) * length >= MIN_MINUTES
    return isLarge && isStanding(perDay, perDayBefore)
      ? [
          {
            kind: 'repo',
            name,
            now: Math.round(perDay * WEEK),
            before: Math.round(perDayBefore * WEEK),
          },
        ]
      : []
  })
}

const median = (values: number[]): number => {
  const sorted = values.sort((a, b) => a - b)
  const middle = sorted.length / 2
  return ((sorted[Math.ceil(middle) - 1] ?? 0) + (sorted[Math.floor(middle)] ?? 0)) / 2
}

const daysOf = (now: Numbers, before: Numbers, today: string): Standout[] => {
  const known = new Map(
    [...before.daily, ...now.daily].flatMap(({ day, active_minutes }) =>
      active_minutes === null || day >= today ? [] : [[day, active_minutes] as const],
    ),
  )
  const byWeekday: [day: string, minutes: number][][] = Array.from({ length: WEEK + 1 }, () => [])
  for (const [day, minutes] of known) byWeekday[weekdayOf(day)]?.push([day, minutes])
  return now.daily.flatMap(({ day }): Standout[] => {
    const minutes = known.get(day)
    if (minutes === undefined) return []
    const others = (byWeekday[weekdayOf(day)] ?? []).flatMap(([other, value]) =>
      other === day ? [] : [value],
    )
    if (others.length < MIN_SAME_WEEKDAYS) return []
    const usual = Math.round(median(others))
    return Math.abs(minutes - usual) >= MIN_MINUTES && isStanding(minutes, usual)
      ? [{ kind: 'day', name: day, now: minutes, before: usual }]
      : []
  })
}

/** The largest differences between a range and the one it is compared with: repositories first. @param today the first day that isn't over */
export const standoutsOf = (now: Numbers, before: Numbers, today: string): Standout[] => {
  const repos = largestFirst(reposOf(now, before, today))
  const days = largestFirst(daysOf(now, before, today))
  const shown = repos.slice(0, MOST - Math.min(MOST_DAYS, days.length))
  return [...shown, ...days.slice(0, MOST - shown.length)]
}
