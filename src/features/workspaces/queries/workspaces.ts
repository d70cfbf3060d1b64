import { and, asc, count, eq, isNull, sql } from 'drizzle-orm'
import { v7 as uuidv7 } from 'uuid'
import type { PrivacyLevel, Role } from '../../../../schemas/common.js'
import type { InviteLookup } from '../../../../schemas/invites.js'
import { limits } from '../../../../schemas/limits.js'
import type { RepoPattern } from '../../../../schemas/repo-pattern.js'
import type { Workspace } from '../../../../schemas/workspaces.js'
import type { Db } from '../../../platform/database/client.js'
import { lockOfWorkspace, locksOfWorkspaces } from '../../../platform/database/locks.js'
import {
  bool,
  integer,
  json,
  moment,
  orNull,
  singleRow,
  statement,
  text,
  textOf,
  uuid,
} from '../../../platform/database/statement.js'
import { readMoment, toTimestamp } from '../../../platform/time/clock.js'
import { revokeKeysOfWorkspace } from '../../keys/index.js'
import { invites, joinedByOrganization, members, patterns, workspaces } from '../tables.js'
import { lockRoles } from './members.js'
import { insertPrivacyLevel } from './privacy-levels.js'
import { insertSettingsVersion } from './settings-versions.js'

/** SQL: the patterns of `w`. As JSON, because the driver takes many times longer to read a text array. */
const PATTERNS = `to_json(array(
    select p.pattern from patterns p where p.workspace_id = w.id order by p.position
  )) as patterns`
const MEMBER_COUNT = '(select count(*)::int from members a where a.workspace_id = w.id) as member_count'

/** $2: the ids of some workspaces, or null for all. */
const LIST_OWN = statement(
  'list own workspaces',
  {
    id: uuid,
    name: text,
    personal: bool,
    role: textOf<Role>(),
    idle_window_minutes: integer,
    activity_privacy: textOf<PrivacyLevel>(),
    activity_privacy_since: moment,
    patterns: json<string[]>(),
    member_count: integer,
    organization: orNull(text),
    joined_by: textOf<Workspace['joined_by']>(),
    created_at: moment,
  },
  `
  select w.id, w.name, w.personal_of is not null as personal, m.role, w.idle_window_minutes, w.activity_privacy,
    w.activity_privacy_since, ${PATTERNS}, ${MEMBER_COUNT}, o.name as organization,
    case when ${joinedByOrganization('m')} then 'organization'
      when m.user_id in (w.created_by, w.personal_of) then 'created' else 'invite' end as joined_by, w.created_at
  from members m
  join workspaces w on w.id = m.workspace_id
  left join organizations o on o.workspace_id = w.id
  where m.user_id = $1::uuid and ($2::uuid[] is null or w.id = any($2::uuid[]))
  order by w.created_at, w.id`,
)

/** The caller's workspaces, or only those with these ids, oldest first. */
export const listWorkspacesOf = async (db: Db, userId: string, ids?: string[]): Promise<Workspace[]> => {
  const rows = await db.rows(LIST_OWN, [userId, ids ?? null])
  return rows.map((row) => ({
    ...row,
    activity_privacy_since: toTimestamp(row.activity_privacy_since),
    created_at: toTimestamp(row.created_at),
  }))
}

const READ_INVITED = statement(
  'read invite workspace',
  { name: text, member_count: integer, patterns: json<string[]>(), activity_privacy: textOf<PrivacyLevel>() },
  `
  select w.name, ${MEMBER_COUNT}, ${PATTERNS}, w.activity_privacy
  from workspaces w where w.id = $1::uuid and w.deleted_at is null`,
)

/** The parts of a workspace that people with an invite see. */
export const readInvitedWorkspace = async (
  db: Db,
  id: string,
): Promise<InviteLookup['workspace'] | undefined> => {
  const [row] = await db.rows(READ_INVITED, [id])
  return row
}

const FIND_USER = statement(
  'find person by host id',
  { id: uuid },
  `select id from users where repohost_id = $1::bigint`,
)

export const findUserByRepohostId = async (db: Db, repohostId: number): Promise<string | undefined> =>
  (await db.rows(FIND_USER, [repohostId]))[0]?.id

/** An advisory lock, for the same reason as the role locks (`members.ts`). */
const LOCK_ADMINISTRATION = lockOfWorkspace('lock workspace administration', locksOfWorkspaces.administration)

export const lockAdministration = async (tx: Db, id: string): Promise<void> => {
  await tx.rows(LOCK_ADMINISTRATION, [id])
}

interface Present {
  name: string
  personal: boolean
}

/** Undefined: it doesn't exist or was deleted. */
export const readPresent = async (db: Db, id: string): Promise<Present | undefined> => {
  const [row] = await db
    .select({ name: workspaces.name, personal: sql<boolean>`${workspaces.personalOf} is not null` })
    .from(workspaces)
    .where(and(eq(workspaces.id, id), isNull(workspaces.deletedAt)))
  return row
}

/**
 * Locks until the transaction ends. Every change to a workspace's administration, including roles, takes this lock
 * first, so that such changes run one by one, can't deadlock, and can rely on the roles that they
 * read. Pushes and joins lock the roles instead (`lockAdmin`, `lockRole`).
 */
export const lockWorkspace = async (tx: Db, id: string): Promise<Present | undefined> => {
  // Sent together. The workspace is read once the lock is held.
  const [, workspace] = await Promise.all([lockAdministration(tx, id), readPresent(tx, id)])
  return workspace
}

export const updateName = async (tx: Db, id: string, name: string): Promise<void> => {
  await tx.update(workspaces).set({ name }).where(eq(workspaces.id, id))
}

/** @returns the id. It's a row conflict if the user already has a personal workspace. */
export const insertWorkspace = async (
  tx: Db,
  {
    name,
    privacy,
    createdBy,
    personalOf = null,
  }: { name: string; privacy: PrivacyLevel; createdBy: string; personalOf?: string | null },
): Promise<string> => {
  // The id begins with it, so that ordering by id means ordering by age.
  const createdAt = await readMoment(tx)
  const rows = await tx
    .insert(workspaces)
    .values({
      id: uuidv7({ msecs: Date.parse(createdAt) }),
      name,
      personalOf,
      createdBy,
      idleWindowMinutes: limits.idle_window_minutes_default,
      activityPrivacy: privacy,
      activityPrivacySince: createdAt,
      createdAt,
    })
    .returning({ id: workspaces.id })
  const { id } = singleRow(rows)
  await insertPrivacyLevel(tx, id, privacy, createdAt)
  await insertSettingsVersion(tx, id, { id: createdBy, keyName: null, reason: null })
  return id
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
  return singleRow(rows).total
}

/** Adds patterns after those with a position below `from`. */
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
 * Hides a locked workspace from every query at once. The remaining rows are deleted by `purge.ts`. Joins and pushes
 * lock the roles, so nothing can be written after this lock.
 */
export const markWorkspaceDeleted = async (tx: Db, id: string): Promise<void> => {
  await lockRoles(tx, id)
  await tx.delete(invites).where(eq(invites.workspaceId, id))
  await revokeKeysOfWorkspace(tx, id)
  await tx.delete(members).where(eq(members.workspaceId, id))
  await deletePatterns(tx, id)
  await tx.update(workspaces).set({ deletedAt: sql`now()`, personalOf: null }).where(eq(workspaces.id, id))
}
