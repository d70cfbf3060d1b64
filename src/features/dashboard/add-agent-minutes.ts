/** Adds the caller's agent time to the caller's own dashboard. */
import type { Dashboard, OwnDashboard } from '../../../schemas/dashboard.js'
import { limits } from '../../../schemas/limits.js'
import type { Database } from '../../platform/database/client.js'
import { sumAgentMinutes } from '../own-time/index.js'
import { readSnapshot } from './queries/sources.js'
import { addUp, larger, ZERO_SUMS } from './sums.js'

export const addAgentMinutes = async (
  database: Database,
  userId: string,
  repoKey: string | undefined,
  dashboard: Dashboard,
): Promise<OwnDashboard> => {
  const { workspace, range, totals, daily, repos } = dashboard
  // From one snapshot, so that the rows add up to the total.
  const sums = await readSnapshot(database, (tx) =>
    sumAgentMinutes(tx, { userId, workspaceId: workspace.id, range, repoKey }),
  )
  const total = [...sums.days.values()].reduce((sum, minutes) => sum + minutes, 0)
  const left = new Map(sums.repos.map((one) => [one.repoKey, one]))
  const take = (repo: string) => {
    const minutes = left.get(repo.toLowerCase())?.minutes ?? 0
    left.delete(repo.toLowerCase())
    return minutes
  }
  const all = repos.flatMap((row) => (row.repo === null ? [] : [{ ...row, agent_minutes: take(row.repo) }]))
  const others = repos.filter(({ repo }) => repo === null)
  // The last row is for all others, if there are any.
  const hasOthers = others.length > 0 || left.size > limits.dashboard_rows - all.length
  const rows = hasOthers ? limits.dashboard_rows - 1 : limits.dashboard_rows
  const named = all.slice(0, rows)
  const { active_members: _, ...zeroSums } = ZERO_SUMS
  const onlyAgents = Array.from(left.values(), ({ repo, minutes }) => ({
    repo,
    ...zeroSums,
    members: 0,
    agent_minutes: minutes,
  })).slice(0, rows - named.length)
  const rest = total - [...named, ...onlyAgents].reduce((sum, row) => sum + row.agent_minutes, 0)
  const combined = [...all.slice(rows), ...others]
  const last = {
    repo: null,
    ...addUp([zeroSums, ...combined]),
    members: combined.map(({ members }) => members).reduce(larger, null),
    agent_minutes: rest,
  }
  return {
    ...dashboard,
    totals: { ...totals, agent_minutes: total },
    daily: daily.map((one) => ({ ...one, agent_minutes: sums.days.get(one.day) ?? 0 })),
    repos: [...named, ...onlyAgents, ...(hasOthers ? [last] : [])],
  }
}
