import type { PrivacyLevel, Warnings } from '../../../schemas/common.js'
import { limits } from '../../../schemas/limits.js'
import type { WorkspaceSettingsPatch } from '../../../schemas/workspace-settings.js'
import { ApiError } from '../../errors.js'
import type { Database } from '../../platform/database/client.js'
import { type Preconditions, requirePreconditions } from '../../platform/http/etag.js'
import {
  type Change,
  changeWorkspace,
  insertPrivacyLevel,
  insertSettingsVersion,
  type WorkspaceCall,
} from '../workspaces/index.js'
import { describeChange } from './describe-change.js'
import { checkRestored, type KeysAndRules, requireSpelling } from './policies/settings-rules.js'
import {
  readSettingsToChange,
  type StoredWorkspaceSettings,
  updateWorkspaceSettings,
} from './queries/workspace-settings.js'
import { dropOldSettingsVersions, settingsHistory } from './queries/workspace-settings-history.js'
import { mergeSettings } from './settings-merge.js'

/**
 * A patch that changes nothing doesn't create a version. @throws {ApiError} `version_conflict`, `settings_too_large`,
 * `validation_failed`
 */
export const patchWorkspaceSettings = (
  database: Database,
  call: WorkspaceCall,
  { idle_window_minutes, activity_privacy, settings: patch = {}, locked: locks }: WorkspaceSettingsPatch,
  preconditions: Preconditions,
): Promise<StoredWorkspaceSettings & { isLevelChanged: boolean }> =>
  changeWorkspace(database, call, 'admin', async (change) => {
    const current = await readCurrent(change, call)
    requirePreconditions(preconditions, { id: call.workspaceId, version: current.version })
    const stored = JSON.parse(current.settings) as Record<string, unknown>
    const merged = mergeSettings(stored, patch)
    requireSpelling(merged, stored)
    if (locks) requireKeys(locks, merged)
    const locked =
      locks ?? (JSON.parse(current.locked) as string[]).filter((key) => Object.hasOwn(merged, key))
    const settings = JSON.stringify(merged)
    const size = Buffer.byteLength(settings)
    if (size > limits.settings_bytes) {
      throw new ApiError('settings_too_large', { limit_bytes: limits.settings_bytes, actual_bytes: size })
    }
    const written = await writeSettings(change, call.workspaceId, current, {
      idleWindowMinutes: idle_window_minutes ?? current.idleWindowMinutes,
      activityPrivacy: activity_privacy ?? current.activityPrivacy,
      settings,
      locked: JSON.stringify(locked),
    })
    return { ...written, isLevelChanged: written.activityPrivacy !== current.activityPrivacy }
  })

/** The current settings, once they're certain to be in the history. */
const readCurrent = async (
  { tx }: Change,
  { workspaceId }: WorkspaceCall,
): Promise<StoredWorkspaceSettings> => {
  // Sent together, because others are waiting for this workspace.
  const [current] = await Promise.all([
    readSettingsToChange(tx, workspaceId),
    insertSettingsVersion(tx, workspaceId, null),
  ])
  return current
}

/** @throws {ApiError} `validation_failed` */
export const requireKeys = (locks: string[], settings: Record<string, unknown>) => {
  const errors = [...locks.entries()]
    .filter(([, key]) => !Object.hasOwn(settings, key))
    .slice(0, 100)
    .map(([index]) => ({ path: `/body/locked/${index}`, message: 'must be a key of the settings' }))
  if (errors.length > 0) throw new ApiError('validation_failed', { errors })
}

/**
 * Makes an old version's settings, locks and idle window the newest. The privacy level stays as it is.
 * @throws {ApiError} `version_not_found`, `version_conflict`, `validation_failed`
 */
export const restoreWorkspaceSettings = (
  { database, ...rules }: KeysAndRules & { database: Database },
  call: WorkspaceCall,
  version: number,
  preconditions: Preconditions,
): Promise<StoredWorkspaceSettings & { warnings?: Warnings }> =>
  changeWorkspace(database, call, 'admin', async (change) => {
    const old = await settingsHistory.read(change.tx, call.workspaceId, version)
    if (!old) throw new ApiError('version_not_found')
    const current = await readCurrent(change, call)
    requirePreconditions(preconditions, { id: call.workspaceId, version: current.version })
    const judged = checkRestored(rules, old.settings)
    const { settings, locked, idleWindowMinutes } = old
    const content = { settings, locked, idleWindowMinutes, activityPrivacy: current.activityPrivacy }
    return { ...(await writeSettings(change, call.workspaceId, current, content, version)), ...judged }
  })

/** Everything in a version of workspace settings. */
export interface SettingsContent {
  idleWindowMinutes: number
  activityPrivacy: PrivacyLevel
  /** JSON texts. */
  settings: string
  locked: string
}

/** Gives a new version to workspace settings that were read in this change. */
export const applySettings = async (
  change: Change,
  workspaceId: string,
  current: StoredWorkspaceSettings,
  content: SettingsContent,
): Promise<void> => {
  await insertSettingsVersion(change.tx, workspaceId, null)
  await writeSettings(change, workspaceId, current, content)
}

/** The only way workspace settings get a new version. @param restored the version that they restore */
const writeSettings = async (
  { tx, caller, reason, record }: Change,
  workspaceId: string,
  current: StoredWorkspaceSettings,
  { idleWindowMinutes, activityPrivacy, settings, locked }: SettingsContent,
  restored?: number,
): Promise<StoredWorkspaceSettings> => {
  const before = current.idleWindowMinutes
  const isSamePrivacy = activityPrivacy === current.activityPrivacy
  const isSameRest =
    settings === current.settings && locked === current.locked && idleWindowMinutes === before
  if (isSameRest && isSamePrivacy) return current
  const version = current.version + 1
  const next = await updateWorkspaceSettings(tx, workspaceId, {
    idleWindowMinutes,
    settings,
    locked,
    activityPrivacy: isSamePrivacy ? undefined : activityPrivacy,
  })
  await Promise.all([
    insertSettingsVersion(tx, workspaceId, { ...caller, reason }),
    dropOldSettingsVersions(tx, workspaceId, version),
    !isSameRest &&
      record(`workspace_settings.${restored === undefined ? 'changed' : 'restored'}`, undefined, {
        version,
        ...(restored !== undefined && { restored_version: restored }),
        size_bytes: Buffer.byteLength(settings),
        ...(idleWindowMinutes !== before && { idle_window_minutes: { before, after: idleWindowMinutes } }),
        ...describeChange(
          { settings: JSON.parse(current.settings), locked: JSON.parse(current.locked) },
          { settings: JSON.parse(settings), locked: JSON.parse(locked) },
        ),
      }),
  ])
  if (!isSamePrivacy) {
    await insertPrivacyLevel(tx, workspaceId, activityPrivacy, next.activityPrivacySince)
    await record('activity_privacy.changed', undefined, {
      before: current.activityPrivacy,
      after: activityPrivacy,
    })
  }
  return next
}
