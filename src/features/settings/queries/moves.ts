/** Moves a repository's settings to another name in the same workspace. */
import type { Db } from '../../../platform/database/client.js'
import { statement, text } from '../../../platform/database/statement.js'
import { deleteOverrideHistories, deleteOverrides, type RepoId } from './overrides.js'
import { deleteSnapshot, keyParameters, matchesKeyParameters, type SnapshotKey } from './snapshots.js'

/** $1: the workspace; $2: the hash. */
const RECORD_RENAME = statement(
  'record reported rename',
  { hash: text },
  'insert into reported_renames (workspace_id, hash) values ($1::uuid, $2::text) on conflict do nothing returning hash',
)

/** @returns whether the report is new */
export const recordRename = async (tx: Db, workspaceId: string, hash: string): Promise<boolean> =>
  (await tx.rows(RECORD_RENAME, [workspaceId, hash])).length > 0

/** One statement for each table, because a cluster joins these tables by other columns only. */
const findIn = (table: string) =>
  statement(
    `find repository in ${table}`,
    { owner: text },
    `select t.owner from ${table} t where ${matchesKeyParameters('t')}`,
  )
const FIND = { snapshot: findIn('snapshots'), override: findIn('overrides') }

/** The data that a workspace has stored for a repository. */
export interface StoredRepoSettings {
  snapshot: boolean
  override: boolean
}

export const readHeld = async (db: Db, key: SnapshotKey): Promise<StoredRepoSettings> => {
  const [snapshot, override] = await Promise.all([
    db.rows(FIND.snapshot, keyParameters(key)),
    db.rows(FIND.override, keyParameters(key)),
  ])
  return { snapshot: snapshot.length > 0, override: override.length > 0 }
}

/** The rows are inserted again, because a cluster can't change the owner of a row. $4, $5: the new keys. */
const copyTo = (table: string, columns: string, { isNamed }: { isNamed: boolean }) =>
  statement(
    `copy ${table} to new name`,
    {},
    `
  insert into ${table} (owner_key, repo_key, workspace_id, ${isNamed ? 'owner, repo, ' : ''}${columns})
  select $4::text, $5::text, workspace_id, ${isNamed ? '$6::text, $7::text, ' : ''}${columns}
  from ${table} t where ${matchesKeyParameters('t')}`,
  )

const COPY_SNAPSHOT = copyTo('snapshots', 'id, version, settings, size_bytes, updated_at, updated_by', {
  isNamed: true,
})
const COPY_SNAPSHOT_VERSIONS = copyTo(
  'snapshot_versions',
  'version, settings, size_bytes, created_at, created_by, reason',
  { isNamed: false },
)
const COPY_OVERRIDE = copyTo(
  'overrides',
  'revision, version, settings, updated_at, updated_by, updated_by_key, reason',
  { isNamed: true },
)
const COPY_OVERRIDE_VERSIONS = copyTo(
  'override_versions',
  'version, settings, created_at, created_by, created_by_key, reason',
  { isNamed: false },
)

/** Moves a locked snapshot with its history. Fails with a row conflict if the new name already has a snapshot. */
export const moveSnapshot = async (tx: Db, from: SnapshotKey, to: RepoId): Promise<void> => {
  const keys = [...keyParameters(from), to.ownerKey, to.repoKey]
  await tx.rows(COPY_SNAPSHOT, [...keys, to.owner, to.repo])
  await tx.rows(COPY_SNAPSHOT_VERSIONS, keys)
  await deleteSnapshot(tx, from)
}

/** Moves an override of a locked workspace with its history. The new name has none. */
export const moveOverride = async (tx: Db, from: SnapshotKey, to: RepoId): Promise<void> => {
  const keys = [...keyParameters(from), to.ownerKey, to.repoKey]
  // An earlier release leaves the history behind when it removes an override.
  await deleteOverrideHistories(tx, from.workspaceId, [to])
  await tx.rows(COPY_OVERRIDE, [...keys, to.owner, to.repo])
  await tx.rows(COPY_OVERRIDE_VERSIONS, keys)
  await deleteOverrides(tx, from.workspaceId, [from])
}
