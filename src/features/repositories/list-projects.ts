import type { Role } from '../../../schemas/common.js'
import type { KeyInUse } from '../../platform/access/caller.js'
import type { Db } from '../../platform/database/client.js'
import { FIRST_DAY } from '../../platform/time/days.js'
import { firstNamedDay, type PrivacyRules } from '../privacy/index.js'
import { listCallersWorkspaces, listProjects, type VisibleWorkspaces } from './queries/projects.js'

/** Members see the repositories where they've been active. Admins see everyone's, if the privacy level allows. */
const visibleTo = (
  key: KeyInUse | null,
  { floor }: PrivacyRules,
  workspaces: Awaited<ReturnType<typeof listCallersWorkspaces>>,
): VisibleWorkspaces => {
  const canSeeOwn = !key || (key.workspaceId === null && key.scopes.includes('activity:read'))
  const canSeeAll = (role: Role) => role === 'admin' && (!key || key.scopes.includes('dashboard:read'))
  const seen: VisibleWorkspaces = { all: [], own: [], named: [], namedFrom: [], published: [] }
  for (const { workspaceId, role, level, teamUntil } of workspaces) {
    seen.all.push(workspaceId)
    if (canSeeOwn) seen.own.push(workspaceId)
    if (!canSeeAll(role)) continue
    const day = firstNamedDay(floor, { level, teamUntil })
    if (day === FIRST_DAY) seen.named.push(workspaceId)
    else {
      seen.published.push(workspaceId)
      if (day !== null) seen.namedFrom.push({ workspaceId, day })
    }
  }
  return seen
}

/** A page of the repositories that the service knows and the caller sees. */
export const listVisibleProjects = async (
  db: Db,
  { userId, key }: { userId: string; key: KeyInUse | null },
  privacy: PrivacyRules,
  after: string[] | undefined,
  limit: number,
) => {
  const workspaces = await listCallersWorkspaces(db, userId, key?.workspaceId ?? null)
  return listProjects(db, userId, visibleTo(key, privacy, workspaces), after, limit)
}
