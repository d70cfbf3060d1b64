/** Changes in workspaces that affect one person, from records that exist anyway. */
import { limits } from '../../../../schemas/limits.js'
import type { Notice } from '../../../../schemas/notices.js'
import { splitRepo } from '../../../../schemas/repo-keys.js'
import type { RepoPattern } from '../../../../schemas/repo-pattern.js'
import { boundedList, readBoundedPage } from '../../../platform/database/bounded-page.js'
import type { Db } from '../../../platform/database/client.js'
import {
  bool,
  date,
  integer,
  moment,
  orNull,
  type RowOf,
  statement,
  text,
  textOf,
  uuid,
} from '../../../platform/database/statement.js'
import { DELETED_LOGIN } from '../../accounts/index.js'
import { authorName, patternMatches, SERVICE_ACTOR } from '../../workspaces/index.js'

/** SQL: when the oldest notices happened. */
const MIN_CREATED_AT = `now() - interval '${limits.notice_days} days'`

const auditColumns = {
  workspaceId: uuid,
  workspace: text,
  id: uuid,
  at: moment,
  code: textOf<Exclude<Notice['code'], 'key_locked' | 'repo_removed'>>(),
  login: orNull(text),
  teamUntil: orNull(date),
}

/**
 * $1: the person. Only the change that made the level what it is counts, and only people who are still admins. A person
 * who was removed learns nothing about the workspace after that, not even a new name.
 */
const LIST_FROM_AUDIT = statement(
  'list audit trail notices',
  auditColumns,
  `
  select a.workspace_id as "workspaceId", w.name as workspace, a.id, a.at, 'level_loosened' as code,
    case when exists (select 1 from erasures x where x.user_id = a.actor_id) then '${DELETED_LOGIN}' else a.actor end as login,
    (w.activity_privacy_since at time zone 'UTC')::date as "teamUntil"
  from members m
  join workspaces w on w.id = m.workspace_id and w.activity_privacy = 'named' and w.activity_privacy_since > ${MIN_CREATED_AT}
    and w.activity_privacy_since > m.joined_at
  -- The entry is written right after the change.
  join audit_entries a on a.workspace_id = m.workspace_id and a.action = 'activity_privacy.changed'
    and a.at between w.activity_privacy_since and w.activity_privacy_since + interval '1 hour'
  where m.user_id = $1::uuid and a.actor_id is distinct from $1::uuid
  union all
  select a.workspace_id, w.name, a.id, a.at, 'admin_added', u.login, null::date
  from members m
  join workspaces w on w.id = m.workspace_id
  join members x on x.workspace_id = m.workspace_id and x.role = 'admin' and x.user_id <> m.user_id
  join users u on u.id = x.user_id
  join audit_entries a on a.workspace_id = m.workspace_id and a.target_id = x.user_id and a.at > ${MIN_CREATED_AT} and a.at > m.joined_at
  where m.user_id = $1::uuid and a.actor_id is distinct from $1::uuid
    and (a.action = 'member.role_changed' and a.details ->> 'after' = 'admin'
      or a.action in ('member.joined', 'member.added') and a.details ->> 'role' = 'admin')
  union all
  select a.workspace_id, coalesce((
      select n.details ->> 'before' from audit_entries n
      where n.workspace_id = a.workspace_id and n.at > a.at and n.action = 'workspace.renamed'
      order by n.at limit 1
    ), w.name), a.id, a.at,
    case when a.actor_id = '${SERVICE_ACTOR.id}' then 'removed_by_organization' else 'removed_by_admin' end, null, null::date
  from audit_entries a
  join workspaces w on w.id = a.workspace_id and w.deleted_at is null
  where a.target_id = $1::uuid and a.actor_id <> $1::uuid and a.action = 'member.removed' and a.at > ${MIN_CREATED_AT}
    and not exists (select 1 from members m where m.workspace_id = a.workspace_id and m.user_id = $1::uuid)
  order by at desc, id desc
  limit ${limits.notices}`,
)

export type AuditNotice = RowOf<typeof auditColumns>

/** Notices from the audit trail, newest first. */
export const listAuditNotices = (db: Db, userId: string): Promise<AuditNotice[]> =>
  db.rows(LIST_FROM_AUDIT, [userId])

const lockColumns = {
  workspaceId: uuid,
  workspace: text,
  version: integer,
  at: moment,
  login: orNull(text),
  /** JSON texts: the locks of the version, of the one before, and the current ones. */
  locked: text,
  lockedBefore: text,
  lockedNow: text,
}

/** $2: the person. */
const LIST_LOCKS = boundedList('list lock changes', lockColumns, {
  rows: `
    select v.workspace_id as "workspaceId", w.name as workspace, v.version, v.created_at as at,
      case when v.created_by is not null then coalesce(${authorName('v.created_by_key', 'u.login')}, '${DELETED_LOGIN}') end as login,
      v.locked, b.locked as "lockedBefore", w.locked as "lockedNow",
      octet_length(v.locked) + octet_length(b.locked) + octet_length(w.locked) as bytes
    from members m
    join workspaces w on w.id = m.workspace_id
    join workspace_settings_versions v on v.workspace_id = w.id and v.created_at > ${MIN_CREATED_AT} and v.created_at > m.joined_at
    join workspace_settings_versions b on b.workspace_id = v.workspace_id and b.version = v.version - 1
    left join users u on u.id = v.created_by
    where m.user_id = $2::uuid and v.created_by is distinct from $2::uuid and v.locked <> b.locked and w.locked <> '[]'`,
  order: 'at desc, "workspaceId", version',
})

