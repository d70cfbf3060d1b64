/** What workspaces leave to housekeeping. */
import { type Chore, deletion } from '../../platform/process/housekeeping.js'
import { deleteOldAuditEntries } from './queries/audit.js'
import { listDeletedWorkspaces, purgeWorkspace } from './queries/purge.js'
import { deleteEndedRemovals } from './queries/removals.js'

export const workspaceChores: Chore[] = [
  {
    name: 'deleted workspaces',
    list: listDeletedWorkspaces,
    step: (tx, rows, id) => purgeWorkspace(tx, id, rows),
  },
  deletion('ended removals', deleteEndedRemovals),
  deletion('old audit entries', deleteOldAuditEntries),
]
