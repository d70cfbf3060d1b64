import type { PrivacyLevel, Warnings } from '../../../schemas/common.js'
import { limits } from '../../../schemas/limits.js'
import { isBlock } from '../../../schemas/settings-keys.js'
import type { WorkspaceSettingsPatch } from '../../../schemas/workspace-settings.js'
import { ApiError } from '../../errors.js'
import type { Database } from '../../platform/database/client.js'
import { type Preconditions, requirePreconditions } from '../../platform/http/etag.js'
import {
  type Change,
  changeWorkspace,
  insertSettingsVersion,
  type WorkspaceCall,
} from '../workspaces/index.js'
import { haveSameSettings } from './configuration-changes.js'
import { describeChange } from './describe-change.js'
import { checkRestored, type KeysAndRules, requireSpelling } from './policies/settings-rules.js'
import {
  readSettingsToChange,
  recordPrivacyLevel,
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
  { idle_window_minutes, activity_privacy, settings: patch = {}, locked, merged }: WorkspaceSettingsPatch,
  preconditions: Preconditions,
): Promise<StoredWorkspaceSettings & { isLevelChanged: boolean }> =>
  changeWorkspace(database, call, 'admin', async (change) => {
    const current = await readCurrent(change, call)
    requirePreconditions(preconditions, { id: call.workspaceId, version: current.version })
    const stored = JSON.parse(current.settings) as Record<string, unknown>
    const next = mergeSettings(stored, patch)
    requireSpelling(next, stored)
    const lists = nextKeyLists(keyListsOf(current), { locked, merged }, next)
    const settings = JSON.stringify(next)
    const size = Buffer.byteLength(settings)
    if (size > limits.settings_bytes) {
      throw new ApiError('settings_too_large', { limit_bytes: limits.settings_bytes, actual_bytes: size })
    }
    const written = await writeSettings(change, call.workspaceId, current, {
      idleWindowMinutes: idle_window_minutes ?? current.idleWindowMinutes,
      activityPrivacy: activity_privacy ?? current.activityPrivacy,
      settings,
      locked: JSON.stringify(lists.locked),
      merged: JSON.stringify(lists.merged),
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

/** The keys that have a rule for overrides. No key is in both lists. */
interface KeyLists {
  locked: string[]
  merged: string[]
}

export const keyListsOf = ({ locked, merged }: { locked: string; merged: string }): KeyLists => ({
  locked: JSON.parse(locked),
  merged: JSON.parse(merged),
})

/**
 * The lists after a change. One that isn't sent only loses the keys that are no longer in the settings.
 * @throws {ApiError} `validation_failed`
 */
export const nextKeyLists = (
  stored: KeyLists,
  sent: { [List in keyof KeyLists]?: string[] | undefined },
  settings: Record<string, unknown>,
): KeyLists => {
  const isKey = (key: string) => Object.hasOwn(settings, key)
  const next = {
    locked: sent.locked ?? stored.locked.filter(isKey),
    merged: sent.merged ?? stored.merged.filter(isKey),
  }
  const [locked, merged] = [new Set(next.locked), new Set(next.merged)]
  const faultOf = {
    locked: (key: string) => (!sent.merged && merged.has(key) ? 'must not also be merged' : undefined),
    merged: (key: string) => {
      if (isBlock(key)) return 'must not be a language block'
      return locked.has(key) ? 'must not also be locked' : undefined
    },
  }
  const errors = (['locked', 'merged'] as const)
    .flatMap((name) =>
      (sent[name] ?? []).flatMap((key, index) => {
        const message = isKey(key) ? faultOf[name](key) : 'must be a key of the settings'
        return message === undefined ? [] : [{ path: `/body/${name}/${index}`, message }]
      }),
    )
    .slice(0, 100)
  if (errors.length > 0) throw new ApiError('validation_failed', { errors })
  return next
}

/**
 * Makes an old version's settings, locks, merges and idle window the newest. The privacy level stays as it is.
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
    const judged = checkRestored(rules, 'workspace', old.settings)
    const { settings, locked, merged, idleWindowMinutes } = old
    const { activityPrivacy } = current
    const content = { settings, locked, merged, idleWindowMinutes, activityPrivacy }
    return { ...(await writeSettings(change, call.workspaceId, current, content, version)), ...judged }
  })

/** Everything in a version of workspace settings. */
export interface SettingsContent {
  idleWindowMinutes: number
  activityPrivacy: PrivacyLevel
  /** JSON texts. */
  settings: string
  locked: string
  merged: string
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
  { idleWindowMinutes, activityPrivacy, settings, locked, merged }: SettingsContent,
  restored?: number,
): Promise<StoredWorkspaceSettings> => {
  const before = current.idleWindowMinutes
  const isSamePrivacy = activityPrivacy === current.activityPrivacy
  const isSameRest =
    haveSameSettings(settings, current.settings) &&
    locked === current.locked &&
    merged === current.merged &&
    idleWindowMinutes === before
  if (isSameRest && isSamePrivacy) return current
  const version = current.version + 1
  const next = await updateWorkspaceSettings(tx, workspaceId, {
    idleWindowMinutes,
    settings,
    locked,
    merged,
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
          { settings: JSON.parse(current.settings), ...keyListsOf(current) },
          { settings: JSON.parse(settings), ...keyListsOf({ locked, merged }) },
        ),
      }),
  ])
  if (!isSamePrivacy) {
    await recordPrivacyLevel(tx, workspaceId)
    await record('activity_privacy.changed', undefined, {
      before: current.activityPrivacy,
      after: activityPrivacy,
    })
  }
  return next
}
