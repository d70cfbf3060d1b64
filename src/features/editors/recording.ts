/** A person's time zone, and what they record. */
import { HOURS } from '../../platform/time/days.js'
import { type FlushTarget, recordedHoursOf } from '../minutes/index.js'
import { dayOfHour } from './timeline.js'

/** The time zone of minutes recorded now: the one sent with them, or the person's. */
export const zoneOf = ({ timezone }: FlushTarget, sent: string | undefined): string =>
  sent ?? timezone ?? 'UTC'

/** Whether a person currently allows recording for a repository and hour. */
export const recordedBy = ({ recording }: FlushTarget, timezone: string) => {
  const reposOff = new Set(recording?.reposOff)
  const ofDays = new Map<string, boolean[]>()
  const isHourRecorded = (hour: number): boolean => {
    if (!recording?.hours) return true
    const day = dayOfHour(hour)
    const recorded = ofDays.get(day) ?? recordedHoursOf(recording.hours, timezone, day)
    ofDays.set(day, recorded)
    return recorded[hour % HOURS] === true
  }
  return (hour: number, repoKey: string | undefined): boolean =>
    !recording?.paused && !(repoKey !== undefined && reposOff.has(repoKey)) && isHourRecorded(hour)
}
