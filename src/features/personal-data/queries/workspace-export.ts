/** A workspace export's items as JSON, a page at a time. $2 of each list: the workspace. */
import type { Db } from '../../../platform/database/client.js'
import { statement, text } from '../../../platform/database/statement.js'
import { authorName } from '../../keys/index.js'
import { at, list, SETTINGS_PER_PAGE } from './account-export.js'

const author = authorName('v.created_by_key', 'u.login')
const withAuthor = (table: string) =>
  `${table} v left join users u on u.id = v.created_by where v.workspace_id = $2::uuid`
const REPO = { owner: 'v.owner_key', repo: 'v.repo_key' }
const versionKeys = { 'v.owner_key': 'text', 'v.repo_key': 'text', 'v.version': 'int' } as const

/** Without invite codes and key secrets. */
export const listsOfWorkspace = {
  members: list(
    'workspace members',
    ['u.id', 'u.login', 'm.role', 'm.joined_at'],
    'members m join users u on u.id = m.user_id where m.workspace_id = $2::uuid',
    { 'm.user_id': 'uuid' },
  ),
  invites: list(
    'workspace invites',
    [
      'i.id',
      'i.role',
      'i.max_uses',
      'i.used_count',
      { created_by: 'u.login' },
      'i.created_at',
      'i.expires_at',
      'i.revoked_at',
    ],
    'invites i join users u on u.id = i.created_by where i.workspace_id = $2::uuid',
    { 'i.id': 'uuid' },
  ),
  keys: list(
    'workspace access keys',
    [
      'k.id',
      'k.name',
      'k.scopes',
      { created_by: 'u.login' },
      'k.created_at',
      's.expires_at',
      's.revoked_at',
      'k.last_used_day',
    ],
    `access_keys k join key_secrets s on s.key_id = k.id join users u on u.id = k.created_by
  where k.workspace_id = $2::uuid`,
    { 'k.id': 'uuid' },
  ),
  workspace_settings_versions: list(
    'workspace settings versions',
    [
      'v.version',
      { settings: 'v.settings::json', locked: 'v.locked::json', merged: 'v.merged::json' },
      'v.idle_window_minutes',
      { created_by: author },
      'v.reason',
      'v.created_at',
    ],
    withAuthor('workspace_settings_versions'),
    { 'v.version': 'int' },
    SETTINGS_PER_PAGE,
  ),
  overrides: list(
    'workspace overrides',
    [
      'o.owner',
      'o.repo',
      'o.version',
      { settings: 'o.settings::json', updated_by: authorName('o.updated_by_key', 'u.login') },
      'o.reason',
      'o.updated_at',
    ],
    'overrides o join users u on u.id = o.updated_by where o.workspace_id = $2::uuid',
    { 'o.owner_key': 'text', 'o.repo_key': 'text' },
    SETTINGS_PER_PAGE,
  ),
  override_versions: list(
    'workspace override versions',
    [REPO, 'v.version', { settings: 'v.settings::json', created_by: author }, 'v.reason', 'v.created_at'],
    withAuthor('override_versions'),
    versionKeys,
    SETTINGS_PER_PAGE,
  ),
  settings_versions: list(
    'workspace snapshot versions',
    [REPO, 'v.version', { settings: 'v.settings::json', created_by: 'u.login' }, 'v.reason', 'v.created_at'],
    withAuthor('snapshot_versions'),
    versionKeys,
    SETTINGS_PER_PAGE,
  ),
}

const READ_WORKSPACE = statement(
  'read workspace for export',
  { workspace: text },
  `
  select json_build_object(
    'id', id, 'name', name, 'personal', personal_of is not null, 'created_at', ${at('created_at')},
    'idle_window_minutes', idle_window_minutes, 'activity_privacy', activity_privacy,
    'activity_privacy_since', ${at('activity_privacy_since')},
    'patterns', array(select pattern from patterns where workspace_id = workspaces.id order by position),
    'settings', settings::json, 'locked', locked::json, 'merged', merged::json,
    'settings_version', settings_version, 'settings_updated_at', ${at('settings_updated_at')}
  )::text as workspace
  from workspaces where id = $1::uuid and deleted_at is null`,
)

/** The workspace as JSON. Undefined: there is no such workspace. */
export const readWorkspaceToExport = async (db: Db, id: string): Promise<string | undefined> =>
  (await db.rows(READ_WORKSPACE, [id]))[0]?.workspace
