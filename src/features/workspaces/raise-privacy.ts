import type { Database } from '../../platform/database/client.js'
import type { PrivacyRules } from '../privacy/index.js'
import { insertAuditEntry, SERVICE_ACTOR } from './queries/audit.js'
import { raisePrivacy } from './queries/privacy-levels.js'

const WORKSPACES = 100
const background = { background: true }

/** Raises the level of every workspace below the operator's floor. It stays raised if the floor is removed later. */
export const raiseToFloor = async (database: Database, { floor }: PrivacyRules): Promise<void> => {
  if (floor !== 'team') return
  for (;;) {
    const raised = await database.transaction(async (tx) => {
      const ids = await raisePrivacy(tx, WORKSPACES)
      for (const workspaceId of ids)
        await insertAuditEntry(tx, {
          workspaceId,
          actor: SERVICE_ACTOR,
          action: 'activity_privacy.changed',
          details: { before: 'named', after: 'team' },
        })
      return ids.length
    }, background)
    if (raised < WORKSPACES) return
  }
}
