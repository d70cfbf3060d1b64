import { parsePatterns } from '../../../schemas/repo-pattern.js'
import type { Database, Db } from '../../platform/database/client.js'
import { type Change, changeWorkspace, type WorkspaceCall } from './change-workspace.js'
import { requireInsideOrganization } from './policies/rights.js'
import { readOrganization } from './queries/organizations.js'
import { deletePatterns, insertPatterns, listPatterns } from './queries/workspaces.js'

/** The patterns are known to be valid and distinct. @throws {ApiError} `pattern_outside_organization` */
export const replacePatterns = (
  database: Database,
  call: WorkspaceCall,
  patterns: string[],
): Promise<string[]> =>
  changeWorkspace(database, call, 'admin', async (change) => {
    const before = await listPatterns(change.tx, call.workspaceId)
    if (JSON.stringify(before) === JSON.stringify(patterns)) return before
    await setPatterns(change, call.workspaceId, before, patterns)
    return patterns
  })

/** @throws {ApiError} `pattern_outside_organization` */
export const requirePatternsInside = async (tx: Db, workspaceId: string, after: string[]): Promise<void> => {
  const link = await readOrganization(tx, workspaceId)
  if (link?.join === 'member') requireInsideOrganization(link.organization, after)
}

/** The only way an admin changes patterns. @throws {ApiError} `pattern_outside_organization` */
export const setPatterns = async (
  { tx, record }: Change,
  workspaceId: string,
  before: string[],
  after: string[],
): Promise<void> => {
  await requirePatternsInside(tx, workspaceId, after)
  await deletePatterns(tx, workspaceId)
  await insertPatterns(tx, workspaceId, parsePatterns(after))
  await record('patterns.replaced', undefined, { before, after })
}
