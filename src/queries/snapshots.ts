import { and, desc, eq, lte, sql } from 'drizzle-orm'
import { v7 as uuidv7 } from 'uuid'
import { limits } from '../../schemas/limits.js'
import type { SnapshotVersionList } from '../../schemas/settings.js'
import type { Database, Db } from '../db/client.js'
import { snapshots, snapshotVersions, users } from '../db/tables.js'
import { toTimestamp } from '../domain/time.js'
import { MATCH_ORDER, MATCHES, type RepoQuestion, repoParameters } from './repo-access.js'

/** Where one snapshot is. */
export interface SnapshotKey {
  ownerKey: string
  repoKey: string
  workspaceId: string
}

export interface StoredSnapshot {
  id: string
  owner: string
  repo: string
  workspaceId: string
  version: number
  sizeBytes: number
  updatedAt: string
  updatedBy: string
}

export interface SnapshotText extends StoredSnapshot {
  /** JSON text, as stored. */
  settings: string
}

export const etagOf = ({ id, version }: { id: string; version: number }): string => `"${id}-${version}"`

/**
 * The hottest query: decides (R1, R3) and reads in one round trip. The large text leaves the table only when the
 * caller's `If-None-Match` ($5) does not name the current version.
 */
const READ_BEST_SNAPSHOT = `
  select
    u.login_key = $2::text as "ownsRepo",
    $4::uuid is null or exists (select from members where user_id = $1::uuid and workspace_id = $4::uuid) as "inWorkspace",
    t.workspace_id as "workspaceId", t.id, t.owner, t.repo, t.version, t.size_bytes as "sizeBytes",
    t.updated_at as "updatedAt", a.login as "updatedBy",
    case when strpos($5::text, '"' || t.id || '-' || t.version || '"') = 0 and $5::text <> '*' then t.settings end as settings
  from users u
  left join lateral (
    select m.workspace_id, s.id, s.owner, s.repo, s.version, s.size_bytes, s.updated_at, s.updated_by, s.settings
    from ${MATCHES}
    left join snapshots s on s.owner_key = $2::text and s.repo_key = $3::text and s.workspace_id = m.workspace_id
    order by (s.id is null), ${MATCH_ORDER}
    limit 1
  ) t on true
  left join users a on a.id = t.updated_by
  where u.id = $1::uuid`

export interface BestSnapshot {
  ownsRepo: boolean
  inWorkspace: boolean
  /** Null: no workspace of the caller matches. */
  workspaceId: string | null
  /** Null: nothing was pushed. */
  snapshot: StoredSnapshot | null
  /** Null: the caller has this version already. */
  settings: string | null
}

/** Undefined when the caller is not in the database. */
export const readBestSnapshot = async (
  database: Database,
  question: RepoQuestion,
  ifNoneMatch: string | undefined,
): Promise<BestSnapshot | undefined> => {
  type Row = SnapshotText & { ownsRepo: boolean; inWorkspace: boolean }
  const parameters = [...repoParameters(question), ifNoneMatch?.trim() ?? '']
  const [row] = await database.query<Row>(READ_BEST_SNAPSHOT, parameters)
  if (!row) return undefined
  const { ownsRepo, inWorkspace, settings, ...snapshot } = row
  const found = snapshot.id === null ? null : { ...snapshot, updatedAt: toTimestamp(snapshot.updatedAt) }
  return { ownsRepo, inWorkspace, workspaceId: row.workspaceId, snapshot: found, settings }
}

const at = ({ ownerKey, repoKey, workspaceId }: SnapshotKey) =>
  and(
    eq(snapshots.ownerKey, ownerKey),
    eq(snapshots.repoKey, repoKey),
    eq(snapshots.workspaceId, workspaceId),
  )

const versionsAt = ({ ownerKey, repoKey, workspaceId }: SnapshotKey) =>
  and(
    eq(snapshotVersions.ownerKey, ownerKey),
    eq(snapshotVersions.repoKey, repoKey),
    eq(snapshotVersions.workspaceId, workspaceId),
  )

