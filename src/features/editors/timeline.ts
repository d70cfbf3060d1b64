/**
 * The minutes of a person that heartbeats have marked, and which of them have counted where. The set of heartbeats alone
 * determines which minutes count: a mark is never taken away, and what lies between two marks that are close enough stays
 * between closer ones. So it is enough to look at new marks and their neighbours, and to count no minute twice.
 */
import { limits } from '../../../schemas/limits.js'

/** Minutes in an hour. */
const MINUTES = 60
/** How far apart two heartbeats can be, at most, for the minutes between them to count. */
const FARTHEST = limits.heartbeat_idle_minutes_max

/** An hour as it is stored: for each project, or workspace, a text of 60 digits, one for each minute. */
export interface StoredHour {
  hour: number
  projects: string[]
  marks: string[]
  leaves: string[] | null
  countedIn: string[]
  counted: string[]
}

/** A minute that counts where the idle window is at least as long as the gap in which it lies; 0: it is marked itself. */
export interface Candidate {
  /** Minutes since 1970. */
  minute: number
  project: string
  gap: number
}

class Hour {
  /** The projects with the first and the last heartbeat of a minute. */
  readonly first: (string | undefined)[] = new Array(MINUTES)
  readonly last: (string | undefined)[] = new Array(MINUTES)
  readonly counted = new Map<string, Set<number>>()
}

const eachMinute = function* (bits: string) {
  for (let minute = bits.indexOf('1'); minute !== -1; minute = bits.indexOf('1', minute + 1)) yield minute
}

const bitsOf = (isSet: (minute: number) => boolean): string =>
  Array.from({ length: MINUTES }, (_, minute) => (isSet(minute) ? '1' : '0')).join('')

export const hourOf = (minute: number): number => Math.floor(minute / MINUTES)

/** The hours in which marks can be that are close enough to these minutes, with their own. */
export const hoursAround = (minutes: Iterable<number>): number[] => {
  const hours = new Set<number>()
  for (const minute of minutes) {
    hours
      .add(hourOf(minute - FARTHEST))
      .add(hourOf(minute))
      .add(hourOf(minute + FARTHEST))
  }
  return [...hours].sort((a, b) => a - b)
}

export class Timeline {
  private readonly hours = new Map<number, Hour>()
  private readonly changed = new Set<number>()

  constructor(stored: readonly StoredHour[]) {
    for (const { hour, projects, marks, leaves, countedIn, counted } of stored) {
      const own = this.at(hour)
      projects.forEach((project, index) => {
        for (const minute of eachMinute(marks[index] ?? '')) own.first[minute] = project
        for (const minute of eachMinute((leaves ?? marks)[index] ?? '')) own.last[minute] = project
      })
      countedIn.forEach((workspaceId, index) => {
        own.counted.set(workspaceId, new Set(eachMinute(counted[index] ?? '')))
      })
    }
  }

  /** Must be called in the order of the heartbeats. @returns whether the minute had no mark before */
  mark(minute: number, project: string): boolean {
    const hour = this.at(hourOf(minute))
    const index = minute % MINUTES
    const isNew = hour.first[index] === undefined
    if (isNew) hour.first[index] = project
    if (hour.last[index] !== project) this.changed.add(hourOf(minute))
    hour.last[index] = project
    return isNew
  }

  /** The project with the last heartbeat before a minute, if it is close enough. */
  projectBefore(minute: number): string | undefined {
    const earlier = this.nearest(minute, -1)
    return earlier === undefined ? undefined : this.lastOf(earlier)
  }

  /** New marks, and the minutes between them and their neighbours. */
  *around(marks: Iterable<number>): Generator<Candidate> {
    const isNew = new Set(marks)
    for (const minute of isNew) {
      yield { minute, project: this.firstOf(minute), gap: 0 }
      const earlier = this.nearest(minute, -1)
      if (earlier !== undefined) yield* this.between(earlier, minute)
      const later = this.nearest(minute, 1)
      // The gap before another new mark is found there.
      if (later !== undefined && !isNew.has(later)) yield* this.between(minute, later)
    }
  }

  /** All marks, and the minutes between them and the next. */
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

  hasCounted(workspaceId: string, minute: number): boolean {
    return (
      this.hours
        .get(hourOf(minute))
        ?.counted.get(workspaceId)
        ?.has(minute % MINUTES) ?? false
    )
  }

  hasCountedAnywhere(minute: number): boolean {
    const counted = this.hours.get(hourOf(minute))?.counted ?? new Map<string, Set<number>>()
    for (const minutes of counted.values()) if (minutes.has(minute % MINUTES)) return true
    return false
  }

  count(workspaceId: string, minute: number): void {
    const { counted } = this.at(hourOf(minute))
    const minutes = counted.get(workspaceId) ?? new Set()
    counted.set(workspaceId, minutes.add(minute % MINUTES))
    this.changed.add(hourOf(minute))
  }

  /** The hours that have changed, in their order. */
  toStored(): StoredHour[] {
    return [...this.changed]
      .sort((a, b) => a - b)
      .map((number) => {
        const { first, last, counted } = this.at(number)
        const projects = [...new Set([...first, ...last])].filter((project) => project !== undefined)
        const isSame = first.every((project, index) => project === last[index])
        return {
          hour: number,
          projects,
          marks: projects.map((project) => bitsOf((minute) => first[minute] === project)),
          leaves: isSame ? null : projects.map((project) => bitsOf((minute) => last[minute] === project)),
          countedIn: [...counted.keys()],
          counted: Array.from(counted.values(), (minutes) => bitsOf((minute) => minutes.has(minute))),
        }
      })
  }

  private *between(earlier: number, later: number): Generator<Candidate> {
    const project = this.lastOf(earlier)
    for (let minute = earlier + 1; minute < later; minute++) yield { minute, project, gap: later - earlier }
  }

  private nearest(minute: number, direction: 1 | -1): number | undefined {
    for (let steps = 1; steps <= FARTHEST; steps++) {
      const at = minute + direction * steps
      if (this.hours.get(hourOf(at))?.first[at % MINUTES] !== undefined) return at
    }
    return undefined
  }

  private firstOf(minute: number): string {
    return this.at(hourOf(minute)).first[minute % MINUTES] as string
  }

  private lastOf(minute: number): string {
    return this.at(hourOf(minute)).last[minute % MINUTES] as string
  }

  private at(number: number): Hour {
    const hour = this.hours.get(number) ?? new Hour()
    this.hours.set(number, hour)
    return hour
  }
}
