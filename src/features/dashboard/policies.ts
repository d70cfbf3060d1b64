/** Decides which activity may be shown. No other module does. */

import { ApiError } from '../../errors.js'
import { addDays, mondayOf, type Range, rangeOf, sundayOf } from '../../platform/time/days.js'
import { lastPublished, type PrivacyRules, type WorkspacePrivacy } from '../workspaces/index.js'
import type { Filter, Subject } from './queries/filter.js'
import type { NamedDays } from './queries/sources.js'

/** The viewer and the operator's rules. */
export interface Viewer extends PrivacyRules {
  /** In the access log: the person, or the workspace key. */
  id: string
  /** Null: a workspace key, which has no activity of its own. */
  userId: string | null
}

/** The dashboard that a viewer asks for. */
export interface DashboardQuestion {
  viewer: Viewer
  workspaceId: string
  range: Range
  subject: Subject
  /** Only this repository, in lower case. */
  repoKey: string | undefined
}

/** The days that a response may show. */
export interface ShownDays {
  /** The range in the response, widened to whole weeks where it shows published ones. */
  range: Range
  /** Days that are shown as they were recorded. */
  named: NamedDays | undefined
  /** Whole weeks that show only what was published. */
  published: { from: string; to: string } | undefined
}

/** What a response shows. */
export interface Shown extends ShownDays {
  filter: Filter
}

/** Undefined if the question names another person whose activity is private. */
const divide = (
  { viewer, subject }: DashboardQuestion,
  privacy: WorkspacePrivacy,
  requested: Range,
): ShownDays | undefined => {
  const last = lastPublished(viewer.floor, privacy)
  const isOwn = subject.kind === 'person' && subject.userId === viewer.userId
  if (isOwn || last === null || requested.from > last)
    return { range: requested, named: requested as NamedDays, published: undefined }
  if (subject.kind !== 'everyone') return undefined
  const isMixed = requested.to > last
  const range = rangeOf(mondayOf(requested.from), isMixed ? requested.to : sundayOf(requested.to))
  return {
    range,
    named: isMixed ? (rangeOf(addDays(last, 1), requested.to) as NamedDays) : undefined,
    published: { from: range.from, to: isMixed ? last : range.to },
  }
}

/** @throws {ApiError} `member_detail_hidden`, `member_not_found` */
export const decideShown = (question: DashboardQuestion, privacy: WorkspacePrivacy): Shown => {
  const { subject, repoKey } = question
  const days = divide(question, privacy, question.range)
  if (!days) throw new ApiError('member_detail_hidden')
  // Checked only now, so that the error doesn't reveal who is or was a member at the level "team".
  if (subject.kind === 'unknown') throw new ApiError('member_not_found')
  return { ...days, filter: { userId: subject.kind === 'person' ? subject.userId : undefined, repoKey } }
}

/** The same number of days immediately before. */
export const daysToCompare = (
  question: DashboardQuestion,
  privacy: WorkspacePrivacy,
  { range: { from, days } }: Shown,
): ShownDays => {
  const range = rangeOf(addDays(from, -days), addDays(from, -1))
  return divide(question, privacy, range) ?? { range, named: undefined, published: undefined }
}
