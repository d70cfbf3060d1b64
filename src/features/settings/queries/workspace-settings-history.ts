/** The last versions of a workspace's settings. */
import { eq } from 'drizzle-orm'
import type { Db } from '../../../platform/database/client.js'
import { integer, orNull, text } from '../../../platform/database/statement.js'
import { workspaceSettingsVersions } from '../../workspaces/index.js'
import { dropOldVersions, historyOf } from './history.js'

/** @param version the newest */
export const dropOldSettingsVersions = (tx: Db, workspaceId: string, version: number): Promise<void> =>
  dropOldVersions(
    tx,
    workspaceSettingsVersions,
    eq(workspaceSettingsVersions.workspaceId, workspaceId),
    version,
  )

/** The current one is read from the workspace. */
export const settingsHistory = historyOf({
  name: 'workspace settings',
  parameters: (workspaceId: string) => [workspaceId],
  versions: `
    select w.settings_version as version, w.settings, w.locked, w.merged, w.idle_window_minutes::int as "idleWindowMinutes",
      w.settings_updated_at as created_at, k.created_by, k.created_by_key, k.reason
    from workspaces w
    left join workspace_settings_versions k on k.workspace_id = w.id and k.version = w.settings_version
    where w.id = $1::uuid and w.deleted_at is null
    union all
    select k.version, k.settings, k.locked, k.merged, k.idle_window_minutes::int, k.created_at, k.created_by, k.created_by_key,
      k.reason
    from workspace_settings_versions k
    join workspaces w on w.id = k.workspace_id and k.version < w.settings_version
    where k.workspace_id = $1::uuid and w.deleted_at is null`,
  version: '$2',
  author: orNull(text),
  more: { locked: text, merged: text, idleWindowMinutes: integer },
})
