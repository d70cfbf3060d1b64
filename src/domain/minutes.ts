/** The limits of active minutes: 60 in an hour and 1440 in a day, per member and workspace, over all repositories. */
import { limits } from '../../schemas/limits.js'

const HOURS = 24

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
 */
export class MemberDay {
  private total = 0
  private readonly hourTotals = new Array<number>(HOURS).fill(0)

  constructor(readonly repos: Map<string, RepoMinutes> = new Map()) {
    for (const { minutes, hours } of repos.values()) {
      this.total += minutes
      hours.forEach((value, hour) => {
        this.hourTotals[hour] = (this.hourTotals[hour] ?? 0) + value
      })
    }
  }

  /** @returns what was full, undefined when the entry counts whole. `hour_full` when both were. */
  add(repoKey: string, minutes: number, hours: Record<string, number> = {}): Cut | undefined {
    const inHours = new Array<number>(HOURS).fill(0)
    let left = minutes
    for (const [hour, asked] of Object.entries(hours)) {
      const room = Math.max(0, limits.minutes_per_hour - (this.hourTotals[Number(hour)] ?? 0))
      inHours[Number(hour)] = Math.min(asked, room)
      left -= Math.max(0, asked - room)
    }
    const hourCut = left < minutes
    const fitting = Math.min(left, Math.max(0, limits.minutes_per_day - this.total))
    // Minutes without an hour go first, because they tell least; then the latest.
    let excess = inHours.reduce((sum, value) => sum + value, 0) - fitting
    for (let hour = HOURS - 1; excess > 0; hour--) {
      const cut = Math.min(excess, inHours[hour] ?? 0)
      inHours[hour] = (inHours[hour] ?? 0) - cut
      excess -= cut
    }
    if (fitting > 0) this.count(repoKey, fitting, inHours)
    return hourCut ? 'hour_full' : fitting < left ? 'day_full' : undefined
  }

  private count(repoKey: string, minutes: number, inHours: number[]) {
    const known = this.repos.get(repoKey)
    const hours = Uint8Array.from(inHours, (value, hour) => value + (known?.hours[hour] ?? 0))
    this.repos.set(repoKey, { minutes: minutes + (known?.minutes ?? 0), hours })
    this.total += minutes
    inHours.forEach((value, hour) => {
      this.hourTotals[hour] = (this.hourTotals[hour] ?? 0) + value
    })
  }
}
