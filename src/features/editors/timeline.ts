/**
 * The minutes that a person's and their agents' heartbeats have marked, and where the person's minutes have counted.
 * The set of heartbeats alone determines which minutes count: a mark is never removed, and minutes between two close
 * marks are also between even closer ones. So it is enough to look at new marks and their neighbors, and to count no
 * minute twice.
 */
import { limits } from '../../../schemas/limits.js'

const HOUR_MS = 3_600_000

/** Minutes in an hour. */
const MINUTES = 60
const MINUTE_SECONDS = 60
const HUNDREDTHS = 100
/** Represents an unknown time. Nothing comes after it. */
const END_OF_MINUTE = MINUTE_SECONDS * HUNDREDTHS
/** How far apart two heartbeats can be, at most, for the minutes between them to count. */
const MAX_GAP = limits.heartbeat_idle_minutes_max

/** An hour's marks as stored: for each project, a text of 60 digits, one for each minute. */
export interface StoredMarks {
  projects: string[]
  /** The minutes in which the project's heartbeat was the first. */
  marks: string[]
  /** The minutes in which its heartbeat was the last. Null: the same as `marks`. */
  lastMarks: string[] | null
  /** For each minute with a mark, when its last heartbeat was, in hundredths of a second. Null: not known. */
  lastAt: number[] | null
}

/** An hour as it is stored. */
export interface StoredHour extends StoredMarks {
  hour: number
  /** Workspaces, and the minutes that have counted there. */
  countedIn: string[]
  counted: string[]
  /** Repositories, and the minutes that have counted for them. Null: not known. */
  countedRepos: string[] | null
  countedFor: string[] | null
  /** Null: no agent has sent anything. */
  agentProjects: string[] | null
  agentMarks: string[] | null
  agentLastMarks: string[] | null
  agentLastAt: number[] | null
}

/**
 * A minute that counts where the idle window is at least as long as the gap around the minute. 0: the minute has a
 * mark.
 */
export interface Candidate {
  /** Minutes since 1970. */
  minute: number
  project: string
  gap: number
}

class MarkedHour {
  constructor(
    /** The projects with a minute's first and last heartbeat. */
    readonly first: (string | undefined)[] = new Array(MINUTES),
    readonly last: (string | undefined)[] = new Array(MINUTES),
    /** When a minute's last heartbeat was, in hundredths of a second. */
    readonly lastAt: (number | undefined)[] = new Array(MINUTES),
  ) {}

  copy(): MarkedHour {
    return new MarkedHour(this.first.slice(), this.last.slice(), this.lastAt.slice())
  }

  get projects(): string[] {
    return [...new Set([...this.first, ...this.last])].filter((project) => project !== undefined)
  }

  toStored(): StoredMarks {
    const { projects, first, last, lastAt } = this
    const isSame = first.every((project, minute) => project === last[minute])
    return {
      projects,
      marks: projects.map((project) => bitsOf((minute) => first[minute] === project)),
      lastMarks: isSame ? null : projects.map((project) => bitsOf((minute) => last[minute] === project)),
      lastAt: lastAt.filter((at) => at !== undefined),
    }
  }
}

const NO_MARKS = new MarkedHour()

const eachMinute = function* (bits: string) {
  for (let minute = bits.indexOf('1'); minute !== -1; minute = bits.indexOf('1', minute + 1)) yield minute
}

const bitsOf = (isSet: (minute: number) => boolean): string =>
  Array.from({ length: MINUTES }, (_, minute) => (isSet(minute) ? '1' : '0')).join('')

const bitsOfSet = (minutes: ReadonlySet<number>): string => bitsOf((minute) => minutes.has(minute))

export const hourOf = (minute: number): number => Math.floor(minute / MINUTES)

/** The UTC day of an hour since 1970. */
export const dayOfHour = (hour: number): string => new Date(hour * HOUR_MS).toISOString().slice(0, 10)

/** A workspace's idle window as clients apply it. */
export const clampIdleWindow = (minutes: number): number =>
  Math.min(Math.max(minutes, limits.heartbeat_idle_minutes_min), limits.heartbeat_idle_minutes_max)

/** Hours and their neighbors. A gap reaches into the next hour at most. */
export const hoursBeside = (hours: Iterable<number>, reach = 1): number[] => {
  const all = new Set<number>()
  for (const hour of hours) for (let step = -reach; step <= reach; step++) all.add(hour + step)
  return [...all]
}

/** The hours that can contain marks close enough to these minutes, including their own. */
export const hoursAround = (minutes: Iterable<number>): number[] => {
  const hours = new Set<number>()
  for (const minute of minutes) {
    hours
      .add(hourOf(minute - MAX_GAP))
      .add(hourOf(minute))
      .add(hourOf(minute + MAX_GAP))
  }
  return [...hours].sort((a, b) => a - b)
}

/** The marks of a person or the person's agents. */
export class Marks {
  private readonly hours = new Map<number, MarkedHour>()

