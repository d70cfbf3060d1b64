import { and, asc, count, eq, inArray, sql } from 'drizzle-orm'
import { v7 as uuidv7 } from 'uuid'
import { limits } from '../../schemas/limits.js'
import type { Workspace } from '../../schemas/workspaces.js'
import type { Db } from '../db/client.js'
import { members, patterns, workspaces } from '../db/tables.js'
import type { RepoPattern } from '../domain/repo-pattern.js'
import { toTimestamp } from '../domain/time.js'

const patternsOf = sql<string[]>`array(
  select ${patterns.pattern} from ${patterns} where ${patterns.workspaceId} = ${workspaces.id} order by ${patterns.position}
)`
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
      patterns: patternsOf,
      member_count: membersOf,
      created_at: workspaces.createdAt,
    })
    .from(members)
    .innerJoin(workspaces, eq(workspaces.id, members.workspaceId))
    .where(and(eq(members.userId, userId), ids && inArray(workspaces.id, ids)))
    .orderBy(asc(workspaces.createdAt), asc(workspaces.id))
  return rows.map((row) => ({ ...row, created_at: toTimestamp(row.created_at) }))
}

/** @returns the id. Undefined when the user has a personal workspace already. */
export const insertWorkspace = async (
  tx: Db,
  { name, personalOf = null }: { name: string; personalOf?: string | null },
): Promise<string | undefined> => {
  const [row] = await tx
    .insert(workspaces)
    .values({ id: uuidv7(), name, personalOf, idleWindowMinutes: limits.idle_window_minutes_default })
    .onConflictDoNothing({ target: workspaces.personalOf })
    .returning({ id: workspaces.id })
  return row?.id
}

/** Held until the transaction ends. */
export const lockPersonalWorkspace = async (tx: Db, userId: string): Promise<string | undefined> => {
  const [row] = await tx
    .select({ id: workspaces.id })
    .from(workspaces)
    .where(eq(workspaces.personalOf, userId))
    .for('no key update')
  return row?.id
}

export const countPatterns = async (db: Db, workspaceId: string): Promise<number> => {
  const [row] = await db
    .select({ total: count() })
    .from(patterns)
    .where(eq(patterns.workspaceId, workspaceId))
  return row?.total ?? 0
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
