/** Changes in workspaces that affect one person, from records that exist anyway. */
import { limits } from '../../../../schemas/limits.js'
import { splitRepo } from '../../../../schemas/repo-keys.js'
import type { RepoPattern } from '../../../../schemas/repo-pattern.js'
import { patternMatches } from '../../../../schemas/repo-pattern.js'
import { boundedList, readBoundedPage } from '../../../platform/database/bounded-page.js'
import type { Database, Db } from '../../../platform/database/client.js'
import {
  bool,
  type Columns,
  date,
  integer,
  moment,
  orNull,
  type RowOf,
  statement,
  text,
  uuid,
} from '../../../platform/database/statement.js'
import { codeOf } from '../../../platform/process/code-of.js'
import { DELETED_LOGIN } from '../../accounts/index.js'
import { authorName } from '../../keys/index.js'
import { SERVICE_ACTOR } from '../../workspaces/index.js'

/** How many changes a kind of notice is made from, so that many changes by one admin don't hide those of another. */
const MAX_CHANGES = 1_000

/** SQL: when the oldest notices happened. */
const MIN_CREATED_AT = `now() - interval '${limits.notice_days} days'`

/** How long each statement may run. One kind that takes longer is missing, and the others are there. */
const SECONDS_PER_STATEMENT = 1

const SET_TIMEOUT = statement(
  'set notice timeout',
  {},
  `select set_config('statement_timeout', $1::text, true)`,
)

/** PostgreSQL's code for a statement that took too long. */
const QUERY_CANCELED = '57014'

/** Reads notices of one kind. @returns undefined if a statement took too long */
export const readOneKind = async <Found>(
  { transaction, timeoutFactor }: Database,
  read: (tx: Db) => Promise<Found>,
): Promise<Found | undefined> => {
  try {
    return await transaction(
      async (tx) => {
        const milliseconds = Math.round(SECONDS_PER_STATEMENT * 1_000 * timeoutFactor)
        // Sent together.
        const [, found] = await Promise.all([tx.rows(SET_TIMEOUT, [String(milliseconds)]), read(tx)])
        return found
      },
      { readsFirst: true },
    )
  } catch (error) {
    if (codeOf(error) === QUERY_CANCELED) return undefined
    throw error
  }
}

const auditColumns = {
  workspaceId: uuid,
  workspace: text,
  id: uuid,
  at: moment,
  login: orNull(text),
}

/** SQL: the author of an entry. */
const AUTHOR = `case when exists (select 1 from erasures x where x.user_id = a.actor_id) then '${DELETED_LOGIN}' else a.actor end`

/** The newest rows. @param found SQL: $1 is the person, and each row's `key` is there once */
const newestOf = <const C extends Columns>(name: string, columns: C, found: string) =>
  statement(
    name,
    columns,
    `
  select ${Object.keys(columns)
    .map((column) => `"${column}"`)
    .join(', ')}
  from (${found}) found
  order by at desc, id desc
  limit ${limits.notices}`,
  )

/** Only the change that made the level what it is counts. */
const LIST_LOOSENED = newestOf(
  'list loosened levels',
  { ...auditColumns, teamUntil: date },
  `
    select distinct on (a.workspace_id) a.workspace_id as "workspaceId", w.name as workspace, a.id, a.at, ${AUTHOR} as login,
      (w.activity_privacy_since at time zone 'UTC')::date as "teamUntil"
    from members m
    join workspaces w on w.id = m.workspace_id and w.activity_privacy = 'named' and w.activity_privacy_since > ${MIN_CREATED_AT}
      and w.activity_privacy_since > m.joined_at
    -- The entry is written right after the change.
    join audit_entries a on a.workspace_id = m.workspace_id and a.action = 'activity_privacy.changed'
      and a.at between w.activity_privacy_since and w.activity_privacy_since + interval '1 hour'
    where m.user_id = $1::uuid and a.actor_id is distinct from $1::uuid
    order by a.workspace_id, a.at desc, a.id desc`,
)

/** Levels that others loosened, newest first. */
export const listLoosened = (db: Db, userId: string) => db.rows(LIST_LOOSENED, [userId])

/** Each new admin once, and only people who are still admins. */
const LIST_NEW_ADMINS = newestOf(
  'list new admins',
  auditColumns,
  `
    select distinct on (a.workspace_id, x.user_id) a.workspace_id as "workspaceId", w.name as workspace, a.id, a.at, u.login
    from members m
    join workspaces w on w.id = m.workspace_id
    join members x on x.workspace_id = m.workspace_id and x.role = 'admin' and x.user_id <> m.user_id
    join users u on u.id = x.user_id
    join audit_entries a on a.workspace_id = m.workspace_id and a.target_id = x.user_id and a.at > ${MIN_CREATED_AT} and a.at > m.joined_at
    where m.user_id = $1::uuid and a.actor_id is distinct from $1::uuid
      and (a.action = 'member.role_changed' and a.details ->> 'after' = 'admin'
        or a.action in ('member.joined', 'member.added') and a.details ->> 'role' = 'admin')
    order by a.workspace_id, x.user_id, a.at desc, a.id desc`,
)

/** Members whom others made admins, newest first. */
export const listNewAdmins = (db: Db, userId: string) => db.rows(LIST_NEW_ADMINS, [userId])

/**
 * Each workspace once. A person who was removed learns nothing about the workspace after that, not even a new name.
 */
