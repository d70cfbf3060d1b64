/** A person's days in which minutes count in no workspace. A minute has one project, the last that it was given. */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { limits } from '../../../schemas/limits.js'
import { groupBy } from '../../platform/process/maps.js'
import { HOURS } from '../../platform/time/days.js'
import { sumOfShares } from './local-days.js'
import type { AssignedDay, PersonalDay } from './queries/personal-minutes.js'

const MINUTES = 60
const DAY_MINUTES = HOURS * MINUTES

/** The minutes of a UTC day. */
class Day {
  /** Minutes in repositories beyond the daily limit. */
  leftOut = 0
  private readonly before = new Map<string, PersonalDay>()
  private readonly repos = new Map<string, string>()
  /** The number of minutes of each repository that has any. */
  private readonly sizes = new Map<string, number>()
  /** The repository of each minute that has one. */
  private readonly repoKeys: (string | undefined)[] = new Array(DAY_MINUTES).fill(undefined)
  /** The time zone in which each of those minutes arrived. */
  private readonly zones: string[] = new Array(DAY_MINUTES)
  /** Repositories that have got or lost minutes. */
  private readonly touched = new Set<string>()

  constructor(
    private readonly day: string,
    private readonly timezone: string,
  ) {}

  load(row: PersonalDay): void {
    const { repoKey, repo, minutes, marks, timezone, otherZones } = row
    this.before.set(repoKey, row)
    this.repos.set(repoKey, repo)
    if (minutes > 0) this.sizes.set(repoKey, minutes)
    if (marks === null) return
    for (const minute of minutesIn(marks)) {
      this.repoKeys[minute] = repoKey
      this.zones[minute] = timezone ?? this.timezone
    }
    for (const [zone, own] of Object.entries(otherZones ?? {}))
      for (const minute of minutesIn(own)) this.zones[minute] = zone
  }

  remove(minute: number): void {
    const repoKey = this.repoKeys[minute]
    if (repoKey === undefined) return
    this.repoKeys[minute] = undefined
    this.touched.add(repoKey)
    const size = (this.sizes.get(repoKey) ?? 0) - 1
    if (size > 0) this.sizes.set(repoKey, size)
    else this.sizes.delete(repoKey)
  }

  add(minute: number, repo: string, project: string): void {
    const repoKey = repo.toLowerCase()
    const before = this.repoKeys[minute]
    if (before === repoKey) return
    const size = this.sizes.get(repoKey) ?? 0
    if (size === 0 && this.sizes.size >= limits.personal_repos_per_day) {
      this.leftOut++
      return
    }
    const isAssigned = before === project.toLowerCase()
    if (before === undefined || isAssigned) this.zones[minute] = this.timezone
    this.remove(minute)
    this.repoKeys[minute] = repoKey
    this.touched.add(repoKey)
    this.sizes.set(repoKey, size + 1)
    if (!this.repos.has(repoKey)) this.repos.set(repoKey, repo)
  }

  *changed(): Generator<ChangedDay> {
    const minutesOf = new Map(Array.from(this.touched, (repoKey) => [repoKey, [] as number[]]))
    this.repoKeys.forEach((repoKey, minute) => {
      if (repoKey !== undefined) minutesOf.get(repoKey)?.push(minute)
    })
    for (const [repoKey, minutes] of minutesOf) {
      const before = this.before.get(repoKey)
      // Without marks, it isn't known whether these minutes are among the earlier ones.
      const isKept = before?.marks === null && minutes.length <= before.minutes
      const marks = marksOf(minutes)
      if (isKept || marks === before?.marks || (minutes.length === 0 && !before)) continue
      const ofZones = groupBy(minutes, (minute) => this.zones[minute] ?? this.timezone)
      const [timezone = this.timezone, ...others] = ofZones.keys()
      const hours = Array.from(ofZones, ([timezone, own]) => ({
        day: this.day,
        timezone,
        hours: hoursOf(own),
      }))
      yield {
        ...{ day: this.day, repoKey, repo: this.repos.get(repoKey) ?? repoKey },
        ...{ minutes: minutes.length, marks, timezone },
        otherZones:
          others.length > 0
            ? Object.fromEntries(others.map((zone) => [zone, marksOf(ofZones.get(zone) ?? [])]))
            : null,
        ...sumOfShares(hours),
        added: minutes.length - (before?.minutes ?? 0),
      }
    }
  }
}

const minutesIn = function* (marks: string): Generator<number> {
  for (let minute = marks.indexOf('1'); minute !== -1; minute = marks.indexOf('1', minute + 1)) yield minute
}

const hoursOf = (minutes: readonly number[]): number[] => {
  const hours = new Array<number>(HOURS).fill(0)
  for (const minute of minutes) {
    const hour = Math.floor(minute / MINUTES)
    hours[hour] = (hours[hour] ?? 0) + 1
  }
  return hours
}

const marksOf = (minutes: readonly number[]): string => {
  const digits = Buffer.alloc(DAY_MINUTES, '0')
  for (const minute of minutes) digits.write('1', minute)
  return digits.toString('latin1')
}

/** A repository's day, and how many minutes more than before it has. */
type ChangedDay = AssignedDay & { added: number }

export class PersonalDays {
  private readonly days = new Map<string, Day>()

  /** @param timezone of new minutes */
  constructor(
    rows: readonly PersonalDay[],
    private readonly timezone: string,
  ) {
    for (const row of rows) this.at(row.day).load(row)
  }

  /** Minutes in repositories beyond the daily limit, which don't count. */
  get leftOut(): number {
    let sum = 0
    for (const { leftOut } of this.days.values()) sum += leftOut
    return sum
  }

  /**
   * A minute that moves to another repository keeps its time zone. Minutes of a project name get a new one with their
   * repository.
   * @param minute of the UTC day
   * @param project as heartbeats name it: the repository, or a name that is assigned to it
   */
  add(day: string, minute: number, repo: string, project: string): void {
    this.at(day).add(minute, repo, project)
  }

  /** Removes a minute that now counts in a workspace. */
  remove(day: string, minute: number): void {
    this.at(day).remove(minute)
  }

  /** The rows that have changed. Other requests run between days. */
  async changed(): Promise<ChangedDay[]> {
    const rows: ChangedDay[] = []
    for (const day of this.days.values()) {
      rows.push(...day.changed())
      await yieldToEventLoop()
    }
    return rows
  }

  private at(day: string): Day {
    const known = this.days.get(day)
    if (known) return known
    const added = new Day(day, this.timezone)
    this.days.set(day, added)
    return added
  }
}
