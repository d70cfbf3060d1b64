/** Decides which activity may be shown, and which views are recorded. All other modules only obey. */

import { ApiError } from '../../errors.js'
import { addDays, mondayOf, type Range, rangeOf, sundayOf } from '../../platform/time/days.js'
import { lastPublished, type PrivacyRules, type WorkspacePrivacy } from '../privacy/index.js'
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
  /** Days that are recorded as viewed, because they name other people. */
  recorded: Range | undefined
}

/** The hours that a response shows: the viewer's own, all hours of days on which enough people have any, or none. */
export type ShownHours =
  | { kind: 'own' }
  | { kind: 'team'; viewerId: string; minOthers: number }
  | { kind: 'none' }

/** The decision about a response. */
export interface Shown extends ShownDays {
  filter: Filter
  hours: ShownHours
}

const isOwn = ({ viewer, subject }: DashboardQuestion): boolean =>
  subject.kind === 'person' && subject.userId === viewer.userId

/** Hidden: the question names another person, whose activity is private in these days. */
type Division = { kind: 'shown'; days: ShownDays } | { kind: 'hidden' }

const divide = (question: DashboardQuestion, privacy: WorkspacePrivacy, requested: Range): Division => {
  const asRecorded = { range: requested, named: requested as NamedDays, published: undefined }
  if (isOwn(question)) return { kind: 'shown', days: { ...asRecorded, recorded: undefined } }
  const last = lastPublished(question.viewer.floor, privacy)
  if (last === null || requested.from > last)
    return { kind: 'shown', days: { ...asRecorded, recorded: requested } }
  if (question.subject.kind !== 'everyone') return { kind: 'hidden' }
  const isMixed = requested.to > last
  const range = rangeOf(mondayOf(requested.from), isMixed ? requested.to : sundayOf(requested.to))
  const published = { from: range.from, to: isMixed ? last : range.to }
  const named = isMixed ? (rangeOf(addDays(last, 1), requested.to) as NamedDays) : undefined
  return { kind: 'shown', days: { range, named, published, recorded: named } }
}

/** @throws {ApiError} `member_detail_hidden`, `member_not_found` */
export const decideShown = (question: DashboardQuestion, privacy: WorkspacePrivacy): Shown => {
  const { subject, repoKey } = question
  const division = divide(question, privacy, question.range)
  if (division.kind === 'hidden') throw new ApiError('member_detail_hidden')
  // Checked only now, so that the error doesn't reveal who is or was a member at the level "team".
  if (subject.kind === 'unknown') throw new ApiError('member_not_found')
  const filter = { userId: subject.kind === 'person' ? subject.userId : undefined, repoKey }
  return { ...division.days, filter, hours: decideHours(question) }
}

const decideHours = (question: DashboardQuestion): ShownHours => {
  const { viewer, subject } = question
  if (isOwn(question)) return { kind: 'own' }
  // A workspace key sees no hours at all.
  if (viewer.userId === null || subject.kind !== 'everyone') return { kind: 'none' }
  return { kind: 'team', viewerId: viewer.userId, minOthers: viewer.minGroup }
}

/** The same number of days immediately before. Where they're hidden, the response compares with nothing. */
export const daysToCompare = (
  question: DashboardQuestion,
  privacy: WorkspacePrivacy,
  { range: { from, days } }: Shown,
): ShownDays => {
  const range = rangeOf(addDays(from, -days), addDays(from, -1))
  const division = divide(question, privacy, range)
  if (division.kind === 'shown') return division.days
  return { range, named: undefined, published: undefined, recorded: undefined }
}
