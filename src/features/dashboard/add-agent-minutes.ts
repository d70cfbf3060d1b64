/** Adds the caller's agent time to the caller's own dashboard. */
import type { Dashboard, OwnDashboard } from '../../../schemas/dashboard.js'
import { limits } from '../../../schemas/limits.js'
import type { Db } from '../../platform/database/client.js'
import { sumAgentMinutes } from '../minutes/index.js'
import { ZERO_SUMS } from './sums.js'

export const addAgentMinutes = async (
  db: Db,
  userId: string,
  repoKey: string | undefined,
  dashboard: Dashboard,
): Promise<OwnDashboard> => {
  const { workspace, range, totals, daily, repos } = dashboard
  const sums = await sumAgentMinutes(db, { userId, workspaceId: workspace.id, range, repoKey })
  const total = [...sums.days.values()].reduce((sum, minutes) => sum + minutes, 0)
  const left = new Map(sums.repos.map((one) => [one.repoKey, one]))
  const take = (repo: string) => {
    const minutes = left.get(repo.toLowerCase())?.minutes ?? 0
    left.delete(repo.toLowerCase())
    return minutes
  }
  const named = repos.flatMap((row) => (row.repo === null ? [] : [{ ...row, agent_minutes: take(row.repo) }]))
  // Keeps one row free for all others.
  const freeRows = Math.max(0, limits.dashboard_rows - 1 - named.length)
  const { active_members: _, ...zeroSums } = ZERO_SUMS
  const onlyAgents = Array.from(left.values(), ({ repo, minutes }) => ({
    repo,
    ...zeroSums,
    members: 0,
    agent_minutes: minutes,
  })).slice(0, freeRows)
  const rest = total - [...named, ...onlyAgents].reduce((sum, row) => sum + row.agent_minutes, 0)
  const others = repos.find(({ repo }) => repo === null) ?? {
    repo: null,
    ...zeroSums,
    members: null,
  }
  const hasOthers = rest > 0 || repos.some(({ repo }) => repo === null)
  return {
    ...dashboard,
    totals: { ...totals, agent_minutes: total },
    daily: daily.map((one) => ({ ...one, agent_minutes: sums.days.get(one.day) ?? 0 })),
    repos: [...named, ...onlyAgents, ...(hasOthers ? [{ ...others, agent_minutes: rest }] : [])],
  }
}