const LIST_REMOVALS = newestOf(
  'list removals of person',
  { ...auditColumns, byOrganization: bool },
  `
    select distinct on (a.workspace_id) a.workspace_id as "workspaceId", coalesce((
        select n.details ->> 'before' from audit_entries n
        where n.workspace_id = a.workspace_id and n.at > a.at and n.action = 'workspace.renamed'
        order by n.at limit 1
      ), w.name) as workspace, a.id, a.at, null as login, a.actor_id = '${SERVICE_ACTOR.id}' as "byOrganization"
    from audit_entries a
    join workspaces w on w.id = a.workspace_id and w.deleted_at is null
    where a.target_id = $1::uuid and a.actor_id <> $1::uuid and a.action = 'member.removed' and a.at > ${MIN_CREATED_AT}
      and not exists (select 1 from members m where m.workspace_id = a.workspace_id and m.user_id = $1::uuid)
    order by a.workspace_id, a.at desc, a.id desc`,
)

/** Workspaces from which others removed the person, newest first. */
export const listRemovals = (db: Db, userId: string) => db.rows(LIST_REMOVALS, [userId])

const renameColumns = {
  workspaceId: uuid,
  workspace: text,
  id: uuid,
  at: moment,
  from: text,
  to: text,
}

/** The newest report about each repository, for admins. */
const LIST_RENAMES = newestOf(
  'list reported renames',
  renameColumns,
  `
    select distinct on (a.workspace_id, lower(a.details ->> 'from')) a.workspace_id as "workspaceId", w.name as workspace, a.id, a.at,
      a.details ->> 'from' as "from", a.target as "to"
    from members m
    join workspaces w on w.id = m.workspace_id
    join audit_entries a on a.workspace_id = m.workspace_id and a.action = 'repo.move_waits' and a.at > ${MIN_CREATED_AT}
    where m.user_id = $1::uuid and m.role = 'admin'
    order by a.workspace_id, lower(a.details ->> 'from'), a.at desc, a.id desc`,
)

/** $1: workspaces; $2, $3: keys of repositories. One statement for each table, because a cluster doesn't join them. */
const findHeldIn = (table: string) =>
  statement(
    `find reported repositories in ${table}`,
    { position: integer },
    `
  select r.position::int
  from unnest($1::uuid[], $2::text[], $3::text[]) with ordinality r (workspace_id, owner_key, repo_key, position)
  join ${table} t on t.workspace_id = r.workspace_id and t.owner_key = r.owner_key and t.repo_key = r.repo_key`,
  )
const FIND_HELD = [findHeldIn('snapshots'), findHeldIn('overrides')]

/** Renames that the repository host reported, of repositories whose settings are still under the old name, newest first. */
export const listRenames = async (db: Db, userId: string): Promise<RowOf<typeof renameColumns>[]> => {
  const renames = await db.rows(LIST_RENAMES, [userId])
  const [keys, workspaceIds] = [
    renames.map(({ from }) => splitRepo(from.toLowerCase())),
    renames.map((one) => one.workspaceId),
  ]
  const parameters = [workspaceIds, keys.map(({ owner }) => owner), keys.map(({ repo }) => repo)]
  const held = await Promise.all(FIND_HELD.map((find) => db.rows(find, parameters)))
  const positions = new Set(held.flat().map(({ position }) => position))
  return renames.filter((_, index) => positions.has(index + 1))
}

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
  (await readBoundedPage(db, LIST_LOCKS, MAX_CHANGES, [userId])).rows

const overrideColumns = { workspaceId: uuid, ownerKey: text, repoKey: text, repo: text, settings: text }

/**
 * $2: workspaces; $3: the person; $4, $5: keys of the person's repositories; $6: locked keys; $7: languages of locked
 * blocks. Both are compared as sets, because there can be thousands.
 */
const LIST_OVERRIDES = boundedList('list overrides affected by locks', overrideColumns, {
  rows: `
    select o.workspace_id as "workspaceId", o.owner_key as "ownerKey", o.repo_key as "repoKey", o.owner || '/' || o.repo as repo,
      o.settings, o.size_bytes as bytes
    from overrides o
    where o.workspace_id = any($2::uuid[])
      and (o.updated_by = $3::uuid or (o.owner_key, o.repo_key) in (select * from unnest($4::text[], $5::text[])))
      and exists (
        select 1
        from json_each(o.settings::json) s (key, value)
        where s.key in (select unnest($6::text[]))
          or s.key like '[%' and json_typeof(s.value) = 'object' and (
            exists (select 1 from json_object_keys(s.value) i (key) where i.key in (select unnest($6::text[])))
            or exists (
              select 1 from string_to_table(trim(both '[]' from s.key), '][') l (language)
              where l.language in (select unnest($7::text[]))
            )
          )
      )`,
  order: '"workspaceId", "ownerKey", "repoKey"',
})

export type AffectedOverride = RowOf<typeof overrideColumns>

/** The overrides that the person wrote, or of repositories in which the person has worked, and that a lock applies to. */
export const listOwnOverrides = async (
  db: Db,
  userId: string,
  {
    workspaceIds,
    repos,
    keys,
    languages,
  }: { workspaceIds: string[]; repos: string[]; keys: string[]; languages: string[] },
): Promise<AffectedOverride[]> => {
  const places = repos.map(splitRepo)
  const owners = places.map(({ owner }) => owner)
  const names = places.map(({ repo }) => repo)
  const parameters = [workspaceIds, userId, owners, names, keys, languages]
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
  (await readBoundedPage(db, LIST_PATTERN_CHANGES, MAX_CHANGES, [userId])).rows

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
