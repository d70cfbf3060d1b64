/**
 * The minutes that a person's and their agents' heartbeats have marked, for whom each minute is, and where the person's
 * minutes have counted. The set of heartbeats alone determines who gets a minute: it belongs to its earliest heartbeat, and
 * without one, to the mark before it if the next mark is close enough.
 */
import { limits } from '../../../schemas/limits.js'
import { HOURS } from '../../platform/time/days.js'

/** Minutes in an hour. */
export const MINUTES = 60
const MINUTE_SECONDS = 60
const HUNDREDTHS = 100
/** Represents an unknown time. Nothing comes before it. */
const UNKNOWN = -1
/** How far apart two marks can be, at most, for the minutes between them to count. */
const MAX_GAP = limits.heartbeat_idle_minutes_max

/** An hour's marks as stored: for each project, a text of 60 digits, one for each minute. */
export interface StoredMarks {
  projects: string[]
  /** The minutes that have the project's mark. */
  marks: string[]
  /** For each minute with a mark, when its earliest heartbeat was, in hundredths of a second. Null: not known. */
  firstAt: number[] | null
}

/** An hour as it is stored. */
export interface StoredHour extends StoredMarks {
  hour: number
  /** The local hour in which its minutes count. Null: none has counted yet, or version 1.0.0 has written the row. */
  localHour: number | null
  /** Workspaces, and the minutes that have counted there. */
  countedIn: string[]
  counted: string[]
  /** Repositories and project names, and the minutes that have counted for them. Null: not known. */
  countedRepos: string[] | null
  countedFor: string[] | null
  /** Null: no agent has sent anything. */
  agentProjects: string[] | null
  agentMarks: string[] | null
  agentFirstAt: number[] | null
}

/** A minute, and whose it is. */
export interface Owned {
  /** Minutes since 1970. */
  minute: number
  project: string
  /** It counts where the idle window is at least this long. 0: the minute has a mark. */
  gap: number
}

class MarkedHour {
  constructor(
    /** The project of each minute that has a mark. */
    readonly projects: (string | undefined)[] = new Array(MINUTES),
    /** When the minute's earliest heartbeat was, in hundredths of a second. */
    readonly firstAt: (number | undefined)[] = new Array(MINUTES),
  ) {}

  copy(): MarkedHour {
    return new MarkedHour(this.projects.slice(), this.firstAt.slice())
  }

  distinct(): string[] {
    return [...new Set(this.projects)].filter((project) => project !== undefined)
  }

  toStored(): StoredMarks {
    const projects = this.distinct()
    return {
      projects,
      marks: projects.map((project) => bitsOf((minute) => this.projects[minute] === project)),
      firstAt: this.firstAt.filter((at) => at !== undefined),
    }
  }
}

const NO_MARKS = new MarkedHour()

const eachMinute = function* (bits: string) {
  for (let minute = bits.indexOf('1'); minute !== -1; minute = bits.indexOf('1', minute + 1)) yield minute
}

const bitsOf = (isSet: (minute: number) => boolean): string =>
  Array.from({ length: MINUTES }, (_, minute) => (isSet(minute) ? '1' : '0')).join('')

export const hourOf = (minute: number): number => Math.floor(minute / MINUTES)

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

/** The minutes whose owner can depend on these. */
export const minutesAround = (minutes: Iterable<number>): Set<number> => {
  const all = new Set<number>()
  for (const minute of minutes) for (let step = 1 - MAX_GAP; step < MAX_GAP; step++) all.add(minute + step)
  return all
}

/** The minutes of an hour. */
export const minutesOfHour = (hour: number): number[] =>
  Array.from({ length: MINUTES }, (_, minute) => hour * MINUTES + minute)

/** The first hour of a UTC day. */
export const firstHourOf = (day: string): number => (Date.parse(day) / 86_400_000) * HOURS

/** The marks of a person or the person's agents. */
export class Marks {
  private readonly hours = new Map<number, MarkedHour>()

  constructor(stored: readonly (StoredMarks & { hour: number })[] = []) {
    for (const row of stored) this.load(row)
  }

  copy(): Marks {
    const copy = new Marks()
    for (const [number, hour] of this.hours) copy.hours.set(number, hour.copy())
    return copy
  }

