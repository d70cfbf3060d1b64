/**
 * Applies a person's recording preferences with the rules of the service, so that excluded minutes aren't even kept
 * here.
 */
import type { Recording } from './api.js'
import { matchesPattern } from './pattern.js'

const weekdays = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']

const localHour = (at: number, timezone: string | null | undefined) => {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: timezone ?? undefined,
    weekday: 'short',
    hour: 'numeric',
    hourCycle: 'h23',
  })
  const parts = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, value]))
  return { weekday: weekdays.indexOf(parts.weekday ?? '') + 1, hour: Number(parts.hour) }
}

/** Whether minutes of a repository in the UTC hour that begins at `at` are excluded. */
export const isOff = (
  recording: Recording,
  repo: string,
  at: number,
  timezone: string | null | undefined,
) => {
  if (recording.paused || recording.repos_off.some((pattern) => matchesPattern(pattern, repo))) return true
  if (recording.hours === null) return false
  const { from, to, weekdays: days } = recording.hours
  const { weekday, hour } = localHour(at, timezone)
  const overMidnight = from > to
  // Hours after midnight belong to the day on which the recording hours began.
  const afterMidnight = overMidnight && hour < to
  if (!afterMidnight && (hour < from || (!overMidnight && hour >= to))) return true
  return !days.includes(afterMidnight ? ((weekday + 5) % 7) + 1 : weekday)
}
