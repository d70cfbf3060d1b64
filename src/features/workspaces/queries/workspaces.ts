import { and, asc, count, eq, inArray, isNull, sql } from 'drizzle-orm'
import { v7 as uuidv7 } from 'uuid'
import type { PrivacyLevel } from '../../../../schemas/common.js'
import type { InviteLookup } from '../../../../schemas/invites.js'
import { limits } from '../../../../schemas/limits.js'
import type { RepoPattern } from '../../../../schemas/repo-pattern.js'
import type { Workspace } from '../../../../schemas/workspaces.js'
import type { Db } from '../../../platform/database/client.js'
import { locksOfWorkspaces } from '../../../platform/database/locks.js'
import { statement } from '../../../platform/database/statement.js'
import { theRow } from '../../../platform/database/the-row.js'
import { readMoment } from '../../../platform/time/clock.js'
import { toTimestamp } from '../../../platform/time/timestamps.js'
import { invites, members, patterns, workspaces } from '../tables.js'
import { lockRoles } from './members.js'
import { insertPrivacyLevel, privacyColumns, type WorkspacePrivacy } from './privacy-levels.js'

/** As JSON, because the driver takes many times as long to read an array of texts. */
const patternsOf = sql<string[]>`to_json(array(
  select ${patterns.pattern} from ${patterns} where ${patterns.workspaceId} = ${workspaces.id} order by ${patterns.position}
))`
const membersOf = sql<number>`(
  select count(*)::int from ${members} as "all" where "all"."workspace_id" = ${workspaces.id}
)`

/** The caller's workspaces, or those of them with these ids, oldest first. */
export const listWorkspacesOf = async (db: Db, userId: string, ids?: string[]): Promise<Workspace[]> => {
  const rows = await db
    .select({
      id: workspaces.id,
      name: workspaces.name,
      personal: sql<boolean>`${workspaces.personalOf} is not null`,
      role: members.role,
      idle_window_minutes: workspaces.idleWindowMinutes,
      activity_privacy: workspaces.activityPrivacy,
      activity_privacy_since: workspaces.activityPrivacySince,
      patterns: patternsOf,
      member_count: membersOf,
      created_at: workspaces.createdAt,
    })
    .from(members)
    .innerJoin(workspaces, eq(workspaces.id, members.workspaceId))
    .where(and(eq(members.userId, userId), ids && inArray(workspaces.id, ids)))
    .orderBy(asc(workspaces.createdAt), asc(workspaces.id))
  return rows.map((row) => ({
    ...row,
    activity_privacy_since: toTimestamp(row.activity_privacy_since),
    created_at: toTimestamp(row.created_at),
  }))
}

/** What a dashboard says of its workspace, and what it may show. */
export const readWorkspaceHead = async (
  db: Db,
  workspaceId: string,
): Promise<{ name: string; idle_window_minutes: number; privacy: WorkspacePrivacy } | undefined> => {
  const [row] = await db
    .select({
      name: workspaces.name,
      idle_window_minutes: workspaces.idleWindowMinutes,
      privacy: privacyColumns,
    })
    .from(workspaces)
    .where(eq(workspaces.id, workspaceId))
  return row
}

/** What a workspace shows to somebody with an invite. */
export const introduceWorkspace = async (
  db: Db,
  id: string,
): Promise<InviteLookup['workspace'] | undefined> => {
  const [row] = await db
    .select({
      name: workspaces.name,
      member_count: membersOf,
      patterns: patternsOf,
      activity_privacy: workspaces.activityPrivacy,
    })
    .from(workspaces)
    .where(and(eq(workspaces.id, id), isNull(workspaces.deletedAt)))
  return row
}

/** An advisory lock for the reason that the locks of roles have (`members.ts`). */
const LOCK_ADMINISTRATION = statement(
  'lock the administration of a workspace',
  {},
  `select pg_advisory_xact_lock(${locksOfWorkspaces.administration}, hashtext($1::uuid::text))`,
)

