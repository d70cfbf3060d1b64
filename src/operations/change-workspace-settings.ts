import { limits } from '../../schemas/limits.js'
import type { WorkspaceSettingsPatch } from '../../schemas/workspace-settings.js'
import type { Database } from '../db/client.js'
import { type Preconditions, preconditionsHold } from '../domain/etag.js'
import { mergeSettings } from '../domain/settings-merge.js'
import { ApiError } from '../errors.js'
import { etagOf } from '../queries/etag.js'
import {
  readSettingsToChange,
  type StoredWorkspaceSettings,
  updateWorkspaceSettings,
} from '../queries/workspace-settings.js'
import { changeWorkspace, type WorkspaceCall } from './change-workspace.js'

/** What changes nothing makes no version. @throws {ApiError} `version_conflict`, `settings_too_large` */
export const patchWorkspaceSettings = (
  database: Database,
  call: WorkspaceCall,
  { idle_window_minutes, settings: patch = {} }: WorkspaceSettingsPatch,
  preconditions: Preconditions,
): Promise<StoredWorkspaceSettings> =>
  changeWorkspace(database, call, 'admin', async ({ tx, record }) => {
    const current = await readSettingsToChange(tx, call.workspaceId)
    if (!preconditionsHold(preconditions, etagOf({ id: call.workspaceId, version: current.version })))
      throw new ApiError('version_conflict', { current_version: current.version })
    const idleWindowMinutes = idle_window_minutes ?? current.idleWindowMinutes
    const settings = JSON.stringify(mergeSettings(JSON.parse(current.settings), patch))
    const size = Buffer.byteLength(settings)
    if (size > limits.settings_bytes) {
      throw new ApiError('settings_too_large', { limit_bytes: limits.settings_bytes, actual_bytes: size })
    }
    if (settings === current.settings && idleWindowMinutes === current.idleWindowMinutes) return current
    const before = current.idleWindowMinutes
    // Sent together: others wait for this workspace.
    const [next] = await Promise.all([
      updateWorkspaceSettings(tx, call.workspaceId, { idleWindowMinutes, settings }),
      record('workspace_settings.changed', undefined, {
        version: current.version + 1,
        size_bytes: size,
        ...(idleWindowMinutes !== before && { idle_window_minutes: { before, after: idleWindowMinutes } }),
      }),
    ])
    return next
  })
