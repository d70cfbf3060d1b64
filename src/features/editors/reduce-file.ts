/**
 * Reduces a file of heartbeats to times and projects while it arrives: WakaTime's data dump, and the CSV or JSON of
 * wakapi. A day takes as much memory as its minutes and projects need, and these bytes are counted.
 */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { CsvError } from 'csv-parse'
import type { Token } from 'stream-json/core/parser.js'
import { limits } from '../../../schemas/limits.js'
import { ApiError, validationError } from '../../errors.js'
import { InvalidJsonError, JsonTokens } from '../../platform/http/json-tokens.js'
import { HOURS } from '../../platform/time/days.js'
import { CsvReader } from './parsing/csv.js'
import { HeartbeatFinder } from './parsing/json.js'
import { utf8Of } from './parsing/text.js'
import { importedSecondsOf } from './parsing/time.js'
import {
  isOfAgent,
  LAST_PROJECT,
  type Project,
  type ProjectHost,
  projectOf,
  type SentHeartbeat,
} from './project-names.js'

export const DAY_MINUTES = 1_440
const MINUTES = 60
const MINUTE_SECONDS = 60
/** January 1, 2000, in seconds since 1970. */
const FIRST_SECOND = 946_684_800
const PIECE_BYTES = 16_384
/** Fewer times may be equal by chance. */
const MIN_ROUNDED = 10
/** Spreadsheets show six digits of a long number. */
const ROUNDED_SECONDS = 10_000
/** More than a file has projects. */
const NUMBERS = 65_536

/** A day with more minutes than this has a place for each minute. */
const MAX_LISTED = 120

/** How many bytes a part of a file takes at most, measured with `bench/memory`. */
const BYTES = { day: 200, minutes: 450, listedMinute: 12, allMinutes: 3_200, hour: 40, project: 400 }

/** The minutes of a UTC day, each with the first project in it. Projects are numbers from 1 on. */
export class ReducedMinutes {
  /** The projects of the day, also those without a minute. */
  readonly projects: number[] = []
  /** The marked minutes, each as `minute * NUMBERS + project`, unless there are many. */
  private listed: number[] = []
  /** The project of each minute of the day, or 0. Undefined: they're listed. */
  private all: Uint16Array | undefined
  /** How many heartbeats a project has in an hour, by `project * HOURS + hour`. */
  private readonly heartbeats = new Map<number, number>()

  /** @returns how many bytes it takes */
  add(minute: number, project: number): number {
    const key = project * HOURS + Math.floor(minute / MINUTES)
    const count = this.heartbeats.get(key) ?? 0
    this.heartbeats.set(key, count + 1)
    if (count === 0 && !this.projects.includes(project)) this.projects.push(project)
    return (count === 0 ? BYTES.hour : 0) + this.mark(minute, project)
  }

  /** The first project of each minute that has one. */
  *marks(): Generator<{ minute: number; project: number }> {
    for (const one of this.listed) yield { minute: Math.floor(one / NUMBERS), project: one % NUMBERS }
    for (const [minute, project] of this.all?.entries() ?? []) if (project > 0) yield { minute, project }
  }

  /** A project's heartbeats in each hour. */
  heartbeatsOf(project: number): number[] {
    return Array.from({ length: HOURS }, (_, hour) => this.heartbeats.get(project * HOURS + hour) ?? 0)
  }

  private mark(minute: number, project: number): number {
    if (this.all) {
      if (this.all[minute] === 0) this.all[minute] = project
      return 0
    }
    // Most files are in order, so that the minute is among the last.
    const isMarked = this.listed.findLast((one) => Math.floor(one / NUMBERS) === minute) !== undefined
    if (isMarked) return 0
    this.listed.push(minute * NUMBERS + project)
    if (this.listed.length <= MAX_LISTED) return BYTES.listedMinute
    const all = new Uint16Array(DAY_MINUTES)
    for (const one of this.marks()) all[one.minute] = one.project
    this.listed = []
    this.all = all
    return BYTES.allMinutes - MAX_LISTED * BYTES.listedMinute
  }
}

export interface ReducedDay {
  /** Days since 1970. */
  day: number
  own: ReducedMinutes | undefined
  /** The minutes of the person's agents. */
  agents: ReducedMinutes | undefined
}

export interface ReducedFile {
  heartbeats: number
  skipped: {
    /** Heartbeats without a time that can be read, or from before 2000. */
    time: number
    /** Heartbeats that are too far ahead of the service's clock. */
    future: number
    /** Heartbeats without a project. */
    project: number
  }
  /** The projects with number 1, 2 and so on. */
  projects: Project[]
  /** The days in chronological order. */
  days: ReducedDay[]
}

/** Whether a spreadsheet has rounded all times: to the same one, or to 1.73573E+09. */
class Rounding {
  private times = 0
  private first = 0
  private areEqual = true
  private areRound = true

  add(seconds: number): void {
    if (this.times++ === 0) this.first = seconds
    this.areEqual &&= seconds === this.first
    this.areRound &&= seconds % ROUNDED_SECONDS === 0
  }

  get isCertain(): boolean {
    return this.times >= MIN_ROUNDED && (this.areEqual || this.areRound)
  }
}

class Reduction {
  /** Whether any heartbeat so far has a time or a project. */
  hasAny = false
  private readonly finder = new HeartbeatFinder()
  private heartbeats = 0
  private readonly skipped = { time: 0, future: 0, project: 0 }
  private readonly projects: Project[] = []
  private readonly numbers = new Map<string, number>()
  private readonly days = new Map<number, ReducedDay>()
  private readonly rounding = new Rounding()
  private projectDays = 0
  /** How many bytes it takes. */
  bytes = 0
  private readonly lastSecond = Date.now() / 1_000 + limits.future_minutes * MINUTE_SECONDS