  constructor(stored: readonly (StoredMarks & { hour: number })[] = []) {
    for (const row of stored) this.load(row)
  }

  /** Copies another object's marks. */
  protected copyFrom(other: Marks): this {
    for (const [number, hour] of other.hours) this.hours.set(number, hour.copy())
    return this
  }

  copy(): Marks {
    return new Marks().copyFrom(this)
  }

  private load({ hour: number, projects, marks, lastMarks, lastAt }: StoredMarks & { hour: number }): void {
    const hour = this.toMark(number)
    projects.forEach((project, index) => {
      for (const minute of eachMinute(marks[index] ?? '')) hour.first[minute] = project
      for (const minute of eachMinute((lastMarks ?? marks)[index] ?? '')) hour.last[minute] = project
    })
    const minutes = Object.keys(hour.first).map(Number)
    // Instances of an earlier version add marks without a time.
    const isKnown = lastAt?.length === minutes.length
    minutes.forEach((minute, index) => {
      hour.lastAt[minute] = isKnown ? lastAt[index] : END_OF_MINUTE
    })
  }

  /**
   * A minute's last project is that of its latest heartbeat, so sending earlier ones again changes nothing.
   * @param time seconds since 1970
   * @returns `new` if the minute had no mark before, `changed` if this is its latest heartbeat
   */
  mark(time: number, project: string): 'new' | 'changed' | 'unchanged' {
    const minute = Math.floor(time / MINUTE_SECONDS)
    const hour = this.toMark(hourOf(minute))
    const index = minute % MINUTES
    const at = Math.floor((time - minute * MINUTE_SECONDS) * HUNDREDTHS)
    const isNew = hour.first[index] === undefined
    if (at <= (hour.lastAt[index] ?? -1)) return 'unchanged'
    if (isNew) hour.first[index] = project
    hour.last[index] = project
    hour.lastAt[index] = at
    return isNew ? 'new' : 'changed'
  }

  /** The project with the last heartbeat before a minute, if it is close enough. */
  projectBefore(minute: number): string | undefined {
    const earlier = this.nearest(minute, -1)
    return earlier === undefined ? undefined : this.lastOf(earlier)
  }

  /** New marks, and the minutes between them and their neighbors. */
  *around(marks: Iterable<number>): Generator<Candidate> {
    const isNew = new Set(marks)
    for (const minute of isNew) {
      yield { minute, project: this.firstOf(minute), gap: 0 }
      const earlier = this.nearest(minute, -1)
      if (earlier !== undefined) yield* this.between(earlier, minute)
      const later = this.nearest(minute, 1)
      // If the later mark is new too, its own turn yields this gap.
      if (later !== undefined && !isNew.has(later)) yield* this.between(minute, later)
    }
  }

  /** All marks, and the minutes between each and the next. */
  *all(): Generator<Candidate> {
    for (const [number, { first }] of this.hours) {
      for (let index = 0; index < MINUTES; index++) {
        const project = first[index]
        if (project === undefined) continue
        const minute = number * MINUTES + index
        yield { minute, project, gap: 0 }
        const later = this.nearest(minute, 1)
        if (later !== undefined) yield* this.between(minute, later)
      }
    }
  }

  /** The minutes that have a mark. */
  marked(): number[] {
    return [...this.hours].flatMap(([number, { first }]) =>
      Object.keys(first).map((index) => number * MINUTES + Number(index)),
    )
  }

  /** The projects that have a mark. */
  projects(): Set<string> {
    const projects = new Set<string>()
    for (const hour of this.hours.values()) for (const project of hour.projects) projects.add(project)
    return projects
  }

  /** The hours in which a project has marks. */
  hoursOf(project: string): number[] {
    return [...this.hours].flatMap(([number, { projects }]) => (projects.includes(project) ? [number] : []))
  }

  storedHour(number: number): StoredMarks {
    return (this.hours.get(number) ?? NO_MARKS).toStored()
  }

  private *between(earlier: number, later: number): Generator<Candidate> {
    const project = this.lastOf(earlier)
    for (let minute = earlier + 1; minute < later; minute++) yield { minute, project, gap: later - earlier }
  }

  private nearest(minute: number, direction: 1 | -1): number | undefined {
    for (let steps = 1; steps <= MAX_GAP; steps++) {
      const at = minute + direction * steps
      if (this.hours.get(hourOf(at))?.first[at % MINUTES] !== undefined) return at
    }
    return undefined
  }

  private firstOf(minute: number): string {
    return this.hours.get(hourOf(minute))?.first[minute % MINUTES] as string
  }

  private lastOf(minute: number): string {
    return this.hours.get(hourOf(minute))?.last[minute % MINUTES] as string
  }

  /** The hour to add marks to. */
  private toMark(number: number): MarkedHour {
    const hour = this.hours.get(number) ?? new MarkedHour()
    this.hours.set(number, hour)
    return hour
  }
}