/** The current snapshot, held until the transaction ends. */
export const lockSnapshot = async (tx: Db, key: SnapshotKey): Promise<SnapshotText | undefined> => {
  const [row] = await tx
    .select({
      id: snapshots.id,
      owner: snapshots.owner,
      repo: snapshots.repo,
      workspaceId: snapshots.workspaceId,
      version: snapshots.version,
      sizeBytes: snapshots.sizeBytes,
      updatedAt: snapshots.updatedAt,
      updatedBy: users.login,
      settings: snapshots.settings,
    })
    .from(snapshots)
    .innerJoin(users, eq(users.id, snapshots.updatedBy))
    .where(at(key))
    .for('update', { of: snapshots })
  return row && { ...row, updatedAt: toTimestamp(row.updatedAt) }
}

export interface Author {
  id: string
  login: string
}

interface NewContent {
  settings: string
  sizeBytes: number
  author: Author
}

/** False when somebody else's first push was faster: lock and look again. */
export const insertSnapshot = async (
  tx: Db,
  key: SnapshotKey,
  { owner, repo, settings, sizeBytes, author }: NewContent & { owner: string; repo: string },
): Promise<boolean> => {
  const inserted = await tx
    .insert(snapshots)
    .values({ ...key, id: uuidv7(), owner, repo, version: 1, settings, sizeBytes, updatedBy: author.id })
    .onConflictDoNothing()
    .returning({ version: snapshots.version })
  if (inserted.length === 0) return false
  await keepVersion(tx, key, 1, { settings, sizeBytes, author })
  return true
}

/** The next version of a locked snapshot. */
export const updateSnapshot = async (
  tx: Db,
  key: SnapshotKey,
  version: number,
  content: NewContent,
): Promise<void> => {
  const { settings, sizeBytes, author } = content
  await tx
    .update(snapshots)
    .set({ version, settings, sizeBytes, updatedAt: sql`now()`, updatedBy: author.id })
    .where(at(key))
  await keepVersion(tx, key, version, content)
}

const keepVersion = async (
  tx: Db,
  key: SnapshotKey,
  version: number,
  { settings, sizeBytes, author }: NewContent,
) => {
  await tx.insert(snapshotVersions).values({ ...key, version, settings, sizeBytes, createdBy: author.id })
  await tx
    .delete(snapshotVersions)
    .where(and(versionsAt(key), lte(snapshotVersions.version, version - limits.settings_versions_kept)))
}

/** With its history. False when there was none. */
export const deleteSnapshot = async (tx: Db, key: SnapshotKey): Promise<boolean> => {
  const deleted = await tx.delete(snapshots).where(at(key)).returning({ id: snapshots.id })
  await tx.delete(snapshotVersions).where(versionsAt(key))
  return deleted.length > 0
}

/** The kept versions, newest first. */
export const listVersions = async (db: Db, key: SnapshotKey): Promise<SnapshotVersionList['versions']> => {
  const rows = await db
    .select({
      version: snapshotVersions.version,
      size_bytes: snapshotVersions.sizeBytes,
      created_at: snapshotVersions.createdAt,
      created_by: users.login,
    })
    .from(snapshotVersions)
    .innerJoin(users, eq(users.id, snapshotVersions.createdBy))
    .where(versionsAt(key))
    .orderBy(desc(snapshotVersions.version))
  return rows.map((row) => ({ ...row, created_at: toTimestamp(row.created_at) }))
}

/** One kept version, in the shape of a snapshot. */
export const readVersion = async (
  db: Db,
  key: SnapshotKey,
  version: number,
): Promise<SnapshotText | undefined> => {
  const [row] = await db
    .select({
      id: snapshots.id,
      owner: snapshots.owner,
      repo: snapshots.repo,
      workspaceId: snapshots.workspaceId,
      version: snapshotVersions.version,
      sizeBytes: snapshotVersions.sizeBytes,
      updatedAt: snapshotVersions.createdAt,
      updatedBy: users.login,
      settings: snapshotVersions.settings,
    })
    .from(snapshots)
    .innerJoin(
      snapshotVersions,
      and(
        eq(snapshotVersions.ownerKey, snapshots.ownerKey),
        eq(snapshotVersions.repoKey, snapshots.repoKey),
        eq(snapshotVersions.workspaceId, snapshots.workspaceId),
      ),
    )
    .innerJoin(users, eq(users.id, snapshotVersions.createdBy))
    .where(and(at(key), eq(snapshotVersions.version, version)))
  return row && { ...row, updatedAt: toTimestamp(row.updatedAt) }
}
