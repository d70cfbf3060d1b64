/** The last versions of a workspace's settings. */
import { eq } from 'drizzle-orm'
import type { Db } from '../../../platform/database/client.js'
import { integer, orNull, statement, text } from '../../../platform/database/statement.js'
import { workspaceSettingsVersions } from '../tables.js'
import type { Author } from './audit.js'
import { dropOldVersions, historyOf } from './history.js'

/** $2 to $4: the version's author, key name and reason, or nulls. */
const KEEP_VERSION = statement(
  'keep the current version of workspace settings',
  {},
  `
  insert into workspace_settings_versions
    (workspace_id, version, settings, locked, idle_window_minutes, created_at, created_by, created_by_key, reason)
  select id, settings_version, settings, locked, idle_window_minutes, settings_updated_at, $2::uuid, $3::text, $4::text
  from workspaces where id = $1::uuid
  on conflict do nothing`,
)

/**
 * Adds the current version of a locked workspace to the history. It's already there unless it was written without
 * history, by an earlier release or by the service itself when raising the privacy level.
 * @param author null if unknown
 */
export const keepSettingsVersion = async (
  tx: Db,
  workspaceId: string,
  author: (Pick<Author, 'id' | 'keyName'> & { reason: string | null }) | null,
): Promise<void> => {
  await tx.rows(KEEP_VERSION, [
    workspaceId,
    author?.id ?? null,
    author?.keyName ?? null,
    author?.reason ?? null,
  ])
}

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
    select w.settings_version as version, w.settings, w.locked, w.idle_window_minutes::int as "idleWindowMinutes",
      w.settings_updated_at as created_at, k.created_by, k.created_by_key, k.reason
    from workspaces w
    left join workspace_settings_versions k on k.workspace_id = w.id and k.version = w.settings_version
    where w.id = $1::uuid and w.deleted_at is null
    union all
    select k.version, k.settings, k.locked, k.idle_window_minutes::int, k.created_at, k.created_by, k.created_by_key, k.reason
    from workspace_settings_versions k
    join workspaces w on w.id = k.workspace_id and k.version < w.settings_version
    where k.workspace_id = $1::uuid and w.deleted_at is null`,
  version: '$2',
  author: orNull(text),
  more: { locked: text, idleWindowMinutes: integer },
})