const marksOfAgents = (row: StoredHour): (StoredMarks & { hour: number })[] => {
  const { hour, agentProjects: projects, agentMarks, agentLastMarks: lastMarks, agentLastAt: lastAt } = row
  return projects ? [{ hour, projects, marks: agentMarks ?? [], lastMarks, lastAt }] : []
}

/** The marks of a person. Those of their agents are kept separately. */
export class Timeline extends Marks {
  constructor(
    stored: readonly StoredHour[],
    readonly agents = new Marks(stored.flatMap(marksOfAgents)),
  ) {
    super(stored)
  }

  override copy(): Timeline {
    return new Timeline([], this.agents.copy()).copyFrom(this)
  }
}

class CountedHour {
  constructor(
    readonly inWorkspaces = new Map<string, Set<number>>(),
    readonly forRepos = new Map<string, Set<number>>(),
    readonly repoOf: (string | undefined)[] = new Array(MINUTES),
  ) {}

  copy(): CountedHour {
    return new CountedHour(copyOf(this.inWorkspaces), copyOf(this.forRepos), this.repoOf.slice())
  }
}

const copyOf = (minutes: ReadonlyMap<string, ReadonlySet<number>>) =>
  new Map(Array.from(minutes, ([key, own]) => [key, new Set(own)]))

const NEVER_COUNTED = new CountedHour()

/** Where a person's minutes have counted. */
export class Counts {
  private readonly hours = new Map<number, CountedHour>()

  constructor(stored: readonly StoredHour[]) {
    for (const { hour, countedIn, counted, countedRepos, countedFor } of stored) {
      const { inWorkspaces, forRepos, repoOf } = this.toCount(hour)
      countedIn.forEach((workspaceId, index) => {
        inWorkspaces.set(workspaceId, new Set(eachMinute(counted[index] ?? '')))
      })
      countedRepos?.forEach((repoKey, index) => {
        const minutes = new Set(eachMinute(countedFor?.[index] ?? ''))
        forRepos.set(repoKey, minutes)
        for (const minute of minutes) repoOf[minute] = repoKey
      })
    }
  }

  copy(): Counts {
    const copy = new Counts([])
    for (const [number, hour] of this.hours) copy.hours.set(number, hour.copy())
    return copy
  }

  hasCounted(workspaceId: string, minute: number): boolean {
    const minutes = this.hours.get(hourOf(minute))?.inWorkspaces.get(workspaceId)
    return minutes?.has(minute % MINUTES) ?? false
  }

  hasCountedAnywhere(minute: number): boolean {
    const { inWorkspaces } = this.hours.get(hourOf(minute)) ?? NEVER_COUNTED
    for (const minutes of inWorkspaces.values()) if (minutes.has(minute % MINUTES)) return true
    return false
  }

  /** A minute counted for one repository in a workspace never counts for another repository elsewhere. */
  canCountFor(repoKey: string, minute: number): boolean {
    const counted = this.hours.get(hourOf(minute))?.repoOf[minute % MINUTES]
    return counted === undefined || counted === repoKey
  }

  count(workspaceId: string, minute: number, repoKey: string): void {
    const index = minute % MINUTES
    const { inWorkspaces, forRepos, repoOf } = this.toCount(hourOf(minute))
    inWorkspaces.set(workspaceId, (inWorkspaces.get(workspaceId) ?? new Set()).add(index))
    forRepos.set(repoKey, (forRepos.get(repoKey) ?? new Set()).add(index))
    repoOf[index] = repoKey
  }

  storedHour(number: number): Pick<StoredHour, 'countedIn' | 'counted' | 'countedRepos' | 'countedFor'> {
    const { inWorkspaces, forRepos } = this.hours.get(number) ?? NEVER_COUNTED
    return {
      countedIn: [...inWorkspaces.keys()],
      counted: Array.from(inWorkspaces.values(), bitsOfSet),
      countedRepos: [...forRepos.keys()],
      countedFor: Array.from(forRepos.values(), bitsOfSet),
    }
  }

  /** The hour to add counts to. */
  private toCount(number: number): CountedHour {
    const hour = this.hours.get(number) ?? new CountedHour()
    this.hours.set(number, hour)
    return hour
  }
}

/** Whether some mark has counted in no workspace. */
export const hasUncounted = (timeline: Timeline, counts: Counts): boolean =>
  timeline.marked().some((minute) => !counts.hasCountedAnywhere(minute))

/** These hours, in order. */
export const toStored = (timeline: Timeline, counts: Counts, hours: Iterable<number>): StoredHour[] =>
  [...new Set(hours)]
    .sort((a, b) => a - b)
    .map((hour) => {
      const agents = timeline.agents.storedHour(hour)
      const hasAgents = agents.projects.length > 0
      return {
        hour,
        ...timeline.storedHour(hour),
        ...counts.storedHour(hour),
        agentProjects: hasAgents ? agents.projects : null,
        agentMarks: hasAgents ? agents.marks : null,
        agentLastMarks: agents.lastMarks,
        agentLastAt: hasAgents ? agents.lastAt : null,
      }
    })
