import { v7 as uuidv7 } from 'uuid'
import { limits } from '../../../../schemas/limits.js'
import type { RepoKeys } from '../../../../schemas/repo-keys.js'
import { type BoundedPage, boundedList, readBoundedPage } from '../../../platform/database/bounded-page.js'
import type { Db } from '../../../platform/database/client.js'
import { integer, moment, type RowOf, statement, text, uuid } from '../../../platform/database/statement.js'
import { withUpdatedAt } from '../../../platform/time/clock.js'
import { authorName } from '../../keys/index.js'
import type { Change } from '../../workspaces/index.js'
import { historyOf } from './history.js'
import { keyParameters, matchesKeyParameters, type SnapshotKey } from './snapshots.js'

const storedOverride = {
  /** Every write gets a new one, so that ETags are never reused. */
  revision: uuid,
  version: integer,
  owner: text,
  repo: text,
  /** JSON text, as stored. */
  settings: text,
  updatedAt: moment,
  updatedBy: text,
}
export type StoredOverride = RowOf<typeof storedOverride>

const AUTHOR = authorName('o.updated_by_key', 'u.login')

const READ_OVERRIDE = statement(
  'read override',
  storedOverride,
  `
  select o.revision, o.version, o.owner, o.repo, o.settings, o.updated_at as "updatedAt", ${AUTHOR} as "updatedBy"
  from overrides o join users u on u.id = o.updated_by
  where ${matchesKeyParameters('o')}`,
)

export const readOverride = async (tx: Db, key: SnapshotKey): Promise<StoredOverride | undefined> => {
  const [row] = await tx.rows(READ_OVERRIDE, keyParameters(key))
  return row && withUpdatedAt(row)
}

/**
 * $1: the workspace; $2, $3: owners and repositories. A cluster asks only the nodes of these owners. By both lists, the index
 * finds the rows. By the pairs alone, each list is compared with all rows of these owners.
 */
const OWNERS_AND_REPOS_MATCH = (table: string) => `${table}.workspace_id = $1::uuid
    and ${table}.owner_key = any($2::text[]) and ${table}.repo_key = any($3::text[])`
const IS_LISTED = (table: string) => `${OWNERS_AND_REPOS_MATCH(table)}
    and (${table}.owner_key, ${table}.repo_key) in (select * from unnest($2::text[], $3::text[]))`

const INSERT_VERSIONS = statement(
  'insert override versions',
  {},
  `
  insert into override_versions (owner_key, repo_key, workspace_id, version, settings, created_at, created_by, created_by_key,
    reason)
  select owner_key, repo_key, workspace_id, version, settings, updated_at, updated_by, updated_by_key, reason
  from overrides o where ${IS_LISTED('o')}
  on conflict (owner_key, repo_key, workspace_id, version) do update
    set settings = excluded.settings, created_at = excluded.created_at, created_by = excluded.created_by,
      created_by_key = excluded.created_by_key, reason = excluded.reason`,
)

const DROP_OLD_VERSIONS = statement(
  'delete oldest override versions',
  {},
  `
  delete from override_versions v using overrides o
  where ${IS_LISTED('v')} and ${OWNERS_AND_REPOS_MATCH('o')}
    and o.owner_key = v.owner_key and o.repo_key = v.repo_key and o.workspace_id = v.workspace_id
    and v.version <= o.version - ${limits.settings_versions_kept}`,
)

const DELETE_HISTORIES = statement(
  'delete override histories',
  {},
  `delete from override_versions v where ${IS_LISTED('v')}`,
)

const DELETE_OVERRIDES = statement('delete overrides', {}, `delete from overrides o where ${IS_LISTED('o')}`)

/**
 * $4 to $8: owners and repositories as spelled, revisions, versions and settings; $9 to $11: the author, the key and
 * the reason.
 */
const UPSERT_OVERRIDES = statement(
  'upsert overrides',
  {},
  `
  insert into overrides (workspace_id, owner_key, repo_key, owner, repo, revision, version, settings, updated_by,
    updated_by_key, reason)
  select $1::uuid, w.owner_key, w.repo_key, w.owner, w.repo, w.revision, w.version, w.settings, $9::uuid, $10::text, $11::text
  from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::uuid[], $7::int[], $8::text[])
    w(owner_key, repo_key, owner, repo, revision, version, settings)
  on conflict (owner_key, repo_key, workspace_id) do update
    set revision = excluded.revision, version = excluded.version, settings = excluded.settings,
      updated_by = excluded.updated_by, updated_by_key = excluded.updated_by_key, reason = excluded.reason,
      updated_at = excluded.updated_at`,
)

/** An override's place. */
export interface RepoId extends RepoKeys {
  owner: string
  repo: string
}

/** An override that a request creates or changes. */
export interface NewOverride extends RepoId {
  /** The next version. */
  version: number
  /** JSON text. */
  settings: string
}

export const placesOf = (places: RepoKeys[]) => [
  places.map(({ ownerKey }) => ownerKey),
  places.map(({ repoKey }) => repoKey),
]

