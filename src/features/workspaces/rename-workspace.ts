import type { Workspace } from '../../../schemas/workspaces.js'
import type { Database } from '../../platform/database/client.js'
import { singleRow } from '../../platform/database/single-row.js'
import { changeWorkspace, type WorkspaceCall } from './change-workspace.js'
import { listWorkspacesOf, renameWorkspace as updateName } from './queries/workspaces.js'

export const renameWorkspace = (
  database: Database,
  call: WorkspaceCall,
  newName: string,
): Promise<Workspace> =>
  changeWorkspace(database, call, 'admin', async ({ tx, workspace, record }) => {
    const name = newName.trim()
    if (name !== workspace.name) {
      await updateName(tx, call.workspaceId, name)
      await record('workspace.renamed', undefined, { before: workspace.name, after: name })
    }
    return singleRow(await listWorkspacesOf(tx, call.userId, [call.workspaceId]))
  })
