/** The limits of active minutes: 60 in an hour and 1440 in a day, per member and workspace, over all repositories. */
import { limits } from '../../schemas/limits.js'
import { HOURS } from './days.js'

/** What one member did on one UTC day in one repository. */
export interface RepoMinutes {
  minutes: number
  /** 24 minutes by UTC hour; their sum is at most `minutes`. */
  hours: Uint8Array
}

export type Cut = 'hour_full' | 'day_full'

/**
 * One member's day in one workspace. Entries are added in their order; what exceeds a limit is cut from the hour, the
 * day and the repository alike, so that they always agree.
 *
 * A flush adds hundreds of entries, so this is written with loops over typed arrays.
 */
export class MemberDay {
  /** The repositories that entries were counted for. */
  readonly changed = new Set<string>()
  private total = 0
  private readonly hourTotals = new Uint16Array(HOURS)
  /** Of the entry that is being added. */
  private readonly fitting = new Uint8Array(HOURS)

  /** @param repos by key; becomes the day's own */
  constructor(readonly repos: Map<string, RepoMinutes> = new Map()) {
    for (const counted of repos.values()) this.addToTotals(counted.minutes, counted.hours)
  }

  /** @returns what was full, undefined when the entry counts whole. `hour_full` when both were. */
  add(repoKey: string, minutes: number, hours: Record<string, number> = {}): Cut | undefined {
    const { fitting } = this
    let inHours = 0
    let left = minutes
    for (let hour = 0; hour < HOURS; hour++) {
      const asked = hours[hour] ?? 0
      const fits = Math.min(asked, Math.max(0, limits.minutes_per_hour - (this.hourTotals[hour] ?? 0)))
      fitting[hour] = fits
      inHours += fits
      left -= asked - fits
    }
    const counted = Math.min(left, Math.max(0, limits.minutes_per_day - this.total))
    // Minutes without an hour go first, because they tell least; then the latest.
    for (let hour = HOURS - 1; inHours > counted; hour--) {
      const cut = Math.min(inHours - counted, fitting[hour] ?? 0)
      fitting[hour] = (fitting[hour] ?? 0) - cut
      inHours -= cut
    }
    if (counted > 0) this.count(repoKey, counted, fitting)
    return left < minutes ? 'hour_full' : counted < left ? 'day_full' : undefined
  }

  private count(repoKey: string, minutes: number, hours: Uint8Array) {
    this.addToTotals(minutes, hours)
    this.changed.add(repoKey)
    const known = this.repos.get(repoKey)
    if (!known) {
      this.repos.set(repoKey, { minutes, hours: hours.slice() })
      return
    }
    known.minutes += minutes
    for (let hour = 0; hour < HOURS; hour++) known.hours[hour] = (known.hours[hour] ?? 0) + (hours[hour] ?? 0)
  }

  private addToTotals(minutes: number, hours: Uint8Array) {
    this.total += minutes
    for (let hour = 0; hour < HOURS; hour++) {
      this.hourTotals[hour] = (this.hourTotals[hour] ?? 0) + (hours[hour] ?? 0)
    }
  }
}

/** One member's minutes in one workspace. */
export class MemberMinutes {
  /** Those that entries were added to. */
  readonly days = new Map<string, MemberDay>()

  /** @param before by day and repository; becomes the member's own */
  constructor(private readonly before: ReadonlyMap<string, Map<string, RepoMinutes>>) {}

  on(day: string): MemberDay {
    let known = this.days.get(day)
    if (!known) {
      known = new MemberDay(this.before.get(day))
      this.days.set(day, known)
    }
    return known
  }
}
