/**
 * The page compares finished days with the same number of finished days on the same weekdays, whole weeks earlier.
 * Otherwise a month with more weekends, or a day that isn't over, would look like a change.
 */
import { addDays, counted, daysBetween } from './format.js'

export type Range = { from: string; to: string }

export const WEEK = 7
/** 364 days, so that weekdays match. */
const YEAR = 52 * WEEK

export const lengthOf = ({ from, to }: Range): number => daysBetween(from, to) + 1

/** A range's finished days. Undefined if there are none. @param today the first day that isn't over */
export const finishedDays = ({ from, to }: Range, today: string): Range | undefined => {
  if (from >= today) return undefined
  return { from, to: to < today ? to : addDays(today, -1) }
}

/** The ranges that a range can be compared with. */
export const comparisons = [
  ['', 'Range before'],
  ['year', '52 weeks earlier'],
  ['none', 'Nothing'],
] as const

/**
 * A range's days to compare, and the days to compare them with.
 * @param compare one of `comparisons`
 * @returns undefined if nothing is compared
 */
export const comparedRanges = (
  range: Range,
  compare: string | undefined,
  today: string,
): { now: Range; before: Range } | undefined => {
  const finished = finishedDays(range, today)
  if (!finished || compare === 'none') return undefined
  // Whole weeks that end today compare as many finished days.
  const isOneShort = range.to === today && lengthOf(range) % WEEK === 0
  const now = isOneShort ? { ...finished, from: addDays(finished.from, -1) } : finished
  // A year is longer than 52 weeks, so no day is compared with itself.
  const back = Math.max(compare === 'year' ? YEAR : 0, WEEK * Math.ceil(lengthOf(now) / WEEK))
  return { now, before: { from: addDays(now.from, -back), to: addDays(now.to, -back) } }
}

/** How far back the compared days are: `4 weeks before`. */
export const distanceOf = ({ now, before }: { now: Range; before: Range }): string =>
  `${counted(daysBetween(before.from, now.from) / WEEK, 'week')} before`

/** A person or a repository. The row of all others has the name `null`. */
export interface Named {
  login?: string | null
  repo?: string | null
  active_minutes: number | null
  trend?: number[]
}

export const nameOf = ({ login, repo }: Named): string | null => login ?? repo ?? null

export type Both = { now: number; before: number }

type Answer = { range: Range; members?: readonly Named[]; repos: readonly Named[]; publication: unknown }

/** The minutes by name, and those of a name without a row: null if they may be in the row of all others, or hidden. */
const minutesOf = ({ publication, ...lists }: Answer, list: 'members' | 'repos') => {
  const minutes = new Map(lists[list]?.map((row) => [nameOf(row), row.active_minutes]))
  const other = publication === null && !minutes.has(null) ? 0 : null
  return { minutes, read: (name: string) => minutes.get(name) ?? (minutes.has(name) ? null : other) }
}

/** The responses about the finished days of a range, and about the days that they are compared with. */
export interface Compared {
  now: Answer | undefined
  before: Answer | undefined
}

/** The minutes in two responses by name, where both are known. */
export const bothOf = (list: 'members' | 'repos', { now, before }: Compared): Map<string, Both> => {
  const both = new Map<string, Both>()
  if (!now || !before) return both
  const [late, early] = [minutesOf(now, list), minutesOf(before, list)]
  for (const name of [...late.minutes.keys(), ...early.minutes.keys()]) {
    const [sum, sumBefore] = name === null ? [null, null] : [late.read(name), early.read(name)]
    if (name !== null && sum !== null && sumBefore !== null) both.set(name, { now: sum, before: sumBefore })
  }
  return both
}

/** The change as a share. Infinite if there was nothing before. */
export const shareOf = ({ now, before }: Both): number => (now === before ? 0 : now / before - 1)
