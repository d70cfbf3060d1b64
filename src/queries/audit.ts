import { sql } from 'drizzle-orm'
import { v7 as uuidv7 } from 'uuid'
import type { Db } from '../db/client.js'
import { auditEntries } from '../db/tables.js'

export interface AuditEntry {
  workspaceId: string
  actor: string
  /** `noun.verb`, for example `member.removed`. */
  action: string
  target?: string
  /** Before and after where they are small; never a secret. */
  details?: Record<string, unknown>
}

/** Written in the transaction of the change that it records. */
export const insertAuditEntry = async (
  tx: Db,
  { workspaceId, actor, action, target, details }: AuditEntry,
) => {
  await tx.insert(auditEntries).values({
    workspaceId,
    id: uuidv7(),
    actor,
    action,
    target: target ?? null,
    details: sql`${JSON.stringify(details ?? {})}::jsonb`,
  })
}
