/** Decides which activity may be shown. No other module does. */

import { ApiError } from '../../errors.js'
import { addDays, mondayOf, type Range, rangeOf, sundayOf } from '../../platform/time/days.js'
import { lastPublished, type PrivacyRules, type WorkspacePrivacy } from '../workspaces/index.js'
import type { Filter } from './queries/filter.js'
import type { NamedDays } from './queries/sources.js'

/** The viewer and the operator's rules. */
export interface Viewer extends PrivacyRules {
  /** Null: a workspace key, which has no activity of its own. */
  userId: string | null
}

/** The dashboard that a viewer asks for. */
export interface Asked {
  viewer: Viewer
  workspaceId: string
  range: Range
  filter: Filter
}

/** The data that a response may contain. */
export interface View {
  /** The range in the response, widened to whole weeks where it shows published ones. */
  range: Range
  /** Days that are shown as they were recorded. */
  named: NamedDays | undefined
  /** Whole weeks that show only what was published. */
  published: { from: string; to: string } | undefined
}

/** Undefined if a filter names another person whose activity is private. */
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

/** The same number of days immediately before. */
export const viewBefore = (
  viewer: Viewer,
  privacy: WorkspacePrivacy,
  { range: { from, days } }: View,
  filter: Filter,
): View => {
  const before = rangeOf(addDays(from, -days), addDays(from, -1))
  return divide(viewer, privacy, before, filter) ?? { range: before, named: undefined, published: undefined }
}
