/** Adds the minutes of a person's heartbeats to workspaces, each minute once in each. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { limits } from '../../../schemas/limits.js'
import { ApiError } from '../../errors.js'
import type { Db } from '../../platform/database/client.js'
import { HOURS } from '../../platform/time/days.js'
import {
  addedTo,
  type FlushTarget,
  lockMemberDays,
  type MemberDays,
  recordedHoursOf,
  writeMinutes,
} from '../minutes/index.js'
import { type Candidate, hourOf, type Timeline } from './timeline.js'

const HOUR_MS = 3_600_000

/** The UTC day of an hour that is counted from 1970. */
export const dayOfHour = (hour: number): string => new Date(hour * HOUR_MS).toISOString().slice(0, 10)

/** The idle window of a workspace as clients go by it. */
export const clampIdleWindow = (minutes: number): number =>
  Math.min(Math.max(minutes, limits.heartbeat_idle_minutes_min), limits.heartbeat_idle_minutes_max)

/** Whether a person lets the minutes of a repository and hour be recorded now. */
export const recordedBy = ({ recording, timezone }: FlushTarget) => {
  const reposOff = new Set(recording?.reposOff)
  const ofDays = new Map<string, boolean[]>()
  const isHourRecorded = (hour: number): boolean => {
    if (!recording?.hours) return true
    const day = dayOfHour(hour)
    const recorded = ofDays.get(day) ?? recordedHoursOf(recording.hours, timezone ?? 'UTC', day)
    ofDays.set(day, recorded)
    return recorded[hour % HOURS] === true
  }
  return (hour: number, repoKey: string | undefined): boolean =>
    !recording?.paused && !(repoKey !== undefined && reposOff.has(repoKey)) && isHourRecorded(hour)
}

/** The first day on which minutes of a project count in a workspace. */
export type FirstDays = (workspaceId: string, project: string) => string

interface Minutes {
  target: FlushTarget
  /** The repository of a project, in lower case. */
  repoKeyOf(project: string): string | undefined
  /** Where minutes were imported before, the candidates are in the order of their minutes. */
  candidates: Candidate[]
  /** Without it, every day counts. */
  firstDays?: FirstDays | undefined
  /** How many minutes an earlier import has found; so many do not count again. */
  imported?: ((place: Place) => number) | undefined
}

/** A repository on a day in a workspace. */
export interface Place {
  workspaceId: string
  day: string
  repoKey: string
}

interface Counted {
  /** How many minutes were added, in all workspaces together. */
  minutes: number
  /** With `imported`: the minutes of each place, whether or not they were imported before. */
  found: (Place & { minutes: number })[]
  /** Whether all writes are sent at once, so that they may be deferred to the commit. */
  isSmall: boolean
  write(names: ReadonlyMap<string, string>): Promise<unknown>
}

