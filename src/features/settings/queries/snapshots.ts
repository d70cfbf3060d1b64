import { and, eq, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import { v7 as uuidv7 } from 'uuid'
import type { RepoKeys } from '../../../../schemas/repo-keys.js'
import type { Db } from '../../../platform/database/client.js'
import {
  bool,
  integer,
  moment,
  orNull,
  type RowOf,
  singleRow,
  statement,
  text,
  uuid,
} from '../../../platform/database/statement.js'
import { etagDiffers, etagSql } from '../../../platform/http/etag.js'
import { withUpdatedAt } from '../../../platform/time/clock.js'
import type { User } from '../../accounts/index.js'
import { snapshots, snapshotVersions } from '../tables.js'
import { dropOldVersions, historyOf } from './history.js'
import { MATCH_ORDER, type RepoQuestion, repoParameters, WITH_EVERY_PATTERN } from './matches.js'

/** A repository in a workspace, which can have one snapshot and one override. */
export interface SnapshotKey extends RepoKeys {
  workspaceId: string
}

/** The condition that a row belongs to this repository in this workspace. */
export const matchesKey = (
  table: Record<keyof SnapshotKey, PgColumn>,
  { ownerKey, repoKey, workspaceId }: SnapshotKey,
) => and(eq(table.ownerKey, ownerKey), eq(table.repoKey, repoKey), eq(table.workspaceId, workspaceId))

/** `matchesKey` in SQL, for `keyParameters`. */
export const matchesKeyParameters = (alias: string): string =>
  `${alias}.owner_key = $1::text and ${alias}.repo_key = $2::text and ${alias}.workspace_id = $3::uuid`

export const keyParameters = ({ ownerKey, repoKey, workspaceId }: SnapshotKey) => [
  ownerKey,
  repoKey,
  workspaceId,
]

/** The columns of a snapshot or a version of it, without the settings. */
const storedColumns = {
  id: uuid,
  owner: text,
  repo: text,
  workspaceId: uuid,
  updatedBy: text,
  version: integer,
  sizeBytes: integer,
  updatedAt: moment,
}

export type StoredSnapshot = RowOf<typeof storedColumns>

/** Columns of a snapshot, with the settings as JSON text. */
const textColumns = { ...storedColumns, settings: text }

export type SnapshotText = RowOf<typeof textColumns>

/**
 * The most frequent query: decides (R1, R3) and reads in one round trip. The large text leaves the table only when the
 * caller's `If-None-Match` ($5) doesn't name the current version.
 */
const READ_BEST_SNAPSHOT = statement(
  'read best snapshot',
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
    case when ${etagDiffers(etagSql('t.id', 't.version'), '$5::text')} then t.settings end as settings
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
  /** Looked up only if there's no snapshot. Null if the caller isn't in the database. */
  ownsRepo: boolean | null
  /** Null: none of the caller's workspaces matches. */
  workspaceId: string | null
  /** Null: nothing was pushed. */
  snapshot: StoredSnapshot | null
  /** Null: the caller already has this version. */
  settings: string | null
}

export const readBestSnapshot = async (
  db: Db,
  question: RepoQuestion,
  ifNoneMatch: string | undefined,
): Promise<BestSnapshot> => {
  const parameters = [...repoParameters(question), ifNoneMatch?.trim() ?? '']
  const row = singleRow(await db.rows(READ_BEST_SNAPSHOT, parameters))
  const { ownsRepo, inWorkspace, settings, ...snapshot } = row
  const found = snapshot.id === null ? null : withUpdatedAt(snapshot as StoredSnapshot)
  return { ownsRepo, inWorkspace, workspaceId: row.workspaceId, snapshot: found, settings }
}

const LOCK_SNAPSHOT = statement(
  'lock snapshot',
  textColumns,
  `
  select s.id, s.owner, s.repo, s.workspace_id as "workspaceId", u.login as "updatedBy", s.version,
    s.size_bytes as "sizeBytes", s.updated_at as "updatedAt", s.settings
  from snapshots s join users u on u.id = s.updated_by
  where ${matchesKeyParameters('s')}
  for update of s`,
)

/** The current snapshot, locked until the transaction ends. */
export const lockSnapshot = async (tx: Db, key: SnapshotKey): Promise<SnapshotText | undefined> => {
  const [row] = await tx.rows(LOCK_SNAPSHOT, keyParameters(key))
  return row && withUpdatedAt(row)
}

const READ_SETTINGS = statement(
  'read pushed settings',
  { settings: text },
  `select s.settings from snapshots s where ${matchesKeyParameters('s')}`,
)

/** The stored JSON text. Undefined if nothing was pushed. */
export const readSettings = async (db: Db, key: SnapshotKey): Promise<string | undefined> => {
  const [row] = await db.rows(READ_SETTINGS, keyParameters(key))
  return row?.settings
}

interface NewContent {
  settings: string
  sizeBytes: number
  author: Pick<User, 'id' | 'login'>
  reason?: string | undefined
}

/** The columns returned by a write. */
const written = {
  id: snapshots.id,
  owner: snapshots.owner,
  repo: snapshots.repo,
  workspaceId: snapshots.workspaceId,
  version: snapshots.version,
  sizeBytes: snapshots.sizeBytes,
  updatedAt: snapshots.updatedAt,
}

/** Creates version 1. It's a row conflict if another first push was faster. */
export const insertSnapshot = async (
  tx: Db,
  key: SnapshotKey,
  { owner, repo, ...content }: NewContent & { owner: string; repo: string },
): Promise<StoredSnapshot> => {
  const { settings, sizeBytes, author } = content
  const rows = await tx
    .insert(snapshots)
    .values({ ...key, id: uuidv7(), owner, repo, version: 1, settings, sizeBytes, updatedBy: author.id })
    .returning(written)
  return insertVersion(tx, key, singleRow(rows), content)
}

/** Writes a locked snapshot's next version. */
export const updateSnapshot = async (
  tx: Db,
  key: SnapshotKey,
  { version, ...content }: NewContent & { version: number },
): Promise<StoredSnapshot> => {
  const { settings, sizeBytes, author } = content
  const rows = await tx
    .update(snapshots)
    .set({ version, settings, sizeBytes, updatedAt: sql`now()`, updatedBy: author.id })
    .where(matchesKey(snapshots, key))
    .returning(written)
  const stored = await insertVersion(tx, key, singleRow(rows), content)
  await dropOldVersions(tx, snapshotVersions, matchesKey(snapshotVersions, key), version)
  return stored
}

/** Adds the row that was just written to the history. */
const insertVersion = async (
  tx: Db,
  key: SnapshotKey,
  row: Omit<StoredSnapshot, 'updatedBy'>,
  { settings, author, reason }: NewContent,
): Promise<StoredSnapshot> => {
  const { version, sizeBytes } = row
  await tx
    .insert(snapshotVersions)
    .values({ ...key, version, settings, sizeBytes, createdBy: author.id, reason: reason || null })
  return withUpdatedAt({ ...row, updatedBy: author.login })
}

/** Deletes a snapshot with its history. @returns its name in the original spelling. Undefined if there was none. */
export const deleteSnapshot = async (
  tx: Db,
  key: SnapshotKey,
): Promise<{ owner: string; repo: string } | undefined> => {
  const [deleted] = await tx
    .delete(snapshots)
    .where(matchesKey(snapshots, key))
    .returning({ owner: snapshots.owner, repo: snapshots.repo })
  await tx.delete(snapshotVersions).where(matchesKey(snapshotVersions, key))
  return deleted
}

export const snapshotHistory = historyOf({
  name: 'snapshot',
  parameters: keyParameters,
  versions: `
    select v.version, v.settings, v.created_at, v.created_by, null::text as created_by_key, v.reason, s.id, s.owner, s.repo,
      s.workspace_id as "workspaceId", v.size_bytes as "sizeBytes"
    from snapshots s join snapshot_versions v on ${matchesKeyParameters('v')}
    where ${matchesKeyParameters('s')}`,
  version: '$4',
  author: text,
  more: { id: uuid, owner: text, repo: text, workspaceId: uuid, sizeBytes: integer },
})
