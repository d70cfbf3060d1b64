/** A person's time zone, and what they record. */
import { HOURS } from '../../platform/time/days.js'
import { nextTimezone } from '../accounts/index.js'
import { type FlushTarget, recordedHoursOf } from '../minutes/index.js'
import { dayOfHour } from './timeline.js'

/** How a person's minutes are recorded now. */
export interface Recording {
  timezone: string
  /** Whether the person allows recording for a repository and hour. Undefined: a name without a repository. */
  isRecorded(hour: number, repoKey: string | undefined): boolean
}

/** @param named the time zone that the client named. Undefined: none */
export const recordingOf = (target: FlushTarget, named: string | undefined): Recording => {
  const { recording } = target
  const timezone = nextTimezone(target, named) ?? 'UTC'
  const reposOff = new Set(recording?.reposOff)
  const ofDays = new Map<string, boolean[]>()
  const isHourRecorded = (hour: number): boolean => {
    if (!recording?.hours) return true
    const day = dayOfHour(hour)
    const recorded = ofDays.get(day) ?? recordedHoursOf(recording.hours, timezone, day)
    ofDays.set(day, recorded)
    return recorded[hour % HOURS] === true
  }
  return {
    timezone,
    isRecorded: (hour, repoKey) =>
      !recording?.paused && !(repoKey !== undefined && reposOff.has(repoKey)) && isHourRecorded(hour),
  }
}
