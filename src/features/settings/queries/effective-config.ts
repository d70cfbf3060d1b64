import type { Role } from '../../../../schemas/common.js'
import type { SettingsKeyRules } from '../../../../schemas/settings-keys.js'
import type { Db } from '../../../platform/database/client.js'
import {
  bool,
  integer,
  orNull,
  type RowOf,
  singleRow,
  statement,
  text,
  textOf,
  uuid,
  uuids,
} from '../../../platform/database/statement.js'
import { etagDiffers, etagSqlOf } from '../../../platform/http/etag.js'
import { MATCH_ORDER, type RepoQuestion, repoParameters, WITH_BEST_PATTERN } from './matches.js'

const matchColumns = {
  workspaceId: uuid,
  role: textOf<Role>(),
  /** The workspace's best pattern. */
  pattern: text,
  /** Whether the repository's settings were pushed through this workspace. */
  holds: bool,
}

/** One of the caller's workspaces. */
export type RepoMatch = RowOf<typeof matchColumns>

const FIND_MATCHES = statement(
  'find matching workspaces',
  matchColumns,
  `
  select m.workspace_id as "workspaceId", m.role, p.pattern, s.id is not null as holds
  from ${WITH_BEST_PATTERN}
  left join snapshots s on s.owner_key = $2::text and s.repo_key = $3::text and s.workspace_id = m.workspace_id
  order by ${MATCH_ORDER}`,
)

/** All matches, best first. */
export const findMatches = (db: Db, question: RepoQuestion): Promise<RepoMatch[]> =>
  db.rows(FIND_MATCHES, repoParameters(question))

interface StoredEffectiveConfig {
  workspaceId: string
  pattern: string
  idleWindowMinutes: number
  alsoMatched: string[]
  etag: string
  /** As spelled in the snapshot, or else the override. Null if there's neither. */
  owner: string | null
  repo: string | null
  /** The locked keys as JSON text. */
  locked: string
  /** The merged keys as JSON text. */
  merged: string
  /** JSON texts. Both are null if the caller already has this version. The second is also null without an override. */
  settings: string | null
  override: string | null
}

const ETAG = etagSqlOf(
  'b.workspace_id',
  'b.settings_version',
  'o.revision',
  'b.pattern',
  'b.others::text',
  's.id',
  '$7::text',
)

/**
 * Decides and reads in one round trip. The ETag is made only from ids, versions and the key rules ($7), and the large
 * texts leave their tables only if the caller's `If-None-Match` ($6) doesn't name it. All matches are needed for
 * `also_matched`, so $5 is the chosen workspace, and $4 is the workspace of a key, which sees no other.
 */
const READ_EFFECTIVE_CONFIG = statement(
  'read effective configuration',
  {
    inWorkspace: bool,
    workspaceId: orNull(uuid),
    pattern: orNull(text),
    idleWindowMinutes: orNull(integer),
    alsoMatched: orNull(uuids),
    etag: orNull(text),
    owner: orNull(text),
    repo: orNull(text),
    settings: orNull(text),
    override: orNull(text),
    locked: orNull(text),
    merged: orNull(text),
  },
  `
  with matched as (
    select m.workspace_id, p.pattern, w.idle_window_minutes, w.settings_version, w.settings, w.locked, w.merged,
      row_number() over (order by ${MATCH_ORDER}) as place
    from ${WITH_BEST_PATTERN}
    join workspaces w on w.id = m.workspace_id
  ), best as (
    select workspace_id, pattern, idle_window_minutes, settings_version, settings, locked, merged,
      array(
        select o.workspace_id from matched o where o.workspace_id <> b.workspace_id order by o.place
      ) as others
    from matched b
    where $5::uuid is null or workspace_id = $5::uuid
    order by place
    limit 1
  ), tagged as (
    select b.workspace_id, b.pattern, b.idle_window_minutes, b.settings, b.locked, b.merged, b.others,
      coalesce(s.owner, o.owner) as owner, coalesce(s.repo, o.repo) as repo, o.settings as override,
      ${ETAG} as etag
    from best b
    left join overrides o on o.owner_key = $2::text and o.repo_key = $3::text and o.workspace_id = b.workspace_id
    left join snapshots s on s.owner_key = $2::text and s.repo_key = $3::text and s.workspace_id = b.workspace_id
  )
  select
    $5::uuid is null or exists (select from members where user_id = $1::uuid and workspace_id = $5::uuid) as "inWorkspace",
    t.workspace_id as "workspaceId", t.pattern, t.idle_window_minutes as "idleWindowMinutes", t.others as "alsoMatched",
    t.etag, t.owner, t.repo,
    case when ${etagDiffers('t.etag', '$6::text')} then t.settings end as settings,
    case when ${etagDiffers('t.etag', '$6::text')} then t.override end as override, t.locked, t.merged
  from (values (true)) one
  left join tagged t on true`,
)

/** `config` is null if none of the caller's workspaces matches, or the chosen one doesn't. */
export const readEffectiveConfig = async (
  db: Db,
  question: RepoQuestion,
  ifNoneMatch: string | undefined,
  keyRules: SettingsKeyRules,
): Promise<{ inWorkspace: boolean; config: StoredEffectiveConfig | null }> => {
  const { userId, ownerKey, repoKey, workspaceId = null, within = null } = question
  const parameters = [
    userId,
    ownerKey,
    repoKey,
    within,
    workspaceId,
    ifNoneMatch?.trim() ?? '',
    JSON.stringify(keyRules),
  ]
  const { inWorkspace, ...config } = singleRow(await db.rows(READ_EFFECTIVE_CONFIG, parameters))
  return { inWorkspace, config: config.workspaceId === null ? null : (config as StoredEffectiveConfig) }
}
