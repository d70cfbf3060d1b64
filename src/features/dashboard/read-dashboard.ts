/**
 * Assembles a dashboard from two sources: days that may be shown as recorded, and published weeks. `policies.ts` decides
 * which days belong to which source, and a range may have both. All reads of one dashboard use one transaction and so
 * one snapshot. Otherwise rows and totals would disagree while people work.
 */
import type { Dashboard } from '../../../schemas/dashboard.js'
import { ApiError } from '../../errors.js'
import type { Database, Db } from '../../platform/database/client.js'
import { readWorkspaceSummary } from '../workspaces/index.js'
import { mergeHours, mergeRepos } from './merge-days.js'
import { type DashboardQuestion, type Decision, decideShown, recordedIn, type Shown } from './policies.js'
import { type News, readNews, readSnapshot, type Sources, sourcesOf } from './queries/sources.js'
import { readPublished, readPublishedBefore } from './read-published.js'
import { readRecorded } from './read-recorded.js'
import { addUpTotals, type Totals, ZERO_SUMS } from './sums.js'

export interface DashboardResponse extends Decision {
  dashboard: Dashboard
}

/**
 * A dashboard from one snapshot of the database, privacy level included.
 * @throws {ApiError} `workspace_not_found`, `member_detail_hidden`, `member_not_found`
 */
export const readDashboard = (
  database: Database,
  question: DashboardQuestion,
  trends: boolean,
): Promise<DashboardResponse> =>
  readSnapshot(database, async (tx) => {
    const { workspaceId } = question
    const workspace = await readWorkspace(tx, workspaceId)
    const { shown, before } = decideShown(question, workspace.privacy)
    const recordedBefore = recordedIn(before)
    const from = recordedBefore[0]?.from ?? shown.range.from
    const news = await readNews(tx, workspaceId, { from, to: shown.range.to })
    const sourcesBefore = recordedBefore.map((named) => sourcesOf(workspaceId, named, shown.filter, news))
    const [numbers, publishedBefore] = await Promise.all([
      readNumbers(tx, question, shown, sourcesBefore, news, trends),
      readPublishedBefore(tx, question, before),
    ])
    const dashboard: Dashboard = {
      workspace: { id: workspaceId, name: workspace.name },
      range: shown.range,
      idle_window_minutes: workspace.idle_window_minutes,
      totals: numbers.totals,
      previous_totals:
        before.kind === 'none' ? ZERO_SUMS : addUpTotals([...numbers.recordedBefore, ...publishedBefore]),
      daily: numbers.daily,
      members: numbers.members,
      repos: numbers.repos,
      heatmap: numbers.heatmap,
      publication: numbers.publication,
      generated_at: new Date().toISOString(),
    }
    return { dashboard, shown, before }
  })

interface Numbers
  extends Pick<Dashboard, 'totals' | 'daily' | 'members' | 'repos' | 'heatmap' | 'publication'> {
  /** The totals of the recorded days that the response compares with, if there are any. */
  recordedBefore: Totals[]
}

/**
 * @param before of the recorded days that the response compares with, if there are any
 */
const readNumbers = async (
  tx: Db,
  question: DashboardQuestion,
  shown: Shown,
  before: Sources[],
  news: News,
  trends: boolean,
): Promise<Numbers> => {
  const { workspaceId } = question
  const { days, filter, hours } = shown
  switch (days.kind) {
    case 'recorded': {
      const sources = sourcesOf(workspaceId, days.named, filter, news)
      const recorded = await readRecorded(tx, shown, sources, before, trends)
      return { ...recorded, heatmap: mergeHours([recorded.hours]), publication: null }
    }
    case 'published': {
      const published = await readPublished(tx, question, hours, days.weeks)
      return {
        ...published,
        recordedBefore: [],
        members: [],
        repos: mergeRepos(published.repos),
        heatmap: mergeHours([published.hours]),
      }
    }
    case 'mixed': {
      const sources = sourcesOf(workspaceId, days.named, filter, news)
      const [recorded, published] = await Promise.all([
        readRecorded(tx, shown, sources, before, trends),
        readPublished(tx, question, hours, days.weeks),
      ])
      return {
        totals: addUpTotals([recorded.totals, published.totals]),
        recordedBefore: recorded.recordedBefore,
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