  private load({ hour: number, projects, marks, firstAt }: StoredMarks & { hour: number }): void {
    const hour = this.toMark(number)
    projects.forEach((project, index) => {
      for (const minute of eachMinute(marks[index] ?? '')) hour.projects[minute] = project
    })
    const minutes = Object.keys(hour.projects).map(Number)
    // Version 1.0.0 adds marks without a time.
    const isKnown = firstAt?.length === minutes.length
    minutes.forEach((minute, index) => {
      hour.firstAt[minute] = isKnown ? firstAt[index] : UNKNOWN
    })
  }

  /**
   * A minute belongs to its earliest heartbeat, and at equal times, to the name that sorts first.
   * @param time seconds since 1970
   * @returns whether anything has changed
   */
  mark(time: number, project: string): boolean {
    const minute = Math.floor(time / MINUTE_SECONDS)
    const hour = this.toMark(hourOf(minute))
    const index = minute % MINUTES
    const at = Math.floor((time - minute * MINUTE_SECONDS) * HUNDREDTHS)
    const [known, knownAt] = [hour.projects[index], hour.firstAt[index] ?? UNKNOWN]
    const isEarlier = known === undefined || at < knownAt || (at === knownAt && project < known)
    if (!isEarlier) return false
    hour.projects[index] = project
    hour.firstAt[index] = at
    return true
  }

  /** Removes the mark of a minute. */
  unmark(minute: number): void {
    const hour = this.hours.get(hourOf(minute))
    if (!hour) return
    delete hour.projects[minute % MINUTES]
    delete hour.firstAt[minute % MINUTES]
  }

  /** Whose a minute is. Undefined: no one's. */
  ownerOf(minute: number): Owned | undefined {
    const project = this.projectAt(minute)
    if (project !== undefined) return { minute, project, gap: 0 }
    const earlier = this.nearest(minute, -1)
    const later = earlier === undefined ? undefined : this.nearest(minute, 1)
    if (earlier === undefined || later === undefined || later - earlier > MAX_GAP) return undefined
    return { minute, project: this.projectAt(earlier) as string, gap: later - earlier }
  }

  /** The minutes that are someone's. */
  *ownersOf(minutes: Iterable<number>): Generator<Owned> {
    for (const minute of minutes) {
      const owner = this.ownerOf(minute)
      if (owner) yield owner
    }
  }

  /** The minutes that have a mark. */
  marked(): number[] {
    return [...this.hours].flatMap(([number, { projects }]) =>
      Object.keys(projects).map((index) => number * MINUTES + Number(index)),
    )
  }

  /** The projects that have a mark. */
  projects(): Set<string> {
    return new Set([...this.hours.values()].flatMap((hour) => hour.distinct()))
  }

  /** The hours in which a project has marks. */
  hoursOf(project: string): number[] {
    return [...this.hours].flatMap(([number, { projects }]) => (projects.includes(project) ? [number] : []))
  }

  storedHour(number: number): StoredMarks {
    return (this.hours.get(number) ?? NO_MARKS).toStored()
  }

  private projectAt(minute: number): string | undefined {
    return this.hours.get(hourOf(minute))?.projects[minute % MINUTES]
  }

  private nearest(minute: number, direction: 1 | -1): number | undefined {
    for (let steps = 1; steps < MAX_GAP; steps++) {
      const at = minute + direction * steps
      if (this.projectAt(at) !== undefined) return at
    }
    return undefined
  }

  /** The hour to add marks to. */
  private toMark(number: number): MarkedHour {
    const hour = this.hours.get(number) ?? new MarkedHour()
    this.hours.set(number, hour)
    return hour
  }
}

/** The marks of a person, and those of their agents, which are kept separately. */
export interface Timeline {
  own: Marks
  agents: Marks
}

export const timelineOf = (stored: readonly StoredHour[]): Timeline => ({
  own: new Marks(stored),
  agents: new Marks(
    stored.flatMap(({ hour, agentProjects: projects, agentMarks, agentFirstAt: firstAt }) =>
      projects ? [{ hour, projects, marks: agentMarks ?? [], firstAt }] : [],
    ),
  ),
})

interface CountedHour {
  /** The local hour in which the minutes count. */
  localHour: number | undefined
  /** The minutes that have counted in workspaces. */
  inWorkspaces: Map<string, Set<number>>
  /** For whom each minute has counted: a repository, or a project name. */
  owners: (string | undefined)[]
}

