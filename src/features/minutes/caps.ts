/** Caps active minutes per member and workspace at 60 an hour and 1440 a day, across all repositories. */
import { limits } from '../../../schemas/limits.js'
import { HOURS } from '../../platform/time/days.js'

/** Minutes in one repository, or in all of them on a day. */
export interface Minutes {
  minutes: number
  /** 24 minutes by UTC hour; their sum is at most `minutes`. */
  hours: number[]
}

export type Cut = 'hour_full' | 'day_full'

export const noMinutes = (): Minutes => ({ minutes: 0, hours: new Array(HOURS).fill(0) })

/** Changes `sum`. */
export const addTo = (sum: Minutes, minutes: number, hours: number[]): void => {
  sum.minutes += minutes
  for (let hour = 0; hour < HOURS; hour++) sum.hours[hour] = (sum.hours[hour] ?? 0) + (hours[hour] ?? 0)
}

/**
 * One member's day in one workspace. Entries are added in order. Minutes above a limit are cut from the hour, the day
 * and the repository alike, so that the three always agree.
 */
export class MemberDay {
  /** The minutes added, by repository. */
  readonly added = new Map<string, Minutes>()

  /**
   * @param total the member's minutes of the day so far, in all repositories; `add` changes it
   * @param timezones the time zones of repositories with minutes; undefined if they weren't read
   */
  constructor(
    private readonly total = noMinutes(),
    readonly timezones: ReadonlyMap<string, string | null> | undefined = new Map(),
  ) {}

  /** Adds what fits. @returns the cap that cut the entry, `hour_full` if both did, and undefined if it counts in full */
  add(repoKey: string, minutes: number, hours: Record<string, number> = {}): Cut | undefined {
    const fitting: number[] = []
    let inHours = 0
    let left = minutes
    for (let hour = 0; hour < HOURS; hour++) {
      const requested = hours[hour] ?? 0
      const fits = Math.min(requested, Math.max(0, limits.minutes_per_hour - (this.total.hours[hour] ?? 0)))
      fitting.push(fits)
      inHours += fits
      left -= requested - fits
    }
    const counted = Math.min(left, Math.max(0, limits.minutes_per_day - this.total.minutes))
    // Minutes without an hour are cut first, because they're the least specific. Then the latest hours are cut.
    for (let hour = HOURS - 1; inHours > counted; hour--) {
      const cut = Math.min(inHours - counted, fitting[hour] ?? 0)
      fitting[hour] = (fitting[hour] ?? 0) - cut
      inHours -= cut
    }
    if (counted > 0) {
      const repo = this.added.get(repoKey) ?? noMinutes()
      this.added.set(repoKey, repo)
      addTo(repo, counted, fitting)
      addTo(this.total, counted, fitting)
    }
    return left < minutes ? 'hour_full' : counted < left ? 'day_full' : undefined
  }
}
