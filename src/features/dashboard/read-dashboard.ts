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
  type ComparedRecorded,
  type DashboardQuestion,
  daysToCompare,
  decideShown,
  recordedIn,
  type Shown,
} from './policies.js'
import { readSnapshot, readUnusableDays, sourcesOf } from './queries/sources.js'
import { readPublished, readPublishedBefore } from './read-published.js'
import { type ComparedSources, readRecorded } from './read-recorded.js'
import { addUpTotals, hiddenSums, type Totals } from './sums.js'

export interface DashboardResponse {
  dashboard: Dashboard
  shown: Shown
  compared: ComparedRecorded
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
    const compared = recordedIn(before)
    const [numbers, publishedBefore] = await Promise.all([
      readNumbers(tx, question, shown, compared, unusable, trends),
      readPublishedBefore(tx, question, before),
    ])
    const dashboard: Dashboard = {
      workspace: { id: workspaceId, name: workspace.name },
      range: shown.range,
      idle_window_minutes: workspace.idle_window_minutes,
      totals: numbers.totals,
      previous_totals: addUpTotals([numbers.totalsBefore, ...publishedBefore]),
      daily: numbers.daily,
      members: numbers.members,
      repos: numbers.repos,
      heatmap: numbers.heatmap,
      publication: numbers.publication,
      generated_at: new Date().toISOString(),
    }
    return { dashboard, shown, compared }
  })

interface Numbers
  extends Pick<Dashboard, 'totals' | 'daily' | 'members' | 'repos' | 'heatmap' | 'publication'> {
  /** Of the recorded days that the response compares with. Hidden if there are none. */
  totalsBefore: Totals
}

/** @param unusable the days whose rollups can't be used */
const readNumbers = async (
  tx: Db,
  question: DashboardQuestion,
  shown: Shown,
  compared: ComparedRecorded,
  unusable: string[],
  trends: boolean,
): Promise<Numbers> => {
  const { workspaceId } = question
  const { days, filter, hours } = shown
  const comparedSources: ComparedSources =
    compared.kind === 'recorded'
      ? { kind: 'recorded', sources: sourcesOf(workspaceId, compared.named, filter, unusable) }
      : { kind: 'none' }
  switch (days.kind) {
    case 'recorded': {
      const sources = sourcesOf(workspaceId, days.named, filter, unusable)
      const recorded = await readRecorded(tx, shown, sources, comparedSources, trends)
      return { ...recorded, heatmap: mergeHours([recorded.hours]), publication: null }
    }
    case 'published': {
      const published = await readPublished(tx, question, hours, days.weeks)
      return {
        ...published,
        totalsBefore: hiddenSums,
        members: [],
        repos: mergeRepos(published.repos),
        heatmap: mergeHours([published.hours]),
      }
    }
    case 'mixed': {
      const sources = sourcesOf(workspaceId, days.named, filter, unusable)
      const [recorded, published] = await Promise.all([
        readRecorded(tx, shown, sources, comparedSources, trends),
        readPublished(tx, question, hours, days.weeks),
      ])
      return {
        totals: addUpTotals([recorded.totals, published.totals]),
        totalsBefore: recorded.totalsBefore,
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
