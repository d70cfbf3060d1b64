/** What a person does not want to be recorded: the same rules as the service's, so that it is not even kept here. */
import type { Recording } from './api.js'

/** Whether a repository matches a pattern; `*` stands for any characters, and case does not matter. */
const matches = (pattern: string, repo: string): boolean => {
  const [first = '', ...rest] = pattern.toLowerCase().split('*')
  const name = repo.toLowerCase()
  const last = rest.pop()
  if (last === undefined) return name === first
  if (!name.startsWith(first)) return false
  let from = first.length
  for (const part of rest) {
    const found = name.indexOf(part, from)
    if (found < 0) return false
    from = found + part.length
  }
  return name.length - last.length >= from && name.endsWith(last)
}

const weekdays = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']

const localHour = (at: number, timezone: string | undefined) => {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: timezone,
    weekday: 'short',
    hour: 'numeric',
    hourCycle: 'h23',
  })
  const parts = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, value]))
  return { weekday: weekdays.indexOf(parts.weekday ?? '') + 1, hour: Number(parts.hour) }
}

/** Whether minutes of a repository, in the UTC hour that begins at `at`, are not to be recorded. */
export const isOff = (recording: Recording, repo: string, at: number, timezone: string | undefined) => {
  if (recording.paused || recording.repos_off.some((pattern) => matches(pattern, repo))) return true
  if (recording.hours === null) return false
  const { from, to, weekdays: days } = recording.hours
  const { weekday, hour } = localHour(at, timezone)
  const overMidnight = from > to
  // What goes on after midnight belongs to the day on which it began.
  const afterMidnight = overMidnight && hour < to
  if (!afterMidnight && (hour < from || (!overMidnight && hour >= to))) return true
  return !days.includes(afterMidnight ? ((weekday + 5) % 7) + 1 : weekday)
}
