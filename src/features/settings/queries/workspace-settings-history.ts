/** The last versions of a workspace's settings. */
import { limits } from '../../../../schemas/limits.js'
import { isSameSetting } from '../../../../schemas/settings-keys.js'
import { LISTED_VALUE_BYTES } from '../../../../schemas/workspace-settings.js'
import type { Db } from '../../../platform/database/client.js'
import { bool, integer, moment, orNull, statement, text } from '../../../platform/database/statement.js'
import { toTimestamp } from '../../../platform/time/clock.js'
import { authorName } from '../../keys/index.js'
import { historyOf } from './history.js'

const DROP_VERSIONS = statement(
  'delete old workspace settings versions',
  {},
  `delete from workspace_settings_versions where workspace_id = $1::uuid and version <= $2::int`,
)

/** @param version the newest */
export const dropOldSettingsVersions = async (
  tx: Db,
  workspaceId: string,
  version: number,
): Promise<void> => {
  const oldest = version - limits.settings_versions_kept
  if (oldest >= 1) await tx.rows(DROP_VERSIONS, [workspaceId, oldest])
}

/** $1: the workspace. The current version is read from the workspace. */
const VERSIONS = `
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
    where k.workspace_id = $1::uuid and w.deleted_at is null`

export const settingsHistory = historyOf({
  name: 'workspace settings',
  parameters: (workspaceId: string) => [workspaceId],
  versions: VERSIONS,
  version: '$2',
  author: orNull(text),
  more: { locked: text, merged: text, idleWindowMinutes: integer },
})

/** $2: the key. */
const LIST_SETTING = statement(
  'list workspace setting versions',
  {
    version: integer,
    size_bytes: integer,
    created_at: moment,
    created_by: orNull(text),
    reason: orNull(text),
    isSet: bool,
    isChanged: bool,
    value: orNull(text),
    locked: bool,
    merged: bool,
  },
  `
  select version, size_bytes, created_at, created_by, reason, value is not null as "isSet",
    value is distinct from lead(value) over (order by version desc) as "isChanged",
    case when octet_length(value) <= ${LISTED_VALUE_BYTES} then value end as value, locked, merged
  from (
    select v.version, octet_length(v.settings) as size_bytes, v.created_at,
      ${authorName('v.created_by_key', 'u.login')} as created_by, v.reason, (v.settings::json -> $2::text)::text as value,
      v.locked::jsonb ? $2::text as locked, v.merged::jsonb ? $2::text as merged
    from (${VERSIONS}) v left join users u on u.id = v.created_by
    order by v.version desc limit ${limits.settings_versions_kept}
  ) v
  order by version desc`,
)

/** The versions that changed a key's value, lock or merge, newest first, and the oldest one if it has the key. */
export const listSettingVersions = async (db: Db, workspaceId: string, key: string) => {
  const rows = await db.rows(LIST_SETTING, [workspaceId, key])
  const versions = rows.map(({ isSet, isChanged, value, locked, merged, ...head }) => ({
    head: { ...head, created_at: toTimestamp(head.created_at) },
    isChanged,
    setting: { is_set: isSet, ...(value !== null && { value: JSON.parse(value) }), locked, merged },
  }))
  return versions
    .filter(({ isChanged, setting }, index) => {
      const before = versions[index + 1]?.setting
      if (!before) return setting.is_set
      // A language block is the same in any order.
      const isNew =
        isChanged &&
        !('value' in setting && 'value' in before && isSameSetting(key, setting.value, before.value))
      return isNew || setting.locked !== before.locked || setting.merged !== before.merged
    })
    .map(({ head, setting }) => ({ ...head, setting }))
}
