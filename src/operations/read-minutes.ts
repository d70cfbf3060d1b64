import type { MinutesOfDay, WorkspaceMinutes } from '../../schemas/activity.js'
import type { Database } from '../db/client.js'
import { listDays, type Range } from '../domain/days.js'
import { listOwnMinutes } from '../queries/activity.js'
import { listWorkspacesOf } from '../queries/workspaces.js'

/** A user's own minutes, day by day. `withAll`: also the workspaces without minutes on the day. */
export const readMinutes = async (
  database: Database,
  userId: string,
  { from, to }: Range,
  { withAll }: { withAll: boolean },
): Promise<MinutesOfDay[]> => {
  const workspaces = await listWorkspacesOf(database.db, userId)
  const reposOf = new Map<string, WorkspaceMinutes['repos']>()
  for (const { day, workspaceId, repo, minutes } of await listOwnMinutes(database, userId, from, to)) {
    const key = `${day} ${workspaceId}`
    const repos = reposOf.get(key) ?? []
    reposOf.set(key, repos)
    repos.push({ repo, minutes })
  }
  return listDays(from, to).map((day) => ({
    day,
    workspaces: workspaces.flatMap(({ id, name }) => {
      const repos = reposOf.get(`${day} ${id}`) ?? []
      if (repos.length === 0 && !withAll) return []
      const minutes = repos.reduce((sum, repo) => sum + repo.minutes, 0)
      return [{ workspace_id: id, name, minutes, repos }]
    }),
  }))
}
