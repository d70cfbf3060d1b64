/**
 * Assembles a dashboard from two sources: days that may be shown as recorded, and published weeks. `policies.ts` decides
 * which days belong to which source, and a range may have both. All reads of one dashboard use one transaction and so
 * one snapshot. Otherwise rows and totals would disagree while people work.
 */
import type { Dashboard } from '../../../schemas/dashboard.js'
import { ApiError } from '../../errors.js'
import type { Database, Db } from '../../platform/database/client.js'
import { addDays } from '../../platform/time/days.js'
import { readWorkspaceSummary } from '../workspaces/index.js'
import { mergeHours, mergeRepos } from './merge-days.js'
import {
  type ComparedDays,
  type DashboardQuestion,
  daysToCompare,
  decideShown,
  namedIn,
  type Shown,
} from './policies.js'
import { readSnapshot, readUnusableDays, sourcesOf } from './queries/sources.js'
import { readPublished, readPublishedBefore } from './read-published.js'
import { readRecorded } from './read-recorded.js'
import { addUpTotals, type Totals } from './sums.js'

export interface DashboardResponse {
  dashboard: Dashboard
  shown: Shown
  before: ComparedDays
}

/**
 * A dashboard from one snapshot of the database, privacy level included.
 * @throws {ApiError} `workspace_not_found`, `member_detail_hidden`, `member_not_found`
 */
export const readDashboard = (
  database: Database,
  question: DashboardQuestion,
  { trends = false },
): Promise<DashboardResponse> =>
  readSnapshot(database, async (tx) => {
    const { workspaceId, range: requested } = question
    const [workspace, unusable] = await Promise.all([
      readWorkspace(tx, workspaceId),
      readUnusableDays(tx, workspaceId, {
        from: addDays(requested.from, -requested.days),
        to: requested.to,
      }),
    ])
    const shown = decideShown(question, workspace.privacy)
    const before = daysToCompare(question, workspace.privacy, shown)
    const [numbers, publishedBefore] = await Promise.all([
      readNumbers(tx, question, shown, before, unusable, trends),
      readPublishedBefore(tx, question, before),
    ])
    const dashboard: Dashboard = {
      workspace: { id: workspaceId, name: workspace.name },
      range: shown.range,
      idle_window_minutes: workspace.idle_window_minutes,
      totals: numbers.totals,
      previous_totals: addUpTotals([...numbers.before, ...publishedBefore]),
      daily: numbers.daily,
      members: numbers.members,
      repos: numbers.repos,
      heatmap: shown.hours.kind === 'none' ? null : numbers.heatmap,
      publication: numbers.publication,
      generated_at: new Date().toISOString(),
    }
    return { dashboard, shown, before }
  })

interface Numbers
  extends Pick<Dashboard, 'totals' | 'daily' | 'members' | 'repos' | 'heatmap' | 'publication'> {
  /** The totals of the recorded days that the response compares with: of one range, or of none. */
  before: Totals[]
}

/** @param unusable the days whose rollups can't be used */
const readNumbers = async (
  tx: Db,
  question: DashboardQuestion,
  shown: Shown,
  before: ComparedDays,
  unusable: string[],
  trends: boolean,
): Promise<Numbers> => {
  const { workspaceId } = question
  const { days, filter } = shown
  const sourcesBefore = namedIn(before).map((named) => sourcesOf(workspaceId, named, filter, unusable))
  switch (days.kind) {
    case 'recorded': {
      const sources = sourcesOf(workspaceId, days.named, filter, unusable)
      const recorded = await readRecorded(tx, shown, sources, sourcesBefore, trends)
      return { ...recorded, heatmap: mergeHours([recorded.hours]), publication: null }
    }
    case 'published': {
      const published = await readPublished(tx, question, days.weeks)
      return {
        ...published,
        before: [],
        members: [],
        repos: mergeRepos(published.repos),
        heatmap: mergeHours([published.hours]),
      }
    }
    case 'mixed': {
      const sources = sourcesOf(workspaceId, days.named, filter, unusable)
      const [recorded, published] = await Promise.all([
        readRecorded(tx, shown, sources, sourcesBefore, trends),
        readPublished(tx, question, days.weeks),
      ])
      return {
        totals: addUpTotals([recorded.totals, published.totals]),
        before: recorded.before,
        daily: [...published.daily, ...recorded.daily],
        members: recorded.members,
        repos: mergeRepos([...recorded.repos, ...published.repos]),
        heatmap: mergeHours([recorded.hours, published.hours]),
        publication: published.publication,
      }
    }
  }
}

/** @throws {ApiError} `workspace_not_found` */
export const readWorkspace = async (tx: Db, workspaceId: string) => {
  const workspace = await readWorkspaceSummary(tx, workspaceId)
  if (!workspace) throw new ApiError('workspace_not_found')
  return workspace
}
