import { and, desc, eq, lte, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import { v7 as uuidv7 } from 'uuid'
import { limits } from '../../../../schemas/limits.js'
import type { RepoKeys } from '../../../../schemas/repo-keys.js'
import type { SnapshotVersionList } from '../../../../schemas/settings.js'
import type { Db } from '../../../platform/database/client.js'
import { etagSql, isWanted } from '../../../platform/database/etag.js'
import { bool, integer, moment, orNull, statement, text, uuid } from '../../../platform/database/statement.js'
import { theRow } from '../../../platform/database/the-row.js'
import { toTimestamp, withUpdatedAt } from '../../../platform/time/timestamps.js'
import { users } from '../../accounts/index.js'
import { MATCH_ORDER, type RepoQuestion, repoParameters, WITH_EVERY_PATTERN } from '../../workspaces/index.js'
import { snapshots, snapshotVersions } from '../tables.js'

/** A repository in a workspace: the place of one snapshot, and of one override. */
export interface SnapshotKey extends RepoKeys {
  workspaceId: string
}

/** The condition that a row belongs to this place. */
export const isAt = (
  table: Record<keyof SnapshotKey, PgColumn>,
  { ownerKey, repoKey, workspaceId }: SnapshotKey,
) => and(eq(table.ownerKey, ownerKey), eq(table.repoKey, repoKey), eq(table.workspaceId, workspaceId))

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

/**
 * The hottest query: decides (R1, R3) and reads in one round trip. The large text leaves the table only when the
 * caller's `If-None-Match` ($5) does not name the current version.
 */
const READ_BEST_SNAPSHOT = statement(
  'read the best snapshot',
  {
    ownsRepo: orNull(bool),
    inWorkspace: bool,
    workspaceId: orNull(uuid),
    id: orNull(uuid),
    owner: orNull(text),
    repo: orNull(text),
    version: orNull(integer),
    sizeBytes: orNull(integer),
    updatedAt: orNull(moment),
    updatedBy: orNull(text),
    settings: orNull(text),
  },
  `
  select
    case when t.id is null then (select login_key = $2::text from users where id = $1::uuid) end as "ownsRepo",
    $4::uuid is null or exists (select from members where user_id = $1::uuid and workspace_id = $4::uuid) as "inWorkspace",
    t.workspace_id as "workspaceId", t.id, t.owner, t.repo, t.version, t.size_bytes as "sizeBytes",
    t.updated_at as "updatedAt", a.login as "updatedBy",
    case when ${isWanted(etagSql('t.id', 't.version'), '$5::text')} then t.settings end as settings
  from (values (true)) always
  left join lateral (
    select m.workspace_id, s.id, s.owner, s.repo, s.version, s.size_bytes, s.updated_at, s.updated_by, s.settings
    from ${WITH_EVERY_PATTERN}
    left join snapshots s on s.owner_key = $2::text and s.repo_key = $3::text and s.workspace_id = m.workspace_id
    order by (s.id is null), ${MATCH_ORDER}
    limit 1
  ) t on true
  left join users a on a.id = t.updated_by`,
)

export interface BestSnapshot {
  inWorkspace: boolean
  /** Only when there is no snapshot; null when the caller is not in the database. */
  ownsRepo: boolean | null
  /** Null: no workspace of the caller matches. */
  workspaceId: string | null
  /** Null: nothing was pushed. */
  snapshot: StoredSnapshot | null
  /** Null: the caller has this version already. */
  settings: string | null
}

export const readBestSnapshot = async (
  db: Db,
  question: RepoQuestion,
  ifNoneMatch: string | undefined,
): Promise<BestSnapshot> => {
  const parameters = [...repoParameters(question), ifNoneMatch?.trim() ?? '']
  const row = theRow(await db.rows(READ_BEST_SNAPSHOT, parameters))
  const { ownsRepo, inWorkspace, settings, ...snapshot } = row
  const found = snapshot.id === null ? null : withUpdatedAt(snapshot as StoredSnapshot)
  return { ownsRepo, inWorkspace, workspaceId: row.workspaceId, snapshot: found, settings }
}

/** What a snapshot and its versions have in common, with the login of `users`. */
const commonColumns = {
  id: snapshots.id,
  owner: snapshots.owner,
  repo: snapshots.repo,
  workspaceId: snapshots.workspaceId,
  updatedBy: users.login,
}

/** The current snapshot, held until the transaction ends. */
export const lockSnapshot = async (tx: Db, key: SnapshotKey): Promise<SnapshotText | undefined> => {
  const [row] = await tx
    .select({
      ...commonColumns,
      version: snapshots.version,
      sizeBytes: snapshots.sizeBytes,
      updatedAt: snapshots.updatedAt,
      settings: snapshots.settings,
    })
    .from(snapshots)
    .innerJoin(users, eq(users.id, snapshots.updatedBy))
    .where(isAt(snapshots, key))
    .for('update', { of: snapshots })
  return row && withUpdatedAt(row)
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

interface Write extends NewContent {
  version: number
}

/** What a write answers with. */
const written = {
  id: snapshots.id,
  owner: snapshots.owner,
  repo: snapshots.repo,
  updatedAt: snapshots.updatedAt,
}

const toStored = (
  row: { id: string; owner: string; repo: string; updatedAt: string } | undefined,
  { workspaceId }: SnapshotKey,
  { version, sizeBytes, author }: Write,
): StoredSnapshot | undefined =>
  row && {
    ...row,
    workspaceId,
    version,
    sizeBytes,
    updatedAt: toTimestamp(row.updatedAt),
    updatedBy: author.login,
  }

/** Version 1. Undefined when somebody else's first push was faster: lock and look again. */
export const insertSnapshot = async (
  tx: Db,
  key: SnapshotKey,
  { owner, repo, ...content }: NewContent & { owner: string; repo: string },
): Promise<StoredSnapshot | undefined> => {
  const { settings, sizeBytes, author } = content
  const write = { ...content, version: 1 }
  const [row] = await tx
    .insert(snapshots)
    .values({ ...key, id: uuidv7(), owner, repo, version: 1, settings, sizeBytes, updatedBy: author.id })
    .onConflictDoNothing()
    .returning(written)
  if (row) await keepVersion(tx, key, write)
  return toStored(row, key, write)
}

/** The next version of a locked snapshot. */
export const updateSnapshot = async (
  tx: Db,
  key: SnapshotKey,
  write: Write,
): Promise<StoredSnapshot | undefined> => {
  const { version, settings, sizeBytes, author } = write
  const [row] = await tx
    .update(snapshots)
    .set({ version, settings, sizeBytes, updatedAt: sql`now()`, updatedBy: author.id })
    .where(isAt(snapshots, key))
    .returning(written)
  await keepVersion(tx, key, write)
  if (version > limits.settings_versions_kept) {
    const oldest = version - limits.settings_versions_kept
    await tx
      .delete(snapshotVersions)
      .where(and(isAt(snapshotVersions, key), lte(snapshotVersions.version, oldest)))
  }
  return toStored(row, key, write)
}

const keepVersion = async (tx: Db, key: SnapshotKey, { version, settings, sizeBytes, author }: Write) => {
  await tx.insert(snapshotVersions).values({ ...key, version, settings, sizeBytes, createdBy: author.id })
}

/** With its history. @returns its name as it was first given; undefined when there was none */
export const deleteSnapshot = async (
  tx: Db,
  key: SnapshotKey,
): Promise<{ owner: string; repo: string } | undefined> => {
  const [deleted] = await tx
    .delete(snapshots)
    .where(isAt(snapshots, key))
    .returning({ owner: snapshots.owner, repo: snapshots.repo })
  await tx.delete(snapshotVersions).where(isAt(snapshotVersions, key))
  return deleted
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
    .where(isAt(snapshotVersions, key))
    .orderBy(desc(snapshotVersions.version))
  return rows.map((row) => ({ ...row, created_at: toTimestamp(row.created_at) }))
}

/** One kept version, in the shape of a snapshot. */
export const readVersion = async (
  db: Db,
  key: SnapshotKey,
  version: number,
): Promise<SnapshotText | undefined> => {
  // No version was ever as large as what the column cannot hold.
  if (version > 2_147_483_647) return undefined
  const [row] = await db
    .select({
      ...commonColumns,
      version: snapshotVersions.version,
      sizeBytes: snapshotVersions.sizeBytes,
      updatedAt: snapshotVersions.createdAt,
      settings: snapshotVersions.settings,
    })
    .from(snapshots)
    .innerJoin(snapshotVersions, isAt(snapshotVersions, key))
    .innerJoin(users, eq(users.id, snapshotVersions.createdBy))
    .where(and(isAt(snapshots, key), eq(snapshotVersions.version, version)))
  return row && withUpdatedAt(row)
}
