/** The last versions of a workspace's settings. */
import { and, eq, lte } from 'drizzle-orm'
import { limits } from '../../../../schemas/limits.js'
import type { WorkspaceSettingsVersionList } from '../../../../schemas/workspace-settings.js'
import type { Db } from '../../../platform/database/client.js'
import { integer, moment, orNull, statement, text } from '../../../platform/database/statement.js'
import { toTimestamp, withUpdatedAt } from '../../../platform/time/timestamps.js'
import type { Author } from '../author.js'
import { authorName, workspaceSettingsVersions } from '../tables.js'

/** $2 to $4: who made the version, the name of the key that did, and why; or nulls. */
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
 * Adds the current version of a locked workspace to the history. It's there already, unless it was written without
 * history: by an earlier release, or by the service itself when it raises the privacy level.
 * @param author null when it isn't known
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

/** @param version the newest one */
export const dropOldSettingsVersions = async (
  tx: Db,
  workspaceId: string,
  version: number,
): Promise<void> => {
  const oldest = version - limits.settings_versions_kept
  if (oldest < 1) return
  const { workspaceId: ofWorkspace, version: kept } = workspaceSettingsVersions
  await tx.delete(workspaceSettingsVersions).where(and(eq(ofWorkspace, workspaceId), lte(kept, oldest)))
}

/** SQL: all versions of the workspace $1. The current one is read from the workspace. */
const VERSIONS = `(
    select w.settings_version as version, w.settings, w.locked, w.idle_window_minutes, w.settings_updated_at as created_at,
      k.created_by, k.created_by_key, k.reason
    from workspaces w
    left join workspace_settings_versions k on k.workspace_id = w.id and k.version = w.settings_version
    where w.id = $1::uuid and w.deleted_at is null
    union all
    select k.version, k.settings, k.locked, k.idle_window_minutes, k.created_at, k.created_by, k.created_by_key, k.reason
    from workspace_settings_versions k
    join workspaces w on w.id = k.workspace_id and k.version < w.settings_version
    where k.workspace_id = $1::uuid and w.deleted_at is null
  ) v left join users u on u.id = v.created_by`

const AUTHOR = authorName('v.created_by_key', 'u.login')

const LIST_VERSIONS = statement(
  'list the versions of workspace settings',
  {
    version: integer,
    size_bytes: integer,
    created_at: moment,
    created_by: orNull(text),
    reason: orNull(text),
  },
  `
  select v.version, octet_length(v.settings) as size_bytes, v.created_at,
    ${AUTHOR} as created_by, v.reason
  from ${VERSIONS}
  order by v.version desc limit ${limits.settings_versions_kept}`,
)

/** Newest first. */
export const listSettingsVersions = async (
  db: Db,
  workspaceId: string,
): Promise<WorkspaceSettingsVersionList['versions']> => {
  const rows = await db.rows(LIST_VERSIONS, [workspaceId])
  return rows.map((row) => ({ ...row, created_at: toTimestamp(row.created_at) }))
}

const READ_VERSION = statement(
  'read a version of workspace settings',
  {
    version: integer,
    settings: text,
    locked: text,
    idleWindowMinutes: integer,
    updatedAt: moment,
    updatedBy: orNull(text),
  },
  `
  select v.version, v.settings, v.locked, v.idle_window_minutes::int as "idleWindowMinutes", v.created_at as "updatedAt",
    ${AUTHOR} as "updatedBy"
  from ${VERSIONS}
  where v.version = $2::int`,
)

export const readSettingsVersion = async (db: Db, workspaceId: string, version: number) => {
  // No version was ever too large for the column.
  if (version > 2_147_483_647) return undefined
  const [row] = await db.rows(READ_VERSION, [workspaceId, version])
  return row && withUpdatedAt(row)
}