/** Where a person's minutes have counted, and for which repositories. */
export class Counts {
  private readonly hours = new Map<number, CountedHour>()

  constructor(stored: readonly StoredHour[]) {
    for (const { hour, localHour, countedIn, counted, countedRepos, countedFor } of stored) {
      const own = this.at(hour)
      own.localHour = localHour ?? undefined
      countedIn.forEach((workspaceId, index) => {
        own.inWorkspaces.set(workspaceId, new Set(eachMinute(counted[index] ?? '')))
      })
      countedRepos?.forEach((repoKey, index) => {
        for (const minute of eachMinute(countedFor?.[index] ?? '')) own.owners[minute] = repoKey
      })
    }
  }

  hasCountedIn(workspaceId: string, minute: number): boolean {
    return (
      this.hours
        .get(hourOf(minute))
        ?.inWorkspaces.get(workspaceId)
        ?.has(minute % MINUTES) ?? false
    )
  }

  /** The workspaces in which a minute has counted. */
  workspacesOf(minute: number): string[] {
    const { inWorkspaces } = this.at(hourOf(minute))
    return [...inWorkspaces].flatMap(([workspaceId, minutes]) =>
      minutes.has(minute % MINUTES) ? [workspaceId] : [],
    )
  }

  /** For whom a minute has counted. Undefined: it hasn't, or version 1.0.0 doesn't say. */
  ownerOf(minute: number): string | undefined {
    return this.hours.get(hourOf(minute))?.owners[minute % MINUTES]
  }

  count(minute: number, owner: string, workspaces: readonly string[]): void {
    const { inWorkspaces, owners } = this.at(hourOf(minute))
    owners[minute % MINUTES] = owner
    for (const workspaceId of workspaces)
      inWorkspaces.set(workspaceId, (inWorkspaces.get(workspaceId) ?? new Set()).add(minute % MINUTES))
  }

  /** Takes a minute out of all workspaces, and from its owner. */
  takeOut(minute: number): void {
    const { inWorkspaces, owners } = this.at(hourOf(minute))
    owners[minute % MINUTES] = undefined
    for (const minutes of inWorkspaces.values()) minutes.delete(minute % MINUTES)
  }

  /** The local hour in which a minute counts: the one for which the first minute of its UTC hour was recorded. */
  localHourOf(minute: number, first: (hour: number) => number): number {
    const hour = this.at(hourOf(minute))
    hour.localHour ??= first(hourOf(minute))
    return hour.localHour
  }

  /** Undefined if no minute of this UTC hour has counted yet. */
  knownLocalHourOf(number: number): number | undefined {
    return this.hours.get(number)?.localHour
  }

  storedHour(
    number: number,
  ): Pick<StoredHour, 'localHour' | 'countedIn' | 'counted' | 'countedRepos' | 'countedFor'> {
    const { localHour = null, inWorkspaces, owners } = this.at(number)
    const counted = [...inWorkspaces].filter(([, minutes]) => minutes.size > 0)
    const repos = [...new Set(owners)].filter((owner) => owner !== undefined)
    return {
      localHour,
      countedIn: counted.map(([workspaceId]) => workspaceId),
      counted: counted.map(([, minutes]) => bitsOf((minute) => minutes.has(minute))),
      countedRepos: repos,
      countedFor: repos.map((repo) => bitsOf((minute) => owners[minute] === repo)),
    }
  }

  private at(number: number): CountedHour {
    const hour = this.hours.get(number) ?? {
      localHour: undefined,
      inWorkspaces: new Map(),
      owners: new Array<string | undefined>(MINUTES).fill(undefined),
    }
    this.hours.set(number, hour)
    return hour
  }
}

/** These hours, in order. */
export const toStored = ({ own, agents }: Timeline, counts: Counts, hours: Iterable<number>): StoredHour[] =>
  [...new Set(hours)]
    .sort((a, b) => a - b)
    .map((hour) => {
      const ofAgents = agents.storedHour(hour)
      const hasAgents = ofAgents.projects.length > 0
      return {
        hour,
        ...own.storedHour(hour),
        ...counts.storedHour(hour),
        agentProjects: hasAgents ? ofAgents.projects : null,
        agentMarks: hasAgents ? ofAgents.marks : null,
        agentFirstAt: hasAgents ? ofAgents.firstAt : null,
      }
    })
