/** A person's days in which minutes count in no workspace. A minute has one project, the last that it was given. */
import { HOURS } from '../../platform/time/days.js'
import { sharesOf } from './local-days.js'
import type { LocatedDay, PersonalDay } from './queries/personal-minutes.js'

const MINUTES = 60
const DAY_MINUTES = HOURS * MINUTES

/** The minutes of a UTC day. */
class Day {
  private readonly before = new Map<string, PersonalDay>()
  private readonly repos = new Map<string, string>()
  /** The repository of each minute that has one. */
  private readonly repoKeys: (string | undefined)[] = new Array(DAY_MINUTES).fill(undefined)

  constructor(private readonly day: string) {}

  load(row: PersonalDay): void {
    this.before.set(row.repoKey, row)
    this.repos.set(row.repoKey, row.repo)
    const { marks } = row
    if (marks === null) return
    for (let minute = marks.indexOf('1'); minute !== -1; minute = marks.indexOf('1', minute + 1))
      this.repoKeys[minute] = row.repoKey
  }

  /** @param repo undefined: the minute counts in a workspace, or for no one */
  set(minute: number, repo: string | undefined): void {
    const repoKey = repo?.toLowerCase()
    if (repo !== undefined && repoKey !== undefined && !this.repos.has(repoKey)) this.repos.set(repoKey, repo)
    this.repoKeys[minute] = repoKey
  }

  *changed(timezone: string): Generator<LocatedDay & { added: number }> {
    for (const [repoKey, repo] of this.repos) {
      const marks = Array.from(this.repoKeys, (own) => (own === repoKey ? '1' : '0')).join('')
      const before = this.before.get(repoKey)
      const minutes = this.repoKeys.filter((own) => own === repoKey).length
      // Without marks, it isn't known whether these minutes are among the earlier ones.
      const isKept = before?.marks === null && minutes <= before.minutes
      if (isKept || marks === before?.marks || (minutes === 0 && !before)) continue
      const zone = before?.timezone ?? timezone
      const hours = Array.from(
        { length: HOURS },
        (_, hour) =>
          this.repoKeys.slice(hour * MINUTES, (hour + 1) * MINUTES).filter((own) => own === repoKey).length,
      )
      const shares = sharesOf({ day: this.day, timezone: zone, hours })
      const added = minutes - (before?.minutes ?? 0)
      yield { day: this.day, repoKey, repo, minutes, marks, timezone: zone, ...shares, added }
    }
  }
}

export class PersonalDays {
  private readonly days = new Map<string, Day>()

  constructor(rows: readonly PersonalDay[]) {
    for (const row of rows) this.at(row.day).load(row)
  }

  /** @param minute of the UTC day */
  set(day: string, minute: number, repo: string | undefined): void {
    this.at(day).set(minute, repo)
  }

  /** The rows to write. @param timezone of new rows; a row keeps its first one */
  changed(timezone: string): (LocatedDay & { added: number })[] {
    return [...this.days.values()].flatMap((day) => [...day.changed(timezone)])
  }

  private at(day: string): Day {
    const known = this.days.get(day)
    if (known) return known
    const added = new Day(day)
    this.days.set(day, added)
    return added
  }
}
