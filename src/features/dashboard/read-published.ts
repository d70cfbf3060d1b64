/** Reads the numbers of published weeks. */
import { countNames, perCount } from '../../../schemas/counts.js'
import type { Publication } from '../../../schemas/dashboard.js'
import type { Db } from '../../platform/database/client.js'
import { readTodayIn } from '../../platform/time/clock.js'
import { listDays, weekdayOf } from '../../platform/time/days.js'
import type { PrivacyRules } from '../privacy/index.js'
import {
  hasOverdueWeeks,
  type PublishedTotals,
  publishedOn,
  readPublishedCells,
  readPublishedDays,
  readPublishedRepos,
  readPublishedWeeks,
} from '../rollups/index.js'
import type { RepoRow } from './merge-days.js'
import type { ComparedDays, DashboardQuestion, ShownHours, Weeks } from './policies.js'
import type { Hours } from './read-heatmap.js'
import { addUp, addUpTotals, everyDay, hiddenSums, type Sums, type Totals } from './sums.js'

export const readPublished = async (tx: Db, question: DashboardQuestion, hours: ShownHours, weeks: Weeks) => {
  const { rules, workspaceId } = question
  const requested = publishedQuestion(question, weeks)
  const [published, days, repos, shownHours] = await Promise.all([
    readPublishedWeeks(tx, requested),
    readPublishedDays(tx, requested),
    readPublishedRepos(tx, requested),
    readPublishedHours(tx, hours, requested),
  ])
  const totals = addUpTotals(published)
  return {
    totals,
    daily: everyDay(weeks, days, hiddenSums),
    repos: [...repos, ...remainderOf(totals, addUp(repos))],
    hours: shownHours,
    publication: await publicationOf(tx, rules, workspaceId, weeks, published),
  }
}

const readPublishedHours = async (
  tx: Db,
  hours: ShownHours,
  requested: ReturnType<typeof publishedQuestion>,
): Promise<Hours> => {
  if (hours.kind === 'none') return { kind: 'hidden' }
  const cells = await readPublishedCells(tx, requested)
  return cells.length > 0 ? { kind: 'shown', cells } : { kind: 'hidden' }
}

/** The totals of each published week that a response compares with. */
export const readPublishedBefore = async (
  tx: Db,
  question: DashboardQuestion,
  before: ComparedDays,
): Promise<Totals[]> => {
  switch (before.kind) {
    case 'hidden':
    case 'none':
    case 'recorded':
      return []
    case 'published':
    case 'mixed':
      return readPublishedWeeks(tx, publishedQuestion(question, before.weeks))
  }
}

export const publishedQuestion = (
  { rules: { minGroup }, workspaceId, repoKey }: DashboardQuestion,
  { from, to }: Weeks,
) => ({ workspaceId, minGroup, from, to, repoKey: repoKey ?? null })

/** The rest of the total, from repositories that can't be named. */
const remainderOf = (total: Sums, listed: Sums): RepoRow[] => {
  const rest = (name: keyof Sums) => (total[name] === null ? null : total[name] - (listed[name] ?? 0))
  const sums: Sums = { active_minutes: rest('active_minutes'), ...perCount(rest) }
  if (!sums.active_minutes && !countNames.some((count) => sums[count])) return []
  return [{ repo: null, ...sums, members: null }]
}

/** The weeks in the range, each with its state. */
const publicationOf = async (
  tx: Db,
  { minGroup, floor }: PrivacyRules,
  workspaceId: string,
  { from, to }: Weeks,
  known: PublishedTotals[],
): Promise<Publication> => {
  const totals = new Map(known.map((one) => [one.week, one]))
  const today = await readTodayIn(tx)
  const mondays = listDays(from, to).filter((day) => weekdayOf(day) === 1)
  const weeks = mondays.map((week) => {
    const { week: _, ...numbers } = totals.get(week) ?? { week, ...hiddenSums }
    return { week, published_on: publishedOn(week), ...numbers }
  })
  const isIncomplete = weeks.some((one) => one.active_minutes === null && one.published_on < today)
  const past =
    isIncomplete && (await hasOverdueWeeks(tx, workspaceId, floor === 'team')) ? 'publishing' : 'hidden'
  return {
    min_group: minGroup,
    weeks: weeks.map((one) => ({
      ...one,
      state: one.active_minutes !== null ? 'published' : one.published_on >= today ? 'scheduled' : past,
    })),
  }
}
