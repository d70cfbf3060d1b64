/** A person's time zone, and what they record. */
import { HOURS } from '../../platform/time/days.js'
import { dayOf } from '../../platform/time/local-hours.js'
import { nextTimezone } from '../accounts/index.js'
import { type FlushTarget, recordedHoursOf } from '../recording/index.js'

/** How a person's minutes are recorded now. */
export interface Recording {
  timezone: string
  /** Whether the request names another zone than the stored one. */
  hasNewTimezone: boolean
  /** Whether the person allows recording for a repository and hour. Undefined: a name without a repository. */
  isRecorded(hour: number, repoKey: string | undefined): boolean
}

/** @param named the time zone that was sent with the minutes. Undefined: none */
export const recordingOf = (target: FlushTarget, named: string | undefined): Recording => {
  const { recording } = target
  const next = nextTimezone(target, named)
  const timezone = next ?? 'UTC'
  const reposOff = new Set(recording?.reposOff)
  const ofDays = new Map<string, boolean[]>()
  const isHourRecorded = (hour: number): boolean => {
    if (!recording?.hours) return true
    const day = dayOf(hour)
    const recorded = ofDays.get(day) ?? recordedHoursOf(recording.hours, timezone, day)
    ofDays.set(day, recorded)
    return recorded[hour % HOURS] === true
  }
  return {
    timezone,
    hasNewTimezone: next !== target.timezone,
    isRecorded: (hour, repoKey) =>
      !recording?.paused && !(repoKey !== undefined && reposOff.has(repoKey)) && isHourRecorded(hour),
  }
}
