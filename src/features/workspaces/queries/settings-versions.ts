import type { Db } from '../../../platform/database/client.js'
import { statement } from '../../../platform/database/statement.js'
import type { Author } from './audit.js'

/** $2 to $4: the version's author, key name and reason, or nulls. */
const INSERT_VERSION = statement(
  'insert workspace settings version',
  {},
  `
  insert into workspace_settings_versions
    (workspace_id, version, settings, locked, merged, idle_window_minutes, created_at, created_by, created_by_key, reason)
  select id, settings_version, settings, locked, merged, idle_window_minutes, settings_updated_at, $2::uuid, $3::text,
    $4::text
  from workspaces where id = $1::uuid
  on conflict do nothing`,
)

/**
 * Adds the current version of a locked workspace to the history. It's already there unless it was written without
 * history, by an earlier release or by the service itself when raising the privacy level.
 * @param author null if unknown
 */
export const insertSettingsVersion = async (
  tx: Db,
  workspaceId: string,
  author: (Pick<Author, 'id' | 'keyName'> & { reason: string | null }) | null,
): Promise<void> => {
  await tx.rows(INSERT_VERSION, [
    workspaceId,
    author?.id ?? null,
    author?.keyName ?? null,
    author?.reason ?? null,
  ])
}
