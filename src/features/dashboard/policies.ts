/** Decides which activity may be shown, and which views are recorded. All other modules follow its decisions. */

import { ApiError } from '../../errors.js'
import { addDays, mondayOf, type Range, rangeOf, sundayOf } from '../../platform/time/days.js'
import { lastPublished, type PrivacyRules, type WorkspacePrivacy } from '../privacy/index.js'
import { rangeBefore } from './choose-range.js'
import type { Filter, Subject } from './queries/filter.js'
import type { NamedDays } from './queries/sources.js'

export interface Viewer {
  /** The id for the access log: the person's, or the workspace key's. */
  id: string
  /** Null for a workspace key, which has no activity of its own. */
  userId: string | null
}

/** The dashboard that a viewer asks for, and the operator's rules for what it may show. */
export interface DashboardQuestion {
  viewer: Viewer
  rules: PrivacyRules
  workspaceId: string
  range: Range
  /** The caller's own today. Comparisons leave later days out. */
  today: string
  subject: Subject
  /** The only repository to include, in lower case. */
  repoKey: string | undefined
}

/** Whole weeks that show only what was published. */
export interface Weeks {
  from: string
  to: string
}

/** The days of a range. Mixed: published weeks, and after them days that are shown as they were recorded. */
export type ShownDays =
  | { kind: 'recorded'; named: NamedDays }
  | { kind: 'published'; weeks: Weeks }
  | { kind: 'mixed'; weeks: Weeks; named: NamedDays }

/**
 * Hidden: the question names another person, whose activity is private on these days. None: no day of the range has
 * begun.
 */
export type ComparedDays = ShownDays | { kind: 'hidden' } | { kind: 'none' }

/** The part of the days, if any, that is shown as it was recorded. */
export const recordedIn = (days: ComparedDays): NamedDays[] => {
  switch (days.kind) {
    case 'recorded':
    case 'mixed':
      return [days.named]
    case 'published':
    case 'hidden':
    case 'none':
      return []
  }
}

/** The hours that a response shows: the viewer's own, all hours of days on which enough people have any, or none. */
export type ShownHours =
  | { kind: 'own' }
  | { kind: 'team'; viewerId: string; minOthers: number }
  | { kind: 'none' }

/** What a response shows. */
export interface Shown {
  /** The range in the response, widened to whole weeks where it shows published ones. */
  range: Range
  days: ShownDays
  filter: Filter
  hours: ShownHours
}

/** The decision about a response. */
export interface Decision {
  shown: Shown
  /** What the response compares its range with. */
  before: ComparedDays
}

/** Whether only the viewer's own activity is shown. */
export const isOwn = ({ viewer, subject }: DashboardQuestion): boolean =>
  subject.kind === 'person' && subject.userId === viewer.userId

/** Nothing else may make named days. */
const namedDays = (range: Range) => range as NamedDays

const divide = (
  question: DashboardQuestion,
  privacy: WorkspacePrivacy,
  requested: Range,
): ShownDays | { kind: 'hidden' } => {
  const recorded: ShownDays = { kind: 'recorded', named: namedDays(requested) }
  if (isOwn(question)) return recorded
  const last = lastPublished(question.rules.floor, privacy)
  if (last === null || requested.from > last) return recorded
  if (question.subject.kind !== 'everyone') return { kind: 'hidden' }
  const from = mondayOf(requested.from)
  if (requested.to <= last) return { kind: 'published', weeks: { from, to: sundayOf(requested.to) } }
  const named = namedDays(rangeOf(addDays(last, 1), requested.to))
  return { kind: 'mixed', weeks: { from, to: last }, named }
}

/** @throws {ApiError} `member_detail_hidden`, `member_not_found` */
export const decideShown = (question: DashboardQuestion, privacy: WorkspacePrivacy): Decision => {
  const { subject, repoKey } = question
  const days = divide(question, privacy, question.range)
  if (days.kind === 'hidden') throw new ApiError('member_detail_hidden')
  // Checked only now, so that the error doesn't reveal who is or was a member at the level "team".
  if (subject.kind === 'unknown') throw new ApiError('member_not_found')
  const filter = { userId: subject.kind === 'person' ? subject.userId : undefined, repoKey }
  const range = rangeOfDays(days)
  const earlier = rangeBefore(range, question.today)
  return {
    shown: { range, days, filter, hours: decideHours(question) },
    before: earlier ? divide(question, privacy, earlier) : { kind: 'none' },
  }
}

const rangeOfDays = (days: ShownDays): Range => {
  switch (days.kind) {
    case 'recorded':
      return days.named
    case 'published':
      return rangeOf(days.weeks.from, days.weeks.to)
    case 'mixed':
      return rangeOf(days.weeks.from, days.named.to)
  }
}

const decideHours = (question: DashboardQuestion): ShownHours => {
  const { viewer, rules, subject } = question
  if (isOwn(question)) return { kind: 'own' }
  // A workspace key sees no hours at all.
  if (viewer.userId === null || subject.kind !== 'everyone') return { kind: 'none' }
  return { kind: 'team', viewerId: viewer.userId, minOthers: rules.minGroup }
}
