import { sql } from 'drizzle-orm'
import { v7 as uuidv7 } from 'uuid'
import type { AuditEntry } from '../../schemas/audit.js'
import { limits } from '../../schemas/limits.js'
import type { Db } from '../db/client.js'
import { json, moment, orNull, text, uuid } from '../db/statement.js'
import { auditEntries } from '../db/tables.js'
import { toTimestamp } from '../domain/time.js'
import { type BoundedPage, boundedList, readBoundedPage } from './bounded-page.js'
import { daysAgo, deleteSome, limitedDelete } from './limited-delete.js'

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

const columns = {
  id: uuid,
  at: moment,
  actor: text,
  action: text,
  target: orNull(text),
  details: json<AuditEntry['details']>(),
}

/** Two statements, so that a page is found by the index wherever it begins. $2: the workspace. */
const listEntries = (name: string, condition: string) =>
  boundedList(name, columns, {
    rows: `
        select id, at, actor, action, target, details, octet_length(details::text) as bytes
        from audit_entries
        where workspace_id = $2::uuid ${condition}`,
    order: 'at desc, id desc',
  })

const LIST_NEWEST = listEntries('list the newest audit entries', '')
const LIST_OLDER = listEntries('list older audit entries', 'and (at, id) < ($3::text::timestamptz, $4::uuid)')

/**
 * Newest first. `after` is where the previous page ended: the moment and the id. Details can be large, so a page may hold
 * fewer entries than were asked for.
 */
export const listAuditEntries = async (
  db: Db,
  workspaceId: string,
  after: string[] | undefined,
  limit: number,
): Promise<BoundedPage<AuditEntry>> => {
  const list = after ? LIST_OLDER : LIST_NEWEST
  const { rows, more } = await readBoundedPage(db, list, limit, [workspaceId, ...(after ?? [])])
  return { rows: rows.map((row) => ({ ...row, at: toTimestamp(row.at) })), more }
}

const DELETE_OLD_ENTRIES = limitedDelete(
  'delete old audit entries',
  auditEntries,
  `at < ${daysAgo(limits.audit_days)}`,
)

/** Deletes entries that are past their time, at most so many. @returns how many */
export const deleteOldAuditEntries = (tx: Db, rows: number): Promise<number> =>
  deleteSome(tx, DELETE_OLD_ENTRIES, rows)
