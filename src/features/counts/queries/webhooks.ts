/** Webhooks and their deliveries. */
import { and, desc, eq, gte } from 'drizzle-orm'
import { v7 as uuidv7 } from 'uuid'
import { limits } from '../../../../schemas/limits.js'
import type { Db } from '../../../platform/database/client.js'
import { limitedUpdate } from '../../../platform/database/limited-delete.js'
import {
  integer,
  integers,
  orNull,
  singleRow,
  statement,
  uuid,
} from '../../../platform/database/statement.js'
import { toTimestamp } from '../../../platform/time/clock.js'
import { deliveries, webhooks } from '../tables.js'

/**
 * SQL: the admin responsible for something in the workspace `w.id`: the one who created it, or else the workspace's
 * creator, or else the longest-standing admin. If only former admins created it, the people who can remove it pay.
 * @param creator SQL: the person who created it, or null
 */
const payerOfWorkspace = (creator: string): string => {
  const ifAdmin = (person: string) =>
    `(select a.user_id from members a where a.workspace_id = w.id and a.role = 'admin' and a.user_id = ${person})`
  return `coalesce(${ifAdmin(creator)}, ${ifAdmin('w.created_by')},
    (select a.user_id from members a where a.workspace_id = w.id and a.role = 'admin' order by a.joined_at, a.user_id limit 1))`
}

/** $1: the workspace; $2: the id of a new webhook; $3: the admin who sees the secret. */
const ROTATE = statement(
  'upsert webhook secret',
  { id: uuid, generation: integer },
  `
  insert into webhooks as w (workspace_id, id, created_by) values ($1::uuid, $2::uuid, $3::uuid)
  on conflict (workspace_id) do update set
    created_by = excluded.created_by,
    generation = w.generation + 1,
    replaced_at = (array_prepend(excluded.created_at, w.replaced_at))[:${limits.webhook_former_secrets}]
  returning id, generation`,
)

/** The first secret has the number 1. */
export const rotateWebhook = async (
  tx: Db,
  workspaceId: string,
  newId: string,
  createdBy: string,
): Promise<{ id: string; generation: number }> =>
  singleRow(await tx.rows(ROTATE, [workspaceId, newId, createdBy]))

/** @returns whether there was a webhook */
export const deleteWebhook = async (tx: Db, workspaceId: string): Promise<boolean> => {
  const deleted = await tx
    .delete(webhooks)
    .where(eq(webhooks.workspaceId, workspaceId))
    .returning({ id: webhooks.id })
  return deleted.length > 0
}

export const readWebhook = async (
  db: Db,
  workspaceId: string,
): Promise<{ id: string; createdAt: string } | undefined> => {
  const [row] = await db
    .select({ id: webhooks.id, createdAt: webhooks.createdAt })
    .from(webhooks)
    .where(eq(webhooks.workspaceId, workspaceId))
  return row
}

/** $1: the id of the webhook. */
const FIND_WEBHOOK = statement(
  'find webhook',
  { workspaceId: uuid, payerId: orNull(uuid), generations: integers },
  `
  select h.workspace_id as "workspaceId", ${payerOfWorkspace('h.created_by')} as "payerId", array(
    select h.generation - n::int
    from unnest(array_prepend('infinity', h.replaced_at)) with ordinality as r (at, above), lateral (select above - 1) as g (n)
    where r.at > now() - make_interval(hours => ${limits.webhook_secret_hours})
    order by n
  ) as generations
  from webhooks h join workspaces w on w.id = h.workspace_id and w.deleted_at is null
  where h.id = $1::uuid`,
)

/** Includes who pays for its deliveries, and the numbers of its working secrets, the current one first. */
export const findWebhook = async (
  db: Db,
  id: string,
): Promise<{ workspaceId: string; payerId: string | null; generations: number[] } | undefined> =>
  (await db.rows(FIND_WEBHOOK, [id]))[0]

export const insertDelivery = async (
  tx: Db,
  workspaceId: string,
  {
    deliveryId = null,
    repo = null,
    ...row
  }: Omit<typeof deliveries.$inferInsert, 'workspaceId' | 'id' | 'at'>,
): Promise<void> => {
  await tx.insert(deliveries).values({ workspaceId, id: uuidv7(), deliveryId, repo, ...row })
}

/** Null: an earlier release received the delivery. */
const reasonsOf = ({ notAMember, unknownAuthor, outsidePatterns, notDelivered }: Reasons) =>
  notAMember === null || unknownAuthor === null || outsidePatterns === null || notDelivered === null
    ? null
    : {
        not_a_member: notAMember,
        unknown_author: unknownAuthor,
        outside_patterns: outsidePatterns,
        not_delivered: notDelivered,
      }

type Reasons = Pick<
  typeof deliveries.$inferSelect,
  'notAMember' | 'unknownAuthor' | 'outsidePatterns' | 'notDelivered'
>

/** The deliveries since a time, newest first. */
export const listDeliveries = async (db: Db, workspaceId: string, since: string) => {
  const rows = await db
    .select({
      at: deliveries.at,
      event: deliveries.event,
      status: deliveries.status,
      repo: deliveries.repo,
      counted: deliveries.counted,
      skipped: deliveries.skipped,
      notAMember: deliveries.notAMember,
      unknownAuthor: deliveries.unknownAuthor,
      outsidePatterns: deliveries.outsidePatterns,
      notDelivered: deliveries.notDelivered,
      skippedCommits: deliveries.skippedCommits,
    })
    .from(deliveries)
    .where(and(eq(deliveries.workspaceId, workspaceId), gte(deliveries.at, since)))
    .orderBy(desc(deliveries.id))
    .limit(limits.webhook_deliveries_listed)
  return rows.map((row) => {
    const { at, event, status, repo, counted, skipped, skippedCommits } = row
    return {
      ...{ at: toTimestamp(at), event, status, repo, counted, skipped, skipped_because: reasonsOf(row) },
      skipped_commits: (skippedCommits ?? []).map(({ hash, author, because }) => ({ hash, author, because })),
    }
  })
}

const CLEAR_SKIPPED = limitedUpdate(
  'clear skipped commits',
  deliveries,
  'skipped_commits = null',
  `skipped_commits @> jsonb_build_array(jsonb_build_object('login', $1::text))`,
  '$2',
)

/** Forgets the skipped commits of some deliveries that name a login. @returns how many deliveries */
export const clearSkippedCommits = async (tx: Db, loginKey: string, rows: number): Promise<number> =>
  (await tx.rows(CLEAR_SKIPPED, [loginKey, rows])).length