/** Counts those of the candidates that count now in each workspace, and locks the days that they are on. */
export const countMinutes = async (
  tx: Db,
  userId: string,
  timeline: Timeline,
  { target, repoKeyOf, candidates, firstDays, imported }: Minutes,
): Promise<Counted> => {
  const isRecorded = recordedBy(target)
  const recorded = candidates.flatMap(({ minute, project, gap }) => {
    const repoKey = repoKeyOf(project)
    return repoKey !== undefined && isRecorded(hourOf(minute), repoKey)
      ? [{ minute, repoKey, gap, project }]
      : []
  })
  const dayOf = daysOfMinutes()
  const ofRepos = new Map<string, typeof recorded>()
  const daysOf = new Map<string, Set<string>>()
  for (const one of recorded) {
    const ofRepo = ofRepos.get(one.repoKey) ?? []
    if (ofRepo.push(one) === 1) ofRepos.set(one.repoKey, ofRepo)
    daysOf.set(one.repoKey, (daysOf.get(one.repoKey) ?? new Set()).add(dayOf(one.minute)))
  }
  checkSize(target, (repoKey) => ({
    minutes: ofRepos.get(repoKey)?.length ?? 0,
    days: daysOf.get(repoKey)?.size ?? 0,
  }))
  let work = await pauseAfter(candidates.length)
  const places: { workspaceId: string; idleWindow: number; own: typeof recorded }[] = []
  for (const { workspaceId, repoKeys, firstDay, idleWindow } of target.workspaces) {
    const matched = repoKeys.flatMap((repoKey) => ofRepos.get(repoKey) ?? [])
    const own =
      firstDays || firstDay
        ? matched.filter(({ minute, project }) => {
            const day = dayOf(minute)
            return day >= firstDay && (!firstDays || day >= firstDays(workspaceId, project))
          })
        : matched
    if (own.length > 0) places.push({ workspaceId, idleWindow, own })
    work = await pauseAfter(work + matched.length)
  }
  if (places.length === 0) return { minutes: 0, found: [], isSmall: true, write: async () => {} }
  const locked = await lockMemberDays(
    tx,
    places.map(({ workspaceId, own }) => ({
      workspaceId,
      userId,
      days: new Set(own.map(({ minute }) => dayOf(minute))),
    })),
  )
  const found: Counted['found'] = []
  for (const [index, { workspaceId, idleWindow: given, own }] of places.entries()) {
    const idleWindow = clampIdleWindow(given)
    const repoDays = new Map<string, RepoDay>()
    for (const { minute, repoKey, gap } of own) {
      if (gap > idleWindow || timeline.hasCounted(workspaceId, minute)) continue
      if (!timeline.mayCountFor(repoKey, minute)) continue
      timeline.count(workspaceId, minute, repoKey)
      const day = dayOf(minute)
      const key = `${day} ${repoKey}`
      const repoDay = repoDays.get(key) ?? newRepoDay({ workspaceId, day, repoKey }, imported)
      repoDays.set(key, repoDay)
      if (++repoDay.minutes <= repoDay.skipped) continue
      const hour = hourOf(minute) % HOURS
      repoDay.hours[hour] = (repoDay.hours[hour] ?? 0) + 1
    }
    const days = locked[index]?.days
    for (const { hours, skipped, minutes, ...place } of repoDays.values()) {
      if (imported) found.push({ ...place, minutes })
      if (minutes <= skipped) continue
      days?.get(place.day)?.add(place.repoKey, minutes - skipped, hours)
    }
    work = await pauseAfter(work + own.length)
  }
  const isSmall = places.reduce((sum, { own }) => sum + own.length, 0) < PIECE_MINUTES
  const members = locked.flatMap((member) => member ?? [])
  return {
    minutes: members.reduce((sum, { days }) => sum + sumOf(days), 0),
    found,
    isSmall,
    write: async (names) => {
      const writes: Promise<void>[] = []
      for (const part of isSmall ? [members] : members.map((member) => [member])) {
        const write = writeMinutes(tx, addedTo(part, names))
        // It is awaited only after the others were sent.
        write.catch(() => {})
        writes.push(write)
        if (!isSmall) await nextTurn()
      }
      await Promise.all(writes)
    },
  }
}

/** How many minutes are looked at before other requests run. */
const PIECE_MINUTES = 1_000

/** @returns the work since the last pause */
const pauseAfter = async (work: number): Promise<number> => {
  if (work < PIECE_MINUTES) return work
  await nextTurn()
  return 0
}

/**
 * Asked before the work.
 * @throws {ApiError} `payload_too_large`
 */
const checkSize = (
  { workspaces }: FlushTarget,
  sizeOf: (repoKey: string) => { minutes: number; days: number },
): void => {
  let [minutes, rows] = [0, 0]
  for (const { repoKeys } of workspaces) {
    for (const repoKey of repoKeys) {
      const size = sizeOf(repoKey)
      minutes += size.minutes
      rows += size.days
    }
  }
  const tooMany = (number: number, what: string, limit: number) =>
    new ApiError('payload_too_large', {
      detail: `This request would change up to ${number.toLocaleString('en')} ${what}. The limit is ${limit.toLocaleString('en')}. Send less in one request.`,
    })
  if (rows > limits.flush_rows)
    throw tooMany(rows, 'rows (one per repository, day and workspace)', limits.flush_rows)
  if (minutes > limits.heartbeat_minutes) throw tooMany(minutes, 'minutes', limits.heartbeat_minutes)
}

/** Minutes of one repository on one day. */
interface RepoDay extends Place {
  minutes: number
  /** How many of them, the first ones, were imported before. */
  skipped: number
  /** The others, by UTC hour. */
  hours: Record<string, number>
}

const newRepoDay = (place: Place, imported: Minutes['imported']): RepoDay => ({
  ...place,
  minutes: 0,
  skipped: imported?.(place) ?? 0,
  hours: {},
})

/** The UTC days of minutes, each of which is named once. */
const daysOfMinutes = () => {
  const names = new Map<number, string>()
  return (minute: number): string => {
    const hour = hourOf(minute)
    const day = names.get(hour) ?? dayOfHour(hour)
    names.set(hour, day)
    return day
  }
}

const sumOf = (days: MemberDays['days']): number => {
  let sum = 0
  for (const { added } of days.values()) for (const { minutes } of added.values()) sum += minutes
  return sum
}
