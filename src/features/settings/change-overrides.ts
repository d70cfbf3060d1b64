import type { Warnings } from '../../../schemas/common.js'
import { limits } from '../../../schemas/limits.js'
import { repoKeysOf } from '../../../schemas/repo-keys.js'
import { parsePatterns } from '../../../schemas/repo-pattern.js'
import { ApiError } from '../../errors.js'
import type { Database } from '../../platform/database/client.js'
import { etagOf, type Preconditions, requirePreconditions } from '../../platform/http/etag.js'
import { type Change, changeWorkspace, listPatterns, type WorkspaceCall } from '../workspaces/index.js'
import { haveSameSettings } from './configuration-changes.js'
import { describeChange } from './describe-change.js'
import {
  checkRestored,
  type KeysAndRules,
  requireNewKeySpelling,
  requireUnlocked,
} from './policies/settings-rules.js'
import { requireStorageQuota } from './policies/storage-quota.js'
import { findOutside } from './queries/configuration.js'
import {
  deleteOverrides,
  limitOverrideHistory,
  overrideHistory,
  readOverride,
  type StoredOverride,
  writeOverrides,
} from './queries/overrides.js'
import type { SnapshotKey } from './queries/snapshots.js'
import { readLocked } from './queries/workspace-settings.js'

/** One repository in one workspace, as the caller spelled it. */
interface RepoCall extends WorkspaceCall {
  owner: string
  repo: string
}

export const overrideKeyOf = (call: { workspaceId: string; owner: string; repo: string }): SnapshotKey => ({
  workspaceId: call.workspaceId,
  ...repoKeysOf(call),
})

const versionOf = ({ revision, version }: StoredOverride) => ({ id: revision, version })

export const etagOfOverride = (override: StoredOverride): string => etagOf(versionOf(override))

/**
 * Replaces the override. Sending the same content again changes nothing.
 * @throws {ApiError} `repo_outside_patterns`, `key_locked`, `version_conflict`, `workspace_full`
 */
export const setOverride = (
  database: Database,
  call: RepoCall,
  content: Record<string, unknown>,
  preconditions: Preconditions,
): Promise<StoredOverride> =>
  changeWorkspace(database, call, 'admin', async (change) => {
    const key = overrideKeyOf(call)
    await requireEditable(change, key, content)
    const current = await readOverride(change.tx, key)
    requirePreconditions(preconditions, current && versionOf(current))
    requireNewKeySpelling(current?.settings, content)
    const { owner, repo } = call
    return writeOverride(change, key, current, { owner, repo, settings: JSON.stringify(content) })
  })

/**
 * Makes an old version the newest.
 * @throws {ApiError} `override_not_found`, `version_not_found`, `validation_failed`, and those of `setOverride`
 */
export const restoreOverride = (
  { database, ...rules }: KeysAndRules & { database: Database },
  call: RepoCall,
  version: number,
  preconditions: Preconditions,
): Promise<StoredOverride & { warnings?: Warnings }> =>
  changeWorkspace(database, call, 'admin', async (change) => {
    const key = overrideKeyOf(call)
    const current = await readOverride(change.tx, key)
    if (!current) throw new ApiError('override_not_found')
    requirePreconditions(preconditions, versionOf(current))
    const old = await overrideHistory.read(change.tx, key, version)
    if (!old) throw new ApiError('version_not_found')
    const judged = checkRestored(rules, 'override', old.settings)
    await requireEditable(change, key, JSON.parse(old.settings))
    return { ...(await writeOverride(change, key, current, old, version)), ...judged }
  })

/** Checks an override's repository and settings. @throws {ApiError} `repo_outside_patterns`, `key_locked` */
const requireEditable = async ({ tx }: Change, key: SnapshotKey, content: Record<string, unknown>) => {
  const { workspaceId } = key
  const [patterns, locked] = await Promise.all([listPatterns(tx, workspaceId), readLocked(tx, workspaceId)])
  if (await findOutside(tx, [key], parsePatterns(patterns))) throw new ApiError('repo_outside_patterns')
  requireUnlocked(JSON.parse(locked), content)
}

/** The only way an override gets a new version. @param restored the version that it restores */
const writeOverride = async (
  { tx, caller, reason, record }: Change,
  key: SnapshotKey,
  current: StoredOverride | undefined,
  { owner, repo, settings }: { owner: string; repo: string; settings: string },
  restored?: number,
): Promise<StoredOverride> => {
  if (current && haveSameSettings(current.settings, settings)) return current
  const version = (current?.version ?? 0) + 1
  const { workspaceId } = key
  await writeOverrides(tx, workspaceId, [{ ...key, owner, repo, version, settings }], {
    author: caller,
    reason,
  })
  if (current) await limitOverrideHistory(tx, key, limits.workspace_history_bytes)
  const override = await readOverride(tx, key)
  if (!override) throw new Error('The override that was just written isn’t there')
  const size = Buffer.byteLength(settings)
  const action = restored === undefined ? 'override.set' : 'override.restored'
  await record(action, `${override.owner}/${override.repo}`, {
    version,
    ...(restored !== undefined && { restored_version: restored }),
    size_bytes: size,
    ...describeChange(
      { settings: JSON.parse(current?.settings ?? '{}') },
      { settings: JSON.parse(settings) },
    ),
  })
  if (size > Buffer.byteLength(current?.settings ?? '')) await requireStorageQuota(tx, workspaceId)
  return override
}

/** Removes an override with its history. @throws {ApiError} `override_not_found`, `version_conflict` */
export const removeOverride = (
  database: Database,
  call: RepoCall,
  preconditions: Preconditions,
): Promise<void> =>
  changeWorkspace(database, call, 'admin', async ({ tx, record }) => {
    const key = overrideKeyOf(call)
    const current = await readOverride(tx, key)
    if (!current) throw new ApiError('override_not_found')
    requirePreconditions(preconditions, versionOf(current))
    await deleteOverrides(tx, call.workspaceId, [key])
    const { version, settings } = current
    await record('override.removed', `${current.owner}/${current.repo}`, {
      version,
      ...describeChange({ settings: JSON.parse(settings) }, { settings: {} }),
    })
  })
