import { limits } from '../../../schemas/limits.js'
import type { WorkspaceSettingsPatch } from '../../../schemas/workspace-settings.js'
import { ApiError } from '../../errors.js'
import type { Database } from '../../platform/database/client.js'
import { etagOf, type Preconditions, preconditionsHold } from '../../platform/http/etag.js'
import { changeWorkspace, type WorkspaceCall } from './change-workspace.js'
import { insertPrivacyLevel } from './queries/privacy-levels.js'
import {
  readSettingsToChange,
  type StoredWorkspaceSettings,
  updateWorkspaceSettings,
} from './queries/settings.js'
import { mergeSettings } from './settings-merge.js'

/** What changes nothing makes no version. @throws {ApiError} `version_conflict`, `settings_too_large` */
export const patchWorkspaceSettings = (
  database: Database,
  call: WorkspaceCall,
  { idle_window_minutes, activity_privacy, settings: patch = {} }: WorkspaceSettingsPatch,
  preconditions: Preconditions,
): Promise<StoredWorkspaceSettings> =>
  changeWorkspace(database, call, 'admin', async ({ tx, record }) => {
    const current = await readSettingsToChange(tx, call.workspaceId)
    if (!preconditionsHold(preconditions, etagOf({ id: call.workspaceId, version: current.version })))
      throw new ApiError('version_conflict', { current_version: current.version })
    const idleWindowMinutes = idle_window_minutes ?? current.idleWindowMinutes
    const activityPrivacy = activity_privacy ?? current.activityPrivacy
    const settings = JSON.stringify(mergeSettings(JSON.parse(current.settings), patch))
    const size = Buffer.byteLength(settings)
    if (size > limits.settings_bytes) {
      throw new ApiError('settings_too_large', { limit_bytes: limits.settings_bytes, actual_bytes: size })
    }
    const isSamePrivacy = activityPrivacy === current.activityPrivacy
    const isSameRest = settings === current.settings && idleWindowMinutes === current.idleWindowMinutes
    if (isSameRest && isSamePrivacy) return current
    const before = current.idleWindowMinutes
    // Sent together: others wait for this workspace.
    const [next] = await Promise.all([
      updateWorkspaceSettings(tx, call.workspaceId, {
        idleWindowMinutes,
        settings,
        activityPrivacy: isSamePrivacy ? undefined : activityPrivacy,
      }),
      !isSameRest &&
        record('workspace_settings.changed', undefined, {
          version: current.version + 1,
          size_bytes: size,
          ...(idleWindowMinutes !== before && { idle_window_minutes: { before, after: idleWindowMinutes } }),
        }),
    ])
    if (!isSamePrivacy) {
      await insertPrivacyLevel(tx, call.workspaceId, activityPrivacy, next.activityPrivacySince)
      await record('activity_privacy.changed', undefined, {
        before: current.activityPrivacy,
        after: activityPrivacy,
      })
    }
    return next
  })
