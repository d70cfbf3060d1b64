import type { Warnings } from '../../../schemas/common.js'
import type { RestoreBody } from '../../../schemas/settings.js'
import { ApiError } from '../../errors.js'
import type { Database, Db } from '../../platform/database/client.js'
import { type Preconditions, requirePreconditions } from '../../platform/http/etag.js'
import { readCaller, type User } from '../accounts/index.js'
import { insertAuditEntry, lockAdmin } from '../workspaces/index.js'
import { haveSameSettings } from './configuration-changes.js'
import { writableHolder } from './policies/repo-access.js'
import { checkRestored, type KeysAndRules } from './policies/settings-rules.js'
import { requireQuotaIfGrown } from './policies/storage-quota.js'
import type { RepoQuestion } from './queries/matches.js'
import {
  deleteSnapshot,
  insertSnapshot,
  lockSnapshot,
  type SnapshotKey,
  type SnapshotText,
  type StoredSnapshot,
  snapshotHistory,
  updateSnapshot,
} from './queries/snapshots.js'

export interface Written {
  snapshot: StoredSnapshot
  changed: boolean
}

interface Write {
  action: 'settings.pushed' | 'settings.restored'
  owner: string
  repo: string
  settings: string
  author: Pick<User, 'id' | 'login'>
  reason?: string | undefined
}

/**
 * The only way a snapshot gets a new version. The person's role is locked and the preconditions are checked before, and the quota
 * is checked after it. Two first pushes at the same time are a row conflict, after which the second transaction finds the
 * snapshot of the first.
 * @param current as `lockSnapshot` found it
 */
export const writeSnapshot = async (
  tx: Db,
  key: SnapshotKey,
  current: SnapshotText | undefined,
  write: Write,
): Promise<Written> => {
  const { action, owner, repo, settings, author, reason } = write
  const content = { settings, sizeBytes: Buffer.byteLength(settings), author, reason }
  if (current && haveSameSettings(current.settings, settings)) return { snapshot: current, changed: false }
  const snapshot = current
    ? await updateSnapshot(tx, key, { ...content, version: current.version + 1 })
    : await insertSnapshot(tx, key, { ...content, owner, repo })
  await insertAuditEntry(tx, {
    workspaceId: key.workspaceId,
    actor: author,
    action,
    target: `${snapshot.owner}/${snapshot.repo}`,
    details: { version: snapshot.version, size_bytes: snapshot.sizeBytes, ...(reason && { reason }) },
  })
  return { snapshot, changed: true }
}

/** Runs `change` on the snapshot that the caller may change, with the caller's role locked. @throws {ApiError} */
const changing = async <T>(
  database: Database,
  question: RepoQuestion,
  change: (context: { tx: Db; key: SnapshotKey; caller: Pick<User, 'id' | 'login'> }) => Promise<T>,
): Promise<T> =>
  database.transaction(async (tx) => {
    const caller = await readCaller(tx, question.userId)
    const workspaceId = await writableHolder(tx, question, caller.login)
    await lockAdmin(tx, workspaceId, caller.id)
    const { ownerKey, repoKey } = question
    return change({ tx, key: { ownerKey, repoKey, workspaceId }, caller })
  })

/** Removes a repository's settings and their history. */
export const deleteSettings = (database: Database, question: RepoQuestion): Promise<void> =>
  changing(database, question, async ({ tx, key, caller }) => {
    const deleted = await deleteSnapshot(tx, key)
    if (!deleted) throw new ApiError('never_synced')
    await insertAuditEntry(tx, {
      workspaceId: key.workspaceId,
      actor: caller,
      action: 'settings.deleted',
      target: `${deleted.owner}/${deleted.repo}`,
    })
  })

/** Makes an old version the newest. @throws {ApiError} `version_not_found`, `version_conflict`, `validation_failed` */
export const restoreSettings = (
  { database, ...rules }: KeysAndRules & { database: Database },
  question: RepoQuestion,
  { version, reason }: RestoreBody,
  preconditions: Preconditions,
): Promise<Written & { warnings?: Warnings }> =>
  changing(database, question, async ({ tx, key, caller }) => {
    // A delete or a move may have been faster. Without the lock, this would create new settings with the old content.
    const current = await lockSnapshot(tx, key)
    if (!current) throw new ApiError('never_synced')
    const old = await snapshotHistory.read(tx, key, version)
    if (!old) throw new ApiError('version_not_found')
    const judged = checkRestored(rules, 'pushed', old.settings)
    requirePreconditions(preconditions, current)
    const { owner, repo, settings } = old
    const write = { action: 'settings.restored', owner, repo, settings, author: caller, reason } as const
    const written = await writeSnapshot(tx, key, current, write)
    await requireQuotaIfGrown(tx, key.workspaceId, current, written.snapshot)
    return { ...written, ...judged }
  })
