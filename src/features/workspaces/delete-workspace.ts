import type { Database } from '../../platform/database/client.js'
import { changeWorkspace, type WorkspaceCall } from './change-workspace.js'
import { markWorkspaceDeleted } from './queries/workspaces.js'

/** Hides the workspace at once. Its rows are deleted in the background. */
export const deleteWorkspace = (database: Database, call: WorkspaceCall): Promise<void> =>
  changeWorkspace(database, call, 'admin', ({ tx }) => markWorkspaceDeleted(tx, call.workspaceId))
