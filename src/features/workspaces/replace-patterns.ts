import { parsePatterns } from '../../../schemas/repo-pattern.js'
import type { Database } from '../../platform/database/client.js'
import { changeWorkspace, type WorkspaceCall } from './change-workspace.js'
import { deletePatterns, insertPatterns, listPatterns } from './queries/workspaces.js'

/** The patterns are known to be valid and different from each other. */
export const replacePatterns = (
  database: Database,
  call: WorkspaceCall,
  patterns: string[],
): Promise<string[]> =>
  changeWorkspace(database, call, 'admin', async ({ tx, record }) => {
    const before = await listPatterns(tx, call.workspaceId)
    if (JSON.stringify(before) === JSON.stringify(patterns)) return before
    await deletePatterns(tx, call.workspaceId)
    await insertPatterns(tx, call.workspaceId, parsePatterns(patterns))
    await record('patterns.replaced', undefined, { before, after: patterns })
    return patterns
  })
