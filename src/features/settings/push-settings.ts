import type { PrivacyLevel } from '../../../schemas/common.js'
import { parsePattern } from '../../../schemas/repo-pattern.js'
import type { PushResult } from '../../../schemas/settings.js'
import { ApiError } from '../../errors.js'
import type { Database, Db } from '../../platform/database/client.js'
import { etagOf, type Preconditions, requirePreconditions } from '../../platform/http/etag.js'
import { lockCaller, type Repohost, reposToRemember, type User } from '../accounts/index.js'
import {
  type Actor,
  countPatterns,
  insertAuditEntry,
  insertMember,
  insertPatterns,
  insertWorkspace,
  lockRole,
  lockWorkspace,
  type RepoQuestion,
  readPersonalWorkspace,
  type WorkspaceQuota,
} from '../workspaces/index.js'
import { pushTarget, requireRoomForPersonal } from './policies/repo-access.js'
import { requireStorageQuota } from './policies/storage-quota.js'
import {
  insertSnapshot,
  lockSnapshot,
  type SnapshotKey,
  type StoredSnapshot,
  updateSnapshot,
} from './queries/snapshots.js'

export interface Push {
  caller: User
  question: RepoQuestion
  /** As the caller spelled it. */
  owner: string
  repo: string
  settings: Record<string, unknown>
  repohostToken: string
  preconditions: Preconditions
}

/** The rules for a personal workspace that a push creates. */
interface CreationRules {
  privacy: PrivacyLevel
  quota: WorkspaceQuota
}

/** Someone may add the personal workspace's pattern by hand in the meantime. */
const options = { rowsMayConflict: true }

/**
 * Stores a repository's settings for a caller whose rights here are known (rules R1, R2, R4, R5). The rights at the
 * repository host are checked next, and nothing is created before both agree.
 * @returns the response and its ETag
 */
export const pushSettings = async (
  {
    database,
    repohost,
    ...rules
  }: CreationRules & { database: Database; repohost: Pick<Repohost, 'checkAccess'> },
  push: Push,
): Promise<{ result: PushResult; etag: string }> => {
  const { caller, owner, repo } = push
  await repohost.checkAccess(push.repohostToken, caller.repohostId, { owner, repo })

  const settings = JSON.stringify(push.settings)
  const named = reposToRemember(database, caller.id, [`${owner}/${repo}`])
  const pushed = await database.transaction(async (tx) => {
    const { key, workspaceCreated } = await settleTarget(tx, push, rules)
    const written = await writeSnapshot(tx, key, {
      owner,
      repo,
      settings,
      author: caller,
      preconditions: push.preconditions,
    })
    await named.write(tx)
    return {
      result: {
        ...toPushResult(written.snapshot),
        changed: written.changed,
        workspace_created: workspaceCreated,
      },
      etag: etagOf(written.snapshot),
    }
  }, options)
  named.committed()
  return pushed
}

/** The final decision: rights may have changed during the request to the host. */
const settleTarget = async (
  tx: Db,
  { question, caller, owner }: Push,
  rules: CreationRules,
): Promise<{ key: SnapshotKey; workspaceCreated: boolean }> => {
  let workspaceCreated = false
  let target = await pushTarget(tx, question, caller.login, owner)
  if (target === undefined) {
    // Concurrent first pushes run one by one, and later ones find the workspace of the first.
    await lockCaller(tx, caller.id)
    target = await pushTarget(tx, question, caller.login, owner)
  }
  if (target === undefined) {
    workspaceCreated = await openPersonalWorkspace(tx, caller, owner, rules)
    target = await pushTarget(tx, question, caller.login, owner)
  }
  if (target === undefined || (await lockRole(tx, target, caller.id)) !== 'admin')
    throw new ApiError('admin_required')
  const { ownerKey, repoKey } = question
  return { key: { ownerKey, repoKey, workspaceId: target }, workspaceCreated }
}

/**
 * R4, with the caller locked: creates the personal workspace, or adds the caller's login to its patterns.
 * @returns whether it created one
 */
const openPersonalWorkspace = async (
  tx: Db,
  caller: User,
  owner: string,
  { privacy, quota }: CreationRules,
): Promise<boolean> => {
  await requireRoomForPersonal(tx, caller, owner, quota)
  const pattern = parsePattern(`${caller.login}/*`)
  if (!pattern) throw new Error('A login makes a valid pattern')
  const created = await insertWorkspace(tx, {
    name: caller.login,
    privacy,
    createdBy: caller.id,
    personalOf: caller.id,
  })
  if (created !== undefined) {
    await insertMember(tx, created, caller.id, 'admin')
    await insertPatterns(tx, created, [pattern])
    await insertAuditEntry(tx, { workspaceId: created, actor: caller, action: 'workspace.created' })
    return true
  }
  const existing = await readPersonalWorkspace(tx, caller.id)
  if (existing !== undefined && (await lockWorkspace(tx, existing))) {
    await insertPatterns(tx, existing, [pattern], await countPatterns(tx, existing))
    await insertAuditEntry(tx, {
      workspaceId: existing,
      actor: caller,
      action: 'patterns.added',
      details: { patterns: [pattern.pattern] },
    })
  }
  return false
}

/** The start and end of responses with settings. */
export const beforeSettings = ({ owner, repo, workspaceId }: StoredSnapshot) => ({
  owner,
  repo,
  workspace_id: workspaceId,
})
export const afterSettings = ({ version, sizeBytes, updatedAt, updatedBy }: StoredSnapshot) => ({
  version,
  size_bytes: sizeBytes,
  updated_at: updatedAt,
  updated_by: updatedBy,
})

export const toPushResult = (snapshot: StoredSnapshot) => ({
  ...beforeSettings(snapshot),
  ...afterSettings(snapshot),
})

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
export const writeSnapshot = async (
  tx: Db,
  key: SnapshotKey,
  write: Write,
): Promise<{ snapshot: StoredSnapshot; changed: boolean }> => {
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
