import type { Operations } from './api.js'

export type FlushBody = Operations['POST /api/team/active-minutes']['request']['body']

/** Minutes of a repository in the UTC hour that begins at `at`. */
export interface Minutes {
  repo: string
  at: number
  minutes: number
}

const HOUR_MS = 60 * 60_000
/** The most entries in one flush. An entry is a repository on a day. */
export const MAX_ENTRIES = 200
const MAX_IN_AN_HOUR = 60

const dayOf = (at: number) => new Date(at).toISOString().slice(0, 10)

/** Case doesn't matter in repository names. */
const keyOf = ({ repo, at }: Minutes) => `${repo.toLowerCase()} ${at}`

/** Checks the arguments of `add`, because one invalid repository would get a whole batch rejected. */
export const toMinutes = (repo: string, at: Date | number, minutes: number): Minutes => {
  if (!/^[\w.-]{1,100}(\/[\w.-]{1,100}){1,20}$/.test(repo) || /(^|\/)\.{1,2}(\/|$)/.test(repo)) {
    throw new TypeError(`A repository is owner/repo, not ${repo}.`)
  }
  const moment = Number(at)
  // The service accepts the years 0 to 9999. Date accepts more.
  if (!(moment >= 0 && moment < 253_402_300_800_000)) throw new RangeError('The moment isn’t a valid time.')
  if (!Number.isInteger(minutes) || minutes < 1 || minutes > MAX_IN_AN_HOUR) {
    throw new RangeError('Add whole minutes, from 1 to 60.')
  }
  return { repo, at: moment - (moment % HOUR_MS), minutes }
}

/** Merges minutes into those of a batch, by repository and hour. An hour has at most 60. */
export const merge = (batch: ReadonlyMap<string, Minutes>, more: Minutes): Map<string, Minutes> => {
  const there = batch.get(keyOf(more)) ?? { ...more, minutes: 0 }
  const minutes = Math.min(MAX_IN_AN_HOUR, there.minutes + more.minutes)
  return new Map(batch).set(keyOf(more), { ...there, minutes })
}

/** The body of a flush: an entry for each repository and UTC day. */
export const toBody = (id: string, batch: Iterable<Minutes>, timezone: string | undefined): FlushBody => {
  const entries = new Map<string, FlushBody['entries'][number] & { hours: Record<string, number> }>()
  for (const { repo, at, minutes } of batch) {
    const day = dayOf(at)
    const key = `${repo.toLowerCase()} ${day}`
    const entry = entries.get(key) ?? { repo, day, minutes: 0, hours: {} }
    entry.minutes += minutes
    entry.hours[new Date(at).getUTCHours()] = minutes
    entries.set(key, entry)
  }
  return { flush_id: id, ...(timezone !== undefined && { timezone }), entries: [...entries.values()] }
}