export type LockChange = RowOf<typeof lockColumns>

/** Changes of locks, newest first. */
export const listLockChanges = async (db: Db, userId: string): Promise<LockChange[]> =>
  (await readBoundedPage(db, LIST_LOCKS, limits.notices, [userId])).rows

const overrideColumns = { workspaceId: uuid, ownerKey: text, repoKey: text, repo: text, settings: text }

/** $2: workspaces; $3: the person; $4, $5: keys of the person's repositories; $6: texts, of which the settings have one. */
const LIST_OVERRIDES = boundedList('list overrides affected by locks', overrideColumns, {
  rows: `
    select o.workspace_id as "workspaceId", o.owner_key as "ownerKey", o.repo_key as "repoKey", o.owner || '/' || o.repo as repo,
      o.settings, o.size_bytes as bytes
    from overrides o
    where o.workspace_id = any($2::uuid[])
      and (o.updated_by = $3::uuid or (o.owner_key, o.repo_key) in (select * from unnest($4::text[], $5::text[])))
      and exists (select 1 from unnest($6::text[]) k (part) where strpos(o.settings, k.part) > 0)`,
  order: '"workspaceId", "ownerKey", "repoKey"',
})

export type AffectedOverride = RowOf<typeof overrideColumns>

/** The overrides that the person wrote, or of repositories in which the person has worked, and that contain one of the texts. */
export const listOwnOverrides = async (
  db: Db,
  userId: string,
  { workspaceIds, repos, parts }: { workspaceIds: string[]; repos: string[]; parts: string[] },
): Promise<AffectedOverride[]> => {
  const places = repos.map(splitRepo)
  const owners = places.map(({ owner }) => owner)
  const names = places.map(({ repo }) => repo)
  const parameters = [workspaceIds, userId, owners, names, parts]
  return (await readBoundedPage(db, LIST_OVERRIDES, limits.notices, parameters)).rows
}

const patternColumns = {
  workspaceId: uuid,
  workspace: text,
  id: uuid,
  at: moment,
  login: text,
  isOwn: bool,
  /** JSON text. */
  removed: text,
}

/** $2: the person. */
const LIST_PATTERN_CHANGES = boundedList('list removed patterns', patternColumns, {
  rows: `
    select a.workspace_id as "workspaceId", w.name as workspace, a.id, a.at, a.actor_id is not distinct from $2::uuid as "isOwn",
      case when exists (select 1 from erasures x where x.user_id = a.actor_id) then '${DELETED_LOGIN}' else a.actor end as login,
      ((a.details -> 'before') - array(select jsonb_array_elements_text(a.details -> 'after')))::text as removed,
      octet_length(a.details::text) as bytes
    from members m
    join workspaces w on w.id = m.workspace_id
    join audit_entries a on a.workspace_id = w.id and a.action = 'patterns.replaced' and a.at > ${MIN_CREATED_AT} and a.at > m.joined_at
    where m.user_id = $2::uuid and not (a.details -> 'after') @> (a.details -> 'before')`,
  order: 'at desc, id desc',
})

export type PatternChange = RowOf<typeof patternColumns>

/** Changes of patterns, newest first, including the person's own changes. */
export const listPatternChanges = async (db: Db, userId: string): Promise<PatternChange[]> =>
  (await readBoundedPage(db, LIST_PATTERN_CHANGES, limits.notices, [userId])).rows

/** $1: workspaces; $2 to $5: a removed pattern of each; $6, $7: keys of repositories. */
const LIST_UNCOVERED = statement(
  'list uncovered repositories',
  { position: integer, index: integer },
  `
  with now as materialized (
    select workspace_id, owner_key, repo_key, exact, repo_like from patterns where workspace_id = any($1::uuid[])
  )
  select l.position::int, r.index::int
  from unnest($1::uuid[], $2::text[], $3::text[], $4::bool[], $5::text[])
    with ordinality l(workspace_id, owner_key, repo_key, exact, repo_like, position)
  join unnest($6::text[], $7::text[]) with ordinality r(owner_key, repo_key, index)
    on ${patternMatches('l', 'r.owner_key', 'r.repo_key')}
  where not exists (
    select 1 from now where now.workspace_id = l.workspace_id and ${patternMatches('now', 'r.owner_key', 'r.repo_key')}
  )
  order by l.position, r.index
  limit ${limits.person_repos}`,
)

/** The repositories that a removed pattern covered and no current pattern of its workspace covers. */
export const listUncovered = async <Removed extends { workspaceId: string; pattern: RepoPattern }>(
  db: Db,
  removed: Removed[],
  repos: string[],
): Promise<{ removed: Removed; repo: string }[]> => {
  const patterns = removed.map(({ pattern }) => pattern)
  const places = repos.map(splitRepo)
  const rows = await db.rows(LIST_UNCOVERED, [
    removed.map(({ workspaceId }) => workspaceId),
    patterns.map(({ ownerKey }) => ownerKey),
    patterns.map(({ repoKey }) => repoKey),
    patterns.map(({ exact }) => String(exact)),
    patterns.map(({ repoLike }) => repoLike),
    places.map(({ owner }) => owner),
    places.map(({ repo }) => repo),
  ])
  return rows.map(({ position, index }) => ({
    removed: removed[position - 1] as Removed,
    repo: repos[index - 1] as string,
  }))
}
