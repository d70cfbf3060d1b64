/** What may be shown of what people did: the one place that decides it. */
import { type PrivacyLevel, privacyLevels } from '../../../schemas/common.js'
import { ApiError, invalid } from '../../errors.js'
import {
  addDays,
  countDays,
  FIRST_DAY,
  LAST_DAY,
  mondayOf,
  type Range,
  sundayOf,
} from '../../platform/time/days.js'
import type { WorkspacePrivacy } from '../workspaces/queries/privacy-levels.js'
import type { Filter, NamedDays } from './queries/dashboard.js'

/** Of the configuration. */
export interface PrivacyRules {
  floor: PrivacyLevel
  minGroup: number
}

/** Who asks, and under which rules of the operator. */
export interface Viewer extends PrivacyRules {
  userId: string
}

/** What an answer may be made of. */
export interface View {
  /** As the answer says it: widened to whole weeks where it shows published ones. */
  range: Range
  /** Days that are shown as they were recorded. */
  named: NamedDays | undefined
  /** Whole weeks of which only what was published is shown. */
  published: { from: string; to: string } | undefined
}

export const stricterOf = (one: PrivacyLevel, other: PrivacyLevel): PrivacyLevel =>
  privacyLevels.indexOf(one) > privacyLevels.indexOf(other) ? one : other

/** @throws {ApiError} `validation_failed` for a level that no admin can choose */
export const requireFloor = (
  floor: PrivacyLevel,
  { activity_privacy = floor }: { activity_privacy?: PrivacyLevel },
): void => {
  if (stricterOf(floor, activity_privacy) !== activity_privacy)
    throw invalid('/body/activity_privacy', `must be ${floor}: the operator of this service allows no other`)
}

/** What is said of a workspace's level, which may be that of the operator. */
export const withFloor = <Workspace extends { activity_privacy: PrivacyLevel }>(
  { floor }: PrivacyRules,
  workspace: Workspace,
): Workspace => ({ ...workspace, activity_privacy: stricterOf(floor, workspace.activity_privacy) })

const rangeOf = (from: string, to: string): Range => ({ from, to, days: countDays(from, to) })

/** The last day, always a Sunday, of which only published weeks are shown; null where there is none. */
const lastPublished = (floor: PrivacyLevel, { level, teamUntil }: WorkspacePrivacy): string | null => {
  if (stricterOf(floor, level) === 'team') return LAST_DAY
  return teamUntil && sundayOf(teamUntil)
}

/** The first day of which it may be said who did what; null for none. */
export const firstNamedDay = (floor: PrivacyLevel, privacy: WorkspacePrivacy): string | null => {
  const last = lastPublished(floor, privacy)
  if (last === null) return FIRST_DAY
  return last === LAST_DAY ? null : addDays(last, 1)
}

/** Undefined for what one person did, where that is shown to nobody but them. */
const divide = (
  { userId, floor }: Viewer,
  privacy: WorkspacePrivacy,
  asked: Range,
  filter: Filter,
): View | undefined => {
  const last = lastPublished(floor, privacy)
  const all: View = { range: asked, named: asked as NamedDays, published: undefined }
  if (filter.userId === userId || last === null || asked.from > last) return all
  if (filter.userId !== undefined) return undefined
  const isMixed = asked.to > last
  const range = rangeOf(mondayOf(asked.from), isMixed ? asked.to : sundayOf(asked.to))
  return {
    range,
    named: isMixed ? (rangeOf(addDays(last, 1), asked.to) as NamedDays) : undefined,
    published: { from: range.from, to: isMixed ? last : range.to },
  }
}

/** @throws {ApiError} `member_detail_hidden` */
export const viewOf = (viewer: Viewer, privacy: WorkspacePrivacy, asked: Range, filter: Filter): View => {
  const view = divide(viewer, privacy, asked, filter)
  if (!view) throw new ApiError('member_detail_hidden')
  return view
}

/** Of as many days just before. */
export const viewBefore = (
  viewer: Viewer,
  privacy: WorkspacePrivacy,
  { range: { from, days } }: View,
  filter: Filter,
): View => {
  const before = rangeOf(addDays(from, -days), addDays(from, -1))
  return divide(viewer, privacy, before, filter) ?? { range: before, named: undefined, published: undefined }
}
