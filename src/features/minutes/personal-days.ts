/** A person's days in which minutes count in no workspace. A minute has one project, the last that it was given. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { limits } from '../../../schemas/limits.js'
import { HOURS } from '../../platform/time/days.js'
import { sharesOf } from './local-days.js'
import type { LocatedDay, PersonalDay } from './queries/personal-minutes.js'

const MINUTES = 60
const DAY_MINUTES = HOURS * MINUTES

/** The minutes of a UTC day. */
class Day {
  /** Minutes of repositories beyond the limit of a day. */
  leftOut = 0
  private readonly before = new Map<string, PersonalDay>()
  private readonly repos = new Map<string, string>()
  /** How many minutes each repository has that has any. */
  private readonly sizes = new Map<string, number>()
  /** The repository of each minute that has one. */
  private readonly repoKeys: (string | undefined)[] = new Array(DAY_MINUTES).fill(undefined)
  /** Repositories that have got or lost minutes. */
  private readonly touched = new Set<string>()

  constructor(private readonly day: string) {}

  load(row: PersonalDay): void {
    const { repoKey, repo, minutes, marks } = row
    this.before.set(repoKey, row)
    this.repos.set(repoKey, repo)
    if (minutes > 0) this.sizes.set(repoKey, minutes)
    if (marks === null) return
    for (let minute = marks.indexOf('1'); minute !== -1; minute = marks.indexOf('1', minute + 1))
      this.repoKeys[minute] = repoKey
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

  add(minute: number, repo: string): void {
    const repoKey = repo.toLowerCase()
    if (this.repoKeys[minute] === repoKey) return
    const size = this.sizes.get(repoKey) ?? 0
    if (size === 0 && this.sizes.size >= limits.personal_repos_per_day) {
      this.leftOut++
      return
    }
    this.remove(minute)
    this.repoKeys[minute] = repoKey
    this.touched.add(repoKey)
    this.sizes.set(repoKey, size + 1)
    if (!this.repos.has(repoKey)) this.repos.set(repoKey, repo)
  }

  *changed(timezone: string): Generator<ChangedDay> {
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
      const zone = before?.timezone ?? timezone
      const hours = new Array<number>(HOURS).fill(0)
      for (const minute of minutes) {
        const hour = Math.floor(minute / MINUTES)
        hours[hour] = (hours[hour] ?? 0) + 1
      }
      yield {
        ...{ day: this.day, repoKey, repo: this.repos.get(repoKey) ?? repoKey },
        ...{ minutes: minutes.length, marks, timezone: zone },
        ...sharesOf({ day: this.day, timezone: zone, hours }),
        added: minutes.length - (before?.minutes ?? 0),
      }
    }
  }
}

const marksOf = (minutes: readonly number[]): string => {
  const digits = Buffer.alloc(DAY_MINUTES, '0')
  for (const minute of minutes) digits.write('1', minute)
  return digits.toString('latin1')
}

/** A repository's day, and how many minutes more than before it has. */
type ChangedDay = LocatedDay & { added: number }

export class PersonalDays {
  private readonly days = new Map<string, Day>()

  constructor(rows: readonly PersonalDay[]) {
    for (const row of rows) this.at(row.day).load(row)
  }

  /** Minutes of repositories beyond the limit of each day. They don't count. */
  get leftOut(): number {
    let sum = 0
    for (const { leftOut } of this.days.values()) sum += leftOut
    return sum
  }

  /** @param minute of the UTC day, here and below */
  add(day: string, minute: number, repo: string): void {
    this.at(day).add(minute, repo)
  }

  /** The minute counts in a workspace. */
  remove(day: string, minute: number): void {
    this.at(day).remove(minute)
  }

  /** The rows that have changed. Other requests run between days. @param timezone of new rows; a row keeps its first one */
  async changed(timezone: string): Promise<ChangedDay[]> {
    const rows: ChangedDay[] = []
    for (const day of this.days.values()) {
      rows.push(...day.changed(timezone))
      await nextTurn()
    }
    return rows
  }

  private at(day: string): Day {
    const known = this.days.get(day)
    if (known) return known
    const added = new Day(day)
    this.days.set(day, added)
    return added
  }
}