/** Creates and replaces a locked workspace's overrides. Replaced ones stay in the history. */
export const writeOverrides = async (
  tx: Db,
  workspaceId: string,
  list: NewOverride[],
  { author, reason }: { author: Change['caller']; reason: string | null },
): Promise<void> => {
  const places = placesOf(list)
  // An earlier release leaves the history behind when it removes an override.
  const fresh = list.filter(({ version }) => version === 1)
  if (fresh.length > 0) await deleteOverrideHistories(tx, workspaceId, fresh)
  await tx.rows(INSERT_VERSIONS, [workspaceId, ...places])
  await tx.rows(UPSERT_OVERRIDES, [
    workspaceId,
    ...places,
    list.map(({ owner }) => owner),
    list.map(({ repo }) => repo),
    list.map(() => uuidv7()),
    list.map(({ version }) => version),
    list.map(({ settings }) => settings),
    author.id,
    author.keyName,
    reason,
  ])
  await tx.rows(DROP_OLD_VERSIONS, [workspaceId, ...places])
}

export const deleteOverrideHistories = async (
  tx: Db,
  workspaceId: string,
  list: RepoKeys[],
): Promise<void> => {
  await tx.rows(DELETE_HISTORIES, [workspaceId, ...placesOf(list)])
}

/** Deletes overrides and their histories. */
export const deleteOverrides = async (tx: Db, workspaceId: string, list: RepoKeys[]): Promise<void> => {
  await deleteOverrideHistories(tx, workspaceId, list)
  await tx.rows(DELETE_OVERRIDES, [workspaceId, ...placesOf(list)])
}

const HISTORY_BYTES = `greatest(octet_length(settings), ${limits.workspace_history_bytes_per_version})`

/** $1 to $3: the override whose latest version stays, however old it is; $4: the bytes that stay. */
const FIND_EXCESS = statement(
  'find override versions over quota',
  { ownerKey: text, repoKey: text, version: integer },
  `
  select owner_key as "ownerKey", repo_key as "repoKey", version
  from (
    select owner_key, repo_key, version,
      sum(${HISTORY_BYTES}) over (order by is_latest desc, created_at desc, version desc, owner_key, repo_key) as newer
    from (
      select *, ${matchesKeyParameters('o')} and version = max(version) over (partition by owner_key, repo_key) as is_latest
      from override_versions o where workspace_id = $3::uuid
    ) o
  ) v
  where newer > $4::bigint`,
)

/** $1: the workspace; $2 to $4: owners, repositories and versions. */
const DELETE_VERSIONS = statement(
  'delete override versions',
  {},
  `
  delete from override_versions
  where workspace_id = $1::uuid
    and (owner_key, repo_key, version) in (select * from unnest($2::text[], $3::text[], $4::int[]))`,
)

/**
 * Deletes the oldest versions of a workspace's overrides, so that at most `bytes` of earlier versions stay. The latest
 * one of the override `key` stays, because it was just replaced and someone may want it back.
 */
export const limitOverrideHistory = async (tx: Db, key: SnapshotKey, bytes: number): Promise<void> => {
  const excess = await tx.rows(FIND_EXCESS, [...keyParameters(key), bytes])
  if (excess.length === 0) return
  await tx.rows(DELETE_VERSIONS, [
    key.workspaceId,
    excess.map(({ ownerKey }) => ownerKey),
    excess.map(({ repoKey }) => repoKey),
    excess.map(({ version }) => version),
  ])
}

export const overrideHistory = historyOf({
  name: 'override',
  parameters: keyParameters,
  versions: `
    select o.version, o.settings, o.updated_at as created_at, o.updated_by as created_by, o.updated_by_key as created_by_key,
      o.reason, o.revision, o.owner, o.repo
    from overrides o
    where ${matchesKeyParameters('o')}
    union all
    select k.version, k.settings, k.created_at, k.created_by, k.created_by_key, k.reason, o.revision, o.owner, o.repo
    from overrides o
    join override_versions k on k.owner_key = o.owner_key and k.repo_key = o.repo_key
      and k.workspace_id = o.workspace_id and k.version < o.version
    where ${matchesKeyParameters('o')}`,
  version: '$4',
  author: text,
  more: { revision: uuid, owner: text, repo: text },
})

/** $2: the workspace; $3, $4: the keys that the previous page ended with, or nulls. */
const LIST_OVERRIDES = boundedList('list workspace overrides', storedOverride, {
  rows: `
        select o.owner_key, o.repo_key, o.revision, o.version, o.owner, o.repo, o.settings,
          o.updated_at as "updatedAt", ${AUTHOR} as "updatedBy", octet_length(o.settings) as bytes
        from overrides o
        join users u on u.id = o.updated_by
        where o.workspace_id = $2::uuid and ($3::text is null or (o.owner_key, o.repo_key) > ($3::text, $4::text))`,
  order: 'owner_key, repo_key',
})

/** Ordered by owner and repository. Settings can be large, so a page may have fewer rows than requested. */
export const listOverrides = async (
  db: Db,
  workspaceId: string,
  after: string[] | undefined,
  limit: number,
): Promise<BoundedPage<StoredOverride>> => {
  const [ownerKey = null, repoKey = null] = after ?? []
  const { rows, more } = await readBoundedPage(db, LIST_OVERRIDES, limit, [workspaceId, ownerKey, repoKey])
  return { rows: rows.map(withUpdatedAt), more }
}

const PAGE = 500

/** All of a workspace's overrides. */
export async function* pagesOfOverrides(db: Db, workspaceId: string): AsyncGenerator<StoredOverride[]> {
  let after: string[] | undefined
  for (;;) {
    const { rows, more } = await listOverrides(db, workspaceId, after, PAGE)
    yield rows
    const last = rows.at(-1)
    if (!more || !last) return
    after = [last.owner.toLowerCase(), last.repo.toLowerCase()]
  }
}
