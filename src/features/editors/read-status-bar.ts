/** How long a person has worked today, for the status bars of editors. */

import { TIMEZONE_LENGTH } from '../../../schemas/activity.js'
import type { StatusBar } from '../../../schemas/editors.js'
import { limits } from '../../../schemas/limits.js'
import type { Db } from '../../platform/database/client.js'
import { addDays, HOURS } from '../../platform/time/days.js'
import { canonicalTimezone, listOwnAgentHours, listOwnHours, localHoursOf } from '../activity/index.js'

const MINUTE_MS = 60_000

/** How far the clocks of a zone are ahead of UTC at a moment, in milliseconds. */
const offsetAt = (timeZone: string, moment: number): number => {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' })
  return Date.parse(`${format.format(moment).replace(' ', 'T')}Z`) - Math.floor(moment / 1_000) * 1_000
}

/** The moment at which a day begins in a zone. */
const startOf = (timezone: string, day: string): number => {
  const midnight = Date.parse(day)
  const guess = midnight - offsetAt(timezone, midnight)
  return midnight - offsetAt(timezone, guess)
}

/**
 * Minutes on the local day. UTC hours count as a whole, by the local hour in which they start; what counts in several
 * workspaces counts once here.
 */
const minutesOn = async (
  list: typeof listOwnHours,
  db: Db,
  userId: string,
  timezone: string,
  day: string,
) => {
  const rows = await list(db, userId, [addDays(day, -1), day, addDays(day, 1)])
  const ofRepos = new Map<string, { hours: number[]; rest: number }>()
  for (const { day: utcDay, repoKey, minutes, hours } of rows) {
    const key = `${utcDay} ${repoKey}`
    const most = ofRepos.get(key) ?? { hours: new Array<number>(HOURS).fill(0), rest: 0 }
    ofRepos.set(key, most)
    const inHours = hours ?? []
    most.hours = most.hours.map((most, hour) => Math.max(most, inHours[hour] ?? 0))
    most.rest = Math.max(most.rest, minutes - inHours.reduce((sum, minutes) => sum + minutes, 0))
  }
  const ofHours = new Map<string, number>()
  let rest = 0
  for (const [key, most] of ofRepos) {
    const utcDay = key.slice(0, 10)
    if (utcDay === day) rest += most.rest
    localHoursOf(timezone, utcDay).forEach((local, hour) => {
      if (addDays(utcDay, Math.floor(local / HOURS)) !== day) return
      const own = `${utcDay} ${hour}`
      ofHours.set(own, (ofHours.get(own) ?? 0) + (most.hours[hour] ?? 0))
    })
  }
  for (const minutes of ofHours.values()) rest += Math.min(minutes, limits.minutes_per_hour)
  return Math.min(rest, limits.minutes_per_day)
}

const durationOf = (total: number) => {
  const [hours, minutes] = [Math.floor(total / 60), total % 60]
  const unit = (count: number, name: string) => `${count} ${name}${count === 1 ? '' : 's'}`
  return {
    text: hours > 0 ? `${unit(hours, 'hr')} ${unit(minutes, 'min')}` : unit(minutes, 'min'),
    digital: `${hours}:${String(minutes).padStart(2, '0')}`,
    hours,
    minutes,
    total_seconds: total * 60,
  }
}

/**
 * @param given the time zone that the editor names, if it is one
 * @param stored that of the person
 */
export const readStatusBar = async (
  db: Db,
  userId: string,
  given: string | undefined,
  stored: string | null,
): Promise<StatusBar> => {
  const named = given === undefined || given.length > TIMEZONE_LENGTH ? undefined : canonicalTimezone(given)
  const timezone = named ?? canonicalTimezone(stored ?? 'UTC') ?? 'UTC'
  const now = Date.now()
  const day = new Date(now + offsetAt(timezone, now)).toISOString().slice(0, 10)
  const [own, ofAgents] = await Promise.all([
    minutesOn(listOwnHours, db, userId, timezone, day),
    minutesOn(listOwnAgentHours, db, userId, timezone, day),
  ])
  const total = durationOf(own)
  const end = startOf(timezone, addDays(day, 1)) - MINUTE_MS / 60
  return {
    cached_at: new Date(now).toISOString(),
    data: {
      grand_total: total,
      categories: [
        { name: 'Coding', ...total },
        ...(ofAgents > 0 ? [{ name: 'AI Coding', ...durationOf(ofAgents) }] : []),
      ],
      range: {
        date: day,
        start: new Date(startOf(timezone, day)).toISOString(),
        end: new Date(end).toISOString(),
        text: 'Today',
        timezone,
      },
    },
  }
}
