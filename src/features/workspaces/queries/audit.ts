import { sql } from 'drizzle-orm'
import { MAX, v7 as uuidv7 } from 'uuid'
import type { AuditEntry } from '../../../../schemas/audit.js'
import { type BoundedPage, boundedList, readBoundedPage } from '../../../platform/database/bounded-page.js'
import type { Db } from '../../../platform/database/client.js'
import { limitedUpdate } from '../../../platform/database/limited-delete.js'
import { json, moment, orNull, text, uuid } from '../../../platform/database/statement.js'
import { toTimestamp } from '../../../platform/time/clock.js'
import { DELETED_LOGIN, DELETED_USER } from '../../accounts/index.js'
import { auditEntries, isAboutPeople } from '../tables.js'

/** A person in the audit trail. */
export interface Actor {
  id: string
  login: string
}

/** The author of a change: a person, or a workspace key that the person created. The login of a key is `key <name>`. */
export interface Author extends Actor {
  /** Null: the person wrote it. */
  keyName: string | null
}

/** The actor of automatic changes. The id distinguishes it from a person with this login. */
export const SERVICE_ACTOR: Actor = { id: MAX, login: 'service' }

/** The operator, through the commands. The id distinguishes the operator from a person with this login. */
export const OPERATOR_ACTOR: Actor = { id: 'ffffffff-ffff-ffff-ffff-fffffffffffe', login: 'operator' }

interface NewAuditEntry {
  workspaceId: string
  actor: Actor
  /** `noun.verb`, for example `member.removed`. */
  action: string
  target?: string | Actor | undefined
  /** Values before and after, if small. Never a secret. */
  details?: Record<string, unknown>
}

/** Written in the same transaction as the change. */
export const insertAuditEntry = (tx: Db, entry: NewAuditEntry) => insertAuditEntries(tx, [entry])

export const insertAuditEntries = async (tx: Db, entries: NewAuditEntry[]): Promise<void> => {
  if (entries.length === 0) return
  await tx.insert(auditEntries).values(
    entries.map(({ workspaceId, actor, action, target, details }) => ({
      workspaceId,
      id: uuidv7(),
      actor: actor.login,
      actorId: actor.id,
      action,
      target: (typeof target === 'object' ? target.login : target) ?? null,
      targetId: typeof target === 'object' ? target.id : null,
      details: sql`${JSON.stringify(details ?? {})}::jsonb`,
    })),
  )
}

const columns = {
  id: uuid,
  at: moment,
  actor: text,
  action: text,
  target: orNull(text),
  details: json<AuditEntry['details']>(),
}

/**
 * SQL: whether an account that's being deleted is the actor or the target. Entries from before ids were stored have
 * only people's logins at that time.
 */
const byDeleted = `exists (
          select from erasures x where x.user_id = actor_id or (actor_id is null and x.login_key = lower(actor))
        )`
const aboutDeleted = `exists (
          select from erasures x
          where x.user_id = target_id or (target_id is null and ${isAboutPeople()} and x.login_key = lower(target))
        )`

/** Two statements, so that the index finds a page wherever it begins. $2: the workspace. */
const listEntries = (name: string, condition: string) =>
  boundedList(name, columns, {
    rows: `
        select id, at, case when ${byDeleted} then '${DELETED_LOGIN}' else actor end as actor, action,
          case when ${aboutDeleted} then '${DELETED_LOGIN}' else target end as target,
          details, octet_length(details::text) as bytes
        from audit_entries
        where workspace_id = $2::uuid ${condition}`,
    order: 'at desc, id desc',
  })

const LIST_NEWEST = listEntries('list newest audit entries', '')
const LIST_OLDER = listEntries('list older audit entries', 'and (at, id) < ($3::text::timestamptz, $4::uuid)')

/**
 * Newest first. `after` is where the previous page ended: the time and the id. Details can be large, so a page may have
 * fewer entries than requested.
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

/** SQL: whether an entry is by, or about, the user. Entries from before ids were stored have only the login ($2). */
const IS_ACTOR = `(actor_id = $1::uuid or (actor_id is null and lower(actor) = $2::text))`
const IS_TARGET = `(target_id = $1::uuid or (target_id is null and ${isAboutPeople()} and lower(target) = $2::text))`

/** $1, $2: the user and the login in lower case; $3: how many rows. */
const ANONYMIZE_AUDIT_TRAIL = limitedUpdate(
  'anonymize audit trail',
  auditEntries,
  `
    actor = case when ${IS_ACTOR} then '${DELETED_LOGIN}' else actor end,
    actor_id = case when ${IS_ACTOR} then '${DELETED_USER}' else actor_id end,
    target = case when ${IS_TARGET} then '${DELETED_LOGIN}' else target end,
    target_id = case when ${IS_TARGET} then '${DELETED_USER}' else target_id end,
    details = regexp_replace(details::text, '***="' || $2::text || '"', '"${DELETED_LOGIN}"', 'gi')::jsonb`,
  `(${IS_ACTOR} or ${IS_TARGET})`,
  '$3',
)

/**
 * Takes the name of a deleted account out of the audit trail, a few entries at a time.
 * @param loginKey the login in lower case
 * @returns how many entries were changed
 */
export const anonymizeAuditEntries = async (
  tx: Db,
  userId: string,
  loginKey: string,
  rows: number,
): Promise<number> => (await tx.rows(ANONYMIZE_AUDIT_TRAIL, [userId, loginKey, rows])).length