/**
 * Held until the transaction ends. Every change of a workspace's administration, its roles included, takes this lock
 * before any other, so that such changes come one after the other, cannot deadlock, and may trust the roles that they
 * read. Pushes and joins hold the roles instead (`lockRole`).
 */
export const lockWorkspace = async (
  tx: Db,
  id: string,
): Promise<{ name: string; personal: boolean } | undefined> => {
  // Sent together; the workspace is read once the lock is there.
  const [, [row]] = await Promise.all([
    tx.rows(LOCK_ADMINISTRATION, [id]),
    tx
      .select({ name: workspaces.name, personal: sql<boolean>`${workspaces.personalOf} is not null` })
      .from(workspaces)
      .where(and(eq(workspaces.id, id), isNull(workspaces.deletedAt))),
  ])
  return row
}

export const renameWorkspace = async (tx: Db, id: string, name: string): Promise<void> => {
  await tx.update(workspaces).set({ name }).where(eq(workspaces.id, id))
}

/** @returns the id. Undefined when the user has a personal workspace already. */
export const insertWorkspace = async (
  tx: Db,
  { name, privacy, personalOf = null }: { name: string; privacy: PrivacyLevel; personalOf?: string | null },
): Promise<string | undefined> => {
  // The id begins with it, so that the order of ids is the order of age.
  const createdAt = await readMoment(tx)
  const [row] = await tx
    .insert(workspaces)
    .values({
      id: uuidv7({ msecs: Date.parse(createdAt) }),
      name,
      personalOf,
      idleWindowMinutes: limits.idle_window_minutes_default,
      activityPrivacy: privacy,
      activityPrivacySince: createdAt,
      createdAt,
    })
    .onConflictDoNothing({ target: workspaces.personalOf })
    .returning({ id: workspaces.id })
  if (row) await insertPrivacyLevel(tx, row.id, privacy, createdAt)
  return row?.id
}

export const readPersonalWorkspace = async (db: Db, userId: string): Promise<string | undefined> => {
  const [row] = await db
    .select({ id: workspaces.id })
    .from(workspaces)
    .where(eq(workspaces.personalOf, userId))
  return row?.id
}

export const listPatterns = async (db: Db, workspaceId: string): Promise<string[]> => {
  const rows = await db
    .select({ pattern: patterns.pattern })
    .from(patterns)
    .where(eq(patterns.workspaceId, workspaceId))
    .orderBy(asc(patterns.position))
  return rows.map(({ pattern }) => pattern)
}

export const countPatterns = async (db: Db, workspaceId: string): Promise<number> => {
  const rows = await db.select({ total: count() }).from(patterns).where(eq(patterns.workspaceId, workspaceId))
  return theRow(rows).total
}

/** Adds patterns behind those with a position below `from`. */
export const insertPatterns = async (
  tx: Db,
  workspaceId: string,
  list: RepoPattern[],
  from = 0,
): Promise<void> => {
  if (list.length === 0) return
  await tx
    .insert(patterns)
    .values(list.map((pattern, index) => ({ workspaceId, position: from + index, ...pattern })))
}

export const deletePatterns = async (tx: Db, workspaceId: string): Promise<void> => {
  await tx.delete(patterns).where(eq(patterns.workspaceId, workspaceId))
}

/**
 * Makes a locked workspace disappear at once: nobody finds it any more, through whatever they ask. The rows that remain
 * are for `purgeWorkspace`. Who joins or pushes holds the roles, so that behind them nothing can be written any
 * more.
 */
export const hideWorkspace = async (tx: Db, id: string): Promise<void> => {
  await lockRoles(tx, id)
  await tx.delete(invites).where(eq(invites.workspaceId, id))
  await tx.delete(members).where(eq(members.workspaceId, id))
  await deletePatterns(tx, id)
  await tx.update(workspaces).set({ deletedAt: sql`now()`, personalOf: null }).where(eq(workspaces.id, id))
}