  constructor(private readonly host: ProjectHost) {}

  /** Adds the heartbeats of a JSON file, which has other objects around them. The tokens come in pieces. */
  addFrom(tokens: readonly Token[]): void {
    for (const token of tokens) {
      const found = this.finder.take(token)
      if (found?.kind !== 'end') continue
      const { heartbeat, isListed } = found
      const hasAny = heartbeat.time !== undefined || heartbeat.project !== undefined
      if (!hasAny && !isListed) continue
      this.hasAny ||= hasAny
      this.add(heartbeat)
    }
  }

  /** Adds a line of a CSV file. */
  readonly addLine = (sent: SentHeartbeat): void => {
    this.hasAny = true
    this.add(sent)
  }

  private add(sent: SentHeartbeat): void {
    this.heartbeats++
    const seconds = importedSecondsOf(sent.time)
    if (seconds !== undefined) this.rounding.add(seconds)
    if (seconds === undefined || seconds < FIRST_SECOND) {
      this.skipped.time++
      return
    }
    if (seconds > this.lastSecond) {
      this.skipped.future++
      return
    }
    const minute = Math.floor(seconds / MINUTE_SECONDS)
    const number = this.numberOf(sent)
    if (number === undefined) {
      this.skipped.project++
      return
    }
    const minutes = this.minutesOf(Math.floor(minute / DAY_MINUTES), isOfAgent(sent) ? 'agents' : 'own')
    const before = minutes.projects.length
    this.bytes += minutes.add(minute % DAY_MINUTES, number)
    if (minutes.projects.length === before) return
    if (minutes.projects.length > limits.import_projects_per_day)
      throw validationError('/body', `must have at most ${limits.import_projects_per_day} projects in a day`)
    if (++this.projectDays > limits.import_project_days)
      throw validationError(
        '/body',
        `must have at most ${limits.import_project_days} projects, counted once per day: import it in parts`,
      )
  }

  /** @throws {ApiError} `validation_failed` if a spreadsheet has rounded the times */
  result(): ReducedFile {
    if (this.rounding.isCertain)
      throw validationError(
        '/body',
        'has the same or rounded times in all heartbeats, as a spreadsheet saves them: send the original export',
      )
    const days = [...this.days.values()].sort((a, b) => a.day - b.day)
    return { heartbeats: this.heartbeats, skipped: this.skipped, projects: this.projects, days }
  }

  private minutesOf(number: number, of: 'own' | 'agents'): ReducedMinutes {
    let day = this.days.get(number)
    if (!day) {
      day = { day: number, own: undefined, agents: undefined }
      this.days.set(number, day)
      this.bytes += BYTES.day
    }
    const known = day[of]
    if (known) return known
    this.bytes += BYTES.minutes
    const added = new ReducedMinutes()
    day[of] = added
    return added
  }

  private numberOf(sent: SentHeartbeat): number | undefined {
    const project = projectOf(sent, this.host)
    if (!project || project.name === LAST_PROJECT) return undefined
    const key = project.repo?.toLowerCase() ?? project.name ?? ''
    const known = this.numbers.get(key)
    if (known !== undefined) return known
    if (this.projects.length >= limits.import_projects)
      throw validationError('/body', `must have at most ${limits.import_projects} projects`)
    const number = this.projects.push(project)
    this.numbers.set(key, number)
    this.bytes += BYTES.project + 4 * key.length
    return number
  }
}

/**
 * @param chunks the file as it arrives, unpacked
 * @param requireMemory is told how many bytes the reduced file takes so far, and may wait
 * @throws {ApiError} `payload_too_large`, `invalid_json`, `validation_failed` for a file without heartbeats, and what
 * `requireMemory` throws
 */
export const reduceFile = async (
  chunks: AsyncIterable<Buffer>,
  host: ProjectHost,
  requireMemory: (bytes: number) => Promise<void> = async () => {},
  maxBytes: number = limits.import_unpacked_bytes,
): Promise<ReducedFile> => {
  const reduction = new Reduction(host)
  let reader: JsonTokens | CsvReader | undefined
  let received = 0
  try {
    for await (const chunk of utf8Of(chunks)) {
      received += chunk.length
      if (received > maxBytes) throw new ApiError('payload_too_large')
      for (let at = 0; at < chunk.length; at += PIECE_BYTES) {
        await yieldToEventLoop()
        const piece = chunk.subarray(at, at + PIECE_BYTES)
        // A byte order mark may come first.
        const start = reader ? 0 : piece.findIndex((byte) => byte > 0x20 && byte < 0x80)
        if (start === -1) continue
        reader ??= /[[{]/.test(String.fromCharCode(piece[start] ?? 0))
          ? new JsonTokens()
          : new CsvReader(reduction.addLine)
        if (reader instanceof JsonTokens) reduction.addFrom(reader.read(piece.subarray(start)))
        else await reader.push(piece.subarray(start))
        await requireMemory(reduction.bytes)
      }
    }
    if (reader instanceof JsonTokens) reduction.addFrom(reader.end())
    else await reader?.end()
  } catch (error) {
    if (error instanceof InvalidJsonError)
      throw new ApiError('invalid_json', { detail: 'The file isn’t JSON, or it isn’t complete.' })
    if (error instanceof CsvError) throw validationError('/body', `isn’t CSV: ${error.message}`)
    throw error
  }
  if (!reduction.hasAny)
    throw validationError(
      '/body',
      'has no heartbeats: in WakaTime, export the heartbeats, not the daily totals',
    )
  return reduction.result()
}
