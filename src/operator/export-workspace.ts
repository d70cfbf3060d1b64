/** A workspace as one JSON text, in pieces, for the operator. */

import { readPages } from '../features/personal-data/queries/account-export.js'
import {
  listsOfWorkspace,
  readWorkspaceToExport,
} from '../features/personal-data/queries/workspace-export.js'
import { listAuditEntries } from '../features/workspaces/queries/audit.js'
import type { Database } from '../platform/database/client.js'
import { jsonPieces } from '../platform/http/streaming.js'

const ENTRIES_PER_PAGE = 500

async function* auditOf({ read }: Database, id: string): AsyncGenerator<string[]> {
  let after: string[] | undefined
  for (;;) {
    const { rows, more } = await listAuditEntries(read, id, after, ENTRIES_PER_PAGE)
    // Rows have more columns than an entry.
    yield rows.map(({ id, at, actor, action, target, details }) =>
      JSON.stringify({ id, at, actor, action, target, details }),
    )
    const last = rows.at(-1)
    if (!more || !last) return
    after = [last.at, last.id]
  }
}

const listsOf = function* (database: Database, id: string) {
  for (const [name, list] of Object.entries(listsOfWorkspace))
    yield [name, readPages(database.read, list, id)] as const
  yield ['audit', auditOf(database, id)] as const
}

/** A workspace's settings with their history, patterns, overrides, members, invites, keys and audit trail. Undefined if it doesn't exist. */
export const exportWorkspace = async (
  database: Database,
  id: string,
): Promise<AsyncGenerator<string> | undefined> => {
  const workspace = await readWorkspaceToExport(database.read, id)
  if (workspace === undefined) return undefined
  const head = `{"exported_at":"${new Date().toISOString()}","workspace":${workspace}`
  return jsonPieces(head, listsOf(database, id))
}
