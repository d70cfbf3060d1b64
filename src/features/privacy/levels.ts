/** A workspace's effective privacy level: its own, or a stricter one set by the operator. */
import { type PrivacyLevel, privacyLevels } from '../../../schemas/common.js'
import { validationError } from '../../errors.js'
import { addDays, FIRST_DAY, LAST_DAY, sundayOf } from '../../platform/time/days.js'

export interface WorkspacePrivacy {
  level: PrivacyLevel
  /** At `named`: the last UTC day with the level `team`. Up to this day, nothing is shown by name. */
  teamUntil: string | null
}

/** The operator's configuration. */
export interface PrivacyRules {
  floor: PrivacyLevel
  minGroup: number
}

export const stricterOf = (one: PrivacyLevel, other: PrivacyLevel): PrivacyLevel =>
  privacyLevels.indexOf(one) > privacyLevels.indexOf(other) ? one : other

/** @throws {ApiError} `validation_failed` for a level that admins can't choose */
export const requireFloor = (
  floor: PrivacyLevel,
  { activity_privacy = floor }: { activity_privacy?: PrivacyLevel },
): void => {
  if (stricterOf(floor, activity_privacy) !== activity_privacy)
    throw validationError(
      '/body/activity_privacy',
      `must be ${floor}: the operator of this service allows no other level`,
    )
}

/** The workspace with its effective level, which may be the operator's. */
export const withFloor = <Workspace extends { activity_privacy: PrivacyLevel }>(
  { floor }: PrivacyRules,
  workspace: Workspace,
): Workspace => ({ ...workspace, activity_privacy: stricterOf(floor, workspace.activity_privacy) })

/**
 * The last local day that only published weeks cover, always a Sunday. Null if no day is limited to them. When the
 * level was loosened, the day after `teamUntil` may have begun in a time zone ahead of UTC, so it counts too.
 */
export const lastPublished = (floor: PrivacyLevel, { level, teamUntil }: WorkspacePrivacy): string | null => {
  if (stricterOf(floor, level) === 'team') return LAST_DAY
  return teamUntil && sundayOf(addDays(teamUntil, 1))
}

/** The first day with numbers that may be shown by name. Null if there is none. */
export const firstNamedDay = (floor: PrivacyLevel, privacy: WorkspacePrivacy): string | null => {
  const last = lastPublished(floor, privacy)
  if (last === null) return FIRST_DAY
  return last === LAST_DAY ? null : addDays(last, 1)
}
