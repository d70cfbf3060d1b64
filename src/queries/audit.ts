import { and, desc, eq, sql } from 'drizzle-orm'
import { v7 as uuidv7 } from 'uuid'
import type { AuditEntry } from '../../schemas/audit.js'
import { limits } from '../../schemas/limits.js'
import type { Db } from '../db/client.js'
import { auditEntries } from '../db/tables.js'
import { toTimestamp } from '../domain/time.js'
import { daysAgo, deleteSome } from './limited-delete.js'

interface NewAuditEntry {
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
  { workspaceId, actor, action, target, details }: NewAuditEntry,
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

/** Newest first. `after` is where the previous page ended: the moment and the id. */
export const listAuditEntries = async (
  db: Db,
  workspaceId: string,
  after: string[] | undefined,
  rows: number,
): Promise<AuditEntry[]> => {
  const { id, at, actor, action, target, details } = auditEntries
  const [lastAt, lastId] = after ?? []
  const found = await db
    .select({ id, at, actor, action, target, details })
    .from(auditEntries)
    .where(
      and(
        eq(auditEntries.workspaceId, workspaceId),
        after && sql`(${at}, ${id}) < (${lastAt}::timestamptz, ${lastId}::uuid)`,
      ),
    )
    .orderBy(desc(at), desc(id))
    .limit(rows)
  return found.map((row) => ({
    ...row,
    at: toTimestamp(row.at),
    details: row.details as AuditEntry['details'],
  }))
}

/** Deletes entries that are past their time, at most so many. @returns how many */
export const deleteOldAuditEntries = (tx: Db, rows: number): Promise<number> =>
  deleteSome(tx, 'audit_entries', `at < ${daysAgo(limits.audit_days)}`, rows)
