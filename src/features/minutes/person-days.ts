/**
 * A person's local days in each place where their minutes count: in workspaces, and in their own time. They're read
 * under the person's lock, changed in memory, and written as they will be.
 */
import { limits } from '../../../schemas/limits.js'
import type { Db } from '../../platform/database/client.js'
import { groupBy } from '../../platform/process/maps.js'
import { HOURS } from '../../platform/time/days.js'
import { readOwnDays, writeOwnDays } from '../own-time/index.js'
import { addTo, type Cut, capMinutes, type Minutes, noMinutes } from './caps.js'
import { readDays, type WrittenDay, writeDays } from './queries/minutes.js'

/** Stands for the person's own time where other places are workspaces' ids. */
export const OWN_TIME = 'own time'

/** A repository, or a project name that isn't one. */
export interface Repo {
  /** In lower case. */
  key: string
  /** As given. */
  name: string
}

/** Why minutes don't count, or not all of them. */
export type Refusal = Cut | 'too_many_repos'

interface Row extends Minutes {
  repo: string
  isNew: boolean
  isChanged: boolean
}

/** A person's local day in one place. */
export class PersonDay {
  private readonly total = noMinutes()
  private readonly rows = new Map<string, Row>()
  private repos = 0

  load(
    repoKey: string,
    repo: string,
    { minutes, hours }: { minutes: number; hours: readonly number[] | null },
  ) {
    const row = {
      repo,
      minutes,
      hours: hours ? [...hours] : noMinutes().hours,
      isNew: false,
      isChanged: false,
    }
    this.rows.set(repoKey, row)
    addTo(this.total, row.minutes, row.hours)
    this.repos++
  }

  /** Adds as many minutes as fit. @param maxRepos how many repositories the day may have */
  add(
    { key, name }: Repo,
    { minutes, hours }: Minutes,
    maxRepos: number,
  ): { counted: number; refusal: Refusal } {
    const known = this.rows.get(key)
    if (!known?.minutes && this.repos >= maxRepos) return { counted: 0, refusal: 'too_many_repos' }
    const { counted, cut } = capMinutes(this.total, minutes, hours)
    if (counted.minutes > 0) {
      const row = known ?? { ...noMinutes(), repo: name, isNew: true, isChanged: true }
      if (row.minutes === 0) this.repos++
      this.rows.set(key, row)
      this.change(row, counted.minutes, counted.hours)
    }
    return { counted: counted.minutes, refusal: cut }
  }

  /** Takes minutes of an hour away, as many as the repository has there. @returns how many */
  take(repoKey: string, hour: number, minutes: number): number {
    const row = this.rows.get(repoKey)
    const taken = Math.min(minutes, row?.hours[hour] ?? 0)
    if (!row || taken === 0) return 0
    const hours = noMinutes().hours
    hours[hour] = -taken
    this.change(row, -taken, hours)
    if (row.minutes === 0) this.repos--
    return taken
  }

  /** Minutes of a repository so far. */
  minutesOf(repoKey: string): Readonly<Minutes> {
    return this.rows.get(repoKey) ?? noMinutes()
  }

  *changed(): Generator<{ repoKey: string; row: Readonly<Row> }> {
    for (const [repoKey, row] of this.rows) if (row.isChanged) yield { repoKey, row }
  }

  private change(row: Row, minutes: number, hours: readonly number[]): void {
    addTo(row, minutes, hours)
    addTo(this.total, minutes, hours)
    row.isChanged = true
  }
}

/** A person's days by place. */
export class PersonDays {
  private readonly places = new Map<string, Map<string, PersonDay>>()

  constructor(
    readonly userId: string,
    /** The person's zone, in which new minutes count. */
    readonly timezone: string,
  ) {}

  /** @throws if the day wasn't requested when the days were read */
  at(place: string, day: string): PersonDay {
    const found = this.places.get(place)?.get(day)
    if (!found) throw new Error('Minutes were counted on a day that wasn’t read')
    return found
  }

  /** The days that were read in a place. */
  daysIn(place: string): string[] {
    return [...(this.places.get(place)?.keys() ?? [])]
  }

  open(place: string, day: string): void {
    const days = this.places.get(place) ?? new Map<string, PersonDay>()
    this.places.set(place, days)
    if (!days.has(day)) days.set(day, new PersonDay())
  }

  /** What has to be written, by place. */
  *changed(): Generator<WrittenDay & { place: string }> {
    const { userId, timezone } = this
    for (const [place, days] of this.places)
      for (const [day, personDay] of days)
        for (const { repoKey, row } of personDay.changed()) {
          const { repo, minutes, hours, isNew } = row
          yield { place, userId, day, repoKey, repo, minutes, hours, timezone, isNew }
        }
  }
}

/** The days that are needed of a person. */
export interface RequestedDays {
  userId: string
  timezone: string
  /** Local days by workspace. */
  workspaces: ReadonlyMap<string, ReadonlySet<string>>
  /** Local days of the person's own time. */
  ownDays: ReadonlySet<string>
}

/** Reads days of people whose minutes are locked. @returns an entry for each of them, in order */
export const readPersonDays = async (tx: Db, people: readonly RequestedDays[]): Promise<PersonDays[]> => {
  const byWorkspace = groupBy(
    people.flatMap(({ userId, workspaces }) =>
      Array.from(workspaces, ([workspaceId, days]) =>
        Array.from(days, (day) => ({ workspaceId, userId, day })),
      ).flat(),
    ),
    ({ workspaceId }) => workspaceId,
  )
  const own = people.flatMap(({ userId, ownDays }) => Array.from(ownDays, (day) => ({ userId, day })))
  const [ownRows, ...rows] = await Promise.all([
    readOwnDays(tx, own),
    ...Array.from(byWorkspace, ([workspaceId, requested]) => readDays(tx, workspaceId, requested)),
  ])
  const all = people.map(({ userId, timezone, workspaces, ownDays }) => {
    const days = new PersonDays(userId, timezone)
    for (const [place, ofPlace] of workspaces) for (const day of ofPlace) days.open(place, day)
    for (const day of ownDays) days.open(OWN_TIME, day)
    return days
  })
  const ofUser = new Map(all.map((days) => [days.userId, days]))
  for (const { userId, day, repoKey, repo, ...minutes } of ownRows)
    ofUser.get(userId)?.at(OWN_TIME, day).load(repoKey, repo, minutes)
  for (const { workspaceId, userId, day, repoKey, ...minutes } of rows.flat())
    ofUser.get(userId)?.at(workspaceId, day).load(repoKey, repoKey, minutes)
  return all
}

/** Writes the changes of people whose minutes are locked. */
export const writePersonDays = async (tx: Db, people: readonly PersonDays[]): Promise<void> => {
  const changed = people.flatMap((days) => [...days.changed()])
  const byPlace = groupBy(changed, ({ place }) => place)
  const own = byPlace.get(OWN_TIME) ?? []
  byPlace.delete(OWN_TIME)
  await Promise.all([
    ...[...byPlace.keys()]
      .sort()
      .map((workspaceId) => writeDays(tx, workspaceId, byPlace.get(workspaceId) ?? [])),
    writeOwnDays(tx, own),
  ])
}

/** The most repositories with minutes that a person's local day may have in a workspace. */
export const MAX_REPOS = limits.repos_per_day

/** An hour of minutes, as `PersonDay.add` takes it. */
export const minutesInHour = (hour: number, minutes: number): Minutes => {
  const hours = new Array<number>(HOURS).fill(0)
  hours[hour] = minutes
  return { minutes, hours }
}
