/** Whether a push to the caller's own repository may create the personal workspace, or add a pattern to it. */

import { limits, type WorkspaceQuota } from '../../../../schemas/limits.js'
import { SUBGROUPS } from '../../../../schemas/repo-pattern.js'
import { ApiError } from '../../../errors.js'
import type { Db } from '../../../platform/database/client.js'
import type { User } from '../../accounts/index.js'
import { countPatterns, readPersonalWorkspace } from '../queries/workspaces.js'
import { requireCreateQuota, requirePatternQuota } from './rights.js'

/** No pattern matches a repository of this owner. */
const workspaceRequired = (owner: string) =>
  new ApiError('workspace_required', { suggested_pattern: suggestedPattern(owner) })

/** The owner's own pattern, or the nearest parent group's if that is too long for a pattern. */
const suggestedPattern = (owner: string): string => {
  const own = `${owner}/*`
  if (own.length <= limits.pattern_length) return own
  const shortened = owner.slice(0, limits.pattern_length - SUBGROUPS.length)
  return `${shortened.slice(0, shortened.lastIndexOf('/'))}/${SUBGROUPS}`
}

/**
 * Reliable as `requireCreateQuota`.
 * @throws {ApiError} `workspace_required` for others' repositories, and if the workspace can't have another pattern;
 * `workspace_limit`
 */
export const requirePersonalQuota = async (
  db: Db,
  { id: userId, login }: User,
  owner: string,
  quota: WorkspaceQuota,
): Promise<void> => {
  if (owner.toLowerCase() !== login.toLowerCase()) throw workspaceRequired(owner)
  const personal = await readPersonalWorkspace(db, userId)
  if (personal !== undefined) {
    if ((await countPatterns(db, personal)) >= limits.patterns_per_workspace) throw workspaceRequired(owner)
    await requirePatternQuota(db, userId, 1, quota)
  } else {
    await requireCreateQuota(db, userId, 1, quota)
  }
}
