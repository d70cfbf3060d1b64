import { sql } from 'drizzle-orm'
import { v7 as uuidv7 } from 'uuid'
import type { AuditEntry } from '../../schemas/audit.js'
import { limits } from '../../schemas/limits.js'
import type { Db } from '../db/client.js'
import { auditEntries } from '../db/tables.js'
import { toTimestamp } from '../domain/time.js'
import { type BoundedPage, boundedPage, toBoundedPage } from './bounded-page.js'
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

/** Two texts, so that a page is found by the index wherever it begins. $1: the workspace; $2: rows. */
const listEntries = (after: string) =>
  boundedPage(
    'id, at, actor, action, target, details',
    `
      select id, at, actor, action, target, details, octet_length(details::text) as bytes
      from audit_entries
      where workspace_id = $1::uuid ${after}
      order by at desc, id desc
      limit $2::int`,
    'at desc, id desc',
  )

const LIST_NEWEST = listEntries('')
const LIST_OLDER = listEntries('and (at, id) < ($3::text::timestamptz, $4::uuid)')

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
  const found = await db.statement<AuditEntry & { total: number }>(after ? LIST_OLDER : LIST_NEWEST, [
    workspaceId,
    limit + 1,
    ...(after ?? []),
  ])
  const { rows, more } = toBoundedPage(found, limit)
  return { rows: rows.map(({ at, ...row }) => ({ ...row, at: toTimestamp(at) })), more }
}

/** Deletes entries that are past their time, at most so many. @returns how many */
export const deleteOldAuditEntries = (tx: Db, rows: number): Promise<number> =>
  deleteSome(tx, 'audit_entries', `at < ${daysAgo(limits.audit_days)}`, rows)
