import type { WorkspaceQuota } from '../../../schemas/limits.js'
import { parsePatterns } from '../../../schemas/repo-pattern.js'
import type { Database } from '../../platform/database/client.js'
import { type Change, changeWorkspace, type WorkspaceCall } from './change-workspace.js'
import { requireInsideOrganization, requirePatternQuota } from './policies/rights.js'
import { lockPatternsOf } from './queries/members.js'
import { readOrganization } from './queries/organizations.js'
import { deletePatterns, insertPatterns, listPatterns } from './queries/workspaces.js'

/**
 * The patterns are known to be valid and distinct.
 * @throws {ApiError} `pattern_outside_organization`, `workspace_limit`
 */
export const replacePatterns = (
  database: Database,
  call: WorkspaceCall,
  patterns: string[],
  quota: WorkspaceQuota,
): Promise<string[]> =>
  changeWorkspace(database, call, 'admin', async (change) => {
    const before = await listPatterns(change.tx, call.workspaceId)
    if (JSON.stringify(before) === JSON.stringify(patterns)) return before
    await setPatterns(change, call.workspaceId, before, patterns, quota)
    return patterns
  })

/**
 * Checks a change. Others may add patterns for the caller meanwhile, unless `lockPatternsOf` holds.
 * @throws {ApiError} `pattern_outside_organization`, `workspace_limit`
 */
export const requirePatterns = async (
  { tx, caller }: Pick<Change, 'tx' | 'caller'>,
  workspaceId: string,
  before: string[],
  after: string[],
  quota: WorkspaceQuota,
): Promise<void> => {
  const link = await readOrganization(tx, workspaceId)
  if (link?.join === 'member') requireInsideOrganization(link.organization, after)
  const added = after.length - before.length
  // A workspace key doesn't act for the person who created it.
  if (added > 0 && caller.keyName === null) await requirePatternQuota(tx, caller.id, added, quota)
}

/**
 * The only way an admin changes patterns.
 * @throws {ApiError} as `requirePatterns`
 */
export const setPatterns = async (
  change: Change,
  workspaceId: string,
  before: string[],
  after: string[],
  quota: WorkspaceQuota,
): Promise<void> => {
  const { tx, caller, record } = change
  if (caller.keyName === null) await lockPatternsOf(tx, caller.id)
  await requirePatterns(change, workspaceId, before, after, quota)
  await deletePatterns(tx, workspaceId)
  await insertPatterns(tx, workspaceId, parsePatterns(after))
  await record('patterns.replaced', undefined, { before, after })
}
