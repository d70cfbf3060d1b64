import type { Database } from '../../platform/database/client.js'
import { changeWorkspace, type WorkspaceCall } from './change-workspace.js'
import { hideWorkspace } from './queries/workspaces.js'

/** Nobody sees anything of it from then on; its rows are removed in the background. */
export const deleteWorkspace = (database: Database, call: WorkspaceCall): Promise<void> =>
  changeWorkspace(database, call, 'admin', ({ tx }) => hideWorkspace(tx, call.workspaceId))
