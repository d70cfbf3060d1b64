/**
 * Reduces a file of heartbeats to times and projects while it arrives: WakaTime's data dump, and the CSV or JSON of
 * wakapi. For any file, this takes a few megabytes at most, because a minute has one project, and a day a limited
 * number of them.
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
/** January 1, 2000, in minutes since 1970. */
const FIRST_MINUTE = 946_684_800 / MINUTE_SECONDS
const PIECE_BYTES = 16_384

/** The minutes of a UTC day, each with the first project in it. */
export interface ReducedMinutes {
  /** The number of the project for each minute of the day. 0: no project. */
  minutes: Uint16Array
  /** For each project of the day, also one without a minute, its heartbeats in each hour. */
  heartbeats: Map<number, Uint32Array>
}

export interface ReducedDay {
  /** Days since 1970. */
  day: number
  own: ReducedMinutes
  /** The minutes of the person's agents. */
  agents: ReducedMinutes
}

export interface ReducedFile {
  heartbeats: number
  skipped: {
    /** Heartbeats without a time that can be read, or from before 2000 or the future. */
    time: number
    /** Heartbeats without a project. */
    project: number
  }
  /** The projects with number 1, 2 and so on. */
  projects: Project[]
  /** The days in chronological order. */
  days: ReducedDay[]
}

class Reduction {
  /** Whether any heartbeat so far has a time or a project. */
  hasAny = false
  private readonly finder = new HeartbeatFinder()
  private heartbeats = 0
  private readonly skipped = { time: 0, project: 0 }
  private readonly projects: Project[] = []
  private readonly numbers = new Map<string, number>()
  private readonly days = new Map<number, ReducedDay>()
  private projectDays = 0
  private readonly lastMinute = Math.floor(Date.now() / 60_000) + DAY_MINUTES

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
    const minute = seconds === undefined ? undefined : Math.floor(seconds / MINUTE_SECONDS)
    if (minute === undefined || minute < FIRST_MINUTE || minute > this.lastMinute) {
      this.skipped.time++
      return
    }
    const number = this.numberOf(sent)
    if (number === undefined) {
      this.skipped.project++
      return
    }
    const day = this.dayOf(Math.floor(minute / DAY_MINUTES))
    const index = minute % DAY_MINUTES
    const hour = Math.floor(index / MINUTES)
    const { minutes, heartbeats } = isOfAgent(sent) ? day.agents : day.own
    if (minutes[index] === 0) minutes[index] = number
    const known = heartbeats.get(number)
    if (known) {
      known[hour] = (known[hour] ?? 0) + 1
      return
    }
    const hours = new Uint32Array(HOURS)
    hours[hour] = 1
    heartbeats.set(number, hours)
    if (heartbeats.size > limits.import_projects_per_day)
      throw validationError('/body', `must have at most ${limits.import_projects_per_day} projects in a day`)
    if (++this.projectDays > limits.import_project_days)
      throw validationError(
        '/body',
        `must have at most ${limits.import_project_days} projects, counted once per day: import it in parts`,
      )
  }

  result(): ReducedFile {
    const days = [...this.days.values()].sort((a, b) => a.day - b.day)
    return { heartbeats: this.heartbeats, skipped: this.skipped, projects: this.projects, days }
  }

  private dayOf(day: number): ReducedDay {
    const known = this.days.get(day)
    if (known) return known
    const noMinutes = () => ({ minutes: new Uint16Array(DAY_MINUTES), heartbeats: new Map() })
    const added = { day, own: noMinutes(), agents: noMinutes() }
    this.days.set(day, added)
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
    return number
  }
}

/**
 * @param chunks the file as it arrives, unpacked
 * @throws {ApiError} `payload_too_large`, `invalid_json`, and `validation_failed` for a file without heartbeats
 */
export const reduceFile = async (
  chunks: AsyncIterable<Buffer>,
  host: ProjectHost,
  maxBytes: number = limits.import_unpacked_bytes,
): Promise<ReducedFile> => {
  const reduction = new Reduction(host)
  let reader: JsonTokens | CsvReader | undefined
  let received = 0
  try {
    for await (const chunk of chunks) {
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
  if (reader instanceof CsvReader && !reader.hasColumns)
    throw validationError('/body', 'must be JSON, or CSV with the columns `time` and `project`')
  if (!reduction.hasAny)
    throw validationError(
      '/body',
      'has no heartbeats: in WakaTime, export the heartbeats, not the daily totals',
    )
  return reduction.result()
}
