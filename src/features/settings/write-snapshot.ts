import type { Db } from '../../platform/database/client.js'
import { type Preconditions, requirePreconditions } from '../../platform/http/etag.js'
import { type Actor, insertAuditEntry } from '../workspaces/index.js'
import { requireStorageQuota } from './policies/storage-quota.js'
import {
  insertSnapshot,
  lockSnapshot,
  type SnapshotKey,
  type StoredSnapshot,
  updateSnapshot,
} from './queries/snapshots.js'

export interface Written {
  snapshot: StoredSnapshot
  changed: boolean
}

interface Write {
  owner: string
  repo: string
  settings: string
  author: Actor
  preconditions?: Preconditions
  reason?: string | undefined
  action?: 'settings.pushed' | 'settings.restored'
}

/** The only way a snapshot gets a new version. The caller's role is already locked. */
export const writeSnapshot = async (tx: Db, key: SnapshotKey, write: Write): Promise<Written> => {
  const { owner, repo, settings, author, reason, preconditions, action = 'settings.pushed' } = write
  const content = { settings, sizeBytes: Buffer.byteLength(settings), author, reason }
  const current = await lockSnapshot(tx, key)
  if (preconditions) requirePreconditions(preconditions, current)
  if (current?.settings === settings) return { snapshot: current, changed: false }
  const snapshot = current
    ? await updateSnapshot(tx, key, { ...content, version: current.version + 1 })
    : await insertSnapshot(tx, key, { ...content, owner, repo })
  // Another first push was faster, so now there's a snapshot to lock.
  if (!snapshot) return writeSnapshot(tx, key, write)
  await insertAuditEntry(tx, {
    workspaceId: key.workspaceId,
    actor: author,
    action,
    target: `${snapshot.owner}/${snapshot.repo}`,
    details: { version: snapshot.version, size_bytes: snapshot.sizeBytes, ...(reason && { reason }) },
  })
  if (content.sizeBytes > (current?.sizeBytes ?? 0)) await requireStorageQuota(tx, key.workspaceId)
  return { snapshot, changed: true }
}
